"""Settles a change that was begun: forward when it was verified, or a log or a name has moved, else back (rulings 3 and 5)."""

from __future__ import annotations

import hashlib
import logging
from datetime import UTC, datetime
from enum import StrEnum

from stores.apply import edited_logs, journal, queued, recording
from stores.apply.carrying import WATCHED_WITHOUT_LEASE
from stores.apply.journal import Beside, Entry
from stores.apply.place import Place
from stores.apply.reading import entry_kind, inode_of, read_from, read_if_there, size_of
from stores.apply.targets import Append, EndLine, ExchangeLog, MakeFolder, Move, Put, TakeOut, Target
from stores.errors import ChangedMeanwhile, MemoryUIError
from stores.files import CannotRead, StoreRoot, has_writer, ours_beside
from stores.models import Store

log = logging.getLogger(__name__)


class State(StrEnum):
    """How far one target is, by what the disk holds."""

    DONE = "done"
    UNDONE = "undone"
    FOREIGN = "foreign"
    """Somebody else's bytes stand there: they stay."""


class Outcome(StrEnum):
    """What became of a change that was settled."""

    APPLIED = "applied"
    ABANDONED = "abandoned"


def recover(store: Store, place: Place) -> None:
    """Settle whatever was begun and not ended in this store. Raises what writing raises: then nothing new may be begun."""
    for entry in journal.open_entries(store.uid):
        outcome = settle(store, place, entry)
        if outcome is Outcome.ABANDONED and entry.intent.action is not None:
            queued.release(entry.intent)
        log.warning("A change of %s that was interrupted is settled: %s (%s).", store.slug, entry.intent.event, outcome)
    for beside in journal.noted_beside(store.uid):
        _end_beside(place, beside)
    edited_logs.carry(store, place)


def settle(store: Store, place: Place, entry: Entry) -> Outcome:
    """Bring one begun change to its end and close it."""
    if entry.stands:
        # Whatever stands there by now, it is not for us to write over it.
        return finish(store, place, entry)
    targets = entry.intent.targets
    for target in targets:
        if isinstance(target, Append):
            _cut_off_torn_line(place, target)
    if any(_is_begun(store, place, entry, target) for target in targets):
        for target in targets:
            if _state(store, place, entry, target) is State.UNDONE:
                carry_out(place, entry, target)
        return finish(store, place, entry)
    for target in targets:
        if isinstance(target, Put):
            _take_back(place, entry, target)
        elif isinstance(target, TakeOut | ExchangeLog):
            _bring_back(place, entry, target)
    _keep_displaced(store, place, entry, is_drain=False)
    journal.drop(store.uid, entry)
    return Outcome.ABANDONED


def finish(store: Store, place: Place, entry: Entry) -> Outcome:
    """Keep what was displaced, record the change and close it."""
    edited_logs.watch(store, entry)
    _keep_displaced(store, place, entry, is_drain=entry.intent.drain is not None)
    edited_logs.carry(store, place)
    journal.close(store.uid, entry, recording.record(store, place, entry))
    return Outcome.APPLIED


def carry_out(place: Place, entry: Entry, target: Target) -> None:
    """Do to the disk what one target says; of an append only what is missing."""
    if isinstance(target, Put):
        before = None if target.before is None else _sha256(target.before)
        place.at(target.folder).put(target.path, target.after, before, entry.intent.id)
    elif isinstance(target, Append):
        place.root.append(target.path, b"".join(_missing_lines(place, target)))
    elif isinstance(target, EndLine):
        place.root.append(target.path, b"")
    elif isinstance(target, MakeFolder):
        place.root.make_folder(target.path)
    elif isinstance(target, TakeOut):
        place.root.take_out(target.path, _sha256(target.before), entry.intent.id)
    elif isinstance(target, ExchangeLog):
        place.root.exchange_log(target.path, target.after, target.before, entry.intent.id)
    else:
        place.root.move(target.path, target.to)


def can_go_back(target: Target) -> bool:
    """Say that a target can be undone: a file, but neither a log, to which others append meanwhile, nor a name."""
    return isinstance(target, Put | TakeOut)


def _is_begun(store: Store, place: Place, entry: Entry, target: Target) -> bool:
    """Say that a log or a name moved: there is no way back from that."""
    if isinstance(target, ExchangeLog):
        return edited_logs.is_exchanged(store, place, entry, target)
    if isinstance(target, EndLine | MakeFolder):
        return _state(store, place, entry, target) is State.DONE
    if isinstance(target, Append):
        return len(_missing_lines(place, target)) < target.lines.count(b"\n")
    return isinstance(target, Move) and inode_of(place.root, target.to) is not None


def _state(store: Store, place: Place, entry: Entry, target: Target) -> State:
    if isinstance(target, EndLine):
        data = read_if_there(place.root, target.path)
        return State.UNDONE if data and not data.endswith(b"\n") else State.DONE
    if isinstance(target, MakeFolder):
        kind = entry_kind(place.root, target.path)
        return State.UNDONE if not kind else State.DONE if kind == "directory" else State.FOREIGN
    if isinstance(target, TakeOut):
        held = read_if_there(place.root, target.path)
        return State.DONE if held is None else State.UNDONE if held == target.before else State.FOREIGN
    if isinstance(target, ExchangeLog):
        return State.DONE if edited_logs.is_exchanged(store, place, entry, target) else _of_log(place, target)
    if isinstance(target, Append):
        return State.UNDONE if _missing_lines(place, target) else State.DONE
    if isinstance(target, Move):
        here, there = inode_of(place.root, target.path), inode_of(place.root, target.to)
        if there is None:
            return State.FOREIGN if here is None else State.UNDONE
        return State.UNDONE if here == there else State.DONE
    live = read_if_there(place.at(target.folder), target.path)
    return State.DONE if live == target.after else State.UNDONE if live == target.before else State.FOREIGN


def _of_log(place: Place, target: ExchangeLog) -> State:
    there = read_if_there(place.root, target.path)
    return State.UNDONE if there is not None and there.startswith(target.before) else State.FOREIGN


def _missing_lines(place: Place, target: Append) -> list[bytes]:
    """Give the lines that the log does not hold yet, from where it ended when the change was planned."""
    offset = target.size_before if size_of(place.root, target.path) >= target.size_before else 0
    held = set(read_from(place.root, target.path, offset).split(b"\n"))
    return [line + b"\n" for line in target.lines.split(b"\n")[:-1] if line not in held]


def _cut_off_torn_line(place: Place, target: Append) -> None:
    """Take the line away in whose middle the process died, if it is the last thing in the log: it is appended whole again, or not at all."""
    torn = read_from(place.root, target.path, target.size_before).rpartition(b"\n")[2]
    if torn and any(line.startswith(torn) for line in _missing_lines(place, target)):
        place.root.cut_off(target.path, torn)


def _take_back(place: Place, entry: Entry, target: Put) -> None:
    """Put the file back that stood there, where ours stands; an agent's newer version stays."""
    root, beside = place.at(target.folder), ours_beside(target.path, entry.intent.id)
    if read_if_there(root, target.path) != target.after:
        return
    try:
        if read_if_there(root, beside) is not None:
            root.put_back(target.path, entry.intent.id, _sha256(target.after))
        elif target.before is None:
            root.take_away(target.path, entry.intent.id, _sha256(target.after))
    except ChangedMeanwhile as err:
        log.warning("%s", err)


def _bring_back(place: Place, entry: Entry, target: TakeOut | ExchangeLog) -> None:
    """Put back what was taken from its name: a file that left the store, or a log that proved to be another one than was read."""
    root, beside = place.root, ours_beside(target.path, entry.intent.id)
    held = read_if_there(root, beside)
    if held is None:
        return
    try:
        if isinstance(target, TakeOut):
            root.bring_back(target.path, entry.intent.id)
        elif not target.after.startswith(held) and not held.startswith(target.after):
            root.put_back(target.path, entry.intent.id, _sha256(target.after))
    except ChangedMeanwhile as err:
        log.warning("%s", err)


def _keep_displaced(store: Store, place: Place, entry: Entry, *, is_drain: bool) -> None:
    """Take our files beside those of the store out of it: what is neither ours nor what was displaced is an agent's, and kept too."""
    for number, target in enumerate(entry.intent.targets):
        if not isinstance(target, Put | TakeOut | ExchangeLog):
            continue
        root = place.at(target.folder) if isinstance(target, Put) else place.root
        beside = ours_beside(target.path, entry.intent.id)
        held = read_if_there(root, beside)
        if held is None:
            continue
        if not isinstance(target, TakeOut) and held == target.after:
            root.remove(beside)
        elif not root.hand_over(beside, entry.displaced(number)):
            # The data folder is on another file system, and a copy does not get what is still written to the file.
            stays = _may_be_written(root, beside)
            if isinstance(target, ExchangeLog) or (stays and is_drain):
                # It is watched where it lies.
                continue
            journal.keep_copy(entry, number, read_if_there(root, beside) or held)
            if stays:
                journal.note_beside(store.uid, entry, number, beside)
            else:
                root.remove(beside)


def _may_be_written(root: StoreRoot, path: str) -> bool:
    """Say that somebody may still write to a displaced file; where the kernel does not tell, for as long as one is watched."""
    try:
        with root.open(path) as opened:
            written = has_writer(opened.descriptor)
            moved_at = datetime.fromtimestamp(opened.stat.ctime_ns / 1e9, UTC)
    except CannotRead as err:
        return err.state != "missing"
    return moved_at > datetime.now(UTC) - WATCHED_WITHOUT_LEASE if written is None else written


def _end_beside(place: Place, beside: Beside) -> None:
    """Take a displaced file out of its folder when nobody writes to it any more; what goes wrong is tried again another time."""
    try:
        root = place.at(beside.folder)
        if read_if_there(root, beside.path) is not None:
            if _may_be_written(root, beside.path):
                return
            journal.keep_last_copy(beside, read_if_there(root, beside.path) or b"")
            root.remove(beside.path)
        journal.forget_beside(beside)
    except (MemoryUIError, OSError) as err:
        log.warning("%s stays where it was displaced: %s", beside.path, err)


def _sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
