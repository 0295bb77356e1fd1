"""Makes values that SQLite and PostgreSQL both hold out of what a store says (ruling 45); the raw bytes keep the truth."""

from __future__ import annotations

import json
import math
import re
import struct
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha256

NAME_LIMIT = 200
TITLE_LIMIT = 300
_FIRST_8_BYTES = struct.Struct(">q").unpack_from
_SURROGATES = re.compile("[\ud800-\udfff]")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST_MS = -62_135_596_800_000
"""0001-01-01T00:00:00Z."""
_LATEST_MS = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z."""
_SECONDS_BELOW = 100_000_000_000
"""Bare numbers below are seconds (until the year 5138), above milliseconds (from 1973 on)."""


def text(value: object, limit: int | None = None) -> str:
    """Give a value as text without NUL (shown as U+2400) and without lone surrogates (U+FFFD).

    Text comes as it is, nothing as "", anything else as compact JSON. With `limit` only so many characters.
    """
    if not isinstance(value, str):
        value = "" if value is None else _json(value)
    if limit is not None:
        value = value[:limit]
    if "\0" in value:
        value = value.replace("\0", "\u2400")
    if not value.isascii():
        value = _SURROGATES.sub("\ufffd", value)
    return value


def name(value: object) -> str:
    """Give a value as text of at most 209 characters: longer ones end in "…" and 8 hex digits of the whole's sha256."""
    if isinstance(value, str):
        # What can be printed holds neither NUL nor halves of surrogate pairs.
        if len(value) <= NAME_LIMIT and value.isprintable():
            return value
    elif value is None:
        return ""
    cleaned = text(value)
    if len(cleaned) <= NAME_LIMIT:
        return cleaned
    whole = value if isinstance(value, str) else cleaned
    return f"{cleaned[:NAME_LIMIT]}…{sha256(whole.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def title(value: object) -> str:
    """Give the first 300 characters of a value's text on one line, for lists."""
    if isinstance(value, str) and len(value) <= TITLE_LIMIT and value.isprintable():
        return value
    return " ".join(text(value, 4 * TITLE_LIMIT).split())[:TITLE_LIMIT]


def signed64(digest: bytes) -> int:
    """Give the first 8 bytes of a digest as a signed 64 bit number, big end first."""
    return int(_FIRST_8_BYTES(digest)[0])


def number(value: object) -> float | None:
    """Give a finite number, or None for anything else."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def moment(value: object) -> tuple[int, str]:
    """Read a time: milliseconds since 1970 UTC, and how far to trust them.

    ISO 8601 with any offset, and numbers of seconds or milliseconds, are "ok"; without an offset "naive", read as UTC
    (ruling 70); nothing is "missing"; everything else, also a year outside 1-9999, is "odd". Missing and odd ones give 0.
    """
    if isinstance(value, str):
        return _written_moment(value)
    if value is None:
        return 0, "missing"
    seconds = number(value)
    if seconds is None:
        return 0, "odd"
    return _within(round(seconds * 1000) if abs(seconds) < _SECONDS_BELOW else round(seconds), "ok")


# The time of one record is asked for several times in a row.
@lru_cache(maxsize=4)
def _written_moment(value: str) -> tuple[int, str]:
    try:
        read = datetime.fromisoformat(value)
    except ValueError:
        return (0, "odd") if value else (0, "missing")
    state = "ok"
    if read.tzinfo is None:
        read = read.replace(tzinfo=UTC)
        state = "naive"
    span = read - _EPOCH
    return _within(span.days * 86_400_000 + span.seconds * 1000 + span.microseconds // 1000, state)


def _within(ms: int, state: str) -> tuple[int, str]:
    return (ms, state) if _EARLIEST_MS <= ms <= _LATEST_MS else (0, "odd")


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    except (ValueError, RecursionError):
        return "(cannot be shown)"
