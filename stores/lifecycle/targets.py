"""What an action's targets are now, and what is wrong with the store's files, as the gate is told it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from stores.formats.phase_memory.aliases import Record, field
from stores.formats.phase_memory.vocabulary import ASSUMED_PHASE, PHASES

_NOTHING: Final[Mapping[str, object]] = {}


class TargetNow(NamedTuple):
    """One target as it stands in the store."""

    record_type: str
    id: str
    file: str
    """The path at which it was read; writes go there, never to a name made from an id."""
    digest: str
    """`sha256:…` of the parsed record; of a line, of its raw bytes."""
    record: Mapping[str, object] = _NOTHING
    """What it says, without a wrapper."""
    after_digest: str = ""
    """What its digest will be when the action is applied, once that is computed."""
    line: int = 0
    """Of a line: where it stood when it was read."""

    @property
    def phase(self) -> object:
        """Its phase, whatever its type; the assumed one where it names none."""
        given = self.record.get("phase")
        return ASSUMED_PHASE if given is None else given

    @property
    def state(self) -> object:
        """Its state by the name that its type has for it; "active" where it names none."""
        name = "lifecycle_state" if self.record_type in ("node", "edge") else "status" if self.record_type == "problem" else "state"
        given = field(self.record_type, self.record, name)
        return "active" if given is None and self.record_type in ("node", "edge") else given

    @property
    def durable(self) -> bool:
        """Whether changing it needs a review: also where nobody can tell its phase."""
        return self.record_type == "node" and self.phase not in PHASES[:2]


class StoreFault(NamedTuple):
    """Something wrong with a file of the store."""

    file: str
    """"" for the store itself."""
    code: str
    is_error: bool
    at_end: bool = False
    """Of a log: its last line cannot be read."""
    blocks: bool = False
    """Nothing at all is written to the store while it stands."""


def plain(record: object) -> Record:
    """Give a record as the fields that it has; none of anything that is no record."""
    return dict(record) if isinstance(record, Mapping) and all(isinstance(name, str) for name in record) else {}
