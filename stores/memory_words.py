"""Texts of records in the words of pages: never nothing, never half a secret."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import markup
from stores.formats.highlights import hit_spans
from stores.formats.search_text import Term
from stores.formats.secrets import find_secrets, mask
from stores.formats.storable import TITLE_LIMIT
from stores.formats.visible import one_line

EMPTY = "(empty)"
ID_LENGTH = 40
"""Characters of an id in a column; the whole one is on the record's page."""
LABEL_LENGTH = 60


def whole_words(title: str) -> str:
    """Give a title that the reader cut at its limit without the word it was cut in: half a secret looks like none."""
    if len(title) < TITLE_LIMIT:
        return title
    head, _, _ = title[: TITLE_LIMIT - 1].rpartition(" ")
    return f"{head or title[: TITLE_LIMIT - 1]}…"


def title_of(title: str, terms: Sequence[Term] = ()) -> SafeString:
    """Give a record's title as pages show it, the words of a search marked; "(empty)" where there is nothing to see."""
    words = whole_words(title)
    hits: markup.Finder | tuple[()] = partial(hit_spans, terms=terms) if terms else ()
    return markup.memory_text(words, hits) if words.strip() else format_html('<span class="least">{}</span>', EMPTY)


def value_of(value: str) -> SafeString:
    """Give a short text of a record, "not given" where there is none."""
    return markup.memory_text(value) if value.strip() else format_html('<span class="least">{}</span>', "not given")


def short(text: str, limit: int) -> SafeString:
    """Give at most so many characters of a text; secrets are masked before it is cut, as half of one looks like none."""
    if len(text) <= limit:
        return value_of(text)
    masked = mask(text)
    return value_of(text if len(masked) <= limit else f"{masked[:limit]}…")


def spaced(text: str) -> str:
    """Give a word of a format as people write it, without its underscores; one that holds a secret as it is, or it would look like none."""
    return text if find_secrets(text) else text.replace("_", " ")


def id_text(value: str, limit: int = ID_LENGTH) -> SafeString:
    """Give an id for a narrow column or a sentence."""
    return short(value, limit) if value.strip() else format_html('<span class="least">{}</span>', "none")


def plain(text: str) -> str:
    """Give memory text as one line for where no markup may stand: masked, nothing invisible in it."""
    return one_line(mask(text)).strip()


def label_of(name: str) -> str:
    """Give the name of a field as the label of its value."""
    words = plain(" ".join(spaced(name).split()))[:LABEL_LENGTH]
    return f"{words[:1].upper()}{words[1:]}" if words else "(no name)"
