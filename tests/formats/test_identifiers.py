"""Ids: which may be used, which may become a name on disk."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from stores.formats.identifiers import fits_file_name, is_usable, record_id, skeleton


@pytest.mark.parametrize("given", ["node-001", "NODE_1", "a", "a.b-c.d_e", "x" * 128])
def test_a_plain_id_may_become_a_file_name(given: str) -> None:
    assert fits_file_name(given)


@pytest.mark.parametrize(
    "given",
    [
        "",
        "../x",
        "a/b",
        "a\\b",
        ".hidden",
        "-rf",
        "a..b",
        "a.",
        "x" * 129,
        "con",
        "NUL.x",
        "a.lock",
        "a.json",
        "a b",
        "a\n",
        "é",
        "a\u200b",
        "\ud800",
        "%2e",
    ],
)
def test_an_id_that_could_lead_elsewhere_may_not(given: str) -> None:
    assert not fits_file_name(given)


def test_the_shared_ids_are_judged_as_expected(shared: Path) -> None:
    for case in json.loads((shared / "samples/hostile/ids/ids.json").read_bytes()):
        assert fits_file_name(case["id"]) is case["ok"], case


@pytest.mark.parametrize("given", [None, 7, "", [], "a\0", "a\nb", "\ud800", "a\x85"])
def test_an_id_that_is_no_clean_text_is_not_usable(given: object) -> None:
    assert not is_usable(given)


def test_a_record_says_its_id_under_one_of_several_keys() -> None:
    assert record_id({"event_id": "e", "x": 1}) == "e"
    assert record_id({"id": None, "event_id": "e"}) is None
    assert record_id({}) is None


@pytest.mark.parametrize(
    ("given", "other"), [("EV-1", "ev-1"), ("ev-\u00e9", "ev-e\u0301"), ("ev-1\u200b", "ev-1"), ("n\u043ede", "node"), ("\uff41b", "ab")]
)
def test_ids_that_look_alike_have_one_skeleton(given: str, other: str) -> None:
    assert skeleton(given) == skeleton(other)


def test_ids_that_differ_to_the_eye_have_different_skeletons() -> None:
    assert skeleton("ev-1") != skeleton("ev-2")
