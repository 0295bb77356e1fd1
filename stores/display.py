"""Values as people read them: spans, times, numbers, sizes (visual-design §14). Text out; the clock is an argument."""

from __future__ import annotations

from datetime import UTC, datetime

MINUTE, HOUR, DAY = 60, 3600, 86400
NOT_KNOWN = "not known"
CLOCK_AHEAD_S = 5
"""A writer's clock may run ahead of ours by so much before a page says so."""


def moment_of(value: datetime | float | None) -> datetime | None:
    """Give the aware UTC time of a datetime or of milliseconds since 1970.

    None for None, for 0 (how the mirror stores a time that a record does not have) and for what no calendar holds. A naive datetime
    is read as UTC (ruling 70).
    """
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    if not value:
        return None
    try:
        return datetime.fromtimestamp(value / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def iso(moment: datetime) -> str:
    """Give ISO 8601 in UTC to the second, for `datetime` attributes and on hover."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def span(seconds: float, *, exact: bool = False) -> str:
    """Give a length of time in its largest unit: "8 s", "41 min", "2 h", "3 d"; `exact` names the next one too: "4 d 2 h"."""
    whole = int(max(seconds, 0))
    if whole < MINUTE:
        return f"{whole} s"
    if whole < HOUR:
        return f"{whole // MINUTE} min"
    if whole < DAY:
        minutes = whole % HOUR // MINUTE
        return f"{whole // HOUR} h {minutes} min" if exact and minutes and whole < 10 * HOUR else f"{whole // HOUR} h"
    hours = whole % DAY // HOUR
    return f"{whole // DAY} d {hours} h" if exact and hours and whole < 30 * DAY else f"{whole // DAY:,} d"


def age(moment: datetime, now: datetime, *, exact: bool = False) -> str:
    """Give how long ago `moment` was, or "2 h ahead" where the writer's clock runs before ours."""
    seconds = (now - moment).total_seconds()
    return f"{span(-seconds, exact=exact)} ahead" if seconds < -CLOCK_AHEAD_S else span(seconds, exact=exact)


def ago(moment: datetime, now: datetime) -> str:
    """Give "12 s ago", or "2 h ahead" as `age` does."""
    words = age(moment, now)
    return words if words.endswith("ahead") else f"{words} ago"


def clock(moment: datetime, now: datetime, *, seconds: bool = False) -> str:
    """Give the time of day, with its day unless that is today: "14:31", "27 Nov 14:31", "27 Nov 2025 14:31". Both in the reader's zone."""
    time = f"{moment:%H:%M:%S}" if seconds else f"{moment:%H:%M}"
    if moment.date() == now.date():
        return time
    year = "" if moment.year == now.year else f" {moment.year}"
    return f"{moment.day} {moment:%b}{year} {time}"


def day(moment: datetime, now: datetime) -> str:
    """Give what a column of dates says: an age today, else "27 Nov", in other years "Nov 2025". Both in the reader's zone."""
    if moment.date() == now.date():
        return age(moment, now)
    return f"{moment.day} {moment:%b}" if moment.year == now.year else f"{moment:%b %Y}"


def number(value: float | None) -> str:
    """Give a number with thousands set apart, at most two decimals; "not known" for None."""
    if value is None:
        return NOT_KNOWN
    if isinstance(value, int) or value.is_integer():
        return f"{int(value):,}"
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def at_least(value: int, more: bool) -> str:
    """Give a number, with a plus where there may be more."""
    return f"{number(value)}{'+' if more else ''}"


def size(value: int | None) -> str:
    """Give a size in decimal units: "812 B", "286 kB", "1.9 MB"; "not known" for None."""
    if value is None:
        return NOT_KNOWN
    if value < 1000:
        return f"{value} B"
    amount = float(value)
    for unit in ("kB", "MB", "GB", "TB"):
        amount /= 1000
        if amount < 999.5 or unit == "TB":
            break
    return f"{amount:.1f} {unit}" if amount < 9.95 and unit != "kB" else f"{amount:,.0f} {unit}"


def milliseconds(value: float) -> str:
    """Give a short length of time: "840 ms", "1.2 s", from ten seconds on as `span` does."""
    if value < 1000:
        return f"{value:,.0f} ms"
    return f"{value / 1000:.1f} s" if value < 10_000 else span(value / 1000)


def percent(value: float) -> str:
    """Give a share as "62%"; what is no share comes as the number it is."""
    return f"{value:.0%}" if 0 <= value <= 1 else f"{value:.3g}, no share"
