"""The bytes of a store's files as the mirror keeps them, and as a worker read them for a page."""

from __future__ import annotations

from typing import Any, NamedTuple

from stores.errors import NotFound
from stores.formats import KINDS
from stores.mirror.record_types import RECORD_TYPES
from stores.models import FileVersion, RefusedLine, SourceFile, Store, Task
from stores.selectors import byte_view
from stores.selectors.byte_view import CONTEXT_BYTES, HexRow, Piece

VERSIONS_SHOWN = 50
LINES_LOOKED_THROUGH = 200_000
"""Lines have no index: in files with more of them only a range of bytes can be asked for."""
SHOWN_BYTES = 64 * 1024


class RawBytes(NamedTuple):
    """A run of bytes as a page shows it, both ways."""

    what: str
    """"line 212", "bytes 4,096 to 8,191"."""
    offset: int
    length: int
    """Bytes that are shown."""
    of_length: int
    """Bytes that there are."""
    source: str
    """Where they come from: mirror, disk or version."""
    text: list[Piece]
    hex_rows: list[HexRow]
    sha256: str
    line_class: str
    """record, refused or ""."""


def files_of(store: Store) -> list[SourceFile]:
    """Give the files whose bytes can be asked for, those that hold records first: one query."""
    files = SourceFile.objects.filter(store=store).defer("reader_state").order_by("path")[:1000]
    return sorted(files, key=lambda file: (file.record_type == "", file.path))


def line_of(file: SourceFile, number: int) -> RawBytes | None:
    """Give a line of a file from the mirror; None where it keeps none of that number: a blank line, or one that nobody read. 2 queries."""
    refused = RefusedLine.objects.filter(file=file, line=number).order_by("-id").first()
    if refused is not None:
        return _line(number, bytes(refused.raw), refused.offset, refused.length, bytes(refused.sha256), "refused")
    if file.record_type not in RECORD_TYPES or file.line_count > LINES_LOOKED_THROUGH:
        return None
    texts: Any = RECORD_TYPES[file.record_type].model.text_model._default_manager
    text = texts.select_related("record").filter(record__file=file, record__line=number, record__gone_at__isnull=True).first()
    if text is None:
        return None
    return _line(number, bytes(text.raw), text.record.offset, text.record.length, bytes(text.record.sha256), "record")


def versions_of(file: SourceFile) -> list[FileVersion]:
    """Give the contents that are kept of a file which its writers rewrite, the newest first, without their bytes: one query."""
    return list(FileVersion.objects.filter(file=file).defer("content").order_by("-seen_at", "-id")[:VERSIONS_SHOWN])


def is_rewritable(store: Store, file: SourceFile) -> bool:
    """Tell whether contents of the file are kept: of logs they are not, as these only grow."""
    spec = KINDS[store.kind].spec_of(file.path) if store.kind in KINDS else None
    return spec is not None and not spec.append_only


def version_bytes(store: Store, version_id: int) -> tuple[FileVersion, RawBytes]:
    """Give a kept content of one of the store's files; raises NotFound. One query."""
    version = FileVersion.objects.filter(file__store=store, pk=version_id).select_related("file").first()
    if version is None:
        raise NotFound("No such content is kept, or it is older than what is kept.")
    content = bytes(version.content)
    shown = min(len(content), SHOWN_BYTES)
    return version, RawBytes(
        what="as it was read then",
        offset=0,
        length=shown,
        of_length=version.size_bytes,
        source="version",
        text=byte_view.text_of_window(content, 0, shown),
        hex_rows=byte_view.hex_of_window(content, 0, shown, 0),
        sha256=bytes(version.sha256).hex(),
        line_class="",
    )


def bytes_read(task: Task) -> RawBytes:
    """Give what a `read_bytes` task read. The task reads some more on both sides, so that no secret is cut in its middle."""
    content = bytes(task.content)
    asked = task.arguments
    offset, length = int(asked.get("shown_offset", asked.get("offset", 0))), int(asked.get("shown_length", asked.get("length", 0)))
    start = max(0, offset - int(asked.get("offset", 0)))
    length = max(0, min(length, SHOWN_BYTES, len(content) - start))
    end = f"{offset + length - 1:,}" if length else "nothing"
    return RawBytes(
        what=f"bytes {offset:,} to {end}",
        offset=offset,
        length=length,
        of_length=int(task.result.get("size_bytes", 0)),
        source="disk",
        text=byte_view.text_of_window(content, start, length),
        hex_rows=byte_view.hex_of_window(content, start, length, offset),
        sha256="",
        line_class="",
    )


def range_to_read(offset: int, length: int) -> tuple[int, int]:
    """Give the (offset, length) that a task has to read so that secrets around the wanted range are seen whole."""
    begin = max(0, offset - CONTEXT_BYTES)
    return begin, offset + length + CONTEXT_BYTES - begin


def find_reading(store: Store, task_id: int) -> Task:
    """Give a `read_bytes` task of the store with its bytes; raises NotFound. One query."""
    task = Task.objects.filter(store=store, kind="read_bytes", pk=task_id).select_related("worker", "store").first()
    if task is None:
        raise NotFound("These bytes were not asked for, or are no longer kept. Ask for them again.")
    return task


def _line(number: int, raw: bytes, offset: int, length: int, sha256: bytes, line_class: str) -> RawBytes:
    shown = min(len(raw), SHOWN_BYTES)
    return RawBytes(
        what=f"line {number:,}",
        offset=offset,
        length=shown,
        of_length=length,
        source="mirror",
        text=byte_view.text_of_window(raw, 0, shown),
        hex_rows=byte_view.hex_of_window(raw, 0, shown, offset),
        sha256=sha256.hex(),
        line_class=line_class,
    )
