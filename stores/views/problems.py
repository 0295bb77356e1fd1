"""What is shown when something could not be done: one text as page, as fragment and as JSON."""

from __future__ import annotations

import sys
from typing import NamedTuple

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.csrf import requires_csrf_token

from stores import context, errors

API_PREFIX = "/api/"


class Link(NamedTuple):
    """Where to go from here."""

    text: str
    url: str


class Problem(NamedTuple):
    """What happened, what was not done, what to do; `state` gives the shape and the colour."""

    status: int
    title: str
    happened: str
    not_done: str = ""
    to_do: str = ""
    state: str = "failing"
    links: tuple[Link, ...] = (Link("Go to the overview", "/"),)


BAD_REQUEST = Problem(
    400,
    "This request cannot be understood",
    "Something in the address or in the form is not what this page takes, or another host name was asked for.",
    "Nothing was changed.",
    "Go back and follow a link instead of an edited address.",
)
FORBIDDEN = Problem(
    403,
    "You may not see or do this",
    "Your account lacks the role or the group that this needs.",
    "Nothing was changed.",
    "Whoever runs this memoryui can give you the role or the group.",
    "muted",
)
FORM_EXPIRED = Problem(
    403,
    "The form has expired",
    "Its token does not belong to your present session, as after a new sign-in, or it was sent from another site.",
    "Nothing was changed.",
    "Load the page again and send the form once more.",
    "muted",
)
NOT_FOUND = Problem(
    404,
    "There is nothing at this address",
    "The record may be gone from disk, the store removed, or it is not visible to you.",
    "Nothing was changed.",
    "Search for it, or begin at the overview.",
    "superseded",
)
FAILED = Problem(
    500,
    "memoryui made a mistake",
    "This page could not be built.",
    "Nothing was written to a store: the web never touches one.",
    "Try again. If it stays so, whoever runs this memoryui finds the cause in the log of the web process.",
)
DATABASE_AWAY = Problem(
    503,
    "The database cannot be reached",
    "memoryui keeps all that it shows in its database, and that gave no answer in time.",
    "Nothing was changed.",
    "Try again in a moment. If it stays so, whoever runs this memoryui finds the cause in the log of the web process.",
    "unavailable",
)
NO_ROLE = Problem(
    403,
    "Your account has no role yet",
    "You are signed in, but no role was given to this account, so it may see no store.",
    to_do="Whoever runs this memoryui can give you the role viewer, reviewer or operator.",
    state="muted",
    links=(Link("Go to your account", "/account/"),),
)
STATES = {403: "muted", 404: "superseded", 409: "stale", 503: "unavailable"}
TEMPLATE = "problem.html"
FRAGMENT = "_problem.html"


def answer(request: HttpRequest, problem: Problem) -> HttpResponse:
    """Answer with a problem in the form in which the request can show it.

    Under /api/ that is a JSON problem object (RFC 9457), for htmx the part with the id `problem`, else a page. It is a page
    without navigation where nobody is signed in, or where the database may be what failed.
    """
    if request.path_info.startswith(API_PREFIX):
        return as_json(problem)
    bare = problem.status >= 500 or not _signed_in(request)
    from_htmx = request.headers.get("HX-Request") == "true" and request.headers.get("HX-History-Restore-Request") != "true"
    shown: dict[str, object] = {"problem": problem}
    if bare:
        shown["page"] = {"theme": context.theme(request)}
    response = render(None if bare else request, FRAGMENT if from_htmx else TEMPLATE, shown, status=problem.status)
    if from_htmx:
        response["HX-Push-Url"] = "false"
    return response


def as_json(problem: Problem) -> HttpResponse:
    """Give the JSON problem object of a problem."""
    detail = " ".join(part for part in (problem.happened, problem.not_done, problem.to_do) if part)
    body = {"type": "about:blank", "status": problem.status, "title": problem.title, "detail": detail}
    return JsonResponse(body, status=problem.status, content_type="application/problem+json")


def from_error(error: errors.MemoryUIError) -> Problem:
    """Give the problem that a typed error tells of; its message says what happened and what to do."""
    return Problem(error.status, error.title, str(error), state=STATES.get(error.status, "failing"))


def _signed_in(request: HttpRequest) -> bool:
    user = getattr(request, "user", None)
    return bool(user is not None and user.is_authenticated)


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400."""
    return answer(request, BAD_REQUEST)


@requires_csrf_token
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 403."""
    return answer(request, FORBIDDEN)


@requires_csrf_token
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404."""
    return answer(request, NOT_FOUND)


@requires_csrf_token
def failed(request: HttpRequest) -> HttpResponse:
    """Answer 500, or 503 where the database is away, without asking it anything.

    The session is loaded before any view: what fails there reaches no other place than this.
    """
    return answer(request, DATABASE_AWAY if isinstance(sys.exc_info()[1], OperationalError | InterfaceError) else FAILED)


@requires_csrf_token
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer 403 to a form that does not come from a page of ours."""
    return answer(request, FORM_EXPIRED)
