"""The lists of records: which facets and sorts each offers, and what each shows (rulings 35, 42, 74)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from stores.models import (
    Decision,
    Flow,
    ForeignRecord,
    GraphItem,
    Mem0Operation,
    MemoryMd,
    MirroredRecord,
    PreferenceFile,
    Problem,
    ProblemSolution,
    QueueOperation,
    SessionEvent,
)

OLD_PROBLEM_DAYS = 14
"""An open problem that is older is late."""
MONTH = "month"
"""The way of grouping that needs no facet."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A column by whose values a list can be narrowed; it has an index that begins with the store."""

    column: str
    """Name of the column and of its parameter."""
    legend: str
    many: str
    """As in "3 more areas"."""
    without: str = "not given"
    """What the empty value means."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Its cells are made in `stores.tables`."""

    name: str
    title: str
    shown: bool = True
    """Shown unless another choice is made."""
    sortable: bool = False
    as_age: bool = False
    """A time as how long ago it was."""
    full_after_days: int = 0
    """A bar beside the age of what is open, full after so many days; 0 for none."""


@dataclass(frozen=True, slots=True)
class ListSpec:
    """One list of records."""

    section: str
    """Word of its address and of its saved views."""
    model: type[MirroredRecord]
    name: str
    """First part of the names of its routes: `<name>_list`, `<name>_detail`, `<name>_export`."""
    title: str
    one: str
    many: str
    facets: tuple[Facet, ...]
    columns: tuple[Column, ...]
    """The first one is always shown."""
    sort: str
    """The default: a column's name, "-" before it for falling order. Ends in the unique key, as every order does."""
    narrowed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Values of facets that a page takes where its address names none; `all=1` takes everything."""
    intro: str = ""
    """One sentence on what the records are, where their name does not say it."""
    groups: tuple[str, ...] = ()
    """Facets by whose values its rows can stand in groups; besides by month. Without one it offers no groups."""
    notes: tuple[Facet, ...] = ()
    """What people note beside the records, as far as a list can be narrowed to it (ruling 35): found by way of the notes, which are few."""

    @property
    def record_type(self) -> str:
        """Name of ruling 59."""
        return self.model.record_type

    @property
    def late_after_days(self) -> int:
        """From which age on a record is late; 0 where age says nothing."""
        return max(column.full_after_days for column in self.columns)

    @property
    def sorts(self) -> tuple[str, ...]:
        """Columns with an index whose order is the list's order: the time, and each facet."""
        return ("at", *(facet.column for facet in self.facets))


DECISIONS = ListSpec(
    section="decisions",
    model=Decision,
    name="decision",
    title="Decisions",
    one="decision",
    many="decisions",
    facets=(Facet("category", "Area", "areas"), Facet("type", "Type", "types"), Facet("said_by", "Said by", "people")),
    columns=(
        Column("title", "Decision"),
        Column("store", "Store"),
        Column("category", "Area", sortable=True),
        Column("standing", "Standing", shown=False),
        Column("tags", "Tags", shown=False),
        Column("type", "Type", shown=False, sortable=True),
        Column("said_by", "Said by", sortable=True),
        Column("machine", "Machine", shown=False),
        Column("project", "Project", shown=False),
        Column("session", "Session", shown=False),
        Column("source", "Source", shown=False),
        Column("scope", "Scope", shown=False),
        Column("importance", "Importance", shown=False),
        Column("confidence", "Confidence", shown=False),
        Column("entities", "Entities", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size", shown=False),
        Column("at", "When", sortable=True),
    ),
    sort="-at",
    groups=("category", "said_by"),
    notes=(Facet("standing", "Standing", "standings"), Facet("tag", "Tag", "tags")),
)

PROBLEMS = ListSpec(
    section="problems",
    model=Problem,
    name="problem",
    title="Problems",
    one="problem",
    many="problems",
    facets=(Facet("status", "Status", "states"), Facet("project", "Project", "projects")),
    columns=(
        Column("title", "Problem"),
        Column("store", "Store"),
        Column("status", "Status", sortable=True),
        Column("project", "Project", sortable=True),
        Column("owner", "Owner"),
        Column("due", "Due"),
        Column("session", "Session", shown=False),
        Column("solved_by", "Solved by", shown=False),
        Column("confidence", "Confidence", shown=False),
        Column("entities", "Entities", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size", shown=False),
        Column("at", "Age", sortable=True, as_age=True, full_after_days=OLD_PROBLEM_DAYS),
    ),
    sort="at",
    narrowed={"status": ("open",)},
    groups=("project",),
    notes=(Facet("owner", "Owner", "people"), Facet("due", "Due", "times")),
)

QUEUE = ListSpec(
    section="queue",
    model=QueueOperation,
    name="queue",
    title="Queue",
    one="operation",
    many="operations",
    facets=(Facet("standing", "State", "states"), Facet("operation", "Operation", "operations")),
    columns=(
        Column("line", "Line"),
        Column("operation", "Operation", sortable=True),
        Column("would_write", "Would write"),
        Column("origin", "From"),
        Column("standing", "State", sortable=True),
        Column("store", "Store"),
        Column("length", "Size"),
        Column("at", "Waits", sortable=True, as_age=True),
    ),
    sort="at",
)

FLOWS = ListSpec(
    section="flows",
    model=Flow,
    name="flow",
    title="Flows",
    one="flow",
    many="flows",
    facets=(Facet("pattern", "Pattern", "patterns"), Facet("standing", "Of its session", "kinds")),
    columns=(
        Column("title", "Flow"),
        Column("store", "Store"),
        Column("pattern", "Pattern", sortable=True),
        Column("success_rate", "Success"),
        Column("actions", "Steps"),
        Column("reads", "Reads", shown=False),
        Column("writes", "Writes", shown=False),
        Column("tests", "Tests", shown=False),
        Column("builds", "Builds", shown=False),
        Column("agent_spawns", "Agents started", shown=False),
        Column("standing", "Of its session", shown=False, sortable=True),
        Column("session", "Session", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size", shown=False),
        Column("at", "When", sortable=True),
    ),
    sort="-at",
    narrowed={"standing": ("last",)},
    intro="How sessions went about their work, step by step. A session is noted anew at the end of each turn; only its last version is shown at first.",
)

EVENTS = ListSpec(
    section="sessions",
    model=SessionEvent,
    name="event",
    title="Sessions",
    one="event",
    many="events",
    facets=(Facet("event_type", "Type", "types"), Facet("outcome", "Outcome", "outcomes"), Facet("name", "Name", "names")),
    columns=(
        Column("title", "Event"),
        Column("store", "Store"),
        Column("event_type", "Type", sortable=True),
        Column("name", "Name", shown=False, sortable=True),
        Column("outcome", "Outcome", sortable=True),
        Column("duration_ms", "Took"),
        Column("session", "Session"),
        Column("said_by", "Person", shown=False),
        Column("machine", "Machine", shown=False),
        Column("identity_source", "Known from", shown=False),
        Column("shape", "Writer", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size", shown=False),
        Column("at", "When", sortable=True),
    ),
    sort="-at",
    intro="What happened in sessions, as OrchestKit's two writers noted it.",
)

SOLUTIONS = ListSpec(
    section="solutions",
    model=ProblemSolution,
    name="solution",
    title="Solutions",
    one="solution",
    many="solutions",
    facets=(Facet("tool", "Tool", "tools"), Facet("project", "Project", "projects")),
    columns=(
        Column("title", "Problem"),
        Column("store", "Store"),
        Column("tool", "Tool", sortable=True),
        Column("project", "Project", sortable=True),
        Column("confidence", "Confidence"),
        Column("session", "Session", shown=False),
        Column("problem_id", "Problem's id", shown=False),
        Column("entities", "Entities", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size", shown=False),
        Column("at", "When", sortable=True),
    ),
    sort="-at",
    intro="Output that OrchestKit took for the solution of a problem. It paired by time and words, so many pairs are mistaken.",
)

MEM0 = ListSpec(
    section="mem0",
    model=Mem0Operation,
    name="mem0",
    title="Mem0 queue",
    one="mem0 operation",
    many="mem0 operations",
    facets=(Facet("standing", "State", "states"), Facet("category", "Area", "areas")),
    columns=(
        Column("title", "Text"),
        Column("store", "Store"),
        Column("standing", "State", sortable=True),
        Column("category", "Area", sortable=True),
        Column("type", "Type", shown=False),
        Column("user_id", "Meant for", shown=False),
        Column("project", "Project", shown=False),
        Column("confidence", "Confidence", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size", shown=False),
        Column("at", "Queued", sortable=True),
    ),
    sort="-at",
    intro="What waited to be sent to a memory service that OrchestKit has given up. Nothing takes it any more.",
)

PREFERENCES = ListSpec(
    section="preferences",
    model=PreferenceFile,
    name="preference",
    title="Preferences",
    one="preference file",
    many="preference files",
    facets=(Facet("form", "Counts", "kinds"),),
    columns=(
        Column("title", "Concludes"),
        Column("store", "Store"),
        Column("form", "Counts", sortable=True),
        Column("samples", "Samples"),
        Column("length", "Size", shown=False),
        Column("at", "Counted", sortable=True),
    ),
    sort="-at",
    intro="What OrchestKit counted of tools and ways of working, and what it concluded from the counts.",
)

MEMORY_FILES = ListSpec(
    section="memory-files",
    model=MemoryMd,
    name="memory_file",
    title="Memory files",
    one="memory file",
    many="memory files",
    facets=(Facet("form", "Kind", "kinds"), Facet("agent", "Agent", "agents")),
    columns=(
        Column("title", "File"),
        Column("store", "Store"),
        Column("form", "Kind", sortable=True),
        Column("agent", "Agent", sortable=True),
        Column("topic_type", "Topic", shown=False),
        Column("lines", "Lines"),
        Column("characters", "Characters", shown=False),
        Column("not_loaded", "Not loaded"),
        Column("long_lines", "Long lines", shown=False),
        Column("length", "Size"),
    ),
    sort="form",
    intro="Markdown that agents load at the start of a session, as far as its budget reaches, and notes beside it.",
)

GRAPH_LINES = ListSpec(
    section="graph",
    model=GraphItem,
    name="graph_item",
    title="Lines of the graph",
    one="graph line",
    many="graph lines",
    facets=(Facet("what", "Line", "kinds"), Facet("item_type", "Type", "types")),
    columns=(
        Column("title", "Entity or relation"),
        Column("store", "Store"),
        Column("what", "Line", sortable=True),
        Column("item_type", "Type", sortable=True),
        Column("start", "From", shown=False),
        Column("end", "To", shown=False),
        Column("observations", "Observations"),
        Column("line", "No."),
        Column("length", "Size", shown=False),
        Column("at", "Newest date in it", sortable=True),
    ),
    sort="-at",
    intro="The lines of the memory server's graph file as they stand on disk.",
)

OTHERS = ListSpec(
    section="other",
    model=ForeignRecord,
    name="other",
    title="Other records",
    one="other record",
    many="other records",
    facets=(Facet("form", "What it is", "kinds"),),
    columns=(
        Column("title", "Record"),
        Column("store", "Store"),
        Column("form", "What it is", sortable=True),
        Column("session", "Session", shown=False),
        Column("line", "Line", shown=False),
        Column("length", "Size"),
        Column("at", "When", sortable=True),
    ),
    sort="-at",
    intro="Records of other tools and of older versions: shown as they are, never rewritten.",
)

FURTHER = (FLOWS, EVENTS, SOLUTIONS, MEM0, PREFERENCES, MEMORY_FILES, GRAPH_LINES, OTHERS)
"""Lists without a page of their own kind: heading, list, nothing else."""
