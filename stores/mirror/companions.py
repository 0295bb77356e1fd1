"""Files beside a store that belong to it: below its project or the home folder, only those that its kind names (ruling 34)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from stores.errors import StoreUnreadable
from stores.files import CannotRead, FileStat, StoreRoot
from stores.formats.base import FileSpec, Kind
from stores.mirror.discovering import project_of
from stores.models import Store

FILES_A_SPEC = 1000
"""Companions of one spec that are read."""


class Companion(NamedTuple):
    """A companion that is there. `path` is the source file's, anchor included."""

    path: str
    spec: FileSpec
    stat: FileStat | None
    """None where it is there but cannot be opened."""


class Anchors:
    """The folders in which companions of one store lie, opened when first asked for; close it by `with`."""

    def __init__(self, store: Store) -> None:
        project = project_of(store.path)
        self._folders = {"project": project if project != store.path else "", "home": os.path.realpath(Path.home())}
        self._encoded_project = project.replace("/", "-").replace(".", "-")
        self._roots: dict[str, StoreRoot | None] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Anchors:
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def root(self, anchor: str) -> StoreRoot | None:
        """Give the opened folder of an anchor; None where there is none."""
        if anchor not in self._roots:
            self._roots[anchor] = self._opened(self._folders.get(anchor, ""))
        return self._roots[anchor]

    def allowed_root(self, anchor: str) -> StoreRoot | None:
        """Give the opened folder of an anchor for what lies directly in it."""
        return self.root(anchor) if self._folders.get(anchor) and self._is_allowed(anchor, "") else None

    def _opened(self, folder: str) -> StoreRoot | None:
        try:
            return self._stack.enter_context(StoreRoot(folder)) if folder else None
        except StoreUnreadable:
            return None

    def companions(self, kind: Kind) -> Iterator[Companion]:
        """Give the companions that are there; a missing one is no fault."""
        for spec in kind.files:
            if spec.anchor and self.allows(spec) and (root := self.root(spec.anchor)):
                yield from _found(root, spec, self._pattern(spec))

    def allows(self, spec: FileSpec) -> bool:
        """Say whether companions of a spec may be read."""
        return self._is_allowed(spec.anchor, self._pattern(spec))

    def _pattern(self, spec: FileSpec) -> str:
        return spec.path.replace("{project}", self._encoded_project)

    def _is_allowed(self, anchor: str, pattern: str) -> bool:
        """MEMORYUI_STORE_ROOTS bounds companions too."""
        before = pattern.split("*")[0].rpartition("/")[0]
        folder = Path(self._folders[anchor], before)
        return any(folder == root or root in folder.parents for root in settings.STORE_ROOTS)


def _found(root: StoreRoot, spec: FileSpec, pattern: str) -> Iterator[Companion]:
    if "*" in pattern:
        for entry in root.matching(pattern, FILES_A_SPEC):
            yield Companion(f"{spec.anchor}:{entry.path}", spec, entry.stat if entry.kind == "file" else None)
        return
    try:
        with root.open(pattern) as opened:
            yield Companion(f"{spec.anchor}:{pattern}", spec, opened.stat)
    except CannotRead as err:
        if err.state != "missing":
            yield Companion(f"{spec.anchor}:{pattern}", spec, None)
