"""Which decision a queue operation comes from: the one whose id its first entity, or the start of its first relation, has."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stores.formats.record_keys import record_key
from stores.models import Decision, QueueOperation


class Origin(NamedTuple):
    """A decision."""

    id: int
    title: str


def origins(operations: Sequence[QueueOperation]) -> dict[int, Origin]:
    """Give the origin of each operation that has one among the live decisions of its store, by the operation's id. One query."""
    wanted = {(one.store_id, one.decision_id): decision_key(one.decision_id) for one in operations if one.decision_id}
    if not wanted:
        return {}
    found = decisions_with_keys({store_id for store_id, _ in wanted}, set(wanted.values()))
    by_id = {(one.store_id, one.natural_id): Origin(one.pk, one.title) for one in found}
    keys = {one.pk: (one.store_id, one.decision_id) for one in operations}
    return {pk: by_id[key] for pk, key in keys.items() if key in by_id}


def decisions_with_keys(store_ids: Iterable[int], keys: Iterable[int]) -> list[Decision]:
    """Give the live decisions of some stores that have one of these identities (ruling 31). One query."""
    return list(
        Decision.objects.filter(
            file__store_id__in=list(store_ids), file__record_type=Decision.record_type, key__in=list(keys), gone_at__isnull=True
        )
        .only("pk", "store_id", "natural_id", "title")
        .order_by("pk")
    )


def decision_key(natural_id: str) -> int:
    """Give the identity under which the mirror keeps a record with this id."""
    return record_key(natural_id, b"")
