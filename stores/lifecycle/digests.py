"""The one digest that an approval is about: the action, the store, and every byte before and after."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stores.formats.canonical import digest
from stores.lifecycle.changes import Change, bindings


def approval_digest(record: Mapping[str, object], store_id: str, changes: Iterable[Change]) -> str:
    """Give `sha256:…` over an action's whole record, unknown fields too, the store's id and what its changes bind.

    Policy and place of the store are no part of it: they are asked again when the action is applied.
    """
    content = {name: value for name, value in record.items() if name != "dry_run"}
    return digest({"action": content, "store": store_id, "targets": bindings(changes)})
