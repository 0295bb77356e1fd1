"""The product audit as pages, exports and the API show it: filtered, and only what the account may see."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time
from typing import Any, Final, NamedTuple

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.http import urlencode

from stores.accounts import Visitor, holds_a_role, visible_stores
from stores.audit import ACCOUNT, EVENTS, ChainVerdict, verify
from stores.errors import BadRequest, NotFound
from stores.formats import storable
from stores.models import AuditEvent, Store, User
from stores.selectors.review_counts import QUEUE

CHECKED_ON_PAGE = 1_000
"""As many of the newest events are checked anew for each page; the whole chain when asked for, or by `verify_audit`."""


OF_ACTIONS: Final = (
    "approved", "rejected", "approval_withdrawn", "decision_refused", "apply_allowed", "commented", "assigned", "sample_checked",
    "action_renewed", "action_withdrawn", "action_stale", "action_expired", "action_applied", "action_failed", "action_denied",
    "action_put_back",
)  # fmt: skip
"""Events that are each about one action of the review queue, which their detail names."""


class AuditFilter(NamedTuple):
    """Which events are wanted; empty texts and None take all."""

    event: str = ""
    actor: str = ""
    """Sign-in name of an account."""
    store: str = ""
    """Slug of a store that the account sees."""
    since: date | None = None
    """First day, in UTC."""
    batch: str = ""
    """Id of decisions that were made at once."""
    action: int = 0
    """Number of an action of the review queue."""


class ExportedEvent(NamedTuple):
    """An event as exports and the API give it."""

    number: int
    at: str
    event: str
    actor: str
    object: str
    store: str
    through: str
    detail: dict[str, Any]
    previous_digest: str
    digest: str


def parse_since(text: str) -> date | None:
    """Give the day that is written as 2026-11-30; BadRequest for anything else that is not empty."""
    if not text:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise BadRequest("A day is written as 2026-11-30.") from None


def events(user: Visitor, wanted: AuditFilter) -> QuerySet[AuditEvent]:
    """Give the events that fit, newest first; up to two queries of its own.

    What happened to a store sees who sees the store; of a store that is no longer registered nobody can tell who saw it, so only
    superusers still see its events.
    """
    found = _visible_events(user)
    wanted = wanted._replace(event=storable.text(wanted.event), actor=storable.text(wanted.actor), store=storable.text(wanted.store))
    if wanted.event:
        found = found.filter(event=wanted.event)
    if wanted.actor:
        found = found.filter(actor=User.objects.filter(username=User.normalize_username(wanted.actor)).first() or 0)
    if wanted.store:
        store = visible_stores(user).filter(slug=wanted.store).first()
        found = found.filter(store_uid=store.uid) if store else found.none()
    if wanted.batch:
        found = found.filter(event__in=OF_ACTIONS, detail__batch=storable.text(wanted.batch))
    if wanted.action:
        found = found.filter(event__in=OF_ACTIONS, detail__action=wanted.action)
    if wanted.since is not None:
        begin = datetime.combine(wanted.since, time.min, tzinfo=UTC)
        first = AuditEvent.objects.filter(at__gte=begin).order_by("at").values_list("number", flat=True).first()
        found = found.filter(number__gte=first) if first is not None else found.none()
    return found.order_by("-number")


def _visible_events(user: Visitor) -> QuerySet[AuditEvent]:
    if not isinstance(user, User) or not user.is_active:
        return AuditEvent.objects.none()
    if user.is_superuser:
        return AuditEvent.objects.all()
    return AuditEvent.objects.filter(holds_a_role(user), Q(store_uid__isnull=True) | Q(store_uid__in=visible_stores(user).values("uid")))


def exported(found: QuerySet[AuditEvent]) -> Iterator[ExportedEvent]:
    """Give events one by one as exports write them."""
    for event in found.iterator(chunk_size=1000):
        yield export_event(event)


def export_event(event: AuditEvent) -> ExportedEvent:
    """Give an event as exports and the API write it."""
    return ExportedEvent(
        number=event.number,
        at=event.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        event=event.event,
        actor=event.actor_label,
        object=event.object_label,
        store=event.store_slug,
        through=event.through,
        detail=dict(event.detail),
        previous_digest=event.previous_digest,
        digest=event.digest,
    )


class DetailLine(NamedTuple):
    """One thing that an event says besides."""

    label: str
    value: str
    before: str = ""
    """What it was before, where the event changed it."""
    url: str = ""


def detail_lines(event: AuditEvent) -> list[DetailLine]:
    """Give what an event says besides, in words."""
    said = event.detail if isinstance(event.detail, dict) else {}
    return [_line(key, value, said) for key, value in sorted(said.items()) if key != ACCOUNT]


def _line(key: str, value: object, said: Mapping[str, object]) -> DetailLine:
    label = key.replace("_", " ")
    if isinstance(value, dict) and value.keys() == {"from", "to"}:
        return DetailLine(label, _in_words(value["to"]), _in_words(value["from"]))
    if key == "batch" and isinstance(value, str):
        return DetailLine(label, value, url=f"{reverse('audit')}?{urlencode({'batch': value})}")
    if key == "action" and isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return DetailLine(label, f"#{value}", url=f"{QUEUE}{value}/")
    return DetailLine(label, _in_words(value))


def _in_words(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(_in_words(item) for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_in_words(item)}" for key, item in sorted(value.items())) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value in (None, "") else str(value)


class Neighbours(NamedTuple):
    """An event with those before and after it among the events of a filter."""

    event: AuditEvent
    earlier: int
    """Number of the one before it; 0 for none."""
    later: int


def find_event(user: Visitor, number: int, wanted: AuditFilter) -> Neighbours:
    """Give one event that the account may see; raises NotFound. Up to five queries."""
    event = _visible_events(user).filter(number=number).first()
    if event is None:
        raise NotFound("There is no such event, or it is not for your eyes.")
    among = events(user, wanted).order_by()
    earlier = among.filter(number__lt=number).order_by("-number").values_list("number", flat=True).first()
    later = among.filter(number__gt=number).order_by("number").values_list("number", flat=True).first()
    return Neighbours(event, earlier or 0, later or 0)


def actors() -> QuerySet[User]:
    """Give the accounts that a filter offers: by name, the first 200."""
    return User.objects.order_by("username")[:200]


def filterable_stores(user: Visitor) -> QuerySet[Store]:
    """Give the stores that a filter offers: those that the account sees, the first 200 by name."""
    return visible_stores(user).order_by("name", "pk")[:200]


def event_words() -> list[tuple[str, str]]:
    """Give every event with its words: ("signed_in", "signed in")."""
    return [(event, words(event)) for event in EVENTS]


def words(event: str) -> str:
    """Give an event in words."""
    return event.replace("_", " ")


def chain_sentence(verdict: ChainVerdict) -> str:
    """Say what a check of the chain found."""
    whole = verdict.checked == verdict.count
    events_checked = f"{verdict.count:,} events" if whole else f"newest {verdict.checked:,} of {verdict.count:,} events"
    match verdict.status:
        case "intact":
            return f"{events_checked[0].upper()}{events_checked[1:]}, chain intact"
        case "altered":
            return f"Event {verdict.first_bad:,} is not as it was written"
        case "gap":
            return f"Event {verdict.first_bad:,} is missing from the chain"
        case "truncated":
            return f"The end of the chain is missing: {verdict.count:,} events were written, {(verdict.first_bad or 1) - 1:,} are left"


def page_verdict(*, whole: bool) -> ChainVerdict:
    """Check the chain as the page does: all of it when asked, else its newest events."""
    return verify(None if whole else CHECKED_ON_PAGE)
