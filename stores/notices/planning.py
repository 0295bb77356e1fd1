"""Decides which messages are due: each is one row, made once, whichever worker is first."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from django.conf import settings
from django.db.models import Q

from stores import display
from stores.accounts import stores_open_to_all
from stores.lifecycle.states import State
from stores.lifecycle.vocabulary import Tier
from stores.models import LifecycleAction, Notice, User
from stores.review.deciding import visible_actions

MAIL: Final = "mail"
WEBHOOK: Final = "webhook"
DIGEST: Final = "digest"
HIGH_RISK: Final = "high_risk"
NEW_FOR: Final = timedelta(days=1)
"""So long after it was proposed an action is still news: nobody is told of old ones when messages are turned on."""
GROUPS_NAMED: Final = 20


class Group(NamedTuple):
    """Actions that a digest tells in one line."""

    tier: str
    verb: str
    store: str
    number: int
    oldest_at: datetime


def plan(now: datetime) -> int:
    """Make the rows of all messages that are due and not there yet; give how many. Two or three queries when none is."""
    made = 0
    if settings.WEBHOOK_URL:
        made += _high_risk(now)
    hour = settings.NOTIFY_MAIL_HOUR
    if settings.MAIL is not None and 0 <= hour <= now.astimezone(UTC).hour:
        made += _digests(now)
    return made


def _high_risk(now: datetime) -> int:
    """Tell the webhook of each new action with much at stake, once."""
    new = LifecycleAction.objects.filter(state=State.PENDING, tier=str(Tier.HIGH), created_at__gt=now - NEW_FOR)
    actions = {f"{HIGH_RISK}:{action.pk}": action for action in new.order_by("pk").only("verb", "store_slug", "store_id", "created_at")}
    told = set(Notice.objects.filter(key__in=list(actions)).values_list("key", flat=True))
    fresh = {key: action for key, action in actions.items() if key not in told}
    if not fresh:
        return 0
    # A channel is read by people who may not see a store that is limited to some groups: its name is not told there.
    open_ids = set(stores_open_to_all().filter(pk__in=[one.store_id for one in fresh.values()]).values_list("pk", flat=True))
    rows = [
        Notice(
            channel=WEBHOOK,
            what=HIGH_RISK,
            recipient=WEBHOOK,
            key=key,
            body={
                "verb": action.verb,
                "store": action.store_slug if action.store_id in open_ids else "",
                "created_at": action.created_at.isoformat(),
                "url": f"{settings.BASE_URL}{action.get_absolute_url()}",
            },
            created_at=now,
            due_at=now,
        )
        for key, action in fresh.items()
    ]
    return len(Notice.objects.bulk_create(rows, ignore_conflicts=True))


def _digests(now: datetime) -> int:
    """Mail each reviewer once a day what waits in the stores that they see; nobody for whom nothing waits."""
    day = now.astimezone(UTC).date()
    reviewers = User.objects.filter(Q(is_superuser=True) | Q(groups__name="reviewer"), is_active=True).exclude(email="").distinct()
    keys = {f"{DIGEST}:{user.pk}:{day}": user for user in reviewers.order_by("pk")}
    told = set(Notice.objects.filter(key__in=list(keys)).values_list("key", flat=True))
    rows = []
    for key, user in keys.items():
        if key not in told and (groups := _groups(user)):
            rows.append(
                Notice(channel=MAIL, what=DIGEST, recipient=user.username, key=key, body=_digest(groups, now), created_at=now, due_at=now)
            )
    return len(Notice.objects.bulk_create(rows, ignore_conflicts=True))


def _groups(user: User) -> list[Group]:
    """Give what waits for a reviewer, what is most at stake first; what they have snoozed too, as its time goes on (ruling 64)."""
    pending = visible_actions(user).filter(state=State.PENDING).order_by("-rank", "created_at", "pk")
    numbers: Counter[tuple[str, str, str]] = Counter()
    oldest: dict[tuple[str, str, str], datetime] = {}
    for tier, verb, store, created_at in pending.values_list("tier", "verb", "store_slug", "created_at").iterator():
        numbers[tier, verb, store] += 1
        oldest.setdefault((tier, verb, store), created_at)
    return [Group(*key, number, oldest[key]) for key, number in numbers.items()]


def _digest(groups: list[Group], now: datetime) -> dict[str, object]:
    total = sum(group.number for group in groups)
    oldest = min(group.oldest_at for group in groups)
    lines = [
        f"{group.number:>5,} × {group.verb} in {group.store}, at stake {group.tier}, oldest {display.age(group.oldest_at, now)}"
        for group in groups[:GROUPS_NAMED]
    ]
    left = len(groups) - GROUPS_NAMED
    lines += [f"      and {left:,} further kinds"] if left > 0 else []
    said = f"{total:,} action{'' if total == 1 else 's'} wait{'s' if total == 1 else ''} for a review, oldest {display.age(oldest, now)}"
    return {"subject": f"memoryui: {said}", "text": "\n".join([f"{said}.", "", *lines, "", f"{settings.BASE_URL}/review/", ""])}
