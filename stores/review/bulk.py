"""Decisions on many actions at once, exactly on those that were shown (rulings 21 and 41)."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Final, Literal, NamedTuple

from django.db.models import QuerySet

from stores.errors import BadRequest, Conflict
from stores.models import LifecycleAction, User
from stores.review.approving import approve_all
from stores.review.deciding import MOST_DESTRUCTIVE, Decided, Manner, allow_apply, reject_all

MOST: Final = 20_000
TYPED_FROM: Final = 10
"""From so many on, and for anything destructive, the phrase is typed."""
Decision = Literal["approve", "reject", "apply"]


class SetChanged(Conflict):
    """The filter matches other actions than those that were shown, or one of them changed; nothing was decided."""

    title = "The selection has changed"

    def __init__(self, difference: Difference) -> None:
        super().__init__(difference.words)
        self.difference = difference


class Difference(NamedTuple):
    """What differs between what was shown and what is there now; keys of actions."""

    added: list[int]
    removed: list[int]
    changed: list[int]

    @property
    def words(self) -> str:
        """Say it in a sentence."""
        counts = [f"{len(listed):,} {word}" for word, listed in self._asdict().items() if listed]
        return f"{', '.join(counts) or 'Something changed'} since you looked. Nothing was decided: look at the list again."


@dataclass(frozen=True, slots=True)
class Shown:
    """The set that a confirm page showed, as its form sends it back."""

    digest: str
    count: int
    members: tuple[tuple[int, str], ...] = ()
    """Key and short digest of each, where the form carries them: then a difference can be named."""


def members_of(actions: QuerySet[LifecycleAction]) -> list[tuple[int, str]]:
    """Give key and digest of the actions of a filter, in the order of their keys; one query. Raises BadRequest above MOST."""
    listed = list(actions.order_by("pk").values_list("pk", "digest")[: MOST + 1])
    if len(listed) > MOST:
        raise BadRequest(f"More than {MOST:,} actions match: narrow the filter.")
    return listed


def set_digest(members: Sequence[tuple[int, str]]) -> str:
    """Give the digest of a set of actions and of what each would write."""
    whole = sha256()
    for pk, digest in members:
        whole.update(f"{pk} {digest}\n".encode())
    return whole.hexdigest()


def phrase_for(decision: Decision, count: int) -> str:
    """Give what a person types to decide on many actions."""
    return f"{decision} {count}"


def decide(user: User, actions: QuerySet[LifecycleAction], shown: Shown, decision: Decision, manner: Manner) -> tuple[str, list[Decided]]:
    """Decide on all actions of a filter, if they are those that were shown; give the batch's id and what became of each.

    Raises SetChanged with the difference, BadRequest for verbs or kinds that do not go together or too many destructive ones.
    """
    members = members_of(actions)
    if len(members) != shown.count or set_digest(members) != shown.digest:
        raise SetChanged(difference_of(shown, members))
    rows = list(actions.order_by("pk"))
    check(rows, decision)
    manner = replace(manner, batch_id=f"bulk:{secrets.token_hex(8)}")
    seen = dict(members)
    if decision == "approve":
        return manner.batch_id, approve_all(user, rows, seen, manner)
    if decision == "reject":
        return manner.batch_id, reject_all(user, rows, seen, manner)
    return manner.batch_id, allow_apply(user, rows, manner)


def check(actions: Sequence[LifecycleAction], decision: Decision) -> None:
    """Raise BadRequest where these cannot be decided at once."""
    if not actions:
        raise BadRequest("No action matches any more: there is nothing to decide.")
    if len({(one.kind, one.verb) for one in actions}) > 1:
        raise BadRequest("A bulk decision covers one verb of one kind of store: narrow the filter.")
    if decision == "approve" and any(one.destructive for one in actions) and len(actions) > MOST_DESTRUCTIVE:
        raise BadRequest(f"What takes something away is approved at most {MOST_DESTRUCTIVE} at once; decide these singly.")


def difference_of(shown: Shown, members: Sequence[tuple[int, str]]) -> Difference:
    """Name what came, went and changed since a page was shown; without its members nothing but that it did."""
    was, now = dict(shown.members), {pk: short(digest) for pk, digest in members}
    if not was:
        return Difference([], [], [])
    changed = [pk for pk in sorted(was.keys() & now.keys()) if was[pk] != now[pk]]
    return Difference(sorted(now.keys() - was.keys()), sorted(was.keys() - now.keys()), changed)


def short(digest: str) -> str:
    """Give as much of a digest as tells two versions apart in a form."""
    return digest.removeprefix("sha256:")[:12]
