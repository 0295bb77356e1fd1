"""Finds stores of every kind below a folder, without following links (ruling 62)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from stores.files import printable_name
from stores.formats import recognise

PRUNED = frozenset({"node_modules", ".git", ".venv", "venv", "__pycache__", ".cache", "site-packages"})
MAX_LEVELS = 12
STRAY_FOLDERS = 20_000
"""Folders of a project that the search for stray stores looks into at most."""


class Found(NamedTuple):
    """A folder that is a store. `stray`: it lies below the project of another store."""

    path: str
    kind: str
    project: str
    stray: bool


def discover(
    roots: Iterable[Path | str],
    *,
    cross_devices: bool = False,
    max_folders: int | None = None,
    on_folder: Callable[[str], None] | None = None,
    on_unnameable: Callable[[str], None] | None = None,
) -> Iterator[Found]:
    """Give the stores below the roots as they are found, outer ones before those nested in their projects.

    Folders that cannot be opened are passed over; so are those named in PRUNED, below 12 levels, or on another device.
    `on_folder` is told each folder that is looked into, `on_unnameable` the printable path of each store whose path is no UTF-8
    text: no database holds it, so it cannot be registered and is not among those found.
    """
    for root in roots:
        top = os.path.realpath(root)
        try:
            device = Path(top).stat().st_dev
        except OSError:
            continue
        yield from _below(top, device if not cross_devices else None, max_folders, on_folder, on_unnameable)


def _below(
    top: str,
    device: int | None,
    max_folders: int | None,
    on_folder: Callable[[str], None] | None,
    on_unnameable: Callable[[str], None] | None,
) -> Iterator[Found]:
    # Breadth first, so that a store is known before what lies below its project.
    level = [top]
    projects: list[str] = []
    looked = 0
    for _ in range(MAX_LEVELS + 1):
        below: list[str] = []
        for folder in level:
            looked += 1
            if max_folders is not None and looked > max_folders:
                return
            if on_folder:
                on_folder(folder)
            names, folders = _names(folder, device)
            kind = recognise(folder.replace(os.sep, "/"), frozenset(names))
            shown = printable_name(folder)
            if kind is not None and shown != folder:
                if on_unnameable:
                    on_unnameable(shown)
            elif kind is not None:
                project = project_of(folder)
                yield Found(folder, kind.name, project, any(_is_below(project, other) for other in projects))
                projects.append(project)
            below += folders
        level = sorted(below)


def _names(folder: str, device: int | None) -> tuple[list[str], list[str]]:
    names: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                names.append(entry.name)
                try:
                    if entry.name in PRUNED or not entry.is_dir(follow_symlinks=False):
                        continue
                    if device is not None and entry.stat(follow_symlinks=False).st_dev != device:
                        continue
                except OSError:
                    continue
                folders.append(entry.path)
    except OSError:
        return [], []
    return names, folders


def project_of(path: str) -> str:
    """Give the project folder that a store belongs to: the one above `.claude`, else the store's own folder."""
    place = Path(path)
    if place.name == "memory" and place.parent.name == ".claude":
        return str(place.parent.parent)
    return str(place)


def _is_below(path: str, other: str) -> bool:
    return path != other and path.startswith(other.rstrip("/") + "/")


def stray_stores_below(path: str) -> list[str]:
    """Give the paths, relative to a store's project, of stores that lie deeper in it: hooks run there with another folder as cwd."""
    project = project_of(path)
    if project == path:
        return []
    return sorted(os.path.relpath(found.path, project) for found in discover([project], max_folders=STRAY_FOLDERS) if found.path != path)[
        :100
    ]
