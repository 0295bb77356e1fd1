"""The verbs of lifecycle actions, by kind of store: what each is about, whether a person decides, and how much is at stake."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from stores.formats.phase_memory.vocabulary import PHASES

ORCHESTKIT: Final = "orchestkit"
PHASE_MEMORY: Final = "phase-memory"
MOST_TARGETS: Final = 10_000
"""Of one proposal; a longer list is refused."""


class Review(StrEnum):
    """When a verb by itself asks for a person's decision."""

    NEVER = "no"
    DURABLE = "if durable"
    ALWAYS = "always"


class Tier(StrEnum):
    """How much is at stake; a queue is worked off from the highest."""

    SAFE = "safe"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


DUE_DAYS: Final[Mapping[Tier, int]] = {Tier.HIGH: 1, Tier.MEDIUM: 3, Tier.LOW: 7, Tier.SAFE: 7}
"""Within how many days an action waits for its decision, unless a store's policy says otherwise."""


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that an action may do."""

    name: str
    target_types: tuple[str, ...]
    review: Review
    tier: Tier
    most: int = 1
    least: int = 1
    event_kind: str = ""
    """Of the event that an apply appends; "" where none is."""
    operation: str = ""
    """What that event says was done to each target."""
    needs: tuple[str, ...] = ()
    """Parameters that must be texts with something in them."""
    from_states: frozenset[str] = frozenset()
    """States in which a target may be; any where none is named."""
    to_state: str = ""
    makes_target: bool = False
    """The target is what is made: it must not be there yet."""
    brings_content: bool = False
    """Its parameters hold what it writes, so they may be long."""
    destructive: bool = False
    """It takes something away from agents: it is decided with the reviewer's password, and in bulk only up to a few."""


def _by_name(*verbs: Verb) -> dict[str, Verb]:
    return {verb.name: verb for verb in verbs}


_NEVER, _DURABLE, _ALWAYS = Review.NEVER, Review.DURABLE, Review.ALWAYS
_NODE: Final = ("node",)
_PATH: Final = ("path",)
_RECORDS: Final = ("node", "edge", "path", "profile")
MOST_EVENTS: Final = 1_000
"""Of one action: the store's audit names each of them in one line."""
_LIVE: Final = frozenset({"active", "stale"})
_ARCHIVABLE: Final = frozenset({"active", "stale", "superseded", "compacted", "delete_requested"})
_ENDED: Final = frozenset({"superseded", "compacted", "archived", "delete_requested", "merged", "abandoned"})

COMMON: Final = _by_name(
    Verb("append_newline", ("file",), _NEVER, Tier.SAFE),
    Verb("create_missing_entry", ("file",), _NEVER, Tier.SAFE, makes_target=True),
    Verb("rewrite_canonical", ("file",), _NEVER, Tier.SAFE),
    Verb("undo", ("file",), _ALWAYS, Tier.HIGH, most=MOST_TARGETS, needs=("undo_of",), destructive=True),
)
"""Of every kind: no value that anybody reads changes, or an applied change is taken back."""

VERBS: Final[Mapping[str, Mapping[str, Verb]]] = {
    ORCHESTKIT: COMMON
    | _by_name(
        Verb("set_aside_lines", ("line",), _ALWAYS, Tier.HIGH, most=MOST_TARGETS, needs=("file",), destructive=True),
        Verb("repair_lines", ("line",), _ALWAYS, Tier.HIGH, most=MOST_TARGETS, needs=("file",), destructive=True),
        Verb("drain_queue", ("file",), _ALWAYS, Tier.MEDIUM),
        Verb("archive_queue", ("file",), _ALWAYS, Tier.MEDIUM),
        Verb("replay_decisions", ("file",), _ALWAYS, Tier.MEDIUM),
        Verb("remember", ("decision",), _ALWAYS, Tier.LOW, makes_target=True, brings_content=True),
        Verb("close_problem", ("problem",), _ALWAYS, Tier.LOW, from_states=frozenset({"open", "abandoned"}), to_state="solved"),
        Verb("abandon_problem", ("problem",), _ALWAYS, Tier.LOW, from_states=frozenset({"open"}), to_state="abandoned"),
        Verb("reopen_problem", ("problem",), _ALWAYS, Tier.LOW, from_states=frozenset({"solved", "abandoned"}), to_state="open"),
        Verb("merge_duplicates", ("decision",), _ALWAYS, Tier.HIGH, most=MOST_TARGETS, least=2, needs=("keep",), destructive=True),
        Verb("retire_decision", ("decision",), _ALWAYS, Tier.HIGH, destructive=True),
    ),
    PHASE_MEMORY: COMMON
    | _by_name(
        Verb("transition_phase", _NODE, _DURABLE, Tier.LOW, event_kind="updated", operation="transition_phase"),
        Verb(
            "mark_stale",
            _NODE,
            _DURABLE,
            Tier.LOW,
            event_kind="updated",
            operation="update",
            from_states=frozenset({"active"}),
            to_state="stale",
        ),
        Verb(
            "refresh",
            _NODE,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="refreshed",
            operation="refresh",
            needs=("source_digest",),
            from_states=frozenset({"stale"}),
            to_state="active",
        ),
        Verb(
            "compact",
            _NODE,
            _ALWAYS,
            Tier.MEDIUM,
            most=MOST_TARGETS,
            least=2,
            event_kind="compacted",
            operation="retire",
            needs=("strategy",),
            from_states=_LIVE,
            to_state="compacted",
        ),
        Verb(
            "request_delete",
            _NODE,
            _ALWAYS,
            Tier.HIGH,
            event_kind="forgotten",
            operation="retire",
            from_states=frozenset({"active", "stale", "archived"}),
            to_state="delete_requested",
            destructive=True,
        ),
        Verb(
            "archive",
            ("node", "edge"),
            _DURABLE,
            Tier.LOW,
            event_kind="deactivated",
            operation="deactivate",
            from_states=_ARCHIVABLE,
            to_state="archived",
        ),
        Verb(
            "supersede",
            _NODE,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="updated",
            operation="retire",
            needs=("superseded_by",),
            from_states=frozenset({"active"}),
            to_state="superseded",
        ),
        Verb(
            "merge",
            _NODE,
            _ALWAYS,
            Tier.HIGH,
            most=MOST_TARGETS,
            least=2,
            event_kind="merged",
            operation="merge",
            needs=("into",),
            from_states=frozenset({"active"}),
            to_state="superseded",
            destructive=True,
        ),
        Verb(
            "restore",
            ("node", "path"),
            _ALWAYS,
            Tier.HIGH,
            event_kind="updated",
            operation="restore",
            from_states=_ENDED,
            to_state="active",
            destructive=True,
        ),
        Verb("create_path", _PATH, _ALWAYS, Tier.MEDIUM, event_kind="recorded", operation="create", makes_target=True),
        Verb(
            "branch_path",
            _PATH,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="branched",
            operation="branch",
            needs=("parent_path_id",),
            makes_target=True,
        ),
        Verb(
            "merge_path",
            _PATH,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="merged",
            operation="merge",
            needs=("merge_target",),
            from_states=frozenset({"active"}),
            to_state="merged",
        ),
        Verb(
            "abandon_path",
            _PATH,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="deactivated",
            operation="abandon",
            needs=("abandoned_reason",),
            from_states=frozenset({"active"}),
            to_state="abandoned",
        ),
        Verb(
            "compact_path",
            _PATH,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="compacted",
            operation="compact",
            needs=("compacted_summary_id",),
            from_states=frozenset({"active"}),
            to_state="compacted",
        ),
        Verb(
            "create_record",
            _RECORDS,
            _ALWAYS,
            Tier.MEDIUM,
            event_kind="recorded",
            operation="create",
            makes_target=True,
            brings_content=True,
        ),
        Verb(
            "replace_record",
            _RECORDS,
            _ALWAYS,
            Tier.HIGH,
            event_kind="updated",
            operation="update",
            brings_content=True,
            destructive=True,
        ),
        Verb(
            "append_events",
            ("event",),
            _ALWAYS,
            Tier.MEDIUM,
            most=MOST_EVENTS,
            event_kind="recorded",
            makes_target=True,
            brings_content=True,
        ),
        Verb("rename_file", ("file",), _NEVER, Tier.SAFE),
        Verb("set_file_aside", ("file",), _ALWAYS, Tier.HIGH, destructive=True),
        *(
            Verb(name, _PATH, _ALWAYS, Tier.MEDIUM, event_kind="updated", operation="update", needs=needs)
            for name, needs in (
                ("set_event_aside", ()),
                ("keep_first_event", ()),
                ("sort_events", ()),
                ("list_event", ()),
                ("make_root", ()),
                ("choose_merge_target", ("merge_target",)),
                ("correct_path_state", ("state",)),
            )
        ),
    ),
}
"""Kind of store to its verbs; a kind that is not here has none."""

_OF_PATHS: Final = frozenset(
    {"path_event_missing", "path_parent_cycle", "merge_target_missing", "compacted_summary_missing", "path_state_inconsistent"}
)
MENDS: Final[Mapping[str, frozenset[str]]] = {
    "append_newline": frozenset({"truncated_last_line"}),
    "rename_file": frozenset({"filename_id_mismatch"}),
    "set_file_aside": frozenset({"duplicate_record_id"}),
    "archive": frozenset({"missing_edge_endpoint"}),
    "restore": frozenset({"superseded_target_missing"}) | _OF_PATHS,
    "replace_record": frozenset(
        {"invalid_record", "invalid_phase", "invalid_lifecycle_state", "missing_edge_endpoint", "unreviewed_durable_change"}
    )
    | _OF_PATHS,
    "set_aside_lines": frozenset({"tail_torn"}),
    "repair_lines": frozenset({"tail_torn"}),
    **dict.fromkeys(
        ("set_event_aside", "keep_first_event", "sort_events", "list_event", "make_root", "choose_merge_target", "correct_path_state"),
        _OF_PATHS,
    ),
}
"""Verb to the faults that it mends, or that stand beside those: they do not block it."""

ALIASES: Final[Mapping[str, Mapping[str, str]]] = {
    PHASE_MEMORY: {
        "forget": "request_delete",
        "retire": "request_delete",
        "decay": "mark_stale",
        "promote": "transition_phase",
        "stabilize": "transition_phase",
        "harden": "transition_phase",
        "demote": "transition_phase",
    }
}
"""Other words that a proposal may use, letter for letter."""


def verb_named(kind: str, name: object) -> Verb | None:
    """Give a verb by its exact name; None for every other word and for what is no word."""
    return VERBS.get(kind, {}).get(name) if isinstance(name, str) else None


def phase_meant(alias: str, phase: str) -> str:
    """Give the phase to which an alias moves a node that is in `phase`; "" where it leads nowhere."""
    fixed = {"stabilize": "stabilized", "harden": "rigid"}.get(alias)
    if fixed:
        return fixed
    step = {"promote": 1, "demote": -1}.get(alias, 0)
    if not step or phase not in PHASES:
        return ""
    place = PHASES.index(phase) + step
    return PHASES[place] if 0 <= place < len(PHASES) else ""
