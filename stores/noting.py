"""What reviewers note beside problems and decisions: owner, due day, standing, tags, a note (ruling 35). Nothing is written to a disk."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from stores import audit
from stores.accounts import require_reviewer, visible_stores, who_sees
from stores.errors import BadRequest, Conflict, NotFound
from stores.formats import storable
from stores.mirror.noted import ordinal_of
from stores.models import Decision, MirroredRecord, Problem, RecordNote, User

LONGEST_NOTE: Final = 10_000
LONGEST_TAG: Final = 40
MOST_TAGS: Final = 20
STEPS: Final = 10_000
"""As far a supersession is followed when a circle is looked for."""
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069\x01-\x08\x0b-\x1f\x7f-\x9f]")


def note_of(record: MirroredRecord) -> RecordNote | None:
    """Give what is noted beside a record, with its owner and who changed it last; None for nothing. One query."""
    notes = RecordNote.objects.select_related("owner", "changed_by", "superseded_by")
    return notes.filter(record_type=record.record_type, record_id=record.pk, store_id=record.store_id).first()


def note_problem(
    user: User, record: Problem, *, owner: User | None, due_on: date | None, note: str, revision: int, through: audit.Through = "page"
) -> RecordNote:
    """Say who sees to a problem, by the end of which day, and what is to be known of it.

    Raises NotAllowed without the role, NotFound for a store that `user` does not see, BadRequest for an owner who does not see it or a
    note that is too long, Conflict where somebody changed what `revision` was.
    """
    _require(user, record)
    if owner is not None and not who_sees(record.store).filter(pk=owner.pk).exists():
        raise BadRequest("The owner of a problem is somebody who may see its store.")
    return _change(user, record, {"owner": owner, "due_on": due_on, "note": _text(note)}, revision, through)


def note_decision(
    user: User, record: Decision, *, standing: str, tags: Iterable[str], note: str, revision: int, through: audit.Through = "page"
) -> RecordNote:
    """Say how a decision stands, its tags, and what is to be known of it; which one took its place is said by `supersede`.

    Raises as `note_problem` does, and BadRequest for an unknown standing or for "superseded" where no decision took its place.
    """
    _require(user, record)
    if standing not in dict(RecordNote.STANDINGS):
        raise BadRequest(f"A decision stands as one of {', '.join(dict(RecordNote.STANDINGS))}.")
    now = note_of(record)
    if standing == "superseded" and (now is None or now.superseded_by_id is None):
        raise BadRequest("Choose the decision that took its place: then it stands as superseded by that one.")
    changes: dict[str, object] = {"standing": standing, "tags": clean_tags(tags), "note": _text(note)}
    if standing != "superseded":
        changes["superseded_by"] = None
    return _change(user, record, changes, revision, through)


def supersede(user: User, record: Decision, successor: Decision, *, through: audit.Through = "page") -> RecordNote:
    """Say that another decision of the same store took the place of this one.

    Raises NotAllowed, NotFound; BadRequest for the decision itself, one of another store, or one that this one took the place of.
    """
    _require(user, record)
    if successor.store_id != record.store_id:
        raise BadRequest("A decision is superseded by one of the same store.")
    if successor.pk == record.pk:
        raise BadRequest("A decision does not supersede itself.")
    with transaction.atomic():
        after, before = _note_for(successor), _note_for(record)
        if _leads_to(after, before):
            raise BadRequest("That decision was itself superseded by this one: a circle would have no present decision.")
        changes: dict[str, object] = {"standing": "superseded", "superseded_by": after}
        return _change(user, record, changes, before.revision, through)


def clean_tags(tags: Iterable[str]) -> list[str]:
    """Give tags once each, in order, in lower case and without odd blanks; BadRequest for one that is too long, or for too many."""
    words = (" ".join(unicodedata.normalize("NFKC", clean_text(tag)).casefold().split()) for tag in tags)
    cleaned = list(dict.fromkeys(word for word in words if word))
    if any(len(tag) > LONGEST_TAG for tag in cleaned):
        raise BadRequest(f"A tag has at most {LONGEST_TAG} characters.")
    if len(cleaned) > MOST_TAGS:
        raise BadRequest(f"A decision has at most {MOST_TAGS} tags.")
    return cleaned


def _require(user: User, record: MirroredRecord) -> None:
    require_reviewer(user)
    if not visible_stores(user).filter(pk=record.store_id).exists():
        raise NotFound("No such record, or none that your account may see.")


def clean_text(note: str) -> str:
    """Give a text without the characters that turn or hide what stands around them; line breaks and tabs stay."""
    return _TURNING.sub("", storable.text(note).replace("\r\n", "\n")).strip()


def _text(note: str) -> str:
    note = clean_text(note)
    if len(note) > LONGEST_NOTE:
        raise BadRequest(f"A note has at most {LONGEST_NOTE:,} characters.")
    return note


def _change(user: User, record: MirroredRecord, changes: Mapping[str, object], revision: int, through: audit.Through) -> RecordNote:
    with transaction.atomic():
        note = _note_for(record)
        if note.revision != revision:
            by = f" by {note.changed_by.label}" if note.changed_by else ""
            raise Conflict(f"What is noted here was changed{by} since you opened it. Look at it again, then save.")
        before = {name: getattr(note, name) for name in changes}
        differing = {name: value for name, value in changes.items() if value != before[name]}
        if not differing:
            return note
        moved = RecordNote.objects.filter(pk=note.pk, revision=revision)
        if moved.update(**differing, revision=F("revision") + 1, changed_by=user, changed_at=timezone.now()) != 1:
            raise Conflict("What is noted here was changed by somebody else at the same moment. Look at it again, then save.")
        audit.record(
            "record_noted",
            actor=user,
            object_label=f"{record.record_type} {record.natural_id or f'line {record.line}'}",
            store=record.store,
            through=through,
            detail={
                "record_type": record.record_type,
                "record": record.pk,
                "path": note.path,
                "before": {name: _told(before[name]) for name in differing},
                "after": {name: _told(value) for name, value in differing.items()},
            },
        )
        note.refresh_from_db()
    return note


def _note_for(record: MirroredRecord) -> RecordNote:
    """Give the row beside a record, made where there is none; call it inside a transaction."""
    known = note_of(record)
    if known is not None:
        return known
    place = {"record_type": record.record_type, "path": record.file_path, "key": record.key, "ordinal": ordinal_of(record)}
    facts: dict[str, Any] = {"store_uid": record.store.uid, "natural_id": record.natural_id, "record_id": record.pk}
    try:
        with transaction.atomic():
            return RecordNote.objects.create(store=record.store, **place, **facts)
    except IntegrityError:
        # Somebody noted something at the same moment, or the row waits for the import that brings its record back.
        note = RecordNote.objects.select_related("changed_by").get(store=record.store, **place)
        if note.record_id != record.pk:
            RecordNote.objects.filter(pk=note.pk).update(record_id=record.pk)
            note.record_id = record.pk
        return note


def _leads_to(start: RecordNote, end: RecordNote) -> bool:
    """Say whether `end` is `start` or comes after it; one query for all that took another's place in the store."""
    pairs = dict(
        RecordNote.objects.filter(store=start.store, record_type=start.record_type, superseded_by__isnull=False)
        .order_by("-id")
        .values_list("pk", "superseded_by_id")[:STEPS]
    )
    seen: set[int] = set()
    at: int | None = start.pk
    while at is not None and at not in seen:
        if at == end.pk:
            return True
        seen.add(at)
        at = pairs.get(at)
    return False


def _told(value: object) -> object:
    """Give a value as the audit keeps it."""
    if isinstance(value, User):
        return value.label
    if isinstance(value, RecordNote):
        return value.natural_id or f"record {value.record_id}"
    return value.isoformat() if isinstance(value, date) else value
