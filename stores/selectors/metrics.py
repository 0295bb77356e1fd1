"""The numbers of /metrics, as Prometheus reads them: those that the pages show, from the same functions."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from stores.lifecycle.states import State
from stores.models import AuditEvent, Condition, FacetCount, Fault, LifecycleAction, SourceFile, Store, Task, Worker
from stores.review.installation import is_applying
from stores.selectors import verdicts

RECORD_TYPES = ("decision", "queue_operation", "problem")
LINE_CLASSES = ("record", "refused", "blank", "pending")
OF_QUEUE = {
    "queue_depth": ("memoryui_queue_depth", "Operations in the queue that nothing has drained."),
    "queue_oldest": ("memoryui_queue_oldest_seconds", "Age of the oldest operation in the queue."),
}
"""Condition -> the metric that its value also is."""


class StoreMetrics(Collector):
    """Everything about some stores, their workers and the tasks that wait, as of `now`; eleven queries."""

    def __init__(self, stores: QuerySet[Store], now: datetime) -> None:
        self._judged = [verdicts.judge(store, now) for store in stores.select_related("worker")]
        self._uids = [one.store.uid for one in self._judged]
        self._slugs = {one.store.pk: one.store.slug for one in self._judged}
        self._now = now

    def collect(self) -> Iterable[Metric]:
        """Give every metric with its values."""
        yield from self._verdicts()
        yield from self._lines()
        yield from self._faults()
        yield from self._conditions()
        yield from self._records()
        yield from self._actions()
        yield from self._workers()

    def _verdicts(self) -> Iterable[Metric]:
        verdict = GaugeMetricFamily(
            "memoryui_store_verdict", "1 for the verdict that the store has now.", labels=["store", "kind", "verdict"]
        )
        measured = GaugeMetricFamily("memoryui_store_measured_seconds", "Age of the last measurement.", labels=["store"])
        for one in self._judged:
            for word in verdicts.WORST_FIRST:
                verdict.add_metric([one.store.slug, one.store.kind, word], float(one.verdict == word))
            if one.store.measured_at is not None:
                measured.add_metric([one.store.slug], (self._now - one.store.measured_at).total_seconds())
        return verdict, measured

    def _lines(self) -> Iterable[Metric]:
        lines = GaugeMetricFamily(
            "memoryui_lines", "Lines of a file by what the kind's reader makes of them.", labels=["store", "file", "class"]
        )
        size = GaugeMetricFamily("memoryui_file_bytes", "Size of a file.", labels=["store", "file"])
        # Files in folders of a store may be one for each session: a series for each would be too many.
        for file in SourceFile.objects.filter(store__in=self._slugs).exclude(record_type="").exclude(path__contains="/"):
            slug = self._slugs[file.store_id]
            counts = (file.readable_lines, file.lines_refused + file.tail_refused, file.lines_blank + file.tail_blank, file.tail_pending)
            for word, count in zip(LINE_CLASSES, counts, strict=True):
                lines.add_metric([slug, file.path, word], count)
            size.add_metric([slug, file.path], file.size_bytes)
        return lines, size

    def _faults(self) -> Iterable[Metric]:
        faults = GaugeMetricFamily("memoryui_faults", "Faults by severity.", labels=["store", "severity"])
        rows = Fault.objects.filter(store__in=self._slugs).order_by().values_list("store", "severity").annotate(count=Count("pk"))
        found = {(store, severity): count for store, severity, count in rows}
        for store, slug in self._slugs.items():
            for severity, _ in Fault.SEVERITIES:
                faults.add_metric([slug, severity], found.get((store, severity), 0))
        return (faults,)

    def _conditions(self) -> Iterable[Metric]:
        failing = GaugeMetricFamily(
            "memoryui_condition_failing", "1 where a condition of health fails.", labels=["store", "condition", "file"]
        )
        value = GaugeMetricFamily("memoryui_condition_value", "What a condition measured.", labels=["store", "condition", "file"])
        queue = {code: GaugeMetricFamily(name, text, labels=["store"]) for code, (name, text) in OF_QUEUE.items()}
        for condition in Condition.objects.filter(store__in=self._slugs):
            slug = self._slugs[condition.store_id]
            labels = [slug, condition.code, condition.path]
            failing.add_metric(labels, float(condition.status == "failing"))
            if condition.value is not None:
                value.add_metric(labels, condition.value)
                if condition.code in queue:
                    queue[condition.code].add_metric([slug], condition.value)
        return failing, value, *queue.values()

    def _records(self) -> Iterable[Metric]:
        records = GaugeMetricFamily("memoryui_records", "Records that stand in a store.", labels=["store", "type"])
        problems = GaugeMetricFamily("memoryui_open_problems", "Problems that nobody solved or gave up.", labels=["store"])
        rows = FacetCount.objects.filter(store__in=self._slugs, facet="") | FacetCount.objects.filter(
            store__in=self._slugs, record_type="problem", facet="status", value="open"
        )
        found = {(row.store_id, row.record_type, row.facet): row.count for row in rows}
        for store, slug in self._slugs.items():
            for record_type in RECORD_TYPES:
                records.add_metric([slug, record_type], found.get((store, record_type, ""), 0))
            problems.add_metric([slug], found.get((store, "problem", "status"), 0))
        return records, problems

    def _actions(self) -> Iterable[Metric]:
        """Give the review queue of these stores; what is over stays counted."""
        actions = GaugeMetricFamily("memoryui_actions", "Actions of the review queue by state.", labels=["state"])
        oldest = GaugeMetricFamily(
            "memoryui_actions_oldest_pending_seconds", "Age of the oldest action that waits for a review, 0 for none."
        )
        overdue = GaugeMetricFamily("memoryui_actions_overdue", "Actions that wait for a review longer than their tier allows.")
        results = CounterMetricFamily("memoryui_action_results", "Ends of actions: applied, failed (each try), stale.", labels=["result"])
        applying = GaugeMetricFamily("memoryui_applying", "1 while the switch lets anything be applied.")
        mine = LifecycleAction.objects.filter(store__in=self._slugs)
        by_state = dict(mine.order_by().values_list("state").annotate(count=Count("pk")))
        for state in State:
            actions.add_metric([str(state)], by_state.get(str(state), 0))
        waiting = mine.filter(state=State.PENDING).aggregate(since=Min("created_at"), late=Count("pk", filter=Q(due_at__lte=self._now)))
        oldest.add_metric([], (self._now - waiting["since"]).total_seconds() if waiting["since"] is not None else 0.0)
        overdue.add_metric([], waiting["late"])
        failed = AuditEvent.objects.filter(event="action_failed", store_uid__in=self._uids).count()
        for result, number in (("applied", by_state.get("applied", 0)), ("failed", failed), ("stale", by_state.get("stale", 0))):
            results.add_metric([result], number)
        applying.add_metric([], float(is_applying()))
        return actions, oldest, overdue, results, applying

    def _workers(self) -> Iterable[Metric]:
        seen = GaugeMetricFamily("memoryui_worker_seen_seconds", "Age of a worker's last sign of life.", labels=["worker"])
        alive = GaugeMetricFamily("memoryui_worker_alive", "1 while a worker gives signs of life.", labels=["worker"])
        waiting = GaugeMetricFamily("memoryui_tasks_waiting", "Tasks that wait for a worker.", labels=["worker"])
        rows = Task.objects.filter(state="waiting").order_by().values_list("worker").annotate(count=Count("pk"))
        tasks = dict(rows)
        for worker in Worker.objects.all():
            alive.add_metric([worker.label], float(not verdicts.is_silent(worker, self._now)))
            waiting.add_metric([worker.label], tasks.get(worker.pk, 0))
            if worker.seen_at is not None:
                seen.add_metric([worker.label], (self._now - worker.seen_at).total_seconds())
        return seen, alive, waiting
