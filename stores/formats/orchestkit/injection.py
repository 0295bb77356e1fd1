"""Tells what OrchestKit's loader says to an agent at the start of a session, line by line, and what mending would change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from stores.formats import javascript
from stores.formats.causes import name_cause, whole_records
from stores.formats.javascript import TOO_DEEP
from stores.formats.js_values import JsTypeError, compact_line, joined, text_of, to_number, units
from stores.formats.orchestkit import whole_text
from stores.formats.orchestkit.decisions import TOLD_LINES
from stores.formats.orchestkit.values import mapping, strings, truthy
from stores.formats.orchestkit.whole_text import NumberedLine

CLASSIC: Final = "classic"
V7: Final = "v7"
DOCUMENTED: Final = "documented"
VARIANTS: Final = {
    CLASSIC: "As OrchestKit 6.0.2 did it",
    V7: "As OrchestKit 6.0.12 and later did it: the same text once, and no noise",
    DOCUMENTED: "In the form of OrchestKit's document, several lines an entry",
}
LIMIT: Final = 3000
"""UTF-16 units that the entries may take, the heading included."""

TOLD: Final = "told"
CORRUPT: Final = "corrupt"
BLANK: Final = "blank"
NOT_OBJECT: Final = "not_object"
NO_TEXT: Final = "no_text"
TOO_DEEP_TO_SHOW: Final = "too_deep"
DUPLICATE: Final = "duplicate"
NOISE: Final = "noise"
TOO_SHORT: Final = "too_short"
OVER_LIMIT: Final = "over_limit"
SILENCES: Final = "silences"
SILENCED: Final = "silenced"
REASONS: Final = {
    TOLD: "Told to the agent",
    CORRUPT: "No JSON: the line takes a place and tells nothing",
    BLANK: "Nothing but spaces: the line takes a place and tells nothing",
    NOT_OBJECT: "No record: the line takes a place and tells nothing",
    NO_TEXT: "A record without content.what, as other tools write them: the loader passes over it",
    TOO_DEEP_TO_SHOW: "Nested too deep to be read here: the loader would read it",
    DUPLICATE: "The same text stands in a later line, which is told",
    NOISE: "A warning or an error of a tool, taken for a decision",
    TOO_SHORT: "Shorter than 10 characters",
    OVER_LIMIT: f"The entries are longer than {LIMIT:,} characters: the rest is left out",
    SILENCES: "The loader throws at it, mostly for want of entities: the agent is told nothing at all",
    SILENCED: "Another of these lines makes the loader throw: the agent is told nothing at all",
}
"""What became of a line, in words."""

SILENCING: Final = "silencing"
DUPLICATES: Final = "duplicates"
MENDABLE: Final = frozenset({SILENCING, DUPLICATES, NOISE, CORRUPT})
"""What a clean-up may mend."""

_HEAD: Final = ("## Recent Project Decisions", "")
_MORE: Final = "- _(additional decisions available via mcp__memory__search_nodes)_"
_FOOT: Final = ("", "_For deeper graph traversal: use mcp__memory__search_nodes or mcp__memory__open_nodes_")
_SPACE: Final = f"[{re.escape(javascript.JS_WHITESPACE)}]"
_NOISE: Final = re.compile(f"selected the directory of|\u26a0{_SPACE}*Warning:|Error:|inferred your workspace", re.IGNORECASE | re.ASCII)
_LEAST_UNITS: Final = 10
_LABELS: Final = {"decision": "Decision", "preference": "Preference", "pattern": "Pattern"}


class Slot(NamedTuple):
    """One of the last lines of the log, which are all that the loader looks at."""

    line: int
    fate: str
    """A key of `REASONS`."""
    natural_id: str
    """The record's id as written, "" where there is none."""
    what: str
    """The record's text as the loader prints it."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What an agent would be told. Texts are as the store says them: hostile, and perhaps with half surrogates."""

    text: str
    """"" when nothing would be told."""
    items: int
    """Entries in the text."""
    dropped: tuple[tuple[int, str], ...]
    """(line, key of `REASONS`) of the lines that took a place and are not told."""
    throws: bool
    used: int
    """UTF-16 units of heading and entries; what stands below them is not counted by the loader either."""
    limit: int
    slots: tuple[Slot, ...]
    """In the order of the file."""


class Mended(NamedTuple):
    """One line that a clean-up would change."""

    line: int
    what: str
    """silencing, duplicates, noise or corrupt."""


@dataclass(frozen=True, slots=True)
class CleanUp:
    """What an agent would be told after a clean-up, and what that would have changed."""

    preview: Preview
    mended: tuple[Mended, ...]
    """Lines from the oldest that the loader would then see, in the order of the file."""


@dataclass(slots=True)
class _Place:
    """A line in the loader's hands."""

    line: int
    record: dict[str, object]
    fate: str = TOLD

    @property
    def what(self) -> object:
        return mapping(self.record.get("content")).get("what")


def preview(data: bytes, variant: str = CLASSIC) -> Preview:
    """Give what the loader would tell an agent, from the bytes of `decisions.jsonl`.

    Of a large log the end is enough: as many lines as the loader looks at, from one on that is not blank (with `preview_lines`).
    """
    seen: list[NumberedLine] = []
    for line in whole_text.lines_from_the_end(data):
        seen.append(line)
        if len(seen) == TOLD_LINES:
            break
    return preview_lines(seen[::-1], variant)


def preview_lines(lines: Sequence[NumberedLine], variant: str = CLASSIC) -> Preview:
    """Give what the loader would tell an agent of these lines, at most the last ten; empty ones must be left out."""
    places = [_place(number, line) for number, line in lines[-TOLD_LINES:]]
    told = [place for place in places if place.fate == TOLD]
    try:
        if variant == V7:
            told = _without_noise(_once(told))
        entry = _documented_entry if variant == DOCUMENTED else _entry
        parts, count = _entries(told[::-1], entry)
    except JsTypeError:
        for place in places:
            if place.fate in (TOLD, SILENCES):
                place.fate = SILENCES if place.fate == SILENCES or _silences(place.record, variant) else SILENCED
        return _preview("", 0, True, 0, places)
    if not told:
        return _preview("", 0, False, 0, places)
    shortened = count < len(told)
    text = "\n".join([*parts, *([_MORE] if shortened else []), *_FOOT])
    return _preview(text, count, False, units("\n".join(parts)), places)


def after_clean_up(data: bytes, variant: str = CLASSIC, mend: Iterable[str] = MENDABLE) -> CleanUp:
    """Give what an agent would be told if lines were mended; older lines move up into the places that become free.

    Corrupt lines give the whole records that are found in them, or none; blank ones and what is no record go with them. Of equal
    texts the newest stays, noise goes, and a record that silences the loader gets a list of what texts its entities hold, or goes.
    """
    wanted = frozenset(mend)
    kept: list[NumberedLine] = []
    mended: list[Mended] = []
    met: set[str] = set()
    for number, line in whole_text.lines_from_the_end(data):
        if len(kept) >= TOLD_LINES:
            break
        for piece, change in _mended(line, wanted, met, variant):
            if change:
                mended.append(Mended(number, change))
            if piece is not None:
                kept.append((number, piece))
    chosen = kept[:TOLD_LINES][::-1]
    return CleanUp(preview_lines(chosen, variant), tuple(mended[::-1]))


def _preview(text: str, count: int, throws: bool, used: int, places: list[_Place]) -> Preview:
    slots = tuple(_slot(place) for place in places)
    dropped = tuple((slot.line, slot.fate) for slot in slots if slot.fate != TOLD)
    return Preview(text, count, dropped, throws, used, LIMIT, slots)


def _slot(place: _Place) -> Slot:
    given = place.record.get("id")
    what = place.what
    return Slot(place.line, place.fate, given if isinstance(given, str) else "", _shown(what) if truthy(what) else "")


def _shown(value: object) -> str:
    try:
        return text_of(value)
    except JsTypeError:
        return "[object Object]"


def _place(number: int, line: bytes) -> _Place:
    parse = javascript.parse(line)
    if not parse.accepted:
        blank = not javascript.trim(line.decode("utf-8", "replace"))
        return _Place(number, {}, BLANK if blank else CORRUPT)
    if parse.value is TOO_DEEP:
        return _Place(number, {}, TOO_DEEP_TO_SHOW)
    if not isinstance(parse.value, dict):
        return _Place(number, {}, NOT_OBJECT)
    place = _Place(number, parse.value)
    if not truthy(place.what):
        place.fate = NO_TEXT
    return place


def _once(told: list[_Place]) -> list[_Place]:
    """Keep the last of equal texts; what is no text is equal only to itself."""
    last: dict[tuple[str, object], _Place] = {}
    for place in told:
        last[_key(place.what)] = place
    for place in told:
        if last[_key(place.what)] is not place:
            place.fate = DUPLICATE
    return [place for place in told if place.fate == TOLD]


def _key(what: object) -> tuple[str, object]:
    if isinstance(what, dict | list):
        return "object", id(what)
    return ("word", what) if isinstance(what, bool) else (("text" if isinstance(what, str) else "number"), what)


def _without_noise(told: list[_Place]) -> list[_Place]:
    for place in told:
        if _NOISE.match(text_of(place.what)):
            place.fate = NOISE
        elif not isinstance(place.what, str):
            place.fate = SILENCES
            raise JsTypeError("trim is no function")
        elif units(javascript.trim(place.what)) < _LEAST_UNITS:
            place.fate = TOO_SHORT
    return [place for place in told if place.fate == TOLD]


def _entries(told: list[_Place], entry: Callable[[_Place], str]) -> tuple[list[str], int]:
    """Give heading and entries, the newest first, as many as the limit allows."""
    parts = list(_HEAD)
    used = units("\n".join(parts))
    for count, place in enumerate(told):
        try:
            written = entry(place)
        except JsTypeError:
            place.fate = SILENCES
            raise
        used += 1 + units(written)
        if used > LIMIT:
            for left in told[count:]:
                left.fate = OVER_LIMIT
            return parts, count
        parts.append(written)
    return parts, len(told)


def _entry(place: _Place) -> str:
    label = "Preference" if place.record.get("type") == "preference" else "Decision"
    written = f"- **[{label}]** {text_of(place.what)}"
    why = mapping(place.record["content"]).get("why")
    if truthy(why):
        written += f" _(because: {text_of(why)})_"
    names = _names(place.record.get("entities"))
    return f"{written} [{joined(names, ', ')}]" if names else written


def _documented_entry(place: _Place) -> str:
    kind = place.record.get("type")
    label = _LABELS.get(kind, "Note") if isinstance(kind, str) else "Note"
    written = [f"- **[{label}]** {text_of(place.what)}"]
    why = mapping(place.record["content"]).get("why")
    if truthy(why):
        written.append(f"  _(because: {text_of(why)})_")
    names = _names(place.record.get("entities"))
    if names:
        written.append("  " + ", ".join(f"`{text_of(name)}`" for name in names))
    return "\n".join(written)


def _names(entities: object) -> list[object]:
    """Give the entities that are printed; raises where asking for their number, or joining them, throws."""
    if isinstance(entities, list):
        return entities
    if entities is None:
        raise JsTypeError("no entities")
    length = units(entities) if isinstance(entities, str) else to_number(mapping(entities).get("length", "no number"))
    if length > 0:
        raise JsTypeError("entities are no list")
    return []


def _mended(line: bytes, wanted: frozenset[str], met: set[str], variant: str) -> list[tuple[bytes | None, str]]:
    """Give what a clean-up makes of a line, its last piece first: (bytes or nothing, what was mended or "")."""
    place = _place(0, line)
    if CORRUPT not in wanted or place.fate not in (CORRUPT, BLANK, NOT_OBJECT):
        return [_mended_record(line, wanted, met, variant)]
    pieces = whole_records(line) if place.fate == CORRUPT and name_cause(line).salvageable else ()
    found: list[tuple[bytes | None, str]] = [(None, CORRUPT)]
    found += [_mended_record(piece, wanted, met, variant) for piece in reversed(pieces)]
    return found


def _mended_record(line: bytes, wanted: frozenset[str], met: set[str], variant: str) -> tuple[bytes | None, str]:
    place = _place(0, line)
    if place.fate != TOLD:
        return line, ""
    what = place.what
    if isinstance(what, str):
        if DUPLICATES in wanted and what in met:
            return None, DUPLICATES
        if NOISE in wanted and (_NOISE.match(what) or units(javascript.trim(what)) < _LEAST_UNITS):
            return None, NOISE
        met.add(what)
    if SILENCING not in wanted or not _silences(place.record, variant):
        return line, ""
    record = place.record | {"entities": strings(place.record.get("entities"))}
    return (None if _silences(record, variant) else compact_line(record)[:-1]), SILENCING


def _silences(record: dict[str, object], variant: str) -> bool:
    """Say whether the loader throws at a record."""
    place = _Place(0, record)
    try:
        if variant == V7 and not _without_noise([place]):
            return False
        _entry(place)
    except JsTypeError:
        return True
    return False
