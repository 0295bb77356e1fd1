"""Reads values of OrchestKit records as its JavaScript would take them, whatever their types."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from hashlib import sha256
from typing import Final

from stores.formats import javascript, lines, storable

NOTHING: Final[dict[str, object]] = {}
MOST_VALUES: Final = 300_000
"""Values of one file that are made: a million empty objects take 3 MB on disk and 80 in memory."""
_MOST: Final = (1 << 31) - 1


def mapping(value: object) -> dict[str, object]:
    """Give an object's fields; none for anything else."""
    return value if isinstance(value, dict) else NOTHING


def items(value: object) -> list[object]:
    """Give a list's items; none for anything else."""
    return value if isinstance(value, list) else []


def truthy(value: object) -> bool:
    """Say what JavaScript takes for true: every object and list, also empty ones."""
    return True if isinstance(value, dict | list) else bool(value)


def count(value: object) -> int:
    """Count a list's items; -1 when there is no list because the field is absent or null, 0 for what is no list."""
    if isinstance(value, list):
        return len(value)
    return -1 if value is None else 0


def strings(value: object) -> list[str]:
    """Give the texts in a list, or the one text itself; objects give their `name`, as OrchestKit's renderers take them."""
    if isinstance(value, str):
        return [value]
    found: list[str] = []
    for item in items(value):
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, dict) and isinstance(item.get("name"), str):
            found.append(item["name"])
    return found


def texts(value: object) -> tuple[str, ...]:
    """Give a list's items as storable texts, or the one value itself; none for nothing."""
    if isinstance(value, list):
        return tuple(storable.text(item) for item in value)
    return () if value is None else (storable.text(value),)


def fields(value: dict[str, object], without: Collection[str] = ()) -> tuple[tuple[str, str], ...]:
    """Give an object's fields by name, as storable texts; what is no text comes as JSON."""
    return tuple((storable.text(key), storable.text(field)) for key, field in value.items() if key not in without)


def whole_number(value: object) -> int:
    """Give a count as any database holds it: 0 for what is no number, cut at 32 bit."""
    number = storable.number(value)
    return 0 if number is None else int(max(-_MOST, min(_MOST, number)))


def leaves(value: object, limit: int = 2000) -> Iterable[str]:
    """Give every text inside a value, at most `limit` of them, keys left out."""
    found: list[str] = []
    todo = [value]
    while todo and len(found) < limit:
        item = todo.pop()
        if isinstance(item, str):
            found.append(item)
        elif isinstance(item, Mapping):
            todo += reversed(list(item.values()))
        elif isinstance(item, list):
            todo += reversed(item)
    return found


def same_text_hash(what: str, one_line: bool = False) -> int:
    """Give a number that is equal for texts which differ only in case, spacing and compatibility forms; 0 without text.

    `one_line` tells that the text is printable, so that spaces are its only white space.
    """
    if what.isascii():
        normal = what.lower()
        if not one_line or "  " in what or what[:1] == " " or what[-1:] == " ":
            normal = " ".join(normal.split())
    else:
        normal = " ".join(unicodedata.normalize("NFKC", what).casefold().split())
    return storable.signed64(sha256(normal.encode("utf-8", "surrogatepass")).digest()) if normal else 0


def has_too_many_values(data: bytes) -> bool:
    """Say whether the values of a file would fill the memory; no line is ever long enough for that."""
    return len(data) > lines.CAP and data.count(b",") > MOST_VALUES


def parse_raw(raw: bytes) -> javascript.JsParse:
    """Read a record's raw line again, with the whitespace around it that only the first or the last line of a file may have.

    A record of very many values, which only a whole file can be, comes as one that is nested too deep to be shown.
    """
    if has_too_many_values(raw):
        return javascript.JsParse(True, javascript.TOO_DEEP, (), "")
    parse = javascript.parse(raw)
    if not parse.accepted:
        text = javascript.trim(raw.decode("utf-8", "surrogateescape"))
        parse = javascript.parse(text.encode("utf-8", "surrogateescape"))
    return parse
