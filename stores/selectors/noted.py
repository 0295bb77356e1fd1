"""What people noted beside records, as lists narrow by it, count it and show it (ruling 35).

Lists come from the notes to the records: notes are what people typed, few beside what agents write.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Q

from stores.accounts import Visitor
from stores.lists.queries import Chosen
from stores.models import Decision, MirroredRecord, RecordNote, User

ME = "me"
"""Value of the filter by owner that stands for who asks."""
OVERDUE, SOON, LATER = "overdue", "soon", "later"
SOON_DAYS = 7
SOMETHING = ~Q(standing="current") | Q(owner__isnull=False) | Q(due_on__isnull=False) | ~Q(tags=[])
"""What a list can show or be narrowed by."""
CHAIN_SHOWN = 20
CHAIN_LINKS = 10_000


class Noted(NamedTuple):
    """What is noted beside one record."""

    record_id: int
    owner: str
    """Sign-in name; "" for nobody."""
    owner_label: str
    due_on: date | None
    standing: str
    successor_id: int | None
    """Record id of the decision that took its place."""
    successor: str
    """Its natural id."""
    tags: tuple[str, ...]
    note: str

    def due(self, today: date) -> str:
        """Give when the problem is due; "" where no day is set."""
        if self.due_on is None:
            return ""
        if self.due_on < today:
            return OVERDUE
        return SOON if self.due_on <= today + timedelta(days=SOON_DAYS) else LATER

    @classmethod
    def of(cls, note: RecordNote | None) -> Noted:
        """Give the same of a row that has its owner and successor at hand; NOTHING for none."""
        if note is None:
            return NOTHING
        owner, after = note.owner, note.superseded_by
        return cls(
            note.record_id or 0,
            owner.username if owner else "",
            owner.label if owner else "",
            note.due_on,
            note.standing,
            after.record_id if after else None,
            after.natural_id if after else "",
            tuple(note.tags),
            note.note,
        )


NOTHING = Noted(0, "", "", None, "current", None, "", (), "")


class Link(NamedTuple):
    """One decision of a chain."""

    record_id: int | None
    """None where no import has brought it back yet."""
    title: str
    natural_id: str
    at_ms: int
    standing: str
    is_this: bool


class Chain(NamedTuple):
    """Decisions that took each other's place, the oldest first."""

    links: list[Link]
    is_cut: bool
    """There are more."""


def today_utc() -> date:
    """Give the present day, as due days are counted."""
    return datetime.now(UTC).date()


def notes_beside(record_type: str, ids: Sequence[int]) -> dict[int, Noted]:
    """Give what is noted beside some records, by their ids. One query, none without ids."""
    return {one.record_id: one for one in _read(Q(record_type=record_type, record_id__in=ids))} if ids else {}


class NotedRecords:
    """The newest notes beside the records of a list, and which of them fit what the list was narrowed to."""

    def __init__(self, user: Visitor, record_type: str, store_ids: Iterable[int], chosen: Chosen, cap: int) -> None:
        """Prepare; nothing is asked of the database before it is needed."""
        self._me = user.username if isinstance(user, User) else ""
        self._of = Q(record_type=record_type, store_id__in=list(store_ids), record_id__isnull=False) & SOMETHING
        self._chosen = dict(chosen)
        self._cap = cap
        self._today = today_utc()

    @cached_property
    def _read(self) -> list[Noted]:
        return list(_read(self._of, self._cap + 1))

    @property
    def capped(self) -> bool:
        """Whether there are more notes than were looked at."""
        return len(self._read) > self._cap

    @cached_property
    def by_record(self) -> dict[int, Noted]:
        """Notes by the ids of their records, at most the newest 10,000. One query."""
        return {one.record_id: one for one in islice(self._read, self._cap)}

    def beside(self, record_type: str, ids: Sequence[int]) -> dict[int, Noted]:
        """Give what is noted beside the records of a page. One query where there are more notes than were looked at."""
        if self.capped:
            return notes_beside(record_type, ids)
        return {one: self.by_record[one] for one in ids if one in self.by_record}

    @cached_property
    def owners(self) -> dict[str, str]:
        """Names of the owners as pages show them, by the values of the filter."""
        return {self._owner(one): "me" if one.owner == self._me else one.owner_label for one in self.by_record.values() if one.owner}

    def fits(self, record_id: int, is_open: bool, *, without: str = "") -> bool:
        """Tell whether what is noted beside a record fits every choice but the one of a column."""
        noted = self.by_record[record_id]
        return all(
            column == without or any(value in wanted for value in self._values(noted, column, is_open))
            for column, wanted in self._chosen.items()
        )

    def counts(self, column: str, rows: Mapping[int, bool]) -> Counter[str]:
        """Count records by what is noted in a column, whatever was chosen in it; `rows` are their ids, and whether they are open."""
        found: Counter[str] = Counter()
        for record_id, is_open in rows.items():
            if self.fits(record_id, is_open, without=column):
                found.update(self._values(self.by_record[record_id], column, is_open))
        return found

    def _values(self, noted: Noted, column: str, is_open: bool) -> tuple[str, ...]:
        if column == "tag":
            return noted.tags
        if column == "standing":
            return (noted.standing,) if noted.standing != "current" else ()
        if column == "owner":
            return (self._owner(noted),) if noted.owner else ()
        due = noted.due(self._today) if is_open else ""
        return (due,) if due else ()

    def _owner(self, noted: Noted) -> str:
        return ME if noted.owner == self._me else noted.owner


def chain_of(record: Decision, note: RecordNote | None) -> Chain:
    """Give the decisions that this one took the place of, itself, and those that took its place. Up to three queries."""
    if note is None:
        return Chain([], is_cut=False)
    of_store = RecordNote.objects.filter(store_id=record.store_id, record_type=record.record_type)
    after = dict(of_store.filter(superseded_by__isnull=False).order_by("-id").values_list("pk", "superseded_by_id")[:CHAIN_LINKS])
    before: dict[int, list[int]] = {}
    for earlier, later in after.items():
        before.setdefault(later, []).append(earlier)
    generations, seen = [[note.pk]], {note.pk}
    while fresh := [pk for later in generations[0] for pk in before.get(later, ()) if pk not in seen]:
        seen.update(fresh)
        generations.insert(0, fresh)
    ids = [pk for generation in generations for pk in sorted(generation)]
    following = after.get(note.pk)
    while following is not None and following not in seen:
        seen.add(following)
        ids.append(following)
        following = after.get(following)
    if len(ids) == 1:
        return Chain([], is_cut=False)
    start = min(max(0, ids.index(note.pk) - CHAIN_SHOWN // 2), max(0, len(ids) - CHAIN_SHOWN))
    shown = ids[start : start + CHAIN_SHOWN]
    notes = of_store.in_bulk(shown)
    records = (
        Decision.objects.filter(pk__in=[one.record_id for one in notes.values() if one.record_id]).only("pk", "title", "at_ms").in_bulk()
    )
    return Chain([_link(notes[pk], records, note.pk) for pk in shown if pk in notes], is_cut=len(shown) < len(ids))


def _link(note: RecordNote, records: Mapping[int, Decision], this: int) -> Link:
    found = records.get(note.record_id or 0)
    return Link(
        note.record_id if found else None,
        found.title if found else "",
        note.natural_id,
        found.at_ms if found else 0,
        note.standing,
        note.pk == this,
    )


def is_open(record: MirroredRecord) -> bool:
    """Tell whether a record can be overdue: a problem that is open and on disk."""
    return record.gone_at is None and getattr(record, "status", "") == "open"


def _read(condition: Q, limit: int | None = None) -> Iterable[Noted]:
    rows: Any = RecordNote.objects.filter(condition).order_by("-id")
    account = ("owner__username", "owner__first_name", "owner__last_name")
    columns = ("record_id", *account, "due_on", "standing", "superseded_by__record_id", "superseded_by__natural_id", "tags", "note")
    for record_id, owner, first, last, due_on, standing, successor_id, successor, tags, note in rows.values_list(*columns)[:limit]:
        label = f"{first or ''} {last or ''}".strip() or owner or ""
        yield Noted(record_id, owner or "", label, due_on, standing, successor_id, successor or "", tuple(tags), note)
