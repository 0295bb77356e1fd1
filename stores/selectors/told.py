"""What the agent will be told at the start of its next session, from the last lines that the mirror keeps of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.db.models import BigIntegerField, Value
from django.urls import reverse

from stores import charts
from stores.formats import storable
from stores.formats.diffs import DiffLine, diff
from stores.formats.orchestkit import decisions, injection
from stores.formats.orchestkit.decisions import TOLD_LINES, LastLine, last_lines
from stores.formats.orchestkit.injection import CleanUp, Preview, Slot
from stores.formats.secrets import find_secrets, mask
from stores.models import Decision, Fault, RefusedLine, SourceFile
from stores.selectors import wording
from stores.selectors.store_page import StoreFrame

OLDER_BYTES = 2 * 1024 * 1024
"""Of the lines before the last ten so much is looked at for what would move up."""
VARIANT_LABELS = {injection.CLASSIC: "Classic", injection.V7: "7.0", injection.DOCUMENTED: "As documented"}

_FATES = {
    injection.TOLD: ("ok", "told"),
    injection.CORRUPT: ("failing", "corrupt"),
    injection.BLANK: ("late", "only spaces"),
    injection.NOT_OBJECT: ("late", "no record"),
    injection.NO_TEXT: ("late", "no text"),
    injection.TOO_DEEP_TO_SHOW: ("unmeasured", "too deep"),
    injection.DUPLICATE: ("late", "duplicate"),
    injection.NOISE: ("late", "noise"),
    injection.TOO_SHORT: ("late", "too short"),
    injection.OVER_LIMIT: ("note", "over the budget"),
    injection.SILENCES: ("failing", "silences"),
    injection.SILENCED: ("muted", "silenced"),
}
_TOO_LONG = "Longer than 1 MiB: the loader reads it, the mirror keeps only its beginning"
_PLAIN = frozenset({injection.TOLD, injection.SILENCED})
_STANDS_FOR_OLDER = b"[]"
_MENDED = {
    injection.SILENCING: ("line that silences the loader", "lines that silence the loader"),
    injection.DUPLICATES: ("duplicate", "duplicates"),
    injection.NOISE: ("line of noise", "lines of noise"),
    injection.CORRUPT: ("corrupt or blank line", "corrupt or blank lines"),
}


class Place(NamedTuple):
    """One of the last lines, and what became of it."""

    number: int
    """1 is the newest line, which is told first."""
    slot: Slot
    state: str
    words: str
    reason: str
    """"" where the words say it all."""
    title: str
    url: str
    """The record's page, or the raw line."""
    fault: Fault | None


class Cleaned(NamedTuple):
    """What a clean-up would change."""

    before: list[DiffLine]
    after: list[DiffLine]
    """The two texts side by side, secrets masked."""
    won: int
    """How many more decisions would be told."""
    sentence: str


class Told(NamedTuple):
    """What the page shows."""

    file: SourceFile | None
    """None: the store has no log of decisions."""
    unknown: str = ""
    """Why the mirror cannot tell; then there is nothing else."""
    variant: str = ""
    explained: str = ""
    """Whose way of telling the variant is."""
    preview: Preview | None = None
    bar: charts.BudgetBar | None = None
    places: Sequence[Place] = ()
    silencing: Sequence[Place] = ()
    masked: int = 0
    """Secrets that the page does not show; the agent is told them."""
    too_long: bool = False
    """One of the lines is longer than what the mirror keeps, so that the text may be another."""
    cleaned: Cleaned | None = None
    """None where a clean-up would change nothing."""

    @property
    def used_words(self) -> str:
        """How much of the budget is used."""
        return f"{self.preview.used:,} of {self.preview.limit:,} UTF-16 units" if self.preview else ""


class _Kept(NamedTuple):
    """What the mirror keeps of a line."""

    raw: bytes
    whole: bool
    record_id: int | None


def told(frame: StoreFrame, variant: str) -> Told:
    """Give what agents are told in one of `injection.VARIANTS`: 3 queries."""
    file = next((one for one in frame.line_files if one.path == decisions.PATH), None)
    if file is None or not file.exists:
        return Told(None)
    seen = last_lines(file.end_state)
    if file.state == "importing" or (not seen and file.readable_lines):
        return Told(file, "The log is being read; what its last lines say is known when that has ended.")
    kept = _kept(file, seen)
    if any(line.line not in kept for line in seen[-TOLD_LINES:]):
        return Told(file, "The mirror was filled by an earlier version, which noted no lines. They are known once the log grows.")
    looked_at = _looked_at(seen, kept)
    begins = len(looked_at) == len(seen) < decisions.KEPT_LINES
    data, numbers = _one_text(looked_at, kept, begins)
    preview = _numbered(injection.preview(data, variant), numbers)
    places = _places(file, frame.store.slug, preview, kept)
    return Told(
        file=file,
        variant=variant,
        explained=injection.VARIANTS[variant],
        preview=preview,
        bar=charts.budget(preview.used, preview.limit),
        places=places,
        silencing=[place for place in places if place.slot.fate == injection.SILENCES],
        masked=len(find_secrets(preview.text)),
        too_long=any(not kept[line.line].whole for line in seen[-TOLD_LINES:]),
        cleaned=_cleaned(preview, injection.after_clean_up(data, variant), numbers),
    )


def _kept(file: SourceFile, seen: Sequence[LastLine]) -> dict[int, _Kept]:
    """Give what the mirror keeps of the last lines, by number; lines of which it keeps nothing are left out. One query."""
    numbers = [line.line for line in seen if line.line]
    kept = {line.line: _Kept(b" ", True, None) for line in seen if line.standing == decisions.BLANK and line.line}
    records: Any = Decision.text_model._default_manager
    place = {"record__file": file, "record__key__in": {line.key for line in seen}, "record__line__in": numbers}
    texts = records.filter(**place, record__gone_at__isnull=True).values_list("record__line", "record__length", "raw", "record_id")
    refused = RefusedLine.objects.filter(file=file, line__in=numbers).order_by().annotate(no_record=Value(0, BigIntegerField()))
    for line, length, raw, record_id in texts.union(refused.values_list("line", "length", "raw", "no_record"), all=True):
        if record_id or line not in kept:
            kept[line] = _Kept(bytes(raw), len(raw) >= length, record_id or None)
    return kept


def _looked_at(seen: Sequence[LastLine], kept: Mapping[int, _Kept]) -> Sequence[LastLine]:
    """Leave out what stands before a line that is not kept, and what would take too long."""
    size = 0
    for count, line in enumerate(reversed(seen)):
        size += len(kept[line.line].raw) if line.line in kept else 0
        if line.line not in kept or (count >= TOLD_LINES and size > OLDER_BYTES):
            return seen[len(seen) - count :]
    return seen


def _one_text(seen: Sequence[LastLine], kept: Mapping[int, _Kept], begins: bool) -> tuple[bytes, dict[int, int]]:
    """Give lines as a text that the loader would take like the end of the log, and their numbers in the log by those in the text.

    Where the log does not begin with them a line stands before them here too, as white space is trimmed at the beginning only.
    """
    before = [] if begins else [_STANDS_FOR_OLDER]
    text = b"\n".join([*before, *(kept[line.line].raw for line in seen)])
    return text, {len(before) + place: line.line for place, line in enumerate(seen, 1)}


def _numbered(preview: Preview, numbers: Mapping[int, int]) -> Preview:
    """Give a preview with the numbers of the log."""
    slots = tuple(slot._replace(line=numbers[slot.line]) for slot in preview.slots)
    return replace(preview, slots=slots, dropped=tuple((numbers[line], fate) for line, fate in preview.dropped))


def _places(file: SourceFile, slug: str, preview: Preview, kept: Mapping[int, _Kept]) -> list[Place]:
    """Give the lines that take a place, the newest first. One query."""
    faults: dict[int | None, Fault] = {}
    asked = Fault.objects.filter(file=file, line__in=[slot.line for slot in preview.slots]).exclude(severity="info")
    for fault in asked.order_by("-rank", "-id"):
        faults[fault.line] = fault
    places = []
    for number, slot in enumerate(reversed(preview.slots), 1):
        of_line = kept[slot.line]
        state, words = _FATES[slot.fate] if of_line.whole else ("unmeasured", "too long")
        reason = "" if slot.fate in _PLAIN else injection.REASONS[slot.fate]
        reason = reason if of_line.whole else _TOO_LONG
        places.append(
            Place(number, slot, state, words, reason, storable.title(slot.what), _url(file, slug, slot, of_line), faults.get(slot.line))
        )
    return places


def _url(file: SourceFile, slug: str, slot: Slot, of_line: _Kept) -> str:
    if of_line.record_id is not None:
        return reverse("decision_detail", args=[of_line.record_id])
    raw = reverse("store_raw", args=[slug])
    return f"{raw}?{urlencode({'file': file.path, 'line': slot.line})}"


def _cleaned(preview: Preview, after: CleanUp, numbers: Mapping[int, int]) -> Cleaned | None:
    mended = Counter(one.what for one in after.mended if one.line in numbers)
    if not mended:
        return None
    counted = [wording.counted(mended[what], *words) for what, words in _MENDED.items() if mended[what]]
    won = after.preview.items - preview.items
    sentence = f"Mends {wording.listed(counted, len(counted))}: "
    if won > 0:
        sentence += f"{wording.counted(won, 'more decision')} would be told."
    elif won < 0:
        sentence += f"{wording.counted(-won, 'decision')} fewer would be told, but none twice and no noise."
    else:
        sentence += "as many decisions would be told."
    if any(one.line not in numbers for one in after.mended):
        sentence += " Older lines than are looked at here would move up besides."
    lines = diff(mask(preview.text), mask(after.preview.text))
    before = [line for line in lines if line.sign != "+"] if preview.text else []
    shown = [line if preview.text else line._replace(sign="+") for line in lines if line.sign != "-"] if after.preview.text else []
    return Cleaned(before, shown, won, sentence)
