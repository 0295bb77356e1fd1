"""import_graph and the review queue: what it may not write becomes actions, and once they are approved the store is the envelope."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stores.formats.canonical import pretty
from stores.health.phase_memory import check_all
from stores.lifecycle.changes import Create, Replace
from stores.models import AuditEvent, LifecycleAction, ReviewPolicy, Store, User
from stores.review import keeping, renewing
from stores.review.deciding import Manner, reject
from tests.apply.actions import imported, lines, now, switch
from tests.apply.places import left_in_store, open_journal
from tests.commands.conftest import Manage, Outcome
from tests.factories import PASSWORD
from tests.phase_memory_folders import edge, event, make_store, node, path, put
from tests.phase_memory_stores import read_facts
from tests.review.queues import reviewer

Envelope = dict[str, Any]
Decide = Callable[[int], Outcome]


@pytest.fixture
def root(manage: Manage) -> Path:
    """Give a registered store; applying is on."""
    folder = make_store(manage.place / "atlas")
    manage("add_store", folder)
    switch()
    return folder


@pytest.fixture
def ines(manage: Manage) -> User:
    return reviewer("ines")


@pytest.fixture
def approve(manage: Manage, ines: User, monkeypatch: pytest.MonkeyPatch) -> Decide:
    """Give what approves an action from a terminal, with the password of an account that proposed nothing."""

    def run(pk: int) -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{PASSWORD}\n"))
        return manage("review_action", str(pk), "--approve", "--as", "ines", "--password-stdin", "--reason", "looked at it")

    return run


def exported(manage: Manage, slug: str = "atlas") -> Envelope:
    said: Envelope = json.loads(manage("export_graph", slug, "--graph-id", "graph.a").out)
    return said


def contract(record_type: str, **fields: Any) -> Envelope:
    """Give a record as the contract has it."""
    return {"kind": "decision" if record_type == "node" else "supports", **fields}


def wanted(manage: Manage, slug: str = "atlas") -> Envelope:
    """Give the envelope of the store with other content for two nodes, durable ones that are new, and what points at those."""
    said = exported(manage, slug)
    by_id = {one["id"]: one for one in said["nodes"]}
    by_id["node.a"]["text"] = "Pages by offset."
    by_id["node.c"]["phase"] = "stabilized"
    by_id["node.rigid"] = contract("node", id="node.rigid", text="Never page by offset.", phase="rigid")
    by_id["node.fine"] = contract("node", id="node.fine", text="A fluid one.", phase="fluid")
    said["nodes"] = [by_id[name] for name in sorted(by_id)]
    said["edges"] += [
        contract("edge", id="edge.fine", source="node.fine", target="node.b"),
        contract("edge", id="edge.out", source="node.rigid", target="node.fine"),
    ]
    said["edges"].sort(key=lambda one: one["id"])
    said["metadata"]["paths"].append({**path("path.sum", "event.0001"), "state": "compacted", "compacted_summary_id": "node.rigid"})
    said["events"] += [{key: value for key, value in event(9).items() if key != "schema_version"}]
    return said


def written(place: Path, envelope: Envelope) -> Path:
    place.write_bytes(pretty(envelope))
    return place


def tree(root: Path) -> dict[str, bytes]:
    return {str(place.relative_to(root)): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def faults(root: Path) -> list[str]:
    """Name what is wrong with a store; events that come in are older than those that say so."""
    return [one.code for one in check_all(read_facts(root)).listed() if one.code != "event_timestamp_regression"]


def same_but_for_actions(found: Envelope, envelope: Envelope) -> bool:
    """Say that a store is the envelope, and that its log holds one event more for each action that was applied."""
    events = [one for one in found["events"] if "action_id" not in one]
    applied = set(LifecycleAction.objects.filter(state="applied").values_list("action_id", flat=True))
    assert {one["action_id"] for one in found["events"] if "action_id" in one} == applied
    return {**found, "events": events} == envelope


def test_what_a_person_has_to_decide_on_is_queued_approved_and_written_as_it_was_approved(
    manage: Manage, root: Path, approve: Decide
) -> None:
    envelope = wanted(manage)
    graph = written(manage.place / "graph.json", envelope)
    before = tree(root)
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert done.code == 3
    assert done.document["imported"] == {"nodes": 1, "edges": 1, "events": 1}
    by_id = {one["id"]: one for one in done.document["submitted"]}
    assert {name: (one["record_type"], one["verb"], one["code"], one["state"]) for name, one in by_id.items()} == {
        "node.a": ("node", "replace_record", "queued", "pending"),
        "node.c": ("node", "replace_record", "queued", "pending"),
        "node.rigid": ("node", "create_record", "queued", "pending"),
        "edge.out": ("edge", "create_record", "queued", "pending"),
        "path.sum": ("path", "create_record", "queued", "pending"),
    }
    now_there = tree(root)
    assert now_there.keys() - before.keys() == {"nodes/node.fine.json", "edges/edge.fine.json"}
    assert now_there["nodes/node.a.json"] == before["nodes/node.a.json"]
    rows = {row.first_target: row for row in LifecycleAction.objects.all()}
    assert {name: row.tier for name, row in rows.items()} == {
        "node.a": "high", "node.c": "high", "node.rigid": "high", "edge.out": "medium", "path.sum": "medium",
    }  # fmt: skip
    assert all(row.proposed_by.startswith("os:") and row.origin == "terminal" for row in rows.values())
    assert AuditEvent.objects.get(event="action_proposed", detail__number=3).actor_label.startswith("os:")
    assert rows["node.rigid"].gist == "Never page by offset." and rows["node.rigid"].durable

    for row in rows.values():
        decided = approve(row.pk)
        assert decided.code == 0, decided.err
    assert manage("apply_actions", "atlas").code == 0
    assert set(LifecycleAction.objects.values_list("state", flat=True)) == {"applied"}
    for row in rows.values():
        (change,) = (one for one in keeping.effect_of(row).changes if isinstance(one, Create | Replace))
        assert (root / change.path).read_bytes() == change.after
    assert same_but_for_actions(exported(manage), envelope)
    assert faults(root) == []
    assert (left_in_store(root), open_journal()) == ([], [])
    audited = [one for one in lines(root / "audit.jsonl") if one["operation"] == "lifecycle.apply" and one.get("approval_marker")]
    assert {one["targets"][0]["id"] for one in audited} == rows.keys()

    again = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert (again.code, again.document["submitted"], again.document["change"]) == (0, [], "")


def test_the_same_import_twice_makes_no_second_action(manage: Manage, root: Path) -> None:
    graph = written(manage.place / "graph.json", wanted(manage))
    first = manage("import_graph", "atlas", "--graph", graph, "--json")
    after = tree(root)
    second = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert (first.code, second.code) == (3, 3)
    told = [[(one["id"], one["action_id"], one["action"]) for one in done.document["submitted"]] for done in (first, second)]
    assert told[0] == told[1]
    assert {one["code"] for one in second.document["submitted"]} == {"already_queued"}
    assert LifecycleAction.objects.count() == 5
    assert tree(root) == after


def test_the_ids_of_the_actions_are_printed(manage: Manage, root: Path) -> None:
    graph = written(manage.place / "graph.json", wanted(manage))
    done = manage("import_graph", "atlas", "--graph", graph)
    assert done.code == 3
    for row in LifecycleAction.objects.all():
        assert f"#{row.pk}" in done.out and row.action_id in done.out
    assert "5 actions wait for a review" in done.err


def test_a_dry_run_queues_nothing_and_says_that_a_person_is_needed(manage: Manage, root: Path) -> None:
    graph = written(manage.place / "graph.json", wanted(manage))
    before = tree(root)
    for more in ((), ("--submit",)):
        done = manage("import_graph", "atlas", "--graph", graph, "--dry-run", "--json", *more)
        assert (done.code, done.document["needs_review"], done.document["submitted"]) == (3, True, [])
    assert "Would be proposed: 1 edge, 3 nodes, 1 path" in manage("import_graph", "atlas", "--graph", graph, "--dry-run").err
    assert (tree(root), LifecycleAction.objects.count()) == (before, 0)


def test_what_was_rejected_is_not_asked_for_again_nor_what_points_at_it(manage: Manage, root: Path, ines: User) -> None:
    graph = written(manage.place / "graph.json", wanted(manage))
    manage("import_graph", "atlas", "--graph", graph)
    for row in LifecycleAction.objects.all():
        reject(ines, row.pk, row.digest, Manner("page", now(), "not here"))
    before = tree(root)
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert done.code == 1
    assert {one["id"]: one["code"] for one in done.document["submitted"]} == {
        "node.a": "rejected_recently", "node.c": "rejected_recently", "node.rigid": "rejected_recently",
        "edge.out": "needs_refused", "path.sum": "needs_refused",
    }  # fmt: skip
    assert (tree(root), LifecycleAction.objects.count()) == (before, 5)


def test_a_record_that_changed_after_its_approval_is_stale_and_can_be_renewed(
    manage: Manage, root: Path, approve: Decide, ines: User
) -> None:
    graph = written(
        manage.place / "graph.json",
        {
            "schema_version": "markitect.memory.graph.v1",
            "id": "graph.a",
            "nodes": [contract("node", id="node.a", text="New.", phase="fluid")],
        },
    )
    (told,) = manage("import_graph", "atlas", "--graph", graph, "--json").document["submitted"]
    assert approve(told["action"]).code == 0
    agents = put(root, "node", node("node.a", text="An agent wrote this meanwhile.")).read_bytes()
    manage("apply_actions", "atlas")
    row = LifecycleAction.objects.get()
    assert (row.state, row.reason_code) == ("stale", "stale_source")
    assert (root / "nodes/node.a.json").read_bytes() == agents
    imported(Store.objects.get())
    fresh = renewing.renew(ines, row.pk, now(), through="page")
    (change,) = (one for one in keeping.effect_of(fresh).changes if isinstance(one, Replace))
    assert (fresh.state, change.before) == ("pending", agents)
    assert json.loads(change.after)["text"] == "New."


def test_a_new_record_that_somebody_else_made_meanwhile_is_stale(manage: Manage, root: Path, approve: Decide) -> None:
    graph = written(manage.place / "graph.json", wanted(manage))
    manage("import_graph", "atlas", "--graph", graph)
    row = LifecycleAction.objects.get(first_target="node.rigid")
    assert approve(row.pk).code == 0
    mine = put(root, "node", node("node.rigid", text="Mine.")).read_bytes()
    manage("apply_actions", "atlas", "--action", str(row.pk))
    row.refresh_from_db()
    assert (row.state, (root / "nodes/node.rigid.json").read_bytes()) == ("stale", mine)


def test_what_points_at_a_node_waits_for_it(manage: Manage, root: Path, approve: Decide) -> None:
    graph = written(manage.place / "graph.json", wanted(manage))
    manage("import_graph", "atlas", "--graph", graph)
    rows = {row.first_target: row for row in LifecycleAction.objects.all()}
    assert approve(rows["edge.out"].pk).code == 0
    waiting = manage("apply_actions", "atlas", "--action", str(rows["edge.out"].pk), "--json").document["data"]["results"][0]
    assert (waiting["status"], waiting["reason_code"], waiting["state"]) == ("skipped", "store_blocked", "approved")
    assert "node.rigid" in waiting["message"]
    assert not (root / "edges/edge.out.json").exists()
    assert approve(rows["node.rigid"].pk).code == 0
    for name in ("node.rigid", "edge.out"):
        LifecycleAction.objects.filter(pk=rows[name].pk).update(lease_until=None)
        manage("apply_actions", "atlas", "--action", str(rows[name].pk))
    rows["edge.out"].refresh_from_db()
    assert (rows["edge.out"].state, (root / "edges/edge.out.json").exists()) == ("applied", True)
    assert faults(root) == []


def test_everything_can_be_submitted_and_then_the_store_becomes_the_envelope_by_approvals_alone(
    manage: Manage, root: Path, approve: Decide
) -> None:
    envelope = wanted(manage)
    graph, profile = written(manage.place / "graph.json", envelope), manage.place / "profile.json"
    profile.write_bytes(pretty({"id": "profile.new", "schema_version": "markitect.memory.profile.v1", "title": "New"}))
    before = tree(root)
    done = manage("import_graph", "atlas", "--graph", graph, "--profile", profile, "--submit", "--json")
    assert (done.code, done.document["change"], tree(root)) == (3, "", before)
    assert {one["id"]: one["verb"] for one in done.document["submitted"]} == {
        "profile.new": "create_record", "node.a": "replace_record", "node.c": "replace_record", "node.fine": "create_record",
        "node.rigid": "create_record", "event.0009": "append_events", "edge.fine": "create_record", "edge.out": "create_record",
        "path.sum": "create_record",
    }  # fmt: skip
    again = manage("import_graph", "atlas", "--graph", graph, "--profile", profile, "--submit", "--json")
    assert {one["code"] for one in again.document["submitted"]} == {"already_queued"}
    for row in LifecycleAction.objects.all():
        assert approve(row.pk).code == 0
    assert manage("apply_actions", "atlas").code == 0
    assert set(LifecycleAction.objects.values_list("state", flat=True)) == {"applied"}
    assert same_but_for_actions(exported(manage), envelope)
    assert json.loads((root / "profiles/profile.new.json").read_bytes())["title"] == "New"
    assert faults(root) == []


def test_many_events_keep_their_order_and_a_path_waits_for_its_last(
    manage: Manage, root: Path, approve: Decide, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stores.review.graph_imports.MOST_EVENTS", 2)
    envelope = exported(manage)
    new = [{key: value for key, value in event(number).items() if key != "schema_version"} for number in range(20, 25)]
    envelope["events"] += new
    envelope["metadata"]["paths"].append(path("path.new", "event.0021", "event.0022"))
    graph = written(manage.place / "graph.json", envelope)
    done = manage("import_graph", "atlas", "--graph", graph, "--submit", "--json")
    assert [(one["id"], one["records"]) for one in done.document["submitted"]] == [
        ("event.0020", 2), ("event.0022", 2), ("event.0024", 1), ("path.new", 1),
    ]  # fmt: skip
    rows = list(LifecycleAction.objects.order_by("-pk"))
    for row in rows:
        assert approve(row.pk).code == 0
        # In the wrong order, one by one: each waits for the one before it.
        manage("apply_actions", "atlas", "--action", str(row.pk))
    assert [LifecycleAction.objects.get(pk=row.pk).state for row in rows] == ["approved", "approved", "approved", "applied"]
    LifecycleAction.objects.update(lease_until=None)
    assert manage("apply_actions", "atlas").code == 0
    assert same_but_for_actions(exported(manage), envelope)
    assert faults(root) == []


def test_a_policy_that_lets_no_command_write_names_the_flag_that_works(manage: Manage, root: Path) -> None:
    ReviewPolicy.objects.create(store=None, submit_only=True)
    graph = written(manage.place / "graph.json", wanted(manage))
    before = tree(root)
    refused = manage("import_graph", "atlas", "--graph", graph)
    assert (refused.code, "--submit" in refused.err, tree(root)) == (2, True, before)
    copy = manage.place / "copy"
    refused = manage("import_graph", "--into", copy, "--graph", graph)
    assert (refused.code, "--submit" in refused.err, copy.exists()) == (2, True, False)
    assert manage("import_graph", "atlas", "--graph", graph, "--submit").code == 3
    made = manage("import_graph", "--into", copy, "--graph", graph, "--submit", "--json")
    assert (made.code, made.document["imported"]) == (3, {"events": 0})
    assert {one["verb"] for one in made.document["submitted"]} == {"create_record", "append_events"}
    assert not any((copy / "nodes").iterdir()) and (copy / "events.jsonl").read_bytes() == b""


def test_an_event_of_the_log_can_be_replaced_by_nobody(manage: Manage, root: Path) -> None:
    envelope = exported(manage)
    envelope["events"][0]["kind"] = "updated"
    done = manage("import_graph", "atlas", "--graph", written(manage.place / "graph.json", envelope), "--json")
    assert (done.code, done.document["needs_review"], done.document["submitted"]) == (1, False, [])
    assert done.document["not_imported"] == [{"record_type": "event", "id": "event.0001", "reason": "conflict"}]
    assert "never rewritten" in manage("import_graph", "atlas", "--graph", manage.place / "graph.json").err


def test_a_profile_with_other_content_is_replaced_by_an_approval(manage: Manage, root: Path, approve: Decide) -> None:
    profile = manage.place / "profile.json"
    profile.write_bytes(pretty({"id": "profile.a", "schema_version": "markitect.memory.profile.v1", "title": "Stricter"}))
    graph = written(manage.place / "graph.json", {"schema_version": "markitect.memory.graph.v1", "id": "graph.a"})
    done = manage("import_graph", "atlas", "--graph", graph, "--profile", profile, "--json")
    (told,) = done.document["submitted"]
    assert (done.code, told["record_type"], told["verb"]) == (3, "profile", "replace_record")
    assert approve(told["action"]).code == 0
    assert manage("apply_actions", "atlas").code == 0
    assert json.loads((root / "profiles/profile.a.json").read_bytes())["title"] == "Stricter"


def test_a_record_that_cannot_be_interpreted_is_put_right_by_an_approval(manage: Manage, root: Path, approve: Decide) -> None:
    put(root, "node", {"id": "node.odd", "kind": 7})
    put(root, "node", node("node.later", schema_version="phase_memory.node.v9"))
    put(root, "node", node("node.phase", phase="gaseous"))
    assert sorted(faults(root)) == ["invalid_phase", "invalid_record", "unknown_record_schema_version"]
    nodes = [contract("node", id=name, text="Put right.", phase="fluid") for name in ("node.odd", "node.later", "node.phase")]
    graph = written(manage.place / "graph.json", {"schema_version": "markitect.memory.graph.v1", "id": "g", "nodes": nodes})
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert [(one["id"], one["verb"]) for one in done.document["submitted"]] == [
        ("node.odd", "replace_record"), ("node.later", "replace_record"), ("node.phase", "replace_record"),
    ]  # fmt: skip
    for one in done.document["submitted"]:
        assert approve(one["action"]).code == 0
    assert manage("apply_actions", "atlas").code == 0
    assert faults(root) == []


def test_a_large_record_is_proposed_written_and_renewed(manage: Manage, root: Path, approve: Decide, ines: User) -> None:
    text = "Long memory. " * 20_000
    nodes = [contract("node", id=name, text=text, phase="rigid") for name in ("node.a", "node.long")]
    graph = written(manage.place / "graph.json", {"schema_version": "markitect.memory.graph.v1", "id": "g", "nodes": nodes})
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    rows = {one["id"]: one["action"] for one in done.document["submitted"]}
    put(root, "node", node("node.a", text="An agent's."))
    for pk in rows.values():
        assert approve(pk).code == 0
    manage("apply_actions", "atlas")
    assert json.loads((root / "nodes/node.long.json").read_bytes())["text"] == text
    fresh = renewing.renew(ines, rows["node.a"], now(), through="page")
    assert (fresh.state, LifecycleAction.objects.get(pk=rows["node.a"]).state) == ("pending", "stale")


def test_a_verb_that_the_policy_does_not_allow_is_not_proposed(manage: Manage, root: Path) -> None:
    ReviewPolicy.objects.create(store=Store.objects.get(), denied_verbs=["replace_record"])
    graph = written(manage.place / "graph.json", wanted(manage))
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert done.code == 3
    codes = {one["id"]: one["code"] for one in done.document["submitted"]}
    assert codes == {
        "node.a": "policy_denied", "node.c": "policy_denied", "node.rigid": "queued", "edge.out": "queued", "path.sum": "queued",
    }  # fmt: skip


HOSTILE = [
    "../../climbs", "..", "con", "nul.json", "a/b", ".hidden", "node.new.json", "a\x00b", "a\nb", "\ud800", "n\u00f6de", "x" * 300, "", " ", 7, None,
    ["node.x"], {"id": "x"}, "<script>alert(1)</script>", "{{ 7*7 }}", "a\u202eb", "*",
]  # fmt: skip


def test_hostile_ids_become_no_action_and_no_file(manage: Manage, root: Path) -> None:
    nodes = [contract("node", id=name, text="x", phase="rigid") for name in HOSTILE]
    graph = manage.place / "graph.json"
    graph.write_text(json.dumps({"schema_version": "markitect.memory.graph.v1", "id": "g\n\u202e{{ x }}", "nodes": nodes}))
    before = tree(root)
    for more in ((), ("--submit",)):
        done = manage("import_graph", "atlas", "--graph", graph, "--json", *more)
        assert (done.code, done.document["submitted"]) == (1, [])
        assert len(done.document["not_imported"]) == len(HOSTILE)
    told = manage("import_graph", "atlas", "--graph", graph)
    assert "\u202e" not in told.out + told.err and "\x00" not in told.out + told.err
    assert (tree(root), LifecycleAction.objects.count()) == (before, 0)


def test_hostile_texts_are_queued_as_text_and_written_as_they_are(manage: Manage, root: Path, approve: Decide) -> None:
    text = "</script><img src=x onerror=alert(1)> {{ 7*7 }} {% debug %} \x1b[2J \u202e \x00 '; DROP TABLE x; --"
    hostile = contract("node", id="node.evil", text=text, phase="rigid", metadata={"title": text, text: {"deep": [text]}})
    graph = written(manage.place / "graph.json", {"schema_version": "markitect.memory.graph.v1", "id": f"graph {text}", "nodes": [hostile]})
    done = manage("import_graph", "atlas", "--graph", graph)
    assert done.code == 3 and "\x1b" not in done.out + done.err
    row = LifecycleAction.objects.get()
    decided = approve(row.pk)
    assert (decided.code, "\x1b" in decided.out, "\u202e" in decided.out) == (0, False, False)
    assert manage("apply_actions", "atlas").code == 0
    written_now = json.loads((root / "nodes/node.evil.json").read_bytes())
    assert (written_now["text"], written_now["metadata"]) == (text, {"title": text, text: {"deep": [text]}})


def test_what_looks_like_a_secret_is_proposed_and_cannot_be_approved(manage: Manage, root: Path, approve: Decide) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    node_with = contract("node", id="node.key", text=f"The token is {secret}", phase="rigid")
    graph = written(manage.place / "graph.json", {"schema_version": "markitect.memory.graph.v1", "id": "g", "nodes": [node_with]})
    done = manage("import_graph", "atlas", "--graph", graph)
    assert (done.code, secret in done.out + done.err) == (3, False)
    refused = approve(LifecycleAction.objects.get().pk)
    assert (refused.code, secret in refused.out + refused.err) == (2, False)


def test_a_node_in_a_phase_that_nobody_knows_needs_a_person(manage: Manage, root: Path) -> None:
    odd = contract("node", id="node.odd", text="x", phase="Rigid")
    graph = written(manage.place / "graph.json", {"schema_version": "markitect.memory.graph.v1", "id": "g", "nodes": [odd]})
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert (done.code, [one["reason"] for one in done.document["not_imported"]]) == (3, ["durable"])
    assert not (root / "nodes/node.odd.json").exists()


def test_an_edge_with_other_content_waits_for_its_new_end(manage: Manage, root: Path, approve: Decide) -> None:
    envelope = exported(manage)
    envelope["nodes"].append(contract("node", id="node.rigid", text="x", phase="rigid"))
    envelope["edges"] = [edge("edge.a", "node.a", "node.rigid")]
    graph = written(manage.place / "graph.json", envelope)
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    rows = {one["id"]: one["action"] for one in done.document["submitted"]}
    assert approve(rows["edge.a"]).code == 0
    manage("apply_actions", "atlas", "--action", str(rows["edge.a"]))
    assert LifecycleAction.objects.get(pk=rows["edge.a"]).reason_code == "store_blocked"
    assert approve(rows["node.rigid"]).code == 0
    LifecycleAction.objects.update(lease_until=None)
    assert manage("apply_actions", "atlas").code == 0
    assert same_but_for_actions(exported(manage), envelope)
