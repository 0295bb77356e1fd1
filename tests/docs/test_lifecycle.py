"""Verbs, reasons of the gate and states stand in the page of reviews as the code has them."""

from __future__ import annotations

import re

from stores.lifecycle.states import FINAL, TRANSITIONS
from stores.lifecycle.vocabulary import COMMON, VERBS
from tests.docs.documents import text_of

REVIEW = text_of("docs/review.md")
REASONS = [
    "unsupported_action",
    "action_id_mismatch",
    "target_missing",
    "stale_source",
    "review_rejected",
    "review_required",
    "policy_denied",
    "already_applied",
    "store_blocked",
    "dry_run",
]
"""In the gate's order, as tests/lifecycle/test_gate.py holds it."""


def section(title: str) -> str:
    return REVIEW.split(f"## {title}\n")[1].split("\n## ")[0]


def rows(title: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in section(title).splitlines() if line.startswith("| ")][1:]


def words(cell: str) -> list[str]:
    return re.findall(r"`([a-z_]+)`", cell)


def test_every_verb_is_told_with_its_review_and_tier() -> None:
    told = {(kind, verb): (review, tier) for kind, verbs, review, tier in rows("What may be proposed") for verb in words(verbs)}
    common = {("every", name): (str(verb.review), str(verb.tier)) for name, verb in COMMON.items()}
    own = {
        (kind, name): (str(verb.review), str(verb.tier))
        for kind, verbs in VERBS.items()
        for name, verb in verbs.items()
        if name not in COMMON
    }
    assert told == common | own


def test_the_gate_is_told_in_its_order() -> None:
    assert [words(row[2])[0] for row in rows("The gate")] == REASONS


def test_the_moves_between_states_are_told() -> None:
    told = {words(start)[0]: set(words(ends)) for start, ends in rows("The states of an action")}
    assert told == {str(state): set(map(str, after)) for state, after in TRANSITIONS.items() if after}
    last = section("The states of an action").strip().splitlines()[-1]
    assert set(words(last)) == set(map(str, FINAL))
