"""Faults by file, and the bytes of the open one."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from stores.acknowledging import acknowledge, take_back
from stores.errors import NotFound
from stores.formats.record_keys import record_key
from stores.health.phase_memory.codes import CODES
from stores.models import AuditEvent, Fault, RefusedLine, SourceFile, Store
from stores.selectors.fault_words import diagnostic_mending, mending, place_words, repair_words
from stores.selectors.faults import PER_GROUP, FaultFilter, FaultPage, fault_page, find_fault
from tests.factories import make_decision, make_fault, make_file, make_refused_line, make_store, make_user

GLUED = b'{"id":"a"}{"id":"b"}'


def page(store: Store, open_id: int | None = None, **chosen: object) -> FaultPage:
    return fault_page(store, SourceFile.objects.filter(store=store).order_by("path"), FaultFilter(**chosen), open_id)  # type: ignore[arg-type]


@pytest.mark.django_db
def test_faults_are_grouped_by_file_and_the_worst_stand_first() -> None:
    store = make_store()
    make_fault(store, "odd_id", severity="info", rank=2, line=1)
    make_fault(store, "glued", line=9)
    make_fault(store, "bad_json", line=4)
    make_fault(store, "tail_unterminated", severity="warning", rank=1, line=2, path="open-problems.jsonl")
    found = page(store)
    assert [group.path for group in found.groups] == ["decisions.jsonl", "open-problems.jsonl"]
    assert [row.fault.code for row in found.groups[0].rows] == ["bad_json", "glued", "odd_id"]
    assert found.by_severity == [("error", 2), ("warning", 1), ("info", 1)]
    assert found.total == found.matching == 4


@pytest.mark.django_db
def test_each_filter_narrows_and_the_severities_count_without_their_own_choice() -> None:
    store = make_store()
    make_fault(store, "odd_id", severity="info", rank=2)
    make_fault(store, "glued")
    make_fault(store, "glued", path="graph-queue.jsonl")
    found = page(store, severity="error")
    assert (found.matching, found.total) == (2, 3)
    assert found.by_severity == [("error", 2), ("warning", 0), ("info", 1)]
    found = page(store, path="graph-queue.jsonl")
    assert (found.matching, found.total, [group.path for group in found.groups]) == (1, 1, ["graph-queue.jsonl"])
    assert page(store, code="odd_id").matching == 1
    assert page(store, code="nothing").groups == []
    assert found.paths == [("decisions.jsonl", 2), ("graph-queue.jsonl", 1)]


@pytest.mark.django_db
def test_a_file_with_many_faults_shows_the_first_hundred_and_pages_when_it_is_chosen() -> None:
    store = make_store()
    file = make_file(store)
    Fault.objects.bulk_create(
        Fault(
            store=store,
            file=file,
            path=file.path,
            code="bad_json",
            severity="error",
            rank=0,
            message="m",
            line=line,
            first_seen_at=datetime.now(UTC),
        )
        for line in range(1, 251)
    )
    group = page(store).groups[0]
    assert (len(group.rows), group.total, group.more) == (PER_GROUP, 250, 150)
    last = page(store, path=file.path, page=3)
    assert [row.fault.line for row in last.groups[0].rows] == list(range(201, 251))
    assert last.pages == 3


@pytest.mark.django_db
def test_an_open_fault_of_a_refused_line_shows_its_bytes_the_place_and_its_neighbours() -> None:
    store = make_store()
    line = make_refused_line(store, GLUED, line=3)
    RefusedLine.objects.filter(pk=line.pk).update(before=b'{"id":"before"}', before_length=438, after=b"", after_length=None)
    details = json.dumps({"cause": "glued", "column": 11, "salvageable": 2})
    fault = make_fault(store, "glued", line=3, details=details, repair_action="repair_lines")
    SourceFile.objects.filter(store=store).update(lines_record=5, lines_refused=1)
    row = page(store, open_id=fault.pk).groups[0].rows[0]
    assert row.opened is not None
    assert [piece.text for piece in row.opened.view.before] == ['{"id":"a"}']
    assert [piece.text for piece in row.opened.view.place] == ['{"id":"b"}']
    assert row.opened.before is not None
    assert (row.opened.before.line, row.opened.before.size) == (2, "438 B")
    assert row.opened.after is None
    assert row.opened.place == "byte 11: a second record begins here, a line break is missing"
    assert row.mending == "Inserts a line break before byte 11. 2 records come back. The other 5 lines stay byte for byte."


@pytest.mark.django_db
def test_an_open_fault_of_a_record_shows_the_records_line() -> None:
    store = make_store()
    raw = b'{"id":"decision-mx3a2c3b-0001","content":{"what":"x"}}'
    key = record_key("decision-mx3a2c3b-0001", b"")
    record = make_decision(store, raw=raw, natural_id="decision-mx3a2c3b-0001", key=key)
    fault = make_fault(store, "missing_entities", line=record.line, subject_type="decision", subject_id="decision-mx3a2c3b-0001")
    opened = find_fault(store, fault.pk).opened
    assert opened is not None
    assert "".join(piece.text for piece in opened.view.before) == raw.decode()


@pytest.mark.django_db
def test_a_fault_of_a_record_without_an_id_is_found_by_the_hash_of_its_line() -> None:
    store = make_store()
    raw = b'{"content":{"what":"x"}}'
    record = make_decision(store, raw=raw, natural_id="")
    fault = make_fault(store, "bad_id", line=record.line, subject_type="decision", subject_id="", key=hashlib.sha256(raw).hexdigest()[:16])
    assert find_fault(store, fault.pk).opened is not None


@pytest.mark.django_db
def test_a_fault_about_a_whole_file_has_no_bytes() -> None:
    store = make_store()
    row = find_fault(store, make_fault(store, "symlink", line=None, byte=None, subject_type="file").pk)
    assert row.opened is None
    assert row.place == "file"


@pytest.mark.django_db
def test_a_fault_of_another_store_is_not_found() -> None:
    fault = make_fault(make_store())
    with pytest.raises(NotFound):
        find_fault(make_store(), fault.pk)


@pytest.mark.django_db
def test_an_acknowledgement_outlives_the_row_of_the_fault_and_is_audited_once() -> None:
    store, reviewer = make_store(), make_user("ines")
    fault = make_fault(store, "odd_id", key="a" * 16)
    acknowledge(fault, by=reviewer, note="the sample's own id")
    acknowledge(fault, by=reviewer)
    fault.delete()
    anew = make_fault(store, "odd_id", key="a" * 16)
    told = find_fault(store, anew.pk).acknowledged
    assert told is not None
    assert (told.by, told.note) == ("ines", "the sample's own id")
    assert AuditEvent.objects.filter(event="fault_acknowledged", store_uid=store.uid).count() == 1
    assert take_back(anew, by=reviewer)
    assert not take_back(anew, by=reviewer)
    assert find_fault(store, anew.pk).acknowledged is None


@pytest.mark.django_db
def test_the_number_of_queries_does_not_grow_with_the_faults() -> None:
    store = make_store()
    counts = []
    for size in (3, 60):
        for number in range(size):
            make_fault(store, path=f"file-{number % 7}.jsonl", line=number)
        files = list(SourceFile.objects.filter(store=store))
        with CaptureQueriesContext(connection) as queries:
            fault_page(store, files, FaultFilter(), None)
        counts.append(len(queries))
    assert counts == [2, 2]


@pytest.mark.parametrize(
    ("mode", "action", "words"),
    [
        ("review", "repair_lines", "Repair the line · review"),
        ("safe", "append_newline", "Append a line break · safe"),
        ("acknowledge", "", "Acknowledge"),
        ("none", "", "Nothing to do"),
        ("odd", "odd", "Nothing to do"),
    ],
)
def test_the_repair_names_whether_it_needs_a_review(mode: str, action: str, words: str) -> None:
    assert repair_words(mode, action) == words


def test_what_mends_a_fault_says_what_is_not_touched() -> None:
    assert mending("nan", "review", "set_aside_lines", {}, 2).endswith("The other 1 line stays byte for byte.")
    assert (
        mending("tail_unterminated", "safe", "append_newline", {}, 9)
        == "Appends one line break at the end of the file. Nothing else is touched."
    )
    assert "The other" not in mending("missing_entities", "review", "repair_lines", {}, 1)
    assert place_words(None, "glued") == ""


@pytest.mark.django_db
def test_many_findings_of_one_kind_stand_as_one_row_until_they_are_asked_for() -> None:
    store = make_store()
    for line in range(1, 7):
        make_fault(store, "dangling_relation", severity="warning", rank=1, line=line, path="graph-queue.jsonl")
    for line in range(7, 10):
        make_fault(store, "odd_id", severity="info", rank=2, line=line, path="graph-queue.jsonl")
    for line in range(10, 16):
        make_fault(store, "bad_json", line=line, path="graph-queue.jsonl")
    found = page(store)
    [group] = found.groups
    assert [(row.fault.code, row.alike) for row in group.rows] == [
        *[("bad_json", 0)] * 6,
        ("dangling_relation", 5),
        *[("odd_id", 0)] * 3,
    ]
    assert (group.total, group.more, found.matching, found.listed) == (15, 0, 15, 10)
    alone = page(store, path="graph-queue.jsonl", severity="warning")
    assert ([row.alike for row in alone.groups[0].rows], alone.matching, alone.listed, alone.pages) == ([5], 6, 1, 1)
    asked = page(store, code="dangling_relation")
    assert ([row.alike for row in asked.groups[0].rows], asked.listed) == ([0] * 6, 6)


@pytest.mark.django_db
def test_an_open_finding_of_a_fold_is_shown() -> None:
    store = make_store()
    faults = [make_fault(store, "dangling_relation", severity="warning", rank=1, line=line) for line in range(1, 7)]
    [group] = page(store, open_id=faults[4].pk).groups
    assert [(row.fault.line, row.is_open, row.alike) for row in group.rows] == [(1, False, 4), (5, True, 0)]
    assert group.more == 0


@pytest.mark.parametrize("code", sorted(CODES))
def test_each_code_of_a_phase_memory_store_says_what_mends_it(code: str) -> None:
    told = CODES[code]
    said = diagnostic_mending(code, str(told.mode))
    assert said.startswith(told.repair or "Nothing has to be mended")
    assert said.endswith("A person decides on it in a review.") == (told.mode == "review")
    assert said.endswith(".")
    if told.action:
        assert repair_words(str(told.mode), told.action) not in ("Needs a decision", "Can be mended safely", "Nothing to do")


@pytest.mark.django_db
def test_the_row_of_a_finding_says_what_mends_it() -> None:
    store = make_store()
    found = make_fault(store, "missing_edge_endpoint", is_diagnostic=True, repair_mode="review", repair_action="archive")
    row = find_fault(store, found.pk)
    assert row.repair == "Archive the record · review"
    assert row.mending == "Archive the edge, or make the node again by hand. A person decides on it in a review."
