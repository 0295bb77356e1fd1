"""A real Chromium, a live server on a real store, and a page that forgives no error on its console."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from stores.models import Store, User
from tests.factories import make_user
from tests.scenes import make_scene

PASSWORD = "correct horse battery"
WAIT_MS = 60_000
"""Only what fails waits so long."""
QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-quic", "--no-first-run"]

OpenPage = Callable[..., Page]
LOOKS = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))
"""Widths and themes in which a page must be right."""


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Give one Chromium for all tests of this process."""
    # Playwright's sync API keeps an event loop in this thread, for which Django would refuse every query.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    arguments = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else QUIET
    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium_path, args=arguments)
        yield started
        started.close()
    os.environ.pop("DJANGO_ALLOW_ASYNC_UNSAFE", None)


@pytest.fixture
def degraded_store(transactional_db: None, tmp_path: Path) -> Store:
    """Give an imported store with corrupt lines, and an account `ines` that may do everything with it."""
    store = make_scene(tmp_path, "redis").store
    ines = make_user("ines", groups=["viewer", "reviewer", "operator"])
    ines.set_password(PASSWORD)
    ines.save()
    return store


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer) -> Iterator[OpenPage]:
    """Give a function that opens a page; at the end no console error, failed request or script error may have been seen.

    A page that is `signed_in` has a session of `ines`, made without the form, which the tests of the main way go through.
    """
    contexts: list[BrowserContext] = []
    errors: list[str] = []

    def open_one(*, width: int = 1280, theme: str = "light", scripts: bool = True, status: int = 200, signed_in: bool = False) -> Page:
        context = browser.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": 900},
            color_scheme="dark" if theme == "dark" else "light",
            java_script_enabled=scripts,
        )
        context.set_default_timeout(WAIT_MS)
        contexts.append(context)
        if signed_in:
            context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session_of_ines(), "url": live_server.url}])
        page = context.new_page()
        # Chromium itself reports a page that is answered with an error, also where that is what the test asks for.
        expected = f"the server responded with a status of {status} "
        page.on(
            "console", lambda message: errors.append(message.text) if message.type == "error" and expected not in message.text else None
        )
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("requestfailed", lambda request: errors.append(f"{request.url}: {request.failure}"))
        return page

    yield open_one
    for context in contexts:
        context.close()
    # A poll that is under way when a page is left is cut off; that is no failure.
    assert [error for error in errors if "ERR_ABORTED" not in error] == []


def session_of_ines() -> str:
    """Give the key of a new session of `ines`."""
    client = Client()
    client.force_login(User.objects.get(username="ines"))
    return client.cookies[settings.SESSION_COOKIE_NAME].value


def look_as(page: Page, width: int, theme: str) -> None:
    """Give an open page another width and theme; it is loaded in them when it is gone to again."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")


def sign_in(page: Page) -> None:
    """Sign `ines` in and wait for the overview."""
    page.goto("/")
    page.get_by_label("User name").fill("ines")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("nav a[href='/decisions/']").first).to_be_attached()
