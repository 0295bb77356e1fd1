"""System checks: what is wrong with the settings of this installation is said before it harms."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from stores import formats
from stores.review import custody


@register(Tags.files)
def check_store_roots(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn of folders in MEMORYUI_STORE_ROOTS that are not there: no store can be added below them."""
    return [
        Warning(
            f"{root} of MEMORYUI_STORE_ROOTS is no folder that can be read.",
            hint="Make it, or take it out of the setting; on a host that runs only the web it need not be there.",
            id="stores.W001",
        )
        for root in settings.STORE_ROOTS
        if not (root.is_dir() and os.access(root, os.R_OK | os.X_OK))
    ]


@register(Tags.security, Tags.files)
def check_data_folder(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Refuse a data folder inside a store, warn of one that others on the host may enter."""
    return [*_open_to_others(settings.DATA_DIR), *_inside_a_store(settings.DATA_DIR)]


def _open_to_others(folder: Path) -> Iterator[CheckMessage]:
    try:
        found = folder.stat()
    except OSError:
        return  # Not made yet: whatever makes it does so with 0700.
    if found.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Warning(
            f"The data folder {folder} may be entered by other users (mode {stat.S_IMODE(found.st_mode):04o}): it holds the secret key and sessions.",
            hint=f"chmod 700 {folder}",
            id="stores.W002",
        )
    if found.st_uid != os.geteuid() and os.geteuid() != 0:
        yield Warning(f"The data folder {folder} belongs to another user.", hint="Run memoryui as its owner.", id="stores.W003")


def _inside_a_store(folder: Path) -> Iterator[CheckMessage]:
    real = Path(os.path.realpath(folder))
    for place in (real, *real.parents):
        try:
            names = frozenset(entry.name for entry in os.scandir(place))
        except OSError:
            continue
        kind = formats.recognise(str(place), names)
        if kind is not None:
            yield Error(
                f"The data folder {folder} lies in {place}, which is a store ({kind.title}): what memoryui keeps would become part of it.",
                hint="Set MEMORYUI_DATA_DIR to a folder outside of all stores.",
                id="stores.E001",
            )


@register(Tags.security, deploy=True)
def check_secret_key(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Refuse to serve people with a key that ends with the process."""
    if settings.SECRET_KEY_IS_KEPT:
        return []
    return [
        Error(
            "No secret key is kept: every start would end all sessions, and two web processes would not know each other's.",
            hint="Run `manage.py migrate` once, or set MEMORYUI_SECRET_KEY.",
            id="stores.E002",
        )
    ]


@register(Tags.security, Tags.files)
def check_key_custody(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn where whoever keeps memory on this host could read the key that signs approvals (ruling 13)."""
    if not custody.shares_one_user():
        return []
    return [
        Warning(
            custody.SHARED,
            hint="docs/operations.md says how to part them. On one person's own machine there is nobody to part from.",
            id="stores.W004",
        )
    ]
