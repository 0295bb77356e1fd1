"""Hints from the kernel: which stores they are about, what the limit leaves out, what starts the watch anew."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.worker.watching import Watcher, folders_of
from tests.installations import wait_for


class Heard:
    """Collects hints."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.stores: set[int] = set()
        self.moved: set[int] = set()

    def __call__(self, stores: set[int], moved: set[int]) -> None:
        with self._lock:
            self.stores |= stores
            self.moved |= moved

    def forget(self) -> None:
        """Start over."""
        with self._lock:
            self.stores, self.moved = set(), set()


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
def watcher(heard: Heard) -> Iterator[Watcher]:
    made = Watcher(heard)
    yield made
    made.close()


def make_folder(place: Path) -> Path:
    place.mkdir(parents=True)
    return place.resolve()


def test_an_append_is_heard_for_its_store_only(tmp_path: Path, watcher: Watcher, heard: Heard) -> None:
    one, two = make_folder(tmp_path / "one"), make_folder(tmp_path / "two")
    assert watcher.watch({1: folders_of(str(one)), 2: folders_of(str(two))})
    with (one / "decisions.jsonl").open("ab") as out:
        out.write(b"{}\n")
    wait_for(lambda: heard.stores)
    assert (heard.stores, heard.moved) == ({1}, set())


def test_a_folder_below_the_root_is_watched_and_a_new_one_is_told(tmp_path: Path, watcher: Watcher, heard: Heard) -> None:
    root = make_folder(tmp_path / "store")
    make_folder(root / "sessions")
    watcher.watch({1: folders_of(str(root))})
    (root / "sessions" / "events.jsonl").write_text("{}\n")
    wait_for(lambda: heard.stores == {1})
    heard.forget()
    (root / "archive").mkdir()
    wait_for(lambda: heard.moved == {1})


def test_the_same_folders_again_change_nothing_and_others_start_the_watch_anew(tmp_path: Path, watcher: Watcher) -> None:
    root = make_folder(tmp_path / "store")
    folders = {1: folders_of(str(root))}
    assert watcher.watch(folders) is True
    assert watcher.watch(folders) is False
    (root / "archive").mkdir()
    assert watcher.watch({1: folders_of(str(root))}) is True


def test_a_root_that_was_made_anew_is_watched_anew(tmp_path: Path, watcher: Watcher, heard: Heard) -> None:
    root = make_folder(tmp_path / "store")
    watcher.watch({1: folders_of(str(root))})
    root.rename(tmp_path / "old")
    make_folder(root)
    assert watcher.watch({1: folders_of(str(root))}) is True
    heard.forget()
    (root / "decisions.jsonl").write_text("{}\n")
    wait_for(lambda: heard.stores == {1})


def test_links_are_not_watched(tmp_path: Path) -> None:
    outside, root = make_folder(tmp_path / "outside"), make_folder(tmp_path / "store")
    (root / "link").symlink_to(outside)
    (root / "real").mkdir()
    assert [Path(folder.path).name for folder in folders_of(str(root))] == ["store", "real"]
    (tmp_path / "linked").symlink_to(root)
    assert folders_of(str(tmp_path / "linked")) == ()


def test_a_name_that_is_no_text_is_left_to_the_sweep(tmp_path: Path, watcher: Watcher) -> None:
    root = make_folder(tmp_path / "store")
    (root / os.fsdecode(b"\xff\xfe")).mkdir()
    (root / "back\\slash").mkdir()
    folders = folders_of(str(root))
    assert sorted(Path(folder.path).name for folder in folders) == ["back\\slash", "store"]
    assert watcher.watch({1: folders})
    assert watcher.note == ""


def test_beyond_the_limit_roots_are_watched_first_and_the_rest_is_told(tmp_path: Path, heard: Heard) -> None:
    for store in ("one", "two"):
        for number in range(5):
            make_folder(tmp_path / store / f"session-{number}")
    watcher = Watcher(heard, max_watches=3)
    watcher.watch({1: folders_of(str((tmp_path / "one").resolve())), 2: folders_of(str((tmp_path / "two").resolve()))})
    try:
        assert watcher.note.startswith("3 of 12 folders are watched")
        (tmp_path / "two" / "decisions.jsonl").write_text("{}\n")
        wait_for(lambda: heard.stores == {2})
    finally:
        watcher.close()


def test_a_folder_that_went_before_the_watch_stood_ends_it_and_the_next_walk_mends_that(
    tmp_path: Path, watcher: Watcher, heard: Heard
) -> None:
    root = make_folder(tmp_path / "store")
    make_folder(root / "brief")
    folders = {1: folders_of(str(root))}
    shutil.rmtree(root / "brief")
    watcher.watch(folders)
    wait_for(lambda: watcher.watch({1: folders_of(str(root))}))
    (root / "decisions.jsonl").write_text("{}\n")
    wait_for(lambda: heard.stores == {1})


def test_a_folder_of_two_stores_is_heard_for_both(tmp_path: Path, watcher: Watcher, heard: Heard) -> None:
    outer = make_folder(tmp_path / "outer")
    inner = make_folder(outer / "inner")
    watcher.watch({1: folders_of(str(outer)), 2: folders_of(str(inner))})
    (inner / "decisions.jsonl").write_text("{}\n")
    wait_for(lambda: heard.stores == {1, 2})
