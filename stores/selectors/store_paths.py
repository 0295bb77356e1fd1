"""The paths of a store as a tree: which rows of it are in sight, and what each path brought."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator
from copy import copy
from functools import cached_property
from threading import Lock
from typing import NamedTuple, Self

from django.db.models import Count
from django.db.models.functions import Left

from stores.formats.phase_memory.path_tree import PAGE, Branch, Detached, PathEntry, PathTree
from stores.formats.search_text import parse_query
from stores.lists.paths import TreeQuery
from stores.mirror.text_index import matching_ids
from stores.models import MemoryPath, Node, RecordFile, RecordTree, Store
from stores.selectors.walks import fetch

OPEN_BELOW = 120
"""A store with so few paths shows all of them at once."""
ROWS_SHOWN = 400
"""Rows of a tree in one view; what does not fit is opened from where it hangs."""
HITS_SHOWN = 100
DEEPEST = 20
"""A path that lies deeper is shown from so many levels above it on."""
ABOVE = 8
REASON_LENGTH = 200
PATHS_FOLDER = "paths"
_COLUMNS = ("pk", "natural_id", "parent_path_id", "state", "merge_target", "created_ms", "at_ms", "event_count", "summary_id", "title")


class KnownPath(NamedTuple):
    """What the tree says of a path besides its place."""

    pk: int
    id: str
    parent: str
    state: str
    merge_target: str
    created_ms: int
    at_ms: int
    event_count: int
    summary_id: str
    title: str
    fault_count: int
    is_duplicate: bool
    reason: str
    """The first characters of why it was abandoned."""


class PathRow(NamedTuple):
    """One row of the tree, or what stands in the place of rows that are not shown."""

    path: KnownPath | None
    """None where the row leads to more paths."""
    depth: int
    place: int
    """Number among its siblings, from 1."""
    siblings: int
    children: int
    below: int
    is_open: bool
    continues: tuple[bool, ...]
    """For each level above the row's own, whether a later sibling hangs at that level."""
    detached: Detached
    is_hit: bool = True
    """False for a path that is shown only since one below it was found."""
    more: int = 0
    """Of a row that leads to more: how many siblings stand there."""
    under: KnownPath | None = None
    """Of such a row: whose children they are; None for those at the top."""
    start: int = 0
    """Of such a row: how many siblings come before the page that it leads to."""

    @property
    def is_before(self) -> bool:
        """Whether it leads to siblings that come earlier."""
        return self.path is None and self.start < self.place - 1


class StorePaths:
    """All live paths of a store. One query; `known_paths` gives it without one where nothing changed."""

    def __init__(self, store: Store) -> None:
        self.store = store
        live = MemoryPath.objects.filter(store=store, gone_at__isnull=True).order_by()
        columns = live.values_list(*_COLUMNS, "fault_count", "is_duplicate", Left("abandoned_reason", REASON_LENGTH))
        self.by_id: dict[str, KnownPath] = {}
        self.apart: list[KnownPath] = []
        """Paths that no tree can hold: another file has the id and counts, or there is none."""
        for row in fetch(columns):
            path = KnownPath._make(row)
            if not path.id or path.is_duplicate or path.id in self.by_id:
                self.apart.append(path)
            else:
                self.by_id[path.id] = path
        self.tree = PathTree(
            PathEntry(path.id, path.parent, path.state, path.merge_target, path.created_ms) for path in self.by_id.values()
        )

    def of(self, store: Store) -> Self:
        """Give the same with the store as it was loaded now."""
        same = copy(self)
        same.store = store
        return same

    @cached_property
    def by_pk(self) -> dict[int, KnownPath]:
        """Every path, those apart too."""
        return {path.pk: path for path in (*self.by_id.values(), *self.apart)}

    @property
    def total(self) -> int:
        """How many paths the store has."""
        return len(self.by_id) + len(self.apart)

    @cached_property
    def tops(self) -> list[str]:
        """Paths that branch off nothing, oldest first."""
        return [one.path.id for one in self._highest if one.detached is Detached.NO]

    @cached_property
    def loose(self) -> list[str]:
        """Paths whose parent does not exist, and of each ring of parents the one where it is opened."""
        return [one.path.id for one in self._highest if one.detached is not Detached.NO]

    @cached_property
    def _highest(self) -> list[Branch]:
        return list(self.tree.level("", 0, len(self.by_id)))

    @cached_property
    def detached(self) -> int:
        """How many rows stand under "Detached"."""
        return len(self.loose) + len(self.apart)

    def ring_of(self, path_id: str) -> tuple[str, ...]:
        """Give the ring of parents in which a path is; none for others."""
        return next((ring for ring in self.tree.rings if path_id in ring), ())

    def line(self, path: KnownPath) -> list[KnownPath]:
        """Give the way from the top down to a path, the path included."""
        return [self.by_id[one] for one in self.tree.line(path.id)] if self.holds(path) else [path]

    def holds(self, path: KnownPath) -> bool:
        """Tell whether a path has a place in the tree."""
        return self.by_id.get(path.id) is path

    def siblings(self, path: KnownPath) -> list[KnownPath]:
        """Give all paths that branch off the same one, the path included; those at the top are no siblings."""
        parent = self.tree.parent_of(path.id) if self.holds(path) else ""
        return self.children(self.by_id[parent]) if parent else [path]

    def children(self, path: KnownPath, start: int = 0, most: int | None = None) -> list[KnownPath]:
        """Give the paths that branch off a path, oldest first."""
        if not self.holds(path):
            return []
        return [self.by_id[one.path.id] for one in self.tree.level(path.id, start, self.tree.count(path.id) if most is None else most)]

    def states(self) -> dict[str, int]:
        """Count the paths by state."""
        counts: dict[str, int] = {}
        for path in self.by_pk.values():
            counts[path.state] = counts.get(path.state, 0) + 1
        return counts


REMEMBERED = 30_000
"""Paths of all stores together that a process remembers, some 20 MB, unless a single store has more."""
LARGEST_REMEMBERED = 100_000
"""Paths of one store that a process remembers, then alone; a larger one is read for each page."""
_remembered: OrderedDict[int, tuple[str, StorePaths]] = OrderedDict()
_lock = Lock()


def known_paths(store: Store) -> StorePaths:
    """Give the paths of a store: from this process's memory if its mirror is as it was, else by one query.

    The stamp of a mirror is another one after every change of it, and empty while it is being changed. It costs one query more where
    `store.tree` is not loaded.
    """
    tree: RecordTree | None = getattr(store, "tree", None)
    stamp = "" if tree is None else tree.stamp
    with _lock:
        kept = _remembered.get(store.pk)
        if stamp and kept is not None and kept[0] == stamp:
            _remembered.move_to_end(store.pk)
            return kept[1].of(store)
    paths = StorePaths(store)
    if stamp and paths.total <= LARGEST_REMEMBERED:
        # What every page of it asks is worked out once.
        _ = paths.by_pk, paths.tops, paths.loose
        with _lock:
            _remembered[store.pk] = (stamp, paths)
            _remembered.move_to_end(store.pk)
            while len(_remembered) > 1 and sum(one.total for _, one in _remembered.values()) > REMEMBERED:
                _remembered.popitem(last=False)
    return paths


class TreeView:
    """The rows of a tree that one question shows."""

    def __init__(self, paths: StorePaths, query: TreeQuery) -> None:
        self.paths, self.query = paths, query
        self.chosen = paths.by_pk.get(query.path)
        """The path that is shown beside the tree."""
        self.line = frozenset(path.id for path in paths.line(self.chosen)) if self.chosen is not None else frozenset()
        """Ids of the paths that lead to it, it included."""
        self._opened = {paths.by_pk[pk].id for pk in query.opened if pk in paths.by_pk} | self.line
        self._shut = {paths.by_pk[pk].id for pk in query.shut if pk in paths.by_pk}
        self._left = ROWS_SHOWN

    @cached_property
    def hits(self) -> list[str]:
        """The paths of the tree that fit; all where nothing is asked. One query where words are searched for."""
        paths, query = self.paths, self.query
        fitting: Iterable[KnownPath] = paths.by_id.values()
        if query.text:
            found = matching_ids(MemoryPath, parse_query(query.text), [paths.store.pk])
            fitting = [paths.by_pk[pk] for pk in found if pk in paths.by_pk and paths.holds(paths.by_pk[pk])]
        return [path.id for path in fitting if not query.states or path.state in query.states]

    @cached_property
    def _found(self) -> frozenset[str]:
        return frozenset(self.hits[:HITS_SHOWN])

    @cached_property
    def _shown(self) -> frozenset[str] | None:
        """Of a narrowed tree what is in it: the hits and all above them; None where everything is."""
        return frozenset(one for hit in self._found for one in self.paths.tree.line(hit)) if self.query.is_narrowed else None

    @cached_property
    def anchor(self) -> KnownPath | None:
        """The path from which a tree is shown whose chosen path lies too deep; None for the top."""
        if self.query.is_narrowed or len(self.line) <= DEEPEST or self.chosen is None:
            return None
        return self.paths.line(self.chosen)[-ABOVE]

    @cached_property
    def rows(self) -> list[PathRow]:
        """The tree, from the top down."""
        if self.anchor is not None:
            return list(self._unfolded(iter([self._row(self.anchor.id, 0, (1, 1), ())])))
        tops = self._fitting(self.paths.tops)
        start = self.query.start if 0 < self.query.start < len(tops) else self._page_in_sight(tops)
        return list(self._unfolded(self._page(tops, None, 0, (), start)))

    @cached_property
    def loose_rows(self) -> list[PathRow]:
        """What hangs on no path that exists, with what hangs below it."""
        if self.anchor is not None:
            return []
        loose = self._fitting(self.paths.loose)
        hanging = (self._row(one, 0, (place, len(loose)), ()) for place, one in enumerate(loose[:PAGE], 1))
        rows = list(self._unfolded(hanging))
        apart = [] if self.query.is_narrowed else self.paths.apart[:PAGE]
        return rows + [PathRow(path, 0, place, len(self.paths.apart), 0, 0, False, (), Detached.NO) for place, path in enumerate(apart, 1)]

    def level(self, parent: KnownPath, start: int, top: KnownPath | None = None, *, before: bool = False) -> list[PathRow]:
        """Give one page of a path's children, closed, as they hang in the tree that is shown from `top` on.

        With `before` what follows the page is in sight already.
        """
        line = self.paths.tree.line(parent.id)
        if top is not None and top.id in line:
            line = line[line.index(top.id) :]
        continues = tuple(self._has_later(one) for one in line[1:])
        rows = self._page(self._below(parent.id), parent, len(line), continues, start)
        return [row._replace(is_open=False) for row in rows if not (before and row.path is None and row.start > start)]

    def _has_later(self, path_id: str) -> bool:
        parent = self.paths.tree.parent_of(path_id)
        return self.paths.tree.level(parent, self.paths.tree.count(parent) - 1, 1)[0].path.id != path_id

    def _below(self, path_id: str) -> list[str]:
        return self._fitting(one.path.id for one in self.paths.tree.level(path_id, 0, self.paths.tree.count(path_id)))

    def _fitting(self, ids: Iterable[str]) -> list[str]:
        return [one for one in ids if self._shown is None or one in self._shown]

    def _is_open(self, path_id: str) -> bool:
        if path_id in self._shut:
            return False
        return path_id in self._opened or self._shown is not None or self.paths.total <= OPEN_BELOW

    def _page_in_sight(self, ids: list[str]) -> int:
        """Give where the page begins that leads to the chosen path: the first one where none does."""
        return next((place // PAGE * PAGE for place, one in enumerate(ids) if one in self.line), 0)

    def _unfolded(self, rows: Iterator[PathRow]) -> Iterator[PathRow]:
        """Give rows and what is open below them, without recursion: paths may hang one below the other by the thousand."""
        stack = [rows]
        while stack:
            row = next(stack[-1], None)
            if row is None:
                stack.pop()
                continue
            yield row
            self._left -= 1
            if row.path is not None and row.is_open and row.children:
                ids = self._below(row.path.id)
                continues = (*row.continues, row.place < row.siblings) if row.depth else ()
                stack.append(self._page(ids, row.path, row.depth + 1, continues, self._page_in_sight(ids)))

    def _page(self, ids: list[str], parent: KnownPath | None, depth: int, continues: tuple[bool, ...], start: int) -> Iterator[PathRow]:
        """Give the rows of one page of siblings; before and behind it a row that leads to the others."""
        other = PathRow(None, depth, 0, len(ids), 0, 0, False, continues, Detached.NO, under=parent)
        if start:
            yield other._replace(place=start, more=start, start=max(0, start - PAGE))
        end = min(start + PAGE, len(ids))
        for place in range(start, end):
            if self._left <= 0 and place > start:
                end = place
                break
            yield self._row(ids[place], depth, (place + 1, len(ids)), continues)
        if end < len(ids):
            yield other._replace(place=end + 1, more=len(ids) - end, start=end)

    def _row(self, path_id: str, depth: int, place: tuple[int, int], continues: tuple[bool, ...]) -> PathRow:
        branch = self.paths.tree.branch(path_id)
        return PathRow(
            path=self.paths.by_id[path_id],
            depth=depth,
            place=place[0],
            siblings=place[1],
            children=branch.children if self._shown is None else len(self._below(path_id)),
            below=branch.below,
            is_open=self._left > 0 and self._is_open(path_id),
            continues=continues,
            detached=branch.detached,
            is_hit=self._shown is None or path_id in self._found,
        )


def brought(store: Store, path_ids: Collection[str]) -> dict[str, dict[str, int]]:
    """Count the nodes that came up on each of some paths, by kind. One query, none for no path."""
    if not path_ids:
        return {}
    counted = (
        Node.objects.filter(store=store, path_id__in=path_ids, gone_at__isnull=True, is_duplicate=False)
        .order_by()
        .values_list("path_id", "kind")
        .annotate(number=Count("pk"))
    )
    found: dict[str, dict[str, int]] = {}
    for path_id, kind, number in counted:
        found.setdefault(path_id, {})[kind] = number
    return found


def unread_paths(store: Store) -> int:
    """Count the files of paths that cannot be read as they are now. One query."""
    return RecordFile.objects.filter(folder__store=store, folder__path=PATHS_FOLDER).exclude(state="ok").count()
