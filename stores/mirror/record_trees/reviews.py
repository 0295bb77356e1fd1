"""Says of each durable node whether the store's audit log has a reviewed change of it."""

from __future__ import annotations

from stores.mirror.counters import FacetDeltas
from stores.mirror.saving import quick_transaction
from stores.models import AuditTarget, Node, Store

REVIEWED, NEVER = "reviewed", "never"


def mark(store: Store) -> None:
    """Bring `Node.review` up to date; it costs two statements where nothing changed."""
    approved = AuditTarget.objects.filter(
        store=store, target_type="node", record__applied=True, record__approved=True, record__gone_at__isnull=True
    ).values("target_id")
    live = Node.objects.filter(store=store, gone_at__isnull=True)
    with quick_transaction():
        came = live.filter(review=NEVER, natural_id__in=approved).update(review=REVIEWED)
        went = live.filter(review=REVIEWED).exclude(natural_id__in=approved).update(review=NEVER)
        if came != went:
            deltas = FacetDeltas()
            deltas.add_counts("node", "review", {REVIEWED: came - went, NEVER: went - came})
            deltas.save(store.pk)
