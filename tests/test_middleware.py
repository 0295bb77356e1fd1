"""What holds for every answer: headers, sign-in first, errors as pages (promises D3-D5, threats W4-W6, W10)."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import include, path

from stores import errors
from tests.factories import make_store, make_user

pytestmark = pytest.mark.django_db

CSP = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
    "object-src": "'none'",
}


class Broken(errors.MemoryUIError):
    """Of no special status."""


def fail(request: HttpRequest, how: str) -> HttpResponse:
    """Raise what the path names."""
    raise {
        "bug": RuntimeError("a secret of the code"),
        "database": OperationalError("could not connect to host db-7"),
        "conflict": errors.Conflict("The line is not what it was. Load the page again."),
        "own": Broken("This is broken."),
        "unreadable": errors.StoreUnreadable("The folder cannot be opened."),
    }[how]


urlpatterns = [path("fail/<str:how>/", fail), path("api/v1/fail/<str:how>/", fail), path("", include("memoryui.urls"))]
handler400 = "stores.views.problems.bad_request"
handler403 = "stores.views.problems.forbidden"
handler404 = "stores.views.problems.not_found"
handler500 = "stores.views.problems.failed"
with_failing_views = pytest.mark.urls("tests.test_middleware")


@pytest.fixture
def signed_in() -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(make_user("ines"))
    return client


def policy_of(response: Any) -> dict[str, str]:
    parts = (part.strip().partition(" ") for part in response.headers["Content-Security-Policy"].split(";"))
    return {name: value for name, _, value in parts}


def check_headers(response: Any, status: int) -> None:
    assert response.status_code == status
    assert policy_of(response) == CSP
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert response.headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert response.headers["X-Frame-Options"] == "DENY"
    assert "camera=()" in response.headers["Permissions-Policy"]


# Headers


@with_failing_views
@pytest.mark.parametrize(
    ("where", "status"),
    [
        ("/account/", 200),
        ("/sign-in/", 302),
        ("/admin/login/", 403),
        ("/no-such-page/", 404),
        ("/sign-out/", 405),
        ("/fail/conflict/", 409),
        ("/fail/bug/", 500),
        ("/fail/database/", 503),
        ("/healthz", 200),
        ("/metrics", 200),
        ("/api/v1/stores/", 200),
        ("/api/v1/stores/none/", 404),
        ("/api/v1/fail/bug/", 500),
    ],
)
def test_every_answer_has_the_policy_and_is_not_kept(signed_in: Client, where: str, status: int) -> None:
    response = signed_in.get(where)
    check_headers(response, status)
    assert response.headers["Cache-Control"] == "no-store"
    assert "HX-Request" in response.headers["Vary"]


def test_answers_to_strangers_have_the_policy_too() -> None:
    client = Client(enforce_csrf_checks=True)
    check_headers(client.get("/sign-in/"), 200)
    check_headers(client.get("/account/"), 302)
    check_headers(client.post("/sign-in/", {"username": "a", "password": "b"}), 403)
    check_headers(client.get("/api/v1/stores/"), 401)
    check_headers(client.get("/", headers={"Host": "evil.example"}), 400)


def test_static_files_have_the_policy_and_may_be_kept() -> None:
    response = Client().get("/static/memoryui/app.css")
    check_headers(response, 200)
    assert "no-store" not in response.headers.get("Cache-Control", "")
    response.close()
    missing = Client().get("/static/none.css")
    check_headers(missing, 404)
    assert missing.headers["Cache-Control"] == "no-store"


def test_cookies_are_kept_from_scripts_and_other_sites() -> None:
    client = Client()
    client.get("/sign-in/")
    make_user("ines", password="correct horse battery staple")
    client.post("/sign-in/", {"username": "ines", "password": "correct horse battery staple"})
    for name in (settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME):
        assert client.cookies[name]["httponly"]
        assert client.cookies[name]["samesite"] == "Lax"


# Who may ask, and from where


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "localhost@evil.example"])
def test_another_host_name_is_refused(host: str) -> None:
    assert Client().get("/sign-in/", headers={"Host": host}).status_code == 400


def test_a_forwarded_host_is_not_believed() -> None:
    response = Client().get("/account/", headers={"X-Forwarded-Host": "evil.example"})
    assert "evil" not in response.headers["Location"]


def test_a_stranger_is_sent_to_sign_in_and_back() -> None:
    response = Client().get("/audit/?event=signed_in&page=2")
    assert (response.status_code, response.headers["Location"]) == (
        302,
        f"/sign-in/?next={quote('/audit/?event=signed_in&page=2', safe='')}",
    )


def test_htmx_of_an_ended_session_is_sent_to_sign_in_by_the_page_it_stands_on() -> None:
    response = Client().get("/status/", headers={"HX-Request": "true", "HX-Current-URL": "http://testserver/audit/?page=2#event-3"})
    assert (response.status_code, response.content) == (204, b"")
    assert response.headers["HX-Redirect"] == f"/sign-in/?next={quote('/audit/?page=2', safe='')}"


@pytest.mark.parametrize(
    "shown", ["http://evil.example//evil.example/", "javascript:alert(1)", "http://testserver/\\evil.example", "//evil.example", "", "\x00"]
)
def test_the_page_that_htmx_names_leads_off_this_site_never(shown: str) -> None:
    response = Client().get("/status/", headers={"HX-Request": "true", "HX-Current-URL": shown})
    assert response.headers["HX-Redirect"].split("?next=")[0] == "/sign-in/"
    assert "evil" not in response.headers["HX-Redirect"] or "%5C" not in response.headers["HX-Redirect"]


def test_an_account_without_role_is_told_so_and_reaches_its_own_page_only() -> None:
    client = Client()
    client.force_login(make_user(groups=[]))
    make_store("shop-api")
    response = client.get("/audit/")
    assert response.status_code == 403
    assert "Your account has no role yet" in response.content.decode()
    assert "shop-api" not in response.content.decode()
    assert client.get("/account/").status_code == 200
    assert client.post("/sign-out/").status_code == 302


def test_a_form_without_token_changes_nothing(signed_in: Client) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = signed_in.cookies
    response = strict.post("/account/name/", {"first_name": "Eve", "last_name": ""})
    assert response.status_code == 403
    assert "The form has expired" in response.content.decode()
    assert strict.post("/account/name/", "first_name=Eve", content_type="text/plain").status_code == 403


# Errors


@with_failing_views
@pytest.mark.parametrize(("how", "status"), [("conflict", 409), ("own", 500), ("unreadable", 503), ("bug", 500), ("database", 503)])
def test_an_error_is_the_same_text_as_page_as_fragment_and_as_json(signed_in: Client, how: str, status: int) -> None:
    page = signed_in.get(f"/fail/{how}/")
    fragment = signed_in.get(f"/fail/{how}/", headers={"HX-Request": "true"})
    document = signed_in.get(f"/api/v1/fail/{how}/")
    assert {page.status_code, fragment.status_code, document.status_code} == {status}
    problem = document.json()
    assert document.headers["Content-Type"] == "application/problem+json"
    assert (problem["status"], problem["type"]) == (status, "about:blank")
    assert problem["title"] in page.content.decode()
    assert fragment.content.decode().strip() in page.content.decode()
    assert 'id="problem"' in fragment.content.decode()
    assert "<html" in page.content.decode()
    assert "<html" not in fragment.content.decode()
    for answer in (page, fragment, document):
        assert "secret of the code" not in answer.content.decode()
        assert "db-7" not in answer.content.decode()


@with_failing_views
def test_a_history_restore_gets_the_whole_page(signed_in: Client) -> None:
    response = signed_in.get("/fail/conflict/", headers={"HX-Request": "true", "HX-History-Restore-Request": "true"})
    assert "<html" in response.content.decode()


@with_failing_views
def test_the_page_of_a_bug_asks_the_database_nothing(signed_in: Client, django_assert_max_num_queries: Any) -> None:
    with django_assert_max_num_queries(3):  # session, account, role: asked before the view
        assert signed_in.get("/fail/bug/").status_code == 500


@with_failing_views
def test_a_page_that_is_not_there_says_so_with_the_frame_around_it(signed_in: Client) -> None:
    page = signed_in.get("/no-such-page/").content.decode()
    assert "There is nothing at this address" in page
    assert 'class="rail"' in page
    assert 'class="rail"' not in Client().get("/no-such-page/").content.decode()
    assert signed_in.get("/api/v1/nothing/").json()["title"] == "There is nothing at this address"


def test_every_typed_error_has_a_status_and_a_title() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, errors.MemoryUIError)]
    assert len(kinds) > 8
    for kind in kinds:
        assert 400 <= kind.status <= 599
        assert kind.title and kind.title[0].isupper() and not kind.title.endswith(".")


class Inline(HTMLParser):
    """Collects what a strict policy would block."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._script = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        self.found += [f"{tag} {name}" for name in names if name == "style" or name.startswith(("on", "hx-on"))]
        self._script = tag == "script" and names.get("type") in (None, "", "module", "text/javascript")
        if tag == "style":
            self.found.append("style element")
        if tag == "body" and "hx-headers" in names:
            self.found.append("body hx-headers")

    def handle_data(self, data: str) -> None:
        if self._script and data.strip():
            self.found.append("script body")

    def handle_endtag(self, tag: str) -> None:
        self._script = False


@pytest.mark.parametrize("where", ["/account/", "/audit/", "/no-such-page/", "/api/v1/docs"])
def test_no_page_has_inline_script_or_style(signed_in: Client, where: str) -> None:
    inline = Inline()
    inline.feed(signed_in.get(where).content.decode())
    assert inline.found == []


# Theme


def test_the_theme_is_kept_in_a_cookie_and_read_by_the_server(signed_in: Client) -> None:
    response = signed_in.post("/theme/", {"theme": "dark", "next": "/audit/?page=1"})
    assert (response.status_code, response.headers["Location"]) == (302, "/audit/?page=1")
    assert 'data-theme="dark"' in signed_in.get("/account/").content.decode()
    signed_in.cookies["theme"] = '"><script>'
    assert 'data-theme="auto"' in signed_in.get("/account/").content.decode()


def test_the_theme_leads_back_to_this_site_only(signed_in: Client) -> None:
    for target in ("//evil.example", "https://evil.example", "\\\\evil", ""):
        assert signed_in.post("/theme/", {"theme": "light", "next": target}).headers["Location"] == "/"
    assert signed_in.post("/theme/", {"theme": "red"}).status_code == 400


@override_settings(ALLOWED_HOSTS=["memory.example"])
def test_only_named_hosts_are_answered() -> None:
    assert Client().get("/healthz", headers={"Host": "memory.example"}).status_code == 200
    assert Client().get("/healthz", headers={"Host": "127.0.0.1"}).status_code == 400
