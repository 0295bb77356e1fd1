"""discover_stores: what lies below a folder, and registering it."""

from __future__ import annotations

import os
from pathlib import Path

from pytest_django import Settings

from stores.models import Store
from tests.commands.conftest import Manage
from tests.memory_folders import make_project


def test_stores_are_found_with_the_stray_ones_inside_their_projects(manage: Manage, tmp_path: Path) -> None:
    make_project(tmp_path, "shop-api")
    make_project(tmp_path / "shop-api" / "packages", "cart")
    make_project(tmp_path / "shop-api" / "node_modules", "not-ours")
    document = manage("discover_stores", tmp_path, "--json").document
    found = {Path(row["project"]).name: row["stray"] for row in document["found"]}
    assert found == {"shop-api": False, "cart": True}
    assert document["looked_in"] == [str(tmp_path)]
    assert Store.objects.count() == 0


def test_add_registers_each_store_once(manage: Manage, tmp_path: Path) -> None:
    make_project(tmp_path, "shop-api")
    make_project(tmp_path, "billing")
    first = manage("discover_stores", tmp_path, "--add", "--json")
    assert (first.code, [row["added"] for row in first.document["found"]]) == (0, [True, True])
    second = manage("discover_stores", tmp_path, "--add", "--json")
    assert (second.code, [row["added"] for row in second.document["found"]]) == (0, [False, False])
    assert sorted(Store.objects.values_list("slug", flat=True)) == ["billing", "shop-api"]


def test_a_store_that_cannot_be_registered_is_told_and_the_others_are(manage: Manage, tmp_path: Path, settings: Settings) -> None:
    make_project(tmp_path / "allowed", "shop-api")
    make_project(tmp_path / "forbidden", "billing")
    settings.STORE_ROOTS = ((tmp_path / "allowed").resolve(),)
    done = manage("discover_stores", tmp_path, "--add", "--json")
    assert done.code == 1
    errors = {Path(row["project"]).name: row["error"] for row in done.document["found"]}
    assert errors["shop-api"] == ""
    assert "MEMORYUI_STORE_ROOTS" in errors["billing"]


def test_links_are_not_followed(manage: Manage, tmp_path: Path) -> None:
    make_project(tmp_path / "elsewhere", "shop-api")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / "link").symlink_to(tmp_path / "elsewhere")
    assert manage("discover_stores", tmp_path / "here", "--json").document["found"] == []


def test_a_folder_that_is_not_there_is_refused(manage: Manage, tmp_path: Path) -> None:
    done = manage("discover_stores", tmp_path / "missing")
    assert (done.code, done.out) == (2, "")


def test_without_a_folder_the_roots_are_searched(manage: Manage, tmp_path: Path) -> None:
    make_project(tmp_path, "shop-api")
    assert len(manage("discover_stores", "--json").document["found"]) == 1


def test_names_with_control_characters_move_no_terminal(manage: Manage, tmp_path: Path) -> None:
    make_project(tmp_path, "shop\x1b[31m")
    done = manage("discover_stores", os.fspath(tmp_path))
    assert "\x1b" not in done.out
    assert "shop" in done.out


def test_a_store_below_a_name_that_is_no_text_is_told_of(manage: Manage, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))
    make_project(odd, "shop-api")
    done = manage("discover_stores", tmp_path, "--add", "--json")
    assert done.document["found"] == []
    assert done.document["cannot_be_registered"] == [f"{tmp_path}/caf\\xe9/shop-api/.claude/memory"]
    assert "caf\\xe9" in done.err
    assert "rename the folder" in done.err
