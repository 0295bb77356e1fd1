"""What tests of the lifecycle are made of: actions, targets, approvals, and a store in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.lifecycle.approvals import Approval, Approvals, Policy
from stores.lifecycle.effects import FileNow
from stores.lifecycle.targets import TargetNow
from tests.phase_memory_folders import node

NOW = datetime(2026, 6, 1, tzinfo=UTC)
PLANNED_AT = "2026-06-01T00:00:00Z"
POLICY = Policy("1")
DIGEST = "sha256:" + "5" * 64


def digest_of(value: object) -> str:
    """Compute a digest as docs/formats.md says it, with nothing of ours."""
    written = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(written.encode()).hexdigest()


def with_id(record: Mapping[str, object]) -> Record:
    """Name an action by its content, with nothing of ours."""
    content = {name: value for name, value in record.items() if name not in ("action_id", "dry_run")}
    return {**record, "action_id": "action:" + digest_of(content).removeprefix("sha256:")}


def action(verb: str, *targets: Record, **more: object) -> Record:
    """Give the record of an action on nodes, as a planner makes it."""
    record: Record = {
        "schema_version": "phase_memory.lifecycle.action.v1",
        "action": verb,
        "target_type": "node",
        "target_ids": sorted(str(one["id"]) for one in targets),
        "reason": "tidy up",
        "requires_review": False,
        "source_digests": {str(one["id"]): digest_of(one) for one in targets},
        "parameters": {},
        "dry_run": True,
        "expected_effect": {"changes": []},
    }
    return with_id(record | more)


def target(value: Record, record_type: str = "node", *, after_digest: str = "") -> TargetNow:
    """Give a record as the gate is told it."""
    record = unwrapped(record_type, value)
    name = str(record["path_id" if record_type == "path" else "id"])
    return TargetNow(record_type, name, f"{record_type}s/{name}.json", digest_of(value), record, after_digest)


def targets(*values: Record) -> dict[str, TargetNow]:
    """Give nodes as the gate is told them."""
    return {one.id: one for one in map(target, values)}


def approval(record: Mapping[str, object], **more: Any) -> Approval:
    """Give an approval of exactly an action, in force."""
    given = Approval(str(record["action_id"]), DIGEST, "account-1", "approved", NOW + timedelta(days=7))
    return given._replace(**more)


def approvals(*given: Approval) -> Approvals:
    """Give decisions, and the digest that is to be applied."""
    return Approvals(DIGEST, given)


NOBODY = approvals()


def fluid(name: str = "node.a", **more: object) -> Record:
    """Give a node that is not durable."""
    return node(name, **more)


def store_of(*files: tuple[str, str, bytes]) -> Callable[[str, str], FileNow | None]:
    """Give what finds files by (type, id), each as (type, id, bytes); its path is `<type>s/<id>.json`, of the type `file` the id."""
    known = {
        (record_type, name): FileNow(name if record_type == "file" else f"{record_type}s/{name}.json", data)
        for record_type, name, data in files
    }
    return lambda record_type, name: known.get((record_type, name))


def nodes_of(values: Iterable[Record]) -> dict[str, Record]:
    """Give nodes by their ids."""
    return {str(value["id"]): value for value in values}
