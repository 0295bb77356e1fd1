"""Rows of a change as templates print them, and what a page asks to see of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from django.utils.safestring import SafeString

from stores.lifecycle.differences import Place

Mode = Literal["unified", "split", "words"]
MODES: Final[tuple[tuple[Mode, str], ...]] = (("unified", "Unified"), ("split", "Split"), ("words", "Words"))
SPOKEN: Final = {" ": "", "-": "taken out", "+": "put in", "~": "reworded"}


class LineComment(NamedTuple):
    """A comment that stands under a line."""

    id: int
    author: str
    text: str
    at: object


class DiffRow(NamedTuple):
    """One row: a line of either side or of both, a row of bytes, or a fold that says how many lines it stands for."""

    kind: str
    """line, bytes or fold."""
    sign: str = ""
    old: str = ""
    new: str = ""
    """Numbers of the line; of bytes where they begin, in hexadecimal."""
    html: SafeString | str = ""
    right: SafeString | str = ""
    """The later side, where both stand beside each other; of bytes the characters that they stand for."""
    right_sign: str = ""
    spoken: str = ""
    """What the sign says to readers."""
    old_place: Place | None = None
    new_place: Place | None = None
    """By what a comment names the line; None where it cannot be named."""
    comments: Sequence[LineComment] = ()
    asked: Place | None = None
    """The line for which a comment is being written."""

    @property
    def places(self) -> tuple[Place, ...]:
        """Give what the row is named by."""
        return tuple(one for one in (self.old_place, self.new_place) if one is not None)


class FileView(NamedTuple):
    """What happens to one file."""

    position: int
    path: str
    what: str
    to: str
    state: str
    """created, gone or changed: whether all of it is green, or red."""
    added: int
    removed: int
    sizes: str
    rows: list[DiffRow]
    mode: Mode
    first: int
    """Number of the first row that is shown."""
    total: int
    """Rows that there are."""
    note: str = ""
    is_bytes: bool = False
    """The file is no text: its rows are bytes."""

    @property
    def last(self) -> int:
        """Number of the last row that is shown."""
        return self.first + len(self.rows) - 1

    @property
    def next_from(self) -> int:
        """Where the next page of rows begins; 0 where there is none."""
        return self.last + 1 if self.last < self.total else 0

    @property
    def left(self) -> int:
        """How many rows are not shown here."""
        return self.total - len(self.rows)


class Shown(NamedTuple):
    """What of the changes a page asks for."""

    mode: Mode = "unified"
    file: int = 0
    """The file of which more is wanted, from 1; 0 for none."""
    start: int = 1
    """Its first row."""
    context: bool = False
    """Unchanged lines are not folded."""
    at: Place | None = None
    """A line that is to be seen, wherever it stands."""
    noted: frozenset[Place] = frozenset()
    """Lines with something under them: they are not folded."""
