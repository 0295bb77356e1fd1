"""list_faults: every fault with its place."""

from __future__ import annotations

from pathlib import Path

from stores.models import Fault, FaultAcknowledgement, Store
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project

KEYS = {
    "code", "severity", "file", "line", "byte", "subject_type", "subject_id", "key", "message", "pending", "details", "repair", "acknowledged",
}  # fmt: skip


def make_faulty(manage: Manage, tmp_path: Path) -> bytes:
    memory = make_project(tmp_path, decisions=0)
    glued = decision("use redis", 1).rstrip(b"\n") + decision("use postgres", 2)
    (memory / "decisions.jsonl").write_bytes(decision("use cursors", 3) + glued + b'{"id":"decision-torn')
    manage("add_store", memory)
    manage("import_stores")
    return glued


def test_each_fault_has_the_keys_of_the_contract_and_its_place(manage: Manage, tmp_path: Path) -> None:
    glued = make_faulty(manage, tmp_path)
    done = manage("list_faults", "shop-api", "--json")
    assert (done.code, done.document["store"]) == (0, "shop-api")
    faults = {fault["code"]: fault for fault in done.document["faults"]}
    assert all(fault.keys() >= KEYS for fault in faults.values())
    seam = glued.index(b"}{") + 1
    found = faults["glued"]
    assert (found["file"], found["line"], found["severity"]) == ("decisions.jsonl", 2, "error")
    assert found["byte"] == len(decision("use cursors", 3)) + seam
    assert found["details"]["salvageable"] == 2
    assert found["repair"] == {"mode": "review", "action": "repair_lines"}


def test_a_torn_tail_is_pending_and_an_acknowledged_fault_says_so(manage: Manage, tmp_path: Path) -> None:
    make_faulty(manage, tmp_path)
    torn = Fault.objects.get(line=3, code="tail_torn")
    FaultAcknowledgement.objects.create(store=Store.objects.get(), path=torn.path, code=torn.code, key=torn.key)
    faults = manage("list_faults", "shop-api", "--json").document["faults"]
    states = {fault["code"]: (fault["pending"], fault["acknowledged"]) for fault in faults}
    assert states["tail_torn"] == (True, True)
    assert states["glued"] == (False, False)


def test_the_worst_stand_first_in_both_forms(manage: Manage, tmp_path: Path) -> None:
    make_faulty(manage, tmp_path)
    ranks = [
        ("error", "warning", "info").index(fault["severity"]) for fault in manage("list_faults", "shop-api", "--json").document["faults"]
    ]
    assert ranks == sorted(ranks)
    lines = manage("list_faults", "shop-api").out.splitlines()
    assert len(lines) == len(ranks)
    assert any("decisions.jsonl:2" in line and "glued" in line for line in lines)


def test_a_store_without_faults_gives_an_empty_list(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path))
    manage("import_stores")
    done = manage("list_faults", "shop-api", "--json")
    assert (done.code, done.document) == (0, {"store": "shop-api", "faults": []})


def test_an_unknown_store_is_refused(manage: Manage) -> None:
    done = manage("list_faults", "shop-api", "--json")
    assert (done.code, done.out) == (2, "")


def test_what_looks_like_a_secret_is_masked(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    relation = b'{"from":"a","to":"postgres://app:hunter2hunter2@db.acme.example/main","relationType":"CHOSE"}'
    queue = b'{"type":"create_relations","payload":{"relations":[' + relation + b']},"timestamp":"2026-03-01T10:00:00Z"}\n'
    (memory / "graph-queue.jsonl").write_bytes(queue)
    manage("add_store", memory)
    manage("import_stores")
    done = manage("list_faults", "shop-api", "--json")
    assert [fault["code"] for fault in done.document["faults"]] == ["dangling_relation"]
    assert "hunter2" not in done.out + manage("list_faults", "shop-api").out
