"""remove_store, relocate_store, reset_mirror, check_mirror: what goes, what stays, what the audit says."""

from __future__ import annotations

from pathlib import Path

from stores.models import AuditEvent, Decision, FacetCount, Fault, SourceFile, Store
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project


def make_imported(manage: Manage, tmp_path: Path, name: str = "shop-api") -> Path:
    memory = make_project(tmp_path, name)
    manage("add_store", memory)
    manage("import_stores", name)
    return memory


def files_of(memory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(memory)): path.read_bytes() for path in memory.rglob("*") if path.is_file()}


def test_removing_drops_the_mirror_and_leaves_disk_and_audit(manage: Manage, tmp_path: Path) -> None:
    memory = make_imported(manage, tmp_path)
    before = files_of(memory)
    uid = Store.objects.get().uid
    done = manage("remove_store", "shop-api", "--json")
    assert (done.code, done.document) == (0, {"store": "shop-api", "path": str(memory.resolve()), "removed": True})
    assert [model.objects.count() for model in (Store, Decision, SourceFile, FacetCount, Fault)] == [0, 0, 0, 0, 0]
    assert files_of(memory) == before
    events = AuditEvent.objects.filter(store_uid=uid).order_by("number").values_list("event", flat=True)
    assert list(events) == ["store_added", "store_removed"]


def test_a_relocated_store_keeps_its_records(manage: Manage, tmp_path: Path) -> None:
    memory = make_imported(manage, tmp_path)
    keys = list(Decision.objects.order_by("pk").values_list("pk", flat=True))
    moved = tmp_path / "moved"
    memory.parents[1].rename(moved)
    done = manage("relocate_store", "shop-api", moved, "--json")
    assert done.code == 0
    assert done.document["path"] == str((moved / ".claude" / "memory").resolve())
    assert manage("import_stores").code == 0
    assert list(Decision.objects.filter(gone_at=None).order_by("pk").values_list("pk", flat=True)) == keys
    event = AuditEvent.objects.get(event="store_relocated")
    assert event.detail["to"] == done.document["path"]


def test_another_content_is_refused_unless_forced(manage: Manage, tmp_path: Path) -> None:
    make_imported(manage, tmp_path)
    other = make_project(tmp_path / "elsewhere", "shop-api", decisions=0)
    (other / "decisions.jsonl").write_bytes(decision("something else entirely", 99))
    refused = manage("relocate_store", "shop-api", other)
    assert refused.code == 2
    assert "--force" in refused.err
    assert manage("relocate_store", "shop-api", other, "--force").code == 0
    manage("import_stores")
    assert Decision.objects.get(gone_at=None).title == "something else entirely"


def test_a_reset_builds_the_same_mirror_anew(manage: Manage, tmp_path: Path) -> None:
    make_imported(manage, tmp_path)
    before = list(Decision.objects.order_by("line").values_list("natural_id", "line", "title"))
    done = manage("reset_mirror", "shop-api", "--json")
    assert done.code == 0
    (run,) = done.document["runs"]
    assert (run["mode"], run["records"]["decision"]["created"]) == ("full", 3)
    assert list(Decision.objects.order_by("line").values_list("natural_id", "line", "title")) == before
    assert AuditEvent.objects.filter(event="mirror_reset").count() == 1


def test_a_check_finds_and_mends_wrong_counts(manage: Manage, tmp_path: Path) -> None:
    make_imported(manage, tmp_path)
    assert manage("check_mirror", "--json").document == {"checked": ["shop-api"], "found": []}
    FacetCount.objects.filter(record_type="decision", facet="").update(count=99)
    wrong = manage("check_mirror", "shop-api", "--json")
    assert wrong.code == 1
    assert len(wrong.document["found"]) == 1
    assert FacetCount.objects.get(record_type="decision", facet="").count == 3
    assert manage("check_mirror").code == 0
