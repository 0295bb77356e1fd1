"""The graph of a store: picture and table of its entities, one entity, one relation."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores import graph_tables
from stores.graph_looks import strength_of
from stores.htmx import page_or_fragment
from stores.lists.graphs import PICTURE_SIZE, read_graph
from stores.selectors import entities
from stores.selectors.graph import EntityList, neighbourhood, picture, source_states
from stores.selectors.store_page import store_frame
from stores.selectors.stores import find_store
from stores.views.requests import signed_in, step_links, steps, whole_number
from stores.views.stores import frame_context

PICKED = "picked"
"""The part of an entity's or relation's page that stands beside the picture."""
FRAGMENT = "list"
MORE = "more"


@require_safe
def store_graph(request: HttpRequest, slug: str) -> HttpResponse:
    """Entities of a store: find, filter, sort, page, and the most connected of them as a picture."""
    now = timezone.now()
    frame = store_frame(request.user, slug, "graph", now)
    query = read_graph(request.GET)
    found = EntityList(frame.store, query, now)
    states = source_states(frame.store)
    here, total = reverse("store_graph", args=[slug]), found.count
    content = {
        "view": graph_tables.entity_table(found, request.GET),
        "facets": graph_tables.facets(found, here, request.GET.get(MORE) == "type"),
        "find": graph_tables.find(found, here),
        "chips": graph_tables.chips(query),
        "clear_url": here,
        "total": total,
        "in_graph": sum(found.kinds.values()) if not query.text else None,
        "takes_all": query.takes_all,
        "gaps": graph_tables.source_words(states),
        "as_of": graph_tables.as_of(states),
        "legend": graph_tables.legend(found),
        "sizes": graph_tables.picture_sizes(query, total),
        "picture_words": graph_tables.picture_words(min(total, query.nodes), total),
        "picture_url": query.address(reverse("store_graph_data", args=[slug]), without=("page", "per_page", "sort")),
    }
    return render(request, page_or_fragment(request, "stores/store_graph.html", FRAGMENT), {**frame_context(frame), **content})


@require_safe
def store_graph_data(request: HttpRequest, slug: str) -> JsonResponse:
    """What the picture of a store's graph is drawn from."""
    store = find_store(signed_in(request), slug, holding="graph_entity")
    made = picture(EntityList(store, read_graph(request.GET), timezone.now()))
    return JsonResponse(graph_tables.picture_document(made, slug))


@require_safe
def entity_detail(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One entity: what is said of it, how it is connected, and what lies behind it."""
    found = entities.find_entity(signed_in(request), slug, pk)
    entity = found.entity
    told = entities.behind(entity)
    depth = steps(request)
    sayings = entities.sayings(entity, told)
    outgoing, incoming = entities.side(found, outgoing=True), entities.side(found, outgoing=False)
    state, words = graph_tables.age_state(entity.newest_ms, timezone.now())
    content = {
        "entity": entity,
        "store": entity.store,
        "type": graph_tables.type_words(entity.type),
        "told_by": graph_tables.told_words(entity),
        "age": {"state": state, "words": words},
        "told": told,
        "sayings": sayings[: entities.OBSERVATIONS_SHOWN],
        "sayings_left": max(0, len(sayings) - entities.OBSERVATIONS_SHOWN),
        "sides": [
            {"title": "Relations that begin here", "side": outgoing, "view": graph_tables.relation_table(outgoing, slug, outgoing=True)},
            {"title": "Relations that end here", "side": incoming, "view": graph_tables.relation_table(incoming, slug, outgoing=False)},
        ],
        "alike": [(graph_tables.name_link(one, slug), one) for one in entities.written_alike(entity)],
        "depth": depth,
        "depths": step_links(depth),
        "picture_url": f"{reverse('entity_data', args=[slug, pk])}?depth={depth}",
    }
    return render(request, page_or_fragment(request, "stores/entity_detail.html", PICKED), content)


@require_safe
def entity_data(request: HttpRequest, slug: str, pk: int) -> JsonResponse:
    """What the picture of an entity's neighbourhood is drawn from."""
    entity = entities.find_entity(signed_in(request), slug, pk).entity
    size = whole_number(request, "nodes", PICTURE_SIZE, PICTURE_SIZE)
    made = neighbourhood(entity, steps(request), size)
    return JsonResponse({**graph_tables.picture_document(made, slug), "centre": str(entity.pk)})


@require_safe
def relation_detail(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """One relation: what it means, and who says it."""
    relation = entities.find_relation(signed_in(request), slug, pk)
    content = {
        "relation": relation,
        "store": relation.store,
        "ends": [
            {"label": label, "link": graph_tables.name_link(end, slug), "type": graph_tables.type_words(end.type)}
            for label, end in (("From", relation.start), ("To", relation.end))
        ],
        "strength": strength_of(relation.type),
        "told_by": graph_tables.told_words(relation),
        "told": entities.behind_relation(relation),
    }
    return render(request, page_or_fragment(request, "stores/relation_detail.html", PICKED), content)
