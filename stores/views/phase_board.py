"""The phases of a store's memory: how many nodes are where, what moved, and what the rules will move next."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores import memory_words, phase_tables
from stores.addresses import list_url
from stores.memory_words import title_of
from stores.record_parts.profiles import due_table
from stores.selectors.phase_board import board, moved
from stores.selectors.store_page import store_frame
from stores.views.requests import record_id, url_with
from stores.views.stores import render_tab


@require_safe
def store_phases(request: HttpRequest, slug: str) -> HttpResponse:
    """Nodes by phase and state, what events did to them in the last weeks, and what one profile's rules would move."""
    now = timezone.now()
    frame = store_frame(request.user, slug, "phases", now)
    found = board(frame.store, record_id(request, "profile"), now)
    profile = found.profile
    content = {
        "board": found,
        "view": phase_tables.board_table(frame.store, found),
        "moved": moved(frame.store, now),
        "due": due_table(profile, found.due) if profile and found.due else None,
        "profile_link": profile and {"url": profile.get_absolute_url(), "title": title_of(profile.title)},
        "profiles": [
            {"label": memory_words.plain(one.title), "url": url_with(request, profile=str(one.pk)), "current": one == profile}
            for one in found.profiles
        ]
        if len(found.profiles) > 1
        else [],
        "unreviewed": [phase_tables.node_row(node) for node in found.unreviewed],
        "unreviewed_url": list_url("node_list", store=slug, review="never"),
    }
    return render_tab(request, "stores/store_phases.html", frame, content)
