"""Writing durable files: whole or not at all, appended without losing a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.files import append_bytes, append_line, write_file_atomically, write_new_file


def test_a_new_file_is_made_once(tmp_path: Path) -> None:
    place = tmp_path / "id"
    assert write_new_file(place, b"first") is True
    assert write_new_file(place, b"second") is False
    assert (place.read_bytes(), place.stat().st_mode & 0o777) == (b"first", 0o600)
    assert list(tmp_path.iterdir()) == [place]


def test_a_replaced_file_is_another_one_and_leaves_nothing_beside_it(tmp_path: Path) -> None:
    place = tmp_path / "open-problems.jsonl"
    write_file_atomically(place, b"one\n", 0o644)
    with place.open("rb") as before:
        write_file_atomically(place, b"two\n", 0o644)
        assert before.read() == b"one\n"
    assert place.read_bytes() == b"two\n"
    assert list(tmp_path.iterdir()) == [place]


def test_a_failed_write_leaves_the_file_and_nothing_else(tmp_path: Path) -> None:
    place = tmp_path / "folder"
    (place / "inside").mkdir(parents=True)
    with pytest.raises(OSError):
        write_file_atomically(place, b"x")
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize(("before", "after"), [(b"", b"{}\n"), (b"[]\n", b"[]\n{}\n"), (b'{"torn', b'{"torn\n{}\n')])
def test_an_appended_line_never_joins_a_torn_one(tmp_path: Path, before: bytes, after: bytes) -> None:
    log = tmp_path / "decisions.jsonl"
    if before:
        log.write_bytes(before)
    append_line(log, b"{}")
    assert log.read_bytes() == after


def test_bytes_are_appended_as_they_are(tmp_path: Path) -> None:
    log = tmp_path / "decisions.jsonl"
    append_bytes(log, b'{"torn')
    append_bytes(log, b'{"next":1}\n')
    assert log.read_bytes() == b'{"torn{"next":1}\n'


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"")
    link.symlink_to(target)
    with pytest.raises(OSError):
        append_line(link, b"{}")
    assert target.read_bytes() == b""
