"""Verdicts have an order."""

from __future__ import annotations

from itertools import permutations

from stores.health.base import Verdict, worst


def test_the_worst_verdict_wins_in_any_order() -> None:
    order = [Verdict.UNAVAILABLE, Verdict.DEGRADED, Verdict.UNMEASURED, Verdict.HEALTHY]
    for mixed in permutations(order):
        for length in range(1, 5):
            assert worst(mixed[:length]) is min(mixed[:length], key=order.index)


def test_no_verdict_is_healthy() -> None:
    assert worst([]) is Verdict.HEALTHY
