"""Attributes and small pieces of the cells in tables of a record's page."""

from __future__ import annotations

from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString

LEAD = flatatt({"class": "lead short", "data-stack": "main"})
TITLE = flatatt({"class": "lead wrap", "data-stack": "main"})
"""A column of titles, which may be long."""
WRAP = flatatt({"class": "wrap"})
SHORT = flatatt({"class": "short"})
SHORT_QUIET = flatatt({"class": "short quiet"})
NUM = flatatt({"class": "num"})
NUM_QUIET = flatatt({"class": "num quiet"})
TOP = flatatt({"class": "short", "data-stack": "top"})
TOP_NUM = flatatt({"class": "num", "data-stack": "top"})
_WIDTH = 120


def worded(word: str, *, quiet: bool = False) -> SafeString:
    """Give the attributes of a number whose column's name stands before it where the table is stacked."""
    return flatatt({"class": "num quiet" if quiet else "num", "data-word": word})


def share_bar(share: float, words: str) -> SafeString:
    """Give a share as a bar with its words beside it."""
    width = f"{_WIDTH * max(0.0, min(share, 1.0)):.1f}"
    return format_html(
        '<span class="share"><svg class="meter" viewBox="0 0 {} 8" aria-hidden="true"><rect class="meter-used" width="{}" height="8"/>'
        '<rect class="meter-box" x="0.5" y="0.5" width="{}" height="7"/></svg>{}</span>',
        _WIDTH,
        width,
        _WIDTH - 1,
        words,
    )


def least(words: str) -> SafeString:
    """Give words that stand for nothing."""
    return format_html('<span class="least">{}</span>', words)
