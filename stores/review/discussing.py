"""What people do about actions without deciding: assign, look, snooze, comment, check a sample (ruling 64)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.db.models import Q

from stores import audit
from stores.accounts import require_reviewer, visible_stores
from stores.errors import BadRequest, Conflict
from stores.formats import storable
from stores.lifecycle.differences import Place, line_count
from stores.lifecycle.packing import Damaged
from stores.models import ActionComment, LifecycleAction, Snooze, User
from stores.review import keeping
from stores.review.deciding import action_seen_by, label_of, stores_of

CLAIM: Final = timedelta(minutes=5)
_BATCH: Final = 500
LONGEST_COMMENT: Final = 10_000
LONGEST_SNOOZE: Final = timedelta(days=30)


def assign(user: User, pk: int, to: User | None, *, through: audit.Through) -> None:
    """Give an action to somebody, or to nobody; raises NotFound, NotAllowed, BadRequest."""
    assign_all(user, [action_seen_by(user, pk)], to, through=through)


def assign_all(user: User, actions: Sequence[LifecycleAction], to: User | None, *, through: audit.Through) -> None:
    """Give actions that `user` sees to somebody, or to nobody, all or none of them; raises NotAllowed, BadRequest."""
    require_reviewer(user)
    ids = {one.store_id or 0 for one in actions}
    if to is not None and not (to.is_active and visible_stores(to).filter(pk__in=ids).count() == len(ids)):
        raise BadRequest("An action is assigned to somebody who may see its store.")
    name = to.label if to is not None else "nobody"
    stores = stores_of(actions)
    with transaction.atomic():
        for start in range(0, len(actions), _BATCH):
            LifecycleAction.objects.filter(pk__in=[one.pk for one in actions[start : start + _BATCH]]).update(assigned_to=to)
        entries = [audit.Entry("assigned", label_of(one), stores.get(one.store_id or 0), {"action": one.pk, "to": name}) for one in actions]
        audit.record_all(entries, actor=user, through=through)


def look_at(user: User, action: LifecycleAction, now: datetime) -> User | None:
    """Note that a reviewer looks at an action, and give who else does; a hint for others, never a lock. One or two statements."""
    free = Q(seen_by__isnull=True) | Q(seen_by=user) | Q(seen_until__lte=now)
    if LifecycleAction.objects.filter(free, pk=action.pk).update(seen_by=user, seen_until=now + CLAIM):
        return None
    seen = LifecycleAction.objects.select_related("seen_by").filter(pk=action.pk).first()
    return seen.seen_by if seen is not None else None


def snooze(user: User, pk: int, until: datetime | None, now: datetime) -> None:
    """Hide an action from its own list until a time, or show it again; its due time goes on. Raises NotFound, BadRequest."""
    action = action_seen_by(user, pk)
    if until is None:
        Snooze.objects.filter(action=action, user=user).delete()
        return
    if not now < until <= now + LONGEST_SNOOZE:
        raise BadRequest(f"Snooze for a while, at most {LONGEST_SNOOZE.days} days.")
    Snooze.objects.update_or_create(action=action, user=user, defaults={"until": until})


def comment(user: User, pk: int, text: str, *, through: audit.Through, at: Place | None = None) -> ActionComment:
    """Say something of an action, or of one line of what it changes; it is no part of what is approved. Raises NotFound, BadRequest."""
    action = action_seen_by(user, pk)
    if not text.strip() or len(text) > LONGEST_COMMENT:
        raise BadRequest(f"A comment has 1 to {LONGEST_COMMENT:,} characters.")
    about: dict[str, Any] = {}
    if at is not None:
        about = {"file": at.file, "path": storable.text(_path_at(action, at)), "side": at.side, "line": at.line}
    detail = {"action": action.pk, **({"path": storable.name(about["path"]), "side": at.side, "line": at.line} if at is not None else {})}
    with transaction.atomic():
        made = ActionComment.objects.create(action=action, author=user, author_label=user.label[:220], text=storable.text(text), **about)
        audit.record("commented", actor=user, object_label=label_of(action), store=action.store, through=through, detail=detail)
    return made


def _path_at(action: LifecycleAction, at: Place) -> str:
    """Give the file in which a line stands; raises BadRequest where there is no such line in what the action changes."""
    try:
        changes = keeping.effect_of(action).changes
    except Damaged as err:
        raise BadRequest("What the action writes is not kept as it was: its lines cannot be named.") from err
    if not 0 < at.file <= len(changes) or not 0 < at.line <= line_count(changes[at.file - 1], at.side):
        raise BadRequest("There is no such line in what the action changes.")
    return changes[at.file - 1].path


def check_sample(user: User, pk: int, now: datetime, *, through: audit.Through) -> LifecycleAction:
    """Note that a person has looked at an action that needed none; raises NotFound, NotAllowed, Conflict."""
    require_reviewer(user)
    action = action_seen_by(user, pk)
    with transaction.atomic():
        if not LifecycleAction.objects.filter(pk=pk, is_sample=True, checked_at__isnull=True).update(checked_by=user, checked_at=now):
            raise Conflict("It is no sample, or somebody has checked it already.")
        audit.record(
            "sample_checked", actor=user, object_label=label_of(action), store=action.store, through=through, detail={"action": action.pk}
        )
    return action
