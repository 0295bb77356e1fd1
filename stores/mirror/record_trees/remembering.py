"""What a process remembers of a store between two sweeps: each file's facts, and what the rules found.

The database has the truth: what is remembered counts only under the stamp that stands there, and is loaded anew else.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from stores.formats.phase_memory.layout import FOLDERS
from stores.health.phase_memory import Findings, RecordFacts, StoreFacts
from stores.mirror.record_trees.packed_facts import unpack
from stores.mirror.record_trees.sweeping import AGAIN, Facts, packed_facts
from stores.models import RecordFile, RecordTree, SourceFile, Store

STORES_KEPT = 8
LOADED_AT_ONCE = 2000

Identity = tuple[str, str, int | None, str | None, str | None]
"""Code, file, line, subject and key of a finding."""


@dataclass
class LogMark:
    """How far the rules have read a log: everything before the offset, and the unfinished line behind it."""

    generation: int = -1
    offset: int = 0
    next_line: int = 1
    size_bytes: int = 0


@dataclass
class Checked:
    """What the rules know and found."""

    facts: StoreFacts
    findings: Findings | None = None
    """None before the first check."""
    saved: dict[Identity, int] = field(default_factory=dict)
    """By a finding's identity its row among the faults."""
    marks: dict[str, LogMark] = field(default_factory=dict)


class LogEnd(NamedTuple):
    """How a log stood when faults were last brought in line with its records."""

    generation: int
    next_line: int
    size_bytes: int

    @classmethod
    def of(cls, source: SourceFile) -> LogEnd:
        """Give how a log stands now."""
        return cls(source.generation, source.next_line, source.size_bytes)


@dataclass
class Tree:
    """What is remembered of one store."""

    stamp: str
    """"" when the mirror was left half done: then everything is checked again."""
    basis: str
    """Of what else the faults rest on."""
    known: dict[str, dict[str, Facts]]
    """By folder and name the facts of each record file as it was read."""
    logs: dict[str, LogEnd] = field(default_factory=dict)
    """By path, of the logs as the stamp stands for them: what was read since by an import that was cut off is still to be followed."""
    checked: Checked | None = None

    def first_new_line(self, source: SourceFile) -> int:
        """Give the line of a log from which on its records came or changed."""
        before = self.logs.get(source.path)
        return before.next_line if before is not None and before.generation == source.generation else 1


_trees: OrderedDict[int, Tree] = OrderedDict()


def recall(store: Store) -> Tree:
    """Give what is known of a store's files: from this process's memory, if nobody else imported since, else from the database."""
    stamp, basis, logs = RecordTree.objects.filter(store=store).values_list("stamp", "basis", "logs").first() or ("", "", {})
    tree = _trees.get(store.pk)
    if tree is None or not stamp or tree.stamp != stamp:
        tree = Tree(stamp, basis, _known(store), {path: LogEnd(*said) for path, said in logs.items()})
        _trees[store.pk] = tree
    _trees.move_to_end(store.pk)
    while len(_trees) > STORES_KEPT:
        _trees.popitem(last=False)
    for other, kept in _trees.items():
        # Facts of a large store take tens of megabytes; those of the store at hand are the ones that are needed.
        if other != store.pk:
            kept.checked = None
    return tree


def forget(store: Store) -> None:
    """Drop what is remembered: the mirror is no longer what it was."""
    _trees.pop(store.pk, None)


def begin(store: Store, tree: Tree) -> None:
    """Say in the database that the mirror is being changed; until `end` whoever finds that checks everything again."""
    if tree.stamp:
        RecordTree.objects.filter(store=store).update(stamp="")
        tree.stamp = ""


def end(store: Store, tree: Tree, basis: str, logs: Iterable[SourceFile]) -> None:
    """Say that mirror and faults agree again."""
    tree.stamp, tree.basis = secrets.token_hex(16), basis
    tree.logs = {source.path: LogEnd.of(source) for source in logs}
    RecordTree.objects.update_or_create(store=store, defaults={"stamp": tree.stamp, "basis": basis, "logs": tree.logs})


def load_facts(store: Store) -> tuple[dict[str, RecordFacts], set[str]]:
    """Give the facts of all record files by path, and the paths of those whose facts cannot be kept in the database."""
    facts: dict[str, RecordFacts] = {}
    missing: set[str] = set()
    rows = RecordFile.objects.filter(store=store).order_by("path").values_list("path", "facts")
    for path, packed in rows.iterator(chunk_size=LOADED_AT_ONCE):
        unpacked = unpack(path, bytes(packed))
        if unpacked is None:
            missing.add(path)
        else:
            facts[path] = unpacked
    return facts, missing


def _known(store: Store) -> dict[str, dict[str, Facts]]:
    known: dict[str, dict[str, Facts]] = {folder: {} for folder in FOLDERS}
    rows = RecordFile.objects.filter(store=store).order_by().values_list("path", "size_bytes", "mtime_ns", "ctime_ns", "inode", "racy")
    for path, size, mtime_ns, ctime_ns, inode, racy in rows.iterator(chunk_size=LOADED_AT_ONCE):
        folder, _, name = path.partition("/")
        known[folder][name] = AGAIN if racy else packed_facts(size, mtime_ns, ctime_ns, inode)
    return known


def unstamp(store: Store) -> None:
    """Say in the database that everything has to be checked again."""
    RecordTree.objects.filter(store=store).update(stamp="")
