"""Log output that stays one line per event, whatever text memory holds."""

from __future__ import annotations

import logging

from stores.formats.visible import one_line


class OneLineFormatter(logging.Formatter):
    """Format a record as one line: control characters are escaped, also those of a traceback (threats W9)."""

    def format(self, record: logging.LogRecord) -> str:
        """Give the formatted record with its message part escaped; a traceback keeps its own lines."""
        text = super().format(record)
        return "\n".join(one_line(line) for line in text.split("\n"))
