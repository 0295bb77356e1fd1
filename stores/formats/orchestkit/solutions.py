"""Reads `problem-solutions.jsonl`: which output was taken for the solution of which problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from stores.formats import storable
from stores.formats.base import FileSpec, Severity
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.judged import Judged, JudgedLineReader, Oddity, bare_title, no_object
from stores.formats.orchestkit.values import count, fields, leaves, mapping, parse_raw, strings
from stores.formats.search_text import search_text

PATH: Final = "problem-solutions.jsonl"
_KNOWN: Final = (
    "problem_id",
    "problem_text",
    "solution_text",
    "tool",
    "file",
    "entities",
    "confidence",
    "paired_at",
    "session_id",
    "project",
)


@dataclass(frozen=True, slots=True)
class SolutionDetail:
    """Everything that one pair of problem and solution says."""

    problem_id: str = ""
    problem: str = ""
    solution: str = ""
    tool: str = ""
    file: str = ""
    entities: tuple[str, ...] = ()
    confidence: str = ""
    paired: str = ""
    session: str = ""
    project: str = ""
    other: tuple[tuple[str, str], ...] = ()


class SolutionReader(JudgedLineReader):
    """Reads pairs of problem and solution; one problem may have several."""

    lost = "the solution is forgotten"
    subject_type = "problem_solution"

    def judge(self, value: object) -> Judged:
        """Read one pair."""
        pair = mapping(value)
        problem, solution = pair.get("problem_text"), pair.get("solution_text")
        values = (
            storable.name(pair.get("problem_id")),
            storable.title(problem or solution) if pair else bare_title(value),
            storable.name(pair.get("tool")),
            storable.name(pair.get("project")),
            storable.name(pair.get("session_id")),
            storable.number(pair.get("confidence")),
            count(pair.get("entities")),
            *storable.moment(pair.get("paired_at")),
        )
        odd = no_object(value, "solution")
        if isinstance(value, dict) and not (isinstance(problem, str) and isinstance(solution, str)):
            odd = (Oddity("foreign_shape", Severity.INFO, "Not in OrchestKit's form: it has no text of problem or solution"),)
            return Judged(values, "", search_text(*leaves(value)), odd)
        texts = [*leaves(problem), *leaves(solution), *leaves(pair.get("file")), *strings(pair.get("entities"))]
        return Judged(values, "", search_text(*texts), odd)


def solution_detail(raw: bytes) -> SolutionDetail:
    """Take one pair apart, given its line's bytes; nothing is raised."""
    pair = mapping(parse_raw(raw).value)
    text = {key: storable.text(pair.get(key)) for key in _KNOWN}
    return SolutionDetail(
        problem_id=text["problem_id"],
        problem=text["problem_text"],
        solution=text["solution_text"],
        tool=text["tool"],
        file=text["file"],
        entities=tuple(storable.text(name) for name in strings(pair.get("entities"))),
        confidence=text["confidence"],
        paired=text["paired_at"],
        session=text["session_id"],
        project=text["project"],
        other=fields(pair, _KNOWN),
    )


SPEC: Final = FileSpec(path=PATH, record_type="problem_solution", append_only=True, columns=columns.PROBLEM_SOLUTION, reader=SolutionReader)
