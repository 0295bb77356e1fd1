"""Who may note what beside a record, and what the audit keeps of it."""

from __future__ import annotations

from datetime import date
from uuid import uuid4

import pytest

from stores.errors import BadRequest, Conflict, MemoryUIError, NotAllowed, NotFound
from stores.models import AuditEvent, RecordNote, User
from stores.noting import clean_tags, note_decision, note_of, note_problem, supersede
from tests.factories import make_decision, make_problem, make_store, make_superuser, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer() -> User:
    return make_user("rita", groups=["reviewer"])


@pytest.mark.parametrize("groups", [("viewer",), ("operator",), ()])
def test_only_reviewers_note(groups: tuple[str, ...]) -> None:
    store = make_store()
    user = make_user("walker", groups=groups)
    one, other = make_decision(store), make_decision(store, "use offsets")
    with pytest.raises(NotAllowed):
        note_problem(user, make_problem(store), owner=None, due_on=None, note="x", revision=0)
    with pytest.raises(NotAllowed):
        note_decision(user, one, standing="retired", tags=[], note="", revision=0)
    with pytest.raises(NotAllowed):
        supersede(user, one, other)
    assert not RecordNote.objects.exists()
    assert not AuditEvent.objects.exists()


def test_nothing_is_noted_in_a_store_that_is_hidden(reviewer: User) -> None:
    hidden = make_store(groups=["platform"])
    with pytest.raises(NotFound):
        note_problem(reviewer, make_problem(hidden), owner=None, due_on=None, note="x", revision=0)
    with pytest.raises(NotFound):
        note_decision(reviewer, make_decision(hidden), standing="retired", tags=[], note="", revision=0)


def test_the_owner_of_a_problem_may_see_its_store(reviewer: User) -> None:
    problem = make_problem(make_store(groups=["platform"]))
    inside, root = make_user("ines", groups=["viewer", "platform"]), make_superuser()
    boss = make_user("boss", groups=["reviewer", "platform"])
    outside = [
        make_user("otto", groups=["viewer"]),
        make_user("nora", groups=["platform"]),
        make_user("gone", groups=["viewer", "platform"], is_active=False),
    ]
    for account in outside:
        with pytest.raises(BadRequest, match="may see its store"):
            note_problem(boss, problem, owner=account, due_on=None, note="", revision=0)
    assert note_problem(boss, problem, owner=inside, due_on=None, note="", revision=0).owner == inside
    assert note_problem(boss, problem, owner=root, due_on=None, note="", revision=1).owner == root


def test_a_note_is_audited_with_what_it_changed_and_only_then(reviewer: User) -> None:
    problem = make_problem(make_store("shop-api"))
    due = date(2026, 12, 24)
    note_problem(reviewer, problem, owner=reviewer, due_on=due, note="ask the vendor", revision=0)
    note_problem(reviewer, problem, owner=reviewer, due_on=due, note="ask the vendor", revision=1)
    note_problem(reviewer, problem, owner=None, due_on=due, note="ask the vendor", revision=1)
    first, second = AuditEvent.objects.order_by("number")
    assert (first.event, first.actor, first.store_slug, first.through) == ("record_noted", reviewer, "shop-api", "page")
    assert first.detail["before"] == {"owner": None, "due_on": None, "note": ""}
    assert first.detail["after"] == {"owner": reviewer.label, "due_on": "2026-12-24", "note": "ask the vendor"}
    assert second.detail["after"] == {"owner": None}


def test_a_form_that_is_out_of_date_changes_nothing(reviewer: User) -> None:
    problem = make_problem(make_store())
    note_problem(make_user("sven", groups=["reviewer"]), problem, owner=None, due_on=None, note="first", revision=0)
    with pytest.raises(Conflict, match="changed by sven"):
        note_problem(reviewer, problem, owner=None, due_on=None, note="second", revision=0)
    note = note_of(problem)
    assert note is not None
    assert note.note == "first"


def test_a_decision_is_superseded_only_by_another_one_of_its_store_and_never_in_a_circle(reviewer: User) -> None:
    store = make_store()
    a, b, c = (make_decision(store, f"use {word}") for word in "abc")
    foreign = make_decision(make_store(), "use d")
    supersede(reviewer, a, b)
    supersede(reviewer, b, c)
    for old, new in ((c, a), (b, a), (a, a), (a, foreign)):
        with pytest.raises(BadRequest):
            supersede(reviewer, old, new)
    standings = {one.natural_id: note.standing for one in (a, b) if (note := note_of(one))}
    assert standings == {a.natural_id: "superseded", b.natural_id: "superseded"}
    note = note_of(c)
    assert note is not None
    assert note.standing == "current"


def test_a_superseded_decision_can_be_made_current_again(reviewer: User) -> None:
    store = make_store()
    old, new = make_decision(store), make_decision(store, "use offsets")
    supersede(reviewer, old, new)
    note = note_decision(reviewer, old, standing="current", tags=[], note="", revision=1)
    assert (note.standing, note.superseded_by) == ("current", None)
    with pytest.raises(BadRequest, match="Choose the decision"):
        note_decision(reviewer, old, standing="superseded", tags=[], note="", revision=2)


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        (["DB", " db ", "d  b"], ["db", "d b"]),
        (["", "  "], []),
        (["\ud83d", "a\0b"], ["\ufffd", "a\u2400b"]),
        (["Straße", "STRASSE"], ["strasse"]),
        (["ﬁne"], ["fine"]),
    ],
)
def test_tags_are_written_one_way(given: list[str], cleaned: list[str]) -> None:
    assert clean_tags(given) == cleaned


@pytest.mark.parametrize("tags", [["x" * 41], [str(n) for n in range(21)]])
def test_too_long_and_too_many_tags_are_refused(tags: list[str]) -> None:
    with pytest.raises(BadRequest):
        clean_tags(tags)


def test_the_longest_note_and_no_longer(reviewer: User) -> None:
    problem = make_problem(make_store())
    note_problem(reviewer, problem, owner=None, due_on=None, note="x" * 10_000, revision=0)
    with pytest.raises(MemoryUIError, match="10,000"):
        note_problem(reviewer, problem, owner=None, due_on=None, note="x" * 10_001, revision=1)


def test_a_note_whose_row_lost_its_place_is_taken_up_again(reviewer: User) -> None:
    decision = make_decision(make_store())
    RecordNote.objects.create(
        store=decision.store, store_uid=uuid4(), record_type="decision", path=decision.file_path, key=decision.key, ordinal=0, note="old"
    )
    note = note_decision(reviewer, decision, standing="retired", tags=[], note="new", revision=0)
    assert (note.record_id, note.note) == (decision.pk, "new")
    assert RecordNote.objects.count() == 1
