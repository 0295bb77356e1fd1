"""Who can reach the private key of approvals: whoever runs as its owner could approve (ruling 13)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from django.conf import settings

SHARED: Final = "Web, key and agents share one user: an agent with a shell can approve. Run the web as a user of its own, which does not own the stores."


def shares_one_user() -> bool:
    """Say whether the owner of a private key here also owns a folder in which agents keep their memory. Looks at this host alone."""
    folder: Path = settings.DATA_DIR / "keys" / "private"
    owners = _owners(folder.glob("*.key") if folder.is_dir() else ())
    return bool(owners & _owners(settings.STORE_ROOTS)) if owners else False


def _owners(paths: Iterable[Path]) -> set[int]:
    found = set()
    for path in paths:
        try:
            found.add(path.stat().st_uid)
        except OSError:
            continue
    return found
