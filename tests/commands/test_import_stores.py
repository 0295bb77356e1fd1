"""import_stores: the shape of its document, its exit codes, and stores of other hosts."""

from __future__ import annotations

import os
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from stores.errors import Conflict
from stores.files import StoreRoot
from stores.mirror.holding import held
from stores.models import Decision, Store, Worker
from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project


def test_the_document_counts_what_each_type_of_record_gained(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=3)
    (memory / "open-problems.jsonl").write_text('{"id":"prob-1","text":"time-out in docker","status":"open"}\n{broken\n')
    manage("add_store", memory)
    done = manage("import_stores", "--json")
    assert done.code == 0
    (run,) = done.document["runs"]
    assert {key: run[key] for key in ("store", "mode", "status", "files_read")} == {
        "store": "shop-api",
        "mode": "incremental",
        "status": "ok",
        "files_read": 2,
    }
    assert run["records"]["decision"] == {"created": 3, "updated": 0, "removed": 0, "total": 3}
    assert run["records"]["problem"] == {"created": 1, "updated": 0, "removed": 0, "total": 1}
    assert run["records"]["queue_operation"] == {"created": 0, "updated": 0, "removed": 0, "total": 0}
    assert run["faults"] >= 1
    assert run["bytes_read"] == sum(path.stat().st_size for path in memory.iterdir())
    assert run["duration_s"] > 0


def test_a_second_import_changes_nothing_and_full_reads_all_again(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    os.utime(memory / "decisions.jsonl", (1_700_000_000, 1_700_000_000))
    manage("add_store", memory)
    manage("import_stores")
    keys = set(Decision.objects.values_list("pk", flat=True))
    (again,) = manage("import_stores", "shop-api", "--json").document["runs"]
    assert (again["bytes_read"], again["files_read"]) == (0, 0)
    (full,) = manage("import_stores", "--full", "--json").document["runs"]
    assert (full["mode"], full["bytes_read"]) == ("full", (memory / "decisions.jsonl").stat().st_size)
    assert set(Decision.objects.values_list("pk", flat=True)) == keys


def test_one_unreadable_file_is_partial_and_an_unreadable_store_failed(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    (memory / "open-problems.jsonl").mkdir()
    manage("add_store", memory)
    partial = manage("import_stores", "--json")
    assert (partial.code, partial.document["runs"][0]["status"]) == (1, "partial")
    memory.rename(memory.with_name("gone"))
    failed = manage("import_stores", "--json")
    assert (failed.code, failed.document["runs"][0]["status"]) == (1, "failed")


def test_an_unknown_slug_is_refused_with_the_one_that_was_meant(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path))
    done = manage("import_stores", "shop-apy")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 0)
    assert "Did you mean shop-api?" in done.err


@pytest.mark.parametrize("command", ["import_stores", "reset_mirror", "remove_store", "check_mirror"])
def test_a_store_of_another_host_is_refused_and_its_owner_named(manage: Manage, tmp_path: Path, command: str) -> None:
    manage("add_store", make_project(tmp_path))
    Store.objects.update(worker=Worker.objects.create(label="build-07"))
    done = manage(command, "shop-api")
    assert done.code == 2
    assert "build-07" in done.err
    assert Store.objects.exists()


def test_without_slugs_only_the_stores_of_this_host_are_imported(manage: Manage, tmp_path: Path) -> None:
    manage("add_store", make_project(tmp_path, "ours"))
    manage("add_store", make_project(tmp_path, "theirs"))
    Store.objects.filter(slug="theirs").update(worker=Worker.objects.create(label="build-07"))
    assert [run["store"] for run in manage("import_stores", "--json").document["runs"]] == ["ours"]


def test_an_import_waits_for_another_one_of_the_same_store(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    with ExitStack() as other:
        root = other.enter_context(StoreRoot(memory.resolve()))
        assert other.enter_context(root.locked(0.0))
        release = threading.Timer(0.3, other.pop_all().close)
        release.start()
        assert manage("import_stores").code == 0
        assert not release.is_alive()
    assert Decision.objects.count() == 3


def test_a_store_that_stays_held_is_refused(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    with StoreRoot(memory.resolve()) as other, other.locked(0.0), pytest.raises(Conflict, match="busy"), held(Store.objects.get(), 0.05):
        pass


def test_text_output_shows_control_characters_of_memory_instead_of_obeying_them(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, decisions=0)
    (memory / "decisions.jsonl").write_bytes(decision("use redis", 1) + b'{"id":"\\u001b[31mred"\n')
    manage("add_store", memory)
    shown = manage("import_stores").out + manage("list_faults", "shop-api").out + manage("store_health").out
    assert "\x1b" not in shown
