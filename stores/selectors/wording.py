"""Words that sentences about stores are made of; numbers, spans and times come from `stores.display`."""

from __future__ import annotations

from datetime import UTC, date, datetime

from stores import display


def counted(count: int, singular: str, plural: str = "") -> str:
    """Give "1 line", "1,284 lines": the plural is the singular with an "s" where none is given."""
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"


def age_since(moment: datetime | None, now: datetime) -> str:
    """Give the age of `moment` at `now`, "2 h ahead" where its clock runs before ours, or "not known"."""
    return display.NOT_KNOWN if moment is None else display.age(moment, now)


def moment(at: datetime, now: datetime) -> str:
    """Give the time of today, with the day before it where it is another: "14:31", "27 Nov 14:31". UTC."""
    return display.clock(at.astimezone(UTC), now.astimezone(UTC))


def day(on: date) -> str:
    """Give a day without its year: "27 Nov"."""
    return f"{on.day} {on:%b}"


def listed(words: list[str], at_most: int = 3) -> str:
    """Join names as in a sentence: "a, b and c", or "a, b and 4 more" where there are more than `at_most`."""
    if len(words) > at_most:
        words = [*words[: at_most - 1], f"{len(words) - at_most + 1:,} more"]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
