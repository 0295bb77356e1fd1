"""An opened store directory: everything below it is reached from its descriptor, read and written."""

from __future__ import annotations

import errno
import os
import re
import stat as stat_module
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import TracebackType

from stores.errors import CannotWrite, ChangedMeanwhile, StoreUnreadable
from stores.files.exchanging import (
    GONE,
    exchange_for,
    exchange_grown,
    has_both_names,
    make_beside,
    ours_beside,
    rename_to_nothing,
    sha256_of,
    unlink_quietly,
)
from stores.files.facts import REFUSALS, CannotRead, Entry, FileStat, entry_of, printable_name, raw_path, state_of, why
from stores.files.logs import append_lines, open_log, take_back
from stores.files.opened import LOCK_WAIT_S, OpenedFile, OpenedFolder, flocked, open_when_free
from stores.files.own import sync_folder

MAX_DEPTH = 8
MAX_ENTRIES = 200_000


class StoreRoot:
    """An opened store directory; everything below is reached from its descriptor.

    Raises StoreUnreadable when the directory cannot be opened.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = str(path)
        try:
            self.descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError as err:
            raise StoreUnreadable(f"{self.path}: {why(err)}.") from err
        self.stat = FileStat.of(os.fstat(self.descriptor))

    def __enter__(self) -> StoreRoot:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the directory; a lock on it ends."""
        os.close(self.descriptor)

    def open(self, path: str) -> OpenedFile:
        """Open a regular file for reading.

        Every part of the path is opened from the directory before it, without following links and without blocking on a pipe.
        Raises CannotRead.
        """
        parts = path.split("/")
        if not path or any(part in ("", ".", "..") for part in parts):
            raise CannotRead("not_regular", f"{printable_name(path)} is no path below the store.")
        directory = os.dup(self.descriptor)
        try:
            for part in parts[:-1]:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=directory)
                os.close(directory)
                directory = below
            opened = open_when_free(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=directory)
        except OSError as err:
            state = state_of(err)
            raise CannotRead(state, REFUSALS.get(state, "{path}: {why}.").format(path=path, why=why(err))) from err
        finally:
            os.close(directory)
        result = os.fstat(opened)
        if not stat_module.S_ISREG(result.st_mode):
            os.close(opened)
            raise CannotRead("not_regular", REFUSALS["not_regular"].format(path=path))
        return OpenedFile(opened, FileStat.of(result))

    def walk(self, max_depth: int = MAX_DEPTH, max_entries: int = MAX_ENTRIES) -> Iterator[Entry]:
        """Give every entry below the root, directories before what they hold, links named and not followed.

        Directories below max_depth, those that cannot be opened, and whatever stands behind the first max_entries entries come as
        one entry of kind "not_walked" for the place where walking ended.
        """
        seen = 0
        pending: list[tuple[str, int]] = [("", 0)]
        while pending:
            below, depth = pending.pop()
            try:
                descriptor = self._open_directory(below)
            except CannotRead:
                yield Entry(below, "not_walked", self.stat)
                continue
            try:
                with os.scandir(descriptor) as entries:
                    for entry in entries:
                        seen += 1
                        if seen > max_entries:
                            yield Entry(below, "not_walked", self.stat)
                            return
                        found = entry_of(below, entry)
                        if found is None:
                            continue
                        yield found
                        if found.kind == "directory":
                            if depth + 1 < max_depth:
                                pending.append((raw_path(below, entry.name), depth + 1))
                            else:
                                yield Entry(found.path, "not_walked", found.stat)
            finally:
                os.close(descriptor)

    def matching(self, pattern: str, limit: int) -> Iterator[Entry]:
        """Give at most `limit` entries whose path is alike, in order of their names; `*` stands for any characters of one name.

        Only the folders of the pattern are looked into, and links are not followed. What is missing or cannot be opened gives nothing.
        """
        folders, _, last = pattern.rpartition("/")
        found = 0
        for below in self._folders_matching(folders.split("/") if folders else []):
            for entry in self._named_like(below, last):
                if entry.kind != "directory":
                    found += 1
                    if found > limit:
                        return
                    yield entry

    def _folders_matching(self, parts: list[str], below: str = "") -> Iterator[str]:
        if not parts:
            yield below
        elif "*" not in parts[0]:
            yield from self._folders_matching(parts[1:], raw_path(below, parts[0]))
        else:
            for entry in self._named_like(below, parts[0]):
                if entry.kind == "directory":
                    yield from self._folders_matching(parts[1:], entry.path)

    def _named_like(self, below: str, name: str) -> list[Entry]:
        """Give the entries of a folder that can be opened and whose name is alike, by name."""
        try:
            descriptor = self._open_directory(below)
        except CannotRead:
            return []
        like = re.compile(".*".join(re.escape(part) for part in name.split("*")), re.DOTALL)
        try:
            with os.scandir(descriptor) as entries:
                alike = [entry_of(below, entry) for entry in islice(entries, MAX_ENTRIES) if like.fullmatch(entry.name)]
        finally:
            os.close(descriptor)
        return sorted(entry for entry in alike if entry is not None and entry.is_named)

    def _open_directory(self, path: str) -> int:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=self.descriptor)
        for part in path.split("/") if path else ():
            try:
                below = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
            except OSError as err:
                raise CannotRead(state_of(err), f"{path}: {why(err)}.") from err
            finally:
                os.close(descriptor)
            descriptor = below
        return descriptor

    @contextmanager
    def folder(self, path: str) -> Iterator[OpenedFolder]:
        """Open a folder below the root, "" for the root itself, in which many files are looked at. Raises CannotRead."""
        descriptor = self._open_directory(path)
        try:
            yield OpenedFolder(descriptor, path)
        finally:
            os.close(descriptor)

    @contextmanager
    def locked(self, wait_s: float = LOCK_WAIT_S) -> Iterator[bool]:
        """Hold the store's lock: `flock` on the directory itself, which needs no file in the store (ruling 38).

        Gives False when another process held it for wait_s seconds.
        """
        with flocked(self.descriptor, wait_s) as held:
            yield held

    @contextmanager
    def locked_file(self, path: str, wait_s: float = LOCK_WAIT_S) -> Iterator[bool]:
        """Hold the lock that a kind's own writers take besides, on one file of the store; raises CannotRead."""
        with self.open(path) as opened, flocked(opened.descriptor, wait_s) as held:
            yield held

    def read(self, path: str, most: int) -> bytes:
        """Give all bytes of a file; raises CannotRead, also for one of more than `most` bytes."""
        with self.open(path) as opened:
            if opened.stat.size_bytes > most:
                raise CannotRead("too_large", f"{printable_name(path)} has more than {most:,} bytes.")
            return opened.at(0, most)

    def append(self, path: str, lines: bytes) -> int:
        """Append whole lines to a log, in one write, and have them on the disk; give the offset of the first (ruling 3).

        A log that is missing is made. A torn line at its end is ended first; when what another writer left there meanwhile swallowed
        the lines, they are appended once more. Raises CannotWrite, and the log is then as before unless the message says otherwise.
        """
        with self._parent(path) as (directory, name):
            descriptor = open_log(directory, name, path)
            try:
                return append_lines(descriptor, lines, path)
            finally:
                os.close(descriptor)

    def cut_off(self, path: str, torn: bytes) -> bool:
        """Take a torn line of ours from the end of a log, if it stands there and nobody else has the log open. Raises CannotWrite."""
        with self._parent(path) as (directory, name):
            descriptor = open_log(directory, name, path)
            try:
                end = os.fstat(descriptor).st_size
                start = end - len(torn)
                return start >= 0 and os.pread(descriptor, len(torn), start) == torn and take_back(descriptor, start, end)
            finally:
                os.close(descriptor)

    def put(self, path: str, data: bytes, before_sha256: bytes | None, token: str) -> str:
        """Put a whole file in the place of the one that has this hash, or of none; give the path of what was displaced, "" of none.

        The displaced file stays beside it under a name made of `token`; folders on the way to a new file are made. Raises ChangedMeanwhile when another version stands there,
        which stays, and CannotWrite when owner, mode or attributes cannot be kept (ruling 14) or the disk refuses.
        """
        beside = ours_beside(path, token)
        if before_sha256 is None:
            try:
                self._make_folders(path)
            except OSError as err:
                raise CannotWrite(f"The folder of {printable_name(path)} cannot be made: {why(err)}.") from err
        with self._parent(path) as (directory, name):
            ours = beside.rpartition("/")[2]
            try:
                make_beside(directory, name, ours, data, like_the_original=before_sha256 is not None, path=path)
                if before_sha256 is None:
                    rename_to_nothing(directory, ours, directory, name)
                else:
                    exchange_for(directory, name, ours, before_sha256, path)
                os.fsync(directory)
            except FileExistsError as err:
                unlink_quietly(directory, ours)
                raise ChangedMeanwhile(f"{printable_name(path)} was made by somebody else meanwhile; it was left as it is.") from err
            except OSError as err:
                raise CannotWrite(f"{printable_name(path)} cannot be written: {why(err)}.") from err
        return "" if before_sha256 is None else beside

    def put_back(self, path: str, token: str, after_sha256: bytes) -> None:
        """Undo a `put`: the displaced file takes its place again, if what stands there is still what was put. Raises as `put` does."""
        with self._parent(path) as (directory, name):
            ours = ours_beside(path, token).rpartition("/")[2]
            try:
                exchange_for(directory, name, ours, after_sha256, path)
                unlink_quietly(directory, ours)
                os.fsync(directory)
            except OSError as err:
                raise CannotWrite(f"{printable_name(path)} cannot be put back as it was: {why(err)}.") from err

    def take_away(self, path: str, token: str, after_sha256: bytes) -> None:
        """Undo the making of a file by `put`, if what stands there is still what was put. Raises ChangedMeanwhile or CannotWrite."""
        with self._parent(path) as (directory, name):
            ours = ours_beside(path, token).rpartition("/")[2]
            try:
                rename_to_nothing(directory, name, directory, ours)
                if sha256_of(directory, ours) != after_sha256:
                    rename_to_nothing(directory, ours, directory, name)
                    raise ChangedMeanwhile(f"{printable_name(path)} changed after it was made; it was left as it is.")
                unlink_quietly(directory, ours)
                os.fsync(directory)
            except OSError as err:
                raise CannotWrite(f"{printable_name(path)} cannot be taken away again: {why(err)}.") from err

    def take_out(self, path: str, before_sha256: bytes, token: str) -> str:
        """Take a file with this hash away from its name; give the path beside it where it lies now. Raises ChangedMeanwhile or CannotWrite."""
        beside = ours_beside(path, token)
        with self._parent(path) as (directory, name):
            ours = beside.rpartition("/")[2]
            try:
                rename_to_nothing(directory, name, directory, ours)
                if sha256_of(directory, ours) != before_sha256:
                    rename_to_nothing(directory, ours, directory, name)
                    raise ChangedMeanwhile(f"{printable_name(path)} has changed; it was left as it is.")
                os.fsync(directory)
            except FileNotFoundError as err:
                raise ChangedMeanwhile(GONE.format(path=printable_name(path))) from err
            except OSError as err:
                raise CannotWrite(f"{printable_name(path)} cannot be taken out: {why(err)}.") from err
        return beside

    def bring_back(self, path: str, token: str) -> None:
        """Undo a `take_out`, unless somebody made another file of that name; raises ChangedMeanwhile or CannotWrite."""
        with self._parent(path) as (directory, name):
            ours = ours_beside(path, token).rpartition("/")[2]
            try:
                rename_to_nothing(directory, ours, directory, name)
                os.fsync(directory)
            except FileExistsError as err:
                raise ChangedMeanwhile(f"{printable_name(path)} was made anew meanwhile; it was left as it is.") from err
            except OSError as err:
                raise CannotWrite(f"{printable_name(path)} cannot be put back: {why(err)}.") from err

    def exchange_log(self, path: str, data: bytes, before: bytes, token: str) -> str:
        """Put a log in the place of one that begins with `before`, however it has grown since; give the path of the displaced one.

        Raises ChangedMeanwhile when the log does not begin so: it stays, with what agents meanwhile appended to ours. CannotWrite as `put`.
        """
        beside = ours_beside(path, token)
        with self._parent(path) as (directory, name):
            ours = beside.rpartition("/")[2]
            try:
                make_beside(directory, name, ours, data, like_the_original=True, path=path)
                appended = exchange_grown(directory, name, ours, before, data, path)
                os.fsync(directory)
            except OSError as err:
                raise CannotWrite(f"{printable_name(path)} cannot be written: {why(err)}.") from err
        if appended is None:
            return beside
        if appended:
            self.append(path, appended)
        raise ChangedMeanwhile(f"{printable_name(path)} was rewritten while it was being changed; the other writer's version stands.")

    def make_folder(self, path: str) -> None:
        """Make a folder that is missing; one that is there is fine. Raises CannotWrite."""
        try:
            self._make_folders(f"{path}/")
        except OSError as err:
            raise CannotWrite(f"{printable_name(path)} cannot be made: {why(err)}.") from err

    def move(self, path: str, to: str) -> None:
        """Give a file another name below the root, where none may stand; folders on the way are made. Raises CannotWrite."""
        try:
            self._make_folders(to)
            with self._parent(path) as (source, name), self._parent(to) as (target, new_name):
                if not has_both_names(source, name, target, new_name):
                    rename_to_nothing(source, name, target, new_name)
                os.fsync(target)
                os.fsync(source)
        except FileExistsError as err:
            raise CannotWrite(f"{printable_name(to)} is there already, so {printable_name(path)} was left where it is.") from err
        except OSError as err:
            raise CannotWrite(f"{printable_name(path)} cannot be moved to {printable_name(to)}: {why(err)}.") from err

    def hand_over(self, path: str, to: Path) -> bool:
        """Move a file out of the store, under its own inode; False where the other place is on another file system. Raises OSError."""
        with self._parent(path) as (directory, name):
            try:
                os.rename(name, to, src_dir_fd=directory)
            except OSError as err:
                if err.errno != errno.EXDEV:
                    raise
                return False
            os.fsync(directory)
        sync_folder(to.parent)
        return True

    def remove(self, path: str) -> None:
        """Remove a file of ours; one that is gone already is none to worry about. Raises OSError."""
        with self._parent(path) as (directory, name):
            unlink_quietly(directory, name)
            os.fsync(directory)

    @contextmanager
    def _parent(self, path: str) -> Iterator[tuple[int, str]]:
        """Open the folder that holds `path`; give its descriptor and the name in it. Raises CannotWrite."""
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts):
            raise CannotWrite(f"{printable_name(path)} is no path below the store.")
        try:
            directory = self._open_directory("/".join(parts[:-1]))
        except CannotRead as err:
            raise CannotWrite(str(err)) from err
        try:
            yield directory, parts[-1]
        finally:
            os.close(directory)

    def _make_folders(self, path: str) -> None:
        for depth in range(1, path.count("/") + 1):
            with self._parent("/".join(path.split("/")[:depth])) as (directory, name):
                try:
                    os.mkdir(name, 0o700, dir_fd=directory)
                except FileExistsError:
                    continue
                os.fsync(directory)
