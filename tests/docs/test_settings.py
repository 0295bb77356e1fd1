"""docs/configuration.md lists exactly the settings that memoryui/settings.py reads, with their defaults."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.documents import DOCUMENTS, ROOT, name_of, rows, text_of

PREFIX = "MEMORYUI_"
READ_ELSEWHERE = {
    f"{PREFIX}DEMO_DIR": "memoryui/demo_place.py",
    f"{PREFIX}SHARED": "tests/conftest.py",
    f"{PREFIX}TOKEN": "stores/management/signing_in.py",
}


def settings_read() -> dict[str, object]:
    """Give each setting and its default, from the calls `env.<type>("NAME", default)`."""
    found: dict[str, object] = {}
    for node in ast.walk(ast.parse((ROOT / "memoryui" / "settings.py").read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)):
            continue
        if node.func.value.id == "env" and node.func.attr in ("str", "bool", "int", "float", "list"):
            name, default = (ast.literal_eval(argument) for argument in node.args[:2])
            found[f"{PREFIX}{name}"] = default
    return found


def test_every_setting_is_described_and_no_other() -> None:
    assert rows(text_of("docs/configuration.md")).keys() == settings_read().keys()


@pytest.mark.parametrize(("name", "default"), [(name, value) for name, value in settings_read().items() if isinstance(value, int | float)])
def test_a_default_is_what_the_code_takes(name: str, default: float) -> None:
    written = rows(text_of("docs/configuration.md"))[name][0]
    expected = str(default).lower() if isinstance(default, bool) else f"{default:g}"
    assert written == f"`{expected}`"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_document_names_a_setting_that_nothing_reads(document: str) -> None:
    named = set(re.findall(rf"{PREFIX}[A-Z0-9_]*[A-Z0-9]", (ROOT / document).read_text("utf-8")))
    assert named <= settings_read().keys() | READ_ELSEWHERE.keys()


@pytest.mark.parametrize(("name", "reader"), READ_ELSEWHERE.items())
def test_what_is_read_elsewhere_is_read_there(name: str, reader: str) -> None:
    assert name in (ROOT / reader).read_text("utf-8")
