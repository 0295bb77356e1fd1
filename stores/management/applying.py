"""What the commands that change a store do alike: whose store it is, who acts, and bringing the mirror up to date afterwards."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from stores.apply.steps import Actor
from stores.errors import BadRequest, MemoryUIError
from stores.formats.base import Kind
from stores.formats.orchestkit import KIND as ORCHESTKIT
from stores.formats.orchestkit import Trouble
from stores.formats.secrets import mask
from stores.formats.visible import one_line
from stores.management.base import store_named, terminal_actor
from stores.management.importing import import_patiently
from stores.models import Store
from stores.worker.identity import require_ours, this_worker

SHOWN = 20
"""Lines of one sort that are listed on a terminal; --json gives all."""


def own_store(slug: str, kind: Kind = ORCHESTKIT) -> Store:
    """Give a store of this host and of one kind; raises UnknownStore, OtherHost, or BadRequest for one of another kind."""
    store = store_named(slug)
    require_ours(store, this_worker())
    if store.kind != kind.name:
        raise BadRequest(f"Store {store.slug} is of the kind {store.kind}; this command is about {kind.title} stores.")
    return store


def actor() -> Actor:
    """Give whoever sits at this terminal."""
    return Actor(terminal_actor(), "terminal")


def bring_up_to_date(store: Store, say: Callable[[str], None]) -> None:
    """Import what was just written, so that pages show it even where no worker runs; the change stands in any case."""
    try:
        import_patiently(store, full=False, show=None, say=say)
    except MemoryUIError as err:
        say(f"The mirror of {store.slug} is not up to date yet: {err}")


def troubles(found: Iterable[Trouble]) -> list[dict[str, Any]]:
    """Give lines and reasons for a JSON document."""
    return [{"line": one.line, "reason": mask(one.reason)} for one in found]


def shown(names: Iterable[str]) -> str:
    """Name some of many, in one line, without secrets."""
    listed = [one_line(mask(name)) for name in names]
    more = f" and {len(listed) - SHOWN:,} more" if len(listed) > SHOWN else ""
    return ", ".join(name if len(name) <= 60 else f"{name[:59]}…" for name in listed[:SHOWN]) + more
