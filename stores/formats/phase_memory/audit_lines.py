"""The line that we add to a store's audit log, chained to the one before (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Mapping

from stores.formats import canonical
from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.vocabulary import AUDIT_VERSION


def audit_line(last: Record | None, fields: Mapping[str, object]) -> bytes:
    """Give a line with these fields that follows the last well-formed record of the log, None for an empty log.

    Where that one carries no sequence the log is not chained, and neither is the new line.
    """
    record: Record = {"schema_version": AUDIT_VERSION, **fields}
    if last is None:
        record |= {"sequence": 1, "previous_digest": None}
    else:
        sequence = unwrapped("audit", last).get("sequence")
        if isinstance(sequence, int) and not isinstance(sequence, bool):
            record |= {"sequence": sequence + 1, "previous_digest": canonical.digest(last)}
    return canonical.log_line(record)
