"""Real phase-memory stores for tests: folders of record files and two logs, written as their runtime does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from stores.formats.canonical import digest, log_line, pretty
from stores.formats.phase_memory.layout import FOLDERS, path_for

Record = dict[str, object]


def event(number: int, **more: object) -> Record:
    """Give one event of the log."""
    record: Record = {
        "schema_version": "phase_memory.memory.event.v1",
        "id": f"event.{number:04d}",
        "kind": "recorded",
        "timestamp": f"2026-03-01T10:{number // 60:02d}:{number % 60:02d}Z",
        "path_id": None,
        "actor": "agent.planner",
    }
    return record | more


def audit(number: int, previous: Mapping[str, object] | None = None, **more: object) -> Record:
    """Give one audit record, chained to the one before it."""
    record: Record = {
        "schema_version": "phase_memory.audit.event.v1",
        "audit_id": f"audit.{number:04d}",
        "operation": "graph.export",
        "decision": "applied",
        "dry_run": False,
        "actor": "cli",
        "sequence": number,
        "previous_digest": None if previous is None else digest(previous),
        "timestamp": f"2026-03-02T10:00:{number:02d}Z",
    }
    return record | more


def node(name: str, **more: object) -> Record:
    """Give one node."""
    record: Record = {"id": name, "kind": "decision", "text": "Pages by cursor.", "phase": "fluid"}
    return record | {"created_at": "2026-03-01T10:00:00Z", "updated_at": "2026-03-01T10:00:00Z"} | more


def edge(name: str, source: str, target: str, **more: object) -> Record:
    """Give one edge."""
    return {"id": name, "kind": "supports", "source": source, "target": target, **more}


def path(name: str, *event_ids: str, **more: object) -> Record:
    """Give one path."""
    return {"path_id": name, "parent_path_id": None, "event_ids": list(event_ids), "state": "active", **more}


def put(root: Path, record_type: str, record: Record) -> Path:
    """Write a record's file as the runtime does and give its place."""
    place = root / path_for(record_type, str(record["path_id" if record_type == "path" else "id"]))
    place.write_bytes(pretty(record))
    return place


def append(root: Path, log: str, *records: Record) -> None:
    """Append records to a log."""
    with (root / log).open("ab") as opened:
        opened.write(b"".join(map(log_line, records)))


def make_store(root: Path) -> Path:
    """Make a store of a few records about which there is nothing to say; give its folder."""
    root.mkdir(parents=True)
    for folder in FOLDERS:
        (root / folder).mkdir()
    (root / "phase-memory.json").write_bytes(pretty({"schema_version": "phase_memory.local_store.v1"}))
    changed = [{"node_id": "node.a", "operation": "create"}]
    append(root, "events.jsonl", event(1, node_updates=changed), event(2, path_id="path.a"), event(3, path_id="path.a"))
    durable = node("node.c", phase="rigid")
    first = audit(1)
    target = {"record_type": "node", "id": "node.c", "before_digest": None, "after_digest": digest(durable)}
    applied = audit(
        2, first, operation="lifecycle.apply", subject_id="action:1", review_id="review.1", requires_review=True, targets=[target]
    )
    append(root, "audit.jsonl", first, applied)
    put(root, "profile", {"id": "profile.a", "schema_version": "markitect.memory.profile.v1", "title": "Default"})
    put(root, "node", node("node.a", provenance={"source_event_ids": ["event.0001"], "agent": "agent.planner"}))
    put(root, "node", node("node.b", policy={"labels": ["local", "draft"]}))
    put(root, "node", durable)
    put(root, "edge", edge("edge.a", "node.a", "node.b"))
    put(root, "path", path("path.a", "event.0002", "event.0003"))
    items = [{"node_id": "node.a", "tokens": 20, "score": 0.5, "reason_selected": "recent"}]
    omitted = [{"node_id": "node.b", "reason_code": "budget_items"}]
    put(root, "activation", {"id": "activation.a", "node_ids": ["node.a"], "items": items, "omitted": omitted})
    return root
