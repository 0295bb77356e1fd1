"""Tables of a store's page, declared with django-tables2 and printed by the one table template."""

from __future__ import annotations

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from stores import display, markup
from stores.selectors.changes import ChangeRow
from stores.selectors.store_page import FileRow

MAIN = {"data-stack": "main"}
TOP = {"class": "num", "data-stack": "top"}


class ChangeTable(tables.Table):
    """What imports found changed: one row a change of a file."""

    caption = "Changes that imports found, newest first"

    what = tables.Column("Change", orderable=False, attrs={"td": {"class": "lead short", **MAIN}})
    records = tables.Column("Records", orderable=False, default="no record moved", attrs={"td": {"class": "elastic"}})
    bytes = tables.Column("Size", orderable=False, attrs={"td": {"class": "num quiet"}})
    seen = tables.Column("Seen", accessor="change__at", orderable=False, attrs={"td": TOP})

    def state_of(self, record: ChangeRow) -> tuple[str, str]:
        """Give the shape before a row."""
        return record.state, ""

    def render_what(self, value: str) -> SafeString:
        """Say which file changed, and how."""
        return format_html("<span>{}</span>", markup.memory_text(value))

    def render_seen(self, record: ChangeRow) -> SafeString | str:
        """Say when, with seconds."""
        return markup.clock(record.change.at, seconds=True)


class FileTable(tables.Table):
    """The source files of a store and how they were read."""

    caption = "Source files by path"

    file = tables.Column("File", orderable=False, attrs={"td": {"class": "lead elastic", **MAIN}})
    words = tables.Column("State", orderable=False, attrs={"td": {"class": "short"}})
    lines = tables.Column("Lines", orderable=False, default="", attrs={"td": {"class": "short quiet"}})
    size = tables.Column("Size", accessor="file__size_bytes", orderable=False, attrs={"td": {"class": "num"}})
    modified_at = tables.Column("Modified", orderable=False, empty_values=(), attrs={"td": {"class": "num quiet", "data-word": "modified"}})
    read_at = tables.Column("Read", accessor="file__read_at", orderable=False, default="never", attrs={"td": TOP})

    def state_of(self, record: FileRow) -> tuple[str, str]:
        """Give the shape before a row."""
        return record.state, ""

    def render_file(self, record: FileRow) -> SafeString:
        """Lead to the file's bytes; an error stands below the name."""
        place = f"{reverse('store_raw', args=[record.file.store.slug])}?{urlencode({'file': record.file.path})}"
        link = format_html('<a class="row-link mono" href="{}">{}</a>', place, markup.memory_text(record.file.path))
        return format_html('{} <span class="second">{}</span>', link, markup.memory_text(record.file.error)) if record.file.error else link

    def render_size(self, record: FileRow) -> str:
        """Give the size of a file that is there."""
        return display.size(record.file.size_bytes) if record.file.exists else ""

    def render_modified_at(self, record: FileRow) -> SafeString | str:
        """Give the time that the file itself carries."""
        return markup.day(record.modified_at) if record.modified_at or record.file.exists else ""

    def render_read_at(self, record: FileRow) -> SafeString | str:
        """Give when the worker read it last."""
        return markup.day(record.file.read_at)
