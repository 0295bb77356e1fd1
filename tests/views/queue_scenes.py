"""Rows of the review queue for tests of its pages."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.test import Client
from django.utils import timezone

from stores.lifecycle.changes import Create
from stores.lifecycle.digests import approval_digest
from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Store
from stores.review import keeping
from tests.phase_memory_folders import put
from tests.review.queues import NODE
from tests.views.parsing import elements

TIERS = {"safe": 0, "low": 1, "medium": 2, "high": 3}

BESIDE = {"HX-Request": "true", "HX-Target": "action"}
"""Headers of a request for the action beside the list."""


def made_action(store: Store, number: int = 1, **changes: Any) -> LifecycleAction:
    """Make one action as lists show it; its effect is none that could be applied."""
    return made_actions(store, [number], **changes)[0]


def made_actions(store: Store, numbers: Iterable[int], **changes: Any) -> list[LifecycleAction]:
    """Make one action for each number, in one statement."""
    now = timezone.now()
    tier = changes.get("tier", "medium")
    common: dict[str, Any] = {
        "store": store,
        "store_uid": store.uid,
        "store_slug": store.slug,
        "kind": store.kind,
        "verb": "supersede",
        "tier": tier,
        "rank": TIERS[tier],
        "state": "pending",
        "record": '{"target_ids":[]}',
        "effect": '{"changes":[],"targets":[],"sentence":"","event":null,"undo":""}',
        "sentence": "Marks one node superseded.",
        "requires_review": True,
        "target_type": "node",
        "target_count": 1,
        "origin": "agent",
        "proposed_by": "agent planner",
        "planned_at": now,
        "created_at": now,
        "due_at": now + timedelta(days=3),
    }
    rows = [
        LifecycleAction(
            **{
                **common,
                "action_id": f"action:{hashlib.sha256(f'{store.pk} {number}'.encode()).hexdigest()}",
                "digest": f"sha256:{hashlib.sha256(str(number).encode()).hexdigest()}",
                "first_target": f"node.{number}",
                "gist": f"Gist of node {number}",
                "alike": hashlib.sha256(f"alone {store.pk} {number}".encode()).hexdigest(),
                **changes,
            }
        )
        for number in numbers
    ]
    return LifecycleAction.objects.bulk_create(rows)


def form_of(client: Client, pk: int, address: str = "") -> dict[str, str]:
    """Give what the form of decisions on an action's page carries."""
    response = client.get(address or f"/review/{pk}/")
    wanted = ("digest", "revision", "shown", "list", "beside")
    return {
        attributes["name"]: attributes.get("value", "")
        for tag, attributes in elements(response)
        if tag == "input" and attributes.get("name") in wanted
    }


def writing_bytes(action: LifecycleAction, path: str, data: bytes) -> LifecycleAction:
    """Let an action make a file that is no text, as taking back the removal of one would; digest and bytes belong together."""
    effect = replace(keeping.effect_of(action), changes=(Create(path, data),))
    (document,) = keeping.keep([effect])
    digest = approval_digest(keeping.record_of(action), str(action.store_uid), effect.changes)
    LifecycleAction.objects.filter(pk=action.pk).update(effect=document, digest=digest)
    action.refresh_from_db()
    return action


def decide(client: Client, action: LifecycleAction, decision: str, headers: dict[str, str] | None = None, **changes: str) -> Any:
    """Open the page and send its form."""
    body = {**form_of(client, action.pk), "decision": decision, **changes}
    return client.post(f"/review/{action.pk}/decide/", body, headers=headers)


def state_of(action: LifecycleAction) -> str:
    """Give where an action stands now."""
    return LifecycleAction.objects.values_list("state", flat=True).get(pk=action.pk)


def button(response: Any, mark: str = "data-approve") -> dict[str, str]:
    """Give the attributes of a button of the decision bar; none where it is not there."""
    return next((attributes for tag, attributes in elements(response) if tag == "button" and mark in attributes), {})


def change_node(root: Path, store: Store, **changes: object) -> None:
    """Let an agent write the target, and mirror it."""
    put(root, "node", {**NODE, **changes})
    import_store(store)
