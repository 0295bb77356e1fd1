"""The hash of what stood before a place, as it was read."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from stores.files import StoreRoot
from stores.formats import KINDS
from stores.mirror.identity import TAIL_BYTES
from stores.mirror.packs import Place, packs_of
from stores.mirror.trail import Trail

MIB = 1024 * 1024


@pytest.mark.parametrize("start", [0, 10, TAIL_BYTES, 2 * TAIL_BYTES])
@pytest.mark.parametrize("size", [1, 1000, MIB])
def test_the_window_is_the_last_4_kib_before_any_offset_that_was_passed(tmp_path: Path, start: int, size: int) -> None:
    data = bytes(number % 251 for number in range(3 * max(size, TAIL_BYTES) + start))
    (tmp_path / "log").write_bytes(data)
    with StoreRoot(tmp_path.resolve()) as root, root.open("log") as opened:
        trail = Trail(opened, start)
        assert trail.window(start) == sha256(data[max(0, start - TAIL_BYTES) : start]).digest()
        at = start
        for piece in trail.following(data[at : at + size] for at in range(start, min(len(data), start + 9 * size), size)):
            at += len(piece)
            for offset in {max(start, at - 1), at}:
                assert trail.window(offset) == sha256(data[max(0, offset - TAIL_BYTES) : offset]).digest()


def test_a_pack_carries_the_hash_of_what_was_read_and_not_of_what_stands_there_later(tmp_path: Path) -> None:
    spec = next(spec for spec in KINDS["orchestkit"].files if spec.path == "decisions.jsonl")
    data = b"".join(b'{"content":{"what":"%d"}}\n' % number for number in range(2_000))
    log = tmp_path / "decisions.jsonl"
    log.write_bytes(data)
    with StoreRoot(tmp_path.resolve()) as root, root.open("decisions.jsonl") as opened:
        for pack in packs_of(opened, len(data), spec, Place(0, 1, ""), {}):
            log.write_bytes(b"x" * len(data) * 2)
            assert pack.window == sha256(data[max(0, pack.place.offset - TAIL_BYTES) : pack.place.offset]).digest()
        assert pack.place.offset == len(data)
