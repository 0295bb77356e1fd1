"""Rebuilds the graph from the decision log, into a new file or into the graph that is there: nothing of that is lost."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from stores import audit
from stores.apply import steps
from stores.apply.draining import NOTHING_NEW, check_graph
from stores.apply.graph_location import GraphLocation, graph_location, require_a_graph
from stores.apply.place import Place, held
from stores.apply.reading import read_if_there
from stores.apply.steps import Actor, Plan
from stores.apply.targets import Put
from stores.apply.writing_out import write_out
from stores.files import LOCK_WAIT_S
from stores.formats.orchestkit import (
    Merge,
    Replay,
    decisions,
    graph_bytes,
    merge_graph,
    new_file,
    parse_graph,
    replay_decisions,
)
from stores.models import Store


@dataclass(slots=True)
class Replaying:
    """What a replay made of the decisions, and where it went."""

    replay: Replay
    graph: str
    """The file; "" for a dry run without one."""
    merge: Merge = NOTHING_NEW
    """What was new in the graph that is there."""
    change: str = ""


def look(store: Store, *, graph: str = "", wait_s: float = LOCK_WAIT_S) -> Replaying:
    """Say what a replay into the graph would do, without doing anything."""
    with held(store, wait_s) as place:
        return _planned(store, place, graph_location(store, graph))[0]


def replay_into_graph(store: Store, actor: Actor, *, graph: str = "", wait_s: float = LOCK_WAIT_S) -> Replaying:
    """Merge the replayed graph into the one that is there. Raises what `steps.change` raises."""
    draft: list[Replaying] = []

    def plan(place: Place) -> Plan:
        replaying, planned = _planned(store, place, graph_location(store, graph))
        draft.append(replaying)
        return planned

    draft_change = steps.change(store, plan, actor, wait_s=wait_s)
    draft[0].change = draft_change
    return draft[0]


def replay_into_file(store: Store, out: str, actor: Actor, *, wait_s: float = LOCK_WAIT_S) -> Replaying:
    """Write the replayed graph into a new file. Raises what `write_out` raises."""
    with held(store, wait_s) as opened:
        replayed = replay_decisions(read_if_there(opened.root, decisions.PATH) or b"")
    place = write_out(out, new_file(replayed.aggregate.graph))
    with transaction.atomic():
        audit.record(
            "decisions_replayed",
            actor=None,
            actor_label=actor.label,
            object_label=store.slug,
            store=store,
            through=actor.through,
            detail={"graph": str(place), "decisions": replayed.decisions},
        )
    return Replaying(replayed, str(place))


def _planned(store: Store, place: Place, location: GraphLocation) -> tuple[Replaying, Plan]:
    before = read_if_there(place.at(location.folder), location.name)
    found = parse_graph(before or b"")
    require_a_graph(location, found)
    replayed = replay_decisions(read_if_there(place.root, decisions.PATH) or b"", found.graph.nodes.keys())
    wanted = replayed.aggregate.graph
    merge = merge_graph(found, wanted)
    replaying = Replaying(replayed, location.path, merge)
    if not any(merge) and not found.is_to_be_written:
        return replaying, Plan("decisions_replayed", (), {})
    detail = {
        "graph": location.path,
        "decisions": replayed.decisions,
        "entities": len(merge.entities),
        "relations": len(merge.relations),
        "observations": merge.observations,
    }
    target = Put(location.name, before, graph_bytes(found), location.folder)
    return replaying, Plan("decisions_replayed", (target,), detail, verify=lambda place: check_graph(place, location, wanted))
