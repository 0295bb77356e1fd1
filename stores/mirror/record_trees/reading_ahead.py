"""Reads the record files of a large store in a process of its own, ahead of the database.

`FileReader` is what the mirror uses. Run as a program, this module is that process: it gets the names of the files and their opened
folders from its parent and hands over what it read of them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from stores.files import CannotRead, FileStat, OpenedFolder, StoreRoot
from stores.formats.phase_memory.mirrored import Mirrored
from stores.mirror.record_trees.packed_facts import unpack
from stores.mirror.record_trees.reading import ReadFile, read_file, read_files
from stores.mirror.working_ahead import hand_over, started

AHEAD_FROM_FILES = 1000
"""Below, starting a process takes longer than reading."""
FILES_A_PIECE = 200
BYTES_A_PIECE = 1024 * 1024
PIECES_AHEAD = 24
"""Pieces that wait in the process."""


class _Job(msgspec.Struct, frozen=True):
    """What a reading process is to do."""

    folders: list[tuple[str, int, list[bytes]]]
    """Path, descriptor and names."""


class _Carried(NamedTuple):
    """One file that was read, its facts only packed."""

    name: str
    path: str
    stat: FileStat
    racy: bool
    state: str
    sha256: bytes
    packed_facts: bytes
    values: tuple[Any, ...] | None
    search: str
    links: tuple[tuple[Any, ...], ...]
    natural_id: str
    key: int
    raw: bytes


class _Piece(msgspec.Struct, array_like=True, gc=False):
    """What became of the next names of a folder."""

    folder: str
    names: int
    files: list[_Carried]
    left: list[bytes]
    """Names of files that cannot be carried over: their ids or texts are none that can be packed."""


class FileReader:
    """Gives the record files of a store folder by folder, in the order in which they were announced; use it by `with`.

    A process that cannot start or ends early only costs time: its work is taken over here.
    """

    def __init__(self, root: StoreRoot, names: Mapping[str, Sequence[str]]) -> None:
        self._root, self._names = root, names
        self._stack = ExitStack()
        self._pieces: Iterator[_Piece] = iter(())

    def __enter__(self) -> Self:
        if sum(map(len, self._names.values())) >= AHEAD_FROM_FILES:
            self._start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.close()

    def _start(self) -> None:
        folders: list[tuple[str, int, list[bytes]]] = []
        for path, names in self._names.items():
            with suppress(CannotRead):
                opened = self._stack.enter_context(self._root.folder(path))
                folders.append((path, opened.descriptor, list(map(os.fsencode, names))))
        job = msgspec.msgpack.encode(_Job(folders))
        received = self._stack.enter_context(started(__name__, job, [descriptor for _, descriptor, _ in folders]))
        self._pieces = map(msgspec.msgpack.Decoder(_Piece).decode, received)

    def read(self, opened: OpenedFolder, names: Sequence[str]) -> Iterator[ReadFile]:
        """Read files of one folder; one that is gone or became a link meanwhile is passed over, the next sweep sees it."""
        done = 0
        while done < len(names):
            piece = next((piece for piece in self._pieces if piece.folder == opened.path), None)
            if piece is None:
                break
            done += piece.names
            for carried in piece.files:
                file = _taken(carried)
                if file is not None:
                    yield file
                elif (again := read_file(opened, carried.name)) is not None:
                    yield again
            yield from read_files(opened, map(os.fsdecode, piece.left))
        yield from read_files(opened, names[done:])


def _taken(carried: _Carried) -> ReadFile | None:
    """Give a file as it was read; None where its facts did not come along."""
    facts = unpack(carried.path, carried.packed_facts)
    if facts is None:
        return None
    mirrored = None if carried.values is None else Mirrored(carried.values, carried.search, carried.links)
    return ReadFile(*carried[:6], facts, carried.packed_facts, mirrored, *carried[10:])


def _carried(file: ReadFile) -> _Carried:
    values, search, links = file.mirrored or (None, "", ())
    return _Carried(*file[:6], file.packed_facts, values, search, links, file.natural_id, file.key, file.raw)


def main() -> None:
    """Read as the parent asks, until the last file or the end of the parent."""
    job = msgspec.msgpack.decode(sys.stdin.buffer.read(), type=_Job)
    hand_over(map(_packed, _pieces(job)), PIECES_AHEAD)


def _pieces(job: _Job) -> Iterator[_Piece]:
    for path, descriptor, names in job.folders:
        opened = OpenedFolder(descriptor, path)
        piece, size = _Piece(path, 0, [], []), 0
        for name in map(os.fsdecode, names):
            read = read_file(opened, name)
            piece.names += 1
            if read is not None:
                piece.files.append(_carried(read))
                size += len(read.raw)
            if piece.names == FILES_A_PIECE or size >= BYTES_A_PIECE:
                yield piece
                piece, size = _Piece(path, 0, [], []), 0
        if piece.names:
            yield piece


def _packed(piece: _Piece) -> bytes:
    try:
        return msgspec.msgpack.encode(piece)
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):
        kept = [one for one in piece.files if _can_be_packed(one)]
        left = [os.fsencode(one.name) for one in piece.files if one not in kept]
        return msgspec.msgpack.encode(_Piece(piece.folder, piece.names, kept, left))


def _can_be_packed(one: _Carried) -> bool:
    try:
        msgspec.msgpack.encode(one)
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):
        return False
    return True


if __name__ == "__main__":
    main()
