"""What every kind of store is made of: lines, parsed lines, faults, and the description of a kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol


class Severity(StrEnum):
    """How bad a fault is (ruling 36)."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class RepairMode(StrEnum):
    """Who may mend a fault, and how."""

    SAFE = "safe"
    REVIEW = "review"
    ACKNOWLEDGE = "acknowledge"
    MANUAL = "manual"
    BLOCK = "block"
    NONE = "none"


class LineClass(StrEnum):
    """The one class that each physical line has (ruling 30)."""

    RECORD = "record"
    REFUSED = "refused"
    BLANK = "blank"
    PENDING = "pending"


class Fault(NamedTuple):
    """Something wrong at a place; the file's path is added by whoever knows it."""

    code: str
    severity: Severity
    message: str
    """What is wrong, then what it does to the agent. Holds no memory text beyond short escaped ids."""
    line: int | None = None
    """1-based."""
    byte: int | None = None
    """Offset in the file of the exact place."""
    subject_type: str = ""
    """decision, queue_operation, problem, line or file."""
    subject_id: str = ""
    key: str = ""
    """Identity of the fault within store, code and file, stable over imports: 16 hex digits of the raw line's sha256, or a file name."""
    details: Mapping[str, object] = {}
    """JSON-able. `column` counts bytes of the line from 1, so `byte` = the line's offset + `column` - 1."""
    repair_mode: RepairMode = RepairMode.NONE
    repair_action: str = ""
    """A verb of ruling 56, or "" where nothing can be proposed."""
    pending: bool = False
    """A torn tail that may still grow (ruling 24)."""


class Line(NamedTuple):
    """One physical line of a file, cut at `\\n` bytes only."""

    number: int
    """1-based."""
    offset: int
    length: int
    """Bytes without the line break."""
    data: bytes
    """The bytes without the line break; b"" when oversize."""
    sha256: bytes
    """Of the bytes without the line break, 32 bytes."""
    terminated: bool
    """A line break followed."""
    oversize: bool
    """Longer than the cap of ruling 61."""
    head: bytes
    """First 4 KiB of an oversize line, else b""."""


class Parsed(NamedTuple):
    """What a kind's reader makes of one physical line."""

    line_class: LineClass
    values: tuple[object, ...] | None
    """Aligned with `FileSpec.columns`; None unless the line is a record."""
    natural_id: str
    """"" where the record has none: its identity is then the line's sha256 (ruling 31)."""
    search: str
    """`search_text` of the record's texts, "" unless the line is a record."""
    faults: tuple[Fault, ...]
    hold: bool = False
    """The answer rests on this being the last line that is not blank, so reading may not resume behind it."""
    links: tuple[tuple[object, ...], ...] = ()
    """What the record points at, in its order; each as the columns of its table after the position."""
    facts: tuple[object, ...] | None = None
    """What rules over the whole store need to know of the line, whatever its class; None where there are no such rules."""


class LineReader(Protocol):
    """Reads the lines of one file in order, and can be taken up again from its state."""

    def read(self, line: Line, last: bool = True) -> Parsed:
        """Read the next line.

        With `last` the reader assumes that only blank lines follow and says so by `hold` where that matters; without it the
        line is read as one that has successors, and never held.
        """

    def state(self) -> str:
        """Give a small JSON text (below 16 KiB) from which a new reader continues after the lines read so far."""


@dataclass(frozen=True, slots=True)
class FileSpec:
    """One file of a kind, or all files whose paths are alike."""

    path: str
    """Relative to the store, or to the folder of `anchor`, separated by "/". `*` stands for any characters of one name, never for "/"."""
    record_type: str
    """Name of ruling 59."""
    append_only: bool
    """Read from its tail (ruling 1); a rewritable file is read whole when anything moved."""
    columns: tuple[str, ...]
    reader: Callable[[str], LineReader]
    """Makes a reader from a state text; "" stands for the start of the file. Of a whole file it is made from the source file's path."""
    whole: bool = False
    """The file is one record, not lines: its reader gets all of it as one line."""
    folder: bool = False
    """Each `.json` file of the folder `path` is a record, by the thousand: one source file stands for the folder."""
    anchor: str = ""
    """Where `path` begins: "" the store, "project" the folder that holds `.claude`, "home" the home folder (ruling 34).

    `{project}` in a path below the home folder stands for the project's path with "-" for each "/" and ".".
    """

    @property
    def is_pattern(self) -> bool:
        """Whether it stands for any number of files."""
        return "*" in self.path or "{project}" in self.path

    @property
    def full_path(self) -> str:
        """The path with the anchor before it, as source files are named: `project:.claude/rules/recent-decisions.md`."""
        return f"{self.anchor}:{self.path}" if self.anchor else self.path

    def path_below(self, path: str) -> str:
        """Give a source file's path without the anchor: the way to it from the anchor's folder."""
        return path.removeprefix(f"{self.anchor}:") if self.anchor else path


def _like_spec(spec: FileSpec) -> str:
    """Give the regular expression of the paths of a spec: of a folder its own, and that of each file in it."""
    return f"{_like(spec.full_path)}{'(?:/[^/]*)?' if spec.folder else ''}"


def _like(path: str) -> str:
    """Give the regular expression of a path with `*`; `{project}` stands for one name too."""
    return "".join("[^/]*" if part in ("*", "{project}") else re.escape(part) for part in re.split(r"(\*|\{project\})", path))


@dataclass(frozen=True, slots=True)
class Kind:
    """A format of store."""

    name: str
    title: str
    what: str
    """What is recognised, in one line."""
    files: tuple[FileSpec, ...]
    recognises: Callable[[str, frozenset[str]], bool]
    """Given a folder's path with "/" and the names in it: is it a store of this kind?"""
    expected: frozenset[str] = frozenset()
    """Paths of the files that every store is looked for and is said to miss; the others are spoken of where they are."""

    @property
    def has_folders(self) -> bool:
        """Whether its records are files by the thousand, with rules over all of them."""
        return any(spec.folder for spec in self.files)

    @property
    def spec_of(self) -> Callable[[str], FileSpec | None]:
        """Give what reads a source file of a path, anchor included: the first that matches, None where nothing does.

        Take it once for many paths.
        """
        match = re.compile("|".join(f"({_like_spec(spec)})" for spec in self.files), re.DOTALL).fullmatch

        def find(path: str) -> FileSpec | None:
            found = match(path)
            return self.files[found.lastindex - 1] if found and found.lastindex else None

        return find
