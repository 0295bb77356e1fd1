"""The last step of a change: what the disk says of it now goes into the audit and, for a drain, into its table."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import transaction

from stores import audit
from stores.apply import edited_logs, queued
from stores.apply.journal import Entry, Intent
from stores.apply.place import Place
from stores.apply.reading import read_from, read_if_there, sha256_of_first
from stores.apply.targets import Append, ExchangeLog, MakeFolder, Move, Put, TakeOut
from stores.files import ours_beside
from stores.models import AuditEvent, Drain, LifecycleAction, Store

VERIFIED_FOR = timedelta(minutes=10)
"""How long a drain is looked after (ruling 53)."""


def record(store: Store, place: Place, entry: Entry) -> dict[str, Any]:
    """Give the receipt of a change, re-read from disk, and write audit event and drains in one transaction, unless they stand."""
    receipt = _receipt(place, entry)
    late = edited_logs.carried(store, entry)
    if late:
        receipt["carried"] = late
    intent = entry.intent
    with transaction.atomic():
        if not _is_recorded(store, intent):
            audit.record(
                intent.event,  # type: ignore[arg-type]  # one of the events, kept as text in the journal
                actor=None,
                actor_label=intent.actor,
                object_label=intent.action["label"] if intent.action else store.slug,
                store=store,
                through=intent.through,  # type: ignore[arg-type]
                detail={**intent.detail, "change": intent.id},
            )
        if intent.drain is not None:
            _record_drain(store, place, entry)
        if intent.action is not None:
            queued.settle(intent, receipt)
    return receipt


def _is_recorded(store: Store, intent: Intent) -> bool:
    """Say that the change stands in the audit; an action's own row tells it, so that no audit has to be searched for each apply."""
    if intent.action is not None:
        return LifecycleAction.objects.filter(pk=intent.action["pk"], change_id=intent.id).exists()
    since = datetime.fromisoformat(intent.begun_at)
    return AuditEvent.objects.filter(store_uid=store.uid, event=intent.event, at__gte=since, detail__change=intent.id).exists()


def _receipt(place: Place, entry: Entry) -> dict[str, Any]:
    """Say of each file what stands there now."""
    files: list[dict[str, Any]] = []
    for target in entry.intent.targets:
        if isinstance(target, Put):
            live = read_if_there(place.at(target.folder), target.path)
            files.append({"put": target.path, "folder": target.folder, **_bytes_facts(live), "as_written": live == target.after})
        elif isinstance(target, Append):
            files.append(
                {
                    "appended": target.path,
                    "lines": target.lines.count(b"\n"),
                    **_bytes_facts(target.lines),
                    "as_written": _holds(place, target),
                }
            )
        elif isinstance(target, Move):
            files.append({"moved": target.path, "to": target.to, **_bytes_facts(read_if_there(place.root, target.to))})
        elif isinstance(target, TakeOut):
            gone = read_if_there(place.root, target.path) is None
            files.append({"taken_out": target.path, **_bytes_facts(target.before), "as_written": gone})
        elif isinstance(target, ExchangeLog):
            log = read_if_there(place.root, target.path)
            files.append({"edited": target.path, **_bytes_facts(log), "as_written": log is not None and log.startswith(target.after)})
        else:
            files.append({"made" if isinstance(target, MakeFolder) else "ended_line": target.path})
    return {"change": entry.intent.id, "outcome": "applied", "at": datetime.now(UTC).isoformat(), "files": files}


def _holds(place: Place, target: Append) -> bool:
    """Say that a log holds every line that was appended to it."""
    held = set(read_from(place.root, target.path, target.size_before).split(b"\n"))
    return held.issuperset(target.lines.split(b"\n")[:-1])


def _bytes_facts(data: bytes | None) -> dict[str, Any]:
    return {"bytes": None} if data is None else {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def _record_drain(store: Store, place: Place, entry: Entry) -> None:
    said = dict(entry.intent.drain or {})
    now = datetime.now(UTC)
    displaced, displaced_sha256 = _displaced(place, entry)
    for piece in said["pieces"]:
        to_byte = piece["to_byte"]
        if piece.get("sha256") and sha256_of_first(place.root, piece["archive"], to_byte) != piece["sha256"]:
            # Another file was moved than the one that was read: none of its lines was taken yet.
            to_byte = 0
        Drain.objects.get_or_create(
            journal_id=entry.intent.id,
            archive_path=piece["archive"],
            defaults={
                "store": store,
                "at": now,
                "actor": entry.intent.actor[:220],
                "graph_folder": said["graph_folder"],
                "graph_path": said["graph_path"],
                "from_byte": piece["from_byte"],
                "to_byte": to_byte,
                "operations": piece["operations"],
                "left_out": piece["left_out"],
                "entities": said["entities"],
                "relations": said["relations"],
                "observations": said["observations"],
                "state": said.get("state", "verifying"),
                "verify_until": now + VERIFIED_FOR,
                "displaced": displaced,
                "displaced_sha256": displaced_sha256,
            },
        )
        displaced = ""


def _displaced(place: Place, entry: Entry) -> tuple[str, bytes]:
    """Give where the displaced graph lies, and the hash of what it held."""
    for number, target in enumerate(entry.intent.targets):
        if not isinstance(target, Put) or target.before is None:
            continue
        digest = hashlib.sha256(target.before).digest()
        if entry.displaced(number).exists():
            return str(entry.folder.parent.parent / "done" / entry.folder.name / entry.displaced(number).name), digest
        beside = ours_beside(target.path, entry.intent.id)
        if read_if_there(place.at(target.folder), beside) is not None:
            return f"{place.at(target.folder).path}/{beside}", digest
    return "", b""
