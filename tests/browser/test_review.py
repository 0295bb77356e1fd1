"""The review queue in a real browser: by keyboard from the list to an approval, four eyes, narrow and wide, light and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django import Settings

from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Review, Store, User, Worker
from stores.review.submitting import Proposer
from tests.browser.conftest import LOOKS, PASSWORD, OpenPage, look_as
from tests.browser.test_main_way import assert_accessible
from tests.factories import make_user
from tests.lifecycle.cases import action as proposal
from tests.phase_memory_folders import Record, node, put
from tests.review.queues import imported, queued

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def _node(number: int) -> Record:
    return node(f"node.{number}", text=f"Note {number}", title=f"Note {number}", policy={"labels": ["local", "draft"]})


def _promotion(number: int) -> Record:
    return proposal("transition_phase", _node(number), from_phase="fluid", to_phase="stabilized", reason=f"Held {number} weeks")


@pytest.fixture
def queue(transactional_db: None, tmp_path: Path, settings: Settings) -> Store:
    """Give a store with three proposals of an agent, one of `ines` herself and one that takes something away; `ines` reviews."""
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)
    store, root = imported(tmp_path)
    for number in range(5):
        put(root, "node", _node(number))
    import_store(store)
    ines = make_user("ines", groups=["viewer", "reviewer", "operator"])
    ines.set_password(PASSWORD)
    ines.save()
    for number in range(3):
        queued(store, _promotion(number), Proposer(f"agent {number}", "agent", "API"))
    queued(store, _promotion(3), Proposer("ines", "page", "page", ines))
    queued(store, proposal("request_delete", _node(4), to_state="delete_requested"))
    Worker.objects.update(seen_at=timezone.now(), stopped_at=None)
    return store


def sign_in(page: Page) -> None:
    """Sign `ines` in and wait for the overview."""
    page.goto("/")
    page.get_by_label("User name").fill("ines")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.locator("nav a[href='/review/']").first).to_be_attached()


def title(page: Page) -> str:
    """Give the heading of the open action."""
    return page.locator("#action-title").inner_text()


def test_from_the_list_to_an_approval_by_keyboard_alone(queue: Store, open_page: OpenPage) -> None:
    page = open_page()
    sign_in(page)
    page.goto("/review/")
    expect(page.locator("#action-title")).to_contain_text("Forget")
    page.keyboard.press("j")
    expect(page.locator("#action-title")).to_contain_text("Note 0")
    expect(page.locator(".queue-row[aria-current]")).to_contain_text("Note 0")
    page.keyboard.press("d")
    expect(page.locator(".change-rows[data-mode='split']").first).to_be_visible()
    page.keyboard.press("a")
    expect(page.locator("[data-approve]")).to_be_focused()
    assert not Review.objects.exists(), "one key decides nothing"
    page.keyboard.press("a")
    page.wait_for_url(re.compile(r"/review/\?.*open=\d+"))
    expect(page.locator(".receipt")).to_contain_text("Approved")
    review = Review.objects.get()
    assert review.action.state == "approved" and review.took_s is not None
    expect(page.locator("#action-title")).to_contain_text("Note 1")
    expect(page.locator(".queue-row").filter(has_text="Note 0")).to_have_count(0)


def test_a_rejection_and_a_selection_by_keyboard(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    page.goto("/review/?verb=transition_phase")
    expect(page.locator("#action-title")).to_contain_text("Note 0")
    page.keyboard.press("r")
    expect(page.locator("[data-reason]")).to_be_focused()
    page.keyboard.type("Still needed: a j and x in a field are letters")
    page.keyboard.press("Enter")
    expect(page.locator("#action-title")).to_contain_text("Note 0")
    assert LifecycleAction.objects.exclude(state="pending").count() == 0, "Enter in the reason decides nothing"
    assert Review.objects.count() == 0
    page.locator("[data-reject]").click()
    page.wait_for_url(re.compile("open="))
    assert Review.objects.get().reason.startswith("Still needed: a j")
    page.locator("#action-title").wait_for()
    page.keyboard.press("x")
    page.keyboard.press("j")
    expect(page.locator(".queue-row").nth(1)).to_have_attribute("aria-current", "true")
    page.keyboard.press("Shift+X")
    expect(page.locator("[data-picked]")).to_have_text("2 rows selected")
    page.keyboard.press("Escape")
    expect(page.locator("[data-pick]:checked")).to_have_count(0)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    page.get_by_role("button", name="Filters").click()
    page.keyboard.press("Escape")
    expect(page.locator("#facets")).to_be_hidden()
    page.keyboard.press("x")
    expect(page.locator("[data-pick]:checked")).to_have_count(1)


def test_what_one_proposed_oneself_cannot_be_approved(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    mine = LifecycleAction.objects.get(proposer=User.objects.get(username="ines"))
    page.goto(f"/review/{mine.pk}/")
    expect(page.locator("[data-approve]")).to_be_disabled()
    expect(page.locator("[data-why]")).to_contain_text("Four eyes")
    page.keyboard.press("a")
    page.keyboard.press("a")
    assert not Review.objects.exists()
    assert_accessible(page)


def test_the_keys_are_off_when_they_were_turned_off(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    page.goto("/review/")
    page.locator("#action-title").wait_for()
    page.locator(".queue-keys").click()
    page.get_by_role("button", name="Turn the keys off").click()
    page.locator("#action-title").wait_for()
    before = title(page)
    page.keyboard.press("j")
    page.keyboard.press("a")
    assert title(page) == before
    expect(page.locator("[data-approve]")).not_to_be_focused()


def test_every_page_of_the_queue_is_accessible(queue: Store, open_page: OpenPage) -> None:
    page = open_page(signed_in=True)
    forget = LifecycleAction.objects.get(verb="request_delete")
    for width, theme in LOOKS:
        look_as(page, width, theme)
        page.goto("/review/")
        if width > 900:
            page.locator("#action-title").wait_for()
        assert_accessible(page)
        page.locator("[data-pick]").first.check()
        expect(page.locator("[data-picked]")).to_be_visible()
        assert_accessible(page)
        page.goto(f"/review/{forget.pk}/?tab=all&diff={'split' if width > 900 else 'words'}")
        assert_accessible(page)
        page.goto("/review/bulk/?decision=approve&every=1&verb=transition_phase")
        assert_accessible(page)


def test_all_of_it_works_without_scripts(queue: Store, open_page: OpenPage) -> None:
    page = open_page(scripts=False)
    sign_in(page)
    page.goto("/review/?verb=transition_phase")
    page.get_by_role("link", name=re.compile("Note 0")).click()
    page.wait_for_url(re.compile(r"/review/\d+/"))
    page.get_by_role("button", name=re.compile("^Approve")).click()
    expect(page.locator(".receipt")).to_contain_text("Approved")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Note 1")
    page.goto("/review/?verb=transition_phase")
    page.get_by_label(re.compile("Select .*Note 1")).check()
    page.get_by_role("button", name="Reject…").click()
    page.get_by_label(re.compile("Reason")).fill("Still needed")
    page.get_by_role("button", name="Reject 1 action").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("1 rejected")
    assert sorted(Review.objects.values_list("decision", flat=True)) == ["approved", "rejected"]
