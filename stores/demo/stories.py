"""The sample projects: what happened in each, moment by moment."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from stores.demo import habits, parts
from stores.demo.records import iso, line, record_id
from stores.demo.team import Project, Record
from stores.formats.orchestkit import build_operations

SEED = 20260301
MEMORY = ".claude/memory"
DECISIONS, QUEUE, PROBLEMS, GRAPH = "decisions.jsonl", "graph-queue.jsonl", "open-problems.jsonl", "memory.json"

Moment = tuple[datetime, bytes | None]
"""When, and the bytes appended then; None: the file was deleted."""


@dataclass
class Story:
    """The files of one project over time; paths are relative to the project."""

    project: str
    registered: bool = True
    root: str = MEMORY
    """Where the store lies in the project, "" for the project's own folder."""
    happened: dict[str, list[Moment]] = field(default_factory=dict)

    def add(self, file: str, at: datetime, data: bytes | None) -> None:
        """Append bytes to a memory file, or delete it."""
        self.happened.setdefault(f"{MEMORY}/{file}", []).append((at, data))

    def add_all(self, written: Iterable[habits.Written]) -> None:
        """Append bytes to files of the project, or delete them."""
        for path, at, data in written:
            self.happened.setdefault(path, []).append((at, data))

    def settle(self) -> Story:
        """Bring what was added into the order of time."""
        for moments in self.happened.values():
            moments.sort(key=lambda moment: moment[0])
        return self

    def content(self, path: str, at: datetime) -> bytes | None:
        """Give a file's bytes at a moment, None while it does not exist."""
        content: list[bytes] | None = None
        for moment, data in self.happened[path]:
            if moment > at:
                break
            if data is None:
                content = None
            elif content is None:
                content = [data]
            else:
                content.append(data)
        return None if content is None else b"".join(content)

    def last_change(self, path: str, at: datetime) -> datetime | None:
        """Give when a file was last changed before a moment."""
        return max((moment for moment, _ in self.happened[path] if moment <= at), default=None)


def stories(now: datetime) -> tuple[Story, ...]:
    """Give the sample projects as they came to be by `now`; the same seed and moment give the same bytes."""
    return (_shop_api(now), *_atlas_web(now), _billing_core(now), _data_platform(now))


def _shop_api(now: datetime) -> Story:
    """Healthy: the queue is drained every evening, and once more a few minutes ago."""
    story, project = Story("shop-api"), Project("shop-api", parts.SHOP, SEED + 1)
    decisions = [
        *project.decisions(now - timedelta(days=95), now - timedelta(hours=2), 180),
        *project.sitting(now - timedelta(minutes=47), 4),
    ]
    _write(story, decisions)
    evenings = [now.replace(hour=18, minute=5, second=0, microsecond=0) - timedelta(days=days) for days in range(96)]
    drains = [evening for evening in evenings if evening < now - timedelta(hours=1)] + [now - timedelta(minutes=12)]
    _queue(story, decisions, drains)
    _graph(story, decisions, drains)
    _problems(story, project, now, open_count=9, solved_count=15, abandoned_count=3)
    _habits(story, parts.SHOP, decisions, now)
    story.add_all(habits.index_file("code-reviewer", "Code reviewer", decisions[:30], now - timedelta(days=20), 18))
    return story.settle()


def _billing_core(now: datetime) -> Story:
    """Degraded: since an upgrade two weeks ago nobody drains the queue, and three accidents left lines that no agent can read."""
    story, project = Story("billing-core"), Project("billing-core", parts.BILLING, SEED + 2)
    decisions = project.decisions(now - timedelta(days=140), now - timedelta(hours=2), 421)
    upgrade = now - timedelta(days=16, hours=3)
    glued, torn, clash = (len(decisions) - back for back in (27, 16, 8))
    for index, (at, record) in enumerate(decisions):
        text = line(record)
        if index == glued:
            story.add(DECISIONS, at, text)
        elif index == torn:
            story.add(DECISIONS, at, text[: len(text) * 3 // 5] + b"\n")
        elif index == clash:
            ours = text.replace(b'"user_prompt"', b'"tool_output"')
            story.add(DECISIONS, at, b"<<<<<<< HEAD\n" + text + b"\n=======\n" + ours + b"\n>>>>>>> topic/ledger\n")
        else:
            story.add(DECISIONS, at, text + b"\n")
    evenings = [now.replace(hour=17, minute=40, second=0, microsecond=0) - timedelta(days=days) for days in range(141)]
    _queue(story, decisions, [evening for evening in evenings if evening < upgrade])
    story.add(QUEUE, now - timedelta(days=5, hours=1), b"null\n")
    _problems(story, project, now, open_count=31, solved_count=22, abandoned_count=6, torn=True)
    _habits(story, parts.BILLING, decisions, now)
    story.add_all(habits.index_file("release-engineer", "Release engineer", decisions, now - timedelta(days=18), 231))
    story.add_all(habits.retired_queue(story.project, decisions[40:47]))
    return story.settle()


def _atlas_web(now: datetime) -> tuple[Story, Story]:
    """Degraded: a hook that is installed twice writes everything twice, and one record switches the injection off.

    The second story is a stray store that a hook left in a package of the project.
    """
    story, project = Story("atlas-web"), Project("atlas-web", parts.ATLAS, SEED + 3)
    decisions = project.decisions(now - timedelta(days=60), now - timedelta(hours=3), 230)
    decisions += project.sitting(now - timedelta(minutes=70), 6)
    doubled_since, chance = now - timedelta(days=12), random.Random(SEED)  # noqa: S311  sample texts, nothing secret
    silencing = len(decisions) - 4
    for index, (at, record) in enumerate(decisions):
        if index == silencing:
            record = {key: value for key, value in record.items() if key != "entities"}
        story.add(DECISIONS, at, line(record) + b"\n")
        if at > doubled_since and index < silencing:
            later = at + timedelta(milliseconds=chance.randint(6, 40))
            story.add(DECISIONS, later, line(_again(record, later, chance)) + b"\n")
    evenings = [now.replace(hour=20, minute=0, second=0, microsecond=0) - timedelta(days=days) for days in range(61)]
    recent = [(at, record) for at, record in decisions[:silencing]]
    _queue(story, recent, [*(evening for evening in evenings if evening < now - timedelta(hours=1)), now - timedelta(minutes=20)])
    _problems(story, project, now, open_count=14, solved_count=9, abandoned_count=2)
    _habits(story, parts.ATLAS, recent, now)
    story.add_all(habits.rules_file(decisions[:silencing], now - timedelta(days=25)))
    stray, package = Story("atlas-web/packages/checkout", registered=False), Project("checkout", parts.CHECKOUT, SEED + 4)
    _write(stray, package.decisions(now - timedelta(days=20), now - timedelta(days=11), 7))
    return story.settle(), stray.settle()


def _data_platform(now: datetime) -> Story:
    """Healthy and large: two thousand decisions, some lines of another tool, and the queue of a sitting that goes on."""
    story, project = Story("data-platform"), Project("data-platform", parts.DATA, SEED + 5)
    decisions = project.decisions(now - timedelta(days=320), now - timedelta(hours=1), 2_000)
    sitting = project.sitting(now - timedelta(minutes=26), 5)
    decisions[1_640][1]["content"]["why"] = "the old job still used postgres://etl:not-a-real-password@warehouse.example/main"
    decisions[1_702][1]["content"]["what"] = "Escape notes of the data catalogue: `<script>alert(1)</script>` ran in a preview"
    _write(story, [*decisions, *sitting])
    for days in (88, 61, 33):
        at = now - timedelta(days=days)
        other = {
            "timestamp": iso(at),
            "decision": "Keep raw events for 400 days",
            "rationale": "finance asks for 13 months",
            "approved_by": "data-eng",
        }
        story.add(DECISIONS, at, line(other) + b"\n")
    _queue(story, sitting, [])
    _problems(story, project, now, open_count=26, solved_count=41, abandoned_count=8)
    _habits(story, parts.DATA, decisions, now)
    return story.settle()


def _habits(story: Story, names: Sequence[str], decisions: Sequence[tuple[datetime, Record]], now: datetime) -> None:
    """Write what the newest sessions left beside their decisions."""
    found = habits.sittings(story.project, names, decisions)
    story.add_all(habits.session_files(story.project, found, now))
    story.add_all(habits.logs(found, decisions, now))


def _write(story: Story, decisions: Iterable[tuple[datetime, Record]]) -> None:
    for at, record in decisions:
        story.add(DECISIONS, at, line(record) + b"\n")


def _queue(story: Story, decisions: Iterable[tuple[datetime, Record]], drains: Iterable[datetime]) -> None:
    for at, record in decisions:
        for operation in build_operations(record):
            story.add(QUEUE, at, line(operation) + b"\n")
    for at in drains:
        story.add(QUEUE, at, None)


def _graph(story: Story, decisions: list[tuple[datetime, Record]], drains: list[datetime]) -> None:
    """Write the graph file that the last drain left: entities and relations of all drained decisions, each once."""
    entities: dict[str, Record] = {}
    relations: dict[tuple[str, ...], Record] = {}
    for _, record in decisions:
        for operation in build_operations(record):
            for entity in operation["payload"].get("entities", ()):
                entities.setdefault(entity["name"], {"type": "entity", **entity})
            for relation in operation["payload"].get("relations", ()):
                relations.setdefault(tuple(relation.values()), {"type": "relation", **relation})
    made = [
        *entities.values(),
        *(relation for relation in relations.values() if relation["from"] in entities and relation["to"] in entities),
    ]
    story.add(GRAPH, max(drains), b"".join(line(item) + b"\n" for item in made))


def _problems(
    story: Story, project: Project, now: datetime, *, open_count: int, solved_count: int, abandoned_count: int, torn: bool = False
) -> None:
    """Write problems, each solution as a rewrite of the whole file, which is how the hook does it."""
    chance = random.Random(project.name)  # noqa: S311  sample texts, nothing secret
    count = open_count + solved_count + abandoned_count
    opened = [
        (session.start, project.problem(session, session.start)) for session in project.sessions(now - timedelta(days=70), now, count)
    ]
    ends = ["open"] * open_count + ["solved"] * solved_count + ["abandoned"] * abandoned_count
    chance.shuffle(ends)
    changes: list[tuple[datetime, int, Record]] = [(at, index, record) for index, (at, record) in enumerate(opened)]
    for index, ((at, record), end) in enumerate(zip(opened, ends, strict=True)):
        ended_at = at + timedelta(hours=chance.uniform(0.3, 60))
        if end == "open" or ended_at >= now:
            continue
        solution = {
            "text": "All tests passed. Build succeeded",
            "tool": "Bash",
            "timestamp": iso(ended_at),
            "confidence": 0.8,
            "exit_code": 0,
        }
        changes.append((ended_at, index, {**record, "status": end, **({"solution": solution} if end == "solved" else {})}))
    story.add_all(habits.solutions(record for _, _, record in changes if "solution" in record))
    rows: dict[int, bytes] = {}
    for at, index, record in sorted(changes, key=lambda change: change[0]):
        rows[index] = line(record)
        if torn and index == count - 3:
            rows[index] = rows[index][:-20]
        story.add(PROBLEMS, at, None)
        story.add(PROBLEMS, at, b"".join(row + b"\n" for _, row in sorted(rows.items())))


def _again(record: Record, at: datetime, chance: random.Random) -> Record:
    """Give the same decision as the second hook writes it: another id, a few milliseconds later."""
    metadata = {**record["metadata"], "timestamp": iso(at)}
    return {**record, "id": record_id(record["type"], at, chance.randrange(36**6)), "metadata": metadata}
