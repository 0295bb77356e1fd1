"""Writing into a store: what agents write at the same moment is never lost, and what fails leaves the file as it was."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from stores.errors import CannotWrite, ChangedMeanwhile
from stores.files import StoreRoot, exchanging, has_writer
from tests.apply.faulty import before_call, faulty

TOKEN = "t1"


def digest(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


@pytest.mark.parametrize(
    ("before", "after", "start"),
    [(None, b"{}\n", 0), (b"", b"{}\n", 0), (b"[]\n", b"[]\n{}\n", 3), (b'{"torn', b'{"torn\n{}\n', 7)],
)
def test_a_line_is_appended_whole_and_alone(tmp_path: Path, before: bytes | None, after: bytes, start: int) -> None:
    log = tmp_path / "log.jsonl"
    if before is not None:
        log.write_bytes(before)
    with StoreRoot(tmp_path) as root:
        assert root.append("log.jsonl", b"{}\n") == start
    assert log.read_bytes() == after


def test_a_line_that_a_torn_fragment_swallowed_is_appended_once_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n")
    real_write, fragments = os.write, [b'{"agent":']

    with StoreRoot(tmp_path) as root, monkeypatch.context() as patched, log.open("ab", buffering=0) as agent:

        def write(descriptor: int, data: bytes) -> int:
            if fragments:
                agent.write(fragments.pop())
            return real_write(descriptor, data)

        patched.setattr(os, "write", write)
        start = root.append("log.jsonl", b"{}\n")
    data = log.read_bytes()
    assert data == b'[]\n{"agent":{}\n{}\n'
    assert data[start:] == b"{}\n"


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("begun", [b"[", b""])
def test_a_line_that_somebody_is_writing_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool, begun: bytes) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n")
    rest = [b"[1, 2]\n"[len(begun) :][start : start + 3] for start in (0, 3, 6)]
    with StoreRoot(tmp_path) as root, log.open("ab", buffering=0) as agent:
        agent.write(begun)

        def write_on(_: float) -> None:
            if rest:
                agent.write(rest.pop(0))
            elif not keeps:
                agent.close()

        monkeypatch.setattr("stores.files.logs.time.sleep", write_on)
        start = root.append("log.jsonl", b"{}\n")
    assert (log.read_bytes(), start, rest) == (b"[]\n[1, 2]\n{}\n", 10, [])


@pytest.mark.parametrize("silent_s", [0, 2])
def test_a_torn_line_whose_writer_is_gone_or_silent_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, silent_s: int
) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n[")
    with ExitStack() as stack:
        root = stack.enter_context(StoreRoot(tmp_path))
        if silent_s:
            stack.enter_context(log.open("ab"))
            long_ago = time.time() - silent_s
            os.utime(log, (long_ago, long_ago))
        monkeypatch.setattr("stores.files.logs.time.sleep", lambda _: pytest.fail("nobody ends this line"))
        root.append("log.jsonl", b"{}\n")
    assert log.read_bytes() == b"[]\n[\n{}\n"


WRITER = """
import os, sys
os.set_blocking(0, False)
number, goes_on = 0, True
while goes_on:
    line = b'{"agent": %d}\\n' % number
    cut = number % len(line)
    descriptor = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND)
    os.write(descriptor, line[:cut])
    os.write(descriptor, line[cut:])
    os.close(descriptor)
    number += 1
    for _ in range(2_000):
        pass
    try:
        goes_on = os.read(0, 1) != b""
    except BlockingIOError:
        pass
"""
"""Appends lines in two pieces each, until its input ends."""


def test_no_line_gets_into_one_that_is_written_in_two_pieces(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"")
    command = [sys.executable, "-c", WRITER, str(log)]
    number = 0
    with StoreRoot(tmp_path) as root, subprocess.Popen(command, stdin=subprocess.PIPE) as agent:
        while number < 300 or log.stat().st_size < 20_000:
            root.append("log.jsonl", b'{"ours": %d}\n' % number)
            number += 1
            with root.open("log.jsonl") as opened:
                assert opened.stat.size_bytes
        agent.communicate(timeout=30)
        assert agent.returncode == 0
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    theirs = [one["agent"] for one in lines if "agent" in one]
    assert theirs and theirs == list(range(len(theirs)))
    assert [one["ours"] for one in lines if "ours" in one] == list(range(number))


def test_who_keeps_a_log_open_is_waited_for_once_and_not_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n")
    slept: list[float] = []
    monkeypatch.setattr("stores.files.logs.OTHERS_WAIT_S", 0.01)
    monkeypatch.setattr("stores.files.logs.KEEPERS_WAIT_S", 0.0)
    monkeypatch.setattr("stores.files.logs.time.sleep", slept.append)
    with StoreRoot(tmp_path) as root, log.open("rb"):
        root.append("log.jsonl", b"{}\n")
        first = len(slept)
        root.append("log.jsonl", b"{}\n")
    assert (first > 0, len(slept) - first) == (True, 0)


def test_a_log_is_not_reached_through_a_link_nor_outside(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_bytes(b"")
    store = tmp_path / "store"
    store.mkdir()
    (store / "log.jsonl").symlink_to(target)
    with StoreRoot(store) as root:
        for path in ("log.jsonl", "../target", "", "a//b"):
            with pytest.raises(CannotWrite):
                root.append(path, b"{}\n")
        with pytest.raises(CannotWrite):
            root.put("../target", b"x", None, TOKEN)
    assert target.read_bytes() == b""


@pytest.mark.parametrize("mode", ["ENOSPC", "short"])
def test_a_full_disk_leaves_the_log_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n")
    with StoreRoot(tmp_path) as root, faulty(monkeypatch, mode, 1) as layer, pytest.raises(CannotWrite, match="as it was"):
        root.append("log.jsonl", b'{"id":1}\n')
    assert layer.hit
    assert log.read_bytes() == b"[]\n"


def test_a_failing_fsync_is_an_error_and_its_line_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n")
    with StoreRoot(tmp_path) as root, faulty(monkeypatch, "EIO", 2), pytest.raises(CannotWrite, match="input/output error"):
        root.append("log.jsonl", b'{"id":1}\n')
    assert log.read_bytes() == b"[]\n"


def test_half_a_line_stays_where_an_agent_has_the_log_open_and_spoils_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"[]\n")
    with log.open("ab") as agent, StoreRoot(tmp_path) as root:
        with faulty(monkeypatch, "short", 1), pytest.raises(CannotWrite, match="stays in it"):
            root.append("log.jsonl", b'{"id":1}\n')
        agent.write(b"\n")
        agent.flush()
        root.append("log.jsonl", b'{"id":2}\n')
    assert log.read_bytes() == b'[]\n{"id\n{"id":2}\n'


def test_a_torn_line_of_ours_is_cut_off_unless_somebody_has_the_log_open(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b'[]\n{"id')
    with StoreRoot(tmp_path) as root:
        assert not root.cut_off("log.jsonl", b'{"other')
        with log.open("rb"):
            assert not root.cut_off("log.jsonl", b'{"id')
        assert log.read_bytes() == b'[]\n{"id'
        assert root.cut_off("log.jsonl", b'{"id')
    assert log.read_bytes() == b"[]\n"


def test_concurrent_appends_lose_nothing(tmp_path: Path) -> None:
    def append(name: str) -> None:
        with StoreRoot(tmp_path) as root:
            for number in range(50):
                root.append("log.jsonl", f'{{"by":"{name}","number":{number}}}\n'.encode())

    threads = [threading.Thread(target=append, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    lines = (tmp_path / "log.jsonl").read_bytes().splitlines()
    assert sorted(lines) == sorted(f'{{"by":"{name}","number":{number}}}'.encode() for name in "abcd" for number in range(50))


def test_a_file_is_put_in_the_place_of_the_one_that_was_read(tmp_path: Path) -> None:
    place = tmp_path / "memory.json"
    place.write_bytes(b"old")
    place.chmod(0o640)
    os.setxattr(place, "user.note", b"kept")
    with StoreRoot(tmp_path) as root:
        displaced = root.put("memory.json", b"new", digest(b"old"), TOKEN)
    assert place.read_bytes() == b"new"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert os.getxattr(place, "user.note") == b"kept"
    assert (tmp_path / displaced).read_bytes() == b"old"
    assert displaced.startswith(".") and not displaced.endswith((".json", ".jsonl"))


def test_a_new_file_is_private_and_never_put_over_another(tmp_path: Path) -> None:
    with StoreRoot(tmp_path) as root:
        assert root.put("memory.json", b"first", None, TOKEN) == ""
        with pytest.raises(ChangedMeanwhile):
            root.put("memory.json", b"second", None, "t2")
    place = tmp_path / "memory.json"
    assert (place.read_bytes(), stat.S_IMODE(place.stat().st_mode)) == (b"first", 0o600)
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("kernel_exchanges", [True, False])
def test_another_version_stands_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel_exchanges: bool) -> None:
    if not kernel_exchanges:
        monkeypatch.setattr(exchanging, "_renameat2", None)
    place = tmp_path / "memory.json"
    place.write_bytes(b"agent's")
    inode = place.stat().st_ino
    with StoreRoot(tmp_path) as root, pytest.raises(ChangedMeanwhile):
        root.put("memory.json", b"new", digest(b"old"), TOKEN)
    assert (place.read_bytes(), place.stat().st_ino) == (b"agent's", inode)
    assert list(tmp_path.iterdir()) == [place]


def test_a_version_that_comes_between_two_exchanges_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "memory.json"
    place.write_bytes(b"agent's first")
    real_exchange, count = exchanging._exchange, 0

    def exchange(directory: int, one: str, other: str) -> None:
        nonlocal count
        count += 1
        if count == 2:
            (tmp_path / "agent").write_bytes(b"agent's second")
            (tmp_path / "agent").replace(place)
        real_exchange(directory, one, other)

    monkeypatch.setattr(exchanging, "_exchange", exchange)
    with StoreRoot(tmp_path) as root, pytest.raises(ChangedMeanwhile):
        root.put("memory.json", b"new", digest(b"old"), TOKEN)
    assert place.read_bytes() == b"agent's second"


def test_a_file_with_two_names_is_not_replaced(tmp_path: Path) -> None:
    place = tmp_path / "memory.json"
    place.write_bytes(b"old")
    (tmp_path / "other").hardlink_to(place)
    with StoreRoot(tmp_path) as root, pytest.raises(CannotWrite, match="owner of the store"):
        root.put("memory.json", b"new", digest(b"old"), TOKEN)
    assert place.read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["memory.json", "other"]


def test_a_put_is_undone(tmp_path: Path) -> None:
    place = tmp_path / "memory.json"
    place.write_bytes(b"old")
    with StoreRoot(tmp_path) as root:
        root.put("memory.json", b"new", digest(b"old"), TOKEN)
        root.put_back("memory.json", TOKEN, digest(b"new"))
        assert place.read_bytes() == b"old"
        root.put("fresh", b"new", None, TOKEN)
        root.take_away("fresh", TOKEN, digest(b"new"))
    assert list(tmp_path.iterdir()) == [place]


def test_what_an_agent_wrote_over_a_put_is_not_undone(tmp_path: Path) -> None:
    place = tmp_path / "memory.json"
    with StoreRoot(tmp_path) as root:
        root.put("memory.json", b"new", None, TOKEN)
        place.write_bytes(b"agent's")
        with pytest.raises(ChangedMeanwhile):
            root.take_away("memory.json", TOKEN, digest(b"new"))
    assert place.read_bytes() == b"agent's"


@pytest.mark.parametrize("kernel_keeps", [True, False])
def test_a_move_replaces_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel_keeps: bool) -> None:
    if not kernel_keeps:
        monkeypatch.setattr(exchanging, "_renameat2", None)
    (tmp_path / "queue").write_bytes(b"1")
    with StoreRoot(tmp_path) as root:
        root.move("queue", "archive/a")
        assert (tmp_path / "archive" / "a").read_bytes() == b"1"
        (tmp_path / "queue").write_bytes(b"2")
        with pytest.raises(CannotWrite):
            root.move("queue", "archive/a")
    assert ((tmp_path / "queue").read_bytes(), (tmp_path / "archive" / "a").read_bytes()) == (b"2", b"1")
    assert stat.S_IMODE((tmp_path / "archive").stat().st_mode) == 0o700


def test_the_kernel_tells_whether_anybody_can_still_write(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_bytes(b"")
    with StoreRoot(tmp_path) as root:
        with log.open("ab"), root.open("log.jsonl") as opened:
            assert has_writer(opened.descriptor) is True
        with root.open("log.jsonl") as opened:
            assert has_writer(opened.descriptor) is False


def test_a_file_that_vanishes_before_it_is_replaced_leaves_nothing_of_ours(tmp_path: Path) -> None:
    with StoreRoot(tmp_path) as root, pytest.raises(ChangedMeanwhile, match="not there any more"):
        root.put("memory.json", b"new", digest(b"old"), TOKEN)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kernel_exchanges", [True, False])
def test_a_file_that_vanishes_while_it_is_replaced_is_told_as_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel_exchanges: bool
) -> None:
    place = tmp_path / "memory.json"
    place.write_bytes(b"old")
    if not kernel_exchanges:
        monkeypatch.setattr(exchanging, "_renameat2", None)
    # Calls that change the disk: ours is opened, given its mode, written, made durable; the fifth is the exchange.
    with (
        StoreRoot(tmp_path) as root,
        before_call(monkeypatch, 5, place.unlink),
        pytest.raises(ChangedMeanwhile, match="not there any more"),
    ):
        root.put("memory.json", b"new", digest(b"old"), TOKEN)
    assert not place.exists()
