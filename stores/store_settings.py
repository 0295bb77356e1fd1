"""What an operator changes about a store without touching its disk: its name, and who sees it."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.models import Group
from django.db import transaction

from stores import audit
from stores.mirror import relocating
from stores.models import Store, User


def rename(store: Store, name: str, *, by: User) -> bool:
    """Give the store another name; False where it has it already. Its slug stays, and so does every address."""
    with transaction.atomic():
        before = Store.objects.select_for_update().get(pk=store.pk).name
        if before == name:
            return False
        Store.objects.filter(pk=store.pk).update(name=name)
        audit.record(
            "store_renamed", actor=by, object_label=store.slug, store=store, through="page", detail={"before": before, "name": name}
        )
    return True


def limit_to_groups(store: Store, groups: Iterable[Group], *, by: User) -> bool:
    """Let only these groups see the store, everybody with a role where there is none; False where nothing changes."""
    chosen = sorted(groups, key=lambda group: group.name)
    with transaction.atomic():
        before = sorted(store.groups.values_list("name", flat=True))
        names = [group.name for group in chosen]
        if before == names:
            return False
        store.groups.set(chosen)
        audit.record(
            "store_groups_changed",
            actor=by,
            object_label=store.slug,
            store=store,
            through="page",
            detail={"before": before, "groups": names},
        )
    return True


def remove_without_worker(store: Store, *, by: User) -> None:
    """Let a store go whose worker gives no sign of life, so that no import can be under way."""
    with transaction.atomic():
        audit.record(
            "store_removed",
            actor=by,
            object_label=store.slug,
            store=store,
            through="page",
            detail={"path": store.path, "kind": store.kind, "worker": store.worker.label},
        )
    relocating.remove_store(store)
