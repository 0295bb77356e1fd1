"""The sample store of phase-memory: three weeks in which agents prepare a release, on paths that fork, merge and end.

Its lead finds all that the kind can show: durable nodes with and without a review, a path that was given up for a reason, one that
became a summary, activations with what they left out, and a handful of faults that somebody made by hand.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import datetime, timedelta
from textwrap import shorten
from typing import Any, Final

from stores.demo import parts
from stores.demo.stories import SEED, Story
from stores.demo.topics import TOPICS
from stores.formats.canonical import digest, log_line, pretty
from stores.formats.phase_memory.layout import AUDIT, EVENTS, FOLDERS, ROOT_FILE, path_for
from stores.formats.phase_memory.vocabulary import AUDIT_VERSION, EVENT_VERSION, RECORD_VERSIONS, STORE_VERSION

PROJECT: Final = "release-notes"
DAYS: Final = 21
GRAPH_ID: Final = "graph.release-3"
PROFILE_ID: Final = "profile.release-team"
AGENTS: Final = ("agent.planner", "agent.builder", "agent.reviewer", "agent.researcher")
MAIN: Final = "path.release-3"
KINDS: Final = ("decision", "observation", "finding", "constraint", "question", "risk", "evidence", "plan", "outcome", "preference")
EDGE_KINDS: Final = ("supports", "depends_on", "led_to", "contradicts", "relates_to", "derived_from", "affects")
SUBJECTS: Final = (
    ("search", "Search that pages by cursor"),
    ("export", "Order export in parts"),
    ("sign-in", "Sign-in without passwords"),
    ("images", "Images from the edge"),
    ("refunds", "Refunds in one step"),
    ("stock", "Stock counted once a minute"),
    ("mails", "Mail templates in two languages"),
    ("tax", "Tax table by region"),
)
"""One branch of the release each: its word and its title."""

Record = dict[str, Any]


def phase_story(now: datetime) -> Story:
    """Give the sample store as it came to be by `now`; the same seed and moment give the same bytes."""
    return _Release(now).tell()


class _Release:
    """The release, day by day."""

    def __init__(self, now: datetime) -> None:
        self._now = now
        self._at = now - timedelta(days=DAYS)
        self._chance = random.Random(SEED + 30)  # noqa: S311  sample texts, nothing secret
        self._story = Story(PROJECT, root="")
        self._records: dict[tuple[str, str], Record] = {}
        self._events = 0
        self._audits: list[Record] = []
        self._numbers: dict[str, int] = {}

    def tell(self) -> Story:
        """Let everything happen, in order of time."""
        self._found_store()
        self._begin_path(MAIN, "Release 3", None)
        for _ in range(6):
            self._record_node(MAIN)
        branches = [f"path.{word}" for word, _ in SUBJECTS]
        for number, (word, title) in enumerate(SUBJECTS):
            self._begin_path(f"path.{word}", title, MAIN)
            self._work(f"path.{word}", 14)
            if number % 2:
                self._activate(f"path.{word}")
        self._try_both_ways()
        for turn in range(3):
            for path in branches:
                self._work(path, 6)
            self._work(MAIN, 4)
            self._activate(branches[turn])
        self._settle_phases()
        self._end_branches()
        self._work(MAIN, 8)
        self._activate(MAIN)
        self._plant_faults()
        return self._story.settle()

    def _found_store(self) -> None:
        self._write(ROOT_FILE, pretty({"schema_version": STORE_VERSION}))
        for folder in FOLDERS:
            self._story.happened.setdefault(f"{folder}/.keep", []).append((self._at, b""))
        self._put("profile", _profile())
        self._audit("profile.import", "applied", PROFILE_ID)

    def _begin_path(self, path_id: str, title: str, parent: str | None) -> None:
        record: Record = {
            "schema_version": RECORD_VERSIONS["path"],
            "path_id": path_id,
            "parent_path_id": parent,
            "event_ids": [],
            "state": "active",
            "title": title,
            "created_at": self._iso(),
            "metadata": {"graph_id": GRAPH_ID},
        }
        self._records["path", path_id] = record
        update = {"path_id": path_id, "operation": "branch" if parent else "create"} | ({"parent_path_id": parent} if parent else {})
        self._event("branched" if parent else "recorded", path_id, path_updates=[update])

    def _work(self, path_id: str, steps: int) -> None:
        """Let an agent work on a path for one sitting."""
        session = f"session.{self._next('session'):04d}"
        agent = self._chance.choice(AGENTS)
        for _ in range(steps):
            own = [key[1] for key, one in self._records.items() if key[0] == "node" and one["provenance"]["path_id"] == path_id]
            if own and self._chance.random() < 0.3:
                self._touch(path_id, self._chance.choice(own), agent, session)
            else:
                self._record_node(path_id, agent, session)
        self._at = min(self._at + timedelta(minutes=self._chance.randint(350, 1050)), self._now - timedelta(hours=1))

    def _record_node(self, path_id: str, agent: str = AGENTS[0], session: str = "session.0000") -> str:
        topic = self._chance.choice(TOPICS)
        part = self._chance.choice(parts.SHOP)
        kind = self._chance.choice(KINDS)
        name = f"{kind}.{path_id.removeprefix('path.')}-{part.replace(' ', '-')}-{self._next('node'):03d}"
        event = self._event("recorded", path_id, agent=agent, session_id=session, node_updates=[{"node_id": name, "operation": "create"}])
        text = topic.what.format(part=part)
        others = [key[1] for key in self._records if key[0] == "node"]
        self._put(
            "node",
            {
                "schema_version": RECORD_VERSIONS["node"],
                "id": name,
                "kind": kind,
                "text": f"{text}. {self._chance.choice(topic.why)}." if topic.why else text,
                "phase": self._chance.choice(("ephemeral", "fluid", "fluid", "fluid")),
                "lifecycle_state": "active",
                "confidence": round(0.5 + self._chance.random() * 0.49, 2),
                "strength": round(self._chance.random(), 2),
                "metadata": {"graph_id": GRAPH_ID, "title": shorten(text, 60, placeholder="…")},
                "namespace": {"project": "shop", "task": f"TASK-{self._chance.randint(1, 24):03d}"},
                "policy": {"labels": [self._chance.choice(("project-local", "team", "customer-facing"))], "trust_zone": "local"},
                "provenance": {"agent": agent, "session_id": session, "path_id": path_id, "source_event_ids": [event]},
                "tags": sorted(self._chance.sample(("api", "db", "ux", "cost", "risk", "legal"), 2)),
                "created_at": self._iso(),
                "updated_at": self._iso(),
                "version": 1,
            },
        )
        for target in self._chance.sample(others, min(len(others), self._chance.choice((1, 1, 2)))):
            self._connect(name, target, agent, event)
        return name

    def _connect(self, source: str, target: str, agent: str, event: str) -> None:
        kind = self._chance.choice(EDGE_KINDS)
        self._put(
            "edge",
            {
                "schema_version": RECORD_VERSIONS["edge"],
                "id": f"edge.{kind}-{self._next('edge'):04d}",
                "kind": kind,
                "source": source,
                "target": target,
                "lifecycle_state": "active",
                "weight": round(self._chance.random(), 2),
                "provenance": {"agent": agent, "source_event_ids": [event]},
                "created_at": self._iso(),
            },
        )

    def _touch(self, path_id: str, name: str, agent: str, session: str) -> None:
        """Reword a node a little: it keeps its earlier wording."""
        node = self._records["node", name]
        self._event("updated", path_id, agent=agent, session_id=session, node_updates=[{"node_id": name, "operation": "update"}])
        self._put("node", {**node, "strength": round(self._chance.random(), 2), "version": node["version"] + 1, "updated_at": self._iso()})

    def _activate(self, path_id: str) -> None:
        names = [key[1] for key, one in self._records.items() if key[0] == "node" and one["provenance"]["path_id"] == path_id]
        chosen = self._chance.sample(names, min(6, len(names)))
        omitted = [name for name in names if name not in chosen][:3]
        updates = [{"node_id": name, "operation": "activate"} for name in chosen]
        event = self._event("activated", path_id, node_updates=updates)
        items = [
            {
                "node_id": name,
                "tokens": self._chance.randint(20, 160),
                "score": round(self._chance.random(), 3),
                "reason_selected": self._chance.choice(("recent", "high confidence", "neighbour in the graph")),
            }
            for name in chosen
        ]
        number = self._next("activation")
        self._put(
            "activation",
            {
                "schema_version": RECORD_VERSIONS["activation"],
                "id": f"activation.{number:04d}",
                "graph_id": GRAPH_ID,
                "profile_id": PROFILE_ID,
                "title": f"Before work on {self._records['path', path_id]['title'].lower()}",
                "intent": f"Go on with {self._records['path', path_id]['title'].lower()}.",
                "node_ids": chosen,
                "event_ids": [event],
                "budget": {
                    "max_items": 8,
                    "max_tokens": 1200,
                    "used_items": len(chosen),
                    "used_tokens": sum(int(str(item["tokens"])) for item in items),
                },
                "items": items,
                "omitted": [{"node_id": name, "reason_code": "budget_tokens"} for name in omitted],
                "created_at": self._iso(),
            },
        )

    def _try_both_ways(self) -> None:
        """Two agents try two ways of one thing; one is taken up, the other given up."""
        self._begin_path("path.search-cursor", "Cursor as an opaque word", "path.search")
        self._begin_path("path.search-offset", "Offset with a ceiling", "path.search")
        for _ in range(2):
            self._work("path.search-cursor", 5)
            self._work("path.search-offset", 4)
        reason = "Inserts shift every page behind them; the cursor has none of that."
        self._end_path("path.search-offset", "deactivated", "abandon", "abandoned", abandoned_reason=reason)
        self._end_path("path.search-cursor", "merged", "merge", "merged", merge_target="path.search")

    def _end_branches(self) -> None:
        for word in ("search", "export", "sign-in"):
            self._end_path(f"path.{word}", "merged", "merge", "merged", merge_target=MAIN)
        reason = "The edge keeps images a day longer than the law allows."
        self._end_path("path.images", "deactivated", "abandon", "abandoned", abandoned_reason=reason)
        summary = self._record_node("path.mails")
        self._end_path("path.mails", "compacted", "compact", "compacted", compacted_summary_id=summary)

    def _end_path(self, path_id: str, kind: str, operation: str, state: str, **said: str) -> None:
        self._records["path", path_id] |= {"state": state, **said}
        self._event(kind, path_id, path_updates=[{"path_id": path_id, "operation": operation, **said}])
        self._at += timedelta(minutes=20)

    def _settle_phases(self) -> None:
        """A lead has looked at some nodes and made them durable; of others nobody knows who did."""
        names = [key[1] for key, one in self._records.items() if key[0] == "node" and one["kind"] in ("decision", "constraint")]
        for number, name in enumerate(self._chance.sample(names, min(24, len(names)))):
            node = self._records["node", name]
            before = digest(node)
            to_phase = "rigid" if number % 6 == 0 else "stabilized"
            if number % 4 == 3:
                self._put("node", {**node, "phase": to_phase, "updated_at": self._iso()})
                continue
            action = digest([name, to_phase]).replace("sha256:", "action:")
            updates = [{"node_id": name, "operation": "transition_phase"}]
            event = self._event("updated", node["provenance"]["path_id"], node_updates=updates, action_id=action)
            changed = {**node, "phase": to_phase}
            self._put("node", changed)
            target = {"record_type": "node", "id": name, "before_digest": before, "after_digest": digest(changed)}
            review = f"review.{self._next('review'):04d}"
            reviewed = {"requires_review": True, "review_id": review, "reason": "Old enough, and nobody doubts it.", "event_ids": [event]}
            self._audit("lifecycle.apply", "applied", action, actor="lead", targets=[target], **reviewed)

    def _plant_faults(self) -> None:
        """Things that happen: a file deleted by hand, a rule that was changed past the gate, a line that a crash cut short."""
        self._at = max(self._at, self._now - timedelta(hours=30))
        nodes = [key[1] for key in self._records if key[0] == "node"]
        edges = [one for key, one in self._records.items() if key[0] == "edge"]
        ends = Counter(str(one[end]) for one in edges for end in ("source", "target"))
        lost = min(nodes, key=lambda name: (ends[name] == 0, ends[name], name))
        self._story.happened[path_for("node", lost)].append((self._at, None))
        rigid = next(one for key, one in self._records.items() if key[0] == "node" and one["phase"] == "rigid" and key[1] != lost)
        self._put("node", {**rigid, "text": f"{rigid['text']} Unless it is a holiday."})
        broken = next(name for name in reversed(nodes) if name not in (lost, rigid["id"]))
        self._write(path_for("node", broken), b'<<<<<<< HEAD\n{\n  "id": "' + broken.encode() + b'",\n=======\n')
        self._write("nodes/NOTES.txt", b"Ask before you delete anything here.\n")
        stock = self._records["path", "path.stock"]
        self._put("path", {**stock, "event_ids": [*stock["event_ids"], "event.9999999"]})
        cut = log_line({"id": "event.cut", "kind": "recorded", "schema_version": EVENT_VERSION})[:40] + b"\n"
        self._append(EVENTS, cut)
        self._audits[-1] = {**self._audits[-1], "sequence": int(self._audits[-1]["sequence"]) + 1}
        self._audit("graph.export", "applied", GRAPH_ID)

    def _event(self, kind: str, path_id: str, agent: str = AGENTS[0], **more: object) -> str:
        """Append an event, list it in its path, and let a little time go by."""
        self._at = min(self._at + timedelta(seconds=self._chance.randint(20, 300)), self._now - timedelta(minutes=5))
        self._events += 1
        name = f"event.{self._events:07d}"
        record = {"schema_version": EVENT_VERSION, "id": name, "kind": kind, "timestamp": self._iso(), "path_id": path_id, "actor": agent}
        self._append(EVENTS, log_line({**record, **more}))
        path = self._records["path", path_id]
        self._put("path", {**path, "event_ids": [*path["event_ids"], name], "updated_at": self._iso()})
        return name

    def _audit(self, operation: str, decision: str, subject: str, actor: str = "cli", **more: object) -> None:
        last = self._audits[-1] if self._audits else None
        record: Record = {
            "schema_version": AUDIT_VERSION,
            "audit_id": f"audit.{len(self._audits) + 1:06d}",
            "timestamp": self._iso(),
            "sequence": 1 if last is None else int(last["sequence"]) + 1,
            "previous_digest": None if last is None else digest(last),
            "operation": operation,
            "decision": decision,
            "subject_id": subject,
            "profile_id": PROFILE_ID,
            "graph_id": GRAPH_ID,
            "actor": actor,
            "dry_run": False,
            **more,
        }
        self._audits.append(record)
        self._append(AUDIT, log_line(record))

    def _put(self, record_type: str, record: Record) -> None:
        name = str(record["path_id" if record_type == "path" else "id"])
        self._records[record_type, name] = record
        self._write(path_for(record_type, name), pretty(record))

    def _write(self, path: str, data: bytes) -> None:
        self._story.happened.setdefault(path, []).extend([(self._at, None), (self._at, data)])

    def _append(self, path: str, data: bytes) -> None:
        self._story.happened.setdefault(path, []).append((self._at, data))

    def _iso(self) -> str:
        return self._at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _next(self, what: str) -> int:
        self._numbers[what] = self._numbers.get(what, 0) + 1
        return self._numbers[what]


def _profile() -> Record:
    return {
        "schema_version": RECORD_VERSIONS["profile"],
        "id": PROFILE_ID,
        "title": "Release team",
        "intent": "Remember why the release is as it is, and forget the rest.",
        "memory_kinds": ["reasoning", "knowledge"],
        "stores": {"reasoning": "local-graph-store", "events": "local-event-log"},
        "limits": {"reasoning": {"max_nodes": 400}, "knowledge": {"max_nodes": 200}},
        "retention": {"default": {"stale_after_days": 30}, "observation": {"stale_after_days": 14, "delete_after_days": 60}},
        "refresh": {"mode": "proposed"},
        "compaction": {"strategy": "summary", "min_nodes": 3},
        "activation": {"max_items": 8, "max_tokens": 1200, "reserve_tokens": 200},
        "policy": {
            "required_labels": ["project-local"],
            "durable_writes": "review-gated",
            "secrets_allowed": False,
            "review": {"default_reviewers": ["lead"], "reason_required": True, "self_approval": False},
        },
        "observability": {"emit_events": True, "audit_sink": "audit.jsonl"},
        "failure": {"missing_runtime_store": "read-only"},
        "metadata": {
            "phase_transitions": [
                {"kind": "decision", "from_phase": "fluid", "to_phase": "stabilized", "min_age_days": 7, "reason": "old enough to stay"},
                {"kind": "constraint", "from_phase": "stabilized", "to_phase": "rigid", "min_age_days": 21, "reason": "nobody doubts it"},
            ]
        },
    }
