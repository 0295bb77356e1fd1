"""store_health: verdict, exit code, and the document's shape."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from stores.models import Store
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project


def test_a_healthy_store_ends_with_0_and_shows_its_files(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    (memory / "decisions.jsonl").write_bytes(decision("use redis", 1) + b"\n" + decision("use cursors", 2))
    manage("add_store", memory)
    manage("import_stores")
    done = manage("store_health", "--json")
    assert (done.code, done.document["overall"]) == (0, "healthy")
    (store,) = done.document["stores"]
    assert {key: store[key] for key in ("store", "kind", "verdict", "status", "message")} == {
        "store": "shop-api",
        "kind": "orchestkit",
        "verdict": "healthy",
        "status": "healthy",
        "message": "Graph memory operational",
    }
    assert store["classic"]["overall"] == "healthy"
    assert store["classic"]["tiers"].keys() == {"graph", "mem0", "fabric"}
    assert store["measured_at"].endswith("Z")
    assert all(condition.keys() >= {"code", "status", "message", "file"} for condition in store["conditions"])
    files = {file["path"]: file for file in store["files"]}
    size = (memory / "decisions.jsonl").stat().st_size
    found = files["decisions.jsonl"]
    assert (found["exists"], found["line_count"], found["corrupt_lines"], found["size_bytes"]) == (True, 2, 0, size)
    assert found["lines"] == {"record": 2, "refused": 0, "blank": 1, "pending": 0}
    assert files["graph-queue.jsonl"]["exists"] is False
    assert files["graph-queue.jsonl"]["last_modified"] is None


def test_the_worst_store_decides_the_exit_code(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path, "fine"))
    broken = make_project(tmp_path, "broken")
    (broken / "decisions.jsonl").write_bytes(b"{broken\n" + decision("use redis", 1))
    manage("add_store", broken)
    manage("import_stores")
    degraded = manage("store_health", "--json")
    assert (degraded.code, degraded.document["overall"]) == (1, "degraded")
    assert [store["store"] for store in degraded.document["stores"]] == ["broken", "fine"]
    assert degraded.document["stores"][0]["message"] == "1 corrupt lines in decisions.jsonl"
    assert manage("store_health", "fine").code == 0
    broken.rename(broken.with_name("gone"))
    manage("import_stores")
    assert manage("store_health").code == 3


def test_what_was_never_measured_or_too_long_ago_is_unmeasured(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path))
    assert manage("store_health").code == 4
    manage("import_stores")
    assert manage("store_health").code == 0
    Store.objects.update(measured_at=timezone.now() - timedelta(minutes=3))
    done = manage("store_health", "--json")
    assert (done.code, done.document["stores"][0]["verdict"]) == (4, "unmeasured")
    assert "last: healthy" in done.document["stores"][0]["sentence"]


def test_without_stores_nothing_is_measured(manage: Manage) -> None:
    done = manage("store_health", "--json")
    assert (done.code, done.document) == (4, {"overall": "unmeasured", "stores": []})


def test_an_unknown_store_is_refused_with_the_code_of_refusals(manage: Manage) -> None:
    assert manage("store_health", "shop-api").code == 2
