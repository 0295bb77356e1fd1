"""Lists and pages of phase-memory stores, made from real files on disk."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from stores.formats.canonical import pretty
from stores.lists.phase_memory import PHASE_MEMORY
from stores.lists.specs import ListSpec
from stores.mirror.importing import import_store
from stores.models import Activation, AuditEvent, AuditRecord, Decision, Edge, Event, EventVersion, Node, Profile, Store
from stores.selectors import memory_nodes
from tests.factories import make_user
from tests.mirror.images import register
from tests.phase_memory_folders import Record, append, audit, edge, event, make_store, node, put
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
BODY = SECRET[4:14]
"""Stands in no page: neither the whole, nor a half, nor with spaces in it."""
HOSTILE = "<script>alert(1)</script>{{ 7|add:7 }}\u202e"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_store(tmp_path.resolve() / "atlas")


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_user("ines", groups=["viewer", "reviewer", "operator"]))
    client.get("/account/")
    return client


def imported(root: Path) -> Store:
    store = register(root, kind="phase-memory")
    import_store(store)
    return store


def of(page: Client, model: type[Node | Edge | Event | Activation | AuditRecord | Profile], natural_id: str) -> Any:
    """Ask for the page of the record with this id."""
    answer = page.get(model._default_manager.get(natural_id=natural_id).get_absolute_url())
    assert answer.status_code == 200
    assert_harmless(answer)
    return answer


@pytest.mark.parametrize("spec", PHASE_MEMORY, ids=lambda spec: spec.section)
def test_every_list_shows_what_the_files_hold_and_exports_the_same(page: Client, root: Path, spec: ListSpec) -> None:
    imported(root)
    shown = page.get(f"/{spec.section}/")
    assert_harmless(shown)
    live = list(spec.model._default_manager.order_by("pk").values_list("natural_id", flat=True))
    exported = json.loads(b"".join(page.get(f"/{spec.section}/export.json")))
    given = page.get(f"/api/v1/{spec.section}/").json()
    assert sorted(one["natural_id"] for one in exported) == sorted(live)
    assert sorted(one["natural_id"] for one in given["items"]) == sorted(live)
    links = {attrs.get("href") for tag, attrs in elements(shown) if tag == "a"}
    records: list[Any] = list(spec.model._default_manager.all())
    assert {record.get_absolute_url() for record in records} <= links
    assert page.get(f"/api/v1/{spec.section}/{exported[0]['id']}/").json()["content"]


def test_nodes_are_narrowed_by_each_facet(page: Client, root: Path) -> None:
    imported(root)
    for query, names in (
        ("phase=rigid", {"node.c"}),
        ("phase=fluid", {"node.a", "node.b"}),
        ("agent=agent.planner", {"node.a"}),
        ("label=draft%2C+local", {"node.b"}),
        ("review=reviewed", {"node.c"}),
        ("review=never", set()),
        ("kind=decision&state=active", {"node.a", "node.b", "node.c"}),
        ("q=cursor", {"node.a", "node.b", "node.c"}),
    ):
        found = page.get(f"/api/v1/nodes/?{query}").json()
        assert {one["natural_id"] for one in found["items"]} == names, query
        assert found["count"] == len(names), query


def test_a_node_tells_where_it_comes_from_and_what_became_of_it(page: Client, root: Path) -> None:
    imported(root)
    said = text(of(page, Node, "node.a"))
    assert "chosen: recent, score 0.50, 20 tokens" in said
    assert "Comes from1 event" in said
    assert "What events did to it1 create" in said
    other = text(of(page, Node, "node.b"))
    assert "passed over: budget items" in other
    assert "Edges that end here1" in other
    assert "The record names no event as its source." in other
    rigid = text(of(page, Node, "node.c"))
    assert "reviewed" in rigid
    assert "Audited1" in rigid


def test_the_picture_of_a_neighbourhood_says_what_the_tables_say(page: Client, root: Path) -> None:
    put(root, "edge", edge("edge.far", "node.b", "node.c", kind="mentions"))
    put(root, "edge", edge("edge.lost", "node.a", "node.gone"))
    imported(root)
    first = Node.objects.get(natural_id="node.a")
    ids = dict(Node.objects.values_list("natural_id", "pk"))
    one, two = (page.get(f"/nodes/{first.pk}/data/?depth={depth}").json() for depth in (1, 2))
    assert {drawn["id"] for drawn in one["nodes"]} == {str(ids["node.a"]), str(ids["node.b"])}
    assert {drawn["id"] for drawn in two["nodes"]} == {str(pk) for pk in ids.values()}
    assert one["centre"] == str(first.pk)
    edges = {(drawn["source"], drawn["target"], drawn["label"]) for drawn in two["edges"]}
    assert edges == {(str(ids["node.a"]), str(ids["node.b"]), "supports"), (str(ids["node.b"]), str(ids["node.c"]), "mentions")}
    for drawn in [*two["nodes"], *two["edges"]]:
        part = page.get(drawn["url"], headers={"HX-Request": "true", "HX-Target": "picked"})
        assert b'id="picked"' in part.content
        assert b"<html" not in part.content
    assert "node.gone missing" in text(of(page, Node, "node.a"))
    assert "node.gone missing" in text(of(page, Edge, "edge.lost"))


def test_a_reworded_node_shows_what_changed(page: Client, root: Path) -> None:
    store = imported(root)
    put(root, "node", node("node.a", text="Pages by offset."))
    import_store(store)
    answer = of(page, Node, "node.a")
    assert "Earlier wordings1" in text(answer)
    assert {tag for tag, _ in elements(answer)} >= {"del", "ins"}


def test_an_activation_says_how_much_of_its_budget_it_took_and_why_it_passed_over(page: Client, root: Path) -> None:
    record: Record = {
        "id": "activation.b",
        "node_ids": ["node.a"],
        "budget": {"max_items": 4, "max_tokens": 100, "used_items": 1, "used_tokens": 250},
        "items": [{"node_id": "node.a", "tokens": 250, "reason_selected": "asked for"}],
        "omitted": [{"node_id": "node.b", "reason_code": "budget_tokens"}, {"node_id": "node.gone", "reason_code": "not_active"}],
    }
    put(root, "activation", record)
    imported(root)
    said = text(of(page, Activation, "activation.b"))
    assert "Items1 of 4" in said
    assert "Tokens250 of 100" in said
    assert "no tokens left in the budget budget_tokens" in said
    assert "node.gone missing" in said
    assert "250 of 100" in text(page.get("/activations/"))


def test_an_event_of_an_unknown_version_is_not_interpreted_until_an_operator_makes_it_known(page: Client, root: Path) -> None:
    append(root, "events.jsonl", event(4, schema_version="other.v7", node_updates=[{"node_id": "node.a", "operation": "update"}]))
    store = imported(root)
    assert "Its schema version is not known here" in text(of(page, Event, "event.0004"))
    versions = page.get("/event-versions/")
    assert_harmless(versions)
    assert "other.v7 1 event in 1 store" in text(versions).replace("other.v7", "other.v7 ").replace("  ", " ")
    assert page.post("/event-versions/add/", {"name": "other.v7", "note": "their writer"}).status_code == 302
    assert page.post("/event-versions/add/", {"name": "other.v7"}).status_code == 302
    assert page.post("/event-versions/add/", {"name": "a\nb"}).status_code == 422
    import_store(store)
    assert "Its schema version is not known here" not in text(of(page, Event, "event.0004"))
    version = EventVersion.objects.get()
    assert (version.name, version.note, version.added_by.username) == ("other.v7", "their writer", "ines")  # type: ignore[union-attr]
    assert page.post(f"/event-versions/{version.pk}/drop/").status_code == 302
    assert page.post(f"/event-versions/{version.pk}/drop/").status_code == 404
    kept = AuditEvent.objects.filter(event__startswith="event_version").order_by("pk").values_list("event", "object_label")
    assert list(kept) == [("event_version_added", "other.v7"), ("event_version_dropped", "other.v7")]


def test_a_viewer_neither_sees_nor_changes_the_known_versions(root: Path) -> None:
    client = Client()
    client.force_login(make_user("vera", groups=["viewer"]))
    assert client.get("/event-versions/").status_code == 403
    assert client.post("/event-versions/add/", {"name": "other.v7"}).status_code == 403
    assert not EventVersion.objects.exists()


def test_an_audit_record_says_whether_what_it_touched_is_still_so(page: Client, root: Path) -> None:
    store = imported(root)
    said = text(of(page, AuditRecord, "audit.0002"))
    assert "as after" in said
    assert "Needs a reviewyes" in said
    put(root, "node", node("node.c", phase="rigid", text="Written around the gate."))
    import_store(store)
    assert "other content" in text(of(page, AuditRecord, "audit.0002"))


def test_the_page_of_a_store_asks_nothing_of_records_that_its_kind_does_not_have(page: Client, root: Path) -> None:
    store = imported(root)
    with CaptureQueriesContext(connection) as asked:
        assert page.get(store.get_absolute_url()).status_code == 200
    assert not [one["sql"] for one in asked.captured_queries if Decision._meta.db_table in one["sql"]]


def test_an_audit_record_names_events_of_the_log_and_others_and_no_end_of_them(page: Client, root: Path) -> None:
    last = json.loads((root / "audit.jsonl").read_bytes().splitlines()[-1])
    append(root, "audit.jsonl", audit(3, last, event_ids=["event.0001", *(f"event.lost.{number}" for number in range(400))]))
    imported(root)
    answer = of(page, AuditRecord, "audit.0003")
    assert Event.objects.get(natural_id="event.0001").get_absolute_url() in answer.content.decode()
    assert "Not in the log: event.lost.0, event.lost.1" in text(answer)
    with CaptureQueriesContext(connection) as asked:
        memory_nodes.audit_around(AuditRecord.objects.get(natural_id="audit.0003"), [f"event.lost.{number}" for number in range(400)])
    assert max(len(one["sql"]) for one in asked.captured_queries) < 4_000


def test_an_apply_without_approval_is_named(page: Client, root: Path) -> None:
    lines = (root / "audit.jsonl").read_bytes().splitlines()
    last = json.loads(lines[-1])
    append(root, "audit.jsonl", audit(3, last, operation="lifecycle.apply", subject_id="action:9", requires_review=True))
    imported(root)
    assert "it was carried out without marker and review" in text(of(page, AuditRecord, "audit.0003"))


PROFILE: Record = {
    "id": "profile.b",
    "title": "Rules",
    "memory_kinds": ["decision"],
    "retention": {"default": {"stale_after_days": 45, "delete_after_days": 110}, "turn": {"stale_after_days": 1}},
    "limits": {"decision": {"max_nodes": 2}},
    "activation": {"max_items": 8},
    "policy": {"durable_writes": "review-gated", "review": {"default_reviewers": ["mira"], "reason_required": True}},
    "metadata": {
        "phase_transitions": [{"kind": "decision", "from_phase": "fluid", "to_phase": "stabilized", "min_age_days": 1, "reason": "old"}]
    },
}


def test_a_profile_tells_its_rules_in_words_beside_what_is_there(page: Client, root: Path) -> None:
    put(root, "profile", PROFILE)
    imported(root)
    said = text(of(page, Profile, "profile.b"))
    assert "stale 45 days after the last change, its deletion is asked for after 110 days, which needs a review" in said
    assert "decision: fluid → stabilized after 1 day" in said
    assert "Reviewers are mira. A reason has to be given. Who proposes may not approve." in said
    assert "decision, nodes3 of 2" in said


def test_the_board_counts_nodes_and_each_number_leads_to_them(page: Client, root: Path) -> None:
    put(root, "profile", PROFILE)
    put(root, "node", node("node.d", phase="stabilized", lifecycle_state="stale"))
    store = imported(root)
    board = page.get(f"/stores/{store.slug}/phases/?profile={Profile.objects.get(natural_id='profile.b').pk}")
    assert_harmless(board)
    links = {attrs["href"] for tag, attrs in elements(board) if tag == "a" and "/nodes/?" in attrs.get("href", "")}
    assert len(links) >= 5
    for link in links:
        wanted = link.replace("/nodes/", "/api/v1/nodes/").replace("&amp;", "&")
        number = page.get(wanted).json()["count"]
        shown = re.search(rf'href="{re.escape(link.replace("&", "&amp;"))}"[^>]*>([\d,]+)', board.content.decode())
        assert shown is not None, link
        assert int(shown[1]) == number, link
    said = text(board)
    assert "Durable and never reviewed1 node" in said
    assert "decision: fluid → stabilized after 1 day" in said
    tabs = {attrs.get("href") for tag, attrs in elements(board) if tag == "a"}
    assert f"/stores/{store.slug}/paths/" in tabs
    assert not tabs & {f"/stores/{store.slug}/{name}/" for name in ("backlog", "told", "graph")}


def test_a_store_without_a_profile_or_events_has_a_board_too(page: Client, tmp_path: Path) -> None:
    folder = make_store(tmp_path.resolve() / "bare")
    shutil.rmtree(folder / "profiles")
    (folder / "events.jsonl").write_bytes(b"")
    store = imported(folder)
    said = text(page.get(f"/stores/{store.slug}/phases/"))
    assert "so no rule moves anything" in said
    assert "No event of this time names a node that it changed." in said


def test_the_rail_leads_to_what_the_kinds_at_hand_hold(page: Client, root: Path) -> None:
    def rail() -> set[str]:
        return {attrs.get("href", "") for tag, attrs in elements(page.get("/")) if tag == "a"} & {
            "/nodes/",
            "/events/",
            "/paths/",
            "/decisions/",
        }

    assert rail() == {"/decisions/"}
    imported(root)
    assert rail() == {"/nodes/", "/events/", "/paths/"}


def test_hostile_texts_are_shown_as_text_and_secrets_masked(page: Client, root: Path) -> None:
    odd = f"node.{HOSTILE}{SECRET}"
    place = root / "nodes" / "odd.json"
    said = {
        "text": f"{HOSTILE} {SECRET}",
        "kind": HOSTILE,
        "tags": [HOSTILE, SECRET],
        "policy": {"labels": [HOSTILE, SECRET], "trust_zone": SECRET},
        "provenance": {"agent": SECRET, "session_id": HOSTILE, "path_id": SECRET, "source_event_ids": [SECRET, HOSTILE]},
        "metadata": {"title": f"{HOSTILE} {SECRET}", HOSTILE: SECRET},
        "superseded_by": SECRET,
        "source_spans": [{"path": SECRET, "unit_kind": HOSTILE}],
        "lifecycle_state": HOSTILE,
        SECRET: HOSTILE,
    }
    place.write_bytes(pretty({"id": odd, "phase": HOSTILE, **said}))
    behind = f"a long text in front of {SECRET}"
    told = {"kind": SECRET, "phase": "fluid", "lifecycle_state": SECRET, "provenance": {"agent": behind, "path_id": behind}}
    (root / "nodes" / "odder.json").write_bytes(pretty({"id": "node.odder", "text": "odder", **told}))
    (root / "edges" / "odder.json").write_bytes(
        pretty({"id": "edge.odder", "kind": behind, "lifecycle_state": SECRET, "source": "node.odder", "target": f"x {behind}"})
    )
    (root / "edges" / "odd.json").write_bytes(pretty({"id": HOSTILE, "kind": SECRET, "source": odd, "target": SECRET, "text": HOSTILE}))
    (root / "profiles" / "odd.json").write_bytes(
        pretty({**PROFILE, "id": SECRET, "title": HOSTILE, "limits": {SECRET: {"max_nodes": 1}}, "stores": {SECRET: HOSTILE},
                "retention": {HOSTILE: {"strategy": SECRET}}, "freshness": {"rules": {SECRET: "x"}}, "policy": {"review": {"default_reviewers": [SECRET, HOSTILE]}},
                "metadata": {"phase_transitions": [{"kind": SECRET, "from_phase": HOSTILE, "to_phase": HOSTILE, "reason": SECRET}]}})
    )  # fmt: skip
    items = [{"node_id": SECRET, "reason_selected": HOSTILE}, {"node_id": odd, "reason_selected": SECRET}]
    activation = {
        "id": SECRET,
        "title": HOSTILE,
        "intent": SECRET,
        "node_ids": [],
        "items": items,
        "omitted": [{"node_id": HOSTILE, "reason_code": SECRET}, {"node_id": "node.odder", "reason_code": SECRET}],
    }
    (root / "activations" / "odd.json").write_bytes(pretty(activation))
    changed = [
        {"node_id": odd, "operation": HOSTILE},
        {"node_id": SECRET, "operation": SECRET},
        {"node_id": "node.odder", "operation": SECRET},
    ]
    append(root, "events.jsonl", event(8, kind=HOSTILE, actor=SECRET, session_id=SECRET, path_id=SECRET, task=HOSTILE, action_id=SECRET,
                                       node_updates=changed, payload={SECRET: HOSTILE, HOSTILE: SECRET}))  # fmt: skip
    target = {"record_type": HOSTILE, "id": SECRET, "before_digest": SECRET, "after_digest": HOSTILE}
    append(root, "audit.jsonl", audit(9, operation=HOSTILE, decision=SECRET, actor=SECRET, subject_id=HOSTILE, reason=SECRET, review_id=SECRET,
                                      approval_marker=SECRET, targets=[target], profile_id=SECRET))  # fmt: skip
    store = imported(root)
    records: list[Any] = [record for spec in PHASE_MEMORY for record in spec.model._default_manager.filter(store=store)]
    addresses = [
        *(record.get_absolute_url() for record in records),
        *(
            f"/{spec.section}/{query}"
            for spec in PHASE_MEMORY
            for query in ("", "?cols=path_id,label,agent,session,review,source,target,task", "?sort=-at")
        ),
        *(f"/api/v1/{spec.section}/" for spec in PHASE_MEMORY),
        *(f"/api/v1/{record.get_absolute_url().strip('/')}/" for record in records),
        *(f"/nodes/{pk}/data/?depth=2" for pk in Node.objects.values_list("pk", flat=True)),
        *(f"/stores/{store.slug}/{tab}" for tab in ("", "phases/", "faults/", "health/")),
        f"/stores/{store.slug}/phases/?profile={Profile.objects.get(natural_id=SECRET).pk}",
        "/event-versions/",
        "/search/?q=alert",
    ]
    seen = 0
    for address in addresses:
        answer = page.get(address)
        assert answer.status_code == 200, address
        content = answer.content.decode()
        assert BODY not in content, address
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue
        assert_harmless(answer)
        assert "\u202e" not in text(answer), address
        seen += "&lt;script&gt;alert(1)&lt;/script&gt;" in content
    assert seen > 10


def test_pages_cost_the_same_number_of_queries_whatever_a_node_is_connected_with(page: Client, root: Path) -> None:
    store = imported(root)
    first = Node.objects.get(natural_id="node.a")
    addresses = [first.get_absolute_url(), f"/stores/{store.slug}/phases/", *(f"/{spec.section}/" for spec in PHASE_MEMORY)]

    def queries() -> list[int]:
        numbers = []
        for address in addresses:
            with CaptureQueriesContext(connection) as asked:
                assert page.get(address).status_code == 200
            numbers.append(len(asked))
        return numbers

    queries()
    few = queries()
    for number in range(120):
        put(root, "node", node(f"node.more-{number}", kind=f"kind-{number % 9}", phase="rigid" if number % 2 else "ephemeral"))
        put(root, "edge", edge(f"edge.more-{number}", "node.a", f"node.more-{number}"))
        put(root, "activation", {"id": f"activation.more-{number}", "node_ids": ["node.a"], "items": [{"node_id": "node.a"}]})
    append(root, "events.jsonl", *(event(number, node_updates=[{"node_id": "node.a", "operation": "update"}]) for number in range(10, 90)))
    import_store(store, now=timezone.now())
    assert queries() == few
    assert max(few[2:]) <= 12
