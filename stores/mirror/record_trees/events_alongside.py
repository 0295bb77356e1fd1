"""Takes up the events of a store for its rules while the mirror reads their log, so that nobody parses a long log twice."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import msgspec

from stores.formats.phase_memory.event_facts import EventFacts
from stores.health.phase_memory import EventLog
from stores.mirror.packs import Pack

_decode: Final = msgspec.msgpack.Decoder(list[EventFacts]).decode


class EventsAlongside:
    """What the rules know of the log, where it is read from its start to its end during one import."""

    def __init__(self, versions: Collection[str]) -> None:
        self._log: EventLog | None = EventLog(versions)
        self._is_whole = False

    def take(self, start: int, pack: Pack) -> None:
        """Take up a pack of the reading that began at an offset; one that is not from the start is left to the rules themselves."""
        if start:
            self._log = None
        if self._log is None:
            return
        try:
            self._log.take(_decode(pack.facts))
        except msgspec.MsgspecError:
            self._log = None
        self._is_whole = pack.end_state is not None

    @property
    def log(self) -> EventLog | None:
        """What the log says; None where it was not read whole, or something in it could not be handed over."""
        return self._log if self._is_whole else None
