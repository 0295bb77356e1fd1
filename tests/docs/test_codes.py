"""docs/formats.md explains every code, state and class that the code can give, and no other."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from stores.accounts import ROLES
from stores.formats.base import LineClass, RepairMode
from stores.formats.orchestkit import KIND, queue, reading
from stores.health.base import ConditionStatus, Verdict
from tests.docs.documents import ROOT, code_words, first_cells, section, text_of

FORMATS = text_of("docs/formats.md")
FAULTS_MADE_IN = ("stores/formats/causes.py", "stores/formats/orchestkit", "stores/mirror", "stores/apply")
PLACE_OF_CODE = {"Fault": 0, "FoundFault": 0, "Cause": 0, "_file_fault": 0, "Oddity": 0, "fault": 1, "_note_fault": 2}
"""Which argument of these calls is a fault's code; `fault` is the readers' own method."""


def _modules(places: tuple[str, ...]) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from sorted(path.rglob("*.py")) if path.is_dir() else [path]


def _texts(node: ast.expr) -> set[str]:
    """Give the texts that an expression can become: itself, or the branches of a choice."""
    if isinstance(node, ast.IfExp):
        return _texts(node.body) | _texts(node.orelse)
    return {node.value} if isinstance(node, ast.Constant) and isinstance(node.value, str) else set()


def _codes(places: tuple[str, ...], calls: dict[str, int]) -> set[str]:
    found: set[str] = set()
    for module in _modules(places):
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
            if called in calls:
                given = node.args[calls[called] : calls[called] + 1] + [one.value for one in node.keywords if one.arg == "code"]
                found.update(*map(_texts, given), set())
    return found


def fault_codes() -> set[str]:
    """Give every code of a fault that the readers and the mirror can give."""
    return _codes(FAULTS_MADE_IN, PLACE_OF_CODE) | set(reading.WARNINGS)


def condition_codes() -> set[str]:
    """Give every code of a condition."""
    return _codes(("stores/health/orchestkit",), {"Condition": 0})


def test_the_codes_are_found_in_the_code() -> None:
    assert {"glued", "tail_torn", "symlink", "double_hook", "dup_key", "silent_rewrite", "unknown_operation"} <= fault_codes()
    assert {"corrupt_lines", "classic_health"} <= condition_codes()


def test_every_fault_code_is_explained_and_no_other() -> None:
    assert set(first_cells(section(FORMATS, "## Fault codes"))) == fault_codes()


def test_every_check_is_explained_and_no_other() -> None:
    assert set(first_cells(section(FORMATS, "## Checks of health"))) == condition_codes()


def test_the_words_of_severities_of_checks_are_those_of_the_code() -> None:
    explained = section(FORMATS, "## Checks of health").partition("\n|")[0]
    assert {*ConditionStatus} - set(code_words(explained)) == set()
    assert {*Verdict} - {Verdict.HEALTHY} - set(code_words(explained)) == set()


@pytest.mark.parametrize(
    ("heading", "words"),
    [
        ("### Lines", [*LineClass]),
        ("### graph-queue.jsonl", [queue.WAITING, queue.POISON, queue.IGNORED, queue.DUPLICATE, queue.DANGLING]),
        ("## OrchestKit", [word for spec in KIND.files for word in (spec.full_path, spec.record_type)]),
    ],
)
def test_classes_states_and_files_are_explained(heading: str, words: list[str]) -> None:
    assert set(words) - set(code_words(section(FORMATS, heading))) == set()


def test_every_way_of_mending_is_named() -> None:
    assert {*RepairMode} - {RepairMode.BLOCK} - set(code_words(section(FORMATS, "## Fault codes"))) == set()


def test_every_role_is_explained() -> None:
    assert set(ROLES) - set(first_cells(section(text_of("docs/operations.md"), "### Roles and groups"))) == set()
