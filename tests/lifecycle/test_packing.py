"""What is kept of an effect is unpacked as it was, or not at all."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.lifecycle.changes import Append, AppendLines, Change, Create, EditLog, EndLine, LineEdit, MakeFolder, Move, Replace, TakeOut
from stores.lifecycle.effects import Effect, TargetEffect
from stores.lifecycle.packing import Damaged, pack, unpack

PATHS, DATA = st.text(max_size=8), st.binary(max_size=12)
RECORDS = st.dictionaries(st.text(max_size=4), st.none() | st.booleans() | st.integers() | st.text(max_size=4), max_size=3)
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(Replace, PATHS, DATA, DATA),
    st.builds(Create, PATHS, DATA),
    st.builds(MakeFolder, PATHS),
    st.builds(Append, PATHS, RECORDS),
    st.builds(AppendLines, PATHS, st.lists(DATA, max_size=3).map(tuple)),
    st.builds(EndLine, PATHS),
    st.builds(Move, PATHS, PATHS, DATA),
    st.builds(TakeOut, PATHS, DATA),
    st.builds(
        EditLog, PATHS, st.lists(st.builds(LineEdit, DATA, st.lists(DATA, max_size=2).map(tuple), st.integers(0, 9)), max_size=3).map(tuple)
    ),
)
TARGETS = st.builds(
    TargetEffect, st.text(max_size=4), st.text(max_size=4), st.none() | st.text(max_size=4), st.none() | st.text(max_size=4)
)
EFFECTS = st.builds(
    Effect, st.lists(CHANGES, max_size=5).map(tuple), st.lists(TARGETS, max_size=3).map(tuple), st.text(), st.none() | RECORDS, st.text()
)


@given(EFFECTS)
def test_an_effect_comes_back_as_it_was(effect: Effect) -> None:
    packed = pack(effect)
    assert unpack(json.loads(json.dumps(packed.document)), packed.pieces.get) == effect


def test_every_sort_of_change_is_kept() -> None:
    sorts = set(Change.__args__)
    assert {
        type(one) for one in (Replace("", b"", b""), Create("", b""), MakeFolder(""), EndLine(""), Move("", "", b""), TakeOut("", b""))
    } < sorts
    assert len(sorts) == 9


@pytest.mark.parametrize("kept", [None, b"", b"other"])
def test_a_piece_that_is_lost_or_altered_stops_it(kept: bytes | None) -> None:
    packed = pack(Effect((Replace("a", b"1", b"2"),), (), "", None))
    with pytest.raises(Damaged):
        unpack(packed.document, lambda name: kept)


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"changes": [{}]},
        {"changes": [{"do": "delete", "path": "a"}], "targets": []},
        {"changes": [3]},
        {"changes": [{"do": "move", "path": "a"}]},
    ],
)
def test_a_document_of_another_form_stops_it(document: dict[str, object]) -> None:
    with pytest.raises(Damaged):
        unpack(document, lambda name: b"")
