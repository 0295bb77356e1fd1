"""The verbs are those of the documents: target, review, tier."""

from __future__ import annotations

import pytest

from stores.formats import KINDS
from stores.health.phase_memory.codes import CODES
from stores.lifecycle.vocabulary import ALIASES, DUE_DAYS, VERBS, Tier, phase_meant, verb_named

TABLE = """
orchestkit   | append_newline create_missing_entry rewrite_canonical                  | no         | safe
orchestkit   | set_aside_lines repair_lines merge_duplicates retire_decision undo     | always     | high
orchestkit   | drain_queue archive_queue replay_decisions                             | always     | medium
orchestkit   | close_problem abandon_problem reopen_problem remember                  | always     | low
phase-memory | append_newline create_missing_entry rewrite_canonical                  | no         | safe
phase-memory | mark_stale archive transition_phase                                    | if durable | low
phase-memory | refresh compact supersede                                              | always     | medium
phase-memory | create_path branch_path merge_path abandon_path compact_path           | always     | medium
phase-memory | request_delete merge restore set_file_aside replace_record undo        | always     | high
phase-memory | create_record append_events                                            | always     | medium
phase-memory | rename_file                                                            | no         | safe
phase-memory | set_event_aside keep_first_event sort_events list_event make_root      | always     | medium
phase-memory | choose_merge_target correct_path_state                                 | always     | medium
"""
EVENTS = """
transition_phase updated, mark_stale updated, refresh refreshed, compact compacted, request_delete forgotten, archive deactivated,
supersede updated, merge merged, restore updated, create_path recorded, branch_path branched, merge_path merged, abandon_path deactivated,
compact_path compacted, set_event_aside updated, keep_first_event updated, sort_events updated, list_event updated, make_root updated,
choose_merge_target updated, correct_path_state updated, create_record recorded, replace_record updated, append_events recorded
"""


def test_every_verb_asks_for_what_the_documents_say() -> None:
    told: dict[tuple[str, str], tuple[str, str]] = {}
    for line in filter(None, TABLE.split("\n")):
        kind, verbs, review, tier = (cell.strip() for cell in line.split("|"))
        told |= {(kind, verb): (review, tier) for verb in verbs.split()}
    assert told == {(kind, name): (str(verb.review), str(verb.tier)) for kind, verbs in VERBS.items() for name, verb in verbs.items()}


def test_every_verb_appends_the_event_that_the_documents_say() -> None:
    told = dict(pair.split() for pair in EVENTS.replace("\n", " ").split(","))
    assert told == {name: verb.event_kind for name, verb in VERBS["phase-memory"].items() if verb.event_kind}
    assert not any(verb.event_kind for verb in VERBS["orchestkit"].values())


def test_what_takes_something_away_is_destructive() -> None:
    destructive = {name for verbs in VERBS.values() for name, verb in verbs.items() if verb.destructive}
    assert destructive == {
        "request_delete",
        "merge",
        "restore",
        "set_file_aside",
        "replace_record",
        "set_aside_lines",
        "repair_lines",
        "merge_duplicates",
        "retire_decision",
        "undo",
    }


def test_kinds_and_aliases_are_known_ones() -> None:
    assert VERBS.keys() <= KINDS.keys()
    assert all(ALIASES[kind][word] in VERBS[kind] and word not in VERBS[kind] for kind in ALIASES for word in ALIASES[kind])
    assert (DUE_DAYS[Tier.HIGH], DUE_DAYS[Tier.MEDIUM], DUE_DAYS[Tier.LOW]) == (1, 3, 7)


@pytest.mark.parametrize(
    ("word", "phase", "to"), [("promote", "rigid", ""), ("demote", "ephemeral", ""), ("promote", "liquid", ""), ("x", "fluid", "")]
)
def test_no_phase_lies_beyond_the_ends(word: str, phase: str, to: str) -> None:
    assert phase_meant(word, phase) == to


def test_verbs_of_one_kind_are_unknown_to_another() -> None:
    assert verb_named("orchestkit", "compact") is None
    assert verb_named("lattice-archive", "archive") is None
    assert verb_named("phase-memory", "drain_queue") is None


def test_repairs_of_records_that_faults_name_have_their_verb() -> None:
    safe = {code.action for code in CODES.values() if str(code.mode) == "safe"}
    assert safe <= VERBS["phase-memory"].keys()
    reviewed = {code.action for code in CODES.values() if str(code.mode) == "review"} - {"complete_apply", "accept_change"}
    assert reviewed <= VERBS["phase-memory"].keys()
