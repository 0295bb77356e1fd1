"""The source files of a store that have a reader."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import datetime

from stores.formats.base import FileSpec, Kind
from stores.mirror.reading import vanished
from stores.models import SourceFile, Store


class Sources:
    """Those of one store as they were after the last import: one query, and one for each that is new."""

    def __init__(self, store: Store, kind: Kind, now: datetime) -> None:
        self._store, self._kind, self._now = store, kind, now
        self._spec_of = kind.spec_of
        rows = SourceFile.objects.filter(store=store).exclude(record_type="").defer("reader_state", "end_state").order_by("path")
        self.known = {source.path: source for source in rows}
        """By path."""
        for path, source in list(self.known.items()):
            spec = self._spec_of(path)
            if spec is None or spec.record_type != source.record_type:
                self._change_reader(source, spec)

    def get(self, path: str, spec: FileSpec) -> SourceFile:
        """Give the source file of a path, made if need be."""
        source = self.known.get(path)
        if source is None:
            source = SourceFile.objects.create(store=self._store, path=path, record_type=spec.record_type, exists=False, state="missing")
            self.known[path] = source
        return source

    def others(self, done: Collection[str], anchored: bool | None = None) -> Iterator[tuple[SourceFile, FileSpec]]:
        """Give those that are there as far as is known and are not among `done`; only companions, only own files, or both."""
        for path, source in self.known.items():
            spec = self._spec_of(path)
            if spec is not None and path not in done and source.exists and anchored in (None, bool(spec.anchor)):
                yield source, spec

    def _change_reader(self, source: SourceFile, spec: FileSpec | None) -> None:
        """Let go of the records of a file that another reader takes now, or none."""
        old = next((spec for spec in self._kind.files if spec.record_type == source.record_type), None)
        if old is not None:
            vanished(source, old, self._now, "read anew")
        source.record_type = spec.record_type if spec else ""
        source.save(update_fields=["record_type"])
        if spec is None:
            del self.known[source.path]
