"""Small pieces of HTML that templates and tables share: shapes, times, digests, and memory text made harmless to read.

Every piece is built with `format_html`, so what comes in is always escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import lru_cache

from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display
from stores.charts import fingerprint_bars
from stores.formats.secrets import find_secrets
from stores.formats.visible import Span, visible
from stores.shapes import ICONS, SHAPES, state_of

Moment = datetime | int | float | None
_UNBROKEN = '<span class="unbroken">{}</span>'
_HYPHENATED = re.compile(r"(?<![\w-])(?=[\w.-]{3,32}(?![\w.-]))\w[\w.]*(?:-[\w.]+)+:?")
"""A name with hyphens that is short enough to stand on one line of a telephone."""
Finder = Callable[[str], Iterable[tuple[int, int]]]
"""From a text to the parts of it that are marked: (start, end), in order, without overlap."""


@lru_cache(maxsize=1024)
def shape(word: str, label: str = "") -> SafeString:
    """Give the shape of a state; with `label` it is an image of that name, without one it is hidden since its word stands beside it."""
    state = state_of(word)
    return _drawing("shape", state, SHAPES[state], label)


@lru_cache(maxsize=64)
def icon(name: str) -> SafeString:
    """Give one of the few icons; raises KeyError for another name."""
    if name not in ICONS:
        raise KeyError(name)
    return format_html('<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>', static("memoryui/sprite.svg"), name)


def time_tag(moment: datetime, text: str) -> SafeString:
    """Give `text` as a time, with ISO UTC for machines and on hover."""
    exact = display.iso(moment)
    return format_html('<time datetime="{}" title="{}">{}</time>', exact, exact, text)


def age(value: Moment, *, exact: bool = False) -> SafeString | str:
    """Give how long ago: "2 h", with `exact` "4 d 2 h"; "not known" where there is no time."""
    moment = display.moment_of(value)
    return display.NOT_KNOWN if moment is None else time_tag(moment, display.age(moment, timezone.now(), exact=exact))


def ago(value: Moment) -> SafeString | str:
    """Give "12 s ago"."""
    moment = display.moment_of(value)
    return display.NOT_KNOWN if moment is None else time_tag(moment, display.ago(moment, timezone.now()))


def clock(value: Moment, *, seconds: bool = False) -> SafeString | str:
    """Give "14:31" today, else "27 Nov 14:31"."""
    moment = display.moment_of(value)
    if moment is None:
        return display.NOT_KNOWN
    return time_tag(moment, display.clock(timezone.localtime(moment), timezone.localtime(), seconds=seconds))


def day(value: Moment) -> SafeString | str:
    """Give what a column of dates says: "2 h" today, else "27 Nov", "Nov 2025"."""
    moment = display.moment_of(value)
    if moment is None:
        return display.NOT_KNOWN
    return time_tag(moment, display.day(timezone.localtime(moment), timezone.localtime()))


def fingerprint(digest: str) -> SafeString:
    """Give a digest (hexadecimal text) as picture and its first 12 digits as 3 × 4; the full value is on hover and on copy."""
    if not digest:
        return format_html("{}", display.NOT_KNOWN)
    head = digest[:12]
    return format_html(
        '<span class="fingerprint" title="{}" data-copy="{}"><svg viewBox="0 0 35 12" aria-hidden="true">'
        '<path fill="currentColor" d="{}"/></svg><code>{}</code></span>',
        digest,
        digest,
        fingerprint_bars(head),
        " ".join(head[start : start + 4] for start in range(0, len(head), 4)),
    )


def fingerprint_picture(digest: str) -> SafeString:
    """Give only the picture of a digest, for narrow columns; the full value is its name."""
    return format_html(
        '<span class="fingerprint" title="{}" data-copy="{}"><svg viewBox="0 0 35 12" role="img" aria-label="{}">'
        '<path fill="currentColor" d="{}"/></svg></span>',
        digest,
        digest,
        digest[:12],
        fingerprint_bars(digest),
    )


def memory_text(text: str, hits: Sequence[str] | Finder = (), *, marked_as: str = "<mark>{}</mark>") -> SafeString:
    """Give memory text as it may be shown: secrets masked, invisible and direction-changing characters written out, isolated by `<bdi>`.

    `hits` are words of a search, marked where a word of the text begins with one; or a function that finds what is to be marked,
    which stands in `marked_as`.
    Source: ruling 20, visual-design §7.
    """
    found = find_secrets(text)
    finder = hits if callable(hits) else _word_finder(hits)
    if not found:
        return format_html("<bdi>{}</bdi>", _marked(text, finder, marked_as))
    parts: list[SafeString] = []
    position = 0
    for secret in found:
        parts.append(_marked(text[position : secret.start], finder, marked_as))
        parts.append(masked(secret.end - secret.start))
        position = secret.end
    parts.append(_marked(text[position:], finder, marked_as))
    return format_html("<bdi>{}</bdi>", format_html_join("", "{}", ((part,) for part in parts)))


def unbroken(text: str) -> SafeString:
    """Give text as `memory_text` does; in it no line breaks at the hyphen of a name."""
    return memory_text(text, lambda plain: [found.span() for found in _HYPHENATED.finditer(plain)], marked_as=_UNBROKEN)


def masked(length: int) -> SafeString:
    """Give the words that stand in place of a secret of `length` characters."""
    return format_html('<span class="masked">masked, {} characters</span>', length)


def _drawing(kind: str, state: str, symbol: str, label: str) -> SafeString:
    """Give one `<use>` of the sprite."""
    if label:
        return format_html(
            '<svg class="{}" data-state="{}" role="img" aria-label="{}"><use href="{}#{}"></use></svg>',
            kind,
            state,
            label,
            static("memoryui/sprite.svg"),
            symbol,
        )
    return format_html(
        '<svg class="{}" data-state="{}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        kind,
        state,
        static("memoryui/sprite.svg"),
        symbol,
    )


def _word_finder(hits: Iterable[str]) -> Finder | None:
    """Give the function that finds words beginning with one of `hits`, the longest first."""
    words = sorted({hit for hit in hits if hit}, key=len, reverse=True)
    if not words:
        return None
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(re.escape(word) for word in words) + ")", re.IGNORECASE)
    return lambda text: [found.span() for found in pattern.finditer(text)]


def _marked(text: str, finder: Finder | None, marked_as: str) -> SafeString:
    """Give text with its invisible characters written out and its hits marked."""
    spans = visible(text)
    if finder is None and len(spans) == 1 and spans[0].kind == "plain":
        return format_html("{}", text)
    return format_html_join("", "{}", ((piece,) for span in spans for piece in _pieces(span, finder, marked_as)))


def _pieces(span: Span, finder: Finder | None, marked_as: str) -> Iterator[SafeString]:
    """Give one span as pieces of HTML: a mark, or plain text cut at what `finder` finds."""
    if span.kind != "plain":
        yield format_html('<span class="mark">{}</span>', span.text)
        return
    position = 0
    for start, end in finder(span.text) if finder else ():
        yield format_html("{}", span.text[position:start])
        yield format_html(marked_as, span.text[start:end])
        position = end
    yield format_html("{}", span.text[position:])
