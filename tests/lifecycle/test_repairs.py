"""Repairs of a phase-memory store: planned from faults, written on a real store, after which the faults are gone."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from stores.formats.canonical import log_line
from stores.formats.phase_memory.aliases import Record
from stores.health.phase_memory import Finding, check_all
from stores.lifecycle.actions import Action, read
from stores.lifecycle.approvals import Approval, Approvals
from stores.lifecycle.changes import Append, Create, EndLine, MakeFolder, Move, Replace, TakeOut
from stores.lifecycle.effect_of import effect_of
from stores.lifecycle.effects import Effect, EffectRefused, FileNow
from stores.lifecycle.gate import Status, verdict
from stores.lifecycle.phase_memory.audit_records import Occasion, record_of
from stores.lifecycle.phase_memory.planner import StoreRecords, planned_actions
from stores.lifecycle.phase_memory.repair_planner import RepairFault, RepairStore, planned_repairs
from stores.lifecycle.targets import StoreFault, TargetNow
from tests.lifecycle.cases import DIGEST, NOBODY, NOW, PLANNED_AT, POLICY, action, digest_of, fluid, targets
from tests.phase_memory_folders import append, edge, event, make_store, node, path, put
from tests.phase_memory_stores import read_facts


class OnDisk:
    """A store on disk, which a test changes as an apply would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.number = 0

    def find(self, record_type: str, name: str) -> FileNow | None:
        if record_type == "file":
            place = self.root / name
            return FileNow(name, place.read_bytes()) if place.is_file() else None
        folder = self.root / f"{record_type}s"
        fitting = folder / f"{name}.json"
        for place in [*([fitting] if fitting.is_file() else []), *sorted(folder.iterdir())]:
            value = json.loads(place.read_bytes()) if place.suffix == ".json" else {}
            if value.get("path_id" if record_type == "path" else "id") == name:
                return FileNow(f"{record_type}s/{place.name}", place.read_bytes())
        return None

    def records(self, record_type: str) -> dict[tuple[str, str], Record]:
        found: dict[tuple[str, str], Record] = {}
        for place in sorted((self.root / f"{record_type}s").glob("*.json")):
            value = json.loads(place.read_bytes())
            found.setdefault((record_type, str(value["path_id" if record_type == "path" else "id"])), value)
        return found

    def findings(self) -> list[Finding]:
        return check_all(read_facts(self.root)).listed()

    def plan(self) -> list[Record]:
        lines = [
            json.loads(line)
            for line in (self.root / "events.jsonl").read_bytes().split(b"\n")
            if line.startswith(b"{") and line.endswith(b"}")
        ]
        begun = {
            one["path_updates"][0]["path_id"]: number
            for number, one in enumerate(lines, start=1)
            if one.get("path_updates") and one["path_updates"][0].get("operation") in ("create", "branch")
        }
        records = self.records("node") | self.records("edge") | self.records("path")
        store = RepairStore(records, {one["id"]: number for number, one in enumerate(lines, start=1)}, begun)
        faults = [RepairFault(one.code, one.file, one.subject_id or "", one.key or "", self.hash_of(one.file)) for one in self.findings()]
        return planned_repairs(faults, store)

    def hash_of(self, name: str) -> str:
        place = self.root / name
        if not place.is_file():
            return ""
        data = place.read_bytes()
        return sha256(data.split(b"\n")[-1] if name.endswith(".jsonl") else data).hexdigest()

    def targets_of(self, asked: Action) -> dict[str, TargetNow]:
        found: dict[str, TargetNow] = {}
        for name in asked.target_ids:
            there = self.find(asked.target_type, name)
            if there is not None:
                value: Record = {} if asked.target_type == "file" else json.loads(there.data)
                digest = f"sha256:{self.hash_of(name)}" if asked.target_type == "file" else digest_of(value)
                found[name] = TargetNow(asked.target_type, name, there.path, digest, value)
        return found

    def apply(self, record: Record) -> Effect:
        """Do what an action does, with its event and its audit record; the gate has to let it through with one approval."""
        asked = read("phase-memory", record)
        faults = [
            StoreFault(one.file, one.code, str(one.severity) == "error", one.code == "truncated_last_line") for one in self.findings()
        ]
        approved = Approvals(DIGEST, (Approval(asked.id, DIGEST, "account-1", "approved"),))
        got = verdict(record, self.targets_of(asked), approved, POLICY, NOW, faults)
        assert got.status is Status.APPLIED, (got, record)
        effect = effect_of(asked, self.find, PLANNED_AT)
        for change in effect.changes:
            place = self.root / change.path
            if isinstance(change, Replace | Create):
                place.write_bytes(change.after)
            elif isinstance(change, MakeFolder):
                place.mkdir()
            elif isinstance(change, Move):
                place.rename(self.root / change.to)
            elif isinstance(change, TakeOut):
                place.unlink()
            elif isinstance(change, Append | EndLine):
                with place.open("ab") as log:
                    log.write(b"\n" if isinstance(change, EndLine) else log_line(dict(change.record)))
        lines = (self.root / "audit.jsonl").read_bytes().splitlines() if (self.root / "audit.jsonl").exists() else []
        previous = json.loads(lines[-1]) if lines else None
        self.number += 1
        occasion = Occasion(f"2026-06-01T00:{self.number:02d}:00Z", "account-2", previous, markers=("marker",), review_id="memoryui:1")
        ids = [str(effect.event["id"])] if effect.event is not None else []
        with (self.root / "audit.jsonl").open("ab") as log:
            log.write(log_line(record_of(asked, got, occasion, effect.targets, ids)))
        return effect


@pytest.fixture
def store(tmp_path: Path) -> OnDisk:
    return OnDisk(make_store(tmp_path / "store"))


def test_an_apply_leaves_a_store_about_which_there_is_nothing_to_say(store: OnDisk) -> None:
    durable = store.records("node")["node", "node.c"]
    record: Record = {
        "target_ids": ["node.c"],
        "source_digests": {"node.c": digest_of(durable)},
        "from_phase": "rigid",
        "to_phase": "stabilized",
    }
    done = store.apply(action("transition_phase", **record))
    assert store.findings() == []
    audited = json.loads((store.root / "audit.jsonl").read_bytes().splitlines()[-1])
    after = durable | {"phase": "stabilized"}
    assert audited["targets"] == [
        {"record_type": "node", "id": "node.c", "before_digest": digest_of(durable), "after_digest": digest_of(after)}
    ]
    assert (audited["operation"], audited["decision"], audited["sequence"]) == ("lifecycle.apply", "applied", 3)
    assert audited["approval_marker"] == "marker"
    assert done.event is not None
    assert audited["event_ids"] == [done.event["id"]]
    assert store.records("node")["node", "node.c"] == after


def test_a_denial_is_audited_without_an_event_and_without_digests() -> None:
    value = fluid()
    record = action("request_delete", value)
    got = verdict(record, targets(value), NOBODY, POLICY, NOW, ())
    audited = record_of(read("phase-memory", record), got, Occasion("t", "account-1"))
    assert (audited["decision"], audited["reason_code"], audited["sequence"], audited["previous_digest"]) == (
        "denied",
        "review_required",
        1,
        None,
    )
    assert audited["targets"] == [{"record_type": "node", "id": "node.a"}]
    assert audited["policy_decision"] == {"allowed": False, "reason": "It waits for a review.", "obligations": []}
    assert "event_ids" not in audited
    foreign = record_of(read("phase-memory", record), got, Occasion("t", "account-1", {"audit_id": "other"}))
    assert "sequence" not in foreign
    assert "previous_digest" not in foreign


def break_edge(root: Path) -> None:
    put(root, "edge", edge("edge.b", "node.a", "node.never"))


def break_superseded(root: Path) -> None:
    put(root, "node", node("node.d", lifecycle_state="superseded", superseded_by="node.never"))


def break_path_events(root: Path) -> None:
    put(root, "path", path("path.a", "event.0003", "event.never", "event.0002", "event.0002"))


def break_listing(root: Path) -> None:
    append(root, "events.jsonl", event(4, path_id="path.a"), event(5))


def break_parent(root: Path) -> None:
    put(root, "path", path("path.b", parent_path_id="path.never"))


def break_ring(root: Path) -> None:
    begun = [{"path_id": "path.c", "operation": "branch"}], [{"path_id": "path.b", "operation": "branch"}]
    append(root, "events.jsonl", *(event(number, path_updates=updates) for number, updates in enumerate(begun, start=4)))
    put(root, "path", path("path.b", parent_path_id="path.c"))
    put(root, "path", path("path.c", parent_path_id="path.b"))


def break_summary(root: Path) -> None:
    put(root, "path", path("path.b", state="compacted", compacted_summary_id="node.never"))


def break_names(root: Path) -> None:
    (root / "nodes/node.b.json").rename(root / "nodes/other.json")
    (root / "nodes/copy.json").write_bytes((root / "nodes/node.a.json").read_bytes().replace(b"cursor", b"offset"))


def break_form(root: Path) -> None:
    place = root / "nodes/node.a.json"
    place.write_bytes(json.dumps(json.loads(place.read_bytes())).encode())


def break_folder(root: Path) -> None:
    for place in (root / "activations").iterdir():
        place.unlink()
    (root / "activations").rmdir()


def break_end(root: Path) -> None:
    place = root / "events.jsonl"
    place.write_bytes(place.read_bytes().rstrip(b"\n"))


BREAKS = {
    "missing_edge_endpoint": break_edge,
    "superseded_target_missing": break_superseded,
    "path_event_missing": break_path_events,
    "event_path_unlisted": break_listing,
    "parent_path_missing": break_parent,
    "path_parent_cycle": break_ring,
    "compacted_summary_missing": break_summary,
    "filename_id_mismatch": break_names,
    "nondeterministic_json": break_form,
    "missing_layout_entry": break_folder,
    "unterminated_last_line": break_end,
}


@pytest.mark.parametrize("code", BREAKS)
def test_what_is_planned_mends_the_fault(store: OnDisk, code: str) -> None:
    BREAKS[code](store.root)
    assert code in {one.code for one in store.findings()}
    rounds = 0
    while planned := store.plan():
        rounds += 1
        assert rounds < 5
        for one in planned:
            store.apply(one)
    assert store.findings() == []


def test_the_path_that_began_first_becomes_the_root_of_a_ring(store: OnDisk) -> None:
    break_ring(store.root)
    assert [one["target_ids"] for one in store.plan()] == [["path.c"]]


def test_a_list_of_events_is_mended_one_thing_after_the_other(store: OnDisk) -> None:
    break_path_events(store.root)
    verbs: list[object] = []
    while planned := store.plan():
        verbs += [one["action"] for one in planned]
        for one in planned:
            store.apply(one)
    assert verbs == ["keep_first_event", "set_event_aside", "sort_events"]
    value = store.records("path")["path", "path.a"]
    assert value["event_ids"] == ["event.0002", "event.0003"]
    assert value["metadata"] == {"missing_event_ids": [{"event_id": "event.never", "position": 1}]}


def test_planned_faults_of_a_generated_store_are_mended_and_no_new_one_comes(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"
    codes = [code for code in BREAKS if code not in ("missing_layout_entry", "compacted_summary_missing")]
    command = [
        sys.executable,
        str(shared / "tools/gen_store.py"),
        "--out",
        str(out),
        "--nodes",
        "60",
        "--seed",
        "9",
        "--faults",
        ",".join(codes),
    ]
    subprocess.run(command, check=True, capture_output=True)
    store = OnDisk(out / "store")
    before = {one.code for one in store.findings()}
    assert before >= set(codes) - {"unterminated_last_line"}
    rounds = 0
    while planned := store.plan():
        rounds += 1
        assert rounds < 6
        for one in planned:
            store.apply(one)
    left = {one.code for one in store.findings()}
    assert left <= before - set(codes)
    checker = [sys.executable, str(shared / "tools/check_store.py"), str(store.root)]
    lines = subprocess.run(checker, check=True, capture_output=True, text=True).stdout.splitlines()
    assert {json.loads(line)["code"] for line in lines if line.startswith("{")} == left


def test_a_whole_plan_is_applied_and_both_checkers_have_nothing_to_say(shared: Path, tmp_path: Path) -> None:
    out = tmp_path / "made"
    command = [sys.executable, str(shared / "tools/gen_store.py"), "--out", str(out), "--nodes", "80", "--seed", "4"]
    subprocess.run(command, check=True, capture_output=True)
    store = OnDisk(out / "store")
    by_id = {name: value for (_, name), value in store.records("node").items()}
    paths = {name: value for (_, name), value in store.records("path").items()}
    profile = json.loads((out / "input/memory-profile.json").read_bytes())
    planned = planned_actions(profile, StoreRecords(by_id, paths), NOW)
    assert {one["action"] for one in planned} >= {"compact", "request_delete", "transition_phase", "archive", "mark_stale"}
    for one in planned:
        store.apply(one)
    assert store.findings() == []
    checker = [sys.executable, str(shared / "tools/check_store.py"), str(store.root)]
    assert subprocess.run(checker, check=True, capture_output=True, text=True).stdout == ""


def repair(store: OnDisk, verb: str, name: str, **parameters: object) -> Effect:
    value = store.records("path").get(("path", name), {})
    target_type = "file" if verb in ("set_file_aside", "rename_file") else "path"
    record = action(verb, target_type=target_type, target_ids=[name], source_digests={name: digest_of(value)}, parameters=parameters)
    return effect_of(read("phase-memory", record), store.find, PLANNED_AT)


def test_a_state_and_a_target_are_chosen_by_a_person(store: OnDisk) -> None:
    put(store.root, "path", path("path.b", state="merged", merge_target="path.never"))
    (replace, _) = repair(store, "choose_merge_target", "path.b", merge_target="path.a").changes
    assert isinstance(replace, Replace)
    assert json.loads(replace.after)["merge_target"] == "path.a"
    (replace, _) = repair(store, "correct_path_state", "path.b", state="abandoned", abandoned_reason="a dead end").changes
    assert isinstance(replace, Replace)
    assert json.loads(replace.after) == path("path.b", state="abandoned", merge_target=None, abandoned_reason="a dead end")


@pytest.mark.parametrize(
    ("verb", "name", "parameters"),
    [
        ("set_event_aside", "path.a", {"event_ids": []}),
        ("set_event_aside", "path.a", {"event_ids": ["event.never"]}),
        ("set_event_aside", "path.a", {"event_ids": "event.0002"}),
        ("keep_first_event", "path.a", {}),
        ("sort_events", "path.a", {"event_ids": ["event.0002", "event.0003"]}),
        ("sort_events", "path.a", {"event_ids": ["event.0003"]}),
        ("sort_events", "path.a", {"event_ids": ["event.0003", "event.0002", "event.0001"]}),
        ("list_event", "path.a", {"event_ids": ["event.0002", "event.0003"]}),
        ("list_event", "path.a", {"event_ids": ["event.0003", "event.0002", "event.0001"]}),
        ("make_root", "path.a", {}),
        ("choose_merge_target", "path.a", {"merge_target": "path.a"}),
        ("correct_path_state", "path.a", {"state": "merged"}),
        ("correct_path_state", "path.a", {"state": "merged", "merge_target": "path.never"}),
        ("correct_path_state", "path.a", {"state": "gone"}),
        ("set_file_aside", "nodes/node.a.json", {}),
        ("set_file_aside", "events.jsonl", {}),
        ("set_file_aside", "nodes/never.json", {}),
        ("rename_file", "nodes/node.a.json", {}),
        ("rename_file", "phase-memory.json", {}),
    ],
)
def test_a_repair_that_repairs_nothing_is_refused(store: OnDisk, verb: str, name: str, parameters: dict[str, object]) -> None:
    with pytest.raises(EffectRefused):
        repair(store, verb, name, **parameters)
