"""Turns values into text as JavaScript does: numbers, template texts, `JSON.stringify`, lengths in UTF-16 units."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Final

from stores.formats.javascript import trim


class Undefined:
    """Stands for JavaScript's `undefined`."""

    def __repr__(self) -> str:
        return "UNDEFINED"


class JsTypeError(Exception):
    """JavaScript would throw a TypeError here."""


UNDEFINED: Final = Undefined()
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_INDEX: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_SAFE: Final = 1 << 53
_quote: Final = json.JSONEncoder(ensure_ascii=False).encode
_POINT_FROM: Final = -6
_POINT_UP_TO: Final = 21
"""Decimal exponents between which JavaScript writes a number without an exponent."""
_BEYOND_INDEX: Final = (1 << 32) - 1


def field(value: object, key: str) -> object:
    """Give a property of a value: `UNDEFINED` where there is none; of null and undefined none can be asked."""
    if value is None or value is UNDEFINED:
        raise JsTypeError(f"no {key} of nothing")
    return value.get(key, UNDEFINED) if isinstance(value, dict) else UNDEFINED


def text_of(value: object) -> str:
    """Do what a template literal does to a value."""
    if isinstance(value, str):
        return value
    if value is None:
        return "null"
    if value is UNDEFINED:
        return "undefined"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return number_text(value)
    if isinstance(value, list):
        return joined(value, ",")
    if isinstance(value, dict) and "toString" in value:
        raise JsTypeError("toString is no function")
    return "[object Object]"


def joined(items: Iterable[object], separator: str) -> str:
    """Do `Array.prototype.join`."""
    return separator.join("" if item is None or item is UNDEFINED else text_of(item) for item in items)


def number_text(value: float) -> str:
    """Write a number as `String(value)` does."""
    if isinstance(value, int):
        if -_SAFE <= value <= _SAFE:
            return str(value)
        try:
            value = float(value)
        except OverflowError:
            value = math.inf if value > 0 else -math.inf
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    figures = "".join(map(str, digits))
    point = len(figures) + int(exponent)
    minus = "-" if sign else ""
    if len(figures) <= point <= _POINT_UP_TO:
        return minus + figures + "0" * (point - len(figures))
    if 0 < point <= _POINT_UP_TO:
        return f"{minus}{figures[:point]}.{figures[point:]}"
    if _POINT_FROM < point <= 0:
        return f"{minus}0.{'0' * -point}{figures}"
    rest = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{minus}{figures[0]}{rest}e{point - 1:+d}"


def to_number(value: object) -> float:
    """Do what arithmetic does to a value; NaN for what is no number."""
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, list):
        value = text_of(value)
    if not isinstance(value, str):
        return math.nan
    written = trim(value)
    if not written:
        return 0.0
    return float(written) if _DECIMAL.fullmatch(written) else math.nan


def whole_text(value: float) -> str:
    """Do `toFixed(0)`: to the nearest whole number, halves away from zero."""
    if not math.isfinite(value) or abs(value) >= 1e21:
        return number_text(value)
    if value == 0:
        return "0"
    return str(Decimal(value).quantize(Decimal(1), ROUND_HALF_UP))


def units(text: str) -> int:
    """Count the UTF-16 units of a text, which is what JavaScript calls its length."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def unit_texts(text: str) -> list[str]:
    """Give the UTF-16 units of a text one by one, halves of a character apart."""
    units_of = text.encode("utf-16-le", "surrogatepass")
    return [chr(int.from_bytes(units_of[place : place + 2], "little")) for place in range(0, len(units_of), 2)]


def cut(text: str, most: int) -> str:
    """Do `slice(0, most)`: a character outside the basic plane may be cut in half."""
    if text.isascii() or len(text) * 2 <= most:
        return text[:most]
    return text.encode("utf-16-le", "surrogatepass")[: 2 * most].decode("utf-16-le", "surrogatepass")


def stringify(value: object, indent: int = 0) -> str:
    """Do `JSON.stringify(value, null, indent)`: nothing but half surrogates and control characters is escaped."""
    return _written(value, " " * indent, "\n" if indent else "")


def compact_line(value: object) -> bytes:
    """Write a value as one line of a file, with its line break."""
    return stringify(value).encode("utf-8") + b"\n"


def _written(value: object, indent: str, margin: str) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        inner = margin + indent
        colon = ": " if indent else ":"
        parts = [f"{_quoted(key)}{colon}{_written(value[key], indent, inner)}" for key in _keys(value)]
        return _bracketed("{", parts, "}", margin, inner)
    if isinstance(value, list | tuple):
        inner = margin + indent
        return _bracketed("[", [_written(item, indent, inner) for item in value], "]", margin, inner)
    if value is None or value is UNDEFINED or (isinstance(value, float) and not math.isfinite(value)):
        return "null"
    return text_of(value)


def _bracketed(opening: str, parts: list[str], closing: str, margin: str, inner: str) -> str:
    return f"{opening}{inner}{f',{inner}'.join(parts)}{margin}{closing}" if parts else opening + closing


def _keys(value: Mapping[str, object]) -> list[str]:
    """Give the keys in JavaScript's order: array indices by size, then the others as they came; undefined ones are left out."""
    keys = [key for key, item in value.items() if item is not UNDEFINED]
    indices = [key for key in keys if key[:1].isdigit() and _INDEX.fullmatch(key) and int(key) < _BEYOND_INDEX]
    if not indices:
        return keys
    return sorted(indices, key=int) + [key for key in keys if key not in set(indices)]


def _quoted(text: str) -> str:
    written = _quote(text)
    if written.isascii() or not _SURROGATE.search(written):
        return written
    paired = written.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", paired)
