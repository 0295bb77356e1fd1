"""Many actions on a store of record files, handed in and approved at once as the page does it."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import trees

ACTIONS = 5_000
GOAL_S = 3.0
_NEXT = {"ephemeral": "fluid", "fluid": "stabilized", "stabilized": "rigid"}


def write_nodes(folder: Path) -> None:
    """Write a project below `folder` with a node for each action; three of four have a phase that comes after theirs."""
    trees.write_tree(folder / "project", ACTIONS * 4 // 3 + 1)


def measure(store: Any) -> dict[str, float]:
    """Import a store, propose the next phase for its nodes, and approve them all as one reviewer."""
    from django.contrib.auth.models import Group

    from stores.mirror.importing import import_store
    from stores.models import LifecycleAction, Node, User
    from stores.review import bulk
    from stores.review.deciding import Manner
    from stores.review.submitting import Proposer, submit

    import_store(store, trigger="sweep")
    user = User.objects.create_user("bench", password=None)
    user.groups.add(Group.objects.get(name="reviewer"))
    records = [
        {
            "action": "transition_phase",
            "target_type": "node",
            "target_ids": [name],
            "to_phase": _NEXT[phase],
            "reason": "measured",
            "requires_review": True,
        }
        for name, phase in Node.objects.filter(store=store, phase__in=_NEXT).order_by("pk").values_list("natural_id", "phase")[:ACTIONS]
    ]
    began = time.perf_counter()
    submit(store, records, Proposer("planner", "planner", "terminal"), datetime.now(UTC))
    submitted = time.perf_counter() - began
    waiting = LifecycleAction.objects.filter(store=store, state="pending")
    members = bulk.members_of(waiting)
    began = time.perf_counter()
    shown = bulk.Shown(bulk.set_digest(members), len(members), ())
    _, decided = bulk.decide(user, waiting, shown, "approve", Manner("page", datetime.now(UTC), "measured", password_given=True))
    taken = time.perf_counter() - began
    done = sum(one.is_done for one in decided)
    if done != len(records):
        raise SystemExit(f"Of {len(records):,} actions {done:,} were approved")
    return {"submit_s": submitted, "approve_s": taken, "actions": done}


def section(own: dict[str, float]) -> list[str]:
    """Give the part of the page that tells of it."""
    return [
        "",
        "## Decisions on many actions",
        "",
        f"{own['actions']:,.0f} actions of one verb approved at once, each with its signature, staleness check and audit event: "
        f"{own['approve_s']:.1f} s (goal: < {GOAL_S:.0f} s). Taking them in: {own['submit_s']:.1f} s.",
    ]
