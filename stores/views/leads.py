"""What leads look at: load and pace of the reviewers, and decisions that somebody should look at again."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from stores.accounts import require_reviewer
from stores.pager import make_pager
from stores.selectors import review_load as load
from stores.views.requests import LARGEST_ID, page_number, signed_in, whole_number

PER_PAGE = 50


@require_safe
def audit_leads(request: HttpRequest) -> HttpResponse:
    """Numbers by reviewer, each with the list of exactly what it counts."""
    user, now = require_reviewer(signed_in(request)), timezone.now()
    days = whole_number(request, "days", load.SPANS[1], load.SPANS[-1])
    days = days if days in load.SPANS else load.SPANS[1]
    reviewer = whole_number(request, "reviewer", 0, LARGEST_ID)
    show = request.GET.get("show", "")
    found = load.review_load(user, now, days)
    context: dict[str, Any] = {
        "found": found,
        "days": days,
        "spans": [{"label": f"{one} days", "url": _url(one), "state": "", "current": one == days} for one in load.SPANS],
        "pace": load.pace(found.median_s),
        "figures": [
            {"label": words, "number": found.totals[name], "url": _url(days, name), "current": name == show}
            for name, words in load.WORDS.items()
        ],
        "rows": [{"load": one, "pace": load.pace(one.median_s), "urls": _urls(days, one.reviewer_id)} for one in found.reviewers],
        "show": load.WORDS.get(show, ""),
    }
    if show in load.OF_REVIEWS:
        context |= _page(request, load.listed_reviews(user, now, days, show, reviewer), "reviews")
    elif show in (load.LOST, load.SAMPLES):
        context |= _page(request, load.lost_approvals(user, now, days) if show == load.LOST else load.samples(user), "actions")
    return render(request, "stores/audit_leads.html", context)


def _page(request: HttpRequest, found: Any, name: str) -> dict[str, Any]:
    count, page = found.count(), page_number(request)
    page = max(1, min(page, -(-count // PER_PAGE)))
    listed = list(found[(page - 1) * PER_PAGE : page * PER_PAGE])
    return {name: listed, "count": count, "pager": make_pager(request.GET, number_now=page, per_page=PER_PAGE, count=count)}


def _urls(days: int, reviewer: int | None) -> dict[str, str]:
    return {name: _url(days, name, reviewer) if reviewer is not None else "" for name in load.OF_REVIEWS}


def _url(days: int, show: str = "", reviewer: int | None = None) -> str:
    wanted = {"days": str(days), **({"show": show} if show else {}), **({"reviewer": str(reviewer)} if reviewer is not None else {})}
    return f"?{urlencode(wanted)}{'#listed' if show else ''}"
