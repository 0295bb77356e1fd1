"""What an event of a session says, in the forms of both writers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.formats.lines import split_lines
from stores.formats.orchestkit.session_events import SPEC, event_detail
from tests.formats.reading import line_of, lines_of, read_all, record

TRACKED: dict[str, object] = {
    "event_id": "evt-1770719724351-1",
    "event_type": "decision_made",
    "identity": {
        "session_id": "shop-api-main-0301-0900-a1b2",
        "user_id": "dana@example.com",
        "anonymous_id": "77a47618cf03c53b6a3d414e889dee0f",
        "machine_id": "build-vm",
        "identity_source": "config",
        "timestamp": "2026-02-10T10:35:24.351Z",
    },
    "payload": {"name": "decision", "input": {"rationale": "slow"}, "success": True, "context": "use cursor pagination", "confidence": 0.9},
}
HOOKED: dict[str, object] = {
    "event_id": "evt-1770719724351-6kwfbd",
    "event_type": "hook_triggered",
    "identity": {"session_id": "a92346be", "user_id": "dana", "timestamp": "2026-02-10T10:35:24.351Z"},
    "payload": {"name": "posttool/bash", "success": False, "duration_ms": 2},
}


def test_the_trackers_event_fills_its_columns() -> None:
    found, parsed = record(SPEC, TRACKED)
    assert found == {
        "event_type": "decision_made",
        "name": "decision",
        "title": "use cursor pagination",
        "session": "shop-api-main-0301-0900-a1b2",
        "said_by": "dana@example.com",
        "machine": "build-vm",
        "identity_source": "config",
        "outcome": "success",
        "duration_ms": None,
        "shape": "tracker",
        "at_ms": 1_770_719_724_351,
        "at_state": "ok",
    }
    assert (parsed.natural_id, parsed.faults) == ("evt-1770719724351-1", ())
    assert {"cursor", "slow", "decision", "made"} <= set(parsed.search.split())


def test_the_hooks_event_says_less() -> None:
    found, parsed = record(SPEC, HOOKED)
    assert (found["shape"], found["title"], found["outcome"], found["duration_ms"]) == ("hook", "posttool/bash", "failure", 2)
    assert (found["machine"], found["identity_source"], parsed.faults) == ("", "", ())


def test_both_forms_may_stand_in_one_file() -> None:
    reading = read_all(SPEC, lines_of([TRACKED, HOOKED, TRACKED]))
    shapes = [SPEC.columns.index("shape")] * 3
    assert [one.values[place] for one, place in zip(reading.parsed, shapes, strict=True) if one.values] == ["tracker", "hook", "tracker"]


def test_an_id_that_comes_again_is_told_and_both_events_stay() -> None:
    reading = read_all(SPEC, lines_of([TRACKED, HOOKED, TRACKED]))
    assert [[fault.code for fault in one.faults] for one in reading.parsed] == [[], [], ["dup_id"]]
    assert [one.natural_id for one in reading.parsed].count("evt-1770719724351-1") == 2


def test_a_reader_goes_on_where_another_stopped() -> None:
    first = read_all(SPEC, line_of(TRACKED))
    reader = SPEC.reader(first.state)
    assert len(first.state) < 16_384
    [line] = split_lines([line_of(TRACKED)], number=2, offset=100)
    assert [fault.code for fault in reader.read(line).faults] == ["dup_id"]


def test_the_state_stays_small_however_long_the_ids_are() -> None:
    events = [{**HOOKED, "event_id": f"{number}" + "\x01" * 5000} for number in range(300)]
    assert len(read_all(SPEC, lines_of(events)).state.encode()) < 16_384


def test_one_bad_line_silences_the_whole_file() -> None:
    reading = read_all(SPEC, lines_of([TRACKED]) + b'{"event_id":\n' + lines_of([HOOKED]))
    assert reading.classes() == ["record", "refused", "record"]
    [fault] = reading.faults()
    assert fault.message.endswith("OrchestKit's loader then ignores every event of this session")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (None, "not_object"),
        ({"event_type": "x"}, "foreign_shape"),
        ({**HOOKED, "payload": None}, "foreign_shape"),
        ({**HOOKED, "event_type": 1}, "foreign_shape"),
        ({**HOOKED, "identity": "dana"}, "foreign_shape"),
    ],
)
def test_another_form_is_told(value: object, code: str) -> None:
    found, parsed = record(SPEC, value)
    assert ([fault.code for fault in parsed.faults], found["shape"]) == ([code], "foreign")


@pytest.mark.parametrize(("success", "outcome"), [(True, "success"), (False, "failure"), (None, ""), ("yes", ""), (1, "")])
def test_only_a_plain_yes_or_no_is_an_outcome(success: object, outcome: str) -> None:
    assert record(SPEC, {**HOOKED, "payload": {"name": "x", "success": success}})[0]["outcome"] == outcome


@pytest.mark.parametrize("duration", [1e300, -1e300, 1 << 80, "2", None, 2.6])
def test_odd_durations_fit_a_database(duration: object) -> None:
    found = record(SPEC, {**HOOKED, "payload": {"name": "x", "duration_ms": duration}})[0]["duration_ms"]
    assert found is None or (isinstance(found, int) and abs(found) < 1 << 63)


def test_an_event_is_taken_apart() -> None:
    detail = event_detail(line_of({**TRACKED, "more": 1}))
    assert (detail.id, detail.type, detail.shape, detail.name) == ("evt-1770719724351-1", "decision_made", "tracker", "decision")
    assert (detail.context, detail.outcome, detail.confidence) == ("use cursor pagination", "success", "0.9")
    assert detail.input == (("rationale", "slow"),)
    assert ("machine_id", "build-vm") in detail.identity
    assert detail.other == (("more", "1"),)


def test_the_shared_events_keep_type_session_and_id(shared: Path) -> None:
    seen = 0
    for path in (shared / "samples/orchestkit").glob("*/.claude/memory/sessions/*/events.jsonl"):
        reading = read_all(SPEC, path.read_bytes())
        for parsed, line in zip(reading.parsed, path.read_bytes().splitlines(), strict=True):
            raw = json.loads(line)
            assert parsed.values is not None
            assert (parsed.natural_id, parsed.values[0], parsed.values[3]) == (
                raw["event_id"],
                raw["event_type"],
                raw["identity"]["session_id"],
            )
            seen += 1
        assert {fault.code for fault in reading.faults()} <= {"dup_id"}
    assert seen > 400
