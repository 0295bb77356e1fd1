"""Puts a file in the place of another, so that whatever comes out is known and kept (rulings 4, 14)."""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import stat as stat_module
from contextlib import suppress

from stores.errors import CannotWrite, ChangedMeanwhile
from stores.files.facts import REFUSALS, printable_name, why
from stores.files.opened import CHUNK_BYTES
from stores.files.own import write_all

MAX_EXCHANGES = 8
OURS_SUFFIX = ".memoryui"
"""Ends the name of every file that we put beside one of a store; no reader takes such a name for a record."""
GONE = "{path} is not there any more."
_NOREPLACE, _EXCHANGE = 1, 2
_renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
_NOT_OFFERED = (errno.ENOSYS, errno.EINVAL)


def ours_beside(path: str, token: str) -> str:
    """Give the path of our own file beside one of a store: it carries the token, so that whoever finds it knows whose it is."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/.{name}.{token}{OURS_SUFFIX}" if folder else f".{name}.{token}{OURS_SUFFIX}"


def make_beside(directory: int, name: str, ours: str, data: bytes, *, like_the_original: bool, path: str) -> None:
    """Make our file with all its bytes, owner, mode and attributes, on the disk; nothing of it stays when that fails."""
    descriptor = os.open(ours, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=directory)
    try:
        if like_the_original:
            _dress_like(directory, name, descriptor, path)
        write_all(descriptor, data)
    except (OSError, CannotWrite, ChangedMeanwhile):
        unlink_quietly(directory, ours)
        raise
    finally:
        os.close(descriptor)


def _dress_like(directory: int, name: str, descriptor: int, path: str) -> None:
    """Give our file owner, group, mode, ACL and further attributes of the original (ruling 14)."""
    try:
        original = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    except FileNotFoundError as err:
        raise ChangedMeanwhile(GONE.format(path=printable_name(path))) from err
    try:
        wanted, given = os.fstat(original), os.fstat(descriptor)
        if not stat_module.S_ISREG(wanted.st_mode):
            raise CannotWrite(REFUSALS["not_regular"].format(path=printable_name(path)))
        if wanted.st_nlink != 1:
            raise CannotWrite(
                f"{printable_name(path)} has {wanted.st_nlink} names, and only one of them would change. Run the worker as the owner of the store."
            )
        try:
            if (wanted.st_uid, wanted.st_gid) != (given.st_uid, given.st_gid):
                os.fchown(descriptor, wanted.st_uid, wanted.st_gid)
            os.fchmod(descriptor, stat_module.S_IMODE(wanted.st_mode))
            kept = _attributes(descriptor)
            for attribute, value in _attributes(original).items():
                if kept.get(attribute) != value:
                    os.setxattr(descriptor, attribute, value)
        except OSError as err:
            raise CannotWrite(
                f"Owner and mode of {printable_name(path)} cannot be kept ({why(err)}). Run the worker as the owner of the store."
            ) from err
    finally:
        os.close(original)


def _attributes(descriptor: int) -> dict[str, bytes]:
    try:
        return {name: os.getxattr(descriptor, name) for name in os.listxattr(descriptor)}
    except OSError as err:
        if err.errno == errno.ENOTSUP:
            return {}
        raise


def exchange_for(directory: int, name: str, ours: str, before_sha256: bytes, path: str) -> None:
    """Exchange our file for the live one and look at what came out; anything but the expected bytes is put back (ruling 4)."""
    data_sha256, put_in = sha256_of(directory, ours), _inode(directory, ours)
    try:
        _exchange(directory, ours, name)
    except FileNotFoundError as err:
        raise ChangedMeanwhile(GONE.format(path=printable_name(path))) from err
    if sha256_of(directory, ours) == before_sha256:
        return
    for _ in range(MAX_EXCHANGES):
        putting = _inode(directory, ours)
        _exchange(directory, ours, name)
        if _inode(directory, ours) == put_in:
            break
        put_in = putting
    else:
        raise CannotWrite(f"{printable_name(path)} is replaced again and again by another writer; every version is kept.")
    if sha256_of(directory, ours) == data_sha256:
        unlink_quietly(directory, ours)
    os.fsync(directory)
    raise ChangedMeanwhile(f"{printable_name(path)} changed while it was being written; the other writer's version stands.")


def exchange_grown(directory: int, name: str, ours: str, before: bytes, data: bytes, path: str) -> bytes | None:
    """Exchange our log for the live one, which may have grown since it was read as `before`; None when that was done.

    What came out and does not begin so is put back, and the lines that were appended to ours in that moment are given, for appending.
    """
    try:
        _exchange(directory, ours, name)
    except FileNotFoundError as err:
        unlink_quietly(directory, ours)
        raise ChangedMeanwhile(GONE.format(path=printable_name(path))) from err
    if _bytes_of(directory, ours, len(before)) == before:
        return None
    _exchange(directory, ours, name)
    came_out = _bytes_of(directory, ours)
    if not came_out.startswith(data):
        # Somebody replaced ours by another version in that moment: it is kept.
        return b""
    unlink_quietly(directory, ours)
    return came_out[len(data) : came_out.rfind(b"\n") + 1]


def _bytes_of(directory: int, name: str, most: int = -1) -> bytes:
    with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory), "rb") as opened:
        return opened.read(most)


def _rename(source: int, name: str, target: int, new_name: str, flags: int) -> None:
    if _renameat2 is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    if _renameat2(source, os.fsencode(name), target, os.fsencode(new_name), flags):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), new_name)


def _exchange(directory: int, one: str, other: str) -> None:
    """Exchange two names; where the kernel cannot, the other's file gets our name a moment after ours got its."""
    try:
        _rename(directory, one, directory, other, _EXCHANGE)
    except OSError as err:
        if err.errno not in _NOT_OFFERED:
            raise
        spare = f"{one}.spare"
        os.link(other, spare, src_dir_fd=directory, dst_dir_fd=directory, follow_symlinks=False)
        os.rename(one, other, src_dir_fd=directory, dst_dir_fd=directory)
        os.rename(spare, one, src_dir_fd=directory, dst_dir_fd=directory)


def rename_to_nothing(source: int, name: str, target: int, new_name: str) -> None:
    """Rename where nothing may stand. Raises FileExistsError."""
    try:
        _rename(source, name, target, new_name, _NOREPLACE)
    except OSError as err:
        if err.errno not in _NOT_OFFERED:
            raise
        os.link(name, new_name, src_dir_fd=source, dst_dir_fd=target, follow_symlinks=False)
        os.unlink(name, dir_fd=source)


def has_both_names(source: int, name: str, target: int, new_name: str) -> bool:
    """Finish a rename by two steps of which only the first was done; False where there is none to finish."""
    try:
        if _inode(target, new_name) != _inode(source, name):
            return False
    except FileNotFoundError:
        return False
    os.unlink(name, dir_fd=source)
    return True


def _inode(directory: int, name: str) -> int:
    return os.stat(name, dir_fd=directory, follow_symlinks=False).st_ino


def sha256_of(directory: int, name: str) -> bytes:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
    digest = hashlib.sha256()
    try:
        while piece := os.read(descriptor, CHUNK_BYTES):
            digest.update(piece)
    finally:
        os.close(descriptor)
    return digest.digest()


def unlink_quietly(directory: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=directory)
