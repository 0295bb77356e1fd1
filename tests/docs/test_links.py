"""Links and pictures of the documents lead somewhere; nothing in the tree names the place where it was written."""

from __future__ import annotations

import os
import re
import struct
import tomllib
from pathlib import Path

import pytest

from tests.docs.documents import DOCUMENTS, IMAGES, ROOT, everything, name_of, text_of

MOST_IMAGES = 32
MOST_IMAGE_BYTES = 150_000
KINDS_OF_FILE = frozenset({".py", ".html", ".md", ".css", ".js", ".svg", ".toml", ".txt", ".json", ".mk"})
LEFT_OUT = frozenset({"node_modules", "var", "vendor", "static"})
ELSEWHERE = (
    re.compile(r"(?<![\w.~])/(?:work|root|tmp/plan)/"),
    re.compile(r"\bissue #?\d", re.IGNORECASE),
    re.compile(r"https?://(?:[\w.-]*\.)?(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|crates\.io)"),
)
"""Folders of a machine on which this was written, numbers of a list of things to do, and hosts of package registries."""


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_and_picture_is_there(document: Path) -> None:
    for target in re.findall(r"(?:\]\(|src=\")([^)\"\s]+)[)\"]", document.read_text("utf-8")):
        if re.match(r"https?://", target):
            continue
        name, _, anchor = target.partition("#")
        place = (document.parent / name).resolve() if name else document
        assert place.is_file(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", place.read_text("utf-8"), re.MULTILINE)
            assert anchor in map(_anchor, headings), target


def test_pictures_are_few_small_and_shown_somewhere() -> None:
    images = sorted(path for path in IMAGES.iterdir() if path.suffix in (".png", ".svg"))
    assert len(images) <= MOST_IMAGES
    for image in images:
        assert image.stat().st_size <= MOST_IMAGE_BYTES, image.name
        assert f"img/{image.name}" in everything(), f"no document shows {image.name}"


@pytest.mark.parametrize("image", sorted(IMAGES.glob("*.png")), ids=lambda image: image.name)
def test_a_picture_has_the_size_that_its_name_tells(image: Path) -> None:
    width, _ = struct.unpack(">II", image.read_bytes()[16:24])
    assert width == (390 if image.stem.endswith("-390") else 1280)


def test_nothing_names_the_place_where_it_was_written() -> None:
    found = []
    for folder, below, names in os.walk(ROOT):
        below[:] = [name for name in below if name not in LEFT_OUT and not name.startswith(".")]
        for path in (Path(folder, name) for name in names):
            if path.suffix in KINDS_OF_FILE and path != Path(__file__) and path.name != "package-lock.json":
                text = path.read_text("utf-8", "replace")
                found += [f"{name_of(path)}: {match.group()}" for pattern in ELSEWHERE for match in pattern.finditer(text)]
    assert found == []


def test_the_changes_name_the_version_of_the_project() -> None:
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert f"## {version}" in text_of("CHANGELOG.md")
