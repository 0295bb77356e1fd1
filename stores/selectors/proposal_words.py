"""What each verb does, for the form in which it is proposed; what an action really writes is told on its own page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_SAYS: Final[Mapping[str, str]] = {
    "transition_phase": "Moves the node into another phase. Its text stays as it is.",
    "mark_stale": "Says that the node may no longer hold. It stays where it is and can be refreshed.",
    "refresh": "Takes the stale node as active again, as its source was looked at. Its text stays as it is.",
    "compact": "Folds several nodes into one new node that sums them up; each keeps its text and is called compacted.",
    "request_delete": "Agents no longer use the node. Its file stays; it can be restored.",
    "archive": "Puts it away: agents no longer use it. Its file stays; a node can be restored.",
    "supersede": "Says which other node holds in its place. Its text stays as it is.",
    "merge": "Keeps one of several nodes and calls the others superseded by it. All texts stay as they are.",
    "restore": "Takes it back into use, from whatever state it is in.",
    "create_path": "Begins a new path that branches off nothing.",
    "branch_path": "Begins a new path that branches off this one.",
    "merge_path": "Ends the path: what it brought goes on in another.",
    "abandon_path": "Ends the path: it is not followed any more.",
    "compact_path": "Ends the path: a node that is there already sums it up.",
    "choose_merge_target": "Says into which path this one was merged, as the one that it names is not there.",
    "correct_path_state": "Makes the state of the path agree with the field that goes with it.",
    "close_problem": "Calls the problem solved and writes down what solved it.",
    "abandon_problem": "Calls the problem abandoned: nobody works on it any more.",
    "reopen_problem": "Calls the problem open again; a solution that is written in it is dropped.",
    "merge_duplicates": "Keeps this decision and takes the others, which say exactly the same, out of the log. Every other line stays byte for byte.",
    "retire_decision": "Takes the decision out of the log: agents are no longer told it. Every other line stays byte for byte; the line is kept.",
    "drain_queue": "Writes what waits in the queue into the graph, and puts the queue into the archive. Nothing is lost.",
    "archive_queue": "Puts the queue into the archive without draining it: what waits in it does not reach the graph.",
}


def says(verb: str) -> str:
    """Give what a verb does in a sentence or two; "" for one that nobody proposes by hand."""
    return _SAYS.get(verb, "")
