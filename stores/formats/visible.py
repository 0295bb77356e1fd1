"""Makes visible what the eye does not see in a text: control, direction, zero-width and tag characters."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Span(NamedTuple):
    """A run of plain text, or one character that is written out."""

    text: str
    """The plain text, or the mark's name such as "U+202E"."""
    kind: str
    """plain, control, bidi, zero-width or tag."""


_JOINED: Final = "\u0600-\u06ff\u0750-\u077f\u0900-\u0dff"
"""Letters of scripts that need joiners to be written right."""
_PICTURES: Final = "\u2190-\u2bff\U0001f000-\U0001faff"
_KINDS: Final = (
    ("control", "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\ud800-\udfff"),
    ("bidi", "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"),
    (
        "zero-width",
        "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u2800\u3164\ufe00-\ufe0d\ufeff\uffa0",
    ),
    ("tag", "\U000e0000-\U000e0fff"),
)
_UNSEEN: Final = re.compile(
    "|".join(
        [
            *(f"(?P<{kind.replace('-', '_')}>[{characters}])" for kind, characters in _KINDS),
            f"(?P<joiner>(?<![{_PICTURES}\ufe0f{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_PICTURES}{_JOINED}])|(?<=[\ufe00-\ufe0f])[\ufe0e\ufe0f])",
        ]
    )
)
"""Line feed and tab are plain; so are joiners within emoji and within scripts that need them, and a single emoji selector."""


def visible(text: str) -> tuple[Span, ...]:
    """Cut a text into plain runs and unseen characters; the runs and the marks' characters make up the text again."""
    spans: list[Span] = []
    position = 0
    for match in _UNSEEN.finditer(text):
        if match.start() > position:
            spans.append(Span(text[position : match.start()], "plain"))
        kind = (match.lastgroup or "").replace("_", "-")
        spans.append(Span(f"U+{ord(match[0]):04X}", "zero-width" if kind == "joiner" else kind))
        position = match.end()
    if position < len(text) or not spans:
        spans.append(Span(text[position:], "plain"))
    return tuple(spans)


def one_line(text: str) -> str:
    """Write a text on one line for terminals and logs: line feeds as ⏎, what is unseen as \\xNN or \\u{NNNN}."""
    return _UNSEEN.sub(_escaped, text.replace("\n", "⏎").replace("\t", "\\x09"))


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{{{code:04X}}}"
