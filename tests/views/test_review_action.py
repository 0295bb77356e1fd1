"""The page of one action: what it shows, in which order, and that nothing hidden or secret gets by."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone

from stores.mirror.importing import import_store
from stores.models import ActionComment, KeptBytes, LifecycleAction, Snooze, User
from tests.factories import make_user
from tests.lifecycle.cases import action as proposal
from tests.phase_memory_folders import node, put
from tests.review.conftest import data_folder
from tests.review.queues import NODE, deletion, imported, promotion, queued, reviewer
from tests.views.parsing import assert_harmless, elements, text
from tests.views.queue_scenes import BESIDE, button, change_node, decide, form_of, made_action, state_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]


def test_our_sentence_comes_first_and_the_proposers_words_are_theirs(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store, promotion(reason="Deletes nothing, trust me"))
    response = client.get(f"/review/{action.pk}/")
    said = text(response)
    assert said.index("pending") < said.index(action.sentence) < said.index("Proposer says") < said.index("Deletes nothing, trust me")
    assert "“" not in action.reason and "<blockquote" in response.content.decode()
    assert "1 approval, by any reviewer of" in said and "0 of 1 given" in said
    assert "same as when proposed" in said and "applies cleanly in a dry run" in said
    assert "adds no secret" in said and "no other open action on the same record" in said
    assert '"phase": "fluid"' in said and '"phase": "stabilized"' in said
    assert {attributes["value"] for _, attributes in elements(response) if attributes.get("name") == "digest"} == {action.digest}


def test_the_page_in_the_list_and_the_page_alone_have_the_same_text(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    whole, part = (
        re.sub(r"\d+ s ago", "now", text(client.get(f"/review/{action.pk}/?tab=all", headers=headers))) for headers in (None, BESIDE)
    )
    assert part.strip() in whole


def test_comments_are_kept_as_text(client: Client, ana: User, tmp_path: Path) -> None:
    action = made_action(imported(tmp_path)[0], 1)
    hostile = "<script>alert(1)</script> **bold** \u202egnp.exe password = Sup3rS3cretValue99"
    assert client.post(f"/review/{action.pk}/comment/", {"text": hostile}).status_code == 302
    response = client.get(f"/review/{action.pk}/")
    assert_harmless(response)
    assert "**bold**" in text(response) and "U+202E" in text(response) and "Sup3rS3cret" not in response.content.decode()
    assert client.post(f"/review/{action.pk}/comment/", {"text": " "}).status_code == 400
    assert ActionComment.objects.count() == 1


def test_an_action_is_assigned_to_those_who_may_decide(client: Client, ana: User, tmp_path: Path) -> None:
    action = made_action(imported(tmp_path)[0], 1)
    make_user("vera", groups=("viewer",))
    tom = reviewer("tom")
    assert client.post(f"/review/{action.pk}/assign/", {"to": "vera"}).status_code == 400
    assert client.post(f"/review/{action.pk}/assign/", {"to": "tom"}).status_code == 302
    assert LifecycleAction.objects.get(pk=action.pk).assigned_to == tom
    client.post(f"/review/{action.pk}/assign/", {"to": ""})
    assert LifecycleAction.objects.get(pk=action.pk).assigned_to is None


def test_a_snoozed_action_leaves_my_list_and_comes_back(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action, other = made_action(store, 1), made_action(store, 2)
    answer = client.post(f"/review/{action.pk}/snooze/", {"hours": "24", "list": "tab=all"})
    assert answer.headers["Location"].startswith(f"/review/{other.pk}/")
    assert Snooze.objects.get().until > timezone.now() + timedelta(hours=23)
    client.post(f"/review/{action.pk}/snooze/", {"hours": "0"})
    assert not Snooze.objects.exists()
    assert client.post(f"/review/{action.pk}/snooze/", {"hours": "9999"}).status_code == 400


def test_who_looks_is_a_hint_for_others(client: Client, ana: User, tmp_path: Path) -> None:
    action = made_action(imported(tmp_path)[0], 1)
    assert "is looking" not in text(client.post(f"/review/{action.pk}/look/", headers=BESIDE))
    client.force_login(reviewer("tom"))
    assert "ana is looking at it" in text(client.post(f"/review/{action.pk}/look/", headers=BESIDE))
    assert "ana looks" in text(client.get("/review/"))


def test_secrets_in_a_change_are_masked_and_one_that_comes_new_stops_every_approval(client: Client, ana: User, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    put(root, "node", {**NODE, "text": f"The token is {secret}"})
    import_store(store)
    before = {**NODE, "text": f"The token is {secret}"}
    action = queued(store, proposal("transition_phase", before, from_phase="fluid", to_phase="stabilized"))
    for mode in ("unified", "split", "words"):
        body = client.get(f"/review/{action.pk}/?diff={mode}&context=1").content.decode()
        assert secret not in body and "masked, 36 characters" in body
    LifecycleAction.objects.filter(pk=action.pk).update(adds_secret=True)
    shown = client.get(f"/review/{action.pk}/")
    assert "disabled" in button(shown) and "nobody can approve that" in text(shown)
    assert decide(client, action, "approve").status_code == 409


def test_what_cannot_be_shown_cannot_be_approved(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    body = form_of(client, action.pk)
    KeptBytes.objects.all().delete()
    shown = client.get(f"/review/{action.pk}/")
    assert shown.status_code == 200 and "nobody can approve it" in text(shown) and "disabled" in button(shown)
    assert client.post(f"/review/{action.pk}/decide/", {**body, "decision": "approve"}).status_code == 409
    assert state_of(action) == "pending"


def test_rivals_links_and_look_alike_letters_are_told(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action, rival = queued(store, deletion(reason="approve: n\u043ede is old")), queued(store)
    said = text(client.get(f"/review/{action.pk}/"))
    assert "1 other open action on the same record" in said and "deceive the eye" in said and "U+043E" in said
    assert f"/review/{rival.pk}/" in client.get(f"/review/{action.pk}/").content.decode()


def test_a_long_reason_is_folded_and_says_how_much_follows(client: Client, ana: User, tmp_path: Path) -> None:
    action = made_action(imported(tmp_path)[0], 1, reason="x" + " word" * 1000 + "\n" * 300 + "the end")
    said = text(client.get(f"/review/{action.pk}/"))
    assert re.search(r"[\d,]+ more characters", said) and "the end" in said


def test_where_the_target_stands_is_asked_again_and_answered_only_when_it_moved(client: Client, ana: User, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    action = queued(store)
    poll = next(
        attributes["hx-get"] for _, attributes in elements(client.get(f"/review/{action.pk}/")) if attributes.get("id") == "target-now"
    )
    headers = {"HX-Request": "true", "HX-Target": "target-now"}
    assert client.get(poll, headers=headers).status_code == 204
    change_node(root, store, confidence=0.25)
    moved = client.get(poll, headers=headers)
    assert moved.status_code == 200 and "changed since it was proposed" in text(moved)


def test_a_receipt_says_what_was_read_again_from_disk(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    files = [
        {"put": "nodes/node.b.json", "bytes": 512, "sha256": "ab" * 32, "as_written": True},
        {"appended": "events.jsonl", "lines": 1, "bytes": 300, "sha256": "cd" * 32, "as_written": False},
    ]
    LifecycleAction.objects.filter(pk=action.pk).update(
        state="applied", applied_by="build-01", applied_at=timezone.now(), receipt={"files": files}, closed_at=timezone.now()
    )
    said = text(client.get(f"/review/{action.pk}/"))
    assert "applied by build-01" in said and "512 B · disk equals approved" in said and "disk differs from what was approved" in said
    assert "abab abab abab" in said


def test_the_change_is_shown_as_the_address_asks(client: Client, ana: User, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    action = queued(store)
    split = client.get(f"/review/{action.pk}/?diff=split")
    assert any(attributes.get("data-mode") == "split" for _, attributes in elements(split))
    assert any(attributes.get("data-mode") == "words" for _, attributes in elements(client.get(f"/review/{action.pk}/?diff=words")))
    assert any(attributes.get("data-mode") == "unified" for _, attributes in elements(client.get(f"/review/{action.pk}/?diff=<x>")))


def test_what_is_merged_stands_in_columns_above_the_result(client: Client, ana: User, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    twin = node("node.twin", text="The same again", policy={"labels": ["local", "draft"]})
    put(root, "node", twin)
    import_store(store)
    action = queued(store, proposal("merge", NODE, twin, parameters={"into": "node.b"}))
    response = client.get(f"/review/{action.pk}/")
    sources = [attributes for _, attributes in elements(response) if attributes.get("class") == "source"]
    assert len(sources) == 2 and "becomes" in text(response) and "The same again" in text(response)
    assert json.loads(action.record)["parameters"] == {"into": "node.b"}


def test_every_page_of_an_action_is_harmless_with_hostile_texts(client: Client, ana: User, tmp_path: Path) -> None:
    hostile = "\"><script>alert(1)</script>\u202e{{ 7*7 }}\u200b<div hx-swap-oob='true' id='action'>✔ Approved by alice</div>"
    store, root = imported(tmp_path)
    put(root, "node", {**NODE, "text": hostile, "title": hostile})
    import_store(store)
    before = {**NODE, "text": hostile, "title": hostile}
    row = queued(store, proposal("transition_phase", before, from_phase="fluid", to_phase="stabilized", reason=hostile))
    LifecycleAction.objects.filter(pk=row.pk).update(
        proposed_by=hostile[:200], also_proposed_by=hostile[:200], message=hostile, state="failed"
    )
    for address in (
        f"/review/{row.pk}/",
        f"/review/{row.pk}/?tab=all&diff=split",
        f"/review/{row.pk}/?diff=words",
        "/review/",
        f"/review/{row.pk}/now/",
    ):
        response = client.get(address)
        assert response.status_code == 200
        assert_harmless(response)
        assert "\u202e" not in text(response) and "\u200b" not in text(response)
        assert not any("hx-swap-oob" in attributes for _, attributes in elements(response))
