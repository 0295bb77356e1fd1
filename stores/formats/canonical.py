"""Writes values the one way that every reader of them can repeat: for digests, for record files and for lines of logs."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import Final, NamedTuple

import msgspec

_INDENT: Final = 2
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_ODD_NUMBER: Final = re.compile(rb"(?:^|[:,\[])-?(?:0\.0000|[0-9]+(?:\.[0-9]*)?(?:[eE]|(?<=[0-9]{16})))")
"""Numbers that two writers may spell in two ways; it may find them in texts too, as it only decides who writes."""
_DIGITS: Final = b"0123456789."
_MARK_EXPONENTS: Final = bytes(0x3A if byte in b":,[" else byte if byte in b"-e" else 0x65 if byte == 0x45 else 0x20 for byte in range(256))
_MARK_DIGITS: Final = bytes(0x30 if chr(byte).isdigit() and byte < 128 else 0x20 for byte in range(256))
_LONG_NUMBER: Final = b"0" * 16
_SMALL_NUMBER: Final = b"0.0000"
"""Below it the standard encoder writes an exponent."""
_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder().decode
_NUL: Final = b"\\u0000"


class Form(NamedTuple):
    """How a record file is written; a writer keeps the form that the file has."""

    escaped: bool = False
    """Characters outside ASCII are written as `\\uXXXX`."""
    final_newline: bool = True


def canonical(value: object) -> bytes:
    """Write a value with sorted keys and without spaces, nothing escaped that need not be; halves of surrogate pairs are."""
    try:
        written = _encode(value)
    except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError, RecursionError):
        return _exactly(value)
    return _exactly(value) if _has_odd_number(written) else written


def _has_odd_number(written: bytes) -> bool:
    """Say whether a number may be spelled in two ways; a rough look, ten times as quick, spares the exact one for most texts."""
    bare = written.translate(_MARK_EXPONENTS, _DIGITS)
    is_sure = written[:1] in (b"{", b"[", b'"') and b":e" not in bare and b":-e" not in bare
    if is_sure and _SMALL_NUMBER not in written and _LONG_NUMBER not in written.translate(_MARK_DIGITS):
        return False
    return _ODD_NUMBER.search(written) is not None


def _exactly(value: object) -> bytes:
    return _utf8(json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False))


def digest(value: object) -> str:
    """Give `sha256:` and the hex digits of a parsed record: writing the file in another form does not change it."""
    return f"sha256:{digest_bytes(value).hex()}"


def digest_bytes(value: object) -> bytes:
    """Give the 32 bytes of a parsed record's digest."""
    return sha256(canonical(value)).digest()


def log_line(value: object) -> bytes:
    """Write a value as one line of a log, with its line break."""
    return canonical(value) + b"\n"


def pretty(value: object, form: Form = Form()) -> bytes:  # noqa: B008 (a form cannot be changed)
    """Write a record file: keys sorted, two spaces a level, in the given form."""
    written = _quickly(value) if not form.escaped else None
    if written is None:
        text = json.dumps(value, indent=_INDENT, sort_keys=True, ensure_ascii=form.escaped, allow_nan=False)
        written = _utf8(text)
    return written + b"\n" if form.final_newline else written


def form_of(data: bytes, value: object) -> Form | None:
    """Say in which form a file's bytes are written, given what they say; None when it is none of the forms."""
    final_newline = data.endswith(b"\n")
    for escaped in (False, True):
        form = Form(escaped, final_newline)
        if data == pretty(value, form):
            return form
    return None


class PlainFile(NamedTuple):
    """A file about whose bytes nothing is odd."""

    value: dict[str, object]
    digest: bytes
    """The 32 bytes of the record's digest."""
    form: Form


def plain_file(data: bytes) -> PlainFile | None:
    """Give what a file says whose bytes are, one by one, the unescaped form of it; None for every other."""
    try:
        value = _decode(data)
        if not isinstance(value, dict) or _NUL in data:
            return None
        written = _encode(value)
    except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError, RecursionError):
        return None
    final_newline = data.endswith(b"\n")
    if _has_odd_number(written) or msgspec.json.format(written, indent=_INDENT) != (data[:-1] if final_newline else data):
        return None
    return PlainFile(value, sha256(written).digest(), Form(False, final_newline))


def _quickly(value: object) -> bytes | None:
    """Write the unescaped form many times faster, or None where the result might differ."""
    try:
        written = _encode(value)
    except (msgspec.MsgspecError, OverflowError, UnicodeEncodeError, RecursionError):
        return None
    return None if _has_odd_number(written) else msgspec.json.format(written, indent=_INDENT)


def _utf8(text: str) -> bytes:
    if not text.isascii():
        text = _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
    return text.encode("utf-8")
