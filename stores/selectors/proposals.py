"""What may be proposed about a record and what is proposed already; and what a plan of a store would propose."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any, Final, NamedTuple

from django.db.models import Q
from django.urls import reverse

from stores.errors import BadRequest
from stores.formats import storable
from stores.formats.phase_memory.reading import LONGEST_ID
from stores.formats.secrets import find_secrets
from stores.lifecycle.states import OPEN, REJECTED_DAYS, State
from stores.lifecycle.vocabulary import PHASE_MEMORY, VERBS, Verb, verb_named
from stores.models import ActionTarget, Decision, LifecycleAction, MemoryPath, MirroredRecord, Node, Profile, Store
from stores.review import offering, planning
from stores.selectors.record_detail import same_text, text_of

ACTIONS_SHOWN: Final = 20
KNOWN_IDS: Final = 200
PLAN_SHOWN: Final = 200
_ABOUT: Final = frozenset({"node", "edge", "path", "profile", "decision", "problem", "queue_operation"})
"""Types of records that actions are about."""


class Offer(NamedTuple):
    """Something that may be proposed, and where."""

    verb: Verb
    url: str


class RecordActions(NamedTuple):
    """What a record's page says of actions."""

    open: list[LifecycleAction]
    offers: list[Offer]


def record_actions(record: MirroredRecord, faults: Collection[str] = (), *, has_doubles: bool = False) -> RecordActions:
    """Give the open actions on a record and what may be proposed about it; one query, none for a type that no action is about."""
    if record.record_type not in _ABOUT or record.store.kind not in VERBS:
        return RecordActions([], [])
    verbs = offering.offered(record, faults, has_doubles=has_doubles)
    offers = [Offer(verb, reverse("propose_on_record", args=[record.record_type, record.pk, verb.name])) for verb in verbs]
    return RecordActions(_open_actions(record), offers)


def _open_actions(record: MirroredRecord) -> list[LifecycleAction]:
    line = bytes(record.sha256).hex()
    named = Q(record_type=record.record_type, target_id__in=[record.natural_id, line]) | Q(record_type="line", target_id=line)
    named |= Q(record_type="file", target_id=record.file_path)
    targets = ActionTarget.objects.filter(named, action__store=record.store_id, action__state__in=sorted(OPEN))
    found = targets.select_related("action").order_by("action__due_at", "action_id")[:ACTIONS_SHOWN]
    return list({target.action_id: target.action for target in found}.values())


class Double(NamedTuple):
    """A decision with exactly the same text."""

    target_id: str
    record: Decision


def doubles_of(record: MirroredRecord) -> list[Double]:
    """Give the other decisions with the same text as an action names them; three queries and one for each."""
    if not isinstance(record, Decision):
        return []
    rows = Decision.objects.select_related("text").in_bulk([row.pk for row in same_text(record).rows])
    return [Double(offering.target_id(row, bytes(text_of(row).raw)), row) for row in rows.values() if row.file_id == record.file_id]


def known_ids(store: Store, model: type[Node] | type[MemoryPath], but: str = "") -> list[str]:
    """Give ids that a field offers: the newest of live records, those left out that cannot be shown as they are. One query."""
    live: Any = model._default_manager
    rows = live.filter(store=store, gone_at__isnull=True, is_duplicate=False).order_by("-at_ms", "-id")
    names = rows.values_list("natural_id", flat=True)[:KNOWN_IDS]
    return [name for name in names if name != but and name.isprintable() and len(name) <= LONGEST_ID and not find_secrets(name)]


class Planned(NamedTuple):
    """One action of a plan."""

    verb: str
    tier: str
    target_type: str
    target_ids: list[str]
    """The first of them."""
    number: int
    reason: str
    requires_review: bool
    known: LifecycleAction | None
    """The same action in the queue, or rejected lately."""


class PlanPage(NamedTuple):
    """What a plan would propose now."""

    rows: list[Planned]
    total: int
    new: int
    """Actions that would be queued."""
    left_out: list[str]
    refused: str
    """Why nothing can be planned; "" where it can."""
    profiles: list[str]
    digest: str
    """What stands for these actions in the form."""
    plan: planning.Plan | None


def plan_page(store: Store, now: datetime, *, profile: str = "", repairs: bool = False) -> PlanPage:
    """Plan for a store as its mirror is; nothing is queued."""
    names = _profiles(store)
    if store.imported_at is None:
        return PlanPage([], 0, 0, [], "No import of this store has ended, so nothing is known of it.", names, "", None)
    try:
        made = planning.plan(store, planning.Asked(now, profile, repairs=repairs))
    except BadRequest as err:
        return PlanPage([], 0, 0, [], str(err), names, "", None)
    known = _known(store, [str(action["action_id"]) for action in made.actions], now)
    rows = [_planned(store, action, known.get(str(action["action_id"]))) for action in made.actions]
    digest = sha256("\n".join(str(action["action_id"]) for action in made.actions).encode()).hexdigest()
    new = sum(row.known is None for row in rows)
    return PlanPage(rows[:PLAN_SHOWN], len(rows), new, made.left_out, "", names, digest, made)


def _profiles(store: Store) -> list[str]:
    if store.kind != PHASE_MEMORY:
        return []
    live = Profile.objects.filter(store=store, gone_at__isnull=True, is_duplicate=False, unreadable_since__isnull=True)
    return list(live.order_by("natural_id").values_list("natural_id", flat=True)[:KNOWN_IDS])


def _planned(store: Store, action: dict[str, object], known: LifecycleAction | None) -> Planned:
    verb, ids = verb_named(store.kind, action["action"]), action["target_ids"]
    listed = [storable.name(one) for one in ids if isinstance(one, str)] if isinstance(ids, list) else []
    return Planned(
        str(action["action"]),
        str(verb.tier) if verb else "",
        str(action["target_type"]),
        listed[:3],
        len(listed),
        storable.text(action["reason"]),
        action["requires_review"] is True,
        known,
    )


def _known(store: Store, ids: Sequence[str], now: datetime) -> dict[str, LifecycleAction]:
    since = now - timedelta(days=REJECTED_DAYS)
    wanted = Q(state__in=sorted(OPEN)) | Q(state=State.REJECTED, closed_at__gte=since)
    found: dict[str, LifecycleAction] = {}
    for start in range(0, len(ids), 500):
        rows = LifecycleAction.objects.filter(wanted, store=store, action_id__in=ids[start : start + 500])
        found |= {row.action_id: row for row in rows.only("action_id", "state", "closed_at")}
    return found
