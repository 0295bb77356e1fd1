"""Entities of the graph of a store, with the parameters of their page."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from ninja import Field, Query, Router, Schema

from stores import display
from stores.api.base import StorableText, asker
from stores.formats.secrets import mask
from stores.lists.graphs import DATED, SORTS, TOLD, read_graph
from stores.lists.queries import LAST_PAGE, PAGE_SIZE, PAGE_SIZES
from stores.models import GraphEntity, GraphRelation
from stores.selectors import entities
from stores.selectors.graph import EntityList
from stores.selectors.stores import find_store

router = Router(tags=["graph"])


class WantedEntities(Schema):
    """What the list takes, as the page does."""

    q: StorableText = Field("", description="Words of names, each as a beginning. 200 characters.")
    type: list[StorableText] = Field([], description="Repeatable, as are the others.")
    told: list[str] = Field([], description=f"Who tells of it: {', '.join(TOLD)}.")
    dated: list[str] = Field([], description=f"Days since the newest date in what is said: {', '.join(DATED)}.")
    sort: str = Field("-degree", description=f"{', '.join(SORTS)}; `-` before it for falling order.")
    page: int = Field(1, ge=1, le=LAST_PAGE)
    per_page: int = Field(PAGE_SIZE, ge=1, le=PAGE_SIZES[-1])


class EntityOut(Schema):
    """An entity; secrets are masked."""

    id: int
    name: str
    title: str
    type: str
    in_graph_file: bool
    queued: int = Field(description="Waiting operations that tell of it.")
    decisions: int
    observations: int
    degree: int = Field(description="Relations that begin or end here.")
    newest: str | None = Field(description="The newest date in what is said of it.")


class RelationOut(Schema):
    """A relation of an entity."""

    id: int
    type: str
    start: str
    end: str
    in_graph_file: bool
    queued: int
    decisions: int


class EntityPage(Schema):
    """One page of entities."""

    items: list[EntityOut]
    count: int
    page: int
    per_page: int


class EntityDetailOut(EntityOut):
    """An entity with its relations, at most a hundred on each side, and what is said of it."""

    sentences: list[str]
    outgoing: list[RelationOut]
    incoming: list[RelationOut]
    decision_ids: list[int] = Field(description="The newest decisions behind it, at most fifty.")


@router.get("/stores/{slug}/entities/", response=EntityPage, summary="Entities of a store's graph")
def entity_list(request: HttpRequest, slug: str, wanted: Query[WantedEntities]) -> dict[str, Any]:
    """Entities of the graph file, of the queue and of the decisions of one store, the most connected first."""
    query = read_graph(request.GET)
    found = EntityList(find_store(asker(request), slug, holding="graph_entity"), query, timezone.now())
    return {"items": [_entity(one) for one in found.page_rows], "count": found.count, "page": found.page, "per_page": query.per_page}


@router.get("/stores/{slug}/entities/{int:pk}/", response=EntityDetailOut, summary="One entity")
def entity_detail(request: HttpRequest, slug: str, pk: int) -> dict[str, Any]:
    """An entity with everything that is known of it."""
    found = entities.find_entity(asker(request), slug, pk)
    told = entities.behind(found.entity)
    return {
        **_entity(found.entity),
        "sentences": [mask(one.text) for one in entities.sayings(found.entity, told)[: entities.OBSERVATIONS_SHOWN]],
        "outgoing": [_relation(one, found.entity, one.end) for one in entities.side(found, outgoing=True).rows],
        "incoming": [_relation(one, one.start, found.entity) for one in entities.side(found, outgoing=False).rows],
        "decision_ids": [one.pk for one in told.decisions],
    }


def _entity(one: GraphEntity) -> dict[str, Any]:
    newest = display.moment_of(one.newest_ms)
    return {
        "id": one.pk,
        "name": mask(one.name),
        "title": mask(one.title),
        "type": mask(one.type),
        "in_graph_file": bool(one.filed),
        "queued": one.queued,
        "decisions": one.decisions,
        "observations": one.observations,
        "degree": one.degree,
        "newest": display.iso(newest) if newest else None,
    }


def _relation(one: GraphRelation, start: GraphEntity, end: GraphEntity) -> dict[str, Any]:
    return {
        "id": one.pk,
        "type": mask(one.type),
        "start": mask(start.name),
        "end": mask(end.name),
        "in_graph_file": bool(one.filed),
        "queued": one.queued,
        "decisions": one.decisions,
    }
