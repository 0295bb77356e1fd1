"""What is noted beside a record stays beside it: through imports, rewrites, a dropped mirror, and the end of its store (rulings 31, 50)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.mirror.relocating import remove_store
from stores.mirror.resetting import reset_mirror
from stores.models import Decision, Problem, RecordNote, Store, User
from stores.noting import note_decision, note_of, note_problem, supersede
from tests.factories import make_user, make_worker
from tests.memory_folders import decision

pytestmark = pytest.mark.django_db


def problem(number: int, **more: object) -> bytes:
    record = {
        "id": f"prob-mx3a2c3b-{number:04d}",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "session_id": "s-1",
        "type": "problem",
        "text": f"times out, try {number}",
        "confidence": 0.75,
        "entities": [],
        "project": "shop",
        "status": "open",
        **more,
    }
    return json.dumps(record).encode() + b"\n"


@pytest.fixture
def reviewer() -> User:
    return make_user("rita", groups=["reviewer"])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    (tmp_path / "decisions.jsonl").write_bytes(b"".join(decision(f"use part {n}", n) for n in range(4)))
    (tmp_path / "open-problems.jsonl").write_bytes(b"".join(problem(n) for n in range(3)))
    store = add_store(tmp_path, worker=make_worker())
    import_store(store)
    return store


def noted(store: Store) -> dict[str, str]:
    """Give the notes that the records of a store have now, by the records' ids."""
    records = [*Decision.objects.filter(store=store, gone_at=None), *Problem.objects.filter(store=store, gone_at=None)]
    return {record.natural_id: note.note for record in records if (note := note_of(record)) is not None and note.note}


def write_note(user: User, record: Decision | Problem, words: str) -> None:
    if isinstance(record, Problem):
        note_problem(user, record, owner=user, due_on=None, note=words, revision=0)
    else:
        note_decision(user, record, standing="retired", tags=["db"], note=words, revision=0)


def rewrite(store: Store) -> None:
    """As OrchestKit does with problems, with other bytes for each line; the decisions come in another order."""
    path = Path(store.path)
    (path / "new").write_bytes(b"".join(problem(n, status="solved" if n == 1 else "open") for n in (2, 1, 0)))
    (path / "new").replace(path / "open-problems.jsonl")
    (path / "decisions.jsonl").write_bytes(b"".join(decision(f"use part {n}", n) for n in (3, 1, 0)))


def append(store: Store) -> None:
    with (Path(store.path) / "decisions.jsonl").open("ab") as log:
        log.write(decision("use another", 9))


@pytest.mark.parametrize("change", [append, rewrite, reset_mirror, lambda store: None], ids=["append", "rewrite", "reset", "nothing"])
@pytest.mark.parametrize("full", [False, True])
def test_notes_stay_beside_their_records(store: Store, reviewer: User, change: Callable[[Store], None], full: bool) -> None:
    write_note(reviewer, Decision.objects.get(natural_id="decision-mx3a2c3b-0001"), "asked the vendor")
    write_note(reviewer, Problem.objects.get(natural_id="prob-mx3a2c3b-0001"), "only on Mondays")
    change(store)
    import_store(store, full=full)
    assert noted(store) == {"decision-mx3a2c3b-0001": "asked the vendor", "prob-mx3a2c3b-0001": "only on Mondays"}
    assert RecordNote.objects.count() == 2


def test_a_dropped_mirror_has_notes_without_places_until_an_import_finds_them(store: Store, reviewer: User) -> None:
    write_note(reviewer, Decision.objects.get(natural_id="decision-mx3a2c3b-0002"), "kept")
    reset_mirror(store)
    assert list(RecordNote.objects.values_list("record_id", "note")) == [(None, "kept")]
    # Rows of other records may get the numbers that were free again.
    (Path(store.path) / "decisions.jsonl").write_bytes(b"".join(decision(f"use part {n}", n) for n in (7, 8, 2, 5)))
    import_store(store)
    assert noted(store) == {"decision-mx3a2c3b-0002": "kept"}


def test_a_note_of_a_record_that_went_waits_for_it(store: Store, reviewer: User) -> None:
    write_note(reviewer, Decision.objects.get(natural_id="decision-mx3a2c3b-0003"), "kept")
    log = Path(store.path) / "decisions.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole[: whole.index(b"-0003")].rpartition(b"\n")[0] + b"\n")
    reset_mirror(store)
    import_store(store)
    assert noted(store) == {}
    log.write_bytes(whole)
    import_store(store)
    assert noted(store) == {"decision-mx3a2c3b-0003": "kept"}


@pytest.mark.parametrize("seed", range(3))
def test_of_equal_lines_each_keeps_its_own_note(store: Store, reviewer: User, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    log = Path(store.path) / "decisions.jsonl"
    same = json.dumps({"content": {"what": "no id at all"}}).encode() + b"\n"

    def write(number: int) -> None:
        lines = [same] * number + [decision(f"use part {n}", n) for n in range(4)]
        chance.shuffle(lines)
        log.write_bytes(b"".join(lines))
        import_store(store)

    def live() -> list[Decision]:
        return list(Decision.objects.filter(store=store, natural_id="", gone_at=None).order_by("line"))

    def notes() -> list[str]:
        return [note.note if (note := note_of(record)) else "" for record in live()]

    write(5)
    for place, record in enumerate(live()):
        write_note(reviewer, record, f"note {place}")
    for _ in range(4):
        before = {record.pk: note.note for record in Decision.objects.filter(natural_id="") if (note := note_of(record))}
        write(chance.randint(1, 5))
        assert all(before.get(record.pk, words) == words for record, words in zip(live(), notes(), strict=True))
        in_order = notes()
        assert "" not in in_order
        reset_mirror(store)
        import_store(store, full=True)
        assert notes() == in_order
    write(5)
    assert sorted(notes()) == [f"note {place}" for place in range(5)]
    assert RecordNote.objects.count() == 5


def test_what_took_a_decision_s_place_is_found_again_after_a_reset(store: Store, reviewer: User) -> None:
    old, new = (Decision.objects.get(natural_id=f"decision-mx3a2c3b-000{n}") for n in (0, 3))
    supersede(reviewer, old, new)
    reset_mirror(store)
    import_store(store)
    old = Decision.objects.get(natural_id="decision-mx3a2c3b-0000", store=store)
    note = note_of(old)
    assert note is not None
    assert note.superseded_by is not None
    assert note.superseded_by.record_id == Decision.objects.get(natural_id="decision-mx3a2c3b-0003", store=store).pk


def test_notes_outlive_their_store(store: Store, reviewer: User) -> None:
    uid = store.uid
    write_note(reviewer, Decision.objects.get(natural_id="decision-mx3a2c3b-0002"), "kept")
    remove_store(store)
    note = RecordNote.objects.get()
    assert (note.store_id, note.store_uid, note.path, note.natural_id) == (None, uid, "decisions.jsonl", "decision-mx3a2c3b-0002")
    assert (note.record_id, note.note) == (None, "kept")
