"""The verdict of a store now: one function for pages, badges, commands, API and metrics (rulings 28, 41)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Exists, OuterRef
from django.db.models.expressions import RawSQL

from stores import display
from stores.accounts import Visitor, visible_stores
from stores.health import base
from stores.models import ReviewPolicy, Store, Worker
from stores.selectors import wording

WORST_FIRST: tuple[str, ...] = tuple(str(verdict) for verdict in base.WORST_FIRST)
"""unavailable, degraded, unmeasured, healthy (ruling 28)."""
SILENT_AFTER = timedelta(minutes=2)
SWEEPS = 3


class CurrentVerdict(NamedTuple):
    """A verdict and the sentence that says why."""

    verdict: str
    sentence: str


class JudgedStore(NamedTuple):
    """A store with its worker loaded, and what is to be said of it now."""

    store: Store
    verdict: str
    sentence: str
    """Why; "" for a healthy store that has nothing to say."""


def current_verdict(store: Store, worker: Worker, now: datetime) -> CurrentVerdict:
    """Give the verdict of `store` as it may be told at `now`.

    A measurement counts for two minutes, or for three sweeps where these take longer; after that the store is
    `unmeasured`, and so it is when it was never measured or its measurement lies as far in the future.
    """
    measured_at = store.measured_at
    if measured_at is None or store.verdict == "unmeasured":
        return CurrentVerdict("unmeasured", store.sentence or "not measured yet")
    elapsed = now - measured_at
    if abs(elapsed) <= time_limit(worker):
        return CurrentVerdict(store.verdict, store.sentence)
    if elapsed < timedelta(0):
        return CurrentVerdict("unmeasured", f"clock of worker {worker.label} ahead by {display.span(-elapsed.total_seconds())}")
    return CurrentVerdict("unmeasured", f"unmeasured since {wording.moment(measured_at, now)}, last: {store.verdict}")


def time_limit(worker: Worker) -> timedelta:
    """Give for how long a measurement of this worker counts."""
    return max(SILENT_AFTER, timedelta(seconds=SWEEPS * worker.sweep_s))


def is_silent(worker: Worker, now: datetime) -> bool:
    """Tell whether the worker gave no sign of life for two minutes (ruling 41), or has stopped."""
    if worker.seen_at is None:
        return True
    stopped = worker.stopped_at is not None and worker.stopped_at >= worker.seen_at
    return stopped or now - worker.seen_at > SILENT_AFTER


def silence(worker: Worker, now: datetime) -> str:
    """Say since when a silent worker is silent."""
    if worker.seen_at is None:
        return f"worker {worker.label} never seen"
    return f"worker {worker.label} silent since {wording.moment(worker.seen_at, now)}"


class Freshness(NamedTuple):
    """What a page says about the age of what it shows (ruling 41)."""

    alive: bool
    at: datetime | None
    text: str
    """"as of 12:04:31 (worker, 3 s ago)", or "not checked since 09:12"."""


def freshness(worker: Worker, checked_at: datetime | None, now: datetime) -> Freshness:
    """Say as of when the mirror is an image of the disk; `checked_at` is when the worker last compared the two."""
    if checked_at is None:
        return Freshness(False, None, "not checked yet")
    if is_silent(worker, now) or now - checked_at > time_limit(worker):
        return Freshness(False, checked_at, f"not checked since {wording.moment(checked_at, now)}")
    return Freshness(True, checked_at, f"as of {checked_at:%H:%M:%S} (worker, {wording.age_since(checked_at, now)} ago)")


def stalest(judged: Iterable[JudgedStore], now: datetime) -> Freshness | None:
    """Give the freshness of the store that was compared with its disk longest ago, by its name where it is not alive; None for no store."""
    told = [(one, freshness(one.store.worker, one.store.imported_at, now)) for one in judged]
    if not told:
        return None
    one, worst = min(told, key=lambda pair: (pair[1].alive, pair[1].at is not None, pair[1].at or now))
    return worst if worst.alive or len(told) == 1 else worst._replace(text=f"{one.store.name} {worst.text}")


def judge(store: Store, now: datetime) -> JudgedStore:
    """Judge one store whose worker is loaded."""
    return JudgedStore(store, *current_verdict(store, store.worker, now))


def judged_stores(user: Visitor, now: datetime, beside: Mapping[str, RawSQL] | None = None) -> list[JudgedStore]:
    """Give every store that `user` may see, worst first, then by name; each says whether it has a `single_reviewer`. One query.

    `beside` are further columns that come with them.
    """
    single = Exists(ReviewPolicy.objects.filter(store=OuterRef("pk"), single_reviewer=True, in_force=True))
    stores = visible_stores(user).select_related("worker").annotate(single_reviewer=single, **(beside or {}))
    return worst_first(judge(store, now) for store in stores)


def worst_first(judged: Iterable[JudgedStore]) -> list[JudgedStore]:
    """Order judged stores: unavailable, degraded, unmeasured, healthy; by name and id among equals."""
    return sorted(judged, key=lambda one: (WORST_FIRST.index(one.verdict), one.store.name.casefold(), one.store.pk))


def overall(verdicts: Iterable[str]) -> str:
    """Give the worst of some verdicts; `unmeasured` when there is none."""
    present = set(verdicts)
    return next((verdict for verdict in WORST_FIRST if verdict in present), "unmeasured")


def tally(judged: Iterable[JudgedStore]) -> dict[str, int]:
    """Count stores by verdict, worst first; verdicts that no store has are left out."""
    verdicts = [one.verdict for one in judged]
    return {verdict: verdicts.count(verdict) for verdict in WORST_FIRST if verdict in verdicts}


def headline(judged: list[JudgedStore]) -> str:
    """Say in one sentence how the stores are: "shop-api is degraded, harbor is unmeasured"."""
    parts = []
    for verdict in WORST_FIRST[:-1]:
        names = [one.store.name for one in judged if one.verdict == verdict]
        if names:
            parts.append(f"{wording.listed(names, 2)} {'is' if len(names) == 1 else 'are'} {verdict}")
    if parts:
        return f"Attention: {', '.join(parts)}"
    return "The store is healthy" if len(judged) == 1 else f"All {len(judged):,} stores are healthy"
