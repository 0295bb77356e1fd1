"""The sample projects: believable, the same for the same seed, and each with the trouble it is there to show."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest

from stores.demo.stories import DECISIONS, MEMORY, PROBLEMS, QUEUE, Story, stories
from stores.formats import KINDS
from stores.formats.orchestkit.remembering import base36

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


@pytest.fixture(scope="module")
def told() -> dict[str, Story]:
    return {story.project: story for story in stories(NOW)}


def lines_of(story: Story, file: str, at: datetime = NOW) -> list[bytes]:
    return (story.content(f"{MEMORY}/{file}", at) or b"").split(b"\n")[:-1]


def records_of(story: Story, file: str = DECISIONS) -> list[dict[str, object]]:
    records = []
    for line in lines_of(story, file):
        try:
            records.append(json.loads(line))
        except ValueError:
            continue
    return [record for record in records if isinstance(record, dict)]


def test_the_same_seed_and_moment_give_the_same_bytes(told: dict[str, Story]) -> None:
    again = {story.project: story for story in stories(NOW)}
    assert all(again[name].happened == story.happened for name, story in told.items())


def test_sizes_are_those_of_a_small_team(told: dict[str, Story]) -> None:
    counts = {name: len(records_of(story)) for name, story in told.items()}
    assert 100 <= counts["shop-api"] <= 500
    assert 100 <= counts["billing-core"] <= 500
    assert 100 <= counts["atlas-web"] <= 500
    assert 1_990 <= counts["data-platform"] <= 2_100


def test_nothing_lies_in_the_future_and_time_runs_forward(told: dict[str, Story]) -> None:
    for story in told.values():
        stamps = [str(record["metadata"]["timestamp"]) for record in records_of(story) if "metadata" in record]  # type: ignore[index]
        assert stamps == sorted(stamps)
        assert stamps[-1] <= NOW.isoformat().replace("+00:00", "Z")
        assert all(at <= NOW for moments in story.happened.values() for at, _ in moments)


def test_people_and_machines_are_invented(told: dict[str, Story]) -> None:
    said_by = {str(record["identity"]["user_id"]) for story in told.values() for record in records_of(story) if "identity" in record}  # type: ignore[index]
    assert len(said_by) >= 5
    assert all(name.endswith(".example") for name in said_by)


def test_texts_are_varied(told: dict[str, Story]) -> None:
    for name, story in told.items():
        if not story.registered:
            continue
        texts = Counter(str(record["content"]["what"]) for record in records_of(story) if "content" in record)  # type: ignore[index]
        assert texts.most_common(1)[0][1] <= 12, name
        assert len({text.split()[0] for text in texts}) > 15


def test_ids_carry_their_time(told: dict[str, Story]) -> None:
    for record in records_of(told["shop-api"]):
        at = datetime.fromisoformat(str(record["metadata"]["timestamp"]))  # type: ignore[index]
        assert str(record["id"]).split("-")[1] == base36(round(at.timestamp() * 1000))


def test_the_healthy_store_has_no_queue_left_and_no_bad_line(told: dict[str, Story]) -> None:
    story = told["shop-api"]
    assert story.content(f"{MEMORY}/{QUEUE}", NOW) is None
    assert len(records_of(story)) == len(lines_of(story, DECISIONS))


def test_the_degraded_store_has_each_kind_of_accident(told: dict[str, Story]) -> None:
    spec = {one.path: one for one in KINDS["orchestkit"].files}[DECISIONS]
    assert spec.append_only
    refused = [line for line in lines_of(told["billing-core"], DECISIONS) if not _is_json(line)]
    assert sum(line.startswith((b"<<<<<<<", b"=======", b">>>>>>>")) for line in refused) == 3
    assert sum(b"}{" in line for line in refused) == 1
    assert len(refused) == 5
    queue = lines_of(told["billing-core"], QUEUE)
    assert len(queue) > 50
    assert b"null" in queue
    oldest = min(str(json.loads(line)["timestamp"]) for line in queue if line != b"null")
    assert NOW - datetime.fromisoformat(oldest) > timedelta(days=7)
    assert any(not _is_json(line) for line in lines_of(told["billing-core"], PROBLEMS))


def test_the_doubled_hook_and_the_silencing_record_are_there(told: dict[str, Story]) -> None:
    records = records_of(told["atlas-web"])
    pairs = [(one, two) for one, two in itertools.pairwise(records) if one["content"] == two["content"] and one["id"] != two["id"]]
    assert len(pairs) > 20
    assert sum("entities" not in record for record in records[-10:]) == 1
    assert told["atlas-web/packages/checkout"].registered is False


def test_the_large_store_stays_healthy_for_a_day(told: dict[str, Story]) -> None:
    queue = [json.loads(line) for line in lines_of(told["data-platform"], QUEUE)]
    assert 0 < len(queue) < 50
    assert all(NOW - datetime.fromisoformat(operation["timestamp"]) < timedelta(hours=1) for operation in queue)


def test_a_file_has_at_each_moment_what_had_happened_by_then() -> None:
    story = Story("x")
    at = [NOW + timedelta(hours=hour) for hour in range(5)]
    story.add(QUEUE, at[3], b"two\n")
    story.add(QUEUE, at[1], b"one\n")
    story.add(QUEUE, at[2], None)
    story.settle()
    path = f"{MEMORY}/{QUEUE}"
    assert [story.content(path, moment) for moment in at] == [None, b"one\n", None, b"two\n", b"two\n"]
    assert story.last_change(path, at[4]) == at[3]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
