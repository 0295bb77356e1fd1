"""A page as a parser sees it: its elements and attributes, so that a test can tell what memory text became."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Protocol


class Answer(Protocol):
    """What a test client gives."""

    content: bytes


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # Of an attribute that is given twice, browsers take the first.
        self.tags.append((tag, {name: value or "" for name, value in reversed(attrs)}))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def elements(response: Answer) -> list[tuple[str, dict[str, str]]]:
    """Give every start tag of an answer with its attributes."""
    parser = _Elements()
    parser.feed(response.content.decode())
    return parser.tags


def text(response: Answer) -> str:
    """Give the text of an answer, runs of white space as one space."""
    parser = _Elements()
    parser.feed(response.content.decode())
    return " ".join("".join(parser.text).split())


def assert_harmless(response: Answer) -> list[tuple[str, dict[str, str]]]:
    """Assert that an answer has no script of its own, no inline style or handler, and no address that runs; give its elements."""
    found = elements(response)
    for tag, attributes in found:
        assert tag not in ("iframe", "object", "embed", "style", "base"), tag
        assert tag != "script" or attributes.get("src", "").startswith("/static/"), attributes
        assert tag != "img", attributes
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, attributes)
            assert name != "style", (tag, attributes)
            if name in ("href", "src", "action", "hx-get", "hx-post"):
                assert value.startswith(("/", "?", "#")), (tag, name, value)
    return found
