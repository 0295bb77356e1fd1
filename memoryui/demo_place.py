"""Where the demo lives: never in the data of a real installation."""

from __future__ import annotations

import os
from collections.abc import MutableMapping, Sequence
from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent


def demo_folder() -> Path:
    """Give the folder of the demo's data and stores: MEMORYUI_DEMO_DIR, or `var/demo` of this checkout."""
    return Path(os.path.abspath(os.environ.get("MEMORYUI_DEMO_DIR") or BASE_DIR / "var" / "demo"))


def move_in(environment: MutableMapping[str, str], argv: Sequence[str]) -> None:
    """Point the settings of `load_demo` to the demo's folder, before they are read: whatever this shell has set is another memoryui's."""
    if "load_demo" not in argv[1:2]:
        return
    folder = demo_folder()
    environment["MEMORYUI_DATA_DIR"] = str(folder)
    environment["MEMORYUI_STORE_ROOTS"] = f"{folder}:{Path.home()}"
    environment.pop("MEMORYUI_DATABASE_URL", None)
