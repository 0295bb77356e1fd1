"""The tree that paths make by their parents, with what hangs loose in it, and how two branches compare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from stores.formats.phase_memory.records import Path

PAGE = 200
"""Children of a path that are shown at a time (ruling 67)."""


class PathEntry(NamedTuple):
    """What the tree needs to know of a path."""

    id: str
    parent: str
    """"" for none."""
    state: str
    merge_target: str = ""
    created_ms: int = 0
    event_ids: tuple[str, ...] = ()


def entry_of(path: Path) -> PathEntry:
    """Give what the tree needs to know of a path's record."""
    return PathEntry(path.id, path.parent, path.state, path.merge_target, path.created.ms, path.event_ids)


class Detached(StrEnum):
    """Why a path is shown at the top although it names a parent."""

    NO = ""
    MISSING_PARENT = "missing_parent"
    CYCLE = "cycle"
    """Its parents lead back to it; the ring is opened at its smallest id."""


class Branch(NamedTuple):
    """One path in its place."""

    path: PathEntry
    depth: int
    children: int
    below: int
    """All paths under it."""
    detached: Detached


class Comparison(NamedTuple):
    """What two branches have in common, and what each has alone."""

    ancestor: str
    """The nearest path from which both come, which may be one of the two; "" when there is none."""
    left: tuple[str, ...]
    """Ids from the ancestor, left out, down to the left path."""
    right: tuple[str, ...]
    left_events: tuple[str, ...]
    """Events of the paths on the left, those that are on the right as well left out, in the order of the paths."""
    right_events: tuple[str, ...]
    shared_events: int
    """Events on both sides."""


class PathTree:
    """All paths of a store: every path is in it exactly once, whatever their parents say."""

    def __init__(self, paths: Iterable[PathEntry]) -> None:
        self.paths: dict[str, PathEntry] = {path.id: path for path in paths}
        self.rings: list[tuple[str, ...]] = []
        """Each following parents, from its smallest id on."""
        self.detached: dict[str, Detached] = {}
        self._opened: set[str] = set()
        self._find_rings()
        self._children: dict[str, list[str]] = {}
        for path in self.paths.values():
            self._children.setdefault(self.parent_of(path.id), []).append(path.id)
            if path.parent and path.parent not in self.paths:
                self.detached[path.id] = Detached.MISSING_PARENT
        for children in self._children.values():
            children.sort(key=lambda child: (self.paths[child].created_ms, child))
        self._depth: dict[str, int] = {}
        self._below: dict[str, int] = {}
        self._measure()

    def parent_of(self, path_id: str) -> str:
        """Give the path under which a path is shown, "" for the top."""
        parent = self.paths[path_id].parent
        return "" if path_id in self._opened or parent not in self.paths else parent

    def branch(self, path_id: str) -> Branch:
        """Give a path in its place."""
        detached = self.detached.get(path_id, Detached.NO)
        children = len(self._children.get(path_id, ()))
        return Branch(self.paths[path_id], self._depth[path_id], children, self._below[path_id], detached)

    def level(self, path_id: str = "", start: int = 0, most: int = PAGE) -> tuple[Branch, ...]:
        """Give a page of a path's children, oldest first; those of "" are at the top."""
        return tuple(self.branch(child) for child in self._children.get(path_id, ())[start : start + most])

    def count(self, path_id: str = "") -> int:
        """Count a path's children; those of "" are at the top."""
        return len(self._children.get(path_id, ()))

    def line(self, path_id: str) -> tuple[str, ...]:
        """Give the way from the top down to a path, the path included."""
        way = [path_id]
        while parent := self.parent_of(way[-1]):
            way.append(parent)
        return tuple(reversed(way))

    def compare(self, left: str, right: str) -> Comparison:
        """Compare two branches from where they parted."""
        ways = self.line(left), self.line(right)
        common = 0
        while common < min(map(len, ways)) and ways[0][common] == ways[1][common]:
            common += 1
        ancestor = ways[0][common - 1] if common else ""
        alone = ways[0][common:], ways[1][common:]
        events = tuple(dict.fromkeys(event for path in way for event in self.paths[path].event_ids) for way in alone)
        shared = events[0].keys() & events[1].keys()
        return Comparison(
            ancestor,
            alone[0],
            alone[1],
            tuple(event for event in events[0] if event not in shared),
            tuple(event for event in events[1] if event not in shared),
            len(shared),
        )

    def _find_rings(self) -> None:
        done: set[str] = set()
        for start in self.paths:
            walk: dict[str, None] = {}
            at = start
            while at in self.paths and at not in walk and at not in done:
                walk[at] = None
                at = self.paths[at].parent
            if at in walk:
                ring = list(walk)[list(walk).index(at) :]
                turn = ring.index(min(ring))
                self.rings.append(tuple(ring[turn:] + ring[:turn]))
                self._opened.add(ring[turn])
                self.detached |= dict.fromkeys(ring, Detached.CYCLE)
            done.update(walk)

    def _measure(self) -> None:
        """Count depths and what is below, without recursion: paths may branch off each other ten thousand deep."""
        order: list[str] = []
        level: Sequence[str] = self._children.get("", ())
        depth = 0
        while level:
            order += level
            self._depth |= dict.fromkeys(level, depth)
            level = [child for path in level for child in self._children.get(path, ())]
            depth += 1
        for path in reversed(order):
            self._below[path] = sum(1 + self._below[child] for child in self._children.get(path, ()))


def merged_into(paths: Mapping[str, PathEntry]) -> dict[str, list[str]]:
    """Give which paths were merged into each path, targets that do not exist included."""
    found: dict[str, list[str]] = {}
    for path in paths.values():
        if path.merge_target:
            found.setdefault(path.merge_target, []).append(path.id)
    return {target: sorted(sources) for target, sources in found.items()}
