"""The review queue as plain values: tabs, facets, chips, two-line rows; what `templates/stores/review_list.html` prints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from django.http import QueryDict
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from stores import action_words, display, filters, markup
from stores.filters import Chip, Choice, Facets, Field, Find, Group
from stores.lifecycle.states import State
from stores.lists.actions import FACETS, LATE_AFTER_DAYS, PAGE_SIZE, SORTS, TABS, ActionQuery
from stores.models import LifecycleAction
from stores.pager import Pager, make_pager
from stores.selectors.action_selection import fold_of
from stores.selectors.actions import ActionList, ActionRow
from stores.selectors.records import Tally

_ASSIGNED: Final[Mapping[str, str]] = {"me": "me", "nobody": "nobody", "others": "somebody else"}
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class Tab:
    """One of the tabs."""

    label: str
    url: str
    count: int | None
    current: bool


class SortLink(NamedTuple):
    """One of the orders."""

    label: str
    url: str
    current: bool


class RowView(NamedTuple):
    """One row of the queue."""

    pk: int
    url: str
    """The action's page, which knows from which list it was opened."""
    pick_name: str
    """pick for one action, fold for all alike ones."""
    pick_value: str
    risk: SafeString
    verb: str
    subject: SafeString
    state: str
    """Shape beside what is due; "" for none."""
    due: SafeString | str
    store: str
    by: str
    age: SafeString | str
    note: str
    """approved by one, who looks, why it stands."""
    alike: int
    alike_url: str
    name: str
    """The row in words, for the box that selects it."""


def tabs_of(found: ActionList) -> list[Tab]:
    """Give the tabs with their numbers."""
    home = reverse("review_list")
    counts = found.tab_counts
    return [Tab(label, ActionQuery(tab=tab).address(home), counts.get(tab), found.query.tab == tab) for tab, label in TABS.items()]


def facets_of(found: ActionList, expanded: Collection[str]) -> Facets:
    """Give the facets of the queue; `expanded` names those that show all values."""
    query = found.query
    names = found.store_names
    labels = {
        "store": lambda slug: names.get(slug) or slug,
        "assigned": lambda value: _ASSIGNED.get(value, value),
        "verb": action_words.kind_words,
    }
    groups = [
        filters.facet_group(
            query,
            facet.legend,
            facet.many,
            Tally(facet.column, tally.counts, False),
            expanded,
            labels.get(facet.column, lambda value: value),
            without=facet.without,
        )
        for facet, tally in zip(FACETS, found.tallies, strict=True)
    ]
    groups = [group for group in groups if group.choices]
    days = query.older or LATE_AFTER_DAYS
    groups.append(Group("Age", "older", [Choice(str(days), f"over {days} d", "", bool(query.older))]))
    groups.append(Group("Snoozed", "snoozed", [Choice("1", "what I have snoozed", "", query.snoozed)]))
    own = {*(facet.column for facet in FACETS), "q", "older", "snoozed", "page"}
    kept = [Field(name, value) for name, value in query.parameters() if name not in own]
    kept += [Field(filters.MORE, name) for name in sorted(expanded)]
    chosen = sum(len(values) for _, values in query.chosen) + bool(query.older) + query.snoozed
    return Facets(reverse("review_list"), groups, kept, chosen, f"Show {display.number(found.count)}")


def chips_of(found: ActionList) -> list[Chip]:
    """Give every value that is chosen, with the list without it."""
    query = found.query
    names = found.store_names
    chips = []
    for facet in FACETS:
        values = query.values(facet.column)
        for value in values:
            shown = (
                names.get(value, value) if facet.column == "store" else _ASSIGNED.get(value, value) if facet.column == "assigned" else value
            )
            rest = tuple(one for one in values if one != value)
            chips.append(Chip(facet.legend, shown, query.choosing(facet.column, rest).address()))
    said = {
        "text": ("Words", query.text),
        "older": ("Age", f"over {query.older} d"),
        "snoozed": ("Snoozed", "by me"),
        "alike": ("Alike", "one group"),
        "batch": ("Batch", query.batch),
    }
    empty = ActionQuery()
    chips += [
        Chip(name, value, query.changed(**{field: getattr(empty, field)}).address())
        for field, (name, value) in said.items()
        if getattr(query, field)
    ]
    return chips


def cleared(query: ActionQuery) -> str:
    """Give the address of the tab with nothing chosen."""
    return ActionQuery(tab=query.tab, sort=query.sort).address(reverse("review_list"))


def find_of(found: ActionList) -> Find:
    """Give the search field."""
    return Find(reverse("review_list"), f"Find in {display.number(found.count)}", found.query.text)


def sorts_of(query: ActionQuery) -> list[SortLink]:
    """Give the orders to choose from."""
    own = ActionQuery(tab=query.tab).order
    return [
        SortLink(label, query.changed(sort="" if sort == own else sort).address(), query.order == sort) for sort, label in SORTS.items()
    ]


def rows_of(found: ActionList) -> list[RowView]:
    """Give the rows of the page."""
    here = found.query.changed(page=found.query.page)
    return [_row(row, here, found.now) for row in found.rows]


def pager_of(found: ActionList) -> Pager:
    """Give the pager of the list; its words count rows."""
    query = QueryDict(found.query.address(without=("page",)).removeprefix("?"))
    return make_pager(query, number_now=found.page, per_page=PAGE_SIZE, count=found.row_count)


def action_url(pk: int, query: ActionQuery | None, **more: str) -> str:
    """Give the address of an action's page; with a question it knows the list from which it was opened."""
    said = [("tab", query.tab), *query.parameters(without=("tab",))] if query is not None else []
    said += more.items()
    address = reverse("action_detail", args=[pk])
    return f"{address}?{urlencode(said)}" if said else address


def due_words(action: LifecycleAction, now: datetime) -> tuple[str, SafeString | str]:
    """Give the shape and the words of when an action is due, or of where it stands where nothing waits for a person."""
    if action.state != State.PENDING:
        return action.state, action.state
    here, today = timezone.localtime(action.due_at), timezone.localtime(now)
    seconds = (now - action.due_at).total_seconds()
    if seconds >= 0:
        return "late", markup.time_tag(action.due_at, f"{display.span(seconds)} over")
    if here.date() == today.date():
        return "", markup.time_tag(action.due_at, f"due {here:%H:%M}")
    days = (here.date() - today.date()).days
    return "", markup.time_tag(action.due_at, f"due {here:%a}" if days < _WEEK else f"due {here.day} {here:%b}")


def _row(row: ActionRow, query: ActionQuery, now: datetime) -> RowView:
    action = row.action
    state, due = due_words(action, now)
    folded = row.alike > 1
    return RowView(
        action.pk,
        action_url(action.pk, query),
        "fold" if folded else "pick",
        fold_of(action) if folded else str(action.pk),
        action_words.risk_bar(action.tier),
        action_words.verb_words(action.verb).does,
        action_words.subject(action),
        state,
        due,
        action.store_slug if action.store is None else action.store.name,
        action.proposed_by,
        markup.age(action.created_at),
        _note(row),
        row.alike,
        _unfolded(query, action) if folded else "",
        action_words.plain_headline(action),
    )


def _unfolded(query: ActionQuery, action: LifecycleAction) -> str:
    alone = query.changed(alike=action.alike).choosing("state", (action.state,)).choosing("tier", (action.tier,))
    return alone.address(reverse("review_list"))


def _note(row: ActionRow) -> str:
    if row.looks:
        return f"{row.looks} looks"
    if row.action.adds_secret and row.action.state == State.PENDING:
        return "adds a secret"
    if row.action.state == State.PENDING and row.approvals:
        return f"{row.approvals} approved"
    if row.action.reason_code in ("store_blocked", "io_error", "policy_denied"):
        return row.action.reason_code.replace("_", " ")
    if row.action.assigned_to is not None:
        return f"for {row.action.assigned_to.label}"
    return ""
