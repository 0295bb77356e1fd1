"""Imports a graph envelope into a phase-memory store: what is new is written, what is there stays, what is not taken is named (ruling 17)."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from stores.apply import steps
from stores.apply.graph_reading import read_graph, read_profiles, require_supported
from stores.apply.place import Place, held
from stores.apply.reading import read_if_there, size_of
from stores.apply.steps import Actor, Plan
from stores.apply.targets import Append, Put, Target
from stores.errors import BadRequest, CannotWrite, Conflict
from stores.files import LOCK_WAIT_S, StoreRoot, make_folder, why, write_new_file
from stores.formats.base import LineClass
from stores.formats.lines import split_lines
from stores.formats.phase_memory.aliases import Record
from stores.formats.phase_memory.audit_lines import audit_line
from stores.formats.phase_memory.details import value_of
from stores.formats.phase_memory.exchange import Given, ImportPlan, NewRecord, NotImported, import_graph, import_profile
from stores.formats.phase_memory.layout import AUDIT, EVENTS, FOLDERS, ROOT_FILE
from stores.formats.phase_memory.reading import new_root, read_log_line
from stores.formats.phase_memory.vocabulary import AUDIT_VERSION
from stores.mirror.record_trees.diagnosing import event_versions
from stores.models import Store
from stores.review.graph_imports import NEEDS_REFUSED, Brought

DURABLE = "durable"
"""The record would be durable memory: a person has to decide on it."""


class Take(StrEnum):
    """What an import writes by itself; the rest is for a person to decide on."""

    NOTHING = "nothing"
    NEW = "new"
    """What is new and not durable."""
    ALL_NEW = "all new"
    """Durable memory too: the store is new, there it goes around no gate."""


@dataclass(slots=True)
class Importing:
    """What an import wrote, or would write."""

    records: tuple[NewRecord, ...]
    events: int
    same: int
    not_imported: tuple[NotImported, ...]
    brought: Brought
    """What a person may decide to take."""
    change: str = ""

    @property
    def counts(self) -> Counter[str]:
        """How many records of each type are new."""
        return Counter(record.record_type for record in self.records)

    @property
    def needs_review(self) -> bool:
        """Whether something was left out that a person may decide to take."""
        return bool(self.brought)


def look(store: Store, graph: bytes, profile: bytes | None, take: Take = Take.NEW, *, wait_s: float = LOCK_WAIT_S) -> Importing:
    """Say what an import would do, without doing anything. Raises BadRequest for what is no graph, and what reading the store raises."""
    with held(store, wait_s) as place:
        return _plan(place, graph, profile, None, take)[0]


def import_into(
    store: Store, graph: bytes, profile: bytes | None, actor: Actor, take: Take = Take.NEW, *, wait_s: float = LOCK_WAIT_S
) -> Importing:
    """Import a graph; nothing that exists is written over. Raises BadRequest for what is no graph, and what `steps.change` raises.

    What points at a record that is left out for a person is left out with it.
    """
    done: list[Importing] = []
    with ExitStack() as locks:

        def plan(place: Place) -> Plan:
            require_supported(place.root)
            # Writers of the kind itself lock this file; memoryui locks the folder (ruling 38).
            if not locks.enter_context(place.root.locked_file(ROOT_FILE, wait_s)):
                raise Conflict(f"Store {store.slug} is busy: somebody else held {ROOT_FILE} for {wait_s:.0f} s. Try again in a moment.")
            importing, planned = _plan(place, graph, profile, actor, take)
            done.append(importing)
            return planned

        change = steps.change(store, plan, actor, wait_s=wait_s)
    done[0].change = change
    return done[0]


def look_at_new(graph: bytes, profile: bytes | None, take: Take = Take.ALL_NEW) -> Importing:
    """Say what an import into a new store would write, before anything is made for it; raises BadRequest for what is no graph or profile."""
    made = import_graph(graph, find=lambda record_type, record_id: None)
    _require_graph(made)
    return _importing(made, _profile(profile, {}, set()), take, graph)


def make_store(folder: Path) -> None:
    """Make the layout of an empty store in a new or empty folder; raises Conflict or CannotWrite."""
    try:
        if folder.exists() and any(folder.iterdir()):
            raise Conflict(f"{folder} is not empty: a store is made in a new or an empty folder. Name a registered store instead.")
        make_folder(folder)
        for name in FOLDERS:
            make_folder(folder / name)
        for name in (EVENTS, AUDIT):
            write_new_file(folder / name, b"")
        write_new_file(folder / ROOT_FILE, new_root())
    except OSError as err:
        raise CannotWrite(f"{folder} cannot be made: {why(err)}.") from err


def _plan(place: Place, graph: bytes, profile: bytes | None, actor: Actor | None, take: Take) -> tuple[Importing, Plan]:
    root = place.root
    require_supported(root)
    on_disk = read_graph(root, event_versions())
    made = import_graph(
        graph,
        find=lambda record_type, record_id: on_disk.found.get((record_type, record_id)),
        taken=on_disk.paths,
        unreadable=lambda record_type, record_id: (record_type, record_id) in on_disk.not_interpreted,
    )
    _require_graph(made)
    rules = _profile(profile, *read_profiles(root))
    importing = _importing(made, rules, take, graph)
    targets: list[Target] = [Put(record.path, None, record.data) for record in importing.records]
    if importing.events:
        lines = b"".join(_ended(event.line) for event in made.events)
        targets.append(Append(EVENTS, lines, size_of(root, EVENTS)))
    counts = {f"{name}s": number for name, number in sorted(importing.counts.items())}
    detail = {**counts, "events": importing.events, "same": importing.same, "left_out": len(importing.not_imported)}
    if targets and actor is not None:
        profile_id = next((record.id for record in importing.records if record.record_type == "profile"), "")
        line = _ended(audit_line(_last_audit(root), _said(actor, importing.brought.graph_id, profile_id, detail)))
        targets.append(Append(AUDIT, line, size_of(root, AUDIT)))
    return importing, Plan("graph_imported", tuple(targets), detail)


def _require_graph(made: ImportPlan) -> None:
    if made.refused == "not_a_graph":
        raise BadRequest("The graph file is no graph envelope (markitect.memory.graph.v1): nothing was imported.")
    if made.refused:
        raise BadRequest(f"The graph file cannot be read ({made.refused.replace('_', ' ')}): nothing was imported.")


def _importing(made: ImportPlan, rules: ImportPlan, take: Take, graph: bytes) -> Importing:
    """Part what is written from what a person has to decide on."""
    new = (*rules.records, *made.records)
    left_out = _for_a_person(new) if take is Take.NEW else {}
    takes = take is not Take.NOTHING
    waiting = [record for record in new if not takes or (record.record_type, record.id) in left_out]
    brought = Brought(
        str(value_of("graph", graph).get("id") or ""),
        [*(Given(one.record_type, one.id, one.given) for one in waiting), *rules.conflicts, *made.conflicts],
        [] if takes else [Given("event", one.id, one.given) for one in made.events],
    )
    return Importing(
        tuple(record for record in new if takes and (record.record_type, record.id) not in left_out),
        len(made.events) if takes else 0,
        made.same + rules.same,
        (*rules.not_imported, *(NotImported(*about, reason) for about, reason in left_out.items()), *made.not_imported),
        brought,
    )


def _for_a_person(records: tuple[NewRecord, ...]) -> dict[tuple[str, str], str]:
    """Give what would be durable, and what would point at it in vain, with the reason."""
    durable = {record.id for record in records if record.durable}
    reasons = {(record.record_type, record.id): DURABLE for record in records if record.durable}
    needing = (record for record in records if not record.durable and not durable.isdisjoint(_nodes_of(record)))
    return reasons | {(record.record_type, record.id): NEEDS_REFUSED for record in needing}


def _nodes_of(record: NewRecord) -> set[object]:
    """Give the nodes without which a record would be at fault."""
    said = value_of(record.record_type, record.data)
    names = {"edge": ("source", "target"), "path": ("compacted_summary_id",)}.get(record.record_type, ())
    return {said[name] for name in names if isinstance(said.get(name), str)}


def _profile(data: bytes | None, found: Mapping[str, Record], paths: Collection[str]) -> ImportPlan:
    """Say what importing a profile writes, nothing without one; raises BadRequest for what is no profile."""
    if data is None:
        return ImportPlan()
    made = import_profile(data, find=lambda record_type, record_id: found.get(record_id), taken=lambda path: path in paths)
    if made.refused:
        raise BadRequest(f"The profile file cannot be read ({made.refused.replace('_', ' ')}): nothing was imported.")
    return made


def _last_audit(root: StoreRoot) -> Record | None:
    """Give the last well-formed record of the audit log."""
    last: Record | None = None
    for line in split_lines([read_if_there(root, AUDIT) or b""]):
        read = read_log_line("audit", line)
        if read.line_class is LineClass.RECORD and read.record.get("schema_version") == AUDIT_VERSION:
            last = read.value
    return last


def _said(actor: Actor, graph_id: str, profile_id: str, detail: dict[str, int]) -> Record:
    """Give what the store's own audit log says of an import."""
    token = secrets.token_hex(8)
    said: Record = {
        "audit_id": f"audit.import-{token}",
        "operation_id": f"op.import-{token}",
        "operation": "graph.import",
        "decision": "applied",
        "subject_id": graph_id,
        "graph_id": graph_id,
        "actor": actor.label,
        "dry_run": False,
        "requires_review": False,
        "timestamp": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}",
        "counts": detail,
    }
    return {**said, "profile_id": profile_id} if profile_id else said


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"
