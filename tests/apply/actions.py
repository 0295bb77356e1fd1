"""Actions for tests of applying: proposed, approved and let through as people do it, on real stores."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from stores.apply.applying import Result, apply_action
from stores.apply.steps import Actor
from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Store, User
from stores.review import installation
from stores.review.approving import approve
from stores.review.deciding import Manner
from stores.review.submitting import Proposer, submit
from tests import factories
from tests.mirror.images import register
from tests.phase_memory_folders import make_store

ACTOR = Actor("worker test", "worker")
PROPOSER = Proposer("planner", "planner", "worker")
Record = dict[str, Any]


def now() -> datetime:
    """Give the time."""
    return datetime.now(UTC)


def switch(on: bool = True) -> User:
    """Turn the switch of all applying; give who did."""
    root = User.objects.filter(username="root").first() or factories.make_superuser("root")
    installation.set_applying(on, root, now(), through="terminal")
    return root


def memory_store(folder: Path, name: str = "atlas") -> tuple[Store, Path]:
    """Make, register and import a phase-memory store; applying is on."""
    root = make_store(folder.resolve() / name)
    store = register(root, kind="phase-memory")
    imported(store)
    switch()
    return store, root


def imported(store: Store) -> Store:
    """Bring the mirror up to date."""
    import_store(store)
    store.refresh_from_db()
    return store


def proposal(verb: str, *target_ids: str, target_type: str = "node", **more: Any) -> Record:
    """Give a proposal as an agent makes it."""
    return {"action": verb, "target_ids": list(target_ids), "target_type": target_type, "reason": "old enough", **more}


def proposed(store: Store, verb: str, *target_ids: str, target_type: str = "node", **more: Any) -> LifecycleAction:
    """Queue one action."""
    (done,) = submit(store, [proposal(verb, *target_ids, target_type=target_type, **more)], PROPOSER, now())
    assert done.action is not None, f"{done.code}: {done.message}"
    return done.action


def reviewer(name: str = "ines") -> User:
    """Give an account that may review."""
    return User.objects.filter(username=name).first() or factories.make_user(name, groups=("reviewer",))


def approved(action: LifecycleAction, *by: str, at: datetime | None = None) -> LifecycleAction:
    """Let people approve an action as it is shown."""
    for name in by or ("ines",):
        manner = Manner("page", at or now(), reason="looked at it", password_given=True)
        approve(reviewer(name), action.pk, action.digest, manner)
    action.refresh_from_db()
    return action


def applied(store: Store, action: LifecycleAction, **more: Any) -> Result:
    """Apply an action as the worker does."""
    return apply_action(store, action.pk, ACTOR, now(), **more)


def lines(path: Path) -> list[Record]:
    """Read a log strictly."""
    return [json.loads(line) for line in path.read_bytes().decode().split("\n")[:-1]]


def image(root: Path, leave_out: Iterable[str] = ()) -> dict[str, bytes]:
    """Give every file of a store with its bytes."""
    without = set(leave_out)
    found = {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}
    return {name: data for name, data in found.items() if name not in without}


def later(**by: float) -> datetime:
    """Give a time that is still to come."""
    return now() + timedelta(**by)
