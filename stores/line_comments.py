"""Comments of an action beside the lines that they are about, and in its thread with the way there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from stores.diff_rows import DiffRow, FileView, LineComment
from stores.formats.byte_diffs import ROW
from stores.lifecycle.changes import Change
from stores.lifecycle.differences import Place, is_bytes
from stores.models import ActionComment


class ThreadLine(NamedTuple):
    """One comment in the thread."""

    comment: ActionComment
    place: Place | None
    """The line that it is about; None for the whole action."""
    words: str
    """What that line is called beside its file's name."""


def place_of(comment: ActionComment) -> Place | None:
    """Give the line that a comment is about; None for one about the whole action."""
    return Place(comment.file, comment.side, comment.line) if comment.file else None


def places_of(comments: Iterable[ActionComment]) -> frozenset[Place]:
    """Give the lines that have comments."""
    return frozenset(place for one in comments if (place := place_of(one)) is not None)


def with_comments(views: Sequence[FileView], comments: Iterable[ActionComment], at: Place | None) -> list[FileView]:
    """Put comments under their lines, and the form under the line that is to be commented on."""
    said: defaultdict[Place, list[LineComment]] = defaultdict(list)
    for one in comments:
        place = place_of(one)
        if place is not None:
            said[place].append(LineComment(one.pk, one.author_label, one.text, one.at))

    def row_with(row: DiffRow) -> DiffRow:
        places = row.places
        if at not in places and not any(place in said for place in places):
            return row
        found = [one for place in places for one in said.get(place, ())]
        return row._replace(comments=sorted(found), asked=at if at in places else None)

    return [view._replace(rows=[row_with(row) for row in view.rows]) for view in views]


def thread_of(comments: Iterable[ActionComment], changes: Sequence[Change]) -> list[ThreadLine]:
    """Give all comments, oldest first, each with the line that it is about."""
    places = [(one, place_of(one)) for one in comments]
    return [ThreadLine(one, place, words_of(place, changes) if place is not None else "") for one, place in places]


def words_of(place: Place, changes: Sequence[Change]) -> str:
    """Name a line: by its number, or by where its bytes stand."""
    if place.file <= len(changes) and is_bytes(changes[place.file - 1]):
        return f"bytes near {(place.line - 1) * ROW:#x}, {place.side}"
    return f"line {place.line:,}, {place.side}"
