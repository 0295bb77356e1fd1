"""How the conditions of an OrchestKit store say what they found."""

from __future__ import annotations

from stores.health.base import Condition, ConditionStatus


def status_of(failing: bool, otherwise: ConditionStatus = ConditionStatus.OK) -> ConditionStatus:
    """Give the status of a rule that fails, or what it has otherwise."""
    return ConditionStatus.FAILING if failing else otherwise


def unmeasured(condition: Condition, why: str) -> Condition:
    """Give a rule as one that could not be applied, with the reason."""
    return Condition(
        code=condition.code,
        title=condition.title,
        status=ConditionStatus.UNMEASURED,
        message=why,
        value_text="not measured",
        limit=condition.limit,
        limit_text=condition.limit_text,
        file=condition.file,
    )


def counted(number: int, noun: str) -> str:
    """Give "1 line", "1,204 lines"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def listed(things: tuple[object, ...], most: int = 3) -> str:
    """Name some things as in a sentence: "a, b and 4 more"."""
    shown = [f"{thing:,}" if isinstance(thing, int) else str(thing) for thing in things[:most]]
    if len(things) > most:
        return f"{', '.join(shown)} and {len(things) - most:,} more"
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def span(seconds: float) -> str:
    """Say a length of time in its two largest units: "4 d 2 h", "3 h 5 min", "41 s"."""
    rest = int(seconds)
    parts: list[str] = []
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s")):
        number, rest = divmod(rest, size)
        if number:
            parts.append(f"{number:,} {unit}")
        elif parts:
            break
        if len(parts) == 2:
            break
    return " ".join(parts) or "0 s"
