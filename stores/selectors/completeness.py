"""How whole a list is: what could not be read and may hold more, and which of the four nothings an empty list is (DESIGN §6.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.urls import reverse
from django.utils.http import urlencode

from stores import display
from stores.formats import storable
from stores.lists.queries import LAST_PAGE
from stores.models import SourceFile
from stores.selectors import wording
from stores.selectors.records import ListedStore, RecordList

SHOWN = 3
NAMED = 3
NAMED_LENGTH = 60


class Gap(NamedTuple):
    """Something that may hold more records than are shown."""

    state: str
    text: str
    url: str
    link_text: str


class Completeness(NamedTuple):
    """The line above a list."""

    lead: str
    rest: str
    gaps: list[Gap]


class Link(NamedTuple):
    """Where to go from here."""

    text: str
    url: str


class Outcome(NamedTuple):
    """What stands in the place of a list that shows nothing."""

    kind: str
    title: str
    text: str
    links: list[Link]
    state: str = ""


def completeness(found: RecordList) -> Completeness:
    """Say how many records fit, of how many, and what may hold more. No query of its own."""
    query, spec = found.query, found.spec
    number = f"more than {display.number(found.count)}" if found.capped else display.number(found.count)
    if query.gone:
        lead, rest = number, f"{spec.one if found.count == 1 else spec.many} {'is' if found.count == 1 else 'are'} gone from disk"
        rest += " and match" if query.text or query.chosen or query.stores or query.older else ""
    elif query.takes_all:
        lead, rest = number, spec.one if found.count == 1 else spec.many
    else:
        lead, rest = f"{number} of {display.number(found.total)}", f"{spec.one if found.total == 1 else spec.many} match"
    rest += f" among the newest {display.number(10_000)} {'gone' if query.gone else 'hits'}; there are more" if found.scope_capped else ""
    gaps = [] if query.gone else _gaps(found.asked_stores, spec.many)
    if found.capped:
        gaps.insert(0, Gap("filtered", "", query.changed(count_all=True, page=query.page).address(), "count all"))
    return Completeness(lead, f"{rest}.", gaps)


def _gaps(stores: Sequence[ListedStore], many: str) -> list[Gap]:
    gaps = [gap for one in stores for gap in _gaps_of(one, many)]
    if len(gaps) <= SHOWN:
        return gaps
    rest = len(gaps) - SHOWN + 1
    return [
        *gaps[: SHOWN - 1],
        Gap("failing", f"{display.number(rest)} more stores hold {many} that cannot be read:", reverse("health"), "health"),
    ]


def _gaps_of(one: ListedStore, many: str) -> list[Gap]:
    unread = [file for file in one.troubled if file.cannot_be_read]
    corrupt = [file for file in one.troubled if file.corrupt_lines and not file.cannot_be_read]
    importing = [file for file in one.troubled if file.state == "importing"]
    gaps = []
    if unread:
        others = f" and {wording.counted(len(unread) - 1, 'other file')}" if len(unread) > 1 else ""
        text = f"{unread[0].path}{others} of {one.name} cannot be read; shown is what {'they' if others else 'it'} held before:"
        gaps.append(Gap("failing", text, _faults_url(one, unread), "why"))
    if corrupt:
        number, of = sum(file.corrupt_lines for file in corrupt), sum(file.line_count for file in corrupt)
        place = f"{wording.counted(len(corrupt), 'file')} of {one.name}" if len(corrupt) > 1 else one.name
        lines = f"{display.number(number)} of {display.number(of)} lines of {place}"
        faults_word = "1 fault" if number == 1 else f"{display.number(number)} faults"
        gaps.append(Gap("failing", f"{lines} cannot be read and may hold more:", _faults_url(one, corrupt), faults_word))
    if importing:
        gaps.append(Gap("note", f"{one.name} is being read, {importing[0].share_read:.0%} done", "", ""))
    return gaps


def _faults_url(one: ListedStore, files: Sequence[SourceFile]) -> str:
    query = f"?{urlencode({'file': files[0].path})}" if len(files) == 1 else ""
    return f"{reverse('store_faults', args=[one.slug])}{query}"


def outcome(found: RecordList, can_add: bool) -> Outcome | None:
    """Say why a list shows nothing; None where it shows something. No query of its own."""
    query, spec = found.query, found.spec
    whole = Link(f"Show all {spec.many}", query.changed(text="", chosen=(), older=0, gone=False, stores=(), sort="").address())
    if found.too_far:
        words = f"Pages end at {display.number(LAST_PAGE)}. Narrow the list by a filter, or sort it the other way round."
        return Outcome("filtered", "Too far down", words, [Link("First page", query.changed().address())])
    if found.page_rows:
        return None
    if not found.stores:
        links = [Link("Add a store", reverse("store_add"))] if can_add else []
        return Outcome("empty", f"No {spec.many}", f"No store that you may see has a file for {spec.many}.", links, "unmeasured")
    if query.page > 1 and found.capped:
        return Outcome("filtered", "No such page", "The list ends before this page.", [Link("First page", query.changed().address())])
    if query.gone and not (query.text or query.chosen or query.noted or query.stores or query.older):
        return Outcome("empty", "Nothing is gone", f"Every one of the {spec.many} that was ever read is still there.", [whole])
    if not query.takes_all and (found.total or query.gone):
        return _filtered(found, whole)
    return _empty(found)


class _Step(NamedTuple):
    """One filter taken away."""

    without: str
    number: int
    at_least: bool
    url: str

    @property
    def words(self) -> str:
        more = "more than " if self.at_least else ""
        return f"without {self.without} {more}{display.number(self.number)} {'matches' if self.number == 1 else 'match'}"


def _filtered(found: RecordList, whole: Link) -> Outcome:
    query, spec = found.query, found.spec
    if query.text and not found.terms:
        return Outcome("filtered", "No word to search for", "A search needs a letter or a digit.", [whole])
    narrowed = ("status", ("open",))
    if spec.narrowed and query.chosen == (narrowed,) and not (query.text or query.noted or query.stores or query.older):
        words = f"{wording.counted(found.total, spec.one, spec.many)} {'is' if found.total == 1 else 'are'} recorded, none of them open."
        return Outcome("empty", f"No open {spec.many}", words, [whole], "ok")
    step = next((one for one in _steps_back(found) if one.number), None)
    told = _filters(found)
    if step is None:
        return Outcome("filtered", f"No {spec.one} matches", f"{told}.", [whole])
    links = [Link(f"Show without {step.without}", step.url), whole]
    return Outcome("filtered", f"No {spec.one} matches", f"{told}: {step.words}.", links)


def _filters(found: RecordList) -> str:
    """Name every filter: 'Words "zeppelin", area database or auth, gone from disk, in shop-api'."""
    query = found.query
    told = [f'words "{_shortened(query.text)}"'] if query.text else []
    for facet in (*query.spec.facets, *query.spec.notes):
        values = [_shortened(value) or facet.without for value in query.values(facet.column)]
        told += (
            [f"{facet.legend.lower()} {' or '.join(values[:NAMED])}{f' or {len(values) - NAMED:,} more' if len(values) > NAMED else ''}"]
            if values
            else []
        )
    told += [f"over {display.number(query.older)} d old"] if query.older else []
    told += ["gone from disk"] if query.gone else []
    names = {one.slug: one.name for one in found.stores}
    place = f"in {wording.listed([names.get(slug, slug) for slug in query.stores])}" if query.stores else ""
    words = " ".join(filter(None, [", ".join(told), place]))
    return words[:1].upper() + words[1:]


def _steps_back(found: RecordList) -> Iterator[_Step]:
    """Give how many would match with one filter less, where that is counted already."""
    query = found.query
    if query.text and found.count_without_words is not None:
        yield _Step("the words", found.count_without_words, at_least=False, url=query.changed(text="").address())
    for facet, tally in zip(query.spec.facets, found.tallies, strict=True):
        if query.values(facet.column):
            yield _Step(f"the {facet.legend.lower()}", tally.counts.total(), tally.at_least, query.choosing(facet.column, ()).address())
    if query.stores:
        yield _Step("the store", found.store_tally.counts.total(), found.store_tally.at_least, query.choosing("store", ()).address())


def _shortened(text: str) -> str:
    """Give what a person typed or chose as a sentence shows it."""
    return text if len(text) <= NAMED_LENGTH else f"{storable.text(text, NAMED_LENGTH - 1)}…"


def _empty(found: RecordList) -> Outcome:
    spec, stores = found.spec, found.asked_stores
    unread = [one for one in stores if one.file.cannot_be_read]
    if unread:
        file = unread[0].file
        words = f"{file.path} of {wording.listed([one.name for one in unread])}: {file.error or file.state.replace('_', ' ')}"
        return Outcome("unreadable", f"The {spec.many} cannot be read", words, [Link("Stores", reverse("store_list"))])
    if stores and all(one.file.read_at is None for one in stores):
        names = wording.listed([one.name for one in stores])
        return Outcome("unmeasured", "Not read yet", f"No import of {names} has ended, so it is not known what is there.", [])
    return Outcome("empty", f"No {spec.many}", f"The files were read and hold no {spec.one}.", [], "ok")
