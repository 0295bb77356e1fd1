"""Facts of record files as bytes, so that a process that starts anew need not read all files to know them."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from stores.formats.phase_memory.layout import FOLDERS
from stores.health.phase_memory import RecordFacts
from stores.health.phase_memory.record_facts import ActivationRefs, EdgeRefs, NodeRefs, Oddity, PathRefs

_encode = msgspec.msgpack.Encoder().encode


def _decoder(refs: Any) -> msgspec.msgpack.Decoder[Any]:
    return msgspec.msgpack.Decoder(tuple[str, str, bytes, bool, tuple[Oddity, ...], refs])


_DECODERS: Final[dict[str, msgspec.msgpack.Decoder[Any]]] = {
    "node": _decoder(NodeRefs | None),
    "edge": _decoder(EdgeRefs | None),
    "path": _decoder(PathRefs | None),
    "activation": _decoder(ActivationRefs | None),
    "profile": _decoder(None),
}


def pack(facts: RecordFacts) -> bytes:
    """Pack the facts of a file, its path left out; b"" where an id in them is no text that can be packed."""
    try:
        return _encode(facts[2:])
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):
        return b""


def unpack(path: str, packed: bytes) -> RecordFacts | None:
    """Give the facts again; None where they were not packed, or by another version: then the file has to be read."""
    record_type = FOLDERS[path.partition("/")[0]]
    try:
        return RecordFacts(path, record_type, *_DECODERS[record_type].decode(packed)) if packed else None
    except (msgspec.MsgspecError, TypeError):
        return None
