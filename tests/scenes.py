"""A store with everything in it that a page, fragment, export, API route or metric could show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group
from django.utils import timezone

from stores import accounts, audit
from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import (
    ActionComment,
    ApiToken,
    AuditEvent,
    Condition,
    Decision,
    Fault,
    FaultAcknowledgement,
    FileVersion,
    Flow,
    ForeignRecord,
    GraphEntity,
    GraphItem,
    GraphRelation,
    ImportRun,
    LifecycleAction,
    Mem0Operation,
    MemoryMd,
    PreferenceFile,
    Problem,
    ProblemSolution,
    QueueOperation,
    RecordNote,
    RecordVersion,
    Review,
    SavedView,
    SessionEvent,
    SourceFile,
    Store,
    Task,
    User,
)
from stores.review.submitting import Proposer, submit
from tests.factories import make_group, make_measurement, make_user, make_worker

BATCH = "bulk:0123456789abcdef"
"""Of the decision on the action that was rejected."""


@dataclass(frozen=True)
class Scene:
    """A store, what lies in it, and an account that sees it."""

    store: Store
    insider: User
    token: ApiToken
    task: Task
    view: SavedView
    action: LifecycleAction
    """It waits for a review."""

    def values(self) -> dict[str, Callable[[str], object]]:
        """Give what each parameter of a route means for this store, by the route's name."""
        records = {
            "decision": Decision,
            "queue": QueueOperation,
            "problem": Problem,
            "flow": Flow,
            "event": SessionEvent,
            "solution": ProblemSolution,
            "mem0": Mem0Operation,
            "preference": PreferenceFile,
            "memory": MemoryMd,
            "graph": GraphItem,
            "entity": GraphEntity,
            "relation": GraphRelation,
            "other": ForeignRecord,
        }
        first = {
            word: model._default_manager.filter(store=self.store).order_by("pk").values_list("pk", flat=True)[0]
            for word, model in records.items()
        }
        first["action"] = self.action.pk
        fault = Fault.objects.filter(store=self.store, line__isnull=False).order_by("pk")[0].pk
        condition = Condition.objects.filter(store=self.store).order_by("pk")[0].pk

        def record(name: str) -> object:
            words = name.rpartition(":")[2].split("_")
            return next((first[word] for word in words if word in first), first["decision"])

        return {
            "slug": lambda name: self.store.slug,
            "pk": record,
            "fault_id": lambda name: fault,
            "condition_id": lambda name: condition,
            "task_id": lambda name: self.task.pk,
            "number": lambda name: AuditEvent.objects.filter(store_uid=self.store.uid).order_by("number")[0].number,
            "token_id": lambda name: self.token.pk,
            "view_id": lambda name: self.view.pk,
            "batch": lambda name: BATCH,
            "section": lambda name: "decisions",
            "record_type": lambda name: "decision",
            "verb": lambda name: "drain_queue" if name == "propose_queue" else "retire_decision",
            "form": lambda name: "jsonl" if name == "audit_export" else "json",
            # Of Django's admin:
            "object_id": lambda name: self.insider.pk if "user" in name else Group.objects.order_by("pk")[0].pk,
            "id": lambda name: self.insider.pk,
            "app_label": lambda name: "stores",
            "content_type_id": lambda name: 1,
            "url": lambda name: "nothing/",
        }


def write_memory(folder: Path, word: str) -> Path:
    """Write a store's three files, with a line of every class, each text with `word` in it; give the memory folder."""
    memory = folder / ".claude" / "memory"
    memory.mkdir(parents=True)
    decisions = [_decision(word, number) for number in range(4)]
    lines = [json.dumps(one).encode() for one in decisions]
    glued = lines[2] + lines[3]
    (memory / "decisions.jsonl").write_bytes(
        b"\n".join([lines[0], glued, b"", lines[1], f"<<<<<<< {word}".encode(), f'{{"torn": "{word}'.encode()])
    )
    operations = [
        {"type": "create_entities", "timestamp": "2026-03-01T10:00:00.000Z", "payload": {"entities": [_entity(f"{word} node")]}},
        {"type": "create_relations", "timestamp": "2026-03-01T10:00:01.000Z", "payload": {"relations": [_relation(word)]}},
        {"type": "create_entities", "timestamp": "2026-03-01T10:00:02.000Z", "payload": {"entities": f"{word} is no list"}},
        {"type": f"{word}_operation", "timestamp": "2026-03-01T10:00:03.000Z", "payload": {}},
    ]
    (memory / "graph-queue.jsonl").write_bytes(
        b"".join(json.dumps(one).encode() + b"\n" for one in operations) + f"not json {word}\n".encode()
    )
    problems = [
        {"id": f"prob-mx3a2c3b-{n:04d}", "timestamp": "2026-03-01T10:00:00.000Z", "session_id": f"{word}-session", "type": "problem",
         "text": f"{word} times out in docker, try {n}", "confidence": 0.75, "entities": [word], "project": f"{word}-project", "status": status}
        for n, status in enumerate(["open", "solved", word])
    ]  # fmt: skip
    (memory / "open-problems.jsonl").write_bytes(b"".join(json.dumps(one).encode() + b"\n" for one in problems))
    (memory / f"{word}.md").write_text(word)
    write_other_files(memory, word)
    return memory


def write_other_files(memory: Path, word: str) -> None:
    """Write a file of every further type of record, one line broken, each text with `word` in it."""
    steps = [
        {"tool": word, "file": f"/srv/{word}.py", "timestamp": f"2026-03-01T10:00:0{n}.000Z", "summary": f"{word} step {n}",
         "result": "failure" if n else "success", "exit_code": n, "category": word}
        for n in range(3)
    ]  # fmt: skip
    flow = {
        "session_id": f"{word}-session",
        "actions": steps,
        "started_at": "2026-03-01T10:00:00.000Z",
        "last_action_at": "2026-03-01T10:00:09.000Z",
        "stats": {"total_actions": 3, "reads": 1, "writes": 1, "tests": 1, "builds": 0, "agent_spawns": 0, "success_rate": 0.33},
        "inferred_pattern": f"{word}-pattern",
        word: word,
    }
    solution = {
        "problem_id": "prob-mx3a2c3b-0000",
        "problem_text": f"{word} times out",
        "solution_text": f"{word} passed",
        "tool": f"{word}-tool",
        "file": f"{word}.py",
        "entities": [word],
        "confidence": 0.8,
        "paired_at": "2026-03-01T10:00:00.000Z",
        "session_id": f"{word}-session",
        "project": f"{word}-project",
    }
    waiting = {
        "text": f"{word} is remembered",
        "user_id": f"{word}-decisions",
        "metadata": {"category": f"{word}-category", "type": word, "project": word, "entities": [word]},
        "queued_at": "2026-03-01T10:00:00.000Z",
    }
    events = [
        {"event_id": "evt-1772359200000-1", "event_type": f"{word}_used",
         "identity": {"session_id": f"{word}-session", "user_id": f"{word}@example.org", "machine_id": f"{word}-machine",
                      "identity_source": "git", "timestamp": f"2026-03-01T10:00:0{n}.000Z"},
         "payload": {"name": f"{word}-{n}", "context": f"{word} ran", "success": bool(n), "duration_ms": 12, "input": {"a": word}}}
        for n in range(2)
    ]  # fmt: skip
    lines: dict[str, list[Any]] = {
        "completed-flows.jsonl": [flow, {**flow, "last_action_at": "2026-03-01T10:01:00.000Z"}],
        "problem-solutions.jsonl": [solution],
        "mem0-queue.jsonl": [waiting],
        f"sessions/{word}-session/events.jsonl": events,
        "memory.json": [
            {"type": "entity", "name": f"{word} node", "entityType": word, "observations": [f"{word} said"]},
            {"type": "relation", "from": f"{word} node", "to": word, "relationType": word},
        ],
        "events.jsonl": [{word: word, "timestamp": "2026-03-01T10:00:00.000Z"}],
    }
    for path, records in lines.items():
        (memory / path).parent.mkdir(parents=True, exist_ok=True)
        text = "".join(f"{json.dumps(record)}\n" for record in records)
        (memory / path).write_text(f"{text}not json {word}\n" if path.startswith("sessions") else text)
    counted = {"usage": {f"{word}_work": {word: 9, "other": 3}}, "preferences": {}, "updated_at": "2026-03-01T10:00:00.000Z"}
    (memory / "tool-preferences.json").write_text(json.dumps(counted))
    agent = memory.parent / "agent-memory" / word
    agent.mkdir(parents=True)
    (agent / "MEMORY.md").write_text("".join(f"- {word} {n}\n" for n in range(203)))


def _decision(word: str, number: int) -> dict[str, object]:
    return {
        "id": f"decision-mx3a2c3b-{number:04d}",
        "type": f"{word}-type" if number == 1 else "decision",
        "content": {"what": f"use {word} for part {number}", "why": f"{word} is measured", "alternatives": [f"{word} by hand"]},
        "entities": [word],
        "relations": [{"from": word, "to": "redis", "type": "USES"}],
        "identity": {"user_id": f"{word}@example.org", "anonymous_id": "0" * 32, "machine_id": f"{word}-machine"},
        "metadata": {
            "session_id": f"{word}-session",
            "timestamp": f"2026-03-01T10:00:0{number}.000Z",
            "confidence": 0.9,
            "source": f"{word}-source",
            "project": f"{word}-project",
            "category": f"{word}-category",
        },
        word: word,
    }


def _entity(name: str) -> dict[str, object]:
    return {"name": name, "entityType": "Technology", "observations": [name]}


def _relation(word: str) -> dict[str, object]:
    return {"from": f"{word} node", "to": f"{word} that is not there", "relationType": "USES"}


def make_scene(folder: Path, word: str, groups: Iterable[str] = ()) -> Scene:
    """Import a real store below `folder`, named after `word`, limited to `groups`; add what only time or people would add."""
    memory = write_memory(folder / word, word)
    insider = make_user(f"insider-of-{len(word)}", groups=["viewer", "reviewer", "operator", *groups])
    worker = make_worker()
    store = add_store(memory, worker=worker, by=insider)
    store.groups.set([make_group(name) for name in groups])
    import_store(store)
    store.refresh_from_db()
    make_measurement(store)
    _add_history(store, word, insider)
    fault = Fault.objects.filter(store=store).order_by("pk")[0]
    FaultAcknowledgement.objects.create(store=store, path=fault.path, code=fault.code, key=fault.key, by=insider, note=f"{word} is known")
    Condition.objects.filter(store=store).order_by("-pk")[:1].get()
    task = Task.objects.create(
        kind="read_bytes",
        worker=worker,
        store=store,
        arguments={"path": f"{word}.md"},
        asked_by=insider,
        state="done",
        content=word.encode(),
    )
    Task.objects.create(
        kind="add_store", worker=worker, arguments={"path": str(memory)}, asked_by=insider, state="failed", error=f"{word} failed"
    )
    Task.objects.create(
        kind="discover", worker=worker, asked_by=insider, state="done", result={"found": [{"path": str(memory), "kind": "orchestkit"}]}
    )
    for event in ("store_added", "muted", "unmasked"):
        audit.record(
            event, actor=insider, object_label=f"{word} {event}", store=store, through="page", detail={"path": str(memory), word: word}
        )
    view = SavedView.objects.create(
        owner=insider, section="decisions", name=f"{word} view", query=f"store={store.slug}&q={word}", shared=True
    )
    token = accounts.make_token(insider, "metrics", "read", 30)[0]
    return Scene(store=store, insider=insider, token=token, task=task, view=view, action=_add_actions(store, insider, word))


def _add_actions(store: Store, insider: User, word: str) -> LifecycleAction:
    """Queue two actions on problems of the store, one of them rejected by `insider`; give the other."""
    proposals = [
        {"action": verb, "target_ids": [f"prob-mx3a2c3b-{n:04d}"], "reason": f"{word} says so", "proposed_by": f"{word} agent"}
        for n, verb in enumerate(("close_problem", "reopen_problem"))
    ]
    now = timezone.now()
    waiting, rejected = (one.action for one in submit(store, proposals, Proposer(f"{word} planner", "agent", "API"), now))
    assert waiting is not None and rejected is not None
    ActionComment.objects.create(action=waiting, author=insider, author_label=insider.label, text=f"{word} is looked at")
    Review.objects.create(
        name=f"{rejected.pk:016x}", action=rejected, reviewer=insider, reviewer_label=insider.label, decision="rejected",
        reason=f"{word} stays", digest=rejected.digest, policy_version="default.0", at=now, through="page", batch_id=BATCH,
    )  # fmt: skip
    LifecycleAction.objects.filter(pk=rejected.pk).update(state="rejected", decided_at=now, closed_at=now, message=f"{word} stays")
    return waiting


def _add_history(store: Store, word: str, insider: User) -> None:
    now = timezone.now()
    raw = word.encode()
    file = SourceFile.objects.filter(store=store).order_by("pk")[0]
    live = [model.objects.filter(store=store, gone_at=None).order_by("pk")[0] for model in (Decision, Problem)]
    for record in live:
        RecordNote.objects.create(
            store=store, store_uid=store.uid, record_type=record.record_type, path=record.file_path, key=record.key, ordinal=0,
            natural_id=record.natural_id, record_id=record.pk, owner=insider, due_on=now.date(), standing="retired", tags=[word, "shared"],
            note=f"{word} is noted", revision=1, changed_at=now, changed_by=insider,
        )  # fmt: skip
    FileVersion.objects.create(file=file, seen_at=now, sha256=b"", size_bytes=len(raw), content=raw)
    decision = Decision.objects.filter(store=store).order_by("pk")[0]
    RecordVersion.objects.create(record_type="decision", record_id=decision.pk, store=store, replaced_at=now, line=1, sha256=b"", raw=raw)
    gone = Decision.objects.filter(store=store).order_by("-pk")[0]
    Decision.objects.filter(pk=gone.pk).update(gone_at=now, gone_reason=f"line removed: {word}"[:40])
    ImportRun.objects.create(
        store=store, mode="full", status="failed", trigger="command", started_at=now, duration_s=0.1, error=f"{word} cannot be read"
    )
