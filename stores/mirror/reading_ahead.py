"""Reads large files in a process of its own, ahead of the database.

`read_packs` is what the mirror calls. Run as a program, this module is that process: it gets a job and an open file from its
parent and hands over packs.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

import msgspec

from stores.files import FileStat, OpenedFile
from stores.formats import KINDS
from stores.formats.base import FileSpec
from stores.mirror.packs import Pack, Place, packs_of
from stores.mirror.working_ahead import Signs, hand_over, started

AHEAD_FROM_BYTES = 8 * 1024 * 1024
"""Below, starting a process takes longer than reading."""
PACKS_AHEAD = 12
"""Packs that wait in the process: one batch, and what is read while it is saved."""

log = logging.getLogger(__name__)


class Job(msgspec.Struct, frozen=True):
    """What a reading process is to do."""

    descriptor: int
    kind: str
    path: str
    """Of the file's spec."""
    end: int
    place: Place
    infos: dict[str, int]
    counted: tuple[str, ...]


def read_packs(
    opened: OpenedFile,
    end: int,
    spec: FileSpec,
    place: Place,
    infos: Mapping[str, int],
    counted: Sequence[str],
    path: str = "",
    on_read: Callable[[], None] = lambda: None,
) -> Generator[Pack, None, None]:
    """Read on from a place up to an offset of the file, a large piece of its lines ahead of the caller; see `packs.packs_of`.

    A process that cannot start or ends early only costs time: its work is taken over here. Close the iterator when it is not
    read to its end.
    """
    if end - place.offset >= AHEAD_FROM_BYTES and not spec.whole:
        for pack in _ahead(opened, end, spec, place, infos, counted, on_read):
            yield pack
            if pack.end_state is not None:
                return
            place, infos = pack.place, pack.infos
        log.warning("The process that reads %s ahead ended early; reading goes on without it.", path or spec.path)
    yield from packs_of(opened, end, spec, place, infos, counted, path, on_read)


def _ahead(
    opened: OpenedFile,
    end: int,
    spec: FileSpec,
    place: Place,
    infos: Mapping[str, int],
    counted: Sequence[str],
    on_read: Callable[[], None],
) -> Iterator[Pack]:
    kind = next(kind.name for kind in KINDS.values() if spec in kind.files)
    job = Job(opened.descriptor, kind, spec.full_path, end, place, dict(infos), tuple(counted))
    with started(__name__, msgspec.json.encode(job), [opened.descriptor]) as received:
        decode = msgspec.msgpack.Decoder(Pack).decode
        for piece in received:
            if piece:
                yield decode(piece)
            else:
                on_read()


def main() -> None:
    """Read as the parent asks, until the end of the file or of the parent."""
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=Job)
    spec = next(spec for spec in KINDS[job.kind].files if spec.full_path == job.path)
    opened = OpenedFile(job.descriptor, FileStat.of(os.fstat(job.descriptor)))
    signs = Signs()
    packs = packs_of(opened, job.end, spec, job.place, job.infos, job.counted, on_read=signs)
    hand_over(map(msgspec.msgpack.Encoder().encode, packs), PACKS_AHEAD, signs)


if __name__ == "__main__":
    main()
