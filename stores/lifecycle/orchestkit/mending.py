"""Mends one line of an OrchestKit log, as far as that can be proved right: nothing is guessed."""

from __future__ import annotations

from typing import Final

from stores.formats import javascript
from stores.formats.causes import name_cause, whole_records
from stores.formats.js_values import compact_line
from stores.formats.orchestkit import decisions
from stores.formats.orchestkit.values import mapping, strings, truthy
from stores.lifecycle.effects import EffectRefused

_BOM: Final = b"\xef\xbb\xbf"


def mended(path: str, line: bytes) -> tuple[bytes, ...]:
    """Give the lines that a line becomes; raises EffectRefused where nothing in it can be mended.

    A byte order mark and a carriage return go, records that were glued together come apart, the whole ones behind a torn one are
    rescued, and a decision without entities gets an empty list of them.
    """
    bare = line.removesuffix(b"\r")
    while bare.startswith(_BOM):
        bare = bare.removeprefix(_BOM)
    if javascript.parse(bare).accepted:
        pieces: tuple[bytes, ...] = (bare,)
    else:
        pieces = whole_records(bare) if name_cause(bare).salvageable else ()
    if not pieces:
        raise EffectRefused("No whole record can be rescued from the line: it can only be set aside.")
    after = tuple(_with_entities(piece) if path == decisions.PATH else piece for piece in pieces)
    if after == (line,):
        raise EffectRefused("There is nothing to mend in the line.")
    return after


def _with_entities(line: bytes) -> bytes:
    record = javascript.parse(line).value
    if not isinstance(record, dict) or not truthy(mapping(record.get("content")).get("what")) or isinstance(record.get("entities"), list):
        return line
    if "entities" in record:
        return compact_line(record | {"entities": strings(record["entities"])})[:-1]
    end = line.rstrip().removesuffix(b"}").rstrip()
    return end + b',"entities":[]}'
