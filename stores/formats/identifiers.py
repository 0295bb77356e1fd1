"""Ids as stores write them: which may be used, which may become a file name, and which look like another."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

ID_KEYS: Final = ("id", "event_id", "audit_id", "action_id", "path_id", "graph_id")
"""Where a record says its id; the first that is there counts."""
_FILE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*+(?:\.[A-Za-z0-9_-]++)*+")
_LONGEST: Final = 128
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
_OWN_ENDINGS: Final = (".lock", ".json", ".jsonl", ".tmp")
_LOOKALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u04cf\u03bf\u03c1\u03bd", "aeopcyxijshdlopv"
)
"""Cyrillic and Greek letters that are drawn like Latin ones, small."""


def record_id(record: dict[str, object]) -> object:
    """Give what a record says as its id; None when it says none."""
    return next((record[key] for key in ID_KEYS if key in record), None)


def is_usable(given: object) -> bool:
    """Say whether an id is text without control characters and surrogates, and not empty."""
    if not isinstance(given, str) or given == "":
        return False
    return given.isprintable() or not any(unicodedata.category(character) in ("Cc", "Cs") for character in given)


def fits_file_name(given: str) -> bool:
    """Say whether an id may become a new file name or stand in a URL path (samples/hostile rule 8, ruling 27)."""
    return (
        len(given) <= _LONGEST
        and _FILE_NAME.fullmatch(given) is not None
        and _DEVICE.fullmatch(given) is None
        and not given.lower().endswith(_OWN_ENDINGS)
    )


def skeleton(given: str) -> str:
    """Give what is left of an id when case, invisible characters, composition and look-alike letters are unified."""
    unified = unicodedata.normalize("NFKC", given).casefold()
    return "".join(character for character in unified if unicodedata.category(character) != "Cf").translate(_LOOKALIKES)
