"""Writes what records tell into the tables of the graph, by keys and in bulk; call it inside a transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from django.db.models import Model, Q

from stores.formats.orchestkit import graph_key
from stores.formats.search_text import search_text
from stores.mirror import bulk
from stores.mirror.graph_rows import PARTS, Part, Relation, Told, ToldEntity
from stores.models import GraphEntity, GraphMention, GraphRelation

KEYS_AT_ONCE = 800
WORDS_LENGTH = 600
T = TypeVar("T")
_TIMES = tuple(part.times for part in PARTS)
_NEWEST = tuple(part.newest for part in PARTS)
_TYPES = tuple(part.type for part in PARTS)
_TEXTS = ("type", "title", "words", *_TYPES)
_NUMBERS = ("degree", "newest_ms", *_TIMES, *(part.observations for part in PARTS), *_NEWEST)
_SAVED = (*_TEXTS, *_NUMBERS)
_BLANK = {**dict.fromkeys(_TEXTS, ""), **dict.fromkeys(_NUMBERS, 0)}
_UNTOLD = Q(**dict.fromkeys(_TIMES, 0))


def save(store_id: int, part: Part, told: Told) -> None:
    """Add what some records of a source tell: some ten statements for any number of them."""
    ids, fresh = _save_entities(store_id, part, told)
    degrees = _save_relations(store_id, part, told.relations, ids, fresh)
    _add_degrees(degrees)
    if part.mentions:
        rows = [(ids[name], record_id) for name, record_id in told.mentions]
        bulk.insert(GraphMention, rows, ("entity", "record_id"), {"store": store_id, "record_type": part.record_type})


def forget(store_id: int, part: Part) -> None:
    """Count nothing that a source told any more; the rows stay, for what it tells next."""
    told = GraphEntity.objects.filter(~Q(**{part.times: 0}), store=store_id)
    told.update(**{part.type: "", **dict.fromkeys((part.times, part.observations, part.newest), 0)})
    GraphRelation.objects.filter(~Q(**{part.times: 0}), store=store_id).update(**{part.times: 0})
    if part.mentions:
        GraphMention.objects.filter(store=store_id, record_type=part.record_type)._raw_delete(using="default")


def drop_the_rest(store_id: int) -> None:
    """Delete what no source tells any more, and say anew how many relations and which date is left to their ends."""
    left = GraphRelation.objects.filter(_UNTOLD, store=store_id).values_list("pk", "start", "end")
    for rows in _parts(list(left)):
        GraphRelation.objects.filter(pk__in=[row[0] for row in rows])._raw_delete(using="default")
        _add_degrees(Counter(end for row in rows for end in {row[1], row[2]}), sign=-1)
    bare = GraphEntity.objects.filter(_UNTOLD, store=store_id, degree=0).values_list("pk", flat=True)
    for keys in _parts(list(bare)):
        GraphEntity.objects.filter(pk__in=keys)._raw_delete(using="default")
    _renew(store_id)


def _parts(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), KEYS_AT_ONCE):
        yield rows[start : start + KEYS_AT_ONCE]


def _by_key(model: type[Model], store_id: int, keys: Iterable[int], *columns: str) -> dict[int, tuple[Any, ...]]:
    """Give rows by their key: (id, columns ...)."""
    rows = model._default_manager.filter(store=store_id)
    return {row[0]: row[1:] for some in _parts(sorted(keys)) for row in rows.filter(key__in=some).values_list("key", "id", *columns)}


def _save_entities(store_id: int, part: Part, told: Told) -> tuple[dict[str, int], set[str]]:
    """Save the entities of a slice; give their ids by name, and which of them are new."""
    keys = {name: graph_key(name) for name in told.entities}
    known = _by_key(GraphEntity, store_id, keys.values(), *_SAVED)
    new: list[tuple[str, bulk.Row]] = []
    changed: list[bulk.Row] = []
    ids: dict[str, int] = {}
    for name, entity in told.entities.items():
        old = known.get(keys[name])
        before = dict(zip(_SAVED, old[1:], strict=True)) if old else _BLANK
        values = _merged(name, part, entity, before)
        row = tuple(values[column] for column in _SAVED)
        if old is None:
            new.append((name, (keys[name], name, *row)))
        else:
            ids[name] = old[0]
            if row != tuple(old[1:]):
                changed.append((*row, old[0]))
    if new:
        numbers = bulk.insert_numbered(GraphEntity, [row for _, row in new], ("key", "name", *_SAVED), {"store": store_id})
        ids.update(zip((name for name, _ in new), numbers, strict=True))
    bulk.update(GraphEntity, _SAVED, changed)
    return ids, {name for name, _ in new}


def _merged(name: str, part: Part, entity: ToldEntity, before: Mapping[str, Any]) -> dict[str, Any]:
    """Give the columns of an entity with what a source adds; what the source's first record said it is stays."""
    values = dict(before)
    values[part.type] = before[part.type] or entity.type
    values["type"] = _first(values[column] for column in _TYPES)
    if entity.title != name or not before["title"]:
        values["title"] = entity.title
        values["words"] = f" {search_text(name, '' if entity.title == name else entity.title)}"[:WORDS_LENGTH]
    values[part.times] += entity.times
    values[part.observations] += entity.observations
    values[part.newest] = max(before[part.newest], entity.newest_ms)
    values["newest_ms"] = max(values[column] for column in _NEWEST)
    return values


def _first(words: Iterable[str]) -> str:
    return next((word for word in words if word), "")


def _save_relations(store_id: int, part: Part, told: Counter[Relation], ids: dict[str, int], fresh: set[str]) -> Counter[int]:
    """Save the relations of a slice; give by how many each entity gained."""
    keys = {relation: graph_key(*relation) for relation in told}
    # A relation of an entity that is new is new.
    asked = [keys[relation] for relation in told if relation[0] not in fresh and relation[1] not in fresh]
    known = _by_key(GraphRelation, store_id, asked, part.times)
    new: list[bulk.Row] = []
    changed: list[bulk.Row] = []
    degrees: Counter[int] = Counter()
    for relation, times in told.items():
        old = known.get(keys[relation])
        if old is not None:
            changed.append((old[1] + times, old[0]))
            continue
        start, end = ids[relation[0]], ids[relation[1]]
        new.append((keys[relation], start, end, relation[2], *(times if name == part.times else 0 for name in _TIMES)))
        degrees.update({start, end})
    bulk.insert(GraphRelation, new, ("key", "start", "end", "type", *_TIMES), {"store": store_id})
    bulk.update(GraphRelation, (part.times,), changed)
    return degrees


def _add_degrees(gained: Counter[int], sign: int = 1) -> None:
    degrees: dict[int, int] = {}
    for keys in _parts(sorted(gained)):
        degrees.update(GraphEntity.objects.filter(pk__in=keys).values_list("pk", "degree"))
    bulk.update(GraphEntity, ("degree",), [(degree + sign * gained[pk], pk) for pk, degree in degrees.items()])


def _renew(store_id: int) -> None:
    """Say anew what each entity is and which date is its newest: a source that was taken anew may no longer say so."""
    told = GraphEntity.objects.filter(store=store_id).values_list("pk", "type", "newest_ms", *_TYPES, *_NEWEST)
    wrong = []
    for pk, kind, newest_ms, *said in told.iterator():
        right = (_first(said[: len(_TYPES)]), max(said[len(_TYPES) :]))
        if right != (kind, newest_ms):
            wrong.append((*right, pk))
    for some in _parts(wrong):
        bulk.update(GraphEntity, ("type", "newest_ms"), some)
