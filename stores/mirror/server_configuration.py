"""Reads the file in which a project says what servers its agents start: the memory server among them."""

from __future__ import annotations

from typing import Final

from stores.files import CannotRead, StoreRoot

CONFIGURATION: Final = ".mcp.json"
_MOST_BYTES: Final = 1024 * 1024


def server_configuration(project: StoreRoot) -> bytes:
    """Give what the file of a project says, nothing where there is none. Raises CannotRead."""
    try:
        return project.read(CONFIGURATION, _MOST_BYTES)
    except CannotRead as err:
        if err.state == "missing":
            return b""
        raise
