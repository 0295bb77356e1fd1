"""What only shows when all lines of a file, or several files, are looked at together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from stores.files import StoreRoot
from stores.mirror.look_at_flows import look_at_flows
from stores.mirror.look_at_mem0 import look_at_mem0
from stores.mirror.look_at_queue import look_at_queue
from stores.mirror.reading import OnProgress
from stores.models import SourceFile, Store


def look(store: Store, root: StoreRoot, sources: Mapping[str, SourceFile], now: datetime, progress: OnProgress) -> None:
    """Run the looks of this kind of store over its source files, given by path; `progress` is told between two transactions."""
    for record_type, check in _LOOKS.get(store.kind, {}).items():
        of_type = [source for source in sources.values() if source.record_type == record_type]
        if of_type:
            check(of_type, root, now, progress)


_LOOKS: dict[str, dict[str, Callable[[list[SourceFile], StoreRoot, datetime, OnProgress], None]]] = {
    "orchestkit": {
        "queue_operation": lambda sources, *more: look_at_queue(sources[0], *more),
        "flow": lambda sources, *_: look_at_flows(sources),
        "mem0_operation": lambda sources, *_: look_at_mem0(sources[0]),
    }
}
