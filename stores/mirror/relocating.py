"""Follows a store to another folder, and lets one go."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from stores.errors import AlreadyRegistered, BadRequest
from stores.files import CannotRead, StoreRoot
from stores.formats import KINDS
from stores.formats.jsonfile import SIZE_CAP
from stores.mirror.identity import windows
from stores.mirror.record_trees.naming import is_plain, raw_names
from stores.mirror.registering import check_inside_roots, locate
from stores.mirror.resetting import drop_records
from stores.models import RecordFile, SourceFile, Store


def relocate_store(store: Store, path: str | Path, *, force: bool = False) -> None:
    """Point a store to the place where its folder lies now.

    Without `force` each file that was mirrored must be there with the same bytes at the start and at the mirrored end, or longer.
    Raises what `add_store` raises, and BadRequest where the content differs.
    """
    given, real, _ = locate(path, store.kind)
    check_inside_roots(real)
    other = Store.objects.filter(worker=store.worker, path=real).exclude(pk=store.pk).first()
    if other is not None:
        raise AlreadyRegistered(f"{real} is registered already, as {other.slug}.")
    if not force:
        check_same_content(store, real)
    store.path, store.given_path = real, given
    store.save(update_fields=["path", "given_path"])


def check_same_content(store: Store, real: str) -> None:
    """Raise BadRequest, or StoreUnreadable, unless a folder holds what was mirrored of the store, or more."""
    spec_of = KINDS[store.kind].spec_of
    mirrored = [
        source
        for source in SourceFile.objects.filter(store=store, exists=True).exclude(record_type="").defer("reader_state", "end_state")
        if (spec := spec_of(source.path)) is not None and not spec.anchor and not spec.folder
    ]
    with StoreRoot(real) as root:
        _check_same_records(store, root)
        for source in mirrored:
            try:
                with root.open(source.path) as opened:
                    same = opened.stat.size_bytes >= source.offset and windows(opened, source.offset) == (
                        bytes(source.head_sha256),
                        bytes(source.tail_sha256),
                    )
            except CannotRead as err:
                raise BadRequest(f"{real} is not the same store: {err} Use --force to take it all the same.") from err
            if not same:
                raise BadRequest(
                    f"{real} is not the same store: {source.path} has other content than what was mirrored. Use --force to take it all the same."
                )


def _check_same_records(store: Store, root: StoreRoot) -> None:
    """Compare each record file by its hash."""
    files = RecordFile.objects.filter(store=store, state__in=["ok", "refused"]).order_by("path").values_list("path", "sha256")
    raw: dict[str, dict[str, str]] = {}
    for path, digest in files.iterator(chunk_size=2000):
        folder, _, name = path.partition("/")
        try:
            with root.folder(folder) as opened:
                if not is_plain(name) and folder not in raw:
                    raw[folder] = raw_names(entry.name for entry in opened.entries())
                same = sha256(opened.read(raw.get(folder, {}).get(name, name), SIZE_CAP)[1]).digest() == bytes(digest)
        except CannotRead as err:
            raise BadRequest(f"{root.path} is not the same store: {err} Use --force to take it all the same.") from err
        if not same:
            raise BadRequest(
                f"{root.path} is not the same store: {path} has other content than what was mirrored. Use --force to take it all the same."
            )


def remove_store(store: Store) -> None:
    """Drop a store and its mirror; the folder on disk and the audit are not touched."""
    drop_records(store)
    store.delete()
