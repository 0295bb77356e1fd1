"""Gives each entry of a folder a name that any database holds and no other entry has: on disk a name is bytes, whatever they are."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Final

from stores.files import printable_name

_STEM: Final = 300
"""Characters of a name that are shown: with its folder and the mark it fits into a path column."""
_MARK: Final = "\\~"
_MARKED: Final = re.compile(r"\\~[0-9a-f]{16}(?:\.[^.]{0,8})?\Z")


def shown_name(name: str) -> str:
    """Give a name as it is told; one that is no text, or looks like what such a one is told as, gets a mark made of its bytes."""
    shown = printable_name(name)
    if shown == name and not _MARKED.search(name):
        return name
    stem, dot, ending = shown.rpartition(".")
    if not stem or len(ending) > 8:
        stem, dot, ending = shown, "", ""
    mark = sha256(os.fsencode(name)).hexdigest()[:16]
    return f"{stem[:_STEM]}{_MARK}{mark}{dot}{ending}"


def is_plain(name: str) -> bool:
    """Say whether a name is surely shown as it is, by a quick look."""
    return name.isascii() and "\\" not in name


def raw_names(names: Iterable[str]) -> dict[str, str]:
    """Give the names that are shown otherwise than they are, by what is shown."""
    return {shown: name for name in names if not is_plain(name) and (shown := shown_name(name)) != name}
