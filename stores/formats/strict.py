"""The strict verdict on one JSON text: what the kinds that must not guess take, and what they refuse (ruling 23)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from stores.formats import causes, identifiers, javascript, storable

DEPTH_CAP: Final = 64
_LATEST_MS: Final = 4_102_444_800_000
"""2100-01-01: no clock of today goes so far ahead."""
_TOO_MANY_DIGITS: Final = re.compile(r"[0-9]{4301}")
_KNOWN_SCHEMA: Final = re.compile(r"(?:phase_memory|markitect|memoryui)(?:\.[a-z_]+)+\.v1")
_BOM: Final = b"\xef\xbb\xbf"
_TOLD: Final = frozenset({"nul", "lone_surrogate", "int_range"})
_NOTHING: Final = frozenset[str]()


class StrictText(NamedTuple):
    """One text, judged."""

    refused: str
    """"" or the code of samples/hostile/INDEX.md rule 3 under which it is refused."""
    value: dict[str, object]
    id: str
    flags: tuple[str, ...]
    salvageable: int
    """Whole records that a person may rescue from a refused text."""


def judge(
    data: bytes,
    *,
    needs_id: bool = True,
    knows_schema: Callable[[object], bool] | None = None,
    find_id: Callable[[dict[str, object]], object] = identifiers.record_id,
    plain: dict[str, object] | None = None,
) -> StrictText:
    """Judge a text that must be one JSON object with a usable id; nothing is raised.

    A byte order mark in front and one carriage return behind are forgiven and flagged. `knows_schema` says which
    `schema_version` is known; by default every first version is. `find_id` gives what a record says as its id. `plain` is what the
    text says where its caller knows that nothing is odd about its bytes (`canonical.plain_file`).
    """
    flags: set[str] = set()
    if plain is None and data.endswith(b"\r"):
        data = data[:-1]
        flags.add("crlf")
    if plain is None and data.startswith(_BOM):
        data = data[len(_BOM) :]
        flags.add("bom")
    code, value, warnings, salvageable = _decode(data) if plain is None else ("", plain, _NOTHING, 0)
    if code:
        return StrictText(code, {}, "", tuple(sorted(flags)), salvageable)
    if not isinstance(value, dict):
        return StrictText("not_object", {}, "", tuple(sorted(flags)), 0)
    given = find_id(value)
    if not identifiers.is_usable(given) and (needs_id or given is not None):
        return StrictText("bad_id", value, "", tuple(sorted(flags)), 0)
    if warnings:
        flags |= warnings & _TOLD
    if "schema_version" in value and not (knows_schema or _is_first_version)(value["schema_version"]):
        flags.add("unknown_schema")
    odd = _odd_time(value["timestamp"]) if "timestamp" in value else ""
    if odd:
        flags.add(odd)
    return StrictText("", value, given if isinstance(given, str) else "", tuple(sorted(flags)) if flags else (), 0)


def is_surely_shallow(data: bytes) -> bool:
    """Say whether a text cannot be nested too deep, by a rough look."""
    return data.count(b"[") + data.count(b"{") <= DEPTH_CAP


def _decode(data: bytes) -> tuple[str, object, frozenset[str], int]:
    """Give (code of the refusal, value, what is odd, whole records within)."""
    if is_surely_shallow(data):
        value = javascript.parse_plain(data)
        if value is not javascript.ODD:
            return "", value, _NOTHING, 0
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return "bad_utf8", None, _NOTHING, 0
    if javascript.depth(text) > DEPTH_CAP:
        return "too_deep", None, _NOTHING, 0
    parse = javascript.parse(data)
    if not parse.accepted:
        glued = causes.find_glued(text) if parse.cause == "bad_json" else None
        return ("glued", None, _NOTHING, glued.salvageable) if glued else (parse.cause, None, _NOTHING, 0)
    for code in ("dup_key", "nan"):
        if code in parse.warnings:
            return code, None, _NOTHING, 0
    if "int_range" in parse.warnings and _TOO_MANY_DIGITS.search(javascript.without_strings(text)):
        return "bad_number", None, _NOTHING, 0
    return "", parse.value, frozenset(parse.warnings), 0


def _is_first_version(given: object) -> bool:
    return isinstance(given, str) and _KNOWN_SCHEMA.fullmatch(given) is not None


def _odd_time(given: object) -> str:
    if not isinstance(given, str):
        return "bad_timestamp"
    ms, state = storable.moment(given)
    if state == "naive":
        return "naive_timestamp"
    if state != "ok":
        return "bad_timestamp"
    return "future_timestamp" if ms >= _LATEST_MS else ""
