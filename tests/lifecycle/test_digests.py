"""The digest of an approval covers everything that it is about."""

from __future__ import annotations

import copy
from hashlib import sha256
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from stores.formats.phase_memory.aliases import Record
from stores.lifecycle.changes import Append, Change, Create, EditLog, LineEdit, Move, Replace
from stores.lifecycle.digests import approval_digest
from tests.lifecycle.cases import action, fluid

STORE = "0b7c8c54-0000-4000-8000-000000000001"
RECORD = action("compact", fluid(), fluid("node.b"), parameters={"strategy": "s", "more": {"deep": [1, {"x": 2}]}}, unknown=[True, None])
CHANGES: tuple[Change, ...] = (
    Replace("nodes/a.json", b"1", b"2"),
    Create("nodes/s.json", b"3"),
    Append("events.jsonl", {"kind": "compacted"}),
    EditLog("log", (LineEdit(b"x", (b"y",)),)),
    Move("queue", "archive/queue", b"4"),
)
DIGEST = approval_digest(RECORD, STORE, CHANGES)


def places(value: object, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    listed = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [one for key, inner in listed for one in [(*way, key), *places(inner, (*way, key))]]


@given(st.sampled_from(places(RECORD)), st.none() | st.integers() | st.text())
def test_no_field_of_an_action_can_change_unseen(way: tuple[Any, ...], value: object) -> None:
    changed: Any = copy.deepcopy(RECORD)
    inner = changed
    for key in way[:-1]:
        inner = inner[key]
    if inner[way[-1]] == value and type(inner[way[-1]]) is type(value):
        return
    inner[way[-1]] = value
    assert (approval_digest(changed, STORE, CHANGES) == DIGEST) == (way == ("dry_run",))


def test_no_byte_of_a_change_can_change_unseen() -> None:
    others: list[tuple[Change, ...]] = [
        (Replace("nodes/a.json", b"0", b"2"), *CHANGES[1:]),
        (Replace("nodes/a.json", b"1", b"0"), *CHANGES[1:]),
        (Replace("nodes/b.json", b"1", b"2"), *CHANGES[1:]),
        (CHANGES[0], Create("nodes/s.json", b"0"), *CHANGES[2:]),
        (*CHANGES[:2], Append("events.jsonl", {"kind": "merged"}), *CHANGES[3:]),
        (*CHANGES[:3], EditLog("log", (LineEdit(b"x", (b"z",)),)), CHANGES[4]),
        (*CHANGES[:3], EditLog("log", (LineEdit(b"x", ()),)), CHANGES[4]),
        (*CHANGES[:3], EditLog("log", (LineEdit(b"x", (b"y",), 1),)), CHANGES[4]),
        (*CHANGES[:4], Move("queue", "archive/other", b"4")),
        (*CHANGES[:4], Move("queue", "archive/queue", b"5")),
        CHANGES[1:],
        CHANGES[::-1],
    ]
    digests = [approval_digest(RECORD, STORE, changes) for changes in others]
    assert len({DIGEST, *digests}) == len(others) + 1


def test_another_store_is_another_digest() -> None:
    assert approval_digest(RECORD, STORE.replace("1", "2"), CHANGES) != DIGEST


def test_it_is_the_hash_of_what_the_documents_say() -> None:
    record: Record = {"action": "archive"}
    # sha256 of {"action":{"action":"archive"},"store":"s","targets":[{"after":"sha256:…","create":"p"}]}
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    written = f'{{"action":{{"action":"archive"}},"store":"s","targets":[{{"after":"sha256:{empty}","create":"p"}}]}}'
    assert approval_digest(record, "s", [Create("p", b"")]) == "sha256:" + sha256(written.encode()).hexdigest()
