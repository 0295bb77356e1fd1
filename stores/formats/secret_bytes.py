"""Where secrets stand in bytes that need be no text, and such bytes as lines in which these are masked."""

from __future__ import annotations

from stores.formats.byte_diffs import ByteRow
from stores.formats.secrets import find_secrets


def secret_places(data: bytes) -> frozenset[int]:
    """Give the places of the bytes that belong to secrets, also of those that stand between NULs as UTF-16 has them."""
    places: set[int] = set()
    text = data.decode("utf-8", "surrogateescape")
    done = at = 0
    for secret in find_secrets(text):
        start = at + _length(text[done : secret.start])
        at = start + _length(text[secret.start : secret.end])
        done = secret.end
        places.update(range(start, at))
    if b"\0" in data:
        where = [place for place, byte in enumerate(data) if byte]
        for secret in find_secrets(data.replace(b"\0", b"").decode("latin-1")):
            places.update(range(where[secret.start], where[secret.end - 1] + 1))
    return frozenset(places)


def digits_of(data: bytes, start: int, hidden: frozenset[int]) -> list[str]:
    """Give two hexadecimal digits for each byte; `start` is the place of the first one, `··` stands for the hidden ones."""
    return ["··" if start + place in hidden else f"{byte:02x}" for place, byte in enumerate(data)]


def characters_of(data: bytes, start: int, hidden: frozenset[int]) -> list[str]:
    """Give the character that each byte stands for in ASCII, with dots for the rest."""
    return ["·" if start + place in hidden else chr(byte) if 32 <= byte < 127 else "." for place, byte in enumerate(data)]


def row_text(row: ByteRow, hidden: frozenset[int]) -> str:
    """Give a row on one line: where it begins, hexadecimal digits, characters."""
    start = row.old if row.old is not None else row.new or 0
    digits = " ".join(digits_of(row.data, start, hidden)).ljust(47)
    return f"{start:08x}  {digits}  {''.join(characters_of(row.data, start, hidden))}"


def _length(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))
