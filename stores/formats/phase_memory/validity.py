"""Says whether a record has what every record of its type must have (docs/formats.md)."""

from __future__ import annotations

from typing import Final

from stores.formats.phase_memory.aliases import Record, field
from stores.formats.phase_memory.values import is_number
from stores.formats.phase_memory.vocabulary import RECORD_VERSIONS

_TEXTS: Final[dict[str, tuple[str, ...]]] = {"node": ("kind",), "edge": ("kind", "source", "target"), "path": ("state",)}
_LISTS: Final = {"path": "event_ids", "activation": "node_ids"}
_NUMBERS: Final = ("confidence", "strength", "weight")


def has_unknown_version(record_type: str, record: Record) -> bool:
    """Say whether a record file names another version than the known one; none is fine."""
    return "schema_version" in record and record["schema_version"] != RECORD_VERSIONS[record_type]


def wrong_field(record_type: str, record: Record) -> str:
    """Give the first field of an unwrapped record that is missing or of a wrong type, "" when all are right."""
    for name in _TEXTS.get(record_type, ()):
        if not isinstance(field(record_type, record, name), str):
            return name
    listed = _LISTS.get(record_type, "")
    if listed and not _is_id_list(record.get(listed)):
        return listed
    for name in _NUMBERS:
        value = record.get(name)
        if value is not None and not is_number(value):
            return name
    return ""


def _is_id_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
