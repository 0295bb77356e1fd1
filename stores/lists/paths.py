"""What one address asks of the tree of paths of a store: read from its parameters, written back into addresses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlencode

from django.http import QueryDict

from stores.formats import storable
from stores.formats.phase_memory.path_tree import PAGE
from stores.formats.phase_memory.vocabulary import PATH_STATES
from stores.formats.search_text import QUERY_LIMIT

OPENED_LIMIT = 50
"""Paths that one address can open, and as many that it can close."""
_KEY_DIGITS = 18


@dataclass(frozen=True, slots=True)
class TreeQuery:
    """One question to the paths of a store. Paths are named by their primary keys."""

    text: str = ""
    states: tuple[str, ...] = ()
    path: int = 0
    """The path that is shown beside the tree; 0 for none."""
    opened: tuple[int, ...] = ()
    shut: tuple[int, ...] = ()
    start: int = 0
    """Where the page of paths that branch off nothing begins."""
    second: int = 0
    """The first of two paths to be compared: the links of the tree choose the other one."""

    @property
    def is_narrowed(self) -> bool:
        """Whether only some paths are asked for."""
        return bool(self.text or self.states)

    def changed(self, **changes: Any) -> Self:
        """Give the same question with other parts."""
        return replace(self, **changes)

    def toggled(self, pk: int, *, is_open: bool) -> Self:
        """Give the same question with one path opened or closed."""
        opened = tuple(one for one in self.opened if one != pk)
        shut = tuple(one for one in self.shut if one != pk)
        if is_open:
            return self.changed(opened=opened, shut=(*shut, pk)[-OPENED_LIMIT:])
        return self.changed(opened=(*opened, pk)[-OPENED_LIMIT:], shut=shut)

    def parameters(self) -> list[tuple[str, str]]:
        """Give the parameters of the address in fixed order, defaults left out."""
        said = [("q", self.text)] if self.text else []
        said += [("state", state) for state in self.states]
        said += [("path", str(self.path))] if self.path else []
        said += [("open", str(pk)) for pk in self.opened]
        said += [("shut", str(pk)) for pk in self.shut]
        said += [("from", str(self.start))] if self.start else []
        said += [("second", str(self.second))] if self.second else []
        return said

    def address(self, path: str = "") -> str:
        """Give the address of this question at `path`; without a path one that leads to it from the page itself."""
        said = urlencode(self.parameters())
        return f"{path}?{said}" if said else path or "?"


def read_tree(given: QueryDict) -> TreeQuery:
    """Read what an address asks; what is not offered is passed over.

    Parameters: q, state (repeatable), path, open and shut (repeatable), from, second.
    """
    return TreeQuery(
        text=" ".join(storable.text(given.get("q", ""))[:QUERY_LIMIT].split()),
        states=tuple(state for state in PATH_STATES if state in given.getlist("state")),
        path=_number(given.get("path", "")),
        opened=_numbers(given.getlist("open")),
        shut=_numbers(given.getlist("shut")),
        start=_number(given.get("from", "")) // PAGE * PAGE,
        second=_number(given.get("second", "")),
    )


def _numbers(texts: list[str]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(number for text in texts[:OPENED_LIMIT] if (number := _number(text))))


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _KEY_DIGITS else 0
