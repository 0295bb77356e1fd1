"""Writes what a command makes into a new file: never into a store, and over no file that is there."""

from __future__ import annotations

import os
from pathlib import Path

from stores.errors import BadRequest, CannotWrite, Conflict
from stores.files import why, write_new_file
from stores.models import Store


def write_out(out: str, data: bytes) -> Path:
    """Write a new file outside every store and give its place. Raises BadRequest, Conflict for one that exists, CannotWrite."""
    place = Path(os.path.abspath(out))
    folders = Path(os.path.realpath(place)).parents
    for path in Store.objects.order_by("path").values_list("path", flat=True):
        if Path(path) in folders:
            raise BadRequest(f"{place} lies in the store {path}: agents would read it as memory. Write it somewhere else.")
    try:
        made = write_new_file(place, data)
    except OSError as err:
        raise CannotWrite(f"{place} cannot be written: {why(err)}.") from err
    if not made:
        raise Conflict(f"{place} is there already and was left as it is.")
    return place
