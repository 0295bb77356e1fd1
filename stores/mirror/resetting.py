"""Drops a mirror so that it can be built anew, and checks that it says what it should."""

from __future__ import annotations

from django.db import transaction
from django.db.models import Count

from stores.mirror import noted, queue_names, text_index
from stores.mirror.record_types import RECORD_TYPES, RecordType
from stores.models import (
    ActivationItem,
    AuditTarget,
    Change,
    Condition,
    EventUpdate,
    FacetCount,
    Fault,
    FileVersion,
    GraphEntity,
    GraphMention,
    GraphRelation,
    GraphSource,
    ImportRun,
    Measurement,
    NodeSource,
    PathEvent,
    QueueOperation,
    RecordFile,
    RecordTree,
    RecordVersion,
    RefusedLine,
    SourceFile,
    Store,
)

BATCH = 5000


def drop_records(store: Store) -> None:
    """Delete everything mirrored of a store, in short transactions; the store itself, acknowledgements, notes and the audit stay."""
    noted.detach(store)
    for record_type in RECORD_TYPES.values():
        _drop_type(store, record_type)
    graph = (GraphSource, GraphMention, GraphRelation, GraphEntity)
    tree = (NodeSource, PathEvent, ActivationItem, EventUpdate, AuditTarget, RecordFile, RecordTree)
    for model in (*graph, *tree, Fault, RefusedLine, RecordVersion, FacetCount, Change, ImportRun, Measurement, Condition):
        while ids := list(model._default_manager.filter(store=store).values_list("pk", flat=True)[:BATCH]):
            model._default_manager.filter(pk__in=ids).delete()
    # By the ids of the files: asked to join them, PostgreSQL pairs every version with every file as long as it has not counted either.
    files = list(SourceFile.objects.filter(store=store).values_list("pk", flat=True))
    for start in range(0, len(files), BATCH):
        FileVersion.objects.filter(file__in=files[start : start + BATCH]).delete()
    for file_id in SourceFile.objects.filter(store=store, record_type=QueueOperation.record_type).values_list("pk", flat=True):
        queue_names.forget(file_id)
    with transaction.atomic():
        SourceFile.objects.filter(store=store).delete()


def _drop_type(store: Store, record_type: RecordType) -> None:
    model, text_model = record_type.model, record_type.model.text_model
    while ids := list(model._default_manager.filter(store=store).values_list("pk", flat=True)[:BATCH]):
        with transaction.atomic():
            live = model._default_manager.filter(pk__in=ids, gone_at__isnull=True).values_list("pk", flat=True)
            texts = text_model._default_manager.filter(pk__in=list(live)).values_list("pk", "store_id", "search")
            text_index.remove(model, list(texts))
            text_model._default_manager.filter(pk__in=ids)._raw_delete(using="default")
            model._default_manager.filter(pk__in=ids)._raw_delete(using="default")


def reset_mirror(store: Store) -> None:
    """Drop the mirror of a store; the next import builds it anew and touches nothing else (ruling 50)."""
    drop_records(store)
    store.verdict, store.sentence, store.status, store.message, store.classic = "unmeasured", "", "unmeasured", "", {}
    store.measured_at = store.imported_at = None
    store.save()


def check_mirror(store: Store | None = None) -> list[str]:
    """Check the mirror against itself and mend what can be derived: text indexes and counts. Gives what was found, in sentences.

    Text indexes stand for all stores together; counts are checked for the given store, or for every one.
    """
    found = check_text_indexes()
    for each in Store.objects.all() if store is None else [store]:
        found += check_counts(each)
    return found


def check_text_indexes() -> list[str]:
    """Check the text indexes of all stores and make anew what differs; give what was found, in sentences."""
    found = []
    for name, record_type in RECORD_TYPES.items():
        if not text_index.check(record_type.model):
            with transaction.atomic():
                text_index.rebuild(record_type.model)
            found.append(f"The text index of {name} records differed from their texts and was made anew.")
    return found


def check_counts(store: Store) -> list[str]:
    """Check the kept counts of a store, which no import may be moving meanwhile, and make anew what differs."""
    return [found for name, record_type in RECORD_TYPES.items() for found in _check_counts(store, name, record_type)]


def _check_counts(store: Store, name: str, record_type: RecordType) -> list[str]:
    live = record_type.model._default_manager.filter(store=store, gone_at__isnull=True)
    true_counts = {("", ""): live.count()}
    for facet in record_type.facets:
        for value, count in live.values_list(facet).annotate(count=Count("id")).order_by():
            true_counts[(facet, value)] = count
    kept = {(row.facet, row.value): row for row in FacetCount.objects.filter(store=store, record_type=name)}
    wrong = {key for key in true_counts.keys() | kept.keys() if true_counts.get(key, 0) != (kept[key].count if key in kept else 0)}
    if not wrong:
        return []
    with transaction.atomic():
        FacetCount.objects.filter(store=store, record_type=name).delete()
        FacetCount.objects.bulk_create(
            FacetCount(store=store, record_type=name, facet=facet, value=value, count=count)
            for (facet, value), count in true_counts.items()
            if count
        )
    return [f"{store.slug}: {len(wrong)} counts of {name} records were wrong and were made anew."]
