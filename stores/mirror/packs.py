"""What was read of a file, packed: rows as the bulk writer takes them, with the place from which reading can go on.

Knows neither Django nor a database, so that a process of its own can do it (reading_ahead).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import msgspec

from stores.files import OpenedFile
from stores.formats.base import Fault, FileSpec, Line, LineClass, Severity
from stores.formats.lines import CAP, Zeros, split_lines, whole_line
from stores.formats.record_keys import record_key
from stores.formats.storable import name as storable_name
from stores.formats.storable import text as storable_text
from stores.mirror.pieces import Piece, PieceReader
from stores.mirror.trail import Trail

PACK_LINES = 500
PACK_BYTES = 1024 * 1024
RAW_HEAD_BYTES = 4096
NEIGHBOUR_BYTES = 200
SIGN_BYTES = 32 * 1024 * 1024
"""After so many bytes whoever waits hears that reading goes on: one line may be longer than all others together."""
INFO_ROWS = 1000
"""Findings that ask for nothing get a row each only so often; the rest is only counted."""
OURS = ("natural_id", "key", "line", "offset", "length", "sha256", "fault_count", "provisional")
"""Columns of a packed row behind those of the kind of file."""
_RANKS = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


class Place(NamedTuple):
    """Where reading can go on: everything before it is settled."""

    offset: int
    next_line: int
    reader_state: str


class PackedFault(NamedTuple):
    """The columns of a fault that come from what was read."""

    code: str
    severity: str
    rank: int
    message: str
    line: int | None
    byte: int | None
    subject_type: str
    subject_id: str
    key: str
    details: str
    repair_mode: str
    repair_action: str
    pending: bool


class PackedRefusal(NamedTuple):
    """The columns of a refused line; `after_length` is None while the next line is not known."""

    line: int
    offset: int
    length: int
    sha256: bytes
    raw: bytes
    before: bytes
    before_length: int | None
    after: bytes
    after_length: int | None
    provisional: bool


class Pack(msgspec.Struct, array_like=True, gc=False):
    """Some lines of a file, in order; the last pack of a file has an `end_state`."""

    rows: list[tuple[Any, ...]]
    """Per record the columns of its kind of file, then `OURS`."""
    raws: list[bytes]
    searches: list[str]
    counts: list[dict[str, int]]
    """How often each value of each counted column occurs in the rows."""
    faults: list[tuple[PackedFault, bool]]
    """With each fault: is it of a provisional line?"""
    refused: list[PackedRefusal]
    settled: dict[str, int]
    tail: dict[str, int]
    """Lines by class, provisional ones apart."""
    first_head: bytes
    first_length: int
    """Of the first line; -1 when there is none."""
    infos: dict[str, int]
    tail_infos: dict[str, int]
    """Findings of severity info by code, from the start of the file on."""
    place: Place
    window: bytes
    """Hash of the bytes before the place, as they were read (`trail`)."""
    end_state: str | None
    links: list[tuple[tuple[Any, ...], ...]]
    """Per record what it points at."""
    facts: bytes
    """A packed list: per line what rules over the whole store need to know of it (`Parsed.facts`); b"" where it cannot be packed."""

    @property
    def size(self) -> int:
        """Rows that saving it makes, those of links where there are more of them than of records."""
        return max(len(self.rows), sum(map(len, self.links))) + len(self.refused)


def packed_fault(found: Fault) -> PackedFault:
    """Give a fault as columns that both engines hold (ruling 45)."""
    return PackedFault(
        found.code[:40],
        str(found.severity),
        _RANKS[found.severity],
        storable_text(found.message),
        found.line,
        found.byte,
        found.subject_type[:32],
        storable_name(found.subject_id),
        found.key[:64],
        storable_text(json.dumps(dict(found.details), ensure_ascii=True)),
        str(found.repair_mode),
        found.repair_action[:40],
        found.pending,
    )


def kept_bytes(line: Line) -> bytes:
    """Bytes of a line that the mirror keeps: all up to 1 MiB, else the first 4 KiB (ruling 40)."""
    if line.length > CAP:
        return (line.head or line.data)[:RAW_HEAD_BYTES]
    return line.data


def line_before(opened: OpenedFile, place: Place) -> Line | None:
    """Give the line that ends just before a place, with its first bytes, so that a refused line can show its neighbour."""
    if place.offset == 0:
        return None
    end, window = place.offset - 1, 4096
    while True:
        start = max(0, end - window)
        data = opened.at(start, end - start)
        cut = data.rfind(b"\n")
        if cut >= 0 or start == 0 or window > 1024 * 1024:
            break
        window *= 16
    head = data[cut + 1 :]
    return Line(place.next_line - 1, start + cut + 1, len(head), head, b"", True, False, b"")


def packs_of(
    opened: OpenedFile,
    end: int,
    spec: FileSpec,
    place: Place,
    infos: Mapping[str, int],
    counted: Sequence[str] = (),
    path: str = "",
    on_read: Callable[[], None] = lambda: None,
) -> Iterator[Pack]:
    """Read on from a place up to an offset of the file.

    `infos` are the findings of severity info before the place, by code; `counted` names the columns whose values are counted. A file
    that is one record is known by its `path` where it has no id of its own. At least one pack comes, with an end state. `on_read` is
    called now and then between two packs, however far they are apart.
    """
    return _Packer(opened, end, spec, place, infos, counted, path, on_read).packs()


def telling(chunks: Iterable[bytes | Zeros], on_read: Callable[[], None]) -> Iterator[bytes | Zeros]:
    """Pass on the chunks of a file and tell of it after each SIGN_BYTES."""
    untold = 0
    for chunk in chunks:
        untold += len(chunk)
        if untold >= SIGN_BYTES:
            untold = 0
            on_read()
        yield chunk


class _Packer:
    """One reading under way."""

    def __init__(
        self,
        opened: OpenedFile,
        end: int,
        spec: FileSpec,
        place: Place,
        infos: Mapping[str, int],
        counted: Sequence[str],
        path: str,
        on_read: Callable[[], None],
    ) -> None:
        self._trail = Trail(opened, place.offset)
        chunks = self._trail.following(telling(opened.chunks(place.offset, end), on_read))
        lines = (whole_line(chunks) for _ in range(1)) if spec.whole else split_lines(chunks, number=place.next_line, offset=place.offset)
        self._whole = spec.whole
        self._default_id = storable_name(path) if spec.whole else ""
        self._pieces = PieceReader(lines, spec.reader(path if spec.whole else place.reader_state), spec.reader)
        self._counted = [itemgetter(spec.columns.index(name)) for name in counted]
        self._move_to(place)
        self._before = line_before(opened, place)
        self._infos = Counter(infos)
        self._tail_infos: Counter[str] = Counter()
        self._provisional = False
        self._facts: list[tuple[object, ...]] = []
        self._pack = self._empty()

    def _empty(self) -> Pack:
        return Pack([], [], [], [], [], [], {}, {}, b"", -1, {}, {}, self._place, self._window, None, [], b"")

    def _move_to(self, place: Place) -> None:
        self._place, self._window = place, self._trail.window(place.offset)

    def packs(self) -> Iterator[Pack]:
        """Give the packs in order."""
        lines = size = 0
        for piece in self._pieces:
            self._add(piece)
            line = piece.line
            if piece.provisional and not self._provisional:
                self._provisional = True
                self._move_to(Place(line.offset, line.number, piece.state_before))
            if self._provisional:
                continue
            lines += 1
            size += len(line.data)
            if piece.resumable and (lines >= PACK_LINES or size >= PACK_BYTES):
                self._move_to(self._behind(line, self._pieces.reader_state()))
                yield self._closed(None)
                lines = size = 0
        end_state = self._pieces.reader_state()
        if not self._provisional and self._before is not None and self._pack.first_length >= 0:
            line = self._before
            self._move_to(self._behind(line, end_state))
        yield self._closed(end_state)

    def _behind(self, line: Line, state: str) -> Place:
        return Place(line.offset + line.length + (line.terminated and not self._whole), line.number + 1, state)

    def _closed(self, end_state: str | None) -> Pack:
        done, self._pack = self._pack, self._empty()
        done.place, done.window, done.end_state = self._place, self._window, end_state
        done.counts = [dict(Counter(map(column, done.rows))) for column in self._counted]
        done.infos, done.tail_infos = dict(self._infos), dict(self._tail_infos)
        done.facts, self._facts = _packed(self._facts), []
        return done

    def _add(self, piece: Piece) -> None:
        line, parsed, provisional, _, _ = piece
        pack = self._pack
        tail = provisional or self._provisional
        counts = pack.tail if tail else pack.settled
        line_class = parsed.line_class
        counts[line_class] = counts.get(line_class, 0) + 1
        if pack.first_length < 0:
            pack.first_head, pack.first_length = kept_bytes(line)[:NEIGHBOUR_BYTES], line.length
        elif pack.refused and pack.refused[-1].after_length is None:
            pack.refused[-1] = pack.refused[-1]._replace(after=kept_bytes(line)[:NEIGHBOUR_BYTES], after_length=line.length)
        if parsed.facts is not None:
            self._facts.append(parsed.facts)
        faults = parsed.faults
        if line_class is LineClass.RECORD:
            natural_id = parsed.natural_id or self._default_id
            pack.rows.append(
                (
                    *(parsed.values or ()),
                    natural_id,
                    record_key(natural_id, line.sha256),
                    line.number,
                    line.offset,
                    line.length,
                    line.sha256,
                    len(faults),
                    tail,
                )
            )
            pack.raws.append(kept_bytes(line))
            pack.searches.append(parsed.search)
            pack.links.append(parsed.links)
        elif line_class is not LineClass.BLANK:
            before = self._before
            pack.refused.append(
                PackedRefusal(
                    line.number,
                    line.offset,
                    line.length,
                    line.sha256,
                    kept_bytes(line),
                    kept_bytes(before)[:NEIGHBOUR_BYTES] if before else b"",
                    before.length if before else None,
                    b"",
                    None,
                    tail,
                )
            )
        for found in faults:
            if found.severity is not Severity.INFO or self._has_row(found.code, tail):
                pack.faults.append((packed_fault(found), tail))
        self._before = line

    def _has_row(self, code: str, tail: bool) -> bool:
        """Count a finding that asks for nothing and say whether it is among the first."""
        (self._tail_infos if tail else self._infos)[code] += 1
        return self._infos[code] + self._tail_infos[code] <= INFO_ROWS


def _packed(facts: list[tuple[object, ...]]) -> bytes:
    """Pack what is known of lines; an id in it may be a text with half a surrogate pair, which cannot be packed."""
    try:
        return msgspec.msgpack.encode(facts)
    except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):
        return b""
