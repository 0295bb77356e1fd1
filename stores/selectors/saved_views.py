"""Saved views: named questions to a list, a person's own and those that somebody shares with the team (ux.md, part 3)."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Q
from django.http import QueryDict
from django.urls import reverse

from stores.accounts import Visitor, visible_stores
from stores.lists.actions import ActionQuery
from stores.lists.queries import ListQuery
from stores.lists.registry import SECTIONS, Section
from stores.models import SavedView, Store, User

SHOWN = 100


class ViewLink(NamedTuple):
    """A saved view as a link."""

    id: int
    name: str
    url: str
    current: bool
    """It is what the page shows."""
    owner: str
    """Whose it is; "" for the account's own."""
    shared: bool


def saved_views(user: Visitor, section: Section, query: ListQuery | ActionQuery) -> list[ViewLink]:
    """Give the views of a list that `user` may take, own ones first; others' only if it sees every store that they name. Two queries."""
    if not isinstance(user, User):
        return []
    found = SavedView.objects.filter(Q(owner=user) | Q(shared=True), section=section.section).select_related("owner")
    asked = [(view, section.read(QueryDict(view.query))) for view in found.order_by("name", "id")[:SHOWN]]
    named = {slug for view, question in asked if view.owner_id != user.pk for slug in question.stores}
    seen = set(visible_stores(user).filter(slug__in=named).values_list("slug", flat=True)) if named else set()
    links = [_link(view, question, user, query) for view, question in asked if view.owner_id == user.pk or seen.issuperset(question.stores)]
    return sorted(links, key=lambda link: bool(link.owner))


class OwnView(NamedTuple):
    """A saved view on its owner's account page."""

    id: int
    name: str
    title: str
    """Title of the list."""
    url: str
    shared: bool


def own_views(user: User) -> list[OwnView]:
    """Give every view of an account, by list and name. One query."""
    found = SavedView.objects.filter(owner=user, section__in=SECTIONS).order_by("section", "name", "id")
    return [_own(view, SECTIONS[view.section]) for view in found]


def _own(view: SavedView, section: Section) -> OwnView:
    address = section.read(QueryDict(view.query)).address(reverse(f"{section.name}_list"))
    return OwnView(view.pk, view.name, section.title, address, view.shared)


def store_named(section: Section, text: str) -> Store | None:
    """Give a store that the parameters of a view name, one that is limited to groups first: the audit shows the view to whom it shows that."""
    slugs = section.read(QueryDict(text)).stores
    return Store.objects.filter(slug__in=slugs).alias(limits=Count("groups")).order_by("-limits", "pk").first() if slugs else None


def _link(view: SavedView, asked: ListQuery | ActionQuery, user: User, query: ListQuery | ActionQuery) -> ViewLink:
    owner = "" if view.owner_id == user.pk else view.owner.label
    return ViewLink(view.pk, view.name, asked.address(), asked.parameters() == query.changed().parameters(), owner, view.shared)


def clean_query(section: Section, text: str) -> str:
    """Give the parameters of a view as they are kept: only what the list knows, without a page."""
    return section.read(QueryDict(text)).changed().address().removeprefix("?")
