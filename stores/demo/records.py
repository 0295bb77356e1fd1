"""Records as OrchestKit's writers made them: one line of compact JSON each, keys in their order (docs/formats.md)."""

from __future__ import annotations

from datetime import UTC, datetime

from stores.formats.js_values import compact_line
from stores.formats.orchestkit import remembering
from stores.formats.orchestkit.remembering import base36


def milliseconds(moment: datetime) -> int:
    """Give milliseconds since 1970 UTC."""
    return int(moment.timestamp() * 1000)


def iso(moment: datetime) -> str:
    """Give a time as JavaScript's `toISOString` does."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def record_id(kind: str, moment: datetime, chance: int) -> str:
    """Give `<type>-<milliseconds in base 36>-<random in base 36>`."""
    return remembering.record_id(kind, milliseconds(moment), base36(chance)[-6:])


def line(record: object) -> bytes:
    """Give a record as its line without the line break."""
    return compact_line(record)[:-1]
