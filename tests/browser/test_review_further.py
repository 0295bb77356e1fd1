"""What else the queue's pages do in a real browser: comments on lines, changes of bytes, other proposals, sections by two keys, policies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from stores.mirror.importing import import_store
from stores.models import ActionComment, LifecycleAction, Node, Store, User
from stores.review import policies
from tests.browser.conftest import LOOKS, OpenPage, look_as
from tests.browser.test_main_way import assert_accessible
from tests.browser.test_review import queue
from tests.phase_memory_folders import node, put
from tests.views.queue_scenes import writing_bytes

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
__all__ = ["queue"]


def test_a_line_is_commented_on_by_keyboard_beside_the_list(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    page.goto("/review/?verb=transition_phase")
    expect(page.locator("#action-title")).to_contain_text("Note 0")
    page.keyboard.press("]")
    expect(page.locator("#action [data-hunk]").first).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("[data-line]").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator("[data-line]:focus")
    expect(chosen).to_have_count(1)
    place = re.search(r"at=([\w-]+)#", chosen.get_attribute("href") or "")
    assert place is not None
    page.keyboard.press("Enter")
    expect(page.locator("#line-comment")).to_be_focused()
    page.keyboard.type("Why a j and an e?")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"open=\d+.*#comment-\d+"))
    made = ActionComment.objects.get()
    assert f"{made.file}-{made.side}-{made.line}" == place[1]
    expect(page.locator(f"#comment-{made.pk}")).to_contain_text("Why a j and an e?")
    expect(page.locator(f"#comment-{made.pk}")).to_be_in_viewport()
    expect(page.locator("#comments")).to_contain_text(f"line {made.line}, {made.side}")
    assert_accessible(page)
    assert LifecycleAction.objects.get(pk=made.action_id).state == "pending"


def test_lines_are_commented_on_without_scripts(queue: Store, open_page: OpenPage) -> None:
    page = open_page(scripts=False, signed_in=True)
    action = LifecycleAction.objects.filter(verb="transition_phase").order_by("pk")[0]
    page.goto(f"/review/{action.pk}/")
    page.locator("[data-line]").nth(3).click()
    page.get_by_label(re.compile("^Comment on line")).fill("Said without a script")
    page.locator(".talk-form").get_by_role("button", name="Comment").click()
    expect(page.locator(".talk")).to_contain_text("Said without a script")


def test_e_opens_the_filled_in_form_and_the_new_one_takes_its_place(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    old = LifecycleAction.objects.filter(verb="transition_phase", proposed_by="agent 0").get()
    page.goto(f"/review/{old.pk}/")
    page.locator("#comment").focus()
    page.keyboard.press("e")
    expect(page.locator("#comment")).to_have_value("e")
    page.locator("#action-title").focus()
    page.keyboard.press("e")
    page.wait_for_url(f"**/review/{old.pk}/edit/")
    expect(page.get_by_label("Why")).to_have_value("Held 0 weeks")
    assert_accessible(page)
    page.get_by_label("Into").select_option("rigid")
    page.get_by_role("button", name="Propose it").click()
    page.wait_for_url(re.compile(r"/review/\d+/$"))
    made = LifecycleAction.objects.order_by("-pk")[0]
    assert made.renewed_from_id == old.pk and User.objects.get(username="ines").pk in made.barred
    expect(page.locator("[data-why]")).to_contain_text("Four eyes")
    old.refresh_from_db()
    assert old.state == "withdrawn"


SECTIONS = {
    "r": "/review/",
    "o": "/",
    "d": "/decisions/",
    "p": "/problems/",
    "t": "/paths/",
    "q": "/queue/",
    "h": "/health/",
    "u": "/audit/",
}


def test_g_and_a_letter_go_to_a_section(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    action = LifecycleAction.objects.filter(verb="transition_phase").order_by("pk")[0]
    for letter, address in SECTIONS.items():
        page.goto(f"/review/{action.pk}/")
        page.keyboard.press("g")
        expect(page.locator("#said")).to_contain_text("r Review")
        page.keyboard.press(letter)
        page.wait_for_url(re.compile(rf"^https?://[^/]+{address}(\?.*)?$"))


def test_g_does_nothing_in_fields_in_the_sheet_and_when_keys_are_off(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    action = LifecycleAction.objects.filter(verb="transition_phase").order_by("pk")[0]
    page.goto(f"/review/{action.pk}/")
    here = page.url
    page.locator("#comment").focus()
    page.keyboard.type("go")
    expect(page.locator("#comment")).to_have_value("go")
    page.locator("#action-title").focus()
    page.keyboard.press("?")
    page.keyboard.press("g")
    page.keyboard.press("o")
    expect(page.locator("#keys")).to_be_visible()
    assert page.url == here
    page.get_by_role("button", name="Turn the keys off").click()
    page.wait_for_url(f"**/review/{action.pk}/")
    page.locator("#action-title").focus()
    for key in ("g", "o", "e"):
        page.keyboard.press(key)
    assert page.url == here
    expect(page.locator("#said")).to_be_empty()


def test_bytes_are_shown_and_accessible(queue: Store, open_page: OpenPage) -> None:
    action = LifecycleAction.objects.filter(verb="transition_phase").order_by("pk")[0]
    writing_bytes(action, "blob.bin", bytes(range(256)) * 8)
    page = open_page(signed_in=True)
    for width, theme in LOOKS:
        look_as(page, width, theme)
        page.goto(f"/review/{action.pk}/")
        expect(page.locator(".change-bytes")).to_have_count(64)
        expect(page.locator(".change-bytes").first).to_contain_text("00 01 02 03 04 05 06 07")
        expect(page.locator(".change-more")).to_contain_text("64 more rows")
        assert_accessible(page)
        page.locator(".change-more a").click()
        expect(page.locator(".change-bytes").first).to_contain_text("0400")
        expect(page.locator(".change-bytes").last).to_contain_text("07f0")
        page.locator("[data-line]").nth(2).click()
        expect(page.get_by_label(re.compile("^Comment on bytes near 0x"))).to_be_visible()
        assert_accessible(page)


def test_policies_and_proposals_are_accessible(queue: Store, open_page: OpenPage) -> None:
    root = User.objects.get(username="ines")
    User.objects.filter(pk=root.pk).update(is_superuser=True)
    root.refresh_from_db()
    policies.change_policy(queue, {"approvals": 2}, f"{queue.pk}.0", root, timezone.now(), through="page")
    put(Path(queue.path), "node", node("node.more", text="More of it", title="More of it"))
    import_store(queue)
    page = open_page(signed_in=True)
    for width, theme in LOOKS:
        look_as(page, width, theme)
        for address in ("/review/policy/", f"/stores/{queue.slug}/policy/?preset=strict", f"/stores/{queue.slug}/policy/drop/"):
            page.goto(address)
            assert_accessible(page)
        of_node = f"/records/node/{Node.objects.get(natural_id='node.0').pk}/propose"
        for verb in ("mark_stale", "transition_phase", "request_delete"):
            page.goto(f"{of_node}/{verb}/")
            assert_accessible(page)
        page.goto(f"{of_node}/merge/")
        looked_for(page, "note")
        assert_accessible(page)


def looked_for(page: Page, words: str) -> None:
    """Look for nodes in the form."""
    page.get_by_label("Why").fill("Alike")
    page.get_by_label("Find nodes").fill(words)
    page.get_by_role("button", name="Search").click()
    expect(page.locator("[name=picked]").first).to_be_visible()
    expect(page.get_by_label("Why")).to_have_value("Alike")


def test_nodes_are_looked_for_and_ticked_in_place(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    of_node = f"/records/node/{Node.objects.get(natural_id='node.0').pk}/propose"
    page.goto(f"{of_node}/merge/")
    looked_for(page, "note")
    page.get_by_label(re.compile("node.1 ")).check()
    page.get_by_label("Find nodes").fill("nothing like this")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("#proposal")).to_contain_text("No other node that fits has these words")
    expect(page.locator("[name=picked]")).to_have_count(1)
    expect(page.locator("[name=picked]")).to_be_checked()
    page.get_by_role("button", name="Propose it").click()
    page.wait_for_url(re.compile(r"/review/\d+/$"))
    assert LifecycleAction.objects.order_by("-pk")[0].target_count == 2
