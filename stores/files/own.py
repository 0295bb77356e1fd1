"""Durable files of our own: whole or not at all, and on the disk when a call returns."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_new_file(path: Path, data: bytes, mode: int = 0o600) -> bool:
    """Make a file, whole or not at all and on the disk when this returns; False when one of that name is there, which stays.

    Raises OSError.
    """
    unfinished, descriptor = _unfinished(path, mode)
    try:
        write_all(descriptor, data)
        os.link(unfinished, path)
    except FileExistsError:
        return False
    finally:
        os.close(descriptor)
        unfinished.unlink(missing_ok=True)
    sync_folder(path.parent)
    return True


def make_folder(path: Path) -> None:
    """Make a folder of our own that no other account can look into, with those above it, on the disk when this returns. Raises OSError."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
    sync_folder(path.parent)


def rename_folder(path: Path, to: Path) -> None:
    """Give a folder of our own another name, on the disk when this returns. Raises OSError."""
    os.rename(path, to)
    sync_folder(to.parent)
    if path.parent != to.parent:
        sync_folder(path.parent)


def write_file_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file by another, whole or not at all and on the disk when this returns. Raises OSError."""
    unfinished, descriptor = _unfinished(path, mode)
    try:
        write_all(descriptor, data)
        unfinished.replace(path)
    finally:
        os.close(descriptor)
        unfinished.unlink(missing_ok=True)
    sync_folder(path.parent)


def _unfinished(path: Path, mode: int) -> tuple[Path, int]:
    """Open a new file beside `path`; its name ends neither in .json nor in .jsonl, so that no reader takes it for a record."""
    place = path.with_name(f".{path.name}.{secrets.token_hex(6)}.unfinished")
    return place, os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def append_bytes(path: Path, data: bytes) -> None:
    """Append to a file in one write; it is made when missing, and on the disk when this returns. Raises OSError."""
    _append(path, data, ends_a_torn_line=False)


def append_line(path: Path, line: bytes) -> None:
    """Append one line, given without its line break, as `append_bytes` does; a torn line before it is ended first."""
    _append(path, line + b"\n", ends_a_torn_line=True)


def _append(path: Path, data: bytes, *, ends_a_torn_line: bool) -> None:
    is_new = not path.exists()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        torn = ends_a_torn_line and size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        write_all(descriptor, b"\n" * torn + data)
    finally:
        os.close(descriptor)
    if is_new:
        sync_folder(path.parent)


def write_all(descriptor: int, data: bytes) -> None:
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
    os.fsync(descriptor)


def sync_folder(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
