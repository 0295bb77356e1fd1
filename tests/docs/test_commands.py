"""Commands and make targets: each is described, each that is named exists, each is run by a test."""

from __future__ import annotations

import ast
import functools
import re

import pytest
from django.core.management import get_commands, load_command_class

from tests.docs.documents import DOCUMENTS, ROOT, blocks, code_words, everything, name_of, text_of

COMMANDS = sorted(name for name, app in get_commands().items() if app == "stores")
TARGETS = frozenset(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_and_is_in_the_readme(command: str) -> None:
    assert load_command_class("stores", command).help
    assert any(re.match(rf"{command}\b", word) for word in code_words(text_of("README.md")))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_command_that_a_document_runs_exists(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    named = set(re.findall(r"manage\.py ([a-z_]+)", text))
    assert named <= get_commands().keys()


@functools.cache
def texts_in_tests() -> frozenset[str]:
    """Give every text that stands in a test, the documents' own aside."""
    return frozenset(
        node.value
        for path in (ROOT / "tests").rglob("test_*.py")
        if path.parent.name != "docs"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_run_by_a_test(command: str) -> None:
    assert command in texts_in_tests()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_make_target_that_a_document_names_exists(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    code = [*blocks(text), *code_words(text)]
    named = {target for part in code for line in re.findall(r"\bmake ((?:[a-z][a-z-]*\b ?)+)", part) for target in line.split()}
    assert named <= TARGETS


def test_the_readme_leads_with_the_two_commands() -> None:
    first = [line.split("#")[0].strip() for line in blocks(text_of("README.md"))[0].splitlines()]
    assert first == ["$ make demo", "$ make test"]


def test_every_target_has_a_line_in_the_list_of_targets() -> None:
    listed = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert TARGETS - listed == {"base-venv", "dev-venv"}


def test_a_flag_that_a_document_gives_to_a_command_exists() -> None:
    calls = re.findall(r"manage\.py ([a-z_]+)((?: [^\n|`#;]+)?)", everything())
    for command, arguments in calls:
        if command not in COMMANDS:
            continue
        known = load_command_class("stores", command).create_parser("manage.py", command).format_help()
        for flag in re.findall(r"(?<=\s)--[a-z-]+", arguments):
            assert flag in known, f"{command} {flag}"
