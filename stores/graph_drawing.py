"""What pictures of graphs are drawn from: nodes and edges as plain values, texts masked and on one line; and the forms of nodes in pages."""

from __future__ import annotations

from typing import Any

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores.formats.secrets import find_secrets
from stores.graph_looks import Look
from stores.memory_words import EMPTY, plain

LABEL_LENGTH = 40


def glyph(look: Look) -> SafeString:
    """Give the form of a type of node in its colour; its word stands beside it."""
    return format_html(
        '<svg class="glyph" data-entity="{}" viewBox="0 0 16 16" aria-hidden="true"><path d="{}"/></svg>', look.word, look.path
    )


def drawn_node(pk: int, title: str, kind: str, look: Look, *, none: str, degree: int, said: str, url: str) -> dict[str, Any]:
    """Give a node of a picture; `none` stands for a kind that is not given, `said` is read out behind title and kind."""
    shown = plain(title) or EMPTY
    return {
        "id": str(pk),
        "label": shown if len(shown) <= LABEL_LENGTH else f"{shown[: LABEL_LENGTH - 1]}…",
        "title": shown,
        "type": "" if find_secrets(kind) else kind,
        "kind": plain(kind) or none,
        "look": look.word,
        "form": look.form,
        "degree": degree,
        "said": said,
        "url": url,
    }


def drawn_edge(pk: int, source: int, target: int, kind: str, *, none: str, strength: str, url: str) -> dict[str, Any]:
    """Give an edge of a picture between two nodes that are drawn."""
    return {
        "id": f"r{pk}",
        "source": str(source),
        "target": str(target),
        "label": plain(kind) or none,
        "strength": strength,
        "url": url,
    }
