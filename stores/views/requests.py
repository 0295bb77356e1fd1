"""What views read from a request's address."""

from __future__ import annotations

from django.http import HttpRequest

from stores.errors import NotAllowed
from stores.models import User

PAGES_AT_MOST = 10_000
LARGEST_ID = 1_000_000_000_000_000_000
STEPS = ("One step", "Two steps")


def signed_in(request: HttpRequest) -> User:
    """Give the account that asks; NotAllowed where nobody is signed in."""
    if not isinstance(request.user, User):
        raise NotAllowed("Sign in first.")
    return request.user


def page_number(request: HttpRequest) -> int:
    """Give the page that is asked for, from 1; 1 for whatever is no such number."""
    return whole_number(request, "page", 1, PAGES_AT_MOST)


def record_id(request: HttpRequest, name: str) -> int:
    """Give the primary key that the query names; 0, which no record has, for whatever is none."""
    return whole_number(request, name, 0, LARGEST_ID)


def steps(request: HttpRequest) -> int:
    """Give how many steps around its middle a picture is to show: one or two."""
    return whole_number(request, "depth", 1, len(STEPS))


def step_links(chosen: int) -> list[dict[str, object]]:
    """Give the choice of steps as segments."""
    return [{"label": label, "url": f"?depth={number}", "state": "", "current": number == chosen} for number, label in enumerate(STEPS, 1)]


def whole_number(request: HttpRequest, name: str, default: int, at_most: int) -> int:
    """Give a positive whole number of the query, `default` for whatever is none."""
    text = request.GET.get(name, "")
    if not (text.isascii() and text.isdecimal() and len(text) < 19):
        return default
    number = int(text)
    return number if 1 <= number <= at_most else default


def url_with(request: HttpRequest, **changes: str) -> str:
    """Give the query of this page with some values changed; "" takes one out."""
    query = request.GET.copy()
    for name, value in changes.items():
        if value:
            query[name] = value
        else:
            query.pop(name, None)
    return f"?{query.urlencode()}"
