"""The paths of a store: as a tree with one path beside it, as a picture of lanes, two of them compared, and one alone."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from stores import path_tables
from stores.addresses import list_url
from stores.formats import storable
from stores.formats.phase_memory import records
from stores.formats.phase_memory.details import value_of
from stores.htmx import page_or_fragment
from stores.lists.paths import TreeQuery, read_tree
from stores.models import MemoryPath
from stores.path_drawing import picture
from stores.phase_cells import STATES
from stores.selectors.path_compare import BranchSide, compare
from stores.selectors.path_lanes import WINDOW, WINDOWS, lanes
from stores.selectors.path_page import PathPage, path_of, path_page
from stores.selectors.record_detail import RecordPage, find_record, record_page
from stores.selectors.store_paths import HITS_SHOWN, KnownPath, PathRow, StorePaths, TreeView, brought, known_paths, unread_paths
from stores.selectors.stores import find_store
from stores.views.record_details import common
from stores.views.requests import page_number, record_id, signed_in, url_with, whole_number

CHOSEN = "path"
"""The part of the tree's page that shows one path."""


@require_safe
def store_paths(request: HttpRequest, slug: str) -> HttpResponse:
    """All paths of a store as a tree, and the chosen one."""
    store = find_store(signed_in(request), slug, "tree", holding="path")
    paths, query = known_paths(store), read_tree(request.GET)
    chosen = paths.by_pk.get(query.path)
    context: dict[str, Any] = {"store": store, "paths": paths, "home": reverse("store_paths", args=[slug])}
    if chosen is not None:
        context |= _shown(request, paths, path_page(paths, chosen, page_number(request)))
    template = page_or_fragment(request, "stores/store_paths.html", CHOSEN)
    if template == "stores/store_paths.html":
        context |= _tree(paths, query, context["home"])
    return render(request, template, context)


@require_safe
def store_path_level(request: HttpRequest, slug: str) -> HttpResponse:
    """The rows of one page of paths that branch off one; who asks for it alone gets the tree."""
    store = find_store(signed_in(request), slug, "tree", holding="path")
    paths, query = known_paths(store), read_tree(request.GET)
    under = paths.by_pk.get(record_id(request, "under"))
    home = reverse("store_paths", args=[slug])
    if request.headers.get("HX-Request") != "true" or under is None or not paths.holds(under):
        return redirect(query.changed(start=0, opened=(under.pk,) if under else ()).address(home))
    view = TreeView(paths, query)
    top = paths.by_pk.get(record_id(request, "top"))
    rows = view.level(under, query.start, top, before=request.GET.get("before") == "1")
    return render(request, "stores/_path_rows.html", {"rows": _rows(view, rows, home)})


@require_safe
def store_lanes(request: HttpRequest, slug: str) -> HttpResponse:
    """The events of a store's paths as a picture: each path a lane, with its forks and merges."""
    store = find_store(signed_in(request), slug, "tree", holding="path")
    paths = known_paths(store)
    size = whole_number(request, "rows", WINDOW, WINDOWS[-1])
    shown = lanes(paths, record_id(request, "before"), size)
    drawn = picture(shown.layout, {path.id: path.state for path in paths.by_id.values()})
    context = {
        "store": store,
        "paths": paths,
        "home": reverse("store_paths", args=[slug]),
        "lanes": shown,
        "picture": drawn,
        "drawing": path_tables.picture_of(drawn),
        "view": path_tables.lane_table(shown.rows),
        "sizes": [{"label": f"{one:,}", "url": url_with(request, rows=str(one)), "state": "", "current": one == size} for one in WINDOWS],
        "older_url": url_with(request, before=str(shown.before)) if shown.before else "",
        "newer_url": url_with(request, before=str(shown.newer or "")) if shown.newer >= 0 else "",
    }
    return render(request, "stores/store_lanes.html", context)


@require_safe
def path_compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two paths beside each other, from where they parted."""
    store = find_store(signed_in(request), slug, "tree", holding="path")
    paths = known_paths(store)
    pair = [paths.by_pk.get(record_id(request, name)) for name in ("left", "right")]
    left, right = (one if one is not None and paths.holds(one) else None for one in pair)
    if left is None or right is None:
        first = left or right
        return redirect(
            TreeQuery(path=first.pk if first else 0, second=first.pk if first else 0).address(reverse("store_paths", args=[slug]))
        )
    found = compare(paths, left, right)
    context = {
        "store": store,
        "paths": paths,
        "home": reverse("store_paths", args=[slug]),
        "found": found,
        "common": path_tables.path_link(found.common) if found.common else "",
        "sides": [_side(paths, side) for side in (found.left, found.right)],
        "swap_url": f"?left={right.pk}&right={left.pk}",
    }
    return render(request, "stores/path_compare.html", context)


@require_safe
def path_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One path: its events in their order, what came up on it, and its file."""
    record = find_record(signed_in(request), MemoryPath, pk, "store__tree")
    paths = known_paths(record.store)
    whole = record_page(record)
    page = path_page(paths, path_of(paths, record), page_number(request), _event_ids(whole))
    context = {
        **common(request, whole),
        **_shown(request, paths, page),
        "home": reverse("store_paths", args=[record.store.slug]),
    }
    return render(request, "stores/path_detail.html", context)


def _event_ids(whole: RecordPage) -> list[str] | None:
    """Give the events that a path's own bytes list; None where the mirror does not hold all of them."""
    if len(whole.raw) < whole.record.length:
        return None
    return [storable.name(one) for one in records.path(value_of("path", whole.raw)).event_ids]


def _tree(paths: StorePaths, query: TreeQuery, home: str) -> dict[str, Any]:
    """Give what the tree itself shows."""
    view = TreeView(paths, query)
    rows, loose = view.rows, view.loose_rows
    on_them = brought(paths.store, [row.path.id for row in (*rows, *loose) if row.path is not None and row.path.id])
    return {
        "query": query,
        "rows": path_tables.tree_rows(view, rows, on_them, home),
        "loose": path_tables.tree_rows(view, loose, on_them, home),
        "hits": len(view.hits),
        "hits_shown": min(len(view.hits), HITS_SHOWN),
        "above": len(paths.line(view.chosen)) - len(paths.line(view.anchor)) if view.chosen and view.anchor else 0,
        "anchor_levels": len(paths.line(view.anchor)) - 1 if view.anchor else 0,
        "segments": path_tables.state_segments(query, paths.states(), paths.total, home),
        "unread": unread_paths(paths.store),
        "second": paths.by_pk.get(query.second),
        "compare_url": query.changed(second=query.path, path=query.path).address(home) if view.chosen else "",
        "stop_url": query.changed(second=0).address(home),
        "whole_url": query.changed(path=0).address(home),
    }


def _rows(view: TreeView, rows: list[PathRow], home: str) -> list[path_tables.TreeRow]:
    on_them = brought(view.paths.store, [row.path.id for row in rows if row.path is not None])
    return path_tables.tree_rows(view, rows, on_them, home)


def _shown(request: HttpRequest, paths: StorePaths, page: PathPage) -> dict[str, Any]:
    """Give what one path shows of itself."""
    path, slug = page.path, paths.store.slug
    words, state = path_tables.became(paths, path)
    return {
        "shown": page,
        "crumbs": path_tables.crumbs(page.line),
        "became": words,
        "became_state": state or STATES.get(path.state, "unmeasured"),
        "target": path_tables.path_link(page.target) if page.target else "",
        "summary": path_tables.node_link(page.summary) if page.summary else "",
        "decisions": path_tables.node_links(page.decisions),
        "nodes": path_tables.node_links(page.nodes),
        "events": path_tables.event_lines(page.events, path.id),
        "branches": path_tables.path_links(paths, page.children[:50]),
        "branches_left": max(0, len(page.children) - 50),
        "merged_here": path_tables.path_links(paths, page.merged_here[:50], told=False),
        "merged_left": max(0, len(page.merged_here) - 50),
        "nodes_url": list_url("node_list", store=slug, path_id=path.id),
        "earlier_url": url_with(request, page=str(page.page - 1) if page.page > 2 else "") if page.page > 1 else "",
        "later_url": url_with(request, page=str(page.page + 1)) if page.page < page.pages else "",
        "compare_with": _compare_with(page, slug),
    }


def _compare_with(page: PathPage, slug: str) -> list[dict[str, object]]:
    """Give the paths with which one is most likely to be compared."""
    near: list[tuple[str, KnownPath | None]] = [
        ("what it branched off", page.line[-2] if len(page.line) > 1 else None),
        ("what it was merged into", page.target),
        ("the fork before it", page.previous),
        ("the fork after it", page.next),
    ]
    address = reverse("path_compare", args=[slug])
    return [{"text": words, "url": f"{address}?left={page.path.pk}&right={other.pk}"} for words, other in near if other is not None]


def _side(paths: StorePaths, side: BranchSide) -> dict[str, Any]:
    return {
        "side": side,
        "title": path_tables.path_link(side.path),
        "way": path_tables.path_links(paths, side.way[-20:]),
        "way_left": max(0, len(side.way) - 20),
        "events": path_tables.event_lines(side.events),
        "events_left": side.event_count - len(side.events),
        "nodes": path_tables.node_links(side.nodes),
    }
