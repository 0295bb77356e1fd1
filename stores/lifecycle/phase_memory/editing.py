"""Changes fields of a record file and nothing else: its other fields, its spelling and its form stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stores.formats.canonical import Form, digest, pretty
from stores.formats.phase_memory.aliases import Record, spelling, unwrapped
from stores.formats.phase_memory.layout import may_be_created, path_for
from stores.formats.phase_memory.reading import read_record
from stores.formats.phase_memory.validity import has_unknown_version
from stores.lifecycle.changes import Create, Replace
from stores.lifecycle.effects import EffectRefused, FileNow, Find, TargetEffect, found, said


class Editable(NamedTuple):
    """A record that may be changed."""

    record_type: str
    id: str
    file: FileNow
    value: Record
    """What the file says, a wrapper included."""
    form: Form

    @property
    def record(self) -> Record:
        """What it says, without a wrapper."""
        return unwrapped(self.record_type, self.value)


class Edited(NamedTuple):
    """One file's change, and what becomes of its record."""

    change: Replace | Create
    target: TargetEffect


def editable(find: Find, record_type: str, record_id: str) -> Editable:
    """Read a record that is to be changed; raises EffectRefused where it cannot be."""
    file = found(find, record_type, record_id)
    read = read_record(record_type, file.data)
    if read.refused or read.id != record_id:
        raise EffectRefused(f"{said(file.path)} cannot be read as {said(record_id)}.")
    if has_unknown_version(record_type, read.record):
        raise EffectRefused(f"{said(record_id)} is of a version that is not known here.")
    return Editable(record_type, record_id, file, read.value, read.form or Form())


def edit(given: Editable, change: Callable[[Record], None]) -> Edited:
    """Change a copy of a record's fields and give its file anew."""
    inner = given.value.get(given.record_type)
    wrapped = given.record is not given.value and isinstance(inner, dict)
    record: Record = dict(inner) if wrapped and isinstance(inner, dict) else dict(given.value)
    change(record)
    return rewritten(given, {**given.value, given.record_type: record} if wrapped else record)


def rewritten(given: Editable, value: Record) -> Edited:
    """Give a record's file with another content, in its own form."""
    after = pretty(value, given.form)
    target = TargetEffect(given.record_type, given.id, digest(given.value), digest(value))
    return Edited(Replace(given.file.path, given.file.data, after), target)


def made(record_type: str, record_id: str, value: Record) -> Edited:
    """Give the file of a new record; raises EffectRefused for an id that may not become a file's name."""
    if not may_be_created(record_id):
        raise EffectRefused(f"{said(record_id)} may not become the name of a file: letters, digits, dots, dashes and underscores do.")
    return Edited(Create(path_for(record_type, record_id), pretty(value)), TargetEffect(record_type, record_id, None, digest(value)))


def put(record_type: str, record: Record, name: str, value: object) -> None:
    """Set a field under the name that the record has for it already."""
    record[spelling(record_type, record, name)] = value


def put_inside(record: Record, name: str, values: Record, without: tuple[str, ...] = ()) -> None:
    """Set fields of an object within a record, and take others out of it."""
    inner = record.get(name)
    kept = {key: value for key, value in inner.items() if key not in without} if isinstance(inner, dict) else {}
    record[name] = {**kept, **values}
