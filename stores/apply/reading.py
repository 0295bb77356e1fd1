"""Whole files of a store, as a change needs them."""

from __future__ import annotations

import hashlib

from stores.errors import StoreUnreadable
from stores.files import CannotRead, FileStat, StoreRoot

MOST_BYTES = 512 * 1024 * 1024
"""A log or graph that is larger is not changed here: it would have to be held in memory."""


def read_if_there(root: StoreRoot, path: str) -> bytes | None:
    """Give the bytes of a file, None when there is none; raises StoreUnreadable for one that cannot be read."""
    try:
        return root.read(path, MOST_BYTES)
    except CannotRead as err:
        if err.state == "missing":
            return None
        raise StoreUnreadable(str(err)) from err


def stat_of(root: StoreRoot, path: str) -> FileStat | None:
    """Give the facts of a file, None when there is none; raises StoreUnreadable."""
    try:
        with root.open(path) as opened:
            return opened.stat
    except CannotRead as err:
        if err.state == "missing":
            return None
        raise StoreUnreadable(str(err)) from err


def size_of(root: StoreRoot, path: str) -> int:
    """Give the size of a file, 0 when there is none; raises StoreUnreadable."""
    found = stat_of(root, path)
    return found.size_bytes if found else 0


def inode_of(root: StoreRoot, path: str) -> int | None:
    """Give the inode of a file, None when there is none; raises StoreUnreadable."""
    found = stat_of(root, path)
    return found.inode if found else None


def entry_kind(root: StoreRoot, path: str) -> str:
    """Say what stands at a path, links not followed: file, directory or other; "" for nothing."""
    try:
        with root.open(path):
            return "file"
    except CannotRead as err:
        if err.state == "missing":
            return ""
    try:
        with root.folder(path):
            return "directory"
    except CannotRead:
        return "other"


def sha256_of_first(root: StoreRoot, path: str, length: int) -> str:
    """Give the hash, in hex, of the first bytes of a file; "" when it has fewer."""
    data = read_if_there(root, path)
    return "" if data is None or len(data) < length else hashlib.sha256(data[:length]).hexdigest()


def read_from(root: StoreRoot, path: str, offset: int) -> bytes:
    """Give what a file holds from `offset` on; nothing when it is not there or shorter. Raises StoreUnreadable."""
    try:
        with root.open(path) as opened:
            return opened.at(offset, max(0, opened.stat.size_bytes - offset))
    except CannotRead as err:
        if err.state == "missing":
            return b""
        raise StoreUnreadable(str(err)) from err
