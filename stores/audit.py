"""The product audit: events that can be added and checked, never changed (ruling 52).

Each event's digest covers what it says and the digest of the event before it; the head row, moved in the same transaction,
says where the chain ends. So a changed, removed or reordered event shows, and a cut end as well. Not shown: that somebody with
write access to the database made the whole chain and its head anew.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Literal, get_args

from django.conf import settings
from django.db import transaction

from stores.errors import MemoryUIError
from stores.files import append_line, make_folder, why
from stores.formats import storable
from stores.models import AuditEvent, AuditHead, Store, User

log = logging.getLogger(__name__)

DIGEST_OF_NOTHING = "0" * 64
HEAD = 1
"""Primary key of the one head row."""
ACCOUNT = "account"
"""Key of an event's detail that holds the actor's account id: the foreign key ends with the account, the digest must not."""

Event = Literal[
    "signed_in",
    "sign_in_failed",
    "signed_out",
    "name_changed",
    "password_changed",
    "token_made",
    "token_revoked",
    "account_added",
    "account_changed",
    "account_removed",
    "group_added",
    "group_changed",
    "group_removed",
    "store_added",
    "store_removed",
    "store_relocated",
    "store_adopted",
    "store_renamed",
    "store_groups_changed",
    "mirror_reset",
    "unmasked",
    "muted",
    "unmuted",
    "fault_acknowledged",
    "record_noted",
    "view_shared",
    "remembered",
    "queue_drained",
    "drain_repeated",
    "decisions_replayed",
    "event_version_added",
    "event_version_dropped",
    "graph_imported",
    "action_proposed",
    "action_refused",
    "action_renewed",
    "action_withdrawn",
    "action_stale",
    "action_expired",
    "action_applied",
    "action_failed",
    "action_denied",
    "action_put_back",
    "apply_allowed",
    "approved",
    "rejected",
    "approval_withdrawn",
    "decision_refused",
    "policy_changed",
    "policy_dropped",
    "key_made",
    "key_pinned",
    "key_unpinned",
    "applying_on",
    "applying_off",
    "commented",
    "assigned",
    "sample_checked",
]
EVENTS: tuple[Event, ...] = get_args(Event)
COPY = "audit.jsonl"
"""In the data folder of a worker: the events that it made (ruling 50)."""
COPY_FIELDS = (
    "number", "at", "event", "actor_label", "object_label", "store_uid", "store_slug", "through", "detail", "previous_digest", "digest",
)  # fmt: skip
Through = Literal["page", "API", "terminal", "worker"]
Status = Literal["intact", "altered", "truncated", "gap"]


class AuditBroken(MemoryUIError):
    """The chain's head is missing although events exist: nothing is added to a chain whose end is unknown."""

    title = "The audit cannot be written"


@dataclass(frozen=True, slots=True)
class ChainVerdict:
    """What a check of the chain found."""

    status: Status
    """intact · altered: an event is not what was written, or does not follow the one before it · gap: events are missing in the
    middle · truncated: the newest are missing."""
    checked: int
    """Events that were looked at."""
    first_bad: int | None
    """Number of the first event that is altered or missing."""
    count: int
    """Events that there should be, by the head."""
    head: str
    """Digest of the newest event, by the head."""


def record(
    event: Event,
    *,
    actor: User | None,
    object_label: str,
    store: Store | None = None,
    through: Through,
    detail: Mapping[str, object] | None = None,
    actor_label: str = "",
) -> AuditEvent:
    """Add an event to the chain, in the caller's transaction if there is one; three statements.

    `actor` is None for what no account did; `actor_label` then says who or what it was. An event that tells anything of a store
    must name it as `store`: only those who may see the store see the event. `detail` holds text, whole numbers, truth values,
    None, and lists and mappings of these; floats are refused (TypeError), as engines write them differently.
    """
    return record_all([Entry(event, object_label, store, detail or {})], actor=actor, through=through, actor_label=actor_label)[0]


@dataclass(frozen=True, slots=True)
class Entry:
    """What one of several events of the same actor says; see `record`."""

    event: Event
    object_label: str
    store: Store | None = None
    detail: Mapping[str, object] = field(default_factory=dict)


def record_all(entries: Sequence[Entry], *, actor: User | None, through: Through, actor_label: str = "") -> list[AuditEvent]:
    """Add events to the chain in their order, in the caller's transaction if there is one; three statements for up to 500 of them."""
    if not entries:
        return []
    label = storable.text(actor_label or (actor.label if actor else "nobody"))[:220]
    own = {ACCOUNT: actor.pk} if actor else {}
    with transaction.atomic():
        head = _head_for_writing()
        number, digest, now = head.count, head.digest, datetime.now(UTC)
        added = []
        for entry in entries:
            number += 1
            event = AuditEvent(
                number=number,
                at=now,
                event=entry.event,
                actor=actor,
                actor_label=label,
                object_label=storable.text(entry.object_label),
                store_uid=entry.store.uid if entry.store else None,
                store_slug=entry.store.slug if entry.store else "",
                through=through,
                detail=_plain({**entry.detail, **own}),
                previous_digest=digest,
            )
            event.digest = digest = digest_of(event)
            added.append(event)
        AuditEvent.objects.bulk_create(added, batch_size=500)
        AuditHead.objects.filter(pk=head.pk).update(count=number, digest=digest)
        if through == "worker":
            transaction.on_commit(partial(_copy, added))
    return added


def _copy(events: Sequence[AuditEvent]) -> None:
    """Append events that stand to the worker's own file; what cannot be written there stands in the database all the same."""
    lines = [json.dumps(copied(event), sort_keys=True, separators=(",", ":")).encode("ascii") for event in events]
    path = settings.DATA_DIR / COPY
    try:
        make_folder(path.parent)
        append_line(path, b"\n".join(lines))
    except OSError as err:
        log.error("The audit's copy in the data folder lacks %d events: %s", len(events), why(err))


def copied(event: AuditEvent) -> dict[str, object]:
    """Give an event as a worker's own file holds it: everything that its digest is over."""
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds")
    uid = str(event.store_uid) if event.store_uid else None
    return {**{name: getattr(event, name) for name in COPY_FIELDS}, "at": at, "store_uid": uid}


def digest_of(event: AuditEvent) -> str:
    """Give the sha256, in hex, over everything that the event says and the digest before it."""
    content = [
        event.number,
        event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        event.event,
        event.actor_label,
        event.object_label,
        str(event.store_uid) if event.store_uid else None,
        event.store_slug,
        event.through,
        event.detail,
        event.previous_digest,
    ]
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode("ascii")).hexdigest()


def verify(newest: int | None = None) -> ChainVerdict:
    """Check the chain, or only its `newest` events (the digest before them is then taken as it stands); 2 or 3 queries.

    Nothing is locked: events that are added meanwhile are left to the next check.
    """
    head = _head() or AuditHead(count=0, digest=DIGEST_OF_NOTHING)
    first = max(1, head.count - newest + 1) if newest is not None else 1
    expected, before = first, DIGEST_OF_NOTHING if first == 1 else None

    def verdict(status: Status, first_bad: int | None) -> ChainVerdict:
        return ChainVerdict(status, expected - first, first_bad, head.count, head.digest)

    for event in AuditEvent.objects.filter(number__gte=first).order_by("number").iterator(chunk_size=1000):
        if event.number > head.count:
            moved = _head()
            if expected > head.count and (moved is None or moved.count <= head.count):
                return verdict("altered", head.count + 1)
            break
        if event.number > expected:
            return verdict("gap", expected)
        if (before is not None and event.previous_digest != before) or not _as_written(event):
            return verdict("altered", event.number)
        expected, before = event.number + 1, event.digest
    if expected <= head.count:
        return verdict("truncated", expected)
    if before is not None and before != head.digest:
        return verdict("altered", max(head.count, 1))
    return verdict("intact", None)


def _as_written(event: AuditEvent) -> bool:
    account = event.detail.get(ACCOUNT) if isinstance(event.detail, dict) else None
    return digest_of(event) == event.digest and event.actor_id in (None, account)


def _head() -> AuditHead | None:
    return AuditHead.objects.filter(pk=HEAD).first()


def _head_for_writing() -> AuditHead:
    # SQLite knows no row locks; there the transaction holds the one write lock from its start.
    head = AuditHead.objects.select_for_update().filter(pk=HEAD).first()
    if head is None:
        # Others may begin the chain at this moment: one of the beginnings stays, and everybody goes on from it in turn.
        AuditHead.objects.bulk_create([AuditHead(pk=HEAD, count=0, digest=DIGEST_OF_NOTHING)], ignore_conflicts=True)
        head = AuditHead.objects.select_for_update().get(pk=HEAD)
        if head.count == 0 and AuditEvent.objects.exists():
            raise AuditBroken("The end of the audit chain is missing from the database, so nothing can be added to it. Run `verify_audit`.")
    return head


def _plain(value: object) -> object:
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, str):
        return storable.text(value)
    if isinstance(value, Mapping):
        return {storable.text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    raise TypeError(f"The detail of an audit event cannot hold a {type(value).__name__}.")
