"""export_graph and import_graph: a store goes out and comes in again byte for byte, and nothing that is there is written over."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from stores.formats.canonical import pretty
from stores.formats.strict import judge
from stores.models import AuditEvent, Fault, Node, Store
from tests.commands.conftest import Manage
from tests.phase_memory_folders import edge, event, make_store, node, put

PROFILE = {"id": "profile.new", "schema_version": "markitect.memory.profile.v1", "title": "New"}


@pytest.fixture
def root(manage: Manage) -> Path:
    folder = make_store(manage.place / "atlas")
    manage("add_store", folder)
    return folder


def export(manage: Manage, slug: str) -> str:
    return manage("export_graph", slug, "--graph-id", "graph.a").out


def envelope(place: Path, **parts: object) -> Path:
    """Write an envelope of these parts."""
    place.write_bytes(pretty({"schema_version": "markitect.memory.graph.v1", "id": "graph.a", **parts}))
    return place


def tree(root: Path) -> dict[str, bytes]:
    return {str(place.relative_to(root)): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def test_a_store_goes_out_and_comes_in_again_byte_for_byte(manage: Manage, root: Path) -> None:
    graph, profile = manage.place / "graph.json", manage.place / "profile.json"
    told = manage("export_graph", "atlas", "--graph-id", "graph.a", "--out", graph, "--json").document
    assert told["records"] == {"node": 3, "edge": 1, "path": 1, "event": 3}
    assert graph.read_text("utf-8") == export(manage, "atlas")
    profile.write_bytes(pretty(PROFILE))
    done = manage("import_graph", "--into", manage.place / "copy", "--graph", graph, "--profile", profile, "--json")
    assert (done.code, done.document["store"], done.document["not_imported"]) == (0, "copy", [])
    assert done.document["imported"] == {"edges": 1, "events": 3, "nodes": 3, "paths": 1, "profiles": 1}
    assert export(manage, "copy") == graph.read_text("utf-8")
    copied = Store.objects.get(slug="copy")
    assert Node.objects.filter(store=copied, gone_at__isnull=True).count() == 3
    # The durable node has no record of its approval in the copy's own audit log, which an envelope does not carry.
    assert not Fault.objects.filter(store=copied, severity="error").exists()
    line = judge((manage.place / "copy" / "audit.jsonl").read_bytes().strip(), needs_id=False).value
    assert (line["operation"], line["sequence"], line["subject_id"]) == ("graph.import", 1, "graph.a")
    assert AuditEvent.objects.filter(event="graph_imported", object_label="copy").count() == 1


def test_importing_again_writes_nothing(manage: Manage, root: Path) -> None:
    graph = manage.place / "graph.json"
    graph.write_text(export(manage, "atlas"), "utf-8")
    before = tree(root)
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert (done.code, done.document["same"], done.document["change"]) == (0, 8, "")
    assert tree(root) == before


def test_new_records_and_events_go_into_a_store_that_exists(manage: Manage, root: Path) -> None:
    new = {key: value for key, value in event(9, path_id="path.a").items() if key != "schema_version"}
    graph = envelope(manage.place / "graph.json", nodes=[node("node.new")], edges=[edge("edge.new", "node.new", "node.a")], events=[new])
    before = tree(root)
    looked = manage("import_graph", "atlas", "--graph", graph, "--dry-run", "--json")
    assert (looked.code, looked.document["imported"], looked.document["change"]) == (0, {"edges": 1, "nodes": 1, "events": 1}, "")
    assert tree(root) == before
    assert manage("import_graph", "atlas", "--graph", graph).code == 0
    after = tree(root)
    assert after.keys() - before.keys() == {"nodes/node.new.json", "edges/edge.new.json"}
    assert {name for name in before if after[name] != before[name]} == {"events.jsonl", "audit.jsonl"}
    assert after["events.jsonl"].startswith(before["events.jsonl"])
    assert after["audit.jsonl"].startswith(before["audit.jsonl"])
    assert json.loads(after["events.jsonl"].splitlines()[-1])["schema_version"] == "phase_memory.memory.event.v1"
    # The chain of the audit log goes on unbroken, and the mirror knows what was written.
    codes = set(Fault.objects.filter(store__slug="atlas").values_list("code", flat=True))
    assert not codes & {"audit_chain_broken", "audit_sequence_gap", "malformed_audit_line"}
    assert Node.objects.filter(store__slug="atlas", natural_id="node.new", gone_at__isnull=True).exists()


def test_durable_and_existing_records_need_a_review(manage: Manage, root: Path) -> None:
    graph = envelope(
        manage.place / "graph.json",
        nodes=[node("node.a", text="Another text."), node("node.rigid", phase="rigid"), node("node.fine")],
        edges=[edge("edge.out", "node.rigid", "node.fine"), edge("edge.fine", "node.fine", "node.b")],
    )
    before = tree(root)
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert done.code == 3
    assert {(one["record_type"], one["id"]): one["reason"] for one in done.document["not_imported"]} == {
        ("node", "node.rigid"): "durable",
        ("edge", "edge.out"): "needs_refused",
        ("node", "node.a"): "conflict",
    }
    after = tree(root)
    assert after["nodes/node.a.json"] == before["nodes/node.a.json"]
    assert after.keys() - before.keys() == {"nodes/node.fine.json", "edges/edge.fine.json"}
    assert "3 actions wait for a review" in manage("import_graph", "atlas", "--graph", graph).err


def test_every_omission_is_listed(manage: Manage, root: Path) -> None:
    (root / "nodes" / "broken.json").write_bytes(b"{")
    put(root, "node", {"id": "node.odd", "kind": 7})
    put(root, "node", node("node.other", schema_version="phase_memory.node.v9"))
    with (root / "events.jsonl").open("ab") as log:
        log.write(b"not json\n")
    done = manage("export_graph", "atlas", "--graph-id", "graph.a")
    omitted = {(one["file"], one["line"]): one["reason"] for one in json.loads(done.out)["metadata"]["omitted"]}
    assert omitted.keys() == {
        ("nodes/broken.json", None),
        ("nodes/node.odd.json", None),
        ("nodes/node.other.json", None),
        ("events.jsonl", 4),
    }
    assert all(place in done.err for place, _ in omitted)
    # An id whose record is not interpreted is taken all the same.
    graph = envelope(manage.place / "graph.json", nodes=[node("node.other"), {"kind": "decision"}, node("../climbs"), "no record"])
    told = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert [one["reason"] for one in told.document["not_imported"]] == ["conflict", "bad_id", "bad_id", "invalid"]
    assert told.code == 3
    assert not (root / "climbs.json").exists()


def test_an_import_without_conflict_that_leaves_something_out_is_no_success(manage: Manage, root: Path) -> None:
    graph = envelope(manage.place / "graph.json", nodes=[node("node.new"), node("node.new")])
    done = manage("import_graph", "atlas", "--graph", graph, "--json")
    assert (done.code, [one["reason"] for one in done.document["not_imported"]]) == (1, ["repeated"])


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'{"schema_version": "markitect.memory.graph.v2", "nodes": []}', b"\xff"])
def test_what_is_no_graph_is_refused_and_makes_no_store(manage: Manage, root: Path, content: bytes) -> None:
    graph = manage.place / "graph.json"
    graph.write_bytes(content)
    assert manage("import_graph", "atlas", "--graph", graph).code == 2
    assert manage("import_graph", "--into", manage.place / "copy", "--graph", graph).code == 2
    assert not (manage.place / "copy").exists()


def test_a_store_is_made_in_an_empty_folder_only_and_within_the_roots(
    manage: Manage, root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph = envelope(manage.place / "graph.json", nodes=[node("node.new")])
    (manage.place / "used").mkdir()
    (manage.place / "used" / "notes.txt").write_text("mine")
    outside = tmp_path_factory.mktemp("outside")
    for folder in (manage.place / "used", outside / "store", root):
        assert manage("import_graph", "--into", folder, "--graph", graph).code == 2
    assert [place.name for place in (manage.place / "used").iterdir()] == ["notes.txt"]
    assert not any(outside.iterdir())
    assert manage("import_graph", "--into", manage.place / "new", "--graph", graph, "--dry-run").code == 0
    assert not (manage.place / "new").exists()
    assert manage("import_graph", "--graph", graph).code == 2
    assert manage("import_graph", "atlas", "--into", manage.place / "new", "--graph", graph).code == 2


def test_a_profile_is_taken_once_and_never_written_over(manage: Manage, root: Path) -> None:
    graph, profile = envelope(manage.place / "graph.json", nodes=[]), manage.place / "profile.json"
    profile.write_bytes(pretty(PROFILE))
    asked = ("import_graph", "atlas", "--graph", graph, "--profile", profile, "--json")
    assert manage(*asked).document["imported"] == {"profiles": 1, "events": 0}
    assert manage(*asked).document["same"] == 1
    profile.write_bytes(pretty({**PROFILE, "title": "Newer"}))
    done = manage(*asked)
    assert (done.code, done.document["not_imported"]) == (3, [{"record_type": "profile", "id": "profile.new", "reason": "conflict"}])
    assert json.loads((root / "profiles" / "profile.new.json").read_text())["title"] == "New"


def test_a_store_of_another_version_is_not_written_to(manage: Manage, root: Path) -> None:
    (root / "phase-memory.json").write_bytes(pretty({"schema_version": "phase_memory.local_store.v2"}))
    graph = envelope(manage.place / "graph.json", nodes=[node("node.new")])
    before = tree(root)
    assert manage("import_graph", "atlas", "--graph", graph).code == 2
    assert tree(root) == before


def test_an_export_writes_over_no_file_and_is_about_stores_of_this_kind(manage: Manage, root: Path, tmp_path: Path) -> None:
    out = manage.place / "graph.json"
    out.write_text("mine")
    assert manage("export_graph", "atlas", "--graph-id", "graph.a", "--out", out).code == 2
    assert out.read_text() == "mine"
    assert manage("export_graph", "atlas", "--graph-id", " ").code == 2
    # By whatever name: an envelope in a store would be read as memory.
    (manage.place / "link").symlink_to(root)
    before = tree(root)
    for inside in (root / "out.json", root / "nodes" / "out.json", manage.place / "link" / "out.json"):
        refused = manage("export_graph", "atlas", "--graph-id", "graph.a", "--out", inside)
        assert (refused.code, "lies in the store" in refused.err) == (2, True)
    assert tree(root) == before
    memory = manage.place / "shop" / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "decisions.jsonl").write_bytes(b"")
    manage("add_store", memory)
    assert manage("export_graph", "shop", "--graph-id", "graph.a").code == 2


def test_a_store_that_lost_its_root_file_is_refused_in_words(manage: Manage, root: Path) -> None:
    (root / "phase-memory.json").unlink()
    graph = envelope(manage.place / "graph.json", nodes=[node("node.new")])
    before = tree(root)
    refused = manage("import_graph", "atlas", "--graph", graph)
    assert (refused.code, "phase-memory.json" in refused.err) == (2, True)
    assert tree(root) == before


def test_a_folder_that_the_store_does_not_have_yet_is_made(manage: Manage, root: Path) -> None:
    shutil.rmtree(root / "profiles", ignore_errors=True)
    graph, profile = envelope(manage.place / "graph.json"), manage.place / "profile.json"
    profile.write_bytes(pretty(PROFILE))
    assert manage("import_graph", "atlas", "--graph", graph, "--profile", profile).code == 0
    assert json.loads((root / "profiles" / "profile.new.json").read_text())["title"] == "New"
