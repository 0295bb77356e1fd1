"""One plain text of words per record, and queries in the same words, so that both engines find the same (rulings 44, 75)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Final, NamedTuple

LIMIT_BYTES: Final = 64 * 1024
TOKEN_LIMIT: Final = 64
"""Characters; longer words are cut, in texts and in queries alike."""
QUERY_LIMIT: Final = 200
"""Characters of a query that are looked at."""

_LOOKED_AT: Final = 2_000
"""Characters of a text from which words are taken that stand for it."""

_ASCII_WORDS: Final = bytes(ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 0x20 for code in range(256))
"""Translation of ASCII: letters become small, digits stay, everything else becomes a space."""
_ASCII_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ASCII_KINDS: Final = bytes(
    0x41 if 65 <= code <= 90 else 0x61 if 97 <= code <= 122 else 0x30 if 48 <= code <= 57 else 0x20 for code in range(256)
)
"""Translation of ASCII: A for capitals, a for small letters, 0 for digits."""
_ASCII_WORD: Final = re.compile("[A-Za-z0-9]+")
_WORD: Final = re.compile(r"[^\W_]+")
_DAKUTEN: Final = "\u3099\u309a"
"""Voicing marks tell kana apart: they are letters, not accents."""
_ALONE: Final = (
    (0x3005, 0x3007),
    (0x3041, 0x3096),
    (0x309D, 0x309F),
    (0x30A1, 0x30FA),
    (0x30FC, 0x30FF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x1B000, 0x1B16F),
    (0x20000, 0x3FFFF),
)
"""Ideographs and kana: written without spaces, so each stands for itself."""


class Term(NamedTuple):
    """One word or quoted phrase of a query."""

    tokens: tuple[str, ...]
    """Never empty; several stand directly behind one another."""
    prefix: bool
    """The last token may go on."""


class _Words(dict[int, str]):
    """What each character becomes in small, accent-free text; filled as characters are met."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category in ("Lo", "Lm", "Nl") and any(first <= code <= last for first, last in _ALONE):
            word = f" {character} "
        elif category == "Nd":
            word = str(unicodedata.decimal(character))
        elif category[0] == "L":
            word = character
        elif category[0] == "M" or category == "Cf":
            word = ""
        else:
            word = " "
        self[code] = word
        return word


class _Humps(dict[int, str]):
    """The kind of each character for finding humps: A capital, a small, 0 digit, otherwise a space."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        kind = "A" if character.isupper() else "a" if character.islower() else "0" if character.isdecimal() else " "
        self[code] = kind
        return kind


_WORDS: Final = _Words()
_HUMPS: Final = _Humps()


def search_text(*texts: str) -> str:
    """Make the text that is indexed: words joined by one space, at most 64 KiB.

    Compatibility forms are unified (NFKC), case and accents dropped, ideographs and kana set apart one by one, and parts of
    `snake_case`, `dotted.names`, `paths/of/files` and `camelCase` parted. Words with humps come once more as a whole behind all
    others, so that "postgresql" finds PostgreSQL and no phrase is torn. Doing it twice changes nothing.
    """
    text = texts[0] if len(texts) == 1 else " ".join(texts)
    has_humps = text.lower() != text and (not text.isascii() or _has_ascii_hump(text))
    if not has_humps and len(text) * 4 < LIMIT_BYTES and text.isascii():
        words = b" ".join(text.encode("ascii").translate(_ASCII_WORDS).split()).decode("ascii")
        if _are_short(words):
            return words
    tokens = _tokens(text)
    result = " ".join([*tokens, *whole_words(text)] if has_humps else tokens)
    if len(result) * 4 > LIMIT_BYTES:
        encoded = result.encode("utf-8")
        if len(encoded) > LIMIT_BYTES:
            result = encoded[: LIMIT_BYTES + 1].decode("utf-8", "ignore").rpartition(" ")[0]
    return result


def _are_short(words: str) -> bool:
    """Say that no word is too long, by leaping from space to space."""
    start, end = 0, len(words)
    while end - start > TOKEN_LIMIT:
        start = words.rfind(" ", start, start + TOKEN_LIMIT + 1) + 1
        if not start:
            return False
    return True


def _tokens(text: str) -> list[str]:
    words = _ascii_words(text) if text.isascii() else _unicode_words(text)
    tokens = words.split()
    if tokens and max(map(len, tokens)) > TOKEN_LIMIT:
        tokens = [token[:TOKEN_LIMIT] for token in tokens]
    return tokens


def _ascii_words(text: str) -> str:
    if text.lower() != text:
        text = _ASCII_HUMP.sub(" ", text)
    return text.encode("ascii").translate(_ASCII_WORDS).decode("ascii")


def _has_ascii_hump(text: str) -> bool:
    """Say whether `_ASCII_HUMP` finds anything, many times as quick."""
    kinds = text.encode("ascii").translate(_ASCII_KINDS)
    return b"aA" in kinds or b"0A" in kinds or b"AAa" in kinds


def whole_words(text: str) -> list[str]:
    """Give the words that humps part, each as one token, in the order in which they stand."""
    if text.isascii():
        return [word.lower()[:TOKEN_LIMIT] for word in _ASCII_WORD.findall(text) if _ASCII_HUMP.search(word)]
    words = [word for word in _WORD.findall(unicodedata.normalize("NFKC", text)) if _part_humps(word) != word]
    tokens = [_bare_words(word).split() for word in words]
    return [found[0][:TOKEN_LIMIT] for found in tokens if len(found) == 1]


def _unicode_words(text: str) -> str:
    return _bare_words(_part_humps(unicodedata.normalize("NFKC", text)))


def _bare_words(text: str) -> str:
    text = text.casefold()
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join([character for character in decomposed if not unicodedata.combining(character) or character in _DAKUTEN])
    return unicodedata.normalize("NFC", bare).translate(_WORDS)


def _part_humps(text: str) -> str:
    kinds = text.translate(_HUMPS)
    places = [found.start() for found in re.finditer("(?<=[a0])A|(?<=A)Aa", kinds)]
    if not places:
        return text
    return " ".join(text[start:end] for start, end in zip([0, *places], [*places, len(text)], strict=True))


def parse_query(query: str) -> tuple[Term, ...]:
    """Read what a person typed: words that must all occur, "quoted" ones in that order, the last bare word as a beginning.

    A word with parts, such as `pg_dump`, is a phrase of them. What holds no letter and no digit is dropped.
    """
    pieces = list(_pieces(query[:QUERY_LIMIT]))
    terms: list[Term] = []
    for place, (piece, quoted) in enumerate(pieces):
        tokens = tuple(_tokens(piece))
        if tokens:
            terms.append(Term(tokens, prefix=not quoted and place == len(pieces) - 1))
    return tuple(terms)


def common_terms(text: str, limit: int = 6) -> tuple[Term, ...]:
    """Give words that occur in the search text of every record with this text, in whatever case it is written: the longest ones.

    At most `limit`; none where the text has no word at all.
    """
    head = text[:_LOOKED_AT]
    parts = unicodedata.normalize("NFKC", head).split()
    if len(text) > _LOOKED_AT:
        parts = parts[:-1]
    # A letter that becomes several when its case is dropped is parted differently in another case.
    tokens = _tokens(" ".join(part.casefold() for part in parts if len(part.casefold()) == len(part)))
    written = set(search_text(head).split())
    words = sorted({token for token in tokens if token in written}, key=lambda token: (-len(token), token))
    return tuple(Term((word,), prefix=False) for word in words[:limit])


def _pieces(query: str) -> Iterator[tuple[str, bool]]:
    for place, piece in enumerate(query.split('"')):
        if place % 2:
            yield piece, True
        else:
            for word in piece.split():
                yield word, False


def fts5_query(terms: Collection[Term], scopes: Collection[str] = ()) -> str:
    """Write the terms as a MATCH expression for FTS5 with the columns `search` and `scope`; "" when there are no terms.

    `scopes` are the words of the stores in which to search, any of them; none means everywhere.
    """
    if not terms:
        return ""
    words = " AND ".join(f'"{" ".join(term.tokens)}"{" *" if term.prefix else ""}' for term in terms)
    if not scopes:
        return f"search : ({words})"
    places = " OR ".join('"' + scope.replace('"', '""') + '"' for scope in scopes)
    return f"search : ({words}) AND scope : ({places})"


def tsquery(terms: Collection[Term]) -> str:
    """Write the terms for PostgreSQL's `to_tsquery('simple', …)`; "" when there are no terms."""
    return " & ".join("(" + " <-> ".join(_operands(term)) + ")" for term in terms)


def _operands(term: Term) -> Iterator[str]:
    for place, token in enumerate(term.tokens):
        yield f"'{token}'{':*' if term.prefix and place == len(term.tokens) - 1 else ''}"
