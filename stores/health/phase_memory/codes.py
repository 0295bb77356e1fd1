"""The 43 codes of a phase-memory store: how bad each is and how it is mended (docs/formats.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

from stores.formats.base import RepairMode, Severity


class Code(NamedTuple):
    """What is always true of the findings of one code."""

    severity: Severity
    """The usual one; some findings differ by their key."""
    mode: RepairMode
    action: str = ""
    """The verb of the repair, "" where none can be proposed."""
    repair: str = ""
    """What the repair does, or what a person has to do."""


_E: Final = Severity.ERROR
_W: Final = Severity.WARNING
_I: Final = Severity.INFO
_SAFE: Final = RepairMode.SAFE
_REVIEW: Final = RepairMode.REVIEW
_ACK: Final = RepairMode.ACKNOWLEDGE
_MANUAL: Final = RepairMode.MANUAL
_BLOCK: Final = RepairMode.BLOCK
_NONE: Final = RepairMode.NONE
_LINE_STAYS: Final = "The line stays as it is; an audit record closes the finding"

CODES: Final[dict[str, Code]] = {
    "malformed_event_line": Code(_E, _ACK, "acknowledge", _LINE_STAYS),
    "unknown_event_schema_version": Code(_W, _ACK, "acknowledge", "Acknowledge it, or add the version to those that are known"),
    "missing_edge_endpoint": Code(_E, _REVIEW, "archive", "Archive the edge, or make the node again by hand"),
    "path_event_missing": Code(_E, _REVIEW, "set_event_aside", "Move the id to metadata.missing_event_ids, with its position"),
    "store_root_missing": Code(_E, _BLOCK, "", "Nothing is written to this store until phase-memory.json can be read"),
    "unsupported_store_version": Code(_E, _BLOCK, "", "The store is only read: its version is not known here"),
    "missing_layout_entry": Code(_W, _SAFE, "create_missing_entry", "Create it, empty"),
    "malformed_record_file": Code(_E, _MANUAL, "", "A person has to write what the file should say"),
    "symlink_in_store": Code(_E, _MANUAL, "", "Put a file in the place of the link: links are never followed"),
    "unexpected_file": Code(_I, _NONE),
    "nondeterministic_json": Code(_I, _SAFE, "rewrite_canonical", "Write the file again in the usual form; no value changes"),
    "filename_id_mismatch": Code(_W, _SAFE, "rename_file", "Rename the file after its id, if that name is free"),
    "duplicate_record_id": Code(_W, _REVIEW, "set_file_aside", "Move the other file out of the store"),
    "id_case_collision": Code(_W, _MANUAL, "", "Give one of the two another id"),
    "invalid_record": Code(_E, _MANUAL, "", "A person has to put the field right"),
    "unknown_record_schema_version": Code(_W, _MANUAL, "", "Its values are not interpreted until its version is a known one"),
    "unknown_kind": Code(_W, _NONE),
    "invalid_phase": Code(_E, _MANUAL, "", "Choose one of the four phases"),
    "invalid_lifecycle_state": Code(_E, _MANUAL, "", "Choose one of the six states"),
    "superseded_target_missing": Code(_W, _REVIEW, "restore", "Restore the node, or clear what it was superseded by"),
    "source_event_missing": Code(_W, _NONE),
    "activation_reference_missing": Code(_W, _NONE),
    "parent_path_missing": Code(_W, _REVIEW, "make_root", "Make it a root and keep the old value in metadata.lost_parent_path_id"),
    "path_parent_cycle": Code(_E, _REVIEW, "make_root", "Make the path that began first a root"),
    "merge_target_missing": Code(_E, _REVIEW, "choose_merge_target", "Choose a target, or call the path abandoned for this reason"),
    "compacted_summary_missing": Code(_E, _REVIEW, "restore", "Restore the path and compact it again: its events are still in the log"),
    "path_state_inconsistent": Code(_E, _REVIEW, "correct_path_state", "Make the state and the field that goes with it agree"),
    "path_event_duplicate": Code(_W, _REVIEW, "keep_first_event", "Keep the first of them"),
    "path_event_order": Code(_W, _REVIEW, "sort_events", "Sort the events by their place in the log"),
    "event_path_unlisted": Code(_W, _REVIEW, "list_event", "Insert the event at its place in the log"),
    "event_path_missing": Code(_W, _ACK, "acknowledge", _LINE_STAYS),
    "truncated_last_line": Code(_E, _SAFE, "append_newline", "Append a line break, then acknowledge the line"),
    "unterminated_last_line": Code(_W, _SAFE, "append_newline", "Append a line break"),
    "blank_log_line": Code(_I, _NONE),
    "duplicate_event_id": Code(_I, _ACK, "acknowledge", "The first one counts; an audit record closes the finding"),
    "event_timestamp_regression": Code(_I, _NONE),
    "malformed_audit_line": Code(_E, _ACK, "acknowledge", _LINE_STAYS),
    "unknown_audit_schema_version": Code(_W, _ACK, "acknowledge", _LINE_STAYS),
    "audit_sequence_gap": Code(_E, _ACK, "acknowledge", _LINE_STAYS),
    "audit_chain_broken": Code(_E, _ACK, "acknowledge", _LINE_STAYS),
    "unapproved_apply": Code(_E, _ACK, "acknowledge", "Acknowledge it with a reason, or restore the record by a review"),
    "unaudited_apply": Code(_W, _REVIEW, "complete_apply", "Complete the apply, or acknowledge it"),
    "unreviewed_durable_change": Code(_W, _REVIEW, "accept_change", "Accept the change by a review, or restore the record by hand"),
}
