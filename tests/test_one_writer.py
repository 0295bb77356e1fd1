"""Only `stores/files` opens anything for writing, and only `apply/` changes stores with it (DESIGN §8, ruling 58)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
WRITER = ROOT / "stores" / "files"
MODULES = sorted([*(ROOT / "stores").rglob("*.py"), *(ROOT / "memoryui").rglob("*.py")])
WRITING_FLAGS = {"O_WRONLY", "O_RDWR", "O_APPEND", "O_CREAT", "O_TRUNC"}
WRITING_CALLS = {"write_text", "write_bytes", "touch", "truncate", "copyfile", "copytree", "mkstemp", "NamedTemporaryFile"}
CHANGES_A_STORE = {
    "append",
    "cut_off",
    "put",
    "put_back",
    "take_away",
    "move",
    "hand_over",
    "take_out",
    "bring_back",
    "exchange_log",
    "make_folder",
}
"""Methods of an opened store."""
NOT_OF_STORES = {
    # The key is made before any setting is known; the rest are lock files of our own database, and a terminal that was closed.
    "memoryui/secret_key.py",
    "stores/sqlite/base.py",
    "stores/sqlite/turnstile.py",
    "stores/management/base.py",
}


def written_by(tree: ast.AST) -> Iterator[str]:
    """Name the calls that open something for writing."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in WRITING_FLAGS:
            yield node.attr
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id if isinstance(node.func, ast.Name) else ""
        if called in WRITING_CALLS:
            yield called
        if called == "open":
            modes = [one.value for one in [*node.args, *(word.value for word in node.keywords)] if isinstance(one, ast.Constant)]
            yield from (str(mode) for mode in modes if isinstance(mode, str) and len(mode) <= 3 and set(mode) & set("wax+"))


def test_the_search_finds_the_writer() -> None:
    found = {call for module in WRITER.glob("*.py") for call in written_by(ast.parse(module.read_text("utf-8")))}
    assert {"O_CREAT", "O_APPEND"} <= found


@pytest.mark.parametrize(
    "source", ['open("f", "w")', 'Path("f").open("ab")', 'Path("f").write_text("")', "os.open(f, os.O_RDWR)", 'open("f", mode="x")']
)
def test_the_search_finds_what_writes(source: str) -> None:
    assert list(written_by(ast.parse(source)))


@pytest.mark.parametrize("module", [module for module in MODULES if module.parent != WRITER], ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_else_opens_for_writing(module: Path) -> None:
    if str(module.relative_to(ROOT)) not in NOT_OF_STORES:
        assert list(written_by(ast.parse(module.read_text("utf-8")))) == []


def test_only_apply_changes_an_opened_store() -> None:
    callers: set[str] = set()
    for module in MODULES:
        for node in ast.walk(ast.parse(module.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES_A_STORE - {"append"}:
                owner = ast.unparse(node.func.value)
                if owner == "root" or owner.startswith(("place.", "opened.")):
                    callers.add(str(module.relative_to(ROOT)))
    assert callers == {"stores/apply/recovering.py"}
