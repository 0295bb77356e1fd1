"""People propose from pages: the queue gets exactly what the form says, and nothing is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from stores.lifecycle.vocabulary import VERBS
from stores.mirror.importing import import_store
from stores.models import (
    AuditEvent,
    Decision,
    Edge,
    Fault,
    LifecycleAction,
    MemoryPath,
    Node,
    Problem,
    Store,
)
from tests.factories import make_user
from tests.mirror.images import register
from tests.phase_memory_folders import Record, node, path, put
from tests.review.queues import imported
from tests.views.parsing import text

pytestmark = pytest.mark.django_db

SOURCE = "sha256:" + "ab" * 32


@pytest.fixture(autouse=True)
def data_folder(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path.resolve() / "data"
    settings.STORE_ROOTS = (tmp_path.resolve(),)


@pytest.fixture
def client() -> Client:
    client = Client()
    client.force_login(make_user("ines"))
    return client


def tree(tmp_path: Path) -> tuple[Store, Path]:
    """Make a store with a node in every state from which a verb leads on, and paths."""
    store, root = imported(tmp_path)
    put(root, "node", node("node.d", lifecycle_state="stale"))
    put(root, "node", node("node.e", lifecycle_state="archived"))
    put(root, "path", path("path.b"))
    put(root, "path", path("path.c", state="abandoned", abandoned_reason="a dead end"))
    import_store(store)
    return store, root


def bytes_of(root: Path) -> dict[str, bytes]:
    return {str(file.relative_to(root)): file.read_bytes() for file in sorted(root.rglob("*")) if file.is_file()}


def address(client: Client, record: Any, verb: str) -> str:
    """Give the form of a verb as the record's page links to it."""
    offers = client.get(record.get_absolute_url()).context["actions"].offers
    return str(next(offer.url for offer in offers if offer.verb.name == verb))


def proposed(client: Client, url: str, **given: object) -> LifecycleAction:
    """Send a form as its page shows it, with what a person fills in."""
    seen = client.get(url).context["form"]["seen"].value()
    answer = client.post(url, {"seen": seen or "", "reason": "because", **given})
    assert answer.status_code == 302, text(answer)
    action = LifecycleAction.objects.order_by("-pk")[0]
    assert answer["Location"] == f"/review/{action.pk}/"
    return action


ON_NODES = [
    ("node.b", "transition_phase", {"to_phase": "stabilized"}, {}, "pending"),
    ("node.b", "mark_stale", {"strength_to": "0.25"}, {"strength_to": 0.25}, "ready"),
    ("node.d", "refresh", {"source_digest": SOURCE}, {"source_digest": SOURCE}, "pending"),
    ("node.b", "request_delete", {"delete_after_days": "30"}, {"delete_after_days": 30}, "pending"),
    ("node.b", "archive", {}, {}, "ready"),
    ("node.c", "archive", {}, {}, "pending"),
    ("node.b", "supersede", {"superseded_by": "node.a"}, {"superseded_by": "node.a"}, "pending"),
    ("node.e", "restore", {}, {}, "pending"),
    (
        "node.b", "compact", {"others": "node.a\n", "strategy": "summarize", "preserve_originals": "on", "summary_text": "Both."},
        {"strategy": "summarize", "preserve_originals": True, "summary_text": "Both."}, "pending",
    ),
    ("node.b", "merge", {"others": "node.a", "into": "node.a"}, {"into": "node.a"}, "pending"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "verb", "given", "parameters", "state"), ON_NODES, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_verb_of_nodes_has_a_form(
    client: Client, tmp_path: Path, name: str, verb: str, given: dict[str, str], parameters: dict[str, object], state: str
) -> None:
    _, root = tree(tmp_path)
    before = bytes_of(root)
    action = proposed(client, address(client, Node.objects.get(natural_id=name), verb), **given)
    record = json.loads(action.record)
    assert (action.verb, action.state, record["parameters"]) == (verb, state, parameters)
    assert record["target_ids"] == sorted({name, *given.get("others", "").split()})
    assert (action.proposed_by, action.origin, action.proposer, record["reason"]) == ("ines", "page", action.proposer, "because")
    assert action.proposer is not None
    assert action.barred == [action.proposer.pk]
    assert bytes_of(root) == before


def test_every_verb_of_nodes_and_paths_is_offered_somewhere(client: Client, tmp_path: Path) -> None:
    tree(tmp_path)
    offered = set()
    records: list[Any] = [*Node.objects.all(), *MemoryPath.objects.all()]
    for record in records:
        offered |= {offer.verb.name for offer in client.get(record.get_absolute_url()).context["actions"].offers}
    by_hand = {name for name, verb in VERBS["phase-memory"].items() if {"node", "path"} & set(verb.target_types)}
    from_faults = {"set_event_aside", "keep_first_event", "sort_events", "list_event", "make_root"}
    elsewhere = {"create_path", "choose_merge_target", "correct_path_state", "create_record", "replace_record"}
    assert offered == by_hand - from_faults - elsewhere


ON_PATHS = [
    ("path.b", "branch_path", {"new_id": "path.new", "title": "A try"}, ["path.new"], {"parent_path_id": "path.b", "title": "A try"}),
    ("path.b", "merge_path", {"merge_target": "path.a"}, ["path.b"], {"merge_target": "path.a"}),
    ("path.b", "abandon_path", {"abandoned_reason": "too slow"}, ["path.b"], {"abandoned_reason": "too slow"}),
    ("path.b", "compact_path", {"compacted_summary_id": "node.a"}, ["path.b"], {"compacted_summary_id": "node.a"}),
    ("path.c", "restore", {}, ["path.c"], {}),
]


@pytest.mark.parametrize(("name", "verb", "given", "targets", "parameters"), ON_PATHS, ids=[f"{one[1]}" for one in ON_PATHS])
def test_every_verb_of_paths_has_a_form(
    client: Client, tmp_path: Path, name: str, verb: str, given: dict[str, str], targets: list[str], parameters: dict[str, object]
) -> None:
    tree(tmp_path)
    action = proposed(client, address(client, MemoryPath.objects.get(natural_id=name), verb), **given)
    record = json.loads(action.record)
    assert (action.verb, action.state, record["target_ids"], record["parameters"]) == (verb, "pending", targets, parameters)


def test_a_path_is_begun_from_the_page_of_paths(client: Client, tmp_path: Path) -> None:
    store, _ = tree(tmp_path)
    url = f"/stores/{store.slug}/propose/path/"
    assert url in client.get(f"/stores/{store.slug}/paths/").content.decode()
    action = proposed(client, url, new_id="path.plan", title="")
    assert (action.verb, action.first_target) == ("create_path", "path.plan")
    assert client.post(url, {"reason": "x", "new_id": "../path"}).status_code == 422
    assert "is there already" in text(client.post(url, {"reason": "x", "new_id": "path.a"}))


def test_a_path_whose_state_does_not_agree_is_corrected_by_choice(client: Client, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    put(root, "path", path("path.d", state="merged"))
    import_store(store)
    broken = MemoryPath.objects.get(natural_id="path.d")
    url = address(client, broken, "correct_path_state")
    assert client.post(url, {"seen": bytes(broken.sha256).hex(), "reason": "x", "state": "abandoned"}).status_code == 422
    action = proposed(client, url, state="abandoned", end="nobody knows into what")
    assert json.loads(action.record)["parameters"] == {"state": "abandoned", "abandoned_reason": "nobody knows into what"}


def test_an_edge_is_archived(client: Client, tmp_path: Path) -> None:
    tree(tmp_path)
    assert proposed(client, address(client, Edge.objects.get(), "archive")).target_type == "edge"


def log_store(tmp_path: Path, decisions: list[dict[str, object]], problems: list[dict[str, object]] | None = None) -> tuple[Store, Path]:
    root = tmp_path.resolve() / "shop" / ".claude" / "memory"
    root.mkdir(parents=True)
    (root / "decisions.jsonl").write_bytes(b"".join(compact(one) for one in decisions))
    (root / "open-problems.jsonl").write_bytes(b"".join(compact(one) for one in problems or []))
    store = register(root)
    import_store(store)
    store.refresh_from_db()
    return store, root


def compact(record: dict[str, object]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def decision(number: int, what: str) -> dict[str, object]:
    return {
        "id": f"decision-mx3a2c3b-{number:04d}", "type": "decision", "content": {"what": what}, "entities": [],
        "metadata": {"timestamp": f"2026-03-01T10:00:{number:02d}.000Z"},
    }  # fmt: skip


def problem(status: str) -> dict[str, object]:
    return {
        "id": "prob-mx3a2c3b-0001", "text": "times out", "status": status, "timestamp": "2026-03-01T10:00:00.000Z", "type": "problem",
        "session_id": "s", "confidence": 0.75, "entities": [], "project": "shop",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("status", "verb", "given"),
    [("open", "close_problem", {"solution": "a longer timeout"}), ("open", "abandon_problem", {}), ("solved", "reopen_problem", {})],
)
def test_every_verb_of_problems_has_a_form(client: Client, tmp_path: Path, status: str, verb: str, given: dict[str, str]) -> None:
    log_store(tmp_path, [], [problem(status)])
    action = proposed(client, address(client, Problem.objects.get(), verb), **given)
    assert (action.verb, json.loads(action.record)["parameters"]) == (verb, given)


def test_closing_a_problem_asks_what_solved_it(client: Client, tmp_path: Path) -> None:
    log_store(tmp_path, [], [problem("open")])
    record = Problem.objects.get()
    url = address(client, record, "close_problem")
    assert client.post(url, {"seen": bytes(record.sha256).hex(), "reason": "done"}).status_code == 422
    assert not LifecycleAction.objects.exists()


def test_a_decision_is_retired_or_takes_its_doubles_out(client: Client, tmp_path: Path) -> None:
    log_store(tmp_path, [decision(1, "use cursors"), decision(2, "use cursors"), decision(3, "use redis")])
    kept, double, other = Decision.objects.order_by("line")
    assert [offer.verb.name for offer in client.get(other.get_absolute_url()).context["actions"].offers] == ["retire_decision"]
    action = proposed(client, address(client, other, "retire_decision"))
    assert (action.verb, action.first_target) == ("retire_decision", other.natural_id)
    merged = proposed(client, address(client, kept, "merge_duplicates"), doubles=[double.natural_id])
    record = json.loads(merged.record)
    assert (record["target_ids"], record["parameters"]) == ([kept.natural_id, double.natural_id], {"keep": kept.natural_id})


def test_decisions_that_share_an_id_are_named_by_their_lines(client: Client, tmp_path: Path) -> None:
    log_store(tmp_path, [decision(1, "use cursors"), decision(1, "use redis")])
    first = Decision.objects.order_by("line")[0]
    action = proposed(client, address(client, first, "retire_decision"))
    assert action.first_target == bytes(first.sha256).hex()


@pytest.mark.parametrize("verb", ["drain_queue", "archive_queue"])
def test_a_queue_is_drained_or_archived(client: Client, tmp_path: Path, verb: str) -> None:
    store, root = log_store(tmp_path, [])
    operation = {"type": "create_entities", "timestamp": "2026-03-01T10:00:00.000Z"}
    entities = {"entities": [{"name": "a", "entityType": "T", "observations": ["o"]}]}
    (root / "graph-queue.jsonl").write_bytes(compact({**operation, "payload": entities}))
    import_store(store)
    url = f"/stores/{store.slug}/propose/queue/{verb}/"
    assert url in client.get(f"/stores/{store.slug}/drain/").content.decode()
    assert proposed(client, url).verb == verb
    assert client.get(f"/stores/{store.slug}/propose/queue/retire_decision/").status_code == 404


def test_a_record_that_changed_since_the_page_was_shown_is_shown_again(client: Client, tmp_path: Path) -> None:
    store, root = tree(tmp_path)
    url = address(client, Node.objects.get(natural_id="node.b"), "archive")
    seen = client.get(url).context["form"]["seen"].value()
    put(root, "node", node("node.b", text="Other words."))
    import_store(store)
    answer = client.post(url, {"seen": seen, "reason": "my long reason"})
    assert answer.status_code == 409
    assert "my long reason" in text(answer)
    assert not LifecycleAction.objects.exists()
    assert client.post(url, {"seen": answer.context["form"]["seen"].value(), "reason": "again"}).status_code == 302


def test_what_does_not_lead_on_is_not_proposed(client: Client, tmp_path: Path) -> None:
    tree(tmp_path)
    stale, plain = Node.objects.get(natural_id="node.d"), Node.objects.get(natural_id="node.b")
    assert client.get(f"/records/node/{stale.pk}/propose/mark_stale/").status_code == 409
    assert client.get(f"/records/node/{plain.pk}/propose/undo/").status_code == 409
    assert client.get(f"/records/node/{plain.pk}/propose/no_such_verb/").status_code == 404
    assert client.get(f"/records/no_such_type/{plain.pk}/propose/archive/").status_code == 404
    url = address(client, plain, "supersede")
    seen = client.get(url).context["form"]["seen"].value()
    refused = client.post(url, {"seen": seen, "reason": "x", "superseded_by": "node.none"})
    assert (refused.status_code, LifecycleAction.objects.count()) == (422, 0)


def test_the_record_s_page_shows_its_open_actions(client: Client, tmp_path: Path) -> None:
    tree(tmp_path)
    record = Node.objects.get(natural_id="node.b")
    action = proposed(client, address(client, record, "archive"))
    assert [one.pk for one in client.get(record.get_absolute_url()).context["actions"].open] == [action.pk]
    again = client.post(address(client, record, "archive"), {"seen": bytes(record.sha256).hex(), "reason": "because"}, follow=True)
    assert "in the queue already" in text(again)
    assert LifecycleAction.objects.count() == 1


def test_one_fault_is_mended_in_the_planner_s_name(client: Client, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    put(root, "path", path("path.a", "event.0003", "event.0002"))
    (root / "nodes/node.b.json").rename(root / "nodes/other.json")
    import_store(store)
    fault = Fault.objects.get(code="path_event_order")
    page = client.get(f"/stores/{store.slug}/faults/{fault.pk}/")
    assert "Propose this repair" in text(page)
    client.post(f"/stores/{store.slug}/faults/{fault.pk}/propose/")
    action = LifecycleAction.objects.get()
    assert (action.verb, action.proposed_by, action.barred, action.state) == ("sort_events", "planner", [], "pending")
    event = AuditEvent.objects.filter(event="action_proposed").latest("number")
    assert event.actor is not None
    assert event.actor.username == "ines"


def test_all_safe_repairs_are_proposed_at_once_and_no_other(client: Client, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    (root / "nodes/node.b.json").rename(root / "nodes/other.json")
    (root / "profiles").joinpath("profile.a.json").write_bytes(b'{"schema_version": "markitect.memory.profile.v1", "id": "profile.a"}')
    put(root, "path", path("path.a", "event.0003", "event.0002"))
    import_store(store)
    assert "Propose all safe repairs" in text(client.get(f"/stores/{store.slug}/faults/"))
    client.post(f"/stores/{store.slug}/faults/propose-safe/")
    assert {(one.verb, one.state) for one in LifecycleAction.objects.all()} == {("rename_file", "ready"), ("rewrite_canonical", "ready")}


def test_the_missing_end_of_a_line_is_a_safe_repair_of_orchestkit_too(client: Client, tmp_path: Path) -> None:
    store, root = log_store(tmp_path, [decision(1, "use cursors")])
    (root / "decisions.jsonl").write_bytes((root / "decisions.jsonl").read_bytes().rstrip(b"\n"))
    import_store(store)
    client.post(f"/stores/{store.slug}/faults/propose-safe/")
    action = LifecycleAction.objects.get()
    assert (action.verb, action.state, action.first_target) == ("append_newline", "ready", "decisions.jsonl")


def test_a_plan_is_shown_before_it_is_proposed_and_proposed_once(client: Client, tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    rules: Record = {"id": "profile.a", "schema_version": "markitect.memory.profile.v1", "retention": {"default": {"stale_after_days": 1}}}
    put(root, "profile", rules)
    import_store(store)
    url = f"/stores/{store.slug}/plan/"
    shown = client.get(url)
    assert "Propose" in text(shown)
    assert not LifecycleAction.objects.exists()
    digest = shown.context["found"].digest
    assert client.post(url, {"digest": "another"}).status_code == 409
    client.post(url, {"digest": digest})
    assert {one.proposed_by for one in LifecycleAction.objects.all()} == {"planner"}
    number = LifecycleAction.objects.count()
    assert number == shown.context["found"].new > 0
    again = client.get(url)
    assert (again.context["found"].new, "in the queue already" in text(again)) == (0, True)
    client.post(url, {"digest": digest})
    assert LifecycleAction.objects.count() == number


def test_a_store_that_was_never_imported_says_so(client: Client, tmp_path: Path) -> None:
    store, _ = imported(tmp_path)
    Store.objects.filter(pk=store.pk).update(imported_at=None)
    assert "nothing is known of it" in text(client.get(f"/stores/{store.slug}/plan/"))
