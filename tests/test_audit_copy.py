"""A worker's own events lie in its data folder too, and a check of that file tells a crash from tampering."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks, Settings

from stores import audit
from stores.audit_copy import CopyVerdict, check_copy
from stores.models import AuditEvent
from tests.factories import make_store

pytestmark = pytest.mark.django_db

ACTOR = "worker build-01"


@pytest.fixture
def copy(settings: Settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data" / "audit.jsonl"


@pytest.fixture
def write(copy: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> Any:
    store = make_store("shop-api")

    def write(count: int, **changes: Any) -> None:
        for number in range(count):
            given = {
                "event": "action_applied",
                "object_label": f"#{number} archive",
                "store": store,
                "detail": {"action": number + 1, "é": "ü"},
            }
            with django_capture_on_commit_callbacks(execute=True):
                audit.record(**{**given, "actor": None, "actor_label": ACTOR, "through": "worker", **changes})

    return write


def lines(copy: Path) -> list[bytes]:
    return copy.read_bytes().splitlines(keepends=True)


def test_only_what_the_worker_did_is_copied_once_it_stands(copy: Path, write: Any) -> None:
    write(2)
    write(1, through="page", actor_label="Ines")
    write(1)
    assert [json.loads(line)["number"] for line in lines(copy)] == [1, 2, 4]
    assert copy.stat().st_mode & 0o077 == 0 or copy.parent.stat().st_mode & 0o077 == 0
    assert check_copy(copy, ACTOR) == CopyVerdict("intact", 3, 0, None)


def test_nothing_is_copied_of_what_was_taken_back(copy: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks) -> None:
    with django_capture_on_commit_callbacks(execute=False):
        audit.record("action_applied", actor=None, actor_label=ACTOR, object_label="#1", through="worker")
    assert not copy.exists()


@pytest.mark.parametrize("keep", [1, 40, -2])
def test_a_last_line_that_is_cut_off_is_a_crash(copy: Path, write: Any, keep: int) -> None:
    write(3)
    whole = lines(copy)
    copy.write_bytes(b"".join(whole) + whole[-1][:keep])
    assert check_copy(copy, ACTOR) == CopyVerdict("torn_tail", 3, 0, None)
    write(1)
    assert check_copy(copy, ACTOR) == CopyVerdict("intact", 4, 1, None)


@pytest.mark.parametrize(
    "change",
    [
        lambda line: line.replace(b"#1 archive", b"#1 restore"),
        lambda line: line.replace(b'"through":"worker"', b'"through":"page"'),
        lambda line: line.replace(b'"action":2', b'"action":9'),
        lambda line: line.replace(b"shop-api", b"shop-web"),
    ],
)
def test_any_changed_event_is_named(copy: Path, write: Any, change: Any) -> None:
    write(3)
    whole = lines(copy)
    changed = change(whole[1])
    assert changed != whole[1]
    copy.write_bytes(whole[0] + changed + whole[2])
    assert check_copy(copy, ACTOR) == CopyVerdict("altered", 2, 0, 2)


def test_an_event_that_was_made_anew_with_its_digest_is_not_the_one_of_the_database(copy: Path, write: Any) -> None:
    write(3)
    event = AuditEvent.objects.get(number=2)
    event.object_label = "something else"
    event.digest = audit.digest_of(event)
    whole = lines(copy)
    copy.write_bytes(whole[0] + json.dumps(audit.copied(event)).encode() + b"\n" + whole[2])
    assert check_copy(copy, ACTOR).first_bad == 2
    AuditEvent.objects.filter(number=2).update(object_label="something else", digest=event.digest)
    assert check_copy(copy, ACTOR).status == "intact"


def test_missing_events_are_told_from_a_missing_end(copy: Path, write: Any) -> None:
    write(4)
    whole = lines(copy)
    copy.write_bytes(whole[0] + whole[1] + whole[3])
    assert check_copy(copy, ACTOR) == CopyVerdict("gap", 3, 0, 3)
    copy.write_bytes(whole[0] + whole[1])
    assert check_copy(copy, ACTOR) == CopyVerdict("truncated", 2, 0, 3)
    copy.write_bytes(b"".join(whole[2:]))
    assert check_copy(copy, ACTOR).status == "intact"


def test_lines_of_others_are_counted_apart(copy: Path, write: Any) -> None:
    write(1)
    with copy.open("ab") as opened:
        opened.write(b'{"number": 2}\n[]\nno json\n\n{"number":1,"number":1}\n')
    write(1)
    assert check_copy(copy, ACTOR) == CopyVerdict("intact", 2, 4, None)


def test_a_copy_that_cannot_be_written_stops_nothing(copy: Path, write: Any, caplog: pytest.LogCaptureFixture) -> None:
    copy.mkdir(parents=True)
    write(1)
    assert AuditEvent.objects.filter(event="action_applied").count() == 1
    assert "lacks 1 events" in caplog.text
