"""Reads JSON as Node's `JSON.parse` does: the same verdict on every line, and what is odd about the lines it takes.

OrchestKit's agents read their memory with `JSON.parse`, so what it takes is a record and what it refuses is corrupt
(ruling 23). msgspec is the fast path, `json` on replaced text the exact one, a scanner without recursion has the last word
on deep nesting, where Python's limits differ from one version to the next (ruling 73).
"""

from __future__ import annotations

import json
import math
import re
from typing import Final, NamedTuple

import msgspec

JS_WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What `String.prototype.trim` removes."""
DEPTH_CAP: Final = 200
"""Values nested deeper are taken, but not shown."""


class TooDeep:
    """Stands for a value that is nested too deep to be shown."""

    def __repr__(self) -> str:
        return "TOO_DEEP"


class Odd:
    """Stands for the value of a line that needs a closer look."""


TOO_DEEP: Final = TooDeep()
ODD: Final = Odd()


class JsParse(NamedTuple):
    """The verdict on one text."""

    accepted: bool
    value: object
    warnings: tuple[str, ...]
    """Of what was taken: bad_utf8, dup_key, too_deep, nan, lone_surrogate, nul, int_range."""
    cause: str
    """Why it was refused: nan or bad_json; else "". `causes.name_cause` knows more."""


_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode
_MARK_DIGITS_AND_OPENINGS = bytes(0x30 if chr(byte).isdigit() and byte < 128 else 0x5B if byte in b"[{" else 0x20 for byte in range(256))
_LONG_NUMBER = b"0" * 19
_INT64 = range(-(1 << 63), 1 << 63)
_MOST_DIGITS = 4300
"""Python's own limit for whole numbers; JavaScript rounds such numbers to Infinity."""
_STRING = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:"
    r"(?P<mark>[{}\[\],:])"
    r'|(?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<plain>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?|true|false|null)"
    r"|(?P<end>\Z))"
)


def trim(text: str) -> str:
    """Do `String.prototype.trim`."""
    return text.strip(JS_WHITESPACE)


def may_need_trim(line: bytes) -> bool:
    """Say whether a line ends in whitespace that `trim` removes and `JSON.parse` does not forgive; a rough, quick look."""
    end = line.rstrip(b" \t\r")[-1:]
    return bool(end) and (end in b"\v\f" or end >= b"\x80")


def parse(line: bytes) -> JsParse:
    """Judge one line as `JSON.parse` would after decoding it as UTF-8 with U+FFFD for bad bytes; nothing is raised."""
    value = parse_plain(line)
    return parse_exactly(line) if value is ODD else JsParse(True, value, (), "")


def parse_plain(line: bytes) -> object:
    """Give the value of a line about which nothing is odd, else `ODD`: then only `parse_exactly` knows.

    Nothing is odd when the line is, byte for byte, what a writer would make of the value: a doubled key would be lost on the
    way, an odd number or bad UTF-8 would come out otherwise. Texts of such a value hold neither NUL nor half surrogates.
    """
    try:
        value: object = _decode(line)
        if _encode(value) != line and _encode(value) != line.rstrip(b"\r"):
            return ODD
    except (msgspec.MsgspecError, OverflowError, RecursionError):
        return ODD
    marks = line.translate(_MARK_DIGITS_AND_OPENINGS)
    if _LONG_NUMBER in marks or marks.count(b"[") > DEPTH_CAP or b"\\u0000" in line:
        return ODD
    return value


def parse_exactly(line: bytes) -> JsParse:
    """Judge a line by the slow way, which finds everything that is odd."""
    text = line.decode("utf-8", "replace")
    warnings: set[str] = set()
    if "\ufffd" in text and _is_bad_utf8(line):
        warnings.add("bad_utf8")
    if text.count("[") + text.count("{") > DEPTH_CAP and depth(text) > DEPTH_CAP:
        return _scanned(text, warnings)
    reading = _Reading()
    try:
        value = reading.decoder.decode(text)
    except json.JSONDecodeError:
        return JsParse(False, None, (), "bad_json")
    except _NotANumber:
        return JsParse(False, None, (), "nan")
    except RecursionError:
        return _scanned(text, warnings)
    warnings |= reading.warnings
    if "\\u" in text:
        warnings |= odd_characters(value)
    return JsParse(True, value, tuple(sorted(warnings)), "")


def _is_bad_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False


class _NotANumber(Exception):
    """NaN or Infinity as a bare word."""


class _Reading:
    """One decoding with a note of what was odd in it."""

    def __init__(self) -> None:
        self.warnings: set[str] = set()
        self.decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_int=self._whole, parse_float=self._float
        )

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        result = dict(pairs)
        if len(result) != len(pairs):
            self.warnings.add("dup_key")
        return result

    def _constant(self, word: str) -> object:
        raise _NotANumber(word)

    def _whole(self, digits: str) -> object:
        if len(digits) < 19:
            return int(digits)
        if len(digits) > _MOST_DIGITS:
            self.warnings.add("int_range")
            return float(digits)
        result = int(digits)
        if result not in _INT64:
            self.warnings.add("int_range")
        return result

    def _float(self, digits: str) -> float:
        result = float(digits)
        if math.isinf(result):
            self.warnings.add("nan")
        return result


def without_strings(text: str) -> str:
    """Blank out the quoted strings of a text, keeping every place."""
    return _STRING.sub(lambda found: " " * len(found[0]), text)


def odd_characters(value: object) -> set[str]:
    """Look through every text of a value, keys too, for NUL (`nul`) and halves of surrogate pairs (`lone_surrogate`)."""
    found: set[str] = set()
    todo = [value]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            if "\0" in item:
                found.add("nul")
            if not item.isascii() and re.search("[\ud800-\udfff]", item):
                found.add("lone_surrogate")
        elif isinstance(item, dict):
            todo += item.keys()
            todo += item.values()
        elif isinstance(item, list):
            todo += item
    return found


def depth(text: str) -> int:
    """Count how deep brackets nest outside of strings."""
    deepest = level = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        if bracket in "[{":
            level += 1
            deepest = max(deepest, level)
        else:
            level -= 1
    return deepest


def _scanned(text: str, warnings: set[str]) -> JsParse:
    if scan(text) < 0:
        return JsParse(True, TOO_DEEP, tuple(sorted(warnings | {"too_deep"})), "")
    return JsParse(False, None, (), "bad_json")


def scan(text: str) -> int:
    """Check the grammar of a JSON text without recursion: -1 when it is one, else where it stops being one."""
    position = 0
    closing: list[str] = []
    expected = "value"
    while True:
        found = _TOKEN.match(text, position)
        if found is None:
            return position
        mark = found["mark"]
        if found["end"] is not None:
            return -1 if expected == "after" and not closing else position
        if mark is None:
            if found["string"] is not None and expected in ("key", "key or end"):
                expected = "colon"
            elif expected in ("value", "value or end"):
                expected = "after"
            else:
                return position
        elif mark in "{[":
            if expected not in ("value", "value or end"):
                return position
            closing.append("}" if mark == "{" else "]")
            expected = "key or end" if mark == "{" else "value or end"
        elif mark == ":":
            if expected != "colon":
                return position
            expected = "value"
        elif mark == ",":
            if expected != "after" or not closing:
                return position
            expected = "key" if closing[-1] == "}" else "value"
        else:
            if not closing or closing[-1] != mark or expected not in ("after", "key or end", "value or end"):
                return position
            closing.pop()
            expected = "after"
        position = found.end()
