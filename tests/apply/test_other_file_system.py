"""The data folder on another file system than the stores: what is displaced cannot be moved there, and must neither be lost nor stay."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django import Settings

from stores.apply import edited_logs
from stores.apply.appending import remember_decision
from stores.apply.draining import drain
from stores.apply.replaying import replay_into_graph
from stores.apply.verifying import look_after
from stores.errors import CannotWrite
from stores.formats.orchestkit import Said
from stores.models import Drain
from tests.apply.actions import applied, approved, imported, memory_store, proposed
from tests.apply.places import ACTOR, GRAPH, left_in_store, make_store, open_journal
from tests.apply.test_applying_lines import BAD, LATE, ONE, TWO, line_store, on_lines
from tests.apply.test_applying_verbs import twice

pytestmark = pytest.mark.django_db

OTHER = "/dev/shm"  # noqa: S108  # what is made there has a name that nobody can guess


@pytest.fixture(autouse=True)
def elsewhere(settings: Settings, tmp_path: Path, data_folder: Path) -> Iterator[Path]:
    """Give a data folder on another file system."""
    if not os.access(OTHER, os.W_OK) or Path(OTHER).stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is only one file system to write to")
    with tempfile.TemporaryDirectory(dir=OTHER) as folder:
        settings.DATA_DIR = Path(folder).resolve()
        yield settings.DATA_DIR


def displaced(place: Path) -> list[bytes]:
    """Give what was displaced and is kept in the data folder."""
    return [path.read_bytes() for path in sorted(place.glob("journal/*/done/*/*.displaced"))]


@pytest.mark.parametrize("work", [replay_into_graph, drain], ids=["replay", "drain"])
def test_a_displaced_graph_that_nobody_has_open_leaves_the_store_at_once(tmp_path: Path, elsewhere: Path, work: object) -> None:
    store, memory = make_store(tmp_path)
    work(store, ACTOR)  # type: ignore[operator]
    assert (left_in_store(memory), displaced(elsewhere), open_journal()) == ([], [GRAPH], [])


def test_a_displaced_graph_that_is_open_stays_until_it_is_closed_and_what_came_late_is_kept(tmp_path: Path, elsewhere: Path) -> None:
    store, memory = make_store(tmp_path)
    with (memory / "memory.json").open("ab") as server:
        replay_into_graph(store, ACTOR)
        (left,) = left_in_store(memory)
        server.write(b"late\n")
        server.flush()
        look_after(store, ACTOR)
        assert left_in_store(memory) == [left]
    look_after(store, ACTOR)
    assert (left_in_store(memory), displaced(elsewhere)) == ([], [GRAPH + b"late\n"])
    assert not list(elsewhere.glob("journal/*/beside/*"))


def test_the_next_change_takes_away_what_stayed(tmp_path: Path, elsewhere: Path) -> None:
    store, memory = make_store(tmp_path)
    with (memory / "memory.json").open("ab"):
        replay_into_graph(store, ACTOR)
    remember_decision(store, Said("We keep Redis"), ACTOR)
    assert (left_in_store(memory), displaced(elsewhere)) == ([], [GRAPH])


def test_a_displaced_graph_of_a_drain_is_watched_with_the_drain(tmp_path: Path, elsewhere: Path) -> None:
    store, memory = make_store(tmp_path)
    with (memory / "memory.json").open("ab"):
        drain(store, ACTOR)
        (left,) = left_in_store(memory)
        row = Drain.objects.get()
        assert row.displaced == str(memory / left)
    assert not list(elsewhere.glob("journal/*/beside/*"))


def test_a_version_that_an_agent_made_of_an_abandoned_change_is_kept(
    tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, memory = make_store(tmp_path)

    def refuse(*_: object) -> None:
        (memory / "memory.json").unlink()
        raise CannotWrite("not as it must be")

    monkeypatch.setattr("stores.apply.replaying.check_graph", refuse)
    with pytest.raises(CannotWrite):
        replay_into_graph(store, ACTOR)
    assert (left_in_store(memory), displaced(elsewhere), open_journal()) == ([], [GRAPH], [])


def test_a_displaced_log_that_is_open_stays_and_its_late_lines_come_over(
    tmp_path: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, memory = line_store(tmp_path, ONE + BAD + TWO)
    action = on_lines(store, "set_aside_lines", BAD)
    log = memory / "decisions.jsonl"
    with log.open("ab", buffering=0) as agent:
        long_ago = time.time() - 100
        os.utime(log, (long_ago, long_ago))
        assert applied(store, action).action.state == "applied"
        assert len(left_in_store(memory)) == 1
        agent.write(LATE)
    monkeypatch.setattr(edited_logs, "QUIET_FOR", timedelta(0))
    look_after(store, ACTOR)
    look_after(store, ACTOR)
    assert (log.read_bytes(), left_in_store(memory)) == (ONE + TWO + LATE, [])
    assert displaced(elsewhere) == [ONE + BAD + TWO + LATE]


def test_a_file_that_is_taken_out_is_kept_there(tmp_path: Path, elsewhere: Path) -> None:
    store, root = memory_store(tmp_path)
    twice(root)
    imported(store)
    other = (root / "nodes/zz.json").read_bytes()
    assert applied(store, approved(proposed(store, "set_file_aside", "nodes/zz.json", target_type="file"))).action.state == "applied"
    assert (displaced(elsewhere), left_in_store(root), (root / "nodes/zz.json").exists()) == ([other], [], False)
