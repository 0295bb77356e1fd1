"""The list of stores, and the tabs of a store's page that show what it holds."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from stores import display, markup
from stores.accounts import require_operator
from stores.formats.visible import one_line
from stores.lifecycle.vocabulary import VERBS
from stores.models import Store
from stores.pager import make_pager
from stores.selectors import stores as store_facts
from stores.selectors.backlog import backlog
from stores.selectors.changes import PER_PAGE, changes_of
from stores.selectors.generations import generations
from stores.selectors.overview import NEEDS
from stores.selectors.store_list import VERDICTS, store_list_page
from stores.selectors.store_page import FILES_A_PAGE, StoreFrame, file_rows, record_sections, store_frame
from stores.selectors.tasks import task_view
from stores.store_tables import ChangeTable, FileTable
from stores.tasks.asking import ask_for_import
from stores.views.requests import page_number, url_with


@require_safe
def store_list(request: HttpRequest) -> HttpResponse:
    """All visible stores, worst first, by verdict or by what waits in them."""
    now = timezone.now()
    verdict = request.GET.get("verdict", "") if request.GET.get("verdict") in VERDICTS else ""
    need = request.GET.get("needs", "") if request.GET.get("needs") in NEEDS else ""
    found = store_list_page(request.user, now, verdict=verdict, need=need, page=page_number(request))
    segments = [
        {
            "label": f"{word.capitalize()} {number:,}",
            "state": word if word != "all" else "",
            "url": url_with(request, verdict="" if word == "all" else word, page=""),
            "current": word == (verdict or "all"),
        }
        for word, number in found.counts.items()
    ]
    pager = make_pager(request.GET, number_now=found.page, per_page=found.per_page, count=found.matching)
    context = {"found": found, "segments": segments, "pager": pager, "need": found.need_words, "clear_url": reverse("store_list")}
    return render(request, "stores/store_list.html", context)


@require_safe
def store_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Records: how many of each type, the newest of each, and the way into the lists."""
    frame = store_frame(request.user, slug, "records", timezone.now())
    sections = record_sections(frame)
    evidence = generations(frame.store, frame.line_files) if frame.is_measured else ()
    return render_tab(request, "stores/store_records.html", frame, {"sections": sections, "evidence": evidence})


@require_safe
def store_backlog(request: HttpRequest, slug: str) -> HttpResponse:
    """The queue of the store: how deep, how old, what waits in it."""
    now = timezone.now()
    frame = store_frame(request.user, slug, "backlog", now)
    return render_tab(request, "stores/store_backlog.html", frame, {"backlog": backlog(frame, now)})


@require_safe
def store_changes(request: HttpRequest, slug: str) -> HttpResponse:
    """What each import found changed."""
    frame = store_frame(request.user, slug, "changes", timezone.now())
    page = page_number(request)
    rows, more = changes_of(frame.store, page)
    return render_tab(
        request,
        "stores/store_changes.html",
        frame,
        {"table": ChangeTable(rows), "rows": rows, "pager": _open_pager(request, page, PER_PAGE, rows, more)},
    )


@require_safe
def store_files(request: HttpRequest, slug: str) -> HttpResponse:
    """Every file of the store and how it was read."""
    frame = store_frame(request.user, slug, "files", timezone.now())
    page = page_number(request)
    rows, more = file_rows(frame.store, page)
    return render_tab(
        request,
        "stores/store_files.html",
        frame,
        {"table": FileTable(rows), "rows": rows, "pager": _open_pager(request, page, FILES_A_PAGE, rows, more)},
    )


@require_POST
def store_import(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask the store's worker for an import now."""
    user = require_operator(request.user)
    store = store_facts.find_store(user, slug)
    ask_for_import(store, by=user, full=request.POST.get("full") == "on")
    return redirect(store)


def render_tab(request: HttpRequest, template: str, frame: StoreFrame, content: dict[str, Any], status: int = 200) -> HttpResponse:
    """Show one tab of a store's page in its frame."""
    return render(request, template, {**frame_context(frame), **content}, status=status)


def frame_context(frame: StoreFrame) -> dict[str, Any]:
    """Give what `stores/_store_frame.html` shows."""
    store: Store = frame.store
    now = timezone.now()
    size = f"{display.size(store.size_bytes)} in {store.file_count:,} file{'' if store.file_count == 1 else 's'}"
    facts = [
        {"label": "Kind", "value": frame.kind},
        {"label": "Place", "value": markup.memory_text(f"{store.worker.label}:{store.path}"), "mono": True},
        {"label": "Newest change", "value": markup.ago(store.changed_at)},
        {"label": "Size", "value": size if frame.is_measured else display.NOT_KNOWN},
        {"label": "Compared with the disk", "value": frame.freshness.text},
    ]
    if store.given_path != store.path:
        facts.insert(2, {"label": "Reached as", "value": markup.memory_text(store.given_path), "mono": True})
    return {
        "frame": frame,
        "store": store,
        "verdict": frame.band,
        "head_facts": facts,
        "tabs": frame.tabs,
        "tabs_label": f"Parts of {one_line(store.name)}",
        "asked_import": task_view(frame.open_import, now) if frame.open_import else None,
        "may_plan": store.kind in VERBS,
    }


def _open_pager(request: HttpRequest, page: int, per_page: int, rows: list[Any], more: bool) -> object:
    """Give the pager of a list that nobody counted to its end."""
    before = (page - 1) * per_page
    return make_pager(request.GET, number_now=page, per_page=per_page, count=before + len(rows), capped=more)
