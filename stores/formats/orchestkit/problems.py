"""Reads `open-problems.jsonl`: what agents ran into, and what solved it."""

from __future__ import annotations

import re
from typing import Final

from stores.formats import storable
from stores.formats.base import Fault, FileSpec, Line, LineClass, Parsed, Severity
from stores.formats.javascript import TOO_DEEP
from stores.formats.orchestkit import columns
from stores.formats.orchestkit.reading import OrchestKitReader
from stores.formats.orchestkit.values import count, leaves, mapping, strings
from stores.formats.search_text import search_text

PATH: Final = "open-problems.jsonl"
PROBLEM_ID: Final = re.compile(r"prob-[0-9a-z]{8}-[0-9a-z]{1,6}\Z")


class ProblemReader(OrchestKitReader):
    """Reads problems one by one."""

    lost = "OrchestKit passes over it, so the problem is never solved"
    subject_type = "problem"

    def record(self, line: Line, value: object, warnings: tuple[str, ...]) -> Parsed:
        """Read one problem, or whatever object stands in its place."""
        if not isinstance(value, dict):
            title = "" if value is TOO_DEEP else storable.title(value)
            faults = (
                ()
                if value is TOO_DEEP
                else (self.fault(line, "not_object", Severity.WARNING, "Valid JSON, but no problem: OrchestKit passes over it"),)
            )
            return Parsed(LineClass.RECORD, ("", title, "", "", None, 0, "missing", None, "", -1), "", search_text(title), faults)
        given = value.get("id")
        natural_id = storable.name(given) if isinstance(given, str) else ""
        text = value.get("text")
        solution = mapping(value.get("solution"))
        solved_ms, solved_state = storable.moment(solution.get("timestamp"))
        at_ms, at_state = storable.moment(value.get("timestamp"))
        values = (
            storable.name(value.get("status")),
            storable.title(text),
            storable.name(value.get("project")),
            storable.name(value.get("session_id")),
            storable.number(value.get("confidence")),
            at_ms,
            at_state,
            solved_ms if solved_state in ("ok", "naive") else None,
            storable.name(solution.get("tool")),
            count(value.get("entities")),
        )
        texts = [*leaves(text), *leaves(solution.get("text")), *leaves(solution.get("file")), *strings(value.get("entities"))]
        return Parsed(LineClass.RECORD, values, natural_id, search_text(*texts), self._faults(line, natural_id, text))

    def _faults(self, line: Line, natural_id: str, text: object) -> tuple[Fault, ...]:
        if not isinstance(text, str):
            return (self.fault(line, "foreign_shape", Severity.INFO, "Not in OrchestKit's form: agents find no text in it", natural_id),)
        if not natural_id or not natural_id.isprintable():
            return (
                self.fault(
                    line, "bad_id", Severity.WARNING, "No usable id: reviews and links know this problem only by its line", natural_id
                ),
            )
        if not PROBLEM_ID.match(natural_id):
            return (
                self.fault(
                    line, "odd_id", Severity.INFO, "An id that OrchestKit's writer would not make: agents do not look at it", natural_id
                ),
            )
        return ()


SPEC: Final = FileSpec(path=PATH, record_type="problem", append_only=False, columns=columns.PROBLEM, reader=ProblemReader)
