"""Hints that a store changed, from the kernel; the sweep sees whatever they miss (rulings 19, 77)."""

from __future__ import annotations

import logging
import stat
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import watchfiles

from stores.errors import StoreUnreadable
from stores.files import StoreRoot

MAX_WATCHES = 4_096
"""Folders watched on one host (ruling 19)."""
DEBOUNCE_MS = 50
STEP_MS = 10
START_WAIT_S = 5.0
TRY_AGAIN_S = 60.0
NOBODY: frozenset[int] = frozenset()

log = logging.getLogger(__name__)


class Folder(NamedTuple):
    """A real folder, opened without following a link. A root that was made anew has another inode, so its watch starts again."""

    path: str
    inode: int


def folders_of(root_path: str) -> tuple[Folder, ...]:
    """Give the root and after it every folder below that can be watched; nothing when the root cannot be opened."""
    try:
        with StoreRoot(root_path) as root:
            found = [Folder(root_path, root.stat.inode)]
            for entry in root.walk():
                path = f"{root_path}/{entry.path}"
                if entry.kind == "directory" and _is_named(path, entry.stat.inode):
                    found.append(Folder(path, entry.stat.inode))
            return tuple(found)
    except StoreUnreadable:
        return ()


def _is_named(path: str, inode: int) -> bool:
    """Say whether the text really names the folder: a name that is no UTF-8 comes in another spelling, and cannot be watched."""
    if "\\" not in path and "\u2400" not in path:
        return True
    try:
        return Path(path).stat(follow_symlinks=False).st_ino == inode
    except OSError:
        return False


Hint = Callable[[set[int], set[int]], None]


class _End:
    """An end that can be asked for; watchfiles asks it again and again once the watch stands, which tells when it does."""

    def __init__(self) -> None:
        self.stands = threading.Event()
        self.asked = threading.Event()

    def is_set(self) -> bool:
        """Say whether the watch is to end."""
        self.stands.set()
        return self.asked.is_set()


class Watcher:
    """Watches the folders of many stores in one thread and says which stores an event was about.

    `hint` is called in that thread with the ids of stores in which something moved, and the ids of those among them in which
    a folder came or went, so that what is to be watched changed.
    """

    def __init__(self, hint: Hint, max_watches: int = MAX_WATCHES) -> None:
        self._hint = hint
        self._max_watches = max_watches
        self._watched: dict[Folder, frozenset[int]] = {}
        self._end = _End()
        self._thread: threading.Thread | None = None
        self._refused = ""
        self._try_again_at = 0.0
        self._over_limit = ""

    @property
    def note(self) -> str:
        """What is not watched, in plain words; "" when all is."""
        return " ".join(filter(None, (self._over_limit, self._refused)))

    def watch(self, folders: Mapping[int, Sequence[Folder]]) -> bool:
        """Watch these folders, given by store id with the root first, and no others; True when the watch was started anew.

        What changed between two watches went unseen, so after True every store is to be looked at once.
        """
        below = chain.from_iterable(found[1:] for found in folders.values())
        # A root comes before any folder below one, since it sees that something below it was made.
        ordered = dict.fromkeys(chain((found[0] for found in folders.values() if found), below))
        total = len(ordered)
        wanted = {folder: frozenset[int]() for folder in islice(ordered, self._max_watches)}
        for store, found in folders.items():
            wanted.update({folder: wanted[folder] | {store} for folder in found if folder in wanted})
        self._over_limit = (
            f"{len(wanted):,} of {total:,} folders are watched, which is the limit; the sweep sees changes in the others."
            if total > self._max_watches
            else ""
        )
        if wanted == self._watched and self._stands():
            return False
        if time.monotonic() < self._try_again_at:
            return False
        self.close()
        self._watched = wanted
        if wanted:
            self._start()
        return True

    def close(self) -> None:
        """End the watch."""
        if self._thread is not None:
            self._end.asked.set()
            self._thread.join()
            self._thread = None

    def _stands(self) -> bool:
        return not self._watched or (self._thread is not None and self._thread.is_alive())

    def _start(self) -> None:
        self._end, self._refused = _End(), ""
        stores = {folder.path: ids for folder, ids in self._watched.items()}
        self._thread = threading.Thread(target=self._run, args=(stores, self._end), name="watch", daemon=True)
        self._thread.start()
        self._end.stands.wait(START_WAIT_S)

    def _run(self, stores: dict[str, frozenset[int]], end: _End) -> None:
        try:
            for changes in watchfiles.watch(
                *stores,
                watch_filter=None,
                debounce=DEBOUNCE_MS,
                step=STEP_MS,
                stop_event=end,
                recursive=False,
                raise_interrupt=False,
            ):
                hinted = {path: stores.get(path, NOBODY) | stores.get(path.rpartition("/")[0], NOBODY) for _, path in changes}
                moved = {path for change, path in changes if _moves_a_folder(change, path, stores)}
                self._hint(set[int]().union(*hinted.values()), set[int]().union(*(hinted[path] for path in moved)))
        except FileNotFoundError:
            # A folder went between the walk and the watch; the next sweep walks again.
            pass
        except OSError as err:
            self._refused = f"Folders cannot be watched ({err}); the sweep sees every change, a little later."
            self._try_again_at = time.monotonic() + TRY_AGAIN_S
            log.warning("%s", self._refused)
        finally:
            end.stands.set()


def _moves_a_folder(change: watchfiles.Change, path: str, watched: Collection[str]) -> bool:
    if path in watched:
        return True
    try:
        return change is watchfiles.Change.added and stat.S_ISDIR(Path(path).stat(follow_symlinks=False).st_mode)
    except OSError:
        return False
