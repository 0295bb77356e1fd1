"""The picture of a graph: drawn under our policy, worked by keyboard and pointer, and no page needs it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from stores.models import Store
from tests.browser.conftest import OpenPage, sign_in
from tests.browser.test_main_way import assert_accessible

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_graph(page: Page, store: Store) -> None:
    page.goto("/")
    sign_in(page)
    page.goto(f"/stores/{store.slug}/graph/")


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (390, "dark")])
def test_the_picture_is_drawn_and_worked_by_keyboard(degraded_store: Store, open_page: OpenPage, width: int, theme: str) -> None:
    page = open_page(width=width, theme=theme)
    open_graph(page, degraded_store)
    picture = page.locator("[data-graph]")
    expect(picture).to_have_attribute("data-drawn", re.compile(r"[1-9]\d*"))
    assert_accessible(page)
    page.locator("[data-graph-canvas]").focus()
    page.keyboard.press("ArrowRight")
    said = page.locator("#said")
    expect(said).to_contain_text("relation")
    first = said.text_content()
    page.keyboard.press("n")
    expect(said).not_to_have_text(first or "")
    page.keyboard.press("Enter")
    expect(page.locator("#picked").get_by_role("link", name="Everything about it")).to_be_visible()
    page.keyboard.press("f")
    show_all = page.get_by_role("button", name="Show all")
    expect(show_all).to_be_visible()
    page.keyboard.press("Escape")
    expect(show_all).to_be_hidden()
    kind = page.locator("[data-graph-type]").first
    kind.click()
    expect(kind).to_have_attribute("aria-pressed", "false")
    page.get_by_placeholder("Find in the picture").fill("redis")
    expect(said).to_have_text(re.compile(r"^\d+ in the picture match$"))
    assert_accessible(page)


def test_a_filtered_list_draws_what_it_shows(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page()
    open_graph(page, degraded_store)
    picture = page.locator("[data-graph]")
    expect(picture).to_have_attribute("data-drawn", re.compile(r"[1-9]\d*"))
    before = picture.get_attribute("data-drawn")
    types = picture.locator("[data-graph-type]")
    expect(types).not_to_have_count(1)
    page.locator("#facets").get_by_label(re.compile("^Decision")).first.check()
    expect(picture).not_to_have_attribute("data-drawn", before or "")
    shown = picture.get_attribute("data-drawn") or ""
    expect(page.locator("#list .row-link")).to_have_count(int(shown))
    expect(types).to_have_count(1)
    expect(types).to_have_attribute("data-graph-type", "Decision")
    expect(types.locator("b")).to_have_text(shown)
    page.get_by_placeholder("Find entities by name").fill("nobody is called so")
    expect(picture).to_have_attribute("data-drawn", "0")
    expect(types).to_have_count(0)
    page.get_by_placeholder("Find entities by name").fill("")
    expect(picture).to_have_attribute("data-drawn", shown)
    expect(types.locator("b")).to_have_text(shown)


def test_an_entity_and_its_relations_have_pages(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page()
    open_graph(page, degraded_store)
    page.locator("#list .row-link").first.click()
    page.wait_for_url(re.compile(r"/entities/\d+/"))
    expect(page.locator("[data-graph]")).to_have_attribute("data-drawn", re.compile(r"[1-9]\d*"))
    assert_accessible(page)
    page.locator("#relations table").get_by_role("link").nth(1).click()
    page.wait_for_url(re.compile(r"/relations/\d+/"))
    assert_accessible(page)


def test_without_scripts_the_table_says_it_all(degraded_store: Store, open_page: OpenPage) -> None:
    page = open_page(scripts=False)
    open_graph(page, degraded_store)
    expect(page.locator("[data-graph]")).to_be_hidden()
    expect(page.get_by_text("The picture needs JavaScript")).to_be_visible()
    assert page.locator("#list .row-link").count() > 3
    page.get_by_role("link", name="Decisions", exact=True).last.click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Decisions")
