"""The invented people of the sample stores, and the sessions in which they and their agents decide."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from stores.demo.records import iso, record_id
from stores.demo.topics import PREFERENCES, PROBLEMS, TOPICS, Topic

Record = dict[str, Any]


class Member(NamedTuple):
    """Somebody who works with agents: an account, a machine, and what they mostly decide about."""

    user_id: str
    machine_id: str
    areas: tuple[str, ...]


TEAM: tuple[Member, ...] = (
    Member("backend-lead@acme.example", "ws-backend-01", ("backend", "database", "architecture", "api")),
    Member("platform@acme.example", "build-vm", ("infrastructure", "security", "performance")),
    Member("frontend@acme.example", "laptop-frontend", ("frontend", "api", "performance")),
    Member("data-eng@acme.example", "ws-data-02", ("database", "performance", "language", "backend")),
    Member("quality@acme.example", "laptop-quality", ("testing", "general", "security")),
    Member("on-call@acme.example", "ws-backend-01", ("infrastructure", "backend", "general")),
    Member("contractor@partner.example", "remote-7", ("frontend", "testing", "language")),
)


class Session(NamedTuple):
    """One sitting of one member."""

    member: Member
    session_id: str
    start: datetime


class Project:
    """Makes the records of one project; the same seed makes the same records, moved in time."""

    def __init__(self, name: str, parts: Sequence[str], seed: int, team: Sequence[Member] = TEAM) -> None:
        self.name = name
        self._parts = parts
        self._team = team
        self._chance = random.Random(seed)  # noqa: S311  sample texts, nothing secret
        self._decks: dict[str, list[tuple[Topic, str]]] = {}

    def sessions(self, start: datetime, end: datetime, count: int) -> Iterator[Session]:
        """Give sittings in order of time, at the hours when people work."""
        moments = sorted(self._working_hour(start, end) for _ in range(count))
        for moment in moments:
            member = self._chance.choice(self._team)
            yield Session(member, str(UUID(int=self._chance.getrandbits(128), version=4)), moment)

    def decisions(self, start: datetime, end: datetime, count: int) -> list[tuple[datetime, Record]]:
        """Give `count` decisions in order of time, three to eight in a sitting."""
        made: list[tuple[datetime, Record]] = []
        for session in self.sessions(start, end, count // 4 + 2):
            moment = session.start
            for _ in range(self._chance.randint(3, 8)):
                made.append((moment, self.decision(session, moment)))
                moment += timedelta(seconds=self._chance.randint(40, 900), milliseconds=self._chance.randint(0, 999))
        made = [item for item in made if item[0] < end]
        return sorted(self._chance.sample(made, min(count, len(made))), key=lambda item: item[0])

    def sitting(self, start: datetime, count: int) -> list[tuple[datetime, Record]]:
        """Give the decisions of one sitting that began at `start`, whatever the hour, one every few minutes."""
        session = Session(self._chance.choice(self._team), str(UUID(int=self._chance.getrandbits(128), version=4)), start)
        return [(at, self.decision(session, at)) for at in (start + timedelta(seconds=317 * number) for number in range(count))]

    def decision(self, session: Session, moment: datetime) -> Record:
        """Give one decision or preference of a sitting."""
        if self._chance.random() < 0.12:
            category, entities, what = self._chance.choice(PREFERENCES)
            content: Record = {"what": what.format(part=self._chance.choice(self._parts))}
            return self._record("preference", session, moment, content, list(entities), category, 0.8)
        area = self._chance.choice(session.member.areas) if self._chance.random() < 0.8 else self._chance.choice(TOPICS).category
        topic, part = self._draw(area)
        content = {"what": topic.what.format(part=part)}
        if self._chance.random() < 0.75:
            content["why"] = self._chance.choice(topic.why)
        for key, texts in (("alternatives", topic.alternatives), ("constraints", topic.constraints), ("tradeoffs", topic.tradeoffs)):
            if texts and self._chance.random() < 0.7:
                content[key] = list(texts)
        confidence = min(0.99, 0.7 + 0.15 * ("why" in content) + 0.1 * ("alternatives" in content))
        return self._record("decision", session, moment, content, list(topic.entities), topic.category, confidence)

    def problem(self, session: Session, moment: datetime) -> Record:
        """Give one open problem of a sitting."""
        entities, text = self._chance.choice(PROBLEMS)
        return {
            "id": record_id("prob", moment, self._chance.randrange(36**6)),
            "timestamp": iso(moment),
            "session_id": session.session_id,
            "type": "problem",
            "text": text.format(part=self._chance.choice(self._parts)),
            "confidence": 0.75,
            "entities": list(entities),
            "project": self.name,
            "status": "open",
        }

    def _record(
        self, kind: str, session: Session, moment: datetime, content: Record, entities: list[str], category: str, confidence: float
    ) -> Record:
        member = session.member
        general = confidence >= 0.8 and "why" in content and category in ("database", "security", "testing", "performance")
        return {
            "id": record_id(kind, moment, self._chance.randrange(36**6)),
            "type": kind,
            "content": content,
            "entities": entities,
            "relations": [],
            "identity": {
                "user_id": member.user_id,
                "anonymous_id": hashlib.sha256(f"{member.user_id} of the demo".encode()).hexdigest()[:32],
                "team_id": member.user_id.partition("@")[2].partition(".")[0],
                "machine_id": member.machine_id,
            },
            "metadata": {
                "session_id": session.session_id,
                "timestamp": iso(moment),
                "confidence": confidence,
                "source": "user_prompt",
                "project": self.name,
                "category": category,
                "is_generalizable": general,
                "sharing_scope": "global" if general else "team",
            },
        }

    def _draw(self, area: str) -> tuple[Topic, str]:
        """Draw a subject and a part from the area's deck, so that one is said again only when all were said."""
        deck = self._decks.get(area)
        if not deck:
            deck = [(topic, part) for topic in TOPICS if topic.category == area for part in self._parts]
            self._chance.shuffle(deck)
            self._decks[area] = deck
        return deck.pop()

    def _working_hour(self, start: datetime, end: datetime) -> datetime:
        span_s = (end - start).total_seconds()
        for _ in range(50):
            moment = start + timedelta(seconds=self._chance.random() * span_s)
            if moment.weekday() < 5 and 7 <= moment.astimezone(UTC).hour < 18:
                return moment
        return moment
