"""Lines of differences as HTML: secrets masked, what goes and what comes marked, and whatever deceives the eye written out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import display, markup
from stores.formats.diffs import DiffLine, Run
from stores.formats.lookalikes import lookalikes
from stores.formats.secrets import find_secrets
from stores.formats.visible import visible

_LONGEST_WHOLE: Final = 2_000_000
"""Characters of a text in which secrets are looked for across lines."""
_PADDING: Final = re.compile(r"[ \t\xa0\u2000-\u200a\u3000]{24,}|(?:\\n){6,}|(?:\\t){6,}")
_SIGNS: Final = {"-": "del", "+": "ins"}


def text_html(text: str) -> SafeString:
    """Give memory text of a few lines, with its look-alike letters and its padding written out."""
    spans = [(one.start, one.end) for one in find_secrets(text)]
    return format_html("<bdi>{}</bdi>", pieces([Run(text, False)], spans, ""))


def rendered(lines: Sequence[DiffLine]) -> list[SafeString]:
    """Give each line as HTML."""
    tags = [_SIGNS.get(line.sign, "") for line in lines]
    return [
        format_html("<bdi>{}</bdi>", pieces(line.runs, spans, tag)) for line, spans, tag in zip(lines, secrets_in(lines), tags, strict=True)
    ]


def secrets_in(lines: Sequence[DiffLine]) -> list[list[tuple[int, int]]]:
    """Give the places of secrets in each line, those that go over several lines too: each side is looked at as a whole."""
    found: list[list[tuple[int, int]]] = [[] for _ in lines]
    for sign in ("-", "+"):
        mine = [place for place, line in enumerate(lines) if line.sign in (sign, " ")]
        texts = ["".join(run.text for run in lines[place].runs) for place in mine]
        if sum(map(len, texts)) > _LONGEST_WHOLE:
            spans_of = [[(one.start, one.end) for one in find_secrets(text)] for text in texts]
        else:
            spans_of = _spread(texts)
        for place, spans in zip(mine, spans_of, strict=True):
            found[place] = spans if lines[place].sign == sign else sorted({*found[place], *spans})
    return [_apart(spans) for spans in found]


def _spread(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Give the secrets of a text of several lines by line."""
    secrets = list(find_secrets("\n".join(texts)))
    spans: list[list[tuple[int, int]]] = []
    offset = 0
    for text in texts:
        end = offset + len(text)
        spans.append(
            [(max(one.start, offset) - offset, min(one.end, end) - offset) for one in secrets if one.start < end and one.end > offset]
        )
        offset = end + 1
    return spans


def _apart(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join places that overlap."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def pieces(runs: Sequence[Run], spans: Sequence[tuple[int, int]], tag: str) -> SafeString:
    """Give runs as one piece of HTML."""
    return format_html_join("", "{}", ((one,) for one in parts(runs, spans, tag)))


def parts(runs: Sequence[Run], spans: Sequence[tuple[int, int]], tag: str) -> list[SafeString]:
    """Give each run as HTML: secrets masked where they begin, what changed within `tag`, unless that is the whole line."""
    marks = tag if len(runs) > 1 else ""
    listed = []
    offset = 0
    for run in runs:
        html = _run_html(run.text, offset, spans)
        if run.changed and marks:
            html = format_html("<del>{}</del>" if tag == "del" else "<ins>{}</ins>", html)
        listed.append(html)
        offset += len(run.text)
    return listed


def _run_html(text: str, offset: int, spans: Sequence[tuple[int, int]]) -> SafeString:
    pieces: list[SafeString] = []
    position = 0
    for start, end in spans:
        first, last = max(start - offset, 0), min(end - offset, len(text))
        if first >= last:
            continue
        pieces.append(_written_out(text[position:first]))
        if start >= offset:
            pieces.append(markup.masked(end - start))
        position = last
    pieces.append(_written_out(text[position:]))
    return format_html_join("", "{}", ((one,) for one in pieces))


def _written_out(text: str) -> SafeString:
    """Give text in which what deceives the eye is written out: unseen and look-alike characters, and padding."""
    pieces: list[SafeString | str] = []
    position = 0
    for match in _PADDING.finditer(text):
        pieces.append(_seen(text[position : match.start()]))
        pieces.append(format_html('<span class="mark">{}</span>', _padding_words(match[0])))
        position = match.end()
    pieces.append(_seen(text[position:]))
    return format_html_join("", "{}", ((one,) for one in pieces))


def _padding_words(padding: str) -> str:
    if padding.startswith("\\"):
        return f"{display.number(len(padding) // 2)} {'line breaks' if padding[1] == 'n' else 'tabs'}"
    return f"{display.number(len(padding))} blanks"


def _seen(text: str) -> SafeString:
    pieces: list[SafeString | str] = []
    for span in visible(text):
        if span.kind != "plain":
            pieces.append(format_html('<span class="mark">{}</span>', span.text))
            continue
        position = 0
        for start, end in lookalikes(span.text):
            pieces.append(span.text[position:start])
            letter = span.text[start:end]
            pieces.append(format_html('<span class="mark">{} U+{}</span>', letter, f"{ord(letter[0]):04X}"))
            position = end
        pieces.append(span.text[position:])
    return format_html_join("", "{}", ((one,) for one in pieces))
