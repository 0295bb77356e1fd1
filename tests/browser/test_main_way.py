"""The main way through: sign in, overview, degraded store, corrupt line, decision; by pointer, by keyboard, without scripts."""

from __future__ import annotations

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from stores.models import Store
from tests.browser.conftest import PASSWORD, OpenPage, look_as, sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def assert_accessible(page: Page) -> None:
    """Assert that axe finds nothing and that nothing is cut off sideways."""
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_from_sign_in_to_a_decision(degraded_store: Store, open_page: OpenPage, theme: str, width: int) -> None:
    page = open_page(width=width, theme=theme)
    page.goto("/")
    assert_accessible(page)
    sign_in(page)
    expect(page.get_by_role("heading", level=1)).to_contain_text("degraded")
    assert_accessible(page)
    page.get_by_role("main").get_by_role("link", name=degraded_store.name, exact=True).first.click()
    page.wait_for_url(f"**/stores/{degraded_store.slug}/")
    assert_accessible(page)
    page.get_by_role("link", name=re.compile("^Faults")).click()
    fault = page.get_by_role("main").get_by_role("link", name=re.compile("glued")).first
    fault.click()
    expect(page.locator(".bytes").first).to_be_visible()
    expect(page.locator(".bytes").first).to_contain_text("a line break is missing")
    assert_accessible(page)
    page.goto("/decisions/")
    assert_accessible(page)
    page.get_by_role("main").get_by_role("link", name=re.compile("use redis for part")).first.click()
    page.wait_for_url(re.compile(r"/decisions/\d+/"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("use redis for part")
    expect(page.get_by_role("main")).to_contain_text("decisions.jsonl:")
    assert_accessible(page)


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the focus stands on something of this name."""
    for _ in range(120):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "(() => { const e = document.activeElement; return (e.getAttribute('aria-label') || e.innerText || e.name || '').trim() })()"
        )
        if re.search(name, focused):
            ring = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
            assert ring != "none", f"the focus on {focused!r} cannot be seen"
            return
    raise AssertionError(f"Tab never reached {name!r}")


def test_the_same_way_by_keyboard_alone(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page()
    page.goto("/")
    tab_to(page, "username")
    page.keyboard.type("ines")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("degraded")
    tab_to(page, "Skip")
    page.keyboard.press("Enter")
    tab_to(page, f"^{degraded_store.name}")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/stores/{degraded_store.slug}/**")
    tab_to(page, "^Faults")
    page.keyboard.press("Enter")
    page.wait_for_url("**/faults/**")
    tab_to(page, "glued")
    page.keyboard.press("Enter")
    expect(page.locator(".bytes").first).to_be_visible()
    page.keyboard.press("/")
    page.keyboard.type("redis")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search/**")
    tab_to(page, "use redis for part")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/decisions/\d+/"))


def test_single_keys_can_be_turned_off(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page)
    search = page.locator("[data-search]").first
    page.keyboard.press("/")
    expect(search).to_be_focused()
    page.goto("/account/")
    page.get_by_role("button", name="Off", exact=True).click()
    page.wait_for_url("**/account/")
    expect(page.get_by_role("button", name="Off", exact=True)).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("/")
    expect(search).not_to_be_focused()


def test_the_same_way_without_scripts(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page(scripts=False)
    sign_in(page)
    page.get_by_role("main").get_by_role("link", name=degraded_store.name, exact=True).first.click()
    page.get_by_role("link", name=re.compile("^Faults")).click()
    page.get_by_role("main").get_by_role("link", name=re.compile("glued")).first.click()
    expect(page.locator(".bytes").first).to_be_visible()
    page.get_by_role("navigation").get_by_role("link", name="Decisions").click()
    page.get_by_role("main").get_by_role("link", name=re.compile("use redis for part")).first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("use redis for part")


def test_a_list_is_filtered_in_place_and_the_way_back_leads_to_the_whole_page(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    page.goto("/decisions/")
    page.get_by_role("main").get_by_role("searchbox").first.fill("nothing of this kind")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=nothing**")
    expect(page.get_by_role("status").first).to_contain_text("0 of")
    expect(page.get_by_role("navigation").get_by_role("link", name="Overview")).to_be_visible()
    with page.expect_response("**q=nothing**"):
        page.keyboard.press("Enter")
    # Asked twice for the same, the way back is still one step.
    page.wait_for_load_state("networkidle")
    page.go_back()
    expect(page.get_by_role("main").get_by_role("link", name=re.compile("use redis for part")).first).to_be_visible()
    expect(page.get_by_role("navigation").get_by_role("link", name="Overview")).to_be_visible()


@pytest.mark.parametrize(
    "address",
    ["/stores/", "/problems/?all=1", "/queue/?all=1", "/health/", "/audit/", "/search/?q=redis", "/account/", "{store}backlog/", "{store}health/",
     "{store}changes/", "{store}files/", "{store}raw/", "{store}settings/", "/decisions/?q=nowhere", "/nowhere/"],
)  # fmt: skip
def test_every_other_page_is_accessible_and_nothing_is_cut_off(degraded_store: Store, open_page: OpenPage, address: str) -> None:
    page = open_page(status=404, signed_in=True)
    for width, theme in ((1280, "light"), (390, "dark")):
        look_as(page, width, theme)
        page.goto(address.format(store=f"/stores/{degraded_store.slug}/"))
        assert_accessible(page)
