"""Names what became of a line that `JSON.parse` refuses, and how much of it can be rescued."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from stores.formats import javascript
from stores.formats.base import RepairMode

_TRIES: Final = 32
"""Broken places of a line behind which a whole record is looked for; each costs a look through the line."""
_LEAST_ZEROS: Final = 8
_CONFLICT: Final = re.compile(r"<{7}(?: |$)|={7}$|>{7}(?: |$)|\|{7}(?: |$)")
_LFS: Final = re.compile(r"version https://git-lfs\.|oid sha256:[0-9a-f]*$|size [0-9]+$")
_COMMENTS: Final = ("//", "/*", "*/", "#")
_PRETTY: Final = re.compile(
    r"[ \t]*+(?:[\[\]{}]|[\]}],)[ \t\r]*+$"
    r'|[ \t]++"[^"\\]*+(?:\\.[^"\\]*+)*+"(?:[ \t]*+:|,?[ \t\r]*+$)'
)
_FIRST_KEY: Final = re.compile(r'\{[ \t]*+"([A-Za-z_][A-Za-z0-9_]{0,40})"')
_RECORD_KEYS: Final = frozenset(
    {"id", "event_id", "audit_id", "type", "timestamp", "content", "payload", "schema_version", "text", "decision", "ts", "when"}
)


class Cause(NamedTuple):
    """Why a line is refused."""

    code: str
    words: str
    """What is wrong, a clause without a full stop."""
    column: int | None = None
    """Byte of the line, counted from 1, at which it goes wrong or a second record begins."""
    salvageable: int = 0
    """Whole records that a person may rescue from the line."""

    def details(self) -> dict[str, object]:
        """Give what a fault says beside its message."""
        found: dict[str, object] = {"cause": self.code}
        if self.column is not None:
            found["column"] = self.column
        if self.salvageable:
            found["salvageable"] = self.salvageable
        return found

    def repair(self) -> tuple[RepairMode, str]:
        """Give how it can be mended: what can be rescued is repaired, the rest set aside; both after a review."""
        return RepairMode.REVIEW, "repair_lines" if self.code == "glued" else "set_aside_lines"


def too_large(length: int) -> Cause:
    """Name a line that is longer than what is read."""
    return Cause("too_large", f"A line of {length / (1 << 20):.1f} MiB, of which only the first 4 KiB are kept: lines are read up to 1 MiB")


def name_cause(line: bytes, utf16: bool = False) -> Cause:
    """Name why `JSON.parse` refuses a line; its time is linear in the line's length.

    `utf16` says that the file began with the mark of UTF-16. The codes are those of ruling 36.
    """
    if utf16 or line[:2] in (b"\xff\xfe", b"\xfe\xff") or _looks_like_utf16(line):
        return Cause("utf16", "Text in UTF-16, which reads as noise in UTF-8")
    zeros = len(line) - len(line.rstrip(b"\0"))
    if zeros == len(line) or zeros >= _LEAST_ZEROS:
        return Cause("nul_run", f"{zeros:,} zero bytes, as a power cut leaves them", column=len(line) - zeros + 1)
    text = line.decode("utf-8", "surrogateescape")
    return _sign_of_a_tool(text) or find_glued(text) or _bad_json(text)


def _looks_like_utf16(line: bytes) -> bool:
    """Say that every other byte is zero, nearly."""
    half = len(line) // 2
    if half < 4 or not line.strip(b"\0"):
        return False
    even, odd = line[::2].count(0), line[1::2].count(0)
    return max(even, odd) * 10 >= half * 8 and min(even, odd) * 10 <= half


def _sign_of_a_tool(text: str) -> Cause | None:
    start = javascript.trim(text[:400])
    if _CONFLICT.match(start):
        return Cause("merge_conflict", "A marker left over from a Git merge conflict", column=1)
    if _LFS.match(start):
        return Cause("lfs_pointer", "A Git LFS pointer in the place of the file's content", column=1)
    if start.startswith(_COMMENTS):
        return Cause("json_comment", "A comment, which JSON does not know", column=1)
    return None


class _Constant(Exception):
    """NaN or Infinity as a bare word."""


def _refuse(word: str) -> object:
    raise _Constant(word)


def _digits(text: str) -> object:
    return int(text) if len(text) < 20 else 0


_decoder = json.JSONDecoder(parse_constant=_refuse, parse_int=_digits)


def _whole(text: str, position: int) -> int | None:
    """Give the end of the whole value at a place, or None."""
    try:
        return _decoder.raw_decode(text, position)[1]
    except (ValueError, RecursionError, _Constant):
        return None


def _bad_json(text: str) -> Cause:
    try:
        _decoder.decode(text)
    except _Constant:
        found = re.search(r"-?Infinity|NaN", javascript.without_strings(text))
        return Cause("nan", "NaN or Infinity, which JSON does not know", column=_column(text, found.start() if found else 0))
    except json.JSONDecodeError as error:
        position = error.pos
    except RecursionError:
        position = javascript.scan(text)
    else:
        position = 0
    column = _column(text, position)
    if text.startswith(_COMMENTS[:2], position):
        return Cause("json_comment", "A comment, which JSON does not know", column=column)
    if _PRETTY.match(text):
        return Cause("pretty_json", "A piece of JSON that is spread over several lines", column=1)
    if text.startswith("\ufeff"):
        return Cause("bad_json", "A byte order mark in front of the record: only the first line may have one", column=1)
    if _ends_early(text, position):
        return Cause("bad_json", "A record that breaks off in the middle", column=_column(text, len(text)))
    if position == 0 and not text.isascii() and re.search("[\udc80-\udcff]", text):
        return Cause("bad_json", "Bytes that are not text", column=1)
    return Cause("bad_json", f"Not JSON from byte {column:,} of the line on", column=column)


def _column(text: str, position: int) -> int:
    """Count bytes from 1 for a place in the text."""
    return len(text[:position].encode("utf-8", "surrogateescape")) + 1


def _ends_early(text: str, position: int) -> bool:
    """Say that the text came to its end before the record did."""
    if not text.lstrip().startswith("{"):
        return False
    rest = text[position:].rstrip()
    return not rest or (rest[0] == '"' and '"' not in re.sub(r"\\.", "", rest[1:]))


def find_glued(text: str) -> Cause | None:
    """Find several whole records on the line, or whole ones beside a torn one.

    A whole record counts when it ends the line or another begins right behind it, and, behind a torn one, when it begins with the
    same key as the line: so a part of a broken record is not taken for one.
    """
    pieces = _pieces(text)
    whole = sum(end is not None for _, end in pieces)
    if whole == 0 or len(pieces) < 2:
        return None
    words = f"{whole} whole records" if whole > 1 else "1 whole record"
    words += " glued together on one line" if whole == len(pieces) else " glued to a torn one on one line"
    return Cause("glued", words, column=_column(text, pieces[1][0]), salvageable=whole)


def whole_records(line: bytes) -> tuple[bytes, ...]:
    """Give the bytes of the whole records on a line that `name_cause` calls glued, in order; else none."""
    text = line.decode("utf-8", "surrogateescape")
    pieces = _pieces(text)
    if len(pieces) < 2:
        return ()
    return tuple(text[start:end].encode("utf-8", "surrogateescape") for start, end in pieces if end is not None)


def _pieces(text: str) -> list[tuple[int, int | None]]:
    """Cut a line where records begin: (start, end) of each piece, the end None for a torn one; none where it is no row of records."""
    end = len(text.rstrip(" \t\r"))
    position = _next_piece(text, 0, end)
    first_key = _FIRST_KEY.match(text, position)
    opening = f'{{"{first_key[1]}"' if first_key else '{"'
    pieces: list[tuple[int, int | None]] = []
    tries = _TRIES
    while position < end:
        piece_end = _whole(text, position) if text[position] == "{" else None
        if piece_end is not None:
            pieces.append((position, piece_end))
            position = _next_piece(text, piece_end, end)
            if position < end and text[position] != "{":
                return []
            continue
        if text[position] == "{" or not pieces:
            pieces.append((position, None))
        tries -= 1
        position = text.find(opening, position + 1) if tries > 0 else -1
        while 0 <= position < end and not _begins_whole_piece(text, position, end, first_key is not None):
            tries -= 1
            position = text.find(opening, position + 1) if tries > 0 else -1
        if position < 0:
            break
    return pieces


def _next_piece(text: str, position: int, end: int) -> int:
    while position < end and text[position] in " \t\r\ufeff":
        position += 1
    return position


def _begins_whole_piece(text: str, position: int, end: int, sure: bool) -> bool:
    try:
        value, piece_end = _decoder.raw_decode(text, position)
    except (ValueError, RecursionError, _Constant):
        return False
    if not sure and _RECORD_KEYS.isdisjoint(value):
        return False
    behind = _next_piece(text, piece_end, end)
    return behind >= end or text[behind] == "{"
