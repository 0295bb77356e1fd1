"""What a check of a store's own audit log says of whatever happened to it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.canonical import log_line
from stores.formats.lines import split_lines
from stores.health.phase_memory.audit_chain import ChainReport, check_chain
from tests.phase_memory_folders import Record, audit

NUMBER = 6


def records(every: int = 2) -> list[Record]:
    """Give a chain in which every other record, or each, is one of memoryui."""
    made: list[Record] = []
    for place in range(1, NUMBER + 1):
        name = f"audit.memoryui-{place:016x}" if place % every else f"audit.{place:04d}"
        made.append(audit(place, made[-1] if made else None, audit_id=name))
    return made


LINES = [log_line(one) for one in records()]
OWN = [log_line(one) for one in records(every=NUMBER + 1)]
KNOWN = [f"audit.memoryui-{place:016x}" for place in (1, 3, 5)]


def check(*lines: bytes, known: list[str] = KNOWN) -> ChainReport:
    return check_chain(split_lines([b"".join(lines)]), known)


def test_a_log_that_holds_everything_is_intact() -> None:
    assert check(*LINES) == ChainReport("intact", NUMBER, 3, 3, 0, None, ())


@pytest.mark.parametrize("keep", [1, 30, len(LINES[5]) - 2])
def test_a_last_line_that_is_cut_off_is_what_a_crash_leaves(keep: int) -> None:
    assert check(*LINES[:5], LINES[5][:keep]).status == "torn_tail"
    assert check(*LINES[:5], LINES[5][:-1]).status == "intact"


def test_a_changed_record_is_seen_at_the_one_behind_it() -> None:
    changed = log_line({**records()[2], "decision": "denied"})
    assert check(*LINES[:2], changed, *LINES[3:]) == ChainReport("altered", NUMBER, 3, 3, 0, 4, ())


def test_missing_records_in_the_middle_and_at_the_end_have_words_of_their_own() -> None:
    assert check(*LINES[:2], *LINES[4:]) == ChainReport("gap", 4, 2, 2, 0, 3, (KNOWN[1],))
    assert check(*LINES[:4]) == ChainReport("truncated", 4, 2, 2, 0, None, (KNOWN[2],))
    assert check() == ChainReport("truncated", 0, 0, 0, 0, None, tuple(KNOWN))
    assert check(*LINES[:4], known=KNOWN[:2]).status == "intact"


def test_records_of_others_without_a_place_in_the_chain_break_nothing() -> None:
    foreign = log_line({"schema_version": "phase_memory.audit.event.v1", "audit_id": "theirs", "operation": "graph.export"})
    assert check(*LINES, foreign) == ChainReport("intact", NUMBER + 1, 3, 4, 0, None, ())


def test_lines_that_are_no_record_are_counted_apart() -> None:
    assert check(*LINES, b"torn long ago\n") == ChainReport("intact", NUMBER, 3, 3, 1, None, ())


@given(place=st.integers(0, NUMBER - 2), at=st.integers(0, 400), bit=st.integers(0, 7))
def test_any_flipped_bit_of_a_chained_record_but_the_last_is_seen(place: int, at: int, bit: int) -> None:
    line = bytearray(OWN[place])
    at %= len(line) - 1
    line[at] ^= 1 << bit
    report = check(*OWN[:place], bytes(line), *OWN[place + 1 :])
    assert report != check(*OWN)


@given(order=st.permutations(range(NUMBER)))
def test_any_other_order_is_seen(order: list[int]) -> None:
    report = check(*(LINES[place] for place in order))
    assert (report.status == "intact") == (order == sorted(order))
