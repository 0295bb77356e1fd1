"""What the mirror says of a store, as plain values that two imports can be compared by."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

from django.db.models import Q

from stores.formats import KINDS
from stores.formats.base import FileSpec
from stores.formats.search_text import parse_query
from stores.mirror import text_index
from stores.mirror.importing import import_store
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.relocating import remove_store
from stores.models import FacetCount, Fault, GraphEntity, GraphMention, GraphRelation, RefusedLine, SourceFile, Store, Worker

OF_ITS_OWN = {"id", "store", "file", "generation", "first_seen_at", "gone_at", "gone_reason"}
"""Columns in which two mirrors of the same disk may differ."""


def register(root: Path, slug: str = "", kind: str = "orchestkit") -> Store:
    """Register a folder without looking at it, under a worker of its own."""
    worker = Worker.objects.create(label="test")
    slug = slug or f"s{uuid.uuid4().hex[:8]}"
    return Store.objects.create(slug=slug, name=slug, kind=kind, path=str(root), given_path=str(root), worker=worker)


def place_of(root: Path, spec: FileSpec) -> Path:
    """Give one path for which a spec of the store or of its project stands."""
    return (root.parents[1] if spec.anchor else root) / spec.path.replace("*", "one-of-many")


def image(store: Store) -> dict[str, Any]:
    """Give everything that a mirror of the store must say, whatever way it came to it."""
    result: dict[str, Any] = {}
    for name, record_type in RECORD_TYPES.items():
        model = record_type.model
        columns = [field.name for field in model._meta.concrete_fields if field.name not in OF_ITS_OWN]
        live = model._default_manager.filter(store=store, gone_at__isnull=True)
        rows = live.values_list("file__path", *columns, "text__raw", "text__search").order_by("file__path", "line")
        result[name] = [tuple(bytes(value) if isinstance(value, memoryview) else value for value in row) for row in rows]
        result[f"{name} counts"] = {
            (facet, value): count
            for facet, value, count in FacetCount.objects.filter(store=store, record_type=name).values_list("facet", "value", "count")
        }
        ids = dict(live.values_list("pk", "line"))
        for word in ("redis", "line", "open"):
            found = text_index.matching_ids(model, parse_query(word), [store.pk])
            result[f"{name} search {word}"] = sorted(ids[pk] for pk in found)
    faults = Fault.objects.filter(store=store).values_list(
        "path", "code", "severity", "line", "byte", "subject_type", "subject_id", "key", "message", "details", "cross_line"
    )
    result["faults"] = sorted(faults, key=repr)
    refused = RefusedLine.objects.filter(store=store).values_list(
        "file__path", "line", "offset", "length", "sha256", "raw", "before", "after"
    )
    result["graph"] = graph_facts(store)
    result["refused"] = sorted(tuple(bytes(value) if isinstance(value, memoryview) else value for value in row) for row in refused)
    # Only files that every store has are said to be missing; of others that went, the mirror keeps what is gone.
    sources = SourceFile.objects.filter(Q(exists=True) | Q(path__in=KINDS[store.kind].expected), store=store).exclude(record_type="").values_list(
        "path", "exists", "state", "size_bytes", "offset", "next_line", "end_state", "reader_state",
        "lines_record", "lines_refused", "lines_blank", "tail_record", "tail_refused", "tail_blank", "tail_pending",
    )  # fmt: skip
    result["files"] = sorted(sources)
    return result


def fresh_image(root: Path) -> dict[str, Any]:
    """Give the image of a full import into an empty mirror."""
    store = register(root)
    import_store(store, full=True)
    result = image(store)
    remove_store(store)
    return result


def graph_image(store: Store) -> dict[str, Any]:
    """Give everything that the graph of the store must say."""
    of_its_own = {"id", "store", "key", "entity", "start", "end"}
    entities = [field.name for field in GraphEntity._meta.concrete_fields if field.name not in of_its_own]
    relations = [field.name for field in GraphRelation._meta.concrete_fields if field.name not in of_its_own]
    return {
        "entities": sorted(GraphEntity.objects.filter(store=store).values_list(*entities)),
        "relations": sorted(GraphRelation.objects.filter(store=store).values_list("start__name", "end__name", *relations)),
        "mentions": sorted(GraphMention.objects.filter(store=store).values_list("entity__name", "record_type", "record_id")),
    }


def graph_facts(store: Store) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Give what the graph must say in whatever order its records came: what an entity is, its first record says."""
    entities = GraphEntity.objects.filter(store=store)
    relations = GraphRelation.objects.filter(store=store)
    return (
        sorted(entities.values_list("name", "decisions", "queued", "filed", "degree", "newest_ms")),
        sorted(relations.values_list("start__name", "end__name", "type", "decisions", "queued", "filed")),
    )
