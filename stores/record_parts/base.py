"""What the page of a record is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.urls import reverse
from django.utils.safestring import SafeString

from stores import charts, markup
from stores.addresses import search_url
from stores.formats.secrets import find_secrets
from stores.memory_words import label_of, short, title_of, value_of
from stores.models import MirroredRecord
from stores.record_facts import Fact
from stores.selectors.memory_sessions import Beside, Company, timeline_url
from stores.table_view import TableView

VALUE_LENGTH = 4_000
"""Characters of one text that a page shows; the whole one stands in the raw line."""
NAMES_SHOWN = 100


class Link(NamedTuple):
    """A row that leads to another record."""

    text: SafeString | str
    url: str
    state: str = "superseded"
    second: SafeString | str = ""
    end: SafeString | str = ""


class Tag(NamedTuple):
    """A name, and the search for it."""

    text: SafeString
    url: str


class Chart(NamedTuple):
    """A step line with its name, its newest value, and a sentence for those who do not see it."""

    name: str
    now: str
    chart: charts.StepChart
    label: str


class Meter(NamedTuple):
    """How much of a limit is used."""

    name: str
    words: str
    bar: charts.BudgetBar


class MarkedLine(NamedTuple):
    """One line of a text file."""

    number: int
    text: SafeString
    note: str = ""
    unloaded: bool = False
    bad: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """One section of the page: a heading, and whatever of the rest it has, in this order."""

    title: str
    fact: SafeString | str = ""
    """The quiet words at the right of the heading."""
    url: str = ""
    """Where these lead."""
    id: str = ""
    meters: Sequence[Meter] = ()
    note: SafeString | str = ""
    facts: Sequence[Fact] = ()
    text: SafeString | str = ""
    view: TableView | None = None
    links: Sequence[Link] = ()
    tags: Sequence[Tag] = ()
    charts: Sequence[Chart] = ()
    lines: Sequence[MarkedLine] = ()
    border: str = ""
    """Stands before the first line that is not loaded."""
    after: SafeString | str = ""


class Said(NamedTuple):
    """A few words under the title."""

    text: SafeString | str
    state: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """What is particular to the page of a type of record."""

    title: SafeString | str
    tab_title: str
    said: Sequence[Said] = ()
    lead: Part | None = None
    """Stands across the page, above all others."""
    main: Sequence[Part] = ()
    side: Sequence[Part] = ()
    others: Sequence[Fact] = ()


def tags(names: Iterable[str]) -> list[Tag]:
    """Give names with the search for each."""
    return [Tag(value_of(name), search_url(name)) for name in list(names)[:NAMES_SHOWN]]


def session_url(record: MirroredRecord, session: str) -> str:
    """Give the page of a session of the record's store; "" where it has no name that may stand in an address."""
    return timeline_url(record.store.slug, session) if session.strip() and not find_secrets(session) else ""


def shown(text: str) -> SafeString:
    """Give a text of any length as a page shows it."""
    return short(text, VALUE_LENGTH)


def fields(given: Iterable[tuple[str, str]]) -> list[Fact]:
    """Give named values as facts, the names in words."""
    return [{"label": label_of(name), "value": shown(value)} for name, value in list(given)[:NAMES_SHOWN]]


def company_parts(company: Company) -> tuple[Part, Part]:
    """Give the decisions and problems of a session, or of its time."""
    return _company("Decisions", company.decisions, "decision"), _company("Problems", company.problems, "problem")


def _company(title: str, found: list[Beside], name: str) -> Part:
    named = sum(one.same_session for one in found)
    if not found:
        note = f"The store got no {name} in its time."
    elif named < len(found):
        note = (
            "They name other sessions, and are told here by their time."
            if not named
            else "Those with a ring name other sessions, and are told here by their time."
        )
    else:
        note = ""
    fact = "of this session" if found and named == len(found) else "in its time"
    return Part(title, fact=fact, note=note, links=beside(found, f"{name}_detail"))


def beside(found: Iterable[Beside], route: str) -> list[Link]:
    """Give records of the same session, or of its time, as rows."""
    return [
        Link(
            title_of(one.title),
            reverse(route, args=[one.id]),
            "current" if one.same_session else "superseded",
            end=markup.clock(one.at_ms),
        )
        for one in found
    ]
