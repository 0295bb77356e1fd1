"""Takes one record's bytes apart for its page."""

from __future__ import annotations

from collections.abc import Mapping

from stores.formats import strict
from stores.formats.phase_memory.aliases import Record, unwrapped


def value_of(record_type: str, raw: bytes) -> Record:
    """Give what a record's bytes say, without a wrapper; an empty record for what cannot be read."""
    judged = strict.judge(raw.strip(b" \t\r\n"), needs_id=False, knows_schema=_every_version, find_id=_no_id)
    return {} if judged.refused else unwrapped(record_type, judged.value)


def _every_version(given: object) -> bool:
    return True


def _no_id(record: Mapping[str, object]) -> object:
    return None
