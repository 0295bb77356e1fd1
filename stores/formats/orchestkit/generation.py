"""Says which versions of OrchestKit wrote a store, and by what one sees it (docs/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from stores.formats.orchestkit import decisions, graph_items, memory_md, session_events
from stores.formats.orchestkit.values import mapping, parse_raw

_LOOKED_AT: Final = 200
"""Records of one file that are looked at."""


class Evidence(NamedTuple):
    """One sign of a version."""

    versions: str
    """Such as "5.2.4 to 6.0.3"."""
    since: str
    """Day on which the first of these versions appeared, such as "2026-01-28"; "" where that is not known."""
    until: str
    """Day on which a version appeared that no longer does it; "" where today's still does or it is not known."""
    file: str
    """Path or pattern of what shows it."""
    sign: str
    """What shows it, a clause."""


_QUEUES: Final = ("5.2.4 to 6.0.3", "2026-01-28", "2026-02-13")
_FIRST: Final = ("5.2.4", "2026-01-28", "2026-01-29")
_INTO_MARCH: Final = ("5.2.4 to 7.1", "2026-01-28", "2026-03-06")
_BY_NAME: Final = (
    Evidence(*_FIRST, "pending-decisions.jsonl", "a file that only this version wrote"),
    Evidence(*_FIRST, "user-preferences.jsonl", "a file that only this version wrote"),
    Evidence(*_QUEUES, "graph-queue.jsonl", "a queue for the graph, which later versions neither fill nor drain"),
    Evidence("5.5 to 6.0.3", "2026-02-01", "2026-02-13", "archive/*-graph-queue.jsonl", "a queue set aside because it was a day old"),
    Evidence(*_QUEUES, "mem0-queue.jsonl", "a queue for a service that later versions do not know"),
    Evidence(*_INTO_MARCH, "open-problems.jsonl", "problems, which later versions do not note"),
    Evidence(*_INTO_MARCH, "completed-flows.jsonl", "flows, which later versions do not note"),
    Evidence(*_INTO_MARCH, "flows/*.json", "flows, which later versions do not note"),
    Evidence("before 7.0", "2026-01-28", "2026-03-02", "tool-preferences.json", "preferences in the store itself"),
    Evidence("7.0 or later", "2026-03-02", "", "project:.claude/feedback/tool-preferences.json", "preferences beside the store"),
)
_MEMORY_CAPTURE: Final = Evidence("6.0.22 to 7.1", "", "", decisions.PATH, "summaries of whole sessions")
_GRAPH: Final = Evidence("later than 7.1", "2026-06-16", "", graph_items.PATH, "the memory server's graph in the store itself")
_RULES_PATH: Final = f"project:{memory_md.RULES}"
_RULES: Final = Evidence("6.7 or later", "2026-02-28", "", _RULES_PATH, "decisions written into a file of rules instead of told")
_NAMED: Final = Evidence(*_QUEUES, decisions.PATH, "decisions that name who said them")
_NAMELESS: Final = Evidence("5.2.4", "", "2026-01-28", decisions.PATH, "decisions that do not name who said them")
_TRACKER: Final = Evidence("before mid-2026", "", "", session_events.PATH, "events that name person and machine")
_HOOK: Final = Evidence("up to today's", "", "", session_events.PATH, "events that name only the hook which ran")
_LAST: Final = "9999"


def written_by(names: Collection[str], samples: Mapping[str, Sequence[bytes]] | None = None) -> tuple[Evidence, ...]:
    """Give the signs of every version that wrote into a store, the oldest first; none where nothing tells.

    `names` are the paths of its source files, `samples` raw records of some of them by path. Several versions may have written
    one store, and an old one may still be in use: a record's own time says when, not by which version.
    """
    found = [sign for sign in _BY_NAME if _is_there(sign.file, names)]
    for path, raws in (samples or {}).items():
        found += _by_content(path, raws[:_LOOKED_AT])
    return tuple(sorted(dict.fromkeys(found), key=_age))


def _is_there(pattern: str, names: Collection[str]) -> bool:
    if "*" not in pattern:
        return pattern in names
    like = re.compile("[^/]*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    return any(like.fullmatch(name) for name in names)


def _age(evidence: Evidence) -> tuple[str, str, str]:
    return evidence.until or _LAST, evidence.since, evidence.file


def _by_content(path: str, raws: Iterable[bytes]) -> list[Evidence]:
    if path == decisions.PATH:
        return _by_decisions(raws)
    if path.startswith("sessions/") and path.endswith("/events.jsonl"):
        shapes = {session_events.shape_of(mapping(parse_raw(raw).value)) for raw in raws}
        return [sign for shape, sign in ((session_events.TRACKER, _TRACKER), (session_events.HOOK, _HOOK)) if shape in shapes]
    if path == graph_items.PATH:
        shapes = {graph_items.what_is(mapping(parse_raw(raw).value)) for raw in raws}
        return [_GRAPH] if shapes - {graph_items.FOREIGN} else []
    if path == _RULES_PATH:
        return [_RULES] if any(memory_md.BLOCK_HEADER.encode() in raw for raw in raws) else []
    return []


def _by_decisions(raws: Iterable[bytes]) -> list[Evidence]:
    found: list[Evidence] = []
    for raw in raws:
        record = mapping(parse_raw(raw).value)
        if isinstance(mapping(record.get("content")).get("what"), str):
            found.append(_NAMED if "identity" in record else _NAMELESS)
        elif decisions.foreign_shape(record) == "memory-capture":
            found.append(_MEMORY_CAPTURE)
    return found
