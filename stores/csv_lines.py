"""CSV that a spreadsheet opens as text and never as formulas (promises D8, threats W8)."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence

_FORMULA = re.compile(r"^[\s\x00-\x1f\ufeff\u200b]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]")
"""What spreadsheets take for the start of a formula, full-width forms too, behind blanks that they drop."""
LINES_AT_ONCE = 200


class _Line:
    """A file of one line: csv writes to it, and what it wrote is the result."""

    def write(self, text: str) -> str:
        return text


def safe_cell(value: object) -> str | int | float:
    """Give a value that no spreadsheet computes: a text that could be a formula begins with an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return value
    text = str(value).encode("utf-8", "replace").decode("utf-8")
    return f"'{text}" if _FORMULA.match(text) else text


def csv_lines(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[bytes]:
    """Give a head and rows as RFC 4180 lines in UTF-8, some hundred lines at a time; memory stays flat."""
    writer = csv.writer(_Line(), lineterminator="\r\n")
    block = [str(writer.writerow([safe_cell(name) for name in head]))]
    for row in rows:
        block.append(str(writer.writerow([safe_cell(value) for value in row])))
        if len(block) >= LINES_AT_ONCE:
            yield "".join(block).encode()
            block = []
    yield "".join(block).encode()
