"""Nodes of a store to choose from: found by their words or their id, or the newest."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from stores.formats import storable
from stores.formats.phase_memory.reading import LONGEST_ID
from stores.formats.record_keys import record_key
from stores.formats.search_text import QUERY_LIMIT, parse_query
from stores.formats.secrets import find_secrets
from stores.mirror.text_index import matching_statement
from stores.models import Node, Store
from stores.selectors.records import any_of
from stores.selectors.walks import at_once

SHOWN: Final = 20
_LOOKED_AT: Final = 200


class NodeChoice(NamedTuple):
    """A node that can be chosen."""

    id: str
    title: str
    phase: str
    state: str


def find_nodes(store: Store, text: str, states: Collection[str], but: Collection[str] = ()) -> list[NodeChoice]:
    """Give up to 20 nodes in some states that have all words of a text, or its id; the newest for an empty text. Two queries."""
    live = _live(store)
    typed = " ".join(storable.text(text)[:QUERY_LIMIT].split())
    if typed:
        (found,) = at_once([matching_statement(Node, parse_query(typed), [store.pk], _LOOKED_AT)])
        live = live.filter(pk__in=any_of([row[0] for row in found])) | live.filter(key=record_key(typed, b""), natural_id=typed)
    if states:
        live = live.filter(state__in=sorted(states))
    listed = _choices(live.order_by("-at_ms", "-id")[: SHOWN + len(but) + SHOWN])
    return [one for one in listed if one.id not in but][:SHOWN]


def nodes_named(store: Store, ids: Iterable[str]) -> list[NodeChoice]:
    """Give the nodes with these ids, in their order; ids that no live node has are left out. One query."""
    wanted = list(dict.fromkeys(one for one in ids if len(one) <= LONGEST_ID))[:1_000]
    rows = _live(store).filter(key__in=[record_key(one, b"") for one in wanted], natural_id__in=wanted)
    found = {one.id: one for one in _choices(rows)}
    return [found[one] for one in wanted if one in found]


def _live(store: Store) -> Any:
    return Node.objects.filter(store=store, gone_at__isnull=True, is_duplicate=False, unreadable_since__isnull=True)


def _choices(rows: Iterable[Node]) -> Sequence[NodeChoice]:
    """Give what can be shown as it is: an id that holds a secret or what cannot be seen is chosen by typing it."""
    shown = [one for one in rows if one.natural_id.isprintable() and len(one.natural_id) <= LONGEST_ID]
    return [NodeChoice(one.natural_id, one.title, one.phase, one.state) for one in shown if not find_secrets(one.natural_id)]
