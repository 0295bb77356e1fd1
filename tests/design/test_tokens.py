"""The colours of app.css keep the promises of contrast, and no other colour is used."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.design.oklch import Colour, contrast

ROOT = Path(__file__).resolve().parents[2]
STYLE = (ROOT / "static" / "memoryui" / "app.css").read_text(encoding="utf-8")
SHARED = Path(os.environ.get("MEMORYUI_SHARED", ROOT.parent / "shared"))
GUIDE = SHARED / "guides" / "visual-design.md"

_OKLCH = r"oklch\(([\d.]+) ([\d.]+) ([\d.]+)\)"
_TOKEN = re.compile(rf"--([\w-]+): light-dark\({_OKLCH}, {_OKLCH}\);")

GROUNDS = ("paper", "desk", "raised", "well", "hover", "sel")
STATES = ("ok", "note", "late", "fail", "stale")
TEXTS = ("ink", "ink-2", "ink-3", *STATES)
THEMES = ("light", "dark")


def tokens() -> dict[str, dict[str, Colour]]:
    """Give theme -> token -> colour as the style sheet has them."""
    found: dict[str, dict[str, Colour]] = {theme: {} for theme in THEMES}
    for name, *numbers in _TOKEN.findall(STYLE):
        values = [float(number) for number in numbers]
        found["light"][name] = (values[0], values[1], values[2])
        found["dark"][name] = (values[3], values[4], values[5])
    return found


TOKENS = tokens()


def test_black_on_white_has_the_highest_contrast_there_is() -> None:
    assert contrast((0, 0, 0), (1, 0, 0)) == pytest.approx(21, abs=0.01)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ground", GROUNDS)
def test_every_text_can_be_read_on_every_ground(theme: str, text: str, ground: str) -> None:
    assert contrast(TOKENS[theme][text], TOKENS[theme][ground]) >= 4.59


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("state", STATES)
def test_a_state_can_be_read_on_its_own_tint(theme: str, state: str) -> None:
    assert contrast(TOKENS[theme][state], TOKENS[theme][f"{state}-tint"]) >= 5.1


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", ["add-word", "del-word"])
def test_ink_can_be_read_on_changed_words(theme: str, ground: str) -> None:
    assert contrast(TOKENS[theme]["ink"], TOKENS[theme][ground]) >= 7.9


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ground", [ground for ground in GROUNDS if ground != "sel"])
def test_edges_of_fields_and_the_focus_ring_stand_out(theme: str, ground: str) -> None:
    assert round(contrast(TOKENS[theme]["control"], TOKENS[theme][ground]), 2) >= 3.07
    assert contrast(TOKENS[theme]["focus"], TOKENS[theme][ground]) >= 4.6


@pytest.mark.parametrize("theme", THEMES)
def test_the_focus_ring_stands_out_on_what_is_chosen(theme: str) -> None:
    assert contrast(TOKENS[theme]["focus"], TOKENS[theme]["sel"]) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_text_on_a_button_can_be_read(theme: str) -> None:
    assert contrast(TOKENS[theme]["on-fail"], TOKENS[theme]["fail"]) >= 4.5
    assert contrast(TOKENS[theme]["paper"], TOKENS[theme]["ink"]) >= 7


@pytest.mark.skipif(not GUIDE.exists(), reason="the guides are not beside this checkout")
def test_the_tokens_are_those_of_the_design() -> None:
    told: dict[str, dict[str, list[Colour]]] = {}
    for line in GUIDE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) < 3 or not re.fullmatch(r"[\w -]+( / [\w -]+)*", cells[0]):
            continue
        light, dark = (
            [tuple(map(float, part.split())) for part in cell.split(" / ")] if re.fullmatch(r"[\d. /]+", cell) else []
            for cell in cells[1:3]
        )
        for name, one, other in zip(cells[0].split(" / "), light, dark, strict=False):
            if len(one) == len(other) == 3:
                told.setdefault("light", {})[name] = [(one[0], one[1], one[2])]
                told.setdefault("dark", {})[name] = [(other[0], other[1], other[2])]
    assert len(told["light"]) >= 29
    for theme in THEMES:
        assert {name: [TOKENS[theme].get(name)] for name in told[theme]} == told[theme]


def test_no_colour_is_used_that_is_not_a_token() -> None:
    rest = _TOKEN.sub("", re.sub(r"/\*.*?\*/", "", STYLE, flags=re.DOTALL))
    assert re.findall(r"#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|oklab|lab|lch|hwb|color)\(", rest, re.IGNORECASE) == []
    values = " ".join(re.findall(r":([^;{}]*);", rest))
    assert re.findall(r"(?<![\w-])(?:black|white|gr[ae]y|red|green|blue|orange|yellow|purple)(?![\w-])", values) == []


def test_every_custom_property_that_is_used_is_set_somewhere() -> None:
    used = set(re.findall(r"var\((--[\w-]+)", STYLE))
    assert used - set(re.findall(r"(--[\w-]+)\s*:", STYLE)) == set()
