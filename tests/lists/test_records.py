"""What lists find, against the same worked out by hand, on every plan."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st

from stores.formats.search_text import parse_query, search_text
from stores.formats.text_match import matches
from stores.lists.queries import read
from stores.lists.specs import DECISIONS, PROBLEMS, QUEUE, ListSpec
from stores.models import MirroredRecord, Store
from stores.selectors.records import RecordList
from tests.factories import make_group, make_store, make_superuser, make_user
from tests.lists.rows import fill

pytestmark = pytest.mark.django_db

VALUES = ("", "api", "auth", "Übung")
WENT = [datetime(2025, 11, day, tzinfo=UTC) for day in (3, 9)]
DECISION_ROWS = st.fixed_dictionaries(
    {
        "category": st.sampled_from(VALUES),
        "type": st.sampled_from(VALUES[:3]),
        "said_by": st.sampled_from(VALUES),
        "at_ms": st.integers(0, 3),
        "title": st.sampled_from(("cursor pagination", "offset Pagination", "redis", "")),
        "gone_at": st.sampled_from([None, None, None, *WENT]),
    }
)
COMMON = {
    "store": st.lists(st.sampled_from(("one", "two", "three", "hidden")), min_size=1, max_size=3),
    "q": st.sampled_from(("pag", '"cursor pagination"', "redis", "?!")),
    "gone": st.just("1"),
}
QUESTIONS = st.fixed_dictionaries(
    {},
    optional={
        **COMMON,
        "category": st.lists(st.sampled_from((*VALUES, "never written")), min_size=1, max_size=3),
        "type": st.lists(st.sampled_from(VALUES[:3]), min_size=1, max_size=2),
        "said_by": st.lists(st.sampled_from(VALUES), min_size=1, max_size=3),
        "sort": st.sampled_from(("at", "-at", "category", "-category", "type", "-type", "said_by", "-said_by", "gone", "-gone", "title")),
    },
)


NOW_MS = int(datetime.now(UTC).timestamp() * 1000)
DAY_MS = 86_400_000
PROBLEM_ROWS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(("open", "solved")),
        "project": st.sampled_from(VALUES),
        "at_ms": st.sampled_from([0, *(NOW_MS - days * DAY_MS for days in (40, 20, 15, 13, 1))]),
        "title": st.sampled_from(("cursor pagination", "redis", "")),
        "gone_at": st.sampled_from([None, None, None, *WENT]),
    }
)
OLD_QUESTIONS = st.fixed_dictionaries(
    {"older": st.sampled_from(("14", "19", "100", "0", "x"))},
    optional={
        **COMMON,
        "status": st.lists(st.sampled_from(("open", "solved")), min_size=1, max_size=2),
        "project": st.lists(st.sampled_from((*VALUES, "never written")), min_size=1, max_size=3),
        "sort": st.sampled_from(("at", "-at", "status", "-project", "gone")),
    },
)


def query_dict(question: dict[str, Any]) -> QueryDict:
    given = QueryDict(mutable=True)
    for name, value in question.items():
        given.setlist(name, value if isinstance(value, list) else [value])
    return given


def naive(records: list[MirroredRecord], question: dict[str, Any], spec: ListSpec) -> list[MirroredRecord]:
    """Filter and sort by hand, straight from the words of the contract."""
    gone = question.get("gone") == "1"
    facets = {facet.column: question[facet.column] for facet in spec.facets if facet.column in question}
    found = [record for record in records if (record.gone_at is not None) == gone]
    if "store" in question:
        found = [record for record in found if record.store.slug in question["store"]]
    if "q" in question:
        found = [record for record in found if matches(parse_query(question["q"]), search_text(record.title))]
    found = [record for record in found if all(getattr(record, column) in values for column, values in facets.items())]
    if question.get("older", "0").isdecimal() and question.get("older", "0") != "0":
        found = [record for record in found if 0 < record.at_ms < NOW_MS - int(question["older"]) * DAY_MS]
    wanted = question.get("sort", "")
    offered = {*(facet.column for facet in spec.facets), "at", *(["gone"] if gone else [])}
    if wanted.removeprefix("-") not in offered:
        wanted = "-gone" if gone else spec.sort
    name, falls = wanted.removeprefix("-"), wanted.startswith("-")
    if name == "at":
        return sorted(found, key=lambda record: (record.at_ms, record.pk), reverse=falls)
    if name == "gone":
        return sorted(found, key=lambda record: (record.gone_at, record.pk), reverse=falls)
    return sorted(found, key=lambda record: (getattr(record, name), -record.at_ms, -record.pk), reverse=falls)


def stores() -> list[Store]:
    return [make_store("one"), make_store("two"), make_store("three")]


@settings(max_examples=120)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), DECISION_ROWS), max_size=14),
    question=QUESTIONS,
    per_page=st.integers(1, 6),
    cap=st.integers(2, 30),
)
def test_every_plan_finds_what_a_look_at_every_record_finds(
    rows: list[tuple[int, dict[str, Any]]], question: dict[str, Any], per_page: int, cap: int
) -> None:
    compare(DECISIONS, rows, question, per_page, cap)


@settings(max_examples=80)
@given(
    rows=st.lists(st.tuples(st.integers(0, 2), PROBLEM_ROWS), max_size=14),
    question=OLD_QUESTIONS,
    per_page=st.integers(1, 6),
    cap=st.integers(2, 30),
)
def test_so_does_every_plan_with_an_age(rows: list[tuple[int, dict[str, Any]]], question: dict[str, Any], per_page: int, cap: int) -> None:
    compare(PROBLEMS, rows, question, per_page, cap)


def compare(spec: ListSpec, rows: list[tuple[int, dict[str, Any]]], question: dict[str, Any], per_page: int, cap: int) -> None:
    with transaction.atomic():
        seen = stores()
        hidden = make_store("hidden", groups=["others"])
        records = [record for place, store in enumerate(seen) for record in fill(spec, store, [row for at, row in rows if at == place])]
        fill(spec, hidden, [row for _, row in rows])
        user = make_user()
        expected = naive(records, question, spec)
        by_scope = "q" in question or "gone" in question
        limited_by = ("gone", "store") if "gone" in question else ("q", "store")
        in_scope = naive(records, {name: question[name] for name in limited_by if name in question}, spec)

        def answer(page: int) -> RecordList:
            query = read(spec, query_dict({**question, "page": str(page), "per_page": str(per_page)}), narrowed=False)
            return RecordList(user, query, with_tallies=True, cap=cap)

        first = answer(1)
        if not (by_scope and len(in_scope) > cap):
            paged: list[int] = []
            for page in range(1, len(expected) // per_page + 2):
                paged += [record.pk for record in answer(page).page_rows]
            assert paged[: len(expected)] == [record.pk for record in expected]
            assert len(set(paged)) == len(expected)
            assert list(first.ids()) == [record.pk for record in expected]
            assert first.count == (min(len(expected), cap) if first.capped else len(expected))
            assert not first.capped or len(expected) > cap
            assert_tallies(spec, first, records, question)
            bare = RecordList(user, first.query, cap=cap)
            assert [record.pk for record in bare.page_rows] == [record.pk for record in first.page_rows]
            assert (bare.count, bare.capped) == (first.count, first.capped)
        assert first.total == sum(record.gone_at is None for record in records)
        assert first.scope_capped == (by_scope and len(in_scope) > cap)
        transaction.set_rollback(True)


def assert_tallies(spec: ListSpec, answer: RecordList, records: list[MirroredRecord], question: dict[str, Any]) -> None:
    tallies = {tally.column: tally for tally in answer.tallies}
    for facet in spec.facets:
        rest = {name: value for name, value in question.items() if name != facet.column}
        expected = Counter(getattr(record, facet.column) for record in naive(records, rest, spec))
        if tallies[facet.column].at_least:
            assert all(count <= expected[value] for value, count in tallies[facet.column].counts.items())
        else:
            assert tallies[facet.column].counts == expected
    rest = {name: value for name, value in question.items() if name != "store"}
    by_store = Counter(record.store.slug for record in naive(records, rest, spec))
    if answer.store_tally.at_least:
        assert all(count <= by_store[slug] for slug, count in answer.store_tally.counts.items())
    else:
        assert answer.store_tally.counts == by_store


@pytest.mark.parametrize("spec", [DECISIONS, PROBLEMS, QUEUE], ids=lambda spec: spec.section)
def test_all_pages_together_are_all_records_for_every_sort(spec: ListSpec) -> None:
    user = make_user()
    records = []
    for store in stores():
        first, second = spec.facets[0].column, spec.facets[1].column
        records += fill(spec, store, [{"at_ms": n % 3, first: "abc"[n % 3], second: "xy"[n % 2], "title": str(n)} for n in range(23)])
    for sort in [f"{sign}{column}" for column in spec.sorts for sign in ("", "-")]:
        seen = [
            record.pk
            for page in range(1, 11)
            for record in RecordList(user, read(spec, query_dict({"sort": sort, "page": str(page), "per_page": "7", "all": "1"}))).page_rows
        ]
        assert seen == [record.pk for record in naive(records, {"sort": sort}, spec)], sort


def test_more_hits_than_the_cap_are_walked_and_said_to_be_more() -> None:
    user, (one, two, _) = make_user(), stores()
    rows = [{"category": "api" if n % 2 else "auth", "type": "decision", "said_by": f"p{n % 7}", "at_ms": n // 3} for n in range(12_000)]
    records = fill(DECISIONS, one, rows[:7_000]) + fill(DECISIONS, two, rows[7_000:])
    question = {"type": ["decision"], "said_by": [f"p{n}" for n in range(7)]}
    for sort in ("-at", "at", "category", "-said_by"):
        expected = [record.pk for record in naive(records, {**question, "sort": sort}, DECISIONS)]
        answer = RecordList(user, read(DECISIONS, query_dict({**question, "sort": sort, "page": "200"})), with_tallies=True)
        assert [record.pk for record in answer.page_rows] == expected[9_950:10_000]
        assert (answer.count, answer.capped) == (10_000, True)
        assert list(answer.ids()) == expected
        beyond = RecordList(user, read(DECISIONS, query_dict({**question, "sort": sort, "page": "240"})))
        assert [record.pk for record in beyond.page_rows] == expected[11_950:]
    tallies = {tally.column: tally for tally in answer.tallies}
    assert tallies["category"].at_least
    assert sum(tallies["category"].counts.values()) == 10_001
    counted = RecordList(user, read(DECISIONS, query_dict({**question, "count": "all", "page": "240"})))
    assert (counted.count, counted.capped) == (12_000, False)
    assert [record.pk for record in counted.page_rows] == [record.pk for record in naive(records, question, DECISIONS)][11_950:]
    whole = RecordList(user, read(DECISIONS, query_dict({"type": "decision"})), with_tallies=True)
    assert (whole.count, whole.capped) == (12_000, False)


def test_a_search_with_more_hits_than_the_cap_keeps_the_newest_and_says_so() -> None:
    user, (one, *_) = make_user(), stores()
    records = fill(DECISIONS, one, [{"title": f"redis {n}", "category": "ab"[n % 2], "at_ms": -n} for n in range(10_050)])
    answer = RecordList(user, read(DECISIONS, query_dict({"q": "redis", "category": "a", "sort": "at"})), with_tallies=True)
    newest = records[50:]
    assert answer.scope_capped
    assert answer.count == len(naive(newest, {"category": ["a"]}, DECISIONS))
    assert list(answer.ids()) == [record.pk for record in naive(newest, {"category": ["a"], "sort": "at"}, DECISIONS)]


def test_a_small_store_is_searched_whole_although_a_large_one_has_more_hits_than_the_cap() -> None:
    user, (one, two, _) = make_user(), stores()
    small = fill(DECISIONS, two, [{"title": "redis in the small store"}])
    fill(DECISIONS, one, [{"title": f"redis {n}"} for n in range(40)])
    answer = RecordList(user, read(DECISIONS, query_dict({"q": "redis", "store": "two"})), with_tallies=True, cap=20)
    assert [record.pk for record in answer.page_rows] == [small[0].pk]
    assert not answer.scope_capped


@pytest.mark.parametrize("question", [{}, {"category": "api"}, {"category": "api", "type": "decision"}, {"q": "record"}, {"gone": "1"}])
def test_a_list_asks_as_much_of_the_database_for_3_records_as_for_300(question: dict[str, str]) -> None:
    user, store = make_user(), make_store("one")
    asked = []
    for size in (3, 297):
        fill(DECISIONS, store, [{"category": "api"} for _ in range(size)] + [{"gone_at": WENT[0]} for _ in range(size)])
        with CaptureQueriesContext(connection) as queries:
            answer = RecordList(user, read(DECISIONS, query_dict({**question, "per_page": "250"})), with_tallies=True)
            assert answer.page_rows
            assert answer.total and answer.count and answer.tallies and answer.store_tally.counts
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 6


def test_more_stores_than_one_statement_joins_are_merged() -> None:
    user = make_superuser()
    records = [record for n in range(410) for record in fill_quickly(make_store(f"s{n}"), n)]
    for sort in ("-at", "at", "category"):
        answer = RecordList(user, read(DECISIONS, query_dict({"sort": sort, "page": "4", "per_page": "100"})), with_tallies=True)
        expected = [record.pk for record in naive(records, {"sort": sort}, DECISIONS)]
        assert [record.pk for record in answer.page_rows] == expected[300:400]
        assert list(answer.ids()) == expected


def fill_quickly(store: Store, n: int) -> list[MirroredRecord]:
    return fill(DECISIONS, store, [{"at_ms": n % 50, "category": "abc"[n % 3]}], searchable=False)


def test_who_sees_no_store_finds_nothing() -> None:
    make_group("others")
    fill(DECISIONS, make_store("hidden", groups=["others"]), [{"category": "secret area"}])
    for user in (make_user(), make_user(groups=())):
        for question in ({}, {"q": "record"}, {"store": "hidden"}, {"category": "secret area", "type": "decision"}):
            answer = RecordList(user, read(DECISIONS, query_dict(question)), with_tallies=True)
            assert (answer.page_rows, answer.count, answer.total) == ([], 0, 0)
            assert not any(tally.counts for tally in [*answer.tallies, answer.store_tally])
