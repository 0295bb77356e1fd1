"""preview_context: the text of the loader, as docs/formats.md describes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Manage
from tests.memory_folders import decision, make_project

FOOT = "\n\n_For deeper graph traversal: use mcp__memory__search_nodes or mcp__memory__open_nodes_"


def make_log(manage: Manage, tmp_path: Path, data: bytes) -> None:
    memory = make_project(tmp_path)
    (memory / "decisions.jsonl").write_bytes(data)
    manage("add_store", memory)


def test_the_newest_come_first_and_dropped_lines_are_named(manage: Manage, tmp_path: Path) -> None:
    preference = decision("prefers small commits", 2, type="preference")
    make_log(manage, tmp_path, decision("use cursor pagination", 1) + b"{torn\n" + preference)
    done = manage("preview_context", "shop-api", "--json")
    assert (done.code, done.document["items"], done.document["throws"]) == (0, 2, False)
    assert done.document["text"] == (
        "## Recent Project Decisions\n\n"
        "- **[Preference]** prefers small commits _(because: measured)_ [redis]\n"
        "- **[Decision]** use cursor pagination _(because: measured)_ [redis]" + FOOT
    )
    assert [(one["line"], one["reason"]) for one in done.document["dropped"]] == [(2, "corrupt")]
    told = [(one["line"], one["id"], one["what"]) for one in done.document["told"]]
    assert told == [(3, json.loads(preference)["id"], "prefers small commits"), (1, "decision-mx3a2c3b-0001", "use cursor pagination")]
    assert manage("preview_context", "shop-api").out.rstrip("\n") == done.document["text"]


@pytest.mark.parametrize(("variant", "items"), [("classic", 2), ("v7", 1)])
def test_variants_differ_in_equal_texts(manage: Manage, tmp_path: Path, variant: str, items: int) -> None:
    make_log(manage, tmp_path, decision("use cursor pagination", 1) + decision("use cursor pagination", 2))
    assert manage("preview_context", "shop-api", "--variant", variant, "--json").document["items"] == items


def test_a_record_without_entities_silences_everything(manage: Manage, tmp_path: Path) -> None:
    record = json.loads(decision("use cursor pagination", 1))
    del record["entities"]
    make_log(manage, tmp_path, json.dumps(record).encode() + b"\n" + decision("use grep for searches", 2))
    document = manage("preview_context", "shop-api", "--json").document
    assert (document["text"], document["items"], document["throws"]) == ("", 0, True)
    assert document["told"] == []


def test_secrets_are_masked(manage: Manage, tmp_path: Path) -> None:
    make_log(manage, tmp_path, decision("the key is AKIAIOSFODNN7EXAMPLE", 1))
    assert "AKIA" not in manage("preview_context", "shop-api").out
    done = manage("preview_context", "shop-api", "--json")
    assert "AKIA" not in done.out
    assert done.document["masked"] == 1
