"""Which of the four nothings an empty queue is: nothing waits, the filter hides all, nobody can tell, or not for these eyes (ux.md 2.8)."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.urls import reverse
from django.utils.http import urlencode

from stores import display
from stores.accounts import visible_stores
from stores.lifecycle.states import State
from stores.lists.actions import TABS, ActionQuery
from stores.models import Review, User, Worker
from stores.review.deciding import visible_actions
from stores.selectors import wording
from stores.selectors.actions import ActionList
from stores.selectors.completeness import Link, Outcome
from stores.selectors.verdicts import is_silent

_NOTHING: Final = {
    "mine": ("Nothing is assigned to you", "Press m on an action, or open it, to take it."),
    "overdue": ("Nothing is overdue", "Every action that waits is within its time."),
    "stale": ("Nothing went stale", "No target moved while its action waited."),
    "blocked": ("Everything can be applied", "No action failed, and none is held back."),
    "decided": ("Nothing was decided lately", "What was decided before that is in the audit."),
}


def outcome(found: ActionList, user: User) -> Outcome:
    """Say why a list of actions shows nothing; up to four queries."""
    query, home = found.query, reverse("review_list")
    if query.is_narrowed:
        everything = ActionQuery(tab=query.tab).address(home)
        total = found.total
        words = (
            f"The filter leaves none of {wording.counted(total, 'action')} under {TABS[query.tab]}."
            if total
            else "There is none without it either."
        )
        return Outcome("filtered", "No action matches", words, [Link("Show all", everything)])
    if not visible_stores(user).exists():
        return Outcome("empty", "No store for your eyes", "Actions are shown with the stores that your account may see.", [], "muted")
    if query.tab in _NOTHING:
        title, words = _NOTHING[query.tab]
        return Outcome("empty", title, words, [Link("All that waits", home)])
    return _nothing_waits(found, user)


def _nothing_waits(found: ActionList, user: User) -> Outcome:
    now = found.now
    mine = visible_actions(user)
    if not mine.exists():
        words = "Planners, agents and people propose actions; none has come yet."
        return Outcome("unmeasured", "Nothing was ever proposed", words, [Link("The stores", reverse("store_list"))])
    said = []
    last = Review.objects.filter(action__in=mine).order_by("-at").values_list("at", flat=True).first()
    said.append(f"Last decided {wording.moment(last, now)}" if last is not None else "Nobody decided anything yet")
    alive = [worker for worker in Worker.objects.all() if not is_silent(worker, now)]
    seen = max((worker.seen_at for worker in alive if worker.seen_at is not None), default=None)
    said.append(f"worker alive {wording.age_since(seen, now)} ago" if seen is not None else "no worker gives a sign of life")
    applied = mine.filter(state=State.APPLIED, requires_review=False, closed_at__gte=now - timedelta(days=1)).count()
    said.append(f"{display.number(applied)} applied without review in the last day")
    sampled = f"{reverse('review_list')}?{urlencode({'tab': 'decided', 'state': 'applied'})}"
    links = [Link("Look at what was applied", sampled)]
    return Outcome("empty" if seen is not None else "unmeasured", "Nothing waits for you", "; ".join(said) + ".", links)
