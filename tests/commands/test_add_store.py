"""add_store: what is registered, and what is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from stores.models import AuditEvent, Store, Worker
from tests.commands.conftest import Manage
from tests.memory_folders import make_project


def test_the_project_is_registered_under_its_name_by_this_worker(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path, "shop-api")
    done = manage("add_store", memory.parents[1], "--json")
    assert done.code == 0
    assert done.document == {
        "store": "shop-api",
        "name": "shop-api",
        "kind": "orchestkit",
        "path": str(memory.resolve()),
        "worker": Worker.objects.get().label,
    }
    store = Store.objects.get()
    assert (store.slug, store.worker) == ("shop-api", Worker.objects.get())


def test_slug_and_name_may_be_chosen(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    assert manage("add_store", memory, "--slug", "shop", "--name", "Shop API").code == 0
    assert Store.objects.values_list("slug", "name").get() == ("shop", "Shop API")


def test_the_audit_names_the_user_of_the_terminal(manage: Manage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "ines")
    manage("add_store", make_project(tmp_path))
    event = AuditEvent.objects.get(event="store_added")
    assert event.actor_label.startswith("os:ines@")
    assert (event.through, event.object_label, event.store_uid) == ("terminal", "shop-api", Store.objects.get().uid)


def test_what_is_no_store_is_refused_unless_its_kind_is_named(manage: Manage, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = manage("add_store", empty)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 0)
    assert "--kind" in done.err
    assert manage("add_store", empty, "--kind", "orchestkit").code == 0


@pytest.mark.parametrize("path", ["missing", "a file"])
def test_a_path_that_is_no_folder_is_refused(manage: Manage, tmp_path: Path, path: str) -> None:
    (tmp_path / "a file").write_text("")
    done = manage("add_store", tmp_path / path)
    assert (done.code, Store.objects.count(), AuditEvent.objects.count()) == (2, 0, 0)


def test_a_folder_outside_the_roots_is_refused(manage: Manage, tmp_path: Path, settings: Settings) -> None:
    memory = make_project(tmp_path)
    settings.STORE_ROOTS = (tmp_path / "elsewhere",)
    done = manage("add_store", memory)
    assert done.code == 2
    assert "MEMORYUI_STORE_ROOTS" in done.err


def test_the_same_folder_is_not_registered_twice(manage: Manage, tmp_path: Path) -> None:
    memory = make_project(tmp_path)
    manage("add_store", memory)
    done = manage("add_store", memory.parents[1])
    assert done.code == 2
    assert "shop-api" in done.err
    assert AuditEvent.objects.filter(event="store_added").count() == 1


def test_two_projects_of_one_name_get_slugs_that_differ(manage: Manage, tmp_path: Path) -> None:
    first, second = make_project(tmp_path / "work", "api"), make_project(tmp_path / "play", "api")
    manage("add_store", first)
    assert manage("add_store", second, "--json").document["store"] == "play-api"
