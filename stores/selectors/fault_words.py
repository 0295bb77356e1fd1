"""What would mend a fault, in words; numbers come from the reader, never from the store's text."""

from __future__ import annotations

from collections.abc import Mapping

from stores.health.phase_memory.codes import CODES
from stores.selectors import wording

_ACTIONS = {
    "repair_lines": "Repair the line",
    "set_aside_lines": "Set the line aside",
    "append_newline": "Append a line break",
    "create_missing_entry": "Create what is missing",
    "rewrite_canonical": "Rewrite in the plain form",
    "drain_queue": "Drain the queue",
    "archive_queue": "Archive the queue",
    "merge_duplicates": "Merge the duplicates",
    "acknowledge": "Acknowledge",
    "rename_file": "Rename the file after its id",
    "set_file_aside": "Set the other file aside",
    "archive": "Archive the record",
    "restore": "Restore the record",
    "make_root": "Make the path a root",
    "choose_merge_target": "Choose a merge target",
    "correct_path_state": "Correct the path's state",
    "set_event_aside": "Set the event's id aside",
    "keep_first_event": "List the event once",
    "sort_events": "Sort the events",
    "list_event": "List the event",
    "complete_apply": "Complete the apply",
    "accept_change": "Accept the change",
}
_WITHOUT_ACTION = {
    "safe": "Can be mended safely",
    "review": "Needs a decision",
    "acknowledge": "Acknowledge",
    "manual": "Mend by hand",
    "block": "Blocks every write",
    "none": "Nothing to do",
}
_MODES = {"review": "review", "safe": "safe"}

_PLACES = {
    "glued": "a second record begins here, a line break is missing",
    "nul_run": "zero bytes begin here",
    "nan": "JSON knows no such number",
    "merge_conflict": "a Git conflict marker begins here",
    "lfs_pointer": "a Git LFS pointer begins here",
    "json_comment": "a comment begins here",
    "utf16": "text in UTF-16 begins here",
    "bad_json": "JSON ends here for every reader",
}


def repair_words(mode: str, action: str) -> str:
    """Give the cell of a list: what would mend it, and whether that needs a review."""
    words = _ACTIONS.get(action)
    if words is None:
        return _WITHOUT_ACTION.get(mode, _WITHOUT_ACTION["none"])
    return f"{words} · {_MODES[mode]}" if mode in _MODES else words


def place_words(column: int | None, code: str) -> str:
    """Say what is at a place of a line, whose bytes count from 1; "" where no place is known."""
    return "" if column is None else f"byte {column:,}: {_PLACES.get(code, 'it goes wrong here')}"


def diagnostic_mending(code: str, mode: str) -> str:
    """Say what mends a finding of a phase-memory store, by its code, and who has to say so."""
    repair = CODES[code].repair if code in CODES else ""
    if not repair:
        return "Nothing has to be mended."
    return f"{repair}. A person decides on it in a review." if mode == "review" else f"{repair}."


def mending(code: str, mode: str, action: str, details: Mapping[str, object], lines_in_file: int) -> str:
    """Say what a repair does, what comes back, and what it leaves as it is."""
    column, salvageable = details.get("column"), details.get("salvageable")
    others = max(0, lines_in_file - 1)
    rest = f"The other {wording.counted(others, 'line')} {'stays' if others == 1 else 'stay'} byte for byte." if others else ""
    if action == "repair_lines" and code == "missing_entities":
        return f"Adds an empty list of entities to this record. {rest}".strip()
    if action == "repair_lines" and isinstance(salvageable, int) and salvageable:
        back = f"{wording.counted(salvageable, 'record')} {'comes' if salvageable == 1 else 'come'} back."
        start = f"Inserts a line break before byte {column:,}." if isinstance(column, int) else "Parts the line where one record ends."
        return f"{start} {back} {rest}".strip()
    if action == "repair_lines":
        return f"Rewrites this line so that every reader takes it. {rest}".strip()
    if action == "set_aside_lines":
        return f"Takes this line out of the file and keeps its bytes. No record comes back. {rest}".strip()
    if action == "append_newline":
        return "Appends one line break at the end of the file. Nothing else is touched."
    if mode == "acknowledge":
        return "Nothing has to be mended. A reviewer may acknowledge it, and it is then marked as seen."
    if mode == "manual":
        return "No repair is offered: somebody has to mend the file by hand."
    if mode == "block":
        return "Until this is mended, nothing is written to this store."
    return "Nothing has to be mended."
