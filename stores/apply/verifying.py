"""Looks after drains: are their entities still in the graph, and does anybody write to what was displaced (rulings 4, 53)."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from django.db.models import Q

from stores.apply import carrying, journal, recovering, steps
from stores.apply.draining import aggregate_of, check_graph
from stores.apply.graph_location import GraphLocation, require_a_graph
from stores.apply.place import Place, held
from stores.apply.reading import MOST_BYTES, read_if_there
from stores.apply.steps import Actor, Plan, Unfinished
from stores.apply.targets import Put
from stores.errors import Conflict, MemoryUIError, StoreUnreadable
from stores.files import OURS_SUFFIX, CannotRead, OpenedFile, StoreRoot, has_writer
from stores.formats.orchestkit import Graph, GraphFile, graph_bytes, merge_graph, missing_from, parse_graph, queue
from stores.models import Drain, Fault, SourceFile, Store

MISSING = "missing"
"""Stamp of a graph whose file is not there."""
LONGEST_DRAIN = timedelta(minutes=1)
"""What was written to a displaced file so long before its drain stood was written before it was displaced."""
MOST_REWRITES = 2
"""Entities that vanish once more after this many repetitions are a fault."""

log = logging.getLogger(__name__)


def look_after(store: Store, actor: Actor, now: datetime | None = None) -> None:
    """Settle what was begun, and look at the graph of each drain that is not certain to have lasted; one query when there is neither.

    What is missing is written again, the third time it is a fault instead, and so is what nobody could see when the time is over. A busy
    store is not waited for. What goes wrong with one drain keeps no other from being looked at; raises the first of it at the end.
    """
    now = now or datetime.now(UTC)
    waiting = Q(state__in=("verifying", "lost")) | Q(settled_at=None) | ~Q(displaced="")
    drains = list(Drain.objects.filter(waiting, store=store).order_by("pk"))
    work: list[Callable[[], None]] = [partial(_recover, store)] if journal.has_open(store.uid) else []
    work += [partial(_look_at_graph, store, drain, actor, now) for drain in drains if drain.state != "kept"]
    work += [partial(_look_at_displaced, store, drain, now) for drain in drains if drain.displaced]
    if any(drain.settled_at is None for drain in drains):
        work.append(partial(_settle, store, now))
    errors: list[MemoryUIError | OSError] = []
    for one in work:
        try:
            one()
        except (MemoryUIError, OSError) as err:
            errors.append(err)
    if errors:
        raise errors[0]


def _recover(store: Store) -> None:
    with held(store, 0) as place:
        recovering.recover(store, place)


def _settle(store: Store, now: datetime) -> None:
    with StoreRoot(store.path) as root:
        carrying.settle(store, root, now)


def _look_at_graph(store: Store, drain: Drain, actor: Actor, now: datetime) -> None:
    location = _location(store, drain)
    is_over = now >= drain.verify_until
    stamp = _stamp(location, store)
    if stamp != drain.graph_stamp:
        # Not read unless somebody wrote it since the last look.
        wanted = _wanted(store, drain)
        graph = _graph(location, store) if wanted is not None else None
        if wanted is None or graph is None:
            if is_over and drain.state == "verifying":
                what = location.path if wanted is not None else f"The archived queue {drain.archive_path}"
                _lose(store, drain, f"{what} cannot be read, so nobody can tell whether the graph kept what was drained", [], now)
            return
        stamp, found = graph
        missing = missing_from(found, wanted)
        if not missing:
            _set(drain, graph_stamp=stamp, **({"state": "verifying"} if drain.state == "lost" else {}))
            _forget_fault(store, drain)
        elif drain.state == "lost":
            _set(drain, graph_stamp=stamp)
        elif drain.rewritten >= MOST_REWRITES:
            _lose(store, drain, _lost_words(drain, len(missing.entities)), missing.entities, now)
            _set(drain, graph_stamp=stamp)
        else:
            _repeat(store, drain, location, actor, wanted, is_over=is_over, now=now)
            # What was written is looked at with the next import.
            return
    if drain.state == "verifying" and is_over:
        _set(drain, state="kept")


def _repeat(store: Store, drain: Drain, location: GraphLocation, actor: Actor, wanted: Graph, *, is_over: bool, now: datetime) -> None:
    """Write again what vanished; what stays impossible until the time is over is a fault."""
    try:
        _write_again(store, drain, location, actor, wanted)
    except (Conflict, Unfinished):
        # Somebody else is at work, or the rest follows by itself.
        raise
    except MemoryUIError as err:
        if is_over:
            _lose(store, drain, f"What was drained vanished from {location.path} and cannot be written again: {err}", [], now)
        raise
    _set(drain, rewritten=drain.rewritten + 1)


def _lose(store: Store, drain: Drain, words: str, entities: Sequence[str], now: datetime) -> None:
    _set(drain, state="lost", graph_stamp="")
    _note_fault(store, drain, "drain_lost", words, {"entities": list(entities[:20])}, now)


def _write_again(store: Store, drain: Drain, location: GraphLocation, actor: Actor, wanted: Graph) -> None:
    def plan(place: Place) -> Plan:
        before = read_if_there(place.at(location.folder), location.name)
        found = parse_graph(before or b"")
        require_a_graph(location, found)
        merge = merge_graph(found, wanted)
        if before is not None and not any(merge):
            return Plan("drain_repeated", (), {})
        return Plan(
            "drain_repeated",
            (Put(location.name, before, graph_bytes(found), location.folder),),
            {"graph": location.path, "archive": drain.archive_path, "entities": len(merge.entities), "time": drain.rewritten + 1},
            verify=lambda place: check_graph(place, location, wanted),
        )

    log.warning("Store %s: drained entities vanished from %s; they are written again.", store.slug, location.path)
    steps.change(store, plan, actor, wait_s=0)


def _wanted(store: Store, drain: Drain) -> Graph | None:
    """Read what the drain wrote from the archived queue; None where it does not hold it any more, or cannot be read."""
    length = drain.to_byte - drain.from_byte
    try:
        with StoreRoot(store.path) as root, root.open(drain.archive_path) as opened:
            data = opened.at(drain.from_byte, length)
    except (CannotRead, StoreUnreadable):
        return None
    return aggregate_of(data) if len(data) == length else None


def _stamp(location: GraphLocation, store: Store) -> str | None:
    """Give what differs when the graph's file was written; None when it cannot be opened."""
    try:
        with StoreRoot(location.folder or store.path) as root, root.open(location.name) as opened:
            return _stamp_of(opened)
    except CannotRead as err:
        return MISSING if err.state == "missing" else None
    except StoreUnreadable:
        return None


def _graph(location: GraphLocation, store: Store) -> tuple[str, GraphFile] | None:
    """Give the stamp of the graph's file, and the graph; None when it cannot be read, or is too large to be."""
    try:
        with StoreRoot(location.folder or store.path) as root, root.open(location.name) as opened:
            size = opened.stat.size_bytes
            return (_stamp_of(opened), parse_graph(opened.at(0, size))) if size <= MOST_BYTES else None
    except CannotRead as err:
        return (MISSING, parse_graph(b"")) if err.state == "missing" else None
    except StoreUnreadable:
        return None


def _stamp_of(opened: OpenedFile) -> str:
    return ":".join(map(str, opened.stat[1:]))


def _location(store: Store, drain: Drain) -> GraphLocation:
    return GraphLocation(drain.graph_folder, drain.graph_path, f"{drain.graph_folder or store.path}/{drain.graph_path}", "")


def _look_at_displaced(store: Store, drain: Drain, now: datetime) -> None:
    """See whether somebody still writes to the graph's file that was displaced."""
    place = Path(drain.displaced)
    old = now - drain.at
    if old < carrying.QUIET_FOR:
        return
    try:
        with StoreRoot(place.parent) as root:
            with root.open(place.name) as opened:
                written = has_writer(opened.descriptor)
                is_over = written is False or (written is None and old >= carrying.WATCHED_WITHOUT_LEASE)
                if not is_over and opened.stat.mtime_ns < (drain.at - LONGEST_DRAIN).timestamp() * 1e9:
                    # Nobody wrote to it since, so it need not be read.
                    return
                size = opened.stat.size_bytes
                same = size <= MOST_BYTES and hashlib.sha256(opened.at(0, size)).digest() == bytes(drain.displaced_sha256)
            if same and is_over:
                if place.name.endswith(OURS_SUFFIX):
                    root.remove(place.name)
                _set(drain, displaced="")
    except (CannotRead, StoreUnreadable):
        _set(drain, displaced="")
        return
    if not same:
        words = f"Somebody went on writing to the graph file that a drain displaced; what was written is kept in {place}"
        _note_fault(store, drain, "conflict_after_apply", words, {"kept": str(place)}, now)
        _set(drain, displaced="")


def _lost_words(drain: Drain, entities: int) -> str:
    return (
        f"{entities:,} entities of the drain to {drain.archive_path} were taken out of the graph a third time: some program keeps an older "
        "copy of it. The archived queue still holds them; stop that program and drain again with replay_decisions"
    )


def _note_fault(store: Store, drain: Drain, code: str, message: str, details: dict[str, object], now: datetime) -> None:
    file = _file(store, drain)
    Fault.objects.get_or_create(
        store=store,
        file=file,
        code=code,
        key=drain.journal_id[-16:],
        defaults={
            "path": file.path if file else queue.PATH,
            "severity": "error",
            "rank": 0,
            "message": message,
            "subject_type": "file",
            "details": json.dumps(details),
            "repair_mode": "manual",
            "cross_line": True,
            "first_seen_at": now,
        },
    )


def _forget_fault(store: Store, drain: Drain) -> None:
    Fault.objects.filter(store=store, code="drain_lost", key=drain.journal_id[-16:]).delete()


def _file(store: Store, drain: Drain) -> SourceFile | None:
    """Give the file at which the fault stands: the graph where it is the store's, else the queue; None before either was imported."""
    paths = (queue.PATH if drain.graph_folder else drain.graph_path, queue.PATH)
    files = {file.path: file for file in SourceFile.objects.filter(store=store, path__in=paths)}
    return next((files[path] for path in paths if path in files), None)


def _set(drain: Drain, **changes: object) -> None:
    Drain.objects.filter(pk=drain.pk).update(**changes)
    for name, value in changes.items():
        setattr(drain, name, value)
