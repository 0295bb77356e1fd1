"""What sessions of the sample projects leave beside decisions: events, flows, preferences, solutions, notes, counts (docs/formats.md)."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import NamedTuple

from stores.demo.records import iso, line, milliseconds
from stores.demo.team import Record
from stores.formats.orchestkit.memory_md import BLOCK_HEADER
from stores.formats.orchestkit.preferences import confidence

SESSIONS_KEPT = 12
"""Newest sessions of which events and flows are kept."""
FLOWS, SOLUTIONS, RETIRED = "completed-flows.jsonl", "problem-solutions.jsonl", "mem0-queue.jsonl"
TOOLS, WAYS = "tool-preferences.json", "workflow-preferences.json"
METRICS, CONSULTED = ".claude/logs/memory-metrics.jsonl", ".claude/logs/memory-consult.jsonl"
RULES = ".claude/rules/recent-decisions.md"

Written = tuple[str, datetime, bytes | None]
"""Path below the project, when, and the bytes appended then; None: the file was deleted."""
Decisions = Sequence[tuple[datetime, Record]]


class Habit(NamedTuple):
    """A way to work: its pattern, and the steps of it."""

    pattern: str
    steps: tuple[tuple[str, str, str], ...]
    """Tool, category, summary."""


HABITS = (
    Habit(
        "explore-first",
        (
            ("Grep", "exploration", "Search content"),
            ("Read", "exploration", "Read {file}"),
            ("Read", "exploration", "Read the tests of {file}"),
            ("Edit", "modification", "Edit {file}"),
            ("Bash", "testing", "pytest -q tests"),
            ("Bash", "git", "git commit -m 'work on the {part}'"),
        ),
    ),
    Habit(
        "test-first",
        (
            ("Write", "modification", "Write test of {file}"),
            ("Bash", "testing", "pytest -q tests"),
            ("Edit", "modification", "Edit {file}"),
            ("Bash", "testing", "pytest -q tests"),
        ),
    ),
    Habit(
        "iterate-fast",
        (
            ("Edit", "modification", "Edit {file}"),
            ("Bash", "execution", "run the {part}"),
            ("Edit", "modification", "Edit {file}"),
            ("Bash", "building", "make build"),
        ),
    ),
    Habit(
        "agent-delegate",
        (
            ("Task", "agent", "code-reviewer looks at the {part}"),
            ("Read", "exploration", "Read {file}"),
            ("Edit", "modification", "Edit {file}"),
        ),
    ),
)
CATEGORIES = {
    "exploration": "content_search",
    "modification": "code_writing",
    "testing": "testing",
    "building": "building",
    "git": "git_operations",
    "agent": "agent_spawn",
    "execution": "other",
}
"""Of a step -> of the preferences."""


class Sitting(NamedTuple):
    """One session with its decisions."""

    start: datetime
    decisions: Decisions
    habit: Habit
    part: str

    @property
    def session_id(self) -> str:
        """The id that its decisions name."""
        return str(self.decisions[0][1]["metadata"]["session_id"])

    @property
    def end(self) -> datetime:
        """When its last turn ended."""
        return self.decisions[-1][0] + timedelta(seconds=40)


def sittings(project: str, parts: Sequence[str], decisions: Decisions) -> list[Sitting]:
    """Give the newest sessions in order of time; the same decisions give the same ones."""
    chance = random.Random(f"habits of {project}")  # noqa: S311  sample texts, nothing secret
    by_session = sorted(decisions, key=lambda one: (one[1]["metadata"]["session_id"], one[0]))
    grouped = [list(some) for _, some in groupby(by_session, key=lambda one: one[1]["metadata"]["session_id"])]
    grouped.sort(key=lambda some: some[0][0])
    return [Sitting(some[0][0] - timedelta(seconds=50), some, chance.choice(HABITS), chance.choice(parts)) for some in grouped][
        -SESSIONS_KEPT:
    ]


def session_files(project: str, found: Iterable[Sitting], now: datetime) -> list[Written]:
    """Write events and flows of sessions, and the preferences that were counted over them."""
    written: list[Written] = []
    uses: Counter[tuple[str, str]] = Counter()
    ways: Counter[str] = Counter()
    rates: dict[str, list[float]] = {}
    for number, sitting in enumerate(found):
        if sitting.end > now:
            continue
        flow = _flow(sitting, number)
        written += _events(project, sitting, flow, number)
        earlier = {**flow, "actions": flow["actions"][:-1], "last_action_at": flow["actions"][-2]["timestamp"]}
        written.append((f".claude/memory/{FLOWS}", sitting.end - timedelta(seconds=20), line(_counted(earlier)) + b"\n"))
        written.append((f".claude/memory/{FLOWS}", sitting.end, line(_counted(flow)) + b"\n"))
        uses.update((CATEGORIES[step["category"]], _tool(step)) for step in flow["actions"])
        ways[sitting.habit.pattern] += 1
        rates.setdefault(sitting.habit.pattern, []).append(_plain(_counted(flow)["stats"]["success_rate"]))
        for name, record in ((TOOLS, _tools(uses, sitting.end)), (WAYS, _ways(ways, rates, sitting.end))):
            written.append((f".claude/memory/{name}", sitting.end, None))
            written.append((f".claude/memory/{name}", sitting.end, json.dumps(record, indent=2).encode()))
    return written


def _flow(sitting: Sitting, number: int) -> Record:
    name = f"src/{sitting.part.replace(' ', '_')}.py"
    span = (sitting.end - sitting.start) / (len(sitting.habit.steps) + 1)
    steps = []
    for place, (tool, category, summary) in enumerate(sitting.habit.steps, 1):
        # The first run of the tests fails: that is what they are written for.
        failed = category == "testing" and place == 2
        failed = failed or (category == "building" and number % 4 == 1)
        step: Record = {"tool": tool}
        if tool in ("Read", "Edit", "Write"):
            step["file"] = f"/home/dev/{name}"
        step |= {
            "timestamp": iso(sitting.start + span * place),
            "summary": f"{'✗' if failed else '✓'} {summary.format(file=name, part=sitting.part)}",
            "result": "failure" if failed else "success",
            **({"exit_code": int(failed)} if tool == "Bash" else {}),
            "category": category,
        }
        steps.append(step)
    return {
        "session_id": sitting.session_id,
        "actions": steps,
        "started_at": steps[0]["timestamp"],
        "last_action_at": steps[-1]["timestamp"],
        "stats": {},
        "inferred_pattern": sitting.habit.pattern,
    }


def _counted(flow: Record) -> Record:
    """Give a flow with the figures of its steps."""
    steps = flow["actions"]
    categories = Counter(step["category"] for step in steps)
    stats = {
        "total_actions": len(steps),
        "reads": sum(step["tool"] == "Read" for step in steps),
        "writes": categories["modification"],
        "tests": categories["testing"],
        "builds": categories["building"],
        "agent_spawns": categories["agent"],
        "success_rate": sum(step["result"] == "success" for step in steps) / len(steps),
    }
    return {**flow, "stats": stats}


def _plain(number: float) -> float:
    """Give a number as JavaScript writes it: a whole one without a fraction."""
    return int(number) if number == int(number) else number


def _tool(step: Record) -> str:
    return f"Bash:{step['summary'].split()[1]}" if step["tool"] == "Bash" else str(step["tool"])


def _events(project: str, sitting: Sitting, flow: Record, number: int) -> list[Written]:
    """Write what both writers noted: the tracker with person and machine, the runner of hooks without; two events share an id."""
    identity = sitting.decisions[0][1]["identity"]
    folder = f"{project}-main-{sitting.start:%m%d-%H%M}-{sitting.session_id[:4]}"
    path = f".claude/memory/sessions/{folder}/events.jsonl"
    noted: list[tuple[datetime, str, Record]] = [(sitting.start, "session_start", {"name": "startup", "success": True})]
    noted += [
        (
            datetime.fromisoformat(step["timestamp"]),
            "tool_used",
            {"name": step["tool"], "success": step["result"] == "success", "context": step["summary"]},
        )
        for step in flow["actions"]
    ]
    noted += [
        (at, "preference_stated" if record["type"] == "preference" else "decision_made",
         {"name": "decision", "success": True, "context": record["content"]["what"], "confidence": record["metadata"]["confidence"]})
        for at, record in sitting.decisions
    ]  # fmt: skip
    noted.append(
        (
            sitting.end,
            "session_end",
            {"name": "stop", "success": True, "duration_ms": int((sitting.end - sitting.start).total_seconds() * 1000)},
        )
    )
    noted.sort(key=lambda one: one[0])
    written: list[Written] = []
    for count, (at, kind, payload) in enumerate(noted, 1):
        # Two hooks that run at once count the same number.
        shown = 3 if number % 3 == 0 and count == 4 else count
        tracked = {
            "event_id": f"evt-{milliseconds(sitting.start)}-{shown}",
            "event_type": kind,
            "identity": {"session_id": folder, **identity, "identity_source": "git", "timestamp": iso(at)},
            "payload": payload,
        }
        written.append((path, at, line(tracked) + b"\n"))
        if kind == "tool_used":
            hook = {
                "event_id": f"evt-{milliseconds(at)}-{sitting.session_id[:6]}",
                "event_type": "hook_triggered",
                "identity": {"session_id": folder, "user_id": "dev", "timestamp": iso(at)},
                "payload": {"name": "posttool/session-tracker", "success": True, "duration_ms": 4 + count * 7 % 23},
            }
            written.append((path, at + timedelta(milliseconds=30), line(hook) + b"\n"))
    return written


def _tools(uses: Counter[tuple[str, str]], at: datetime) -> Record:
    usage: dict[str, dict[str, int]] = {category: {} for category in CATEGORIES.values()}
    for (category, tool), count in sorted(uses.items()):
        usage[category][tool] = count
    preferences: Record = {}
    for category, counts in usage.items():
        tool, count = max(counts.items(), key=lambda one: one[1], default=("", 0))
        sure = confidence(count, sum(counts.values()))
        preferences[category] = sure and {
            "category": category,
            "preferred_tool": tool,
            "confidence": sure,
            "sample_count": sum(counts.values()),
            "updated_at": iso(at),
        }
    return {"usage": usage, "preferences": preferences, "updated_at": iso(at)}


def _ways(ways: Counter[str], rates: dict[str, list[float]], at: datetime) -> Record:
    total = ways.total()
    preferences = [
        {
            "pattern": pattern,
            "frequency": _plain(count / total),
            "count": count,
            "total_sessions": total,
            "avg_success_rate": _plain(sum(rates[pattern]) / len(rates[pattern])),
            "updated_at": iso(at),
        }
        for pattern, count in ways.most_common()
    ]
    return {
        "pattern_counts": dict(ways),
        "pattern_success_rates": {pattern: given[-20:] for pattern, given in rates.items()},
        "total_sessions": total,
        "preferences": preferences,
        "updated_at": iso(at),
    }


def logs(found: Sequence[Sitting], decisions: Decisions, now: datetime) -> list[Written]:
    """Write the counts that stand in a log at the begin of each session, and which memories were looked up."""
    written: list[Written] = []
    for number, sitting in enumerate(found):
        if sitting.end > now:
            continue
        known = [record for at, record in decisions if at < sitting.start]
        counted = {
            "timestamp": iso(sitting.start),
            "decisions": {
                "total": len(known),
                "byCategory": dict(Counter(record["metadata"]["category"] for record in known)),
                "byType": dict(Counter(record["type"] for record in known)),
            },
            "queues": {"graphQueueDepth": number * 5 % 17, "mem0QueueDepth": 0},
            "completedFlows": 2 * number,
            "sessionCount": number + 1,
            "mem0Available": False,
        }
        written.append((METRICS, sitting.start, line(counted) + b"\n"))
        entities = sitting.decisions[0][1].get("entities") or ["memory"]
        asked = {"ts": iso(sitting.start), "session": sitting.session_id, "tool": "mcp__memory__search_nodes", "query": entities[0]}
        written.append((CONSULTED, sitting.start, line(asked) + b"\n"))
    return written


def solutions(problems: Iterable[Record]) -> list[Written]:
    """Write the pairs that were made of problems with a solution."""
    written: list[Written] = []
    for problem in problems:
        solution = problem["solution"]
        pair = {
            "problem_id": problem["id"],
            "problem_text": problem["text"],
            "solution_text": solution["text"],
            "tool": solution["tool"],
            "entities": problem["entities"],
            "confidence": solution["confidence"],
            "paired_at": solution["timestamp"],
            "session_id": problem["session_id"],
            "project": problem["project"],
        }
        written.append((f".claude/memory/{SOLUTIONS}", datetime.fromisoformat(solution["timestamp"]), line(pair) + b"\n"))
    return written


def index_file(agent: str, heading: str, decisions: Decisions, at: datetime, count: int) -> list[Written]:
    """Write an agent's MEMORY.md with `count` entries, and a topic file beside it."""
    said = [record["content"]["what"] for _, record in decisions]
    entries = [f"- {said[number % len(said)]}" for number in range(count)]
    if count > 20:
        entries[17] = f"- [Notes of the migration](migration.md) — {'; '.join(said[:6])}"
    text = "\n".join([f"# {heading}", "", "## What to keep in mind", "", *entries, ""])
    topic = "\n".join(["---", "name: migration", "description: what the migration taught", "type: project", "---", "", said[0], ""])
    folder = f".claude/agent-memory/{agent}"
    return [(f"{folder}/MEMORY.md", at, text.encode()), (f"{folder}/migration.md", at, topic.encode())]


def rules_file(decisions: Decisions, at: datetime) -> list[Written]:
    """Write the rules file of the injector, which nobody deleted."""
    told = [
        f"- **[Decision]** {record['content']['what']} _(because: {record['content'].get('why', 'it was asked for')})_ [{', '.join(record['entities'])}]"
        for _, record in decisions[:6]
    ]
    return [(RULES, at, "\n".join([BLOCK_HEADER, "", *told]).encode())]


def retired_queue(project: str, decisions: Decisions) -> list[Written]:
    """Write what waited for a service that is gone; one text twice."""
    written: list[Written] = []
    for at, record in [*decisions, decisions[0]]:
        metadata = record["metadata"]
        waiting = {
            "text": record["content"]["what"],
            "user_id": f"{project}-decisions",
            "metadata": {
                "type": record["type"],
                "category": metadata["category"],
                "confidence": metadata["confidence"],
                "source": metadata["source"],
                "project": project,
                "timestamp": metadata["timestamp"],
                "entities": record["entities"],
                "has_rationale": "why" in record["content"],
                "has_alternatives": "alternatives" in record["content"],
            },
            "queued_at": iso(at),
        }
        written.append((f".claude/memory/{RETIRED}", at, line(waiting) + b"\n"))
    return written
