"""HTML of bytes that were made fit to be shown; no space may stand between two runs, so it is no template."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores.selectors.byte_view import Piece


def pieces_html(pieces: Iterable[Piece]) -> SafeString:
    """Give runs of a line as HTML: what is masked and what is invisible stands out from the rest."""
    return format_html_join("", "{}", ((_piece(piece),) for piece in pieces))


def _piece(piece: Piece) -> SafeString | str:
    if piece.kind == "plain":
        return piece.text
    return format_html('<span class="{}">{}</span>', "mark" if piece.kind == "mark" else "masked", piece.text)
