"""Lets the stories happen on disk, step by step, and mirrors each step as of its moment: the demo has a past of its own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from stores.demo.stories import Story
from stores.files import append_bytes, write_file_atomically, write_new_file
from stores.mirror.importing import import_store
from stores.mirror.measuring import AGES
from stores.mirror.relocating import remove_store
from stores.models import Measurement, Store

PAST = timedelta(days=14)
STEP = timedelta(hours=12)
HOUR = timedelta(hours=1)
MARK = ".made"


def moments(now: datetime) -> list[datetime]:
    """Give the moments that are replayed, the last of them now."""
    count = int(PAST / STEP)
    return [now - STEP * step for step in range(count, -1, -1)]


def is_made(folder: Path) -> bool:
    """Say whether the projects below `folder` have their whole past; a replay that was stopped has not."""
    return (folder / MARK).exists()


def clear(folder: Path) -> None:
    """Delete what a stopped replay left below `folder`, and its stores."""
    for store in Store.objects.filter(path__startswith=f"{folder}/"):
        remove_store(store)
    if folder.exists():
        shutil.rmtree(folder)


def replay(folder: Path, stories: Sequence[Story], register: Callable[[Path], Store], now: datetime, tell: Callable[[float], None]) -> None:
    """Let the stories happen below `folder`, each moment mirrored as of its time; `tell` gets the share done.

    `register` makes the store of a project's folder.
    """
    steps = moments(now)
    stores: dict[str, Store] = {}
    for done, moment in enumerate(steps, start=1):
        for story in stories:
            bring_to(folder, story, moment)
        for story in stories:
            if not story.registered:
                continue
            if story.project not in stores:
                stores[story.project] = register(folder / story.project)
            import_store(stores[story.project], trigger="sweep", now=moment)
        if done < len(steps):
            _measure_hourly(list(stores.values()), moment)
        tell(done / len(steps))
    write_new_file(folder / MARK, b"")


def _measure_hourly(stores: Sequence[Store], moment: datetime) -> None:
    """Repeat the measurements of a moment for each hour until the next: nothing changes between, but what waits grows older."""
    rows: list[Measurement] = []
    for store in stores:
        last = Measurement.objects.filter(store=store, at=moment).first()
        if last is None:
            continue
        for hour in range(1, int(STEP / HOUR)):
            values = {name: value + hour * HOUR.total_seconds() if name in AGES and value else value for name, value in last.values.items()}
            rows.append(Measurement(store=store, at=moment + hour * HOUR, verdict=last.verdict, values=values))
    Measurement.objects.bulk_create(rows)


def bring_to(folder: Path, story: Story, moment: datetime) -> None:
    """Make the files of a project what they were at a moment: logs by appending, the rest as a whole."""
    for path in story.happened:
        _bring_file(folder / story.project / path, story.content(path, moment), story.last_change(path, moment))


def _bring_file(place: Path, wanted: bytes | None, changed_at: datetime | None) -> None:
    there = place.read_bytes() if place.exists() else None
    if wanted is None:
        place.unlink(missing_ok=True)
        return
    if wanted == there:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if there and wanted.startswith(there):
        append_bytes(place, wanted[len(there) :])
    else:
        write_file_atomically(place, wanted, 0o644)
    if changed_at is not None:
        os.utime(place, (changed_at.timestamp(), changed_at.timestamp()))
