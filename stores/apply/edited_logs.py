"""What agents append to a log that an approved edit displaced: whole lines are carried over to the log that took its place (rulings 4, 38)."""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from stores.apply import journal
from stores.apply.carrying import QUIET_FOR, WATCHED_WITHOUT_LEASE, whole_lines
from stores.apply.journal import Entry
from stores.apply.place import Place
from stores.apply.reading import read_from, read_if_there, size_of
from stores.apply.targets import ExchangeLog
from stores.errors import Conflict, MemoryUIError
from stores.files import CannotRead, OpenedFile, StoreRoot, has_writer, make_folder, ours_beside, write_file_atomically, write_new_file
from stores.models import LifecycleAction, Store
from stores.review import moving

QUIET_LOG: Final = timedelta(seconds=60)
"""A log that somebody may write to is exchanged only when it was left alone for so long."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Watched:
    """A displaced log, and how much of it the new one has."""

    note: Path
    change: str
    number: int
    said: dict[str, Any]

    @property
    def path(self) -> str:
        return str(self.said["path"])

    @property
    def taken(self) -> int:
        return int(self.said["taken"])

    def save(self, **said: Any) -> None:
        self.said |= said
        write_file_atomically(self.note, json.dumps(self.said).encode("ascii"))


def require_quiet(root: StoreRoot, path: str, now: datetime) -> None:
    """Raise Conflict while somebody has a log open for writing and has written to it lately (ruling 38)."""
    try:
        with root.open(path) as opened:
            written = has_writer(opened.descriptor)
            changed_at = datetime.fromtimestamp(opened.stat.mtime_ns / 1e9, UTC)
    except CannotRead:
        return
    if written is not False and changed_at > now - QUIET_LOG:
        raise Conflict(f"{path} is being written to at this moment. It is changed when nobody has it open, or when it was quiet for 60 s.")


def read_quiet(root: StoreRoot, path: str, now: datetime) -> bytes:
    """Read a log that is to be exchanged. Raises Conflict while somebody writes to it, or has begun a line and can still end it."""
    require_quiet(root, path, now)
    data = read_if_there(root, path) or b""
    if whole_lines(data) != data:
        with suppress(CannotRead), root.open(path) as opened:
            # Asked after the reading: the rest of the line would be in the old log, and its beginning in the new one.
            if has_writer(opened.descriptor) or size_of(root, path) != len(data):
                raise Conflict(f"{path} ends in a line that somebody is still writing. It is changed when that line is whole.")
    return data


def is_exchanged(store: Store, place: Place, entry: Entry, target: ExchangeLog) -> bool:
    """Say that a log was exchanged: what lies beside it, or in the journal, is the one that was displaced."""
    number = next(number for number, one in enumerate(entry.intent.targets) if one is target)
    kept = journal.kept_displaced(store.uid, entry.intent.id, number)
    held = kept.read_bytes() if kept.exists() else read_if_there(place.root, ours_beside(target.path, entry.intent.id))
    return held is not None and held.startswith(target.before)


def watch(store: Store, entry: Entry) -> None:
    """Note which logs a change displaced, before anything else becomes of them; raises OSError."""
    for number, target in enumerate(entry.intent.targets):
        if isinstance(target, ExchangeLog):
            folder = journal.watched_logs(store.uid)
            make_folder(folder)
            said = {"path": target.path, "taken": len(target.before), "since": datetime.now(UTC).isoformat(), "doing": None, "lines": []}
            write_new_file(folder / f"{entry.intent.id}.{number}", json.dumps(said).encode("ascii"))


def carried(store: Store, entry: Entry) -> list[dict[str, Any]]:
    """Give the lines that were carried over for a change so far, by their sha256, for its receipt."""
    return [_receipt(one) for one in _noted(store) if one.change == entry.intent.id and one.said["lines"]]


def carry(store: Store, place: Place) -> None:
    """Carry over what was appended to displaced logs, and end the watch of those that nobody can append to any more.

    What goes wrong with one is tried again another time.
    """
    for one in _noted(store):
        try:
            if _carry(store, place, one):
                _tell(one)
            _end(store, place, one)
        except (MemoryUIError, OSError) as err:
            log.warning("%s: what was appended to the log that was displaced is not carried over yet: %s", one.path, err)


def _carry(store: Store, place: Place, one: _Watched) -> bool:
    """Append the whole lines that came; a step that was interrupted is ended first, and no line is appended twice."""
    with _displaced(store, place, one) as opened:
        if opened is None:
            return False
        late = opened.at(one.taken, max(0, opened.stat.size_bytes - one.taken))
    if one.said["doing"] is None:
        end = late.rfind(b"\n") + 1
        if not late[:end].strip():
            if end:
                one.save(taken=one.taken + end)
            return False
        one.save(doing={"to": one.taken + end, "size_before": size_of(place.root, one.path)})
    doing = one.said["doing"]
    lines = [line for line in late[: doing["to"] - one.taken].split(b"\n") if line.strip()]
    there = Counter(read_from(place.root, one.path, doing["size_before"]).split(b"\n"))
    missing = []
    for line in lines:
        if there[line]:
            there[line] -= 1
        else:
            missing.append(line + b"\n")
    if missing:
        place.root.append(one.path, b"".join(missing))
    one.save(taken=doing["to"], doing=None, lines=[*one.said["lines"], *(sha256(line).hexdigest() for line in lines)])
    return bool(lines)


def _end(store: Store, place: Place, one: _Watched) -> None:
    """Stop watching a displaced log when nobody has it open and it was quiet; its bytes stay in the journal."""
    now = datetime.now(UTC)
    since = datetime.fromisoformat(one.said["since"])
    if since > now - QUIET_FOR:
        return
    with _displaced(store, place, one) as opened:
        if opened is not None:
            written = has_writer(opened.descriptor)
            grew = opened.stat.size_bytes > one.taken and opened.at(one.taken, opened.stat.size_bytes - one.taken).rfind(b"\n") >= 0
            if grew or (since > now - WATCHED_WITHOUT_LEASE if written is None else written):
                return
    beside = ours_beside(one.path, one.change)
    held = read_if_there(place.root, beside)
    if held is not None:
        kept = journal.kept_displaced(store.uid, one.change, one.number)
        make_folder(kept.parent)
        write_file_atomically(kept, held)
        place.root.remove(beside)
    one.note.unlink(missing_ok=True)


def _tell(one: _Watched) -> None:
    """Let the receipt of the action list what was carried over since it was applied."""
    row = LifecycleAction.objects.filter(change_id=one.change).first()
    if row is not None:
        others = [said for said in row.receipt.get("carried", []) if said["path"] != one.path]
        moving.change(row, receipt={**row.receipt, "carried": [*others, _receipt(one)]})


def _receipt(one: _Watched) -> dict[str, Any]:
    return {"path": one.path, "lines": list(one.said["lines"])}


def _noted(store: Store) -> Iterator[_Watched]:
    folder = journal.watched_logs(store.uid)
    for note in sorted(folder.iterdir()) if folder.is_dir() else ():
        change, _, number = note.name.rpartition(".")
        try:
            said = json.loads(note.read_bytes())
            if {"path", "taken", "since", "doing", "lines"} <= said.keys() and number.isdigit():
                yield _Watched(note, change, int(number), said)
        except (OSError, ValueError, AttributeError):
            continue


@contextmanager
def _displaced(store: Store, place: Place, one: _Watched) -> Iterator[OpenedFile | None]:
    """Open a displaced log where it lies: in the journal, or beside the new one; None when it is gone."""
    kept = journal.kept_displaced(store.uid, one.change, one.number)
    try:
        if kept.exists():
            with StoreRoot(kept.parent) as root, root.open(kept.name) as opened:
                yield opened
        else:
            with place.root.open(ours_beside(one.path, one.change)) as opened:
                yield opened
    except CannotRead:
        yield None
