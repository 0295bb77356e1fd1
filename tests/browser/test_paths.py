"""The tree of paths worked by keyboard and pointer, in a real Chromium under our policy; every row is a link without scripts too."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from stores.mirror.importing import import_store
from stores.models import Store
from stores.selectors.store_paths import OPEN_BELOW
from tests.browser.conftest import PASSWORD, OpenPage
from tests.browser.test_main_way import assert_accessible
from tests.factories import make_user
from tests.mirror.images import register
from tests.phase_memory_folders import append, event, make_store, node, path, put

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def atlas(transactional_db: None, tmp_path: Path) -> Store:
    """Give a store with a forked tree, and an account `ines` that may see it."""
    return make_atlas(tmp_path, 0)


def make_atlas(tmp_path: Path, more: int) -> Store:
    root = make_store(tmp_path.resolve() / "atlas")
    append(
        root, "events.jsonl", *(event(10 + number, path_id="cursor", payload={"note": f"Step {number} was taken"}) for number in range(3))
    )
    for number, (name, title, parent) in enumerate(
        [
            ("search", "Search rewrite", None), ("cap", "Offset with a cap", "search"), ("tenant", "Cap per tenant", "cap"),
            ("cursor", "Cursor pages", "search"), ("client", "Client migration", "cursor"), ("jobs", "Two workers took one job", None),
            *((f"more{n}", f"Also {n}", None) for n in range(more)),
        ]
    ):  # fmt: skip
        ids = [f"event.{10 + n:04d}" for n in range(3)] if name == "cursor" else []
        put(
            root,
            "path",
            path(name, *ids, title=title, parent_path_id=parent, created_at=f"2026-03-01T{number // 60:02d}:{number % 60:02d}:00Z"),
        )
    put(root, "node", node("n.cursor", text="Pages by cursor", provenance={"path_id": "cursor"}))
    store = register(root, "atlas", kind="phase-memory")
    import_store(store)
    ines = make_user("ines", groups=["viewer"])
    ines.set_password(PASSWORD)
    ines.save()
    return store


def open_tree(page: Page) -> None:
    page.goto("/stores/atlas/paths/")
    page.get_by_label("User name").fill("ines")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/stores/atlas/paths/")


def row(page: Page, title: str) -> str:
    return f'tr:has(.tree-title:has-text("{title}"))'


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_tree_is_worked_by_keyboard(atlas: Store, open_page: OpenPage, theme: str) -> None:
    page = open_page(theme=theme)
    open_tree(page)
    assert_accessible(page)
    focused = page.locator(".tree-title:focus")
    page.locator(".tree-title", has_text="Search rewrite").focus()
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_text("Offset with a cap")
    page.keyboard.press("]")
    expect(focused).to_have_text("Cursor pages")
    page.keyboard.press("[")
    expect(focused).to_have_text("Offset with a cap")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(row(page, "Cap per tenant"))).to_be_hidden()
    page.keyboard.press("ArrowDown")
    expect(focused).to_have_text("Cursor pages")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    expect(page.locator(row(page, "Cap per tenant"))).to_be_visible()
    page.keyboard.press("ArrowRight")
    expect(focused).to_have_text("Cap per tenant")
    page.keyboard.press("ArrowLeft")
    expect(focused).to_have_text("Offset with a cap")
    page.keyboard.press("d")
    expect(focused).to_have_text("Cursor pages")
    page.keyboard.press("Enter")
    expect(page.locator("#path h2").first).to_have_text("Cursor pages")
    expect(page).to_have_url(re.compile(r"\?path=\d+$"))
    expect(page.locator("#path")).to_contain_text("Step 2 was taken")
    expect(page.locator('tr[aria-current="true"]')).to_contain_text("Cursor pages")
    assert_accessible(page)
    page.keyboard.press("End")
    expect(focused).to_have_text("Two workers took one job")


def test_the_way_to_the_open_path_is_drawn_as_the_server_draws_it(atlas: Store, open_page: OpenPage) -> None:
    page = open_page()
    open_tree(page)
    drawn = "[...document.querySelectorAll('tr[data-pk]')].map((row) => [...row.querySelectorAll('.lane[data-leads]')].map((lane) => lane.getAttribute('d')).sort())"
    page.locator(".tree-title", has_text="Client migration").click()
    expect(page.locator("#path h2").first).to_have_text("Client migration")
    by_script = page.evaluate(drawn)
    assert any(by_script)
    page.reload()
    assert page.evaluate(drawn) == by_script


def test_a_level_is_fetched_when_it_is_opened(transactional_db: None, tmp_path: Path, open_page: OpenPage) -> None:
    make_atlas(tmp_path, OPEN_BELOW)
    page = open_page()
    open_tree(page)
    expect(page.locator(row(page, "Cursor pages"))).to_have_count(0)
    page.locator(".tree-title", has_text="Search rewrite").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(row(page, "Cursor pages"))).to_be_visible()
    expect(page.locator(row(page, "Search rewrite"))).to_have_attribute("aria-expanded", "true")
    page.locator(row(page, "Cursor pages")).locator("[data-twist]").click()
    expect(page.locator(row(page, "Client migration"))).to_have_attribute("aria-level", "3")
    page.locator(row(page, "Search rewrite")).locator("[data-twist]").click()
    expect(page.locator(row(page, "Client migration"))).to_be_hidden()
    page.locator(row(page, "Search rewrite")).locator("[data-twist]").click()
    expect(page.locator(row(page, "Client migration"))).to_be_visible()
    assert_accessible(page)


def test_without_scripts_the_tree_opens_and_shows_a_path(transactional_db: None, tmp_path: Path, open_page: OpenPage) -> None:
    make_atlas(tmp_path, OPEN_BELOW)
    page = open_page(scripts=False)
    open_tree(page)
    page.locator(row(page, "Search rewrite")).locator("[data-twist]").click()
    page.locator(".tree-title", has_text="Cursor pages").click()
    expect(page.locator("#path h2").first).to_have_text("Cursor pages")
    page.get_by_role("link", name="Lanes", exact=True).click()
    expect(page.locator(".lanes-picture svg")).to_be_visible()


@pytest.mark.parametrize("address", ["/stores/atlas/paths/", "/stores/atlas/paths/lanes/"])
def test_nothing_scrolls_sideways_on_a_telephone(atlas: Store, open_page: OpenPage, address: str) -> None:
    page = open_page(width=390)
    open_tree(page)
    page.goto(address)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert_accessible(page)
