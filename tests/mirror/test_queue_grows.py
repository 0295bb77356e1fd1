"""A long queue that grows is judged by its names: as if all of it were looked at, and without looking at all of it."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.mirror import look_at_queue
from stores.mirror.importing import import_store
from stores.mirror.relocating import remove_store
from stores.mirror.resetting import reset_mirror
from stores.models import Fault, QueueName, QueueOperation, Store
from tests.mirror.images import fresh_image, image, register
from tests.mirror.moves import do, moves
from tests.mirror.test_incremental_equals_full import end_alike

pytestmark = pytest.mark.django_db
QUIET = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
)


@pytest.fixture
def every_queue_is_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(look_at_queue, "LONG", 0)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / ".claude" / "memory"
    root.mkdir(parents=True)
    return root


def makes(*names: str) -> bytes:
    return _line("create_entities", "entities", [{"name": name, "entityType": "Tool", "observations": []} for name in names])


def relates(start: str, end: str) -> bytes:
    return _line("create_relations", "relations", [{"from": start, "to": end, "relationType": "USES"}])


def observes(name: str, *, bare: bool = False) -> bytes:
    return _line("add_observations", "observations", [{"entityName": name, **({} if bare else {"contents": ["seen"]})}])


def _line(operation: str, key: str, items: list[dict[str, object]]) -> bytes:
    return json.dumps({"type": operation, "payload": {key: items}, "timestamp": "2026-03-01T10:00:00.000Z"}).encode() + b"\n"


NAMES = st.sampled_from("abcd")
OPERATIONS = st.one_of(
    st.lists(NAMES, min_size=1, max_size=2).map(lambda names: makes(*names)),
    st.tuples(NAMES, NAMES).map(lambda ends: relates(*ends)),
    st.tuples(NAMES, st.booleans()).map(lambda one: observes(one[0], bare=one[1])),
    st.just(b'{"type":"unknown","payload":{}}\n'),
    st.just(b'{"type":"create_entities","payload":{"entities":[null,{"name":"a"}]}}\n'),
    st.just(b"not json\n"),
    st.just(b"\n"),
)


@QUIET
@given(parts=st.lists(st.lists(OPERATIONS, max_size=4), min_size=2, max_size=6), filed=st.lists(NAMES, max_size=2))
def test_appended_operations_stand_as_if_the_whole_queue_were_looked_at(
    every_queue_is_long: None, parts: list[list[bytes]], filed: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / ".claude" / "memory"
        root.mkdir(parents=True)
        (root / "memory.json").write_bytes(b"".join(json.dumps({"type": "entity", "name": name}).encode() + b"\n" for name in filed))
        store = register(root)
        for part in parts:
            with (root / "graph-queue.jsonl").open("ab") as out:
                out.write(b"".join(part))
            import_store(store, trigger="sweep")
        assert image(store) == fresh_image(root)
        remove_store(store)
        assert not QueueName.objects.exists()


@QUIET
@given(steps=st.lists(st.tuples(st.just("graph-queue.jsonl"), moves, st.booleans()), min_size=1, max_size=8))
def test_so_they_do_whatever_else_happens_to_the_file(every_queue_is_long: None, steps: list) -> None:  # type: ignore[type-arg]
    end_alike(steps)


def standings(store: Store) -> list[tuple[str, str]]:
    live = QueueOperation.objects.filter(store=store, gone_at=None).order_by("line")
    return list(live.values_list("operation", "standing"))[-3:]


@pytest.fixture
def grown(root: Path) -> Iterator[Store]:
    """A queue of more lines than are looked at for each that is appended."""
    chance = random.Random(5)  # noqa: S311
    lines = [makes(f"entity {n}") for n in range(700)] + [relates(f"entity {chance.randrange(700)}", f"entity {n}") for n in range(700)]
    (root / "graph-queue.jsonl").write_bytes(b"".join(lines) + relates("entity 1", "late"))
    store = register(root)
    import_store(store)
    yield store


def append(store: Store, line: bytes) -> list[str]:
    """Append a line and import it; give the statements that this took."""
    with (Path(store.path) / "graph-queue.jsonl").open("ab") as out:
        out.write(line)
    with CaptureQueriesContext(connection) as captured:
        run = import_store(store, trigger="event")
    assert run.bytes_read == len(line)
    return [one["sql"] for one in captured]


def test_a_line_appended_to_a_long_queue_is_not_held_against_all_the_others(grown: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(*_: object) -> None:
        raise AssertionError("all of the queue was looked at")

    monkeypatch.setattr(look_at_queue, "_look_at_whole", whole)
    assert standings(grown)[-1] == ("create_relations", "dangling end")
    assert Fault.objects.filter(store=grown, code="dangling_relation").count() == 1
    append(grown, makes("late"))
    assert standings(grown)[-2:] == [("create_relations", "waiting"), ("create_entities", "waiting")]
    assert not Fault.objects.filter(store=grown, code="dangling_relation").exists()
    append(grown, relates("entity 1", "late"))
    append(grown, relates("entity 1", "never"))
    append(grown, observes("entity 3", bare=True))
    assert standings(grown) == [("create_relations", "duplicate"), ("create_relations", "dangling end"), ("add_observations", "waiting")]
    append(grown, observes("entity 3"))
    assert standings(grown)[-2:] == [("add_observations", "poison"), ("add_observations", "waiting")]
    assert set(Fault.objects.filter(store=grown).values_list("code", flat=True)) == {"dangling_relation", "poison_operation"}


def test_the_number_of_statements_is_that_of_a_short_queue(grown: Store) -> None:
    append(grown, makes("first"))
    statements = append(grown, relates("first", "entity 5"))
    assert len(statements) < 120, len(statements)


def test_a_queue_that_is_replaced_or_forgotten_keeps_no_names_of_before(grown: Store) -> None:
    queue = Path(grown.path) / "graph-queue.jsonl"
    assert QueueName.objects.filter(role=QueueName.MADE).count() == 700
    queue.write_bytes(makes("a"))
    import_store(grown)
    assert not QueueName.objects.exists()
    queue.write_bytes(b"".join(makes(f"other {n}") for n in range(1_200)))
    import_store(grown)
    assert QueueName.objects.count() == 1_200
    reset_mirror(grown)
    assert not QueueName.objects.exists()
    do(queue, ("append", makes("later").strip(), True))
    import_store(grown)
    assert QueueName.objects.count() == 1_201


def test_more_than_a_few_lines_at_once_are_looked_at_with_all_the_others(grown: Store) -> None:
    append(grown, b"".join(makes(f"new {n}") for n in range(look_at_queue.MORE + 1)) + relates("new 1", "nothing"))
    assert standings(grown)[-1] == ("create_relations", "dangling end")
    append(grown, makes("nothing"))
    assert standings(grown)[-2:] == [("create_relations", "waiting"), ("create_entities", "waiting")]


def test_a_graph_file_that_changed_counts_at_once(grown: Store) -> None:
    assert standings(grown)[-1] == ("create_relations", "dangling end")
    (Path(grown.path) / "memory.json").write_text('{"type":"entity","name":"late","entityType":"Tool","observations":[]}\n')
    do(Path(grown.path) / "graph-queue.jsonl", ("append", makes("something").strip(), True))
    import_store(grown, trigger="event")
    assert standings(grown)[-2:] == [("create_relations", "waiting"), ("create_entities", "waiting")]
