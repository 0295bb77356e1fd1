"""The states of a queued action."""

from __future__ import annotations

from stores.lifecycle.states import FINAL, OPEN, TRANSITIONS, State, may_move, state_after

MOVES = """
pending → approved | rejected | withdrawn | stale
ready → applying | withdrawn | stale
approved → applying | withdrawn | stale | expired
applying → applied | failed | stale | approved
failed → approved | withdrawn
"""


def test_the_moves_are_those_of_the_documents() -> None:
    told = {(start, end.strip()) for line in MOVES.split("\n") if line for start, ends in [line.split(" → ")] for end in ends.split(" | ")}
    assert told == {(str(start), str(end)) for start, ends in TRANSITIONS.items() for end in ends}
    assert {"rejected", "withdrawn", "stale", "expired", "applied"} == FINAL
    assert OPEN.isdisjoint(FINAL)
    assert set(TRANSITIONS) == set(State)
    assert may_move(State.PENDING, State.APPROVED)
    assert not may_move(State.PENDING, State.APPLYING)


def test_a_verdict_leads_to_a_state_only_by_the_moves() -> None:
    cases = [
        ("applied", None, "applying", "applied"),
        ("skipped", "already_applied", "applying", "applied"),
        ("skipped", "stale_source", "pending", "stale"),
        ("skipped", "target_missing", "approved", "stale"),
        ("skipped", "action_id_mismatch", "ready", "stale"),
        ("denied", "review_rejected", "approved", "stale"),
        ("denied", "policy_denied", "applying", "stale"),
        ("denied", "review_required", "pending", "pending"),
        ("skipped", "store_blocked", "applying", "approved"),
        ("skipped", "store_blocked", "ready", "ready"),
        ("skipped", "dry_run", "approved", "approved"),
        ("failed", "io_error", "applying", "failed"),
        ("applied", None, "pending", "pending"),
        ("applied", None, "rejected", "rejected"),
        ("skipped", "stale_source", "applied", "applied"),
    ]
    for status, code, before, after in cases:
        assert state_after(State(before), status, code) == after, (status, code, before)


def test_no_verdict_leads_out_of_a_final_state() -> None:
    for state in FINAL:
        for code in ("stale_source", "policy_denied", "io_error", "already_applied", None, "unheard_of"):
            for status in ("applied", "denied", "skipped", "failed"):
                assert state_after(state, status, code) is state
