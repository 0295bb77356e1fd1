"""What holds for every request: private answers, sign-in first, errors as pages (promises D3, D4; rulings 8 and 20)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import url_has_allowed_host_and_scheme

from stores import context, sessions
from stores.accounts import roles
from stores.errors import MemoryUIError
from stores.views import problems

log = logging.getLogger(__name__)

POLLED = frozenset({"status_strip", "task_detail", "review_newer", "action_now", "action_look"})
"""Asked for by pages, not by people: these keep no session alive."""
WITHOUT_ROLE = frozenset({"account", "sign_out", "set_theme", "set_keys", "account_name", "account_password"})
"""What an account that has no role yet may use."""
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in (
        "accelerometer",
        "camera",
        "display-capture",
        "geolocation",
        "gyroscope",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "usb",
    )
)

GetResponse = Callable[[HttpRequest], HttpResponseBase]


class PrivateResponseMiddleware:
    """Sets the headers that keep an answer with the person who asked; also on errors, as it stands outside of what makes them."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, with headers."""
        response = self.get_response(request)
        response["X-Frame-Options"] = "DENY"
        response["Permissions-Policy"] = PERMISSIONS
        response["Cross-Origin-Resource-Policy"] = "same-origin"
        if not (request.path_info.startswith(settings.STATIC_URL) and response.status_code in (200, 206, 304)):
            response["Cache-Control"] = "no-store"
            patch_vary_headers(response, ["HX-Request"])
        return response


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Lets nobody in who is not signed in and has no role, but where a view says `login_not_required` or the API looks itself."""

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], view_args: tuple[Any, ...], view_kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Send strangers to the sign-in page; note that the session is used."""
        match = request.resolver_match
        if not getattr(view_func, "login_required", True) or (match is not None and "api" in match.namespaces):
            return None
        if not request.user.is_authenticated:
            return self._to_sign_in(request)
        name = match.url_name if match is not None else None
        if name not in POLLED:
            sessions.note_use(request)
        held = roles(request.user)
        context.remember_roles(request, held)
        if name not in WITHOUT_ROLE and not held:
            return problems.answer(request, problems.NO_ROLE)
        return None

    def _to_sign_in(self, request: HttpRequest) -> HttpResponse:
        if request.headers.get("HX-Request") != "true":
            return redirect(_sign_in_url(request.get_full_path()))
        shown = urlsplit(request.headers.get("HX-Current-URL", ""))
        return HttpResponse(status=204, headers={"HX-Redirect": _sign_in_url(shown._replace(scheme="", netloc="", fragment="").geturl())})


class ProblemMiddleware:
    """Turns typed errors, and a database that is away, into the answer that tells of them."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer; an address with U+0000 in it names nothing, and PostgreSQL would not even be asked about it."""
        return problems.answer(request, problems.BAD_REQUEST) if "\0" in request.path_info else self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Give the problem page of an exception that a view raised; None where it is a bug."""
        if isinstance(exception, MemoryUIError):
            return problems.answer(request, problems.from_error(exception))
        if isinstance(exception, OperationalError | InterfaceError):
            log.error("The database gave no answer: %s", exception)
            return problems.answer(request, problems.DATABASE_AWAY)
        return None


def _sign_in_url(then: str) -> str:
    url = reverse("sign_in")
    if then in ("", "/") or not then.startswith("/") or not url_has_allowed_host_and_scheme(then, allowed_hosts=None):
        return url
    return f"{url}?{urlencode({'next': then})}"
