"""Search over all memory."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from stores import display, memory_words
from stores.htmx import page_or_fragment
from stores.selectors.searching import SHOWN, Search
from stores.views.requests import signed_in


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Find records of every type by their words or their id; each type leads to its list with the same words."""
    found = Search(signed_in(request), request.GET.get("q", ""))
    sections = [
        {
            "spec": section.spec,
            "rows": [{"hit": hit, "title": memory_words.title_of(hit.title, found.terms)} for hit in section.hits],
            "number": f"more than {display.number(section.number)}" if section.more else display.number(section.number),
            "url": section.url if section.more or section.number > len(section.hits) else "",
        }
        for section in found.sections
        if section.hits
    ]
    shown = {"text": found.text, "terms": found.terms, "sections": sections, "stores": len(found.stores), "at_most": SHOWN}
    return render(request, page_or_fragment(request, "stores/search.html", "list"), shown)
