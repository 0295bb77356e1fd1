"""Whatever ends an apply in its middle, the next one settles it: the store is as it was or as it was approved, and told once (rulings 3, 5, 6)."""

from __future__ import annotations

import contextlib
import json
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connections

from stores.apply.verifying import look_after
from stores.formats.canonical import digest
from stores.health.phase_memory import check_all
from stores.models import AuditEvent, LifecycleAction, Review, Store
from stores.review import keeping
from stores.review.approving import approve_all
from stores.review.deciding import Manner
from stores.review.submitting import submit
from tests.apply.actions import ACTOR, PROPOSER, applied, approved, image, imported, lines, memory_store, now, proposal, proposed, reviewer
from tests.apply.faulty import Killed, before_call, faulty
from tests.apply.places import left_in_store, open_journal
from tests.apply.test_applying_lines import BAD, ONE, TWO, line_store, on_lines
from tests.apply.test_applying_verbs import REPAIRS
from tests.phase_memory_folders import node, put
from tests.phase_memory_stores import read_facts

pytestmark = pytest.mark.django_db


def many_actions(folder: Path, number: int) -> tuple[Store, Path, list[LifecycleAction]]:
    """Make a store and so many approved actions, each about a node of its own."""
    store, root = memory_store(folder)
    names = [f"many.{one:03d}" for one in range(number)]
    for name in names:
        put(root, "node", node(name))
    imported(store)
    queued = submit(store, [proposal("transition_phase", name, to_phase="stabilized") for name in names], PROPOSER, now())
    rows = [one.action for one in queued if one.action is not None]
    approve_all(reviewer(), rows, {row.pk: row.digest for row in rows}, Manner("page", now(), password_given=True))
    return store, root, rows


def taken_up(store: Store, row: LifecycleAction) -> None:
    """Do what the worker does next: apply again what was interrupted, when the lease of whoever did it is over, and look after the store."""
    LifecycleAction.objects.filter(pk=row.pk, state="applying").update(lease_until=None)
    row.refresh_from_db()
    if row.is_open:
        applied(store, row)
    look_after(store, ACTOR)


def check_done(root: Path, row: LifecycleAction) -> None:
    """Hold the store against what must be there once an action is applied, whatever happened before."""
    row.refresh_from_db()
    assert (row.state, row.receipt["as_approved"]) == ("applied", True)
    assert json.loads((root / f"nodes/{row.first_target}.json").read_bytes())["phase"] == "stabilized"
    (event,) = [one for one in lines(root / "events.jsonl") if one.get("action_id") == row.action_id]
    (record,) = [one for one in lines(root / "audit.jsonl") if one.get("subject_id") == row.action_id and one["decision"] == "applied"]
    assert record["event_ids"] == [event["id"]] and record["audit_id"] == row.receipt["audit_id"]
    assert AuditEvent.objects.filter(event="action_applied", detail__action=row.pk).count() == 1
    assert Review.objects.get(action=row).spent_at is not None
    assert (left_in_store(root), open_journal()) == ([], [])


def fault_points(rows: list[LifecycleAction], step: int) -> Iterator[tuple[int, LifecycleAction]]:
    """Give a place for a fault and an action for it, until the actions are used up."""
    for number, row in enumerate(rows):
        yield number * step + 1, row


@pytest.mark.parametrize(("mode", "step"), [("kill", 3), ("torn", 1)])
def test_dying_at_any_step_is_settled_by_the_next_apply(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, step: int) -> None:
    store, root, rows = many_actions(tmp_path, 40)
    deaths = 0
    for at, row in fault_points(rows, step):
        before = image(root)
        with faulty(monkeypatch, mode, at) as layer:
            try:
                applied(store, row)
            except Killed:
                deaths += 1
        if not layer.hit:
            break
        written = [name for name, data in image(root).items() if data != before.get(name) and not name.rpartition("/")[2].startswith(".")]
        assert set(written) <= {f"nodes/{row.first_target}.json", "events.jsonl", "audit.jsonl"}
        taken_up(store, row)
        check_done(root, row)
    else:
        pytest.fail("there are more steps than actions")
    assert deaths > 3
    assert check_all(read_facts(root)).listed() == []


@pytest.mark.parametrize(("mode", "step"), [("EIO", 4), ("ENOSPC", 5), ("short", 1), ("full", 1)])
def test_a_disk_that_fails_leaves_the_store_as_it_was_or_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, step: int
) -> None:
    store, root, rows = many_actions(tmp_path, 40)
    met: Counter[str] = Counter()
    for at, row in fault_points(rows, step):
        before = image(root)
        with faulty(monkeypatch, mode, at) as layer:
            result = applied(store, row)
        if not layer.hit:
            break
        met[result.action.state] += 1
        if result.action.state in ("failed", "approved"):
            assert image(root) == before
            assert result.verdict.reason_code in ("io_error", "store_blocked") and result.action.message
        taken_up(store, row)
        check_done(root, row)
    else:
        pytest.fail("there are more steps than actions")
    assert met["failed"] and met.keys() <= {"failed", "applied", "applying", "approved"}
    assert check_all(read_facts(root)).listed() == []


def test_an_apply_behind_its_event_is_completed_without_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal is gone, and of the store only what stands in the database is known (ruling 5)."""
    store, root, rows = many_actions(tmp_path, 30)
    ends = Counter[str]()
    for at, row in fault_points(rows, 3):
        with faulty(monkeypatch, "kill", at) as layer, contextlib.suppress(Killed):
            applied(store, row)
        if not layer.hit:
            break
        shutil.rmtree(Path(settings.DATA_DIR) / "journal", ignore_errors=True)
        for left in left_in_store(root):
            (root / left).unlink()
        events = [one for one in lines(root / "events.jsonl") if one.get("action_id") == row.action_id]
        row.refresh_from_db()
        ends["event" if events else "file" if b"stabilized" in (root / f"nodes/{row.first_target}.json").read_bytes() else "nothing"] += 1
        taken_up(store, row)
        check_done(root, row)
    assert ends["event"] and ends["file"] and ends["nothing"]


@pytest.mark.parametrize("name", ["append_newline", "create_folder", "rename_file", "set_file_aside"])
def test_a_repair_that_appends_no_event_is_completed_without_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    for at in (1, 17, 21, 24, 27, 30, 34, 40):
        store, root = memory_store(tmp_path / str(at))
        spoil, code, target, target_type, parameters, _ = REPAIRS[name]
        spoil(root)
        imported(store)
        verb = {"create_folder": "create_missing_entry"}.get(name, name)
        row = proposed(store, verb, target, target_type=target_type, parameters=parameters, requires_review=False)
        if row.state == "pending":
            approved(row)
        with faulty(monkeypatch, "kill", at), contextlib.suppress(Killed):
            applied(store, row)
        shutil.rmtree(Path(settings.DATA_DIR) / "journal", ignore_errors=True)
        taken_up(store, row)
        row.refresh_from_db()
        records = [one for one in lines(root / "audit.jsonl") if one.get("subject_id") == row.action_id and one["decision"] == "applied"]
        assert (row.state, len(records), row.receipt["audit_id"]) == ("applied", 1, records[0]["audit_id"])
        found = [one.code for one in check_all(read_facts(root)).listed()]
        assert code not in found


def test_an_interrupted_apply_over_which_somebody_wrote_is_left_for_a_person(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, root = memory_store(tmp_path)
    action = approved(proposed(store, "merge", "node.a", "node.b", parameters={"into": "node.b"}))
    (root / "nodes/node.a.json").write_bytes(json.dumps({"id": "node.a", "kind": "decision", "text": "An agent's."}).encode())
    for change in keeping.effect_of(action).changes:
        if change.path == "nodes/node.b.json":
            (root / change.path).write_bytes(change.after)  # type: ignore[union-attr]  # a node is replaced
    before = image(root, ["audit.jsonl"])
    LifecycleAction.objects.filter(pk=action.pk).update(state="applying", lease_until=None, revision=action.revision + 1)
    result = applied(store, action)
    assert result.action.state in ("failed", "stale")
    assert image(root, ["audit.jsonl"]) == before


def test_an_interrupted_apply_without_an_approval_is_not_completed(tmp_path: Path) -> None:
    store, root = memory_store(tmp_path)
    action = proposed(store, "transition_phase", "node.a", to_phase="stabilized")
    (root / "nodes/node.a.json").write_bytes(keeping.effect_of(action).changes[0].after)  # type: ignore[union-attr]  # a node is replaced
    LifecycleAction.objects.filter(pk=action.pk).update(state="applying", lease_until=None)
    before = image(root, ["audit.jsonl"])
    assert applied(store, action).verdict.reason_code == "review_required"
    assert image(root, ["audit.jsonl"]) == before


@pytest.mark.parametrize(("mode", "step"), [("kill", 4), ("torn", 1), ("EIO", 6), ("full", 1)])
def test_an_edit_of_a_log_that_ends_in_its_middle_is_settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, step: int) -> None:
    bad = [BAD.replace(b"torn", f"torn-{one:02d}".encode()) for one in range(30)]
    store, memory = line_store(tmp_path, ONE + b"".join(bad) + TWO)
    rows = [on_lines(store, "set_aside_lines", line) for line in bad]
    log, left = memory / "decisions.jsonl", [ONE, *bad, TWO]
    for (at, row), line in zip(fault_points(rows, step), bad, strict=True):
        with faulty(monkeypatch, mode, at) as layer, contextlib.suppress(Killed):
            applied(store, row)
        if not layer.hit:
            break
        after = [one for one in left if one != line]
        assert log.read_bytes() in (b"".join(left), b"".join(after))
        late = ONE.replace(b"part 1", f"part {at + 100}".encode())
        with log.open("ab") as agent:
            agent.write(late)
        row.refresh_from_db()
        taken_up(store, row)
        row.refresh_from_db()
        left = [*after, late]
        assert (row.state, log.read_bytes()) == ("applied", b"".join(left))
        assert (left_in_store(memory), open_journal()) == ([], [])
    else:
        pytest.fail("there are more steps than actions")


def test_an_agent_that_appends_all_the_while_loses_no_line(tmp_path: Path) -> None:
    store, root, rows = many_actions(tmp_path, 12)
    written: list[bytes] = []
    stop = threading.Event()

    def agent() -> None:
        number = 0
        with (root / "events.jsonl").open("ab", buffering=0) as log:
            while not stop.is_set():
                line = json.dumps(
                    {"id": f"event.agent-{number}", "kind": "recorded", "schema_version": "phase_memory.memory.event.v1"}
                ).encode()
                log.write(line + b"\n")
                written.append(line)
                number += 1
                stop.wait(0.001)

    thread = threading.Thread(target=agent)
    thread.start()
    try:
        for row in rows:
            result = applied(store, row)
            assert result.action.state == "applied", result.verdict
    finally:
        stop.set()
        thread.join()
    found = (root / "events.jsonl").read_bytes().split(b"\n")
    assert [line for line in found if b"event.agent-" in line] == written
    assert len(written) > 10
    for row in rows:
        check_done(root, row)


@pytest.mark.parametrize("log", ["events.jsonl", "audit.jsonl"])
def test_a_line_that_is_half_written_when_an_apply_looks_at_it_is_waited_for(tmp_path: Path, log: str) -> None:
    store, root, (row,) = many_actions(tmp_path, 1)
    line = b'{"id": "event.slow", "audit_id": "audit.slow", "kind": "recorded", "schema_version": "of somebody else"}\n'
    applying = threading.Event()

    def agent() -> None:
        with (root / log).open("ab", buffering=0) as opened:
            opened.write(line[:40])
            applying.set()
            threading.Event().wait(0.3)
            opened.write(line[40:])

    thread = threading.Thread(target=agent)
    thread.start()
    applying.wait()
    try:
        result = applied(store, row)
    finally:
        thread.join()
    assert result.action.state == "applied", result.verdict
    assert (root / log).read_bytes().count(line) == 1
    check_done(root, row)


def test_another_writer_at_any_step_of_an_apply_keeps_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, root, rows = many_actions(tmp_path, 40)
    states: Counter[str] = Counter()
    for at, row in fault_points(rows, 2):
        file = root / f"nodes/{row.first_target}.json"

        def agent(file: Path = file) -> None:
            beside = file.with_name(".agent.tmp")
            beside.write_bytes(b'{"id": "' + file.stem.encode() + b'", "kind": "decision", "text": "An agent wrote this."}')
            beside.rename(file)

        with before_call(monkeypatch, at, agent) as layer:
            state = applied(store, row).action.state
        states[state] += 1
        if layer.calls < at:
            break
        assert b"An agent wrote this." in file.read_bytes()
        events = [one for one in lines(root / "events.jsonl") if one.get("action_id") == row.action_id]
        assert (state, len(events)) in (("stale", 0), ("applied", 1))
        assert open_journal() == []
    assert states["stale"] and states["applied"]


@pytest.mark.django_db(transaction=True)
def test_of_several_who_apply_the_same_action_one_does(tmp_path: Path) -> None:
    store, root, rows = many_actions(tmp_path, 3)
    ready = threading.Barrier(4)
    results: list[str] = []

    def work() -> None:
        try:
            ready.wait()
            for row in rows:
                try:
                    results.append(str(applied(store, row).verdict.status))
                except Exception as err:  # noqa: BLE001  what each one met is looked at below
                    results.append(type(err).__name__)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(results) == Counter({"applied": 3, "MovedMeanwhile": 9})
    for row in rows:
        check_done(root, row)
    records = lines(root / "audit.jsonl")
    assert [one["sequence"] for one in records] == list(range(1, len(records) + 1))
    assert [one["previous_digest"] for one in records[1:]] == [digest(one) for one in records[:-1]]
