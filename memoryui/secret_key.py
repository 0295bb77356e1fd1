"""The signing key of sessions and forms, kept in the data folder."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

COMMANDS_THAT_MAKE_KEYS = frozenset({"migrate", "serve", "load_demo"})
"""Only these may create the key file (ruling 48): an import or a check must not become the first to write secrets."""


class KeyUnusable(Exception):
    """The key file, or the folder in which it lies, cannot be used; the text says why and what to do."""


def read_or_make(data_dir: Path, argv: list[str]) -> tuple[str, bool]:
    """Give the secret key and whether it is kept.

    The file `secret_key` of the data folder is read if it stands there. Else it is made, readable by its owner only, when the
    command is one of COMMANDS_THAT_MAKE_KEYS; every other command gets a key that ends with the process. Raises KeyUnusable.
    """
    path = data_dir / "secret_key"
    try:
        kept = _read_or_make(path, argv)
    except (OSError, UnicodeError) as err:
        reason = os.strerror(err.errno).lower() if isinstance(err, OSError) and err.errno else "it is no key"
        raise KeyUnusable(f"{path} cannot be used: {reason}. MEMORYUI_DATA_DIR names its folder.") from err
    if kept[0]:
        return kept
    raise KeyUnusable(f"{path} is empty. Delete it; the next `python manage.py migrate` makes another, and everybody signs in again.")


def _read_or_make(path: Path, argv: list[str]) -> tuple[str, bool]:
    if path.is_file():
        return path.read_text("ascii").strip(), True
    key = secrets.token_urlsafe(50)
    if not COMMANDS_THAT_MAKE_KEYS.intersection(argv[1:2]):
        return key, False
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text("ascii").strip(), True
    with os.fdopen(descriptor, "w", encoding="ascii") as out:
        out.write(key + "\n")
    return key, True
