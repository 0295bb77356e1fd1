"""Takes values out of phase-memory records, whatever their types."""

from __future__ import annotations

from typing import Final

from stores.formats import canonical, storable

_NOTHING: Final[dict[str, object]] = {}


def mapping(value: object) -> dict[str, object]:
    """Give an object's fields; none for anything else."""
    return value if isinstance(value, dict) else _NOTHING


def items(value: object) -> list[object]:
    """Give a list's items; none for anything else."""
    return value if isinstance(value, list) else []


def reference(value: object) -> str:
    """Give an id that a record points at; "" for nothing and for what cannot be an id."""
    return value if isinstance(value, str) else ""


def references(value: object) -> tuple[str, ...]:
    """Give the ids in a list, each once, in their order."""
    return tuple(dict.fromkeys([item for item in items(value) if isinstance(item, str)]))


def is_number(value: object) -> bool:
    """Say whether a value is a number; true and false are none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def word(value: object) -> str:
    """Give a value as a word by which it can be named: text as it is, anything else as JSON."""
    return value if isinstance(value, str) else canonical.canonical(value).decode("utf-8")


def texts(value: object) -> tuple[str, ...]:
    """Give a list's texts as any database holds them."""
    return tuple([storable.text(item) for item in items(value) if isinstance(item, str)])


def whole_number(value: object) -> int:
    """Give a count as any database holds it: 0 for what is no number or below zero, cut at 31 bit."""
    number = storable.number(value)
    return 0 if number is None else int(max(0, min((1 << 31) - 1, number)))
