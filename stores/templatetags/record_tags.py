"""Template filters of the pages of single records."""

from __future__ import annotations

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import action_words, memory_words
from stores.formats.diffs import DiffLine
from stores.formats.secrets import mask
from stores.formats.visible import one_line, visible

register = template.Library()
TITLE_IN_TAB = 60


@register.filter
def record_title(text: str) -> SafeString:
    """`{{ record.title|record_title }}`: as lists show it, "(empty)" where there is nothing to see."""
    return memory_words.title_of(text)


@register.filter
def plain_title(text: str) -> str:
    """`{{ record.title|plain_title }}`: for the title of the browser's tab."""
    shown = one_line(mask(memory_words.whole_words(text)))
    return shown if len(shown) <= TITLE_IN_TAB else f"{shown[:TITLE_IN_TAB]}…"


@register.filter
def verb_does(verb: str) -> str:
    """`{{ action.verb|verb_does }}`: "Archive", "Mark stale"."""
    return action_words.verb_words(verb).does


@register.filter
def diff_line(line: DiffLine) -> SafeString:
    """`{{ line|diff_line }}`: the runs of one line, what changed marked as taken out or put in."""
    tag = {"-": "del", "+": "ins"}.get(line.sign)
    return format_html_join(
        "",
        "{}",
        (
            (
                format_html("<del>{}</del>" if tag == "del" else "<ins>{}</ins>", _written_out(run.text))
                if run.changed and tag
                else _written_out(run.text),
            )
            for run in line.runs
        ),
    )


@register.filter
def unmasked_text(text: str) -> SafeString:
    """`{{ text|unmasked_text }}`: with its secrets, but with invisible characters written out."""
    return _written_out(text)


def _written_out(text: str) -> SafeString:
    return format_html_join(
        "",
        "{}",
        ((span.text if span.kind == "plain" else format_html('<span class="mark">{}</span>', span.text),) for span in visible(text)),
    )
