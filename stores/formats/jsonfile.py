"""Reads files that hold one JSON object, strictly (ruling 23)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from stores.formats import identifiers, strict

SIZE_CAP: Final = 16 * 1024 * 1024
"""Bytes of a record file that is read (ruling 61)."""


class StrictFile(NamedTuple):
    """One file, judged."""

    verdict: str
    """ok, flag:<code> for what is read with a reservation, or bad:<code> for what is refused."""
    value: dict[str, object]
    id: str
    flags: tuple[str, ...]


def read_strict_file(data: bytes, *, stem: str | None = None, knows_schema: Callable[[object], bool] | None = None) -> StrictFile:
    """Judge a file's bytes; nothing is raised.

    `stem` is the file's name without its ending where the kind names files by id: an id is then needed, must be fit for a
    file name (refused as `bad_id`) and is flagged `id_filename_mismatch` when it is another than the name says. The name wins.
    """
    if not data.strip(b" \t\r\n"):
        return StrictFile("bad:empty", {}, "", ())
    if len(data) > SIZE_CAP:
        return StrictFile("bad:too_large", {}, "", ())
    judged = strict.judge(data, needs_id=stem is not None, knows_schema=knows_schema)
    if judged.refused:
        code = "bad_json" if judged.refused == "glued" else judged.refused
        return StrictFile(f"bad:{code}", judged.value, "", judged.flags)
    if stem is not None and not identifiers.fits_file_name(judged.id):
        return StrictFile("bad:bad_id", judged.value, judged.id, judged.flags)
    if stem is not None and judged.id != stem:
        return StrictFile("flag:id_filename_mismatch", judged.value, judged.id, judged.flags)
    if "unknown_schema" in judged.flags:
        return StrictFile("flag:unknown_schema", judged.value, judged.id, judged.flags)
    return StrictFile("ok", judged.value, judged.id, judged.flags)
