"""What no template may hold, and what each must say of itself (promises D1-D3, style guide §7)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted([*(ROOT / "templates").rglob("*.html"), *(ROOT / "stores").rglob("templates/**/*.html")])
PAGES = [path for path in TEMPLATES if not path.name.startswith("_") and path.name != "base.html"]

FORBIDDEN = {
    "a script in the page": r"<script(?![^>]*\bsrc=)[^>]*>",
    "a style in the page": r"<style\b|\sstyle\s*=",
    "an event attribute": r"<[^>]*\son\w+\s*=",
    "an htmx event attribute": r"\bhx-on\b|\bhx-on:",
    "values computed by script": r"hx-(?:vals|vars|headers)\s*=\s*[\"']\s*js:|\bhx-vars\b",
    "a trigger filter, which htmx evaluates": r"hx-trigger\s*=\s*\"[^\"]*\[",
    "escaping switched off": r"\|\s*safe\b|\{%\s*autoescape\s+off|\bsafeseq\b",
    "a library that Django 6 has built in": r"\{%\s*load\s+partials\b",
    "an address that is not ours": r"(?:src|href|action|hx-get|hx-post)\s*=\s*[\"'](?:https?:)?//",
    "a request header for every request": r"<body[^>]*hx-headers",
}


def relative(path: Path) -> str:
    """Name a template in the test's id."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", TEMPLATES, ids=relative)
def test_a_template_says_first_what_it_needs(path: Path) -> None:
    assert re.match(r"\{# Context: [^\n]+? #\}", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", TEMPLATES, ids=relative)
def test_a_template_holds_nothing_that_the_policy_forbids(path: Path) -> None:
    text = re.sub(r"\{#.*?#\}", "", path.read_text(encoding="utf-8"))
    assert {what: found for what, pattern in FORBIDDEN.items() if (found := re.findall(pattern, text, re.IGNORECASE))} == {}


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_a_page_stands_directly_on_the_base(path: Path) -> None:
    parents = re.findall(r"\{%\s*extends\s+(\S+)\s*%\}", path.read_text(encoding="utf-8"))
    assert parents in ([], ['"base.html"'])


@pytest.mark.parametrize("path", TEMPLATES, ids=relative)
def test_states_and_classes_are_never_built_from_data(path: Path) -> None:
    classes = re.findall(r'class="([^"]*)"', path.read_text(encoding="utf-8"))
    assert [value for value in classes if "{{" in value] in ([], ["{{ line.kind }}", "{{ line.kind }}-text"])


def test_every_symbol_that_is_asked_for_is_in_the_sprite() -> None:
    from stores.shapes import ICONS, SAME_AS, SHAPES

    sprite = (ROOT / "static" / "memoryui" / "sprite.svg").read_text(encoding="utf-8")
    drawn = set(re.findall(r'<symbol id="([\w-]+)"', sprite))
    assert {*SHAPES.values(), *ICONS} == drawn
    assert set(SAME_AS.values()) <= set(SHAPES)
    asked = {word for path in TEMPLATES for word in re.findall(r'\{%\s*shape\s+"([^"]+)"', path.read_text(encoding="utf-8"))}
    assert asked <= {*SHAPES, *SAME_AS}


def test_every_state_has_its_colour() -> None:
    from stores.shapes import SHAPES

    style = (ROOT / "static" / "memoryui" / "app.css").read_text(encoding="utf-8")
    quiet = {"unmeasured", "silent", "muted", "reverted", "superseded", "withdrawn", "expired", "held", "filtered"}
    assert (
        set(re.findall(r'\[data-state="([\w-]+)"\][^{]*\{ --state:', style)) | set(re.findall(r'\[data-state="([\w-]+)"\](?=[,)])', style))
        >= set(SHAPES) - quiet
    )


@pytest.mark.parametrize("verdict", ["healthy", "degraded", "unavailable", "unmeasured"])
def test_every_verdict_has_its_icon_in_the_tab(verdict: str) -> None:
    assert (ROOT / "static" / "memoryui" / f"favicon-{verdict}.svg").exists()


def test_files_that_the_base_names_exist() -> None:
    base = (ROOT / "templates" / "base.html").read_text(encoding="utf-8")
    style = (ROOT / "static" / "memoryui" / "app.css").read_text(encoding="utf-8")
    named = [ROOT / "static" / name for name in re.findall(r"\{% static '([^']+)' %\}", base)]
    named += [ROOT / "static" / "memoryui" / name for name in re.findall(r'url\("([^"]+)"\)', style)]
    assert [path for path in named if not path.exists()] == []
