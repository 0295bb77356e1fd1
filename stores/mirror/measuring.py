"""Measures a store: facts of the mirror -> conditions, verdict and history."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.db import transaction

from stores.health.base import Condition as Measured
from stores.mirror import discovering
from stores.mirror.measures import orchestkit, phase_memory
from stores.mirror.measures.base import Outcome, is_young
from stores.models import Condition, Fault, Measurement, Store

KEPT_DAYS = 90
AGES = ("queue_oldest", "queue_undrained", "oldest_unreviewed")
"""Conditions whose value is an age: it grows by itself, which is no change."""

_KINDS: dict[str, Callable[[Store, datetime], Outcome]] = {"orchestkit": orchestkit.measure, "phase-memory": phase_memory.measure}
"""How each kind is measured."""


def measure(store: Store, *, now: datetime | None = None, stray_stores: bool = False) -> None:
    """Measure one store and save its verdict, conditions and, when a value changed or an hour passed, a measurement.

    `stray_stores` also searches the project for stores that lie below it. Six queries and a few more when something changed.
    """
    now = now or datetime.now(UTC)
    if stray_stores:
        store.stray_stores = discovering.stray_stores_below(store.path)
        store.stray_checked_at = now
    _settle_tails(store, now)
    measured = _KINDS[store.kind](store, now)
    store.verdict, store.sentence = str(measured.verdict), measured.sentence
    store.status, store.message, store.classic = measured.status, measured.message, measured.classic
    store.measured_at = now
    with transaction.atomic():
        values = _save_conditions(store, measured.conditions, now)
        _save_measurement(store, values | measured.counts, now)
        store.save(update_fields=["verdict", "sentence", "status", "message", "classic", "measured_at", "stray_stores", "stray_checked_at"])


def _settle_tails(store: Store, now: datetime) -> None:
    """Torn tails that have not grown for ten seconds are no longer pending."""
    for fault in Fault.objects.filter(store=store, pending=True).select_related("file"):
        if fault.file is None or not is_young(fault.file, now):
            Fault.objects.filter(pk=fault.pk).update(pending=False)


def _save_conditions(store: Store, measured: tuple[Measured, ...], now: datetime) -> dict[str, float | None]:
    """Bring the condition rows up to date and give the values by key; rows that say the same as before cost one statement together."""
    known = {(row.code, row.path): row for row in Condition.objects.filter(store=store)}
    codes = [item.code for item in measured]
    values: dict[str, float | None] = {}
    new, changed = [], []
    for position, item in enumerate(measured):
        values[item.code if codes.count(item.code) == 1 else f"{item.code}:{item.file}"] = item.value
        row = known.pop((item.code, item.file), None)
        measurement = (item.value, item.value_text, item.limit, item.limit_text)
        said = (position, item.title, str(item.status), item.message, *measurement, item.advice, item.faults_code)
        if row is None:
            row = Condition(store=store, code=item.code, path=item.file, since=now, measured_at=now)
            new.append(row)
        elif tuple(getattr(row, name) for name in _SAID) != said:
            changed.append(row)
            if row.status != str(item.status):
                row.since = now
        for name, value in zip(_SAID, said, strict=True):
            setattr(row, name, value)
    Condition.objects.bulk_create(new)
    Condition.objects.bulk_update(changed, (*_SAID, "since"))
    Condition.objects.filter(pk__in=[row.pk for row in known.values()]).delete()
    Condition.objects.filter(store=store).update(measured_at=now)
    return values


_SAID = ("position", "title", "status", "message", "value", "value_text", "limit", "limit_text", "advice", "faults_code")
"""What a condition's row says of its measurement."""


def _save_measurement(store: Store, values: dict[str, float | None], now: datetime) -> None:
    """Keep the values when one of them changed, at most once a minute, and once an hour anyhow (ruling 60)."""
    last = Measurement.objects.filter(store=store, daily=False).order_by("-at", "-id").first()
    if last is not None:
        age = (now - last.at).total_seconds()
        steady = {name: value for name, value in values.items() if name not in AGES}
        changed = last.verdict != store.verdict or any(last.values.get(name) != value for name, value in steady.items())
        if 0 <= age < 60 or (age >= 0 and not changed and age < 3600):
            return
    Measurement.objects.create(store=store, at=now, verdict=store.verdict, values=json.loads(json.dumps(values)))


def thin_out(now: datetime) -> None:
    """Replace measurements older than 90 days by one a day with the means of its values (ruling 60)."""
    border = (now - timedelta(days=KEPT_DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
    old = Measurement.objects.filter(daily=False, at__lt=border)
    days: dict[tuple[int, datetime], list[Measurement]] = {}
    for row in old.order_by("at").iterator():
        days.setdefault((row.store_id, row.at.replace(hour=12, minute=0, second=0, microsecond=0)), []).append(row)
    with transaction.atomic():
        for (store_id, noon), rows in days.items():
            names = sorted({name for row in rows for name in row.values})
            means = {name: _mean([row.values.get(name) for row in rows]) for name in names}
            Measurement.objects.create(store_id=store_id, at=noon, verdict=rows[-1].verdict, values=means, daily=True)
            Measurement.objects.filter(pk__in=[row.pk for row in rows]).delete()


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
