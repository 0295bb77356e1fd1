"""Takes stores up, lets them go, and follows them to another place."""

from __future__ import annotations

import os
from pathlib import Path

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from stores.errors import AlreadyRegistered, BadRequest, NotAStore, OutsideRoots
from stores.files import printable_name
from stores.formats import KINDS, recognise
from stores.formats.base import Kind
from stores.mirror.discovering import project_of
from stores.models import Store, User, Worker

MEMORY_FOLDERS = (".", ".claude/memory")
"""Where a store may lie below a project that is named instead of it (ruling 33)."""


def add_store(
    path: str | Path, *, kind: str | None = None, slug: str | None = None, name: str | None = None, worker: Worker, by: User | None = None
) -> Store:
    """Register a store; PATH is the memory folder or the project that holds it.

    Without `kind` the folder must be recognised; with it any existing folder is taken. Raises NotAStore, OutsideRoots,
    AlreadyRegistered or BadRequest, each with a sentence that says what to do.
    """
    given, real, recognised = locate(path, kind)
    check_inside_roots(real)
    _check_outside_data_folder(real)
    known = Store.objects.filter(worker=worker, path=real).first()
    if known is not None:
        raise AlreadyRegistered(f"{real} is registered already, as {known.slug}.")
    project = Path(project_of(real))
    if slug is None:
        slug = _free_slug(project)
    elif slug != slugify(slug) or len(slug) > 80:
        raise BadRequest(f"{slug!r} is no slug: use lower-case letters, digits and hyphens, at most 80 of them.")
    elif Store.objects.filter(slug=slug).exists():
        raise AlreadyRegistered(f"The slug {slug} is taken by another store. Choose another with --slug.")
    try:
        with transaction.atomic():
            return Store.objects.create(
                slug=slug,
                name=(name or project.name or slug)[:120],
                kind=recognised.name,
                path=real,
                given_path=given,
                worker=worker,
                created_by=by,
            )
    except IntegrityError as err:
        raise AlreadyRegistered(f"{real} or the slug {slug} was registered a moment ago by somebody else.") from err


def locate(path: str | Path, kind_name: str | None) -> tuple[str, str, Kind]:
    """Give the path as given, the real path and the kind of the store at PATH."""
    base = os.path.abspath(path)
    if printable_name(base) != base:
        raise BadRequest(f"{printable_name(base)}: the path is not UTF-8 text, so it cannot be kept. Rename the folder.")
    if not Path(base).is_dir():
        raise NotAStore(f"{base} is no folder. Give the memory folder or the project that holds it.")
    if kind_name is not None and kind_name not in KINDS:
        raise BadRequest(f"{kind_name} is no kind of store. Known kinds: {', '.join(sorted(KINDS))}.")
    for below in MEMORY_FOLDERS:
        place = os.path.normpath(f"{base}/{below}")
        if not Path(place).is_dir():
            continue
        real = os.path.realpath(place)
        try:
            names = frozenset(child.name for child in Path(real).iterdir())
        except OSError as err:
            raise NotAStore(f"{real}: {os.strerror(err.errno or 0).lower()}. Give memoryui's user the right to read it.") from err
        found = recognise(real.replace(os.sep, "/"), names)
        if found is not None and kind_name in (None, found.name):
            return place, real, found
    if kind_name is not None:
        return base, os.path.realpath(base), KINDS[kind_name]
    expected = "; ".join(f"{kind.title}: {kind.what}" for kind in KINDS.values())
    raise NotAStore(f"{base} holds no store that is recognised ({expected}). Name its kind with --kind to register it all the same.")


def check_inside_roots(real: str) -> None:
    """Refuse a folder outside MEMORYUI_STORE_ROOTS with OutsideRoots."""
    for root in settings.STORE_ROOTS:
        if Path(real) == root or root in Path(real).parents:
            return
    allowed = ":".join(str(root) for root in settings.STORE_ROOTS)
    raise OutsideRoots(f"{real} lies outside MEMORYUI_STORE_ROOTS ({allowed}). Add its folder to that setting to allow it.")


def _check_outside_data_folder(real: str) -> None:
    data = Path(os.path.realpath(settings.DATA_DIR))
    if Path(real) in (data, *data.parents):
        raise NotAStore(f"{real} holds memoryui's own data folder {data}. Move MEMORYUI_DATA_DIR out of the store.")


def _free_slug(project: Path) -> str:
    """Make a slug from the project's name, with its parent's in front where that is taken, then with a number."""
    own = slugify(project.name)[:70] or "store"
    with_parent = slugify(f"{project.parent.name} {project.name}")[:74] or own
    taken = set(Store.objects.values_list("slug", flat=True))
    for candidate in (own, with_parent, *(f"{with_parent}-{number}" for number in range(2, 10_000))):
        if candidate not in taken:
            return candidate
    raise AlreadyRegistered(f"No slug is free for {project}. Choose one with --slug.")
