"""Template tags over `stores.markup` and `stores.display`; they only pass on, the work is done there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from django import template
from django.http import HttpRequest
from django.template import Context
from django.utils.safestring import SafeString

from stores import byte_markup, display, markup
from stores.formats.visible import one_line as escaped_to_one_line
from stores.selectors.byte_view import Piece
from stores.table_view import TableView, view_of

register = template.Library()


@register.simple_tag
def shape(word: str, label: str = "") -> SafeString:
    """`{% shape "degraded" %}` beside its word, `{% shape state "degraded" %}` where no word stands beside it."""
    return markup.shape(str(word), str(label))


@register.simple_tag
def icon(name: str) -> SafeString:
    """`{% icon "search" %}`."""
    return markup.icon(name)


@register.simple_tag
def fingerprint(digest: str) -> SafeString:
    """`{% fingerprint digest %}`: picture and 3 × 4 digits of a hexadecimal digest."""
    return markup.fingerprint(digest)


@register.simple_tag
def fingerprint_picture(digest: str) -> SafeString:
    """`{% fingerprint_picture digest %}`: the picture alone."""
    return markup.fingerprint_picture(digest)


@register.simple_tag(takes_context=True)
def table_view(context: Context, table: object) -> TableView:
    """`{% table_view table as view %}`: the plain values of a django-tables2 table that `_table.html` prints."""
    request: HttpRequest = context["request"]
    return view_of(table, request.GET)


@register.filter
def age(value: markup.Moment, form: str = "") -> SafeString | str:
    """`{{ at|age }}`: "2 h", "3 d"; `{{ at|age:"exact" }}`: "3 d 2 h"."""
    return markup.age(value, exact=form == "exact")


@register.filter
def ago(value: markup.Moment) -> SafeString | str:
    """`{{ at|ago }}`: "12 s ago"."""
    return markup.ago(value)


@register.filter
def clock(value: markup.Moment) -> SafeString | str:
    """`{{ at|clock }}`: "14:31", "27 Nov 14:31"."""
    return markup.clock(value)


@register.filter
def clock_seconds(value: markup.Moment) -> SafeString | str:
    """`{{ at|clock_seconds }}`: "14:31:52", for the audit."""
    return markup.clock(value, seconds=True)


@register.filter
def day(value: markup.Moment) -> SafeString | str:
    """`{{ at|day }}`: "2 h" today, "27 Nov", "Nov 2025"; for columns of dates."""
    return markup.day(value)


@register.filter
def number(value: float | None) -> str:
    """`{{ count|number }}`: "1,284"."""
    return display.number(value)


@register.filter
def size(value: int | None) -> str:
    """`{{ bytes|size }}`: "286 kB"."""
    return display.size(value)


@register.filter
def visible_text(value: object, hits: Sequence[str] = ()) -> SafeString:
    """`{{ text|visible_text }}` or `{{ text|visible_text:words }}`: every text that comes from a store goes through this, once."""
    if isinstance(value, SafeString):
        return value
    return markup.memory_text("" if value is None else str(value), hits)


@register.filter
def unbroken(value: object) -> SafeString:
    """`{{ sentence|unbroken }}`: as `visible_text`, for sentences that name stores: none of them breaks at its hyphen."""
    return markup.unbroken("" if value is None else str(value))


@register.filter
def byte_pieces(value: Iterable[Piece]) -> SafeString:
    """`{{ view.before|byte_pieces }}`: runs of `selectors.byte_view`, with nothing between them."""
    return byte_markup.pieces_html(value)


@register.filter
def one_line(value: object) -> str:
    """`{{ store.name|one_line }}`: for titles and attributes, where no markup can stand; invisible characters come as their code."""
    return escaped_to_one_line(str(value))
