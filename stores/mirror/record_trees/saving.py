"""Saves the record files of one folder in short transactions: file, record, texts, links and counts together (ruling 8)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

from django.db import connection

from stores.formats.base import FileSpec
from stores.mirror import bulk, text_index
from stores.mirror.counters import FacetDeltas
from stores.mirror.links import save_links
from stores.mirror.reading import VERSIONS_KEPT
from stores.mirror.record_trees.reading import ReadFile
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.saving import Tally, quick_transaction
from stores.models import RecordFile, RecordVersion, SourceFile

OURS = ("natural_id", "key", "length", "sha256", "path", "digest")
_FILE_COLUMNS = ("path", "record_id", "state", "size_bytes", "mtime_ns", "ctime_ns", "inode", "racy", "sha256", "facts", "raw")
_SEEN: Mapping[str, object] = {
    "gone_at": None,
    "gone_reason": "",
    "unreadable_since": None,
    "unreadable_cause": "",
}
GONE_BATCH = 2000
CHANGES_TOLD = 20
"""Files of a folder that changed are told one by one up to this many, else together."""
NAMES_A_QUERY = 500


class _Known(NamedTuple):
    """What the mirror has of a file."""

    pk: int
    path: str
    record_id: int | None
    sha256: bytes


class _Old(NamedTuple):
    """What the mirror has of a record."""

    pk: int
    natural_id: str
    sha256: bytes
    digest: bytes
    length: int
    gone: bool
    unreadable: bool
    facets: tuple[Any, ...]


class Told(NamedTuple):
    """What became of one file, as the list of changes says it."""

    path: str
    what: str
    bytes_before: int = 0
    bytes_after: int = 0


class RecordWriter:
    """Writes the files of one folder."""

    def __init__(self, source: SourceFile, spec: FileSpec, now: datetime) -> None:
        self.tally = Tally()
        self.told: list[Told] = []
        """What became of the first files that changed."""
        self._source, self._spec, self._now = source, spec, now
        self._type = RECORD_TYPES[spec.record_type]
        self._model: Any = self._type.model
        self._names = (*spec.columns, *OURS)
        self._facet_places = [(facet, spec.columns.index(facet)) for facet in self._type.facets]
        self._deltas = FacetDeltas()
        self._files = RecordFile.objects.filter(folder=source)

    @cached_property
    def _is_new(self) -> bool:
        """Nothing of the folder was ever read."""
        return not self._files.exists() and not self._model._default_manager.filter(file=self._source).exists()

    def _tell(self, path: str, what: str, before: int = 0, after: int = 0) -> None:
        if len(self.told) <= CHANGES_TOLD:
            self.told.append(Told(path, what, before, after))

    def take_out(self, names: Iterable[str], reason: str) -> None:
        """Let go of files that are there no more; their records are gone."""
        paths = [f"{self._source.path}/{name}" for name in names]
        for path in paths:
            self._tell(path, "vanished")
        for start in range(0, len(paths), NAMES_A_QUERY):
            with quick_transaction():
                found = list(self._files.filter(path__in=paths[start : start + NAMES_A_QUERY]).values_list("pk", "record_id"))
                self._let_go([record_id for _, record_id in found if record_id is not None], reason)
                RecordFile.objects.filter(pk__in=[pk for pk, _ in found])._raw_delete(using="default")
                self._deltas.save(self._source.store_id)

    def save(self, files: Sequence[ReadFile]) -> None:
        """Commit some files."""
        with quick_transaction():
            known = {} if self._is_new else self._known(files)
            record_ids = self._save_records(files, known)
            self._save_files(files, known, record_ids)
            self._deltas.save(self._source.store_id)

    def _known(self, files: Sequence[ReadFile]) -> dict[str, _Known]:
        found: dict[str, _Known] = {}
        paths = [file.path for file in files]
        for start in range(0, len(paths), NAMES_A_QUERY):
            rows = self._files.filter(path__in=paths[start : start + NAMES_A_QUERY])
            for pk, path, record_id, sha256 in rows.values_list("pk", "path", "record_id", "sha256"):
                found[path] = _Known(pk, path, record_id, bytes(sha256))
        return found

    def _save_records(self, files: Sequence[ReadFile], known: Mapping[str, _Known]) -> list[int | None]:
        """Save what is a record; give the key of each file's record, None where it never was one."""
        record_ids = [seen.record_id if (seen := known.get(file.path)) else None for file in files]
        olds = self._olds([record_id for record_id in record_ids if record_id is not None])
        lost, broken = [], defaultdict(list)
        waiting: list[int] = []
        updates: list[tuple[ReadFile, _Old]] = []
        for place, file in enumerate(files):
            record_id = record_ids[place]
            old = olds.get(record_id) if record_id is not None else None
            if file.mirrored is None:
                if old is not None and not old.gone and not old.unreadable:
                    broken[file.facts.refused].append(old.pk)
                    self._tell(file.path, "unreadable", old.length, file.stat.size_bytes)
            elif old is not None and not old.gone and old.natural_id == file.natural_id:
                updates.append((file, old))
            else:
                if old is not None and not old.gone:
                    lost.append(old.pk)
                waiting.append(place)
        self._let_go(lost, "another id in its file")
        for cause, ids in broken.items():
            self._model._default_manager.filter(pk__in=ids).update(unreadable_since=self._now, unreadable_cause=cause[:32])
        new: list[int] = []
        returned = self._returning([files[place] for place in waiting])
        for place in waiting:
            came_back = returned.get(files[place].path)
            if came_back is None:
                new.append(place)
            else:
                record_ids[place] = came_back.pk
                updates.append((files[place], came_back))
        self._update(updates)
        for place, number in zip(new, self._insert([files[place] for place in new]), strict=True):
            record_ids[place] = number
        return record_ids

    def _olds(self, ids: Sequence[int]) -> dict[int, _Old]:
        found: dict[int, _Old] = {}
        for start in range(0, len(ids), NAMES_A_QUERY):
            for old in self._old_rows(pk__in=ids[start : start + NAMES_A_QUERY]):
                found[old.pk] = old
        return found

    def _old_rows(self, **where: object) -> list[_Old]:
        columns = ("id", "natural_id", "sha256", "digest", "length", "gone_at", "unreadable_since")
        rows = self._model._default_manager.filter(**where).order_by("id").values_list(*columns, *self._type.facets)
        return [
            _Old(pk, name, bytes(sha256), bytes(digest), length, gone_at is not None, since is not None, tuple(facets))
            for pk, name, sha256, digest, length, gone_at, since, *facets in rows
        ]

    def _returning(self, files: Sequence[ReadFile]) -> dict[str, _Old]:
        """Pair files with gone records of their ids, so that a record keeps its key when its file comes back or is renamed (ruling 31)."""
        if self._is_new or not files:
            return {}
        keys = sorted({file.key for file in files})
        gone: dict[str, list[_Old]] = defaultdict(list)
        for start in range(0, len(keys), NAMES_A_QUERY):
            for old in self._old_rows(file=self._source, key__in=keys[start : start + NAMES_A_QUERY], gone_at__isnull=False):
                gone[old.natural_id].append(old)
        return {file.path: olds.pop(0) for file in files if (olds := gone.get(file.natural_id))}

    def _row(self, file: ReadFile) -> tuple[object, ...]:
        values = file.mirrored.values if file.mirrored else ()
        return (*values, file.natural_id, file.key, file.stat.size_bytes, file.sha256, file.path, file.facts.digest)

    def _insert(self, files: Sequence[ReadFile]) -> Sequence[int]:
        if not files:
            return ()
        store_id = self._source.store_id
        same = {"store": store_id, "file": self._source.pk, "first_seen_at": self._now, "generation": self._source.generation, **_SEEN}
        same |= {"provisional": False, "line": 1, "offset": 0, "fault_count": 0, "is_duplicate": False}
        numbers = bulk.insert_numbered(self._model, [self._row(file) for file in files], self._names, same)
        texts = [(number, file.raw, file.mirrored.search if file.mirrored else "") for number, file in zip(numbers, files, strict=True)]
        bulk.insert(self._model.text_model, texts, ("record", "raw", "search"), {"store_id": store_id})
        text_index.add_range(self._model, numbers[0], numbers[-1])
        save_links(
            self._spec.record_type,
            store_id,
            [(number, file.mirrored.links) for number, file in zip(numbers, files, strict=True) if file.mirrored],
        )
        self._deltas.add_counts(self._spec.record_type, "", {"": len(files)})
        for facet, place in self._facet_places:
            values = [file.mirrored.values[place] for file in files if file.mirrored]
            self._deltas.add_counts(self._spec.record_type, facet, Counter(map(str, values)))
        for file in files[: CHANGES_TOLD + 1]:
            self._tell(file.path, "created", 0, file.stat.size_bytes)
        self.tally.created += len(files)
        return numbers

    def _update(self, updates: Sequence[tuple[ReadFile, _Old]]) -> None:
        """Save records whose file was read again: an earlier wording is kept, and what only stands still is left as it is."""
        changed = [(file, old) for file, old in updates if file.sha256 != old.sha256]
        touched = [(file, old) for file, old in updates if file.sha256 != old.sha256 or old.gone or old.unreadable]
        if not touched:
            return
        store_id = self._source.store_id
        texts = self._model.text_model._default_manager.in_bulk([old.pk for _, old in touched])
        self._keep_versions(changed, {pk: bytes(text.raw) for pk, text in texts.items()})
        indexed = [(old.pk, store_id, texts[old.pk].search) for _, old in touched if not old.gone and old.pk in texts]
        text_index.remove(self._model, indexed)
        rows = [(*self._row(file), old.pk) for file, old in touched]
        bulk.update(self._model, self._names, rows, {"generation": self._source.generation, **_SEEN})
        words = [(file.raw, file.mirrored.search if file.mirrored else "", old.pk) for file, old in touched]
        bulk.update(self._model.text_model, ("raw", "search"), words)
        text_index.add(self._model, [(pk, store_id, search) for _, search, pk in words])
        links = [(old.pk, file.mirrored.links) for file, old in changed if file.mirrored]
        save_links(self._spec.record_type, store_id, links, [old.pk for _, old in changed])
        for file, old in touched:
            self._count(file, +1)
            if old.gone:
                self.tally.created += 1
                self._tell(file.path, "returned", 0, file.stat.size_bytes)
            else:
                self._tell(file.path, "rewritten", old.length, file.stat.size_bytes)
                self._deltas.add(self._spec.record_type, zip(self._type.facets, map(str, old.facets), strict=True), -1)
                self.tally.updated += file.sha256 != old.sha256

    def _count(self, file: ReadFile, sign: int) -> None:
        values = file.mirrored.values if file.mirrored else ()
        self._deltas.add(self._spec.record_type, [(facet, str(values[place])) for facet, place in self._facet_places], sign)

    def _keep_versions(self, changed: Sequence[tuple[ReadFile, _Old]], raws: Mapping[int, bytes]) -> None:
        """Keep the earlier wording of reworded records: 200 versions, at most a year old (ruling 37)."""
        if not changed:
            return
        record_type = self._spec.record_type
        RecordVersion.objects.bulk_create(
            [
                RecordVersion(
                    record_type=record_type,
                    record_id=old.pk,
                    store_id=self._source.store_id,
                    replaced_at=self._now,
                    line=1,
                    sha256=old.sha256,
                    digest=old.digest,
                    raw=raws.get(old.pk, b""),
                )
                for _, old in changed
            ],
            batch_size=500,
        )
        ids = [old.pk for _, old in changed]
        versions = RecordVersion.objects.filter(record_type=record_type, record_id__in=ids)
        versions.filter(replaced_at__lt=self._now - timedelta(days=366)).delete()
        for record_id in ids if versions.count() > VERSIONS_KEPT else ():
            kept = list(versions.filter(record_id=record_id).values_list("pk", flat=True)[:VERSIONS_KEPT])
            if len(kept) == VERSIONS_KEPT:
                versions.filter(record_id=record_id).exclude(pk__in=kept).delete()

    def _let_go(self, ids: Sequence[int], reason: str) -> None:
        """Mark live records as gone (ruling 29)."""
        for start in range(0, len(ids), GONE_BATCH):
            live = self._model._default_manager.filter(pk__in=ids[start : start + GONE_BATCH], gone_at__isnull=True)
            gone = list(live.values_list("id", *self._type.facets))
            some = [row[0] for row in gone]
            texts = self._model.text_model._default_manager.filter(pk__in=some).values_list("pk", "store_id", "search")
            text_index.remove(self._model, list(texts) if connection.vendor == "sqlite" else [])
            self._model._default_manager.filter(pk__in=some).update(
                gone_at=self._now, gone_reason=reason, is_duplicate=False, fault_count=0
            )
            for row in gone:
                self._deltas.add(self._spec.record_type, zip(self._type.facets, map(str, row[1:]), strict=True), -1)
            self.tally.removed += len(gone)

    def _save_files(self, files: Sequence[ReadFile], known: Mapping[str, _Known], record_ids: Sequence[int | None]) -> None:
        new, moved = [], []
        for file, record_id in zip(files, record_ids, strict=True):
            raw = b"" if file.mirrored is not None else file.raw
            facts = (*file.stat[2:5], file.stat.inode, file.racy, file.sha256, file.packed_facts, raw)
            row = (file.path, record_id, file.state, *facts)
            old = known.get(file.path)
            if old is None:
                new.append(row)
            else:
                moved.append((*row, old.pk))
        bulk.insert(RecordFile, new, _FILE_COLUMNS, {"store": self._source.store_id, "folder": self._source.pk})
        bulk.update(RecordFile, _FILE_COLUMNS, moved)
