"""Comments on single lines of a change: chosen by a link, shown under the line and in the thread, no part of what is approved."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from stores.lifecycle.changes import Replace
from stores.lifecycle.differences import Place
from stores.models import ActionComment, AuditEvent, LifecycleAction, Store, User, Worker
from stores.review import keeping, renewing
from tests.factories import make_user
from tests.review.conftest import data_folder
from tests.review.queues import NOW, deletion, imported, queued
from tests.views.parsing import assert_harmless, elements, text
from tests.views.queue_scenes import BESIDE, change_node, writing_bytes

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]


def scene(tmp_path: Path) -> tuple[LifecycleAction, Place, Store, Path]:
    """Give an action, and the line on which the phase stands in the file that it changes."""
    store, root = imported(tmp_path)
    action = queued(store)
    (file,) = [one for one in (root / "nodes").glob("*.json") if b'"node.b"' in one.read_bytes()]
    line = next(number for number, one in enumerate(file.read_text().split("\n"), 1) if '"phase"' in one)
    changes = keeping.effect_of(action).changes
    position = next(number for number, one in enumerate(changes, 1) if isinstance(one, Replace))
    return action, Place(position, "after", line), store, root


def links(client: Client, address: str, headers: dict[str, str] | None = None) -> list[str]:
    """Give where the numbers of lines lead."""
    return [one["href"] for tag, one in elements(client.get(address, headers=headers)) if tag == "a" and "data-line" in one]


def under_the_line(client: Client, address: str) -> str:
    """Give what stands under the lines of the change."""
    page = client.get(address).content.decode()
    return "".join(re.findall(r'<div class="talk" .*?</div>', page, re.DOTALL))


def test_a_line_is_chosen_by_its_number_and_commented_on(client: Client, ana: User, tmp_path: Path) -> None:
    action, place, _, _ = scene(tmp_path)
    (link,) = [one for one in links(client, f"/review/{action.pk}/") if f"at={place}#" in one]
    shown = client.get(link.partition("#")[0])
    assert f"Comment on line {place.line}, after" in text(shown)
    form = {one["name"]: one.get("value", "") for tag, one in elements(shown) if tag == "input" and one.get("name") in ("at", "list")}
    answer = client.post(f"/review/{action.pk}/comment/", {**form, "text": "Why this phase?"})
    made = ActionComment.objects.get()
    assert answer.headers["Location"] == f"/review/{action.pk}/?at={place}#comment-{made.pk}"
    assert (made.file, made.side, made.line, made.path) == (
        *place[:1],
        "after",
        place.line,
        keeping.effect_of(action).changes[place.file - 1].path,
    )
    page = f"/review/{action.pk}/"
    assert "Why this phase?" in under_the_line(client, page)
    assert f"{made.path}, line {place.line}, after" in text(client.get(page))
    assert AuditEvent.objects.get(event="commented").detail["line"] == place.line
    action.refresh_from_db()
    assert (action.revision, action.state) == (1, "pending"), "a comment is no part of what is approved"


@pytest.mark.parametrize("mode", ["unified", "split", "words"])
def test_every_way_to_show_a_change_offers_its_lines_and_shows_what_was_said(client: Client, ana: User, tmp_path: Path, mode: str) -> None:
    action, place, _, _ = scene(tmp_path)
    client.post(f"/review/{action.pk}/comment/", {"text": "Said of the new phase", "at": str(place)})
    address = f"/review/{action.pk}/?diff={mode}"
    assert any(f"diff={mode}&at={place}#" in one for one in links(client, address) if mode != "unified") or mode == "unified"
    assert under_the_line(client, address).count("Said of the new phase") == 1


@pytest.mark.parametrize("at", ["1-after-9999", "99-after-1", "1-before-0", "nonsense", "1-after-1'--"])
def test_a_line_that_is_not_there_takes_no_comment_and_the_text_is_kept(client: Client, ana: User, tmp_path: Path, at: str) -> None:
    action, _, _, _ = scene(tmp_path)
    answer = client.post(f"/review/{action.pk}/comment/", {"text": "Lost words", "at": at})
    assert answer.status_code == 400
    assert "Lost words" in text(answer)
    assert not ActionComment.objects.exists()
    assert client.get(f"/review/{action.pk}/?at={at}").status_code == 200


def test_a_folded_line_that_was_commented_on_is_shown(client: Client, ana: User, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    change_node(root, store, notes=[f"note {number}" for number in range(60)])
    action = queued(store, promotion_of_today(store))
    (changed,) = [one for one in keeping.effect_of(action).changes if isinstance(one, Replace)]
    lines = changed.after.decode().split("\n")
    line = next(number for number, one in enumerate(lines, 1) if '"note 30"' in one)
    page = f"/review/{action.pk}/"
    assert "note 30" not in text(client.get(page)) and "note 30" in text(client.get(f"{page}?at=1-after-{line}"))
    assert client.post(f"{page}comment/", {"text": "Is this right?", "at": f"1-after-{line}"}).status_code == 302
    assert "note 30" in text(client.get(page)) and "Is this right?" in under_the_line(client, page)


def promotion_of_today(store: Store) -> dict[str, object]:
    return {"action": "transition_phase", "target_type": "node", "target_ids": ["node.b"], "to_phase": "stabilized", "reason": "Held"}


def test_hostile_comments_stay_text_under_their_line_too(client: Client, ana: User, tmp_path: Path) -> None:
    action, place, _, _ = scene(tmp_path)
    hostile = "</div><script>alert(1)</script> \u202egnp.exe password = Sup3rS3cretValue99"
    client.post(f"/review/{action.pk}/comment/", {"text": hostile, "at": str(place)})
    response = client.get(f"/review/{action.pk}/")
    assert_harmless(response)
    assert "U+202E" in text(response) and "Sup3rS3cret" not in response.content.decode()


def test_beside_the_list_a_comment_leads_back_to_the_line(client: Client, ana: User, tmp_path: Path) -> None:
    action, place, _, _ = scene(tmp_path)
    assert links(client, f"/review/{action.pk}/?tab=all", BESIDE)[0].startswith(f"/review/{action.pk}/?tab=all&at=")
    answer = client.post(f"/review/{action.pk}/comment/", {"text": "Here", "at": str(place), "list": "tab=all", "beside": "1"})
    made = ActionComment.objects.get()
    assert answer.headers["Location"] == f"/review/?open={action.pk}&at={place}#comment-{made.pk}"
    opened = {one["data-open-first"] for _, one in elements(client.get(answer.headers["Location"])) if "data-open-first" in one}
    assert opened == {f"/review/{action.pk}/?tab=all&at={place}"}


def test_a_renewed_action_links_to_the_comments_of_the_old_one(client: Client, ana: User, tmp_path: Path) -> None:
    action, place, store, root = scene(tmp_path)
    client.post(f"/review/{action.pk}/comment/", {"text": "Said of the old one", "at": str(place)})
    client.post(f"/review/{action.pk}/comment/", {"text": "And this"})
    change_node(root, store, title="Another title")
    LifecycleAction.objects.filter(pk=action.pk).update(state="stale", closed_at=NOW)
    made = renewing.renew(make_user("rene", groups=("reviewer",)), action.pk, NOW, through="page")
    page = client.get(f"/review/{made.pk}/")
    assert f"2 comments on #{action.pk}, which this goes on from" in text(page) and "Said of the old one" not in text(page)
    assert "Said of the old one" in under_the_line(client, f"/review/{action.pk}/")


def test_who_may_not_see_the_store_comments_on_nothing(client: Client, ana: User, tmp_path: Path) -> None:
    action, place, store, _ = scene(tmp_path)
    store.groups.add(make_user("other", groups=("others",)).groups.get())
    assert client.post(f"/review/{action.pk}/comment/", {"text": "Hello", "at": str(place)}).status_code == 404
    assert not ActionComment.objects.exists()


def test_in_a_bulk_decision_lines_are_plain_numbers(client: Client, ana: User, tmp_path: Path) -> None:
    scene(tmp_path)
    assert links(client, "/review/bulk/?decision=approve&every=1&tab=all") == []


def test_a_row_of_bytes_is_commented_on_too_and_what_is_folded_is_asked_for(client: Client, ana: User, tmp_path: Path) -> None:
    action = writing_bytes(queued(imported(tmp_path)[0]), "blob.bin", bytes(range(256)) * 8)
    page = f"/review/{action.pk}/"
    said = text(client.get(page))
    assert "It is no text: its bytes stand here, 16 a row." in said and "64 more rows of this file" in said
    assert "0370" in said and "07f0" not in said and "07f0" in text(client.get(f"{page}?file=1&from=65"))
    assert client.post(f"{page}comment/", {"text": "What is this?", "at": "1-after-100"}).status_code == 302
    assert "What is this?" in under_the_line(client, f"{page}?at=1-after-100")
    assert "blob.bin, bytes near 0x630, after" in text(client.get(page))
    assert client.post(f"{page}comment/", {"text": "Beyond", "at": "1-after-129"}).status_code == 400


def test_bytes_that_are_not_shown_whole_are_not_approved_at_once(client: Client, ana: User, tmp_path: Path) -> None:
    action = writing_bytes(queued(imported(tmp_path)[0], deletion()), "blob.bin", bytes(range(256)) * 8)
    Worker.objects.update(seen_at=timezone.now(), stopped_at=None)
    page = client.get("/review/bulk/?decision=approve&every=1&tab=all")
    assert f"The change of #{action.pk} is too large to be shown whole here" in text(page)
