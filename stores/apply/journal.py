"""The journal: what a change is about to do, with all bytes, on the disk of our data folder before the first byte of a store moves.

An entry is a folder. It lies below `open` while its change is under way and below `done` afterwards, with the receipt and every
displaced file. Nothing of it lies in a store.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from stores.apply.targets import Append, EndLine, ExchangeLog, MakeFolder, Move, Put, TakeOut, Target
from stores.errors import CannotWrite
from stores.files import make_folder, rename_folder, why, write_file_atomically, write_new_file

INTENT_FILE = "intent.json"
RECEIPT_FILE = "receipt.json"
STANDS_FILE = "stands"
BEING_MADE = ".making-"


@dataclass(frozen=True, slots=True)
class Intent:
    """A change as it was decided: who, what, and what it does to which file."""

    id: str
    """Also the token in the names of our files beside those of the store."""
    event: str
    """The audit event that the change becomes."""
    actor: str
    through: str
    begun_at: str
    detail: Mapping[str, Any]
    """What the audit event says; numbers and texts only."""
    targets: tuple[Target, ...]
    drain: Mapping[str, Any] | None = None
    """What `recording` makes a Drain of."""
    action: Mapping[str, Any] | None = None
    """What becomes of the queued action that the change carries out; see `queued.settle`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One change in the journal."""

    folder: Path
    intent: Intent

    def displaced(self, number: int) -> Path:
        """Where the file is kept that target `number` displaced."""
        return self.folder / f"{number}.displaced"

    @property
    def stands(self) -> bool:
        """Whether everything was written and verified: then there is no way back, though every file could be put back."""
        return (self.folder / STANDS_FILE).exists()


@dataclass(frozen=True, slots=True)
class Beside:
    """A displaced file that still lies in the folder from which it was displaced, because somebody may write to it."""

    note: Path
    folder: str
    """As in its target."""
    path: str
    kept: Path
    """Where a copy of it lies."""


def new_id(now: datetime) -> str:
    """Give the id of a new entry; ids sort by time."""
    return f"{now.astimezone(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"


def begin(store_uid: UUID, intent: Intent) -> Entry:
    """Write down what is about to happen; raises CannotWrite when that is not possible: then nothing may happen."""
    place = _open(store_uid)
    making = place / f"{BEING_MADE}{intent.id}"
    try:
        make_folder(making)
        said = [_said(making, number, target) for number, target in enumerate(intent.targets)]
        write_new_file(making / INTENT_FILE, _json({**_plain(intent), "targets": said}))
        rename_folder(making, place / intent.id)
    except OSError as err:
        for begun in (making, place / intent.id):
            shutil.rmtree(begun, ignore_errors=True)
        raise CannotWrite(f"The journal in the data folder cannot be written ({why(err)}), so the store was left as it is.") from err
    return Entry(place / intent.id, intent)


def has_open(store_uid: UUID) -> bool:
    """Say that there is something to settle: a change was begun and not closed, or a displaced file is watched."""
    return any(place.is_dir() and any(place.iterdir()) for place in (_open(store_uid), _beside(store_uid), watched_logs(store_uid)))


def mark_standing(entry: Entry) -> None:
    """Note that a change is whole, where neither a log nor a name that moved tells it; raises CannotWrite."""
    try:
        write_new_file(entry.folder / STANDS_FILE, b"")
    except OSError as err:
        raise CannotWrite(f"The journal in the data folder cannot be written: {why(err)}.") from err


def open_entries(store_uid: UUID) -> list[Entry]:
    """Give the changes that were begun and not closed, oldest first; what was never begun is cleared away. Raises CannotWrite."""
    place = _open(store_uid)
    if not place.is_dir():
        return []
    entries = []
    for folder in sorted(place.iterdir()):
        if folder.name.startswith(BEING_MADE) or not any((folder / name).exists() for name in (INTENT_FILE, RECEIPT_FILE)):
            shutil.rmtree(folder, ignore_errors=True)
        elif (folder / RECEIPT_FILE).exists():
            _put_away(folder, store_uid)
        else:
            entries.append(Entry(folder, _read(folder)))
    return entries


def close(store_uid: UUID, entry: Entry, receipt: Mapping[str, object]) -> None:
    """Keep the receipt and put the entry away; what the store holds itself is not kept twice. Raises CannotWrite."""
    try:
        write_new_file(entry.folder / RECEIPT_FILE, _json(receipt))
        for spent in entry.folder.glob("*.after"):
            spent.unlink()
        (entry.folder / STANDS_FILE).unlink(missing_ok=True)
        for number, target in enumerate(entry.intent.targets):
            if isinstance(target, Put | TakeOut | ExchangeLog) and entry.displaced(number).exists():
                (entry.folder / f"{number}.before").unlink(missing_ok=True)
        _put_away(entry.folder, store_uid)
    except OSError as err:
        raise CannotWrite(f"The journal in the data folder cannot be written: {why(err)}. The change itself stands.") from err


def drop(store_uid: UUID, entry: Entry) -> None:
    """Forget a change of which nothing was done, which a full disk allows too; what an agent wrote meanwhile is kept. Raises CannotWrite."""
    if any(entry.folder.glob("*.displaced")):
        close(store_uid, entry, {"change": entry.intent.id, "outcome": "abandoned"})
        return
    try:
        # Without its intent it is no entry any more, whatever becomes of the rest.
        (entry.folder / INTENT_FILE).unlink()
        shutil.rmtree(entry.folder)
    except OSError as err:
        raise CannotWrite(f"The journal in the data folder cannot be written: {why(err)}. The store is as it was.") from err


def keep_copy(entry: Entry, number: int, data: bytes) -> None:
    """Keep what target `number` displaced where it cannot be moved to the data folder; raises OSError."""
    write_file_atomically(entry.displaced(number), data)


def note_beside(store_uid: UUID, entry: Entry, number: int, path: str) -> None:
    """Note that what target `number` displaced stays in its folder for now; raises OSError."""
    target = entry.intent.targets[number]
    folder = target.folder if isinstance(target, Put) else ""
    place = _beside(store_uid)
    make_folder(place)
    write_new_file(place / f"{entry.intent.id}.{number}", _json({"folder": folder, "path": path}))


def noted_beside(store_uid: UUID) -> list[Beside]:
    """Give the displaced files that stayed in their folders, oldest first; a note that cannot be read is none."""
    place = _beside(store_uid)
    found = []
    for note in sorted(place.iterdir()) if place.is_dir() else ():
        change, _, number = note.name.rpartition(".")
        try:
            said = json.loads(note.read_bytes())
            found.append(Beside(note, said["folder"], said["path"], _done(store_uid) / change / f"{number}.displaced"))
        except (OSError, ValueError, KeyError, TypeError):
            continue
    return found


def keep_last_copy(beside: Beside, data: bytes) -> None:
    """Keep what a displaced file holds at last; raises OSError."""
    make_folder(beside.kept.parent)
    write_file_atomically(beside.kept, data)


def forget_beside(beside: Beside) -> None:
    """Watch a displaced file no longer: it is gone from its folder. Raises OSError."""
    beside.note.unlink(missing_ok=True)


def _put_away(folder: Path, store_uid: UUID) -> None:
    done = _done(store_uid)
    make_folder(done)
    rename_folder(folder, done / folder.name)


def watched_logs(store_uid: UUID) -> Path:
    """Give where is noted which displaced logs somebody may still append to."""
    return _journal(store_uid) / "logs"


def kept_displaced(store_uid: UUID, change: str, number: int) -> Path:
    """Give where the file lies that target `number` of a change displaced, whether the change is closed or not."""
    name = f"{number}.displaced"
    begun = _open(store_uid) / change / name
    return begun if begun.exists() else _done(store_uid) / change / name


def _open(store_uid: UUID) -> Path:
    return _journal(store_uid) / "open"


def _done(store_uid: UUID) -> Path:
    return _journal(store_uid) / "done"


def _beside(store_uid: UUID) -> Path:
    return _journal(store_uid) / "beside"


def _journal(store_uid: UUID) -> Path:
    place: Path = settings.DATA_DIR / "journal" / str(store_uid)
    return place


def _plain(intent: Intent) -> dict[str, Any]:
    names = ("id", "event", "actor", "through", "begun_at", "detail", "drain", "action")
    return {name: getattr(intent, name) for name in names}


def _said(folder: Path, number: int, target: Target) -> dict[str, object]:
    """Write the bytes of a target beside the intent, and give the rest of it."""
    if isinstance(target, Move):
        return {"move": target.path, "to": target.to}
    if isinstance(target, EndLine):
        return {"end_line": target.path}
    if isinstance(target, MakeFolder):
        return {"make_folder": target.path}
    if isinstance(target, TakeOut):
        write_new_file(folder / f"{number}.before", target.before)
        return {"take_out": target.path}
    if isinstance(target, ExchangeLog):
        write_new_file(folder / f"{number}.before", target.before)
        write_new_file(folder / f"{number}.after", target.after)
        return {"exchange_log": target.path}
    if isinstance(target, Append):
        write_new_file(folder / f"{number}.after", target.lines)
        return {"append": target.path, "size_before": target.size_before}
    write_new_file(folder / f"{number}.after", target.after)
    if target.before is not None:
        write_new_file(folder / f"{number}.before", target.before)
    return {"put": target.path, "folder": target.folder, "creates": target.before is None}


def _read(folder: Path) -> Intent:
    try:
        said = json.loads((folder / INTENT_FILE).read_text("utf-8"))
        targets = tuple(_target(folder, number, one) for number, one in enumerate(said.pop("targets")))
        return Intent(**said, targets=targets)
    except (OSError, ValueError, KeyError, TypeError) as err:
        raise CannotWrite(
            f"The journal entry {folder} cannot be read, so nothing is written to its store until someone looks at it."
        ) from err


def _target(folder: Path, number: int, said: Mapping[str, Any]) -> Target:
    if "move" in said:
        return Move(said["move"], said["to"])
    if "end_line" in said:
        return EndLine(said["end_line"])
    if "make_folder" in said:
        return MakeFolder(said["make_folder"])
    before = folder / f"{number}.before"
    if "take_out" in said:
        return TakeOut(said["take_out"], before.read_bytes())
    after = (folder / f"{number}.after").read_bytes()
    if "append" in said:
        return Append(said["append"], after, said["size_before"])
    if "exchange_log" in said:
        return ExchangeLog(said["exchange_log"], before.read_bytes(), after)
    return Put(said["put"], None if said["creates"] else before.read_bytes(), after, said["folder"])


def _json(document: Mapping[str, object]) -> bytes:
    return json.dumps(document, indent=1).encode("ascii")
