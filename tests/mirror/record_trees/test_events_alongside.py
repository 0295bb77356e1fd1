"""What is taken up of the events while the mirror reads them is what the rules would read themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.files import FileStat, OpenedFile
from stores.formats.canonical import log_line
from stores.formats.lines import split_lines
from stores.formats.phase_memory.kind import KIND
from stores.formats.phase_memory.layout import EVENTS
from stores.formats.phase_memory.vocabulary import EVENT_VERSIONS
from stores.health.phase_memory import EventLog
from stores.mirror import packs
from stores.mirror.importing import import_store
from stores.mirror.packs import Place, packs_of
from stores.mirror.record_trees import remembering
from stores.mirror.record_trees.events_alongside import EventsAlongside
from stores.models import Fault
from tests.mirror.images import register
from tests.mirror.record_trees.test_following import settled
from tests.phase_memory_folders import append, event, make_store

SPEC = next(spec for spec in KIND.files if spec.path == EVENTS)
START = Place(0, 1, "")
LINES = (
    log_line(event(1)),
    log_line(event(1)),
    log_line(event(1, path_id="path.a", task="another")),
    log_line(event(2, path_id="path.a", action_id="action.1")),
    log_line(event(2, schema_version="acme.event.v1")),
    log_line(event(3, schema_version=["phase_memory.event.v1"])),
    log_line(event(4, kind="policy_decision", action_id="action.2")),
    log_line(event(5, kind={"a": 1})),
    log_line(event(6, timestamp="2020-01-01T00:00:00Z")),
    log_line(event(7, timestamp="soon")),
    log_line({"event": {"event_id": "e.8", "type": "recorded"}, "schema_version": "phase_memory.event.v1"}),
    b'{"id": "e.9", "schema_version": "phase_memory.event.v1", "kind": "recorded"}\r\n',
    b"\n",
    b'{"id": ""}\n',
    b'{"id": "e.10"} {"id": "e.11"}\n',
    b'{"id": "e.12", "id": "e.13"}\n',
    b"\xff\n",
    b'"' + b"x" * (1 << 20) + b'"\n',
)
ENDS = (b"", b'{"id": "e.14", "sche', log_line(event(15))[:-1], log_line(event(1))[:-1], b"  ")


def alongside(place: Path, start: Place = START) -> EventLog | None:
    taken = EventsAlongside(EVENT_VERSIONS)
    with place.open("rb") as file:
        opened = OpenedFile(file.fileno(), FileStat(0, 0, place.stat().st_size, 0, 0))
        for pack in packs_of(opened, place.stat().st_size, SPEC, start, {}):
            assert taken.log is None
            taken.take(start.offset, pack)
    return taken.log


def said(log: EventLog) -> list[object]:
    hashes = [log.hashes.of(number) for number in range(1, log.lines + 1)]
    events = {one: (log.is_event(one), log.is_event(one) and log.line_of(one)) for one in log.positions}
    return [log.findings, log.positions, events, log.by_path, log.by_action, hashes]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("logs")


@given(lines=st.lists(st.sampled_from(LINES), max_size=12), end=st.sampled_from(ENDS))
def test_the_log_says_what_its_lines_say(folder: Path, lines: list[bytes], end: bytes) -> None:
    data = b"".join([*lines, end])
    place = folder / EVENTS
    place.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packs, "PACK_LINES", 3)
        taken = alongside(place)
    read = EventLog()
    read.extend(split_lines([data]))
    assert taken is not None
    assert said(taken) == said(read)
    # Both go on alike, from a last line on that is read again.
    behind = list(split_lines([data + b"\n" + LINES[3]]))[len(lines) :]
    assert (taken.extend(behind), said(taken)) == (read.extend(behind), said(read))


def test_a_reading_that_goes_on_says_nothing_of_the_whole_log(tmp_path: Path) -> None:
    place = tmp_path / EVENTS
    place.write_bytes(LINES[0] + LINES[3])
    assert alongside(place, Place(len(LINES[0]), 2, "")) is None


def test_half_a_surrogate_pair_in_a_path_leaves_the_log_to_the_rules(tmp_path: Path) -> None:
    place = tmp_path / EVENTS
    place.write_bytes(LINES[0] + json.dumps(event(2, path_id="path.\ud800")).encode() + b"\n")
    assert alongside(place) is None


@pytest.mark.django_db
@pytest.mark.parametrize("odd", ["path.gone", "path.\ud800"])
def test_the_first_import_finds_what_a_later_check_of_everything_finds(tmp_path: Path, odd: str) -> None:
    root = make_store(tmp_path.resolve() / "store")
    append(root, EVENTS, *map(json.loads, LINES[:12]), event(20, path_id=odd))
    store = register(settled(root), kind="phase-memory")
    import_store(store)
    found = sorted(Fault.objects.filter(store=store).values_list("code", "path", "line", "subject_id", "message", "details"))
    assert {code for code, *_ in found} >= {"duplicate_event_id", "unknown_event_schema_version", "unknown_kind", "event_path_missing"}
    remembering.forget(store)
    remembering.unstamp(store)
    import_store(store)
    assert sorted(Fault.objects.filter(store=store).values_list("code", "path", "line", "subject_id", "message", "details")) == found
