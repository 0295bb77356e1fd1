"""Makes the lines that OrchestKit's writer would append for a decision: one of the log, and those of the queue."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, NamedTuple

from stores.formats.js_values import UNDEFINED, compact_line, cut, units
from stores.formats.orchestkit.operations import build_operations
from stores.formats.orchestkit.values import mapping

TYPES: Final = ("decision", "preference", "problem-solution", "pattern", "workflow")
SOURCES: Final = ("user_prompt", "tool_output", "flow_inference", "skill_output", "git_commit")
WHAT_UNITS: Final = 300
WHY_UNITS: Final = 200
_LIST_UNITS: Final = 200
_LIST_ITEMS: Final = 5
_SHORT_UNITS: Final = 20
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CHANCE: Final = re.compile(r"[0-9a-z]{1,6}")
_CLOCK: Final = re.compile(r"[0-9a-z]{1,9}")
_CHOOSING: Final = re.compile(r"\b(?:decided|chose|selected)\b", re.IGNORECASE | re.ASCII)
_ANONYMOUS_SALT: Final = "orchestkit-user-identity-v1"
"""What OrchestKit puts behind a user's name before it hashes it: the same person has the same id in all records."""
_AREAS: Final = (
    ("database", ["postgres", "mysql", "sqlite", "mongodb", "redis", "database", "db"]),
    ("frontend", ["react", "vue", "angular", "svelte", "frontend", "css", "tailwind", "ui"]),
    ("backend", ["fastapi", "django", "express", "nest", "backend", "api", "rest", "graphql"]),
    ("infrastructure", ["docker", "kubernetes", "k8s", "ci", "cd", "deploy", "infrastructure"]),
    ("testing", ["test", "jest", "coverage"]),
    ("language", ["typescript", "python", "rust", "go", "java", "language"]),
    ("security", ["auth", "security", "jwt", "encryption"]),
    ("performance", ["cache", "caching", "performance", "optimization"]),
    ("architecture", ["architecture", "pattern", "design", "structure"]),
)
"""Parts of entities' names that tell a decision's area; the first group with a fitting one counts, and `ui` fits `circuit` too."""
_GENERAL: Final = [
    "pagination",
    "caching",
    "authentication",
    "authorization",
    "testing",
    "deployment",
    "security",
    "performance",
    "database",
    "api",
    "architecture",
]


@dataclass(frozen=True, slots=True)
class Said:
    """What is to be remembered."""

    what: str
    why: str = ""
    type: str = "decision"
    entities: tuple[str, ...] = ()
    alternatives: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    tradeoffs: tuple[str, ...] = ()
    category: str = ""
    """"" lets the entities tell."""
    confidence: float | None = None
    """None lets the text tell."""
    importance: str = ""
    source: str = "user_prompt"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who says it, and where."""

    user_id: str
    machine_id: str
    team_id: str = ""

    @property
    def anonymous_id(self) -> str:
        """The user's hash, as OrchestKit makes it."""
        return sha256((self.user_id + _ANONYMOUS_SALT).encode("utf-8", "replace")).hexdigest()[:32]


class Remembered(NamedTuple):
    """A new record and its lines, each with its line break."""

    record: dict[str, Any]
    decision_line: bytes
    queue_lines: tuple[bytes, ...]


def remember(said: Said, identity: Identity, *, project: str, session: str, now_ms: int, chance: str) -> Remembered:
    """Make a record and its lines.

    `now_ms` is the time in ms since 1970, `chance` one to six random characters of 0-9 and a-z, which make the id.
    Raises ValueError for what OrchestKit's writer would not have made: no text, an unknown type or source, other characters.
    """
    _check(said, chance)
    record = _record(said, identity, project, session, now_ms, chance)
    operations = build_operations(record, iso_time(now_ms))
    return Remembered(record, compact_line(record), tuple(map(compact_line, operations)))


def remembered(record: object) -> Remembered:
    """Give the lines of a record that is, field by field, one that `remember` makes; raises ValueError for every other."""
    given = mapping(record)
    content, person, metadata = (mapping(given.get(name)) for name in ("content", "identity", "metadata"))
    kind, clock, chance = _id_parts(given.get("id"))
    confidence = metadata.get("confidence")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ValueError("Confidence is a number")
    said = Said(
        _text(content, "what"),
        _text(content, "why"),
        kind,
        _texts(given, "entities"),
        _texts(content, "alternatives"),
        _texts(content, "constraints"),
        _texts(content, "tradeoffs"),
        _text(metadata, "category"),
        confidence,
        _text(metadata, "importance"),
        _text(metadata, "source"),
    )
    identity = Identity(_text(person, "user_id"), _text(person, "machine_id"), _text(person, "team_id"))
    project, session = _text(metadata, "project"), _text(metadata, "session_id")
    made = remember(said, identity, project=project, session=session, now_ms=int(clock, 36), chance=chance)
    if made.record != given:
        raise ValueError("OrchestKit would have written this record in another way")
    return made


def iso_time(now_ms: int) -> str:
    """Write a time as `toISOString` does."""
    seconds, ms = divmod(now_ms, 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"


def record_id(kind: str, now_ms: int, chance: str) -> str:
    """Give the id of a record made at a time."""
    return f"{kind}-{base36(now_ms)}-{chance}"


def base36(number: int) -> str:
    """Write a number, not below 0, in base 36."""
    digits = ""
    while number or not digits:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits


def infer_category(entities: tuple[str, ...]) -> str:
    """Guess a decision's area from its entities."""
    names = " ".join(entities).lower()
    return next((area for area, signs in _AREAS if any(sign in names for sign in signs)), "general")


def classic_confidence(said: Said) -> float:
    """Weigh a statement as the classic code did, noise of floating point and all."""
    if said.type == "preference":
        return 0.8 if said.entities else 0.6
    weight = 0.5
    if _CHOOSING.search(said.what):
        weight += 0.2
    if said.why:
        weight += 0.15
    if said.alternatives:
        weight += 0.1
    for enough in (1, 2):
        if len(said.entities) >= enough:
            weight += 0.05
    if units(said.what) < _SHORT_UNITS:
        weight -= 0.1
    return min(0.99, max(0.1, weight))


def _check(said: Said, chance: str) -> None:
    if not said.what.strip():
        raise ValueError("There is no text to remember")
    if said.type not in TYPES:
        raise ValueError(f"No such type: {said.type}")
    if said.source not in SOURCES:
        raise ValueError(f"No such source: {said.source}")
    if said.confidence is not None and not 0 <= said.confidence <= 1:
        raise ValueError("Confidence lies between 0 and 1")
    if _CHANCE.fullmatch(chance) is None:
        raise ValueError("The random part of an id has 1 to 6 characters of 0-9 and a-z")


def _record(said: Said, identity: Identity, project: str, session: str, now_ms: int, chance: str) -> dict[str, Any]:
    confidence = classic_confidence(said) if said.confidence is None else said.confidence
    general = confidence >= 0.8 and bool(said.why) and any(sign in name.lower() for name in said.entities for sign in _GENERAL)
    return {
        "id": record_id(said.type, now_ms, chance),
        "type": said.type,
        "content": _present(
            {
                "what": cut(said.what, WHAT_UNITS),
                "why": cut(said.why, WHY_UNITS),
                "alternatives": list(said.alternatives),
                "constraints": _few(said.constraints),
                "tradeoffs": _few(said.tradeoffs),
            }
        ),
        "entities": list(said.entities),
        "relations": [],
        "identity": _present(
            {
                "user_id": identity.user_id,
                "anonymous_id": identity.anonymous_id,
                "team_id": identity.team_id,
                "machine_id": identity.machine_id,
            }
        ),
        "metadata": _present(
            {
                "session_id": session,
                "timestamp": iso_time(now_ms),
                "confidence": confidence,
                "source": said.source,
                "project": project or "unknown",
                "category": said.category or infer_category(said.entities),
                "importance": said.importance,
                "is_generalizable": general,
                "sharing_scope": "global" if general else "team",
            }
        ),
    }


def _id_parts(given: object) -> tuple[str, str, str]:
    parts = given.rsplit("-", 2) if isinstance(given, str) else []
    if len(parts) != 3 or _CLOCK.fullmatch(parts[1]) is None:
        raise ValueError("The id is none that OrchestKit makes")
    return parts[0], parts[1], parts[2]


def _text(record: dict[str, object], name: str) -> str:
    given = record.get(name, "")
    if not isinstance(given, str):
        raise ValueError(f"{name} is a text")
    return given


def _texts(record: dict[str, object], name: str) -> tuple[str, ...]:
    given = record.get(name, [])
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise ValueError(f"{name} are texts")
    return tuple(given)


def _few(texts: tuple[str, ...]) -> list[str]:
    return [cut(text, _LIST_UNITS) for text in texts[:_LIST_ITEMS]]


def _present(value: dict[str, object]) -> dict[str, object]:
    """Leave out what is not said: empty texts and lists."""
    return {key: item for key, item in value.items() if item not in ("", [], UNDEFINED)}
