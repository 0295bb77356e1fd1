"""The shared real stores and hostile files, as stores: every line has one class, twice in a row nothing changes."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stores.formats import javascript
from stores.formats.orchestkit import KIND
from stores.mirror.importing import import_store
from stores.mirror.record_types import RECORD_TYPES
from stores.models import Fault, RefusedLine, SourceFile, Store
from tests.mirror.images import fresh_image, image, place_of, register

pytestmark = pytest.mark.django_db


def independent_counts(data: bytes) -> tuple[int, int, int]:
    """Give (accepted, refused, blank) lines of a file: cut at line feeds by hand, whitespace and JSON by the pure JavaScript rules."""
    if not data:
        return (0, 0, 0)
    pieces = data.split(b"\n")
    if pieces[-1] == b"":
        pieces.pop()
    texts = [piece.decode("utf-8", "replace") for piece in pieces]
    filled = [place for place, text in enumerate(texts) if javascript.trim(text)]
    accepted = 0
    for place in filled:
        text = texts[place]
        if place == filled[0]:
            text = text.lstrip(javascript.JS_WHITESPACE)
        if place == filled[-1]:
            text = text.rstrip(javascript.JS_WHITESPACE)
        accepted += javascript.parse(text.encode("utf-8")).accepted
    return accepted, len(filled) - accepted, len(texts) - len(filled)


def check_store(store: Store, root: Path) -> None:
    """Hold the mirror of every file that has a reader against the file itself."""
    for source in SourceFile.objects.filter(store=store).exclude(record_type=""):
        spec = KIND.spec_of(source.path)
        assert spec is not None and spec.record_type == source.record_type
        path = (root.parents[1] if spec.anchor else root) / spec.path_below(source.path)
        assert path.exists() == source.exists
        data = path.read_bytes() if path.exists() else b""
        lines = [data] if spec.whole else data.split(b"\n")
        counts = (source.readable_lines, source.corrupt_lines, source.lines_blank + source.tail_blank)
        if spec.whole:
            assert counts in ((1, 0, 0), (0, 1, 0)), source.path
            accepted, refused, _ = counts
        else:
            accepted, refused, _ = independent_counts(data)
            assert counts == independent_counts(data), source.path
        model = RECORD_TYPES[spec.record_type].model
        lines_of = dict(model._default_manager.filter(file=source, gone_at__isnull=True).values_list("pk", "line"))
        raws = model.text_model._default_manager.filter(pk__in=list(lines_of)).values_list("pk", "raw")
        placed = [(lines_of[pk], bytes(raw)) for pk, raw in raws]
        placed += [(row.line, bytes(row.raw)) for row in RefusedLine.objects.filter(file=source)]
        assert len({line for line, _ in placed}) == len(placed) == accepted + refused
        assert all(lines[line - 1] == raw or (lines[line - 1].startswith(raw) and len(raw) == 4096) for line, raw in placed)


@pytest.mark.parametrize("name", ["academic-helper", "plugin-repo", "shop-api"])
def test_a_real_store_is_mirrored_line_by_line_and_twice_the_same(shared: Path, name: str) -> None:
    root = shared / "samples" / "orchestkit" / name / ".claude" / "memory"
    store = register(root)
    import_store(store)
    check_store(store, root)
    before = image(store)
    run = import_store(store)
    assert all(counts["created"] == counts["updated"] == counts["removed"] == 0 for counts in run.records.values())
    assert image(store) == before == fresh_image(root)


def hostile_files(shared: Path) -> list[Path]:
    return sorted([*(shared / "samples" / "hostile" / "jsonl").iterdir(), *(shared / "samples" / "hostile" / "json").iterdir()])


def test_each_hostile_file_as_each_file_of_a_store_is_mirrored_whole(shared: Path, tmp_path: Path) -> None:
    for number, hostile in enumerate(hostile_files(shared)):
        root = tmp_path.resolve() / f"s{number}" / ".claude" / "memory"
        root.mkdir(parents=True)
        places = [place_of(root, spec) for spec in KIND.files if spec.anchor != "home"]
        for place in places:
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(hostile, place)
        store = register(root)
        assert import_store(store).status == "ok", hostile.name
        check_store(store, root)
        assert SourceFile.objects.filter(store=store, exists=True).exclude(record_type="").count() == len(set(places))
        assert image(store) == fresh_image(root), hostile.name


def test_a_store_of_special_files_ends_quickly_and_follows_no_link(shared: Path, tmp_path: Path) -> None:
    special = tmp_path.resolve() / "special"
    subprocess.run([sys.executable, str(shared / "tools" / "gen_hostile.py"), "--special", str(special)], check=True, capture_output=True)
    root = next((path for path in special.rglob("nodes") if path.is_dir()), special / "x").parent
    store = register(root)
    began = time.monotonic()
    run = import_store(store)
    assert time.monotonic() - began < 60
    assert run.status in ("ok", "partial")
    links = set(Fault.objects.filter(store=store, code="symlink").values_list("path", flat=True))
    on_disk = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_symlink() and len(path.relative_to(root).parts) < 8}
    assert {path for path in on_disk if path.isascii() and path.isprintable()} <= links
