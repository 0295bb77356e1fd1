"""What both logs of a phase-memory store share: the hashes of their lines, and what is wrong with a line before it is read."""

from __future__ import annotations

from typing import Final, Protocol

from stores.formats.base import LineClass
from stores.health.phase_memory.findings import Finding, finding

_SIZE: Final = 32
_CAUSES: Final = {
    "bad_json": "it is not JSON",
    "bad_utf8": "it is not text in UTF-8",
    "bad_id": "its record has no usable id",
    "bad_number": "a number in it has more than 4,300 digits",
    "dup_key": "a key stands twice in it",
    "glued": "records are glued together on it",
    "line_too_long": "it is longer than 1 MiB",
    "nan": "NaN or Infinity stands in it",
    "not_object": "it is not a JSON object",
    "nul_run": "it is a run of zero bytes",
    "too_deep": "it is nested deeper than 64 levels",
    "too_large": "it is larger than 16 MiB",
    "empty": "it is empty",
    "missing": "it is not there",
    "no_version": "it names no schema version",
    "not_regular": "it is not a regular file",
    "symlink": "it is a link",
    "unreadable": "it cannot be opened",
}


def why(cause: str) -> str:
    """Give a cause of refusal in words."""
    return _CAUSES.get(cause, cause)


class LineHashes:
    """The sha256 of every line of a log, in 32 bytes each."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def __len__(self) -> int:
        return len(self._bytes) // _SIZE

    def add(self, sha256: bytes) -> int:
        """Keep a line's hash and give its number, counted from 1."""
        self._bytes += sha256
        return len(self)

    def drop_last(self) -> None:
        """Forget the last line."""
        del self._bytes[-_SIZE:]

    def of(self, number: int) -> str:
        """Give the hash of a line in hex digits, "" when there is no such line."""
        return self._bytes[(number - 1) * _SIZE : number * _SIZE].hex() if 0 < number <= len(self) else ""


class Judged(Protocol):
    """What the verdict on a line says, whoever read it."""

    @property
    def line_class(self) -> LineClass: ...
    @property
    def refused(self) -> str: ...
    @property
    def salvageable(self) -> int: ...


def odd_line(file: str, malformed: str, number: int, sha256: bytes, terminated: bool, read: Judged) -> Finding | None:
    """Give what is wrong with a line as such: blank, refused, torn, or without a line break."""
    if terminated and read.line_class is LineClass.RECORD:
        return None
    details: dict[str, object] = {"sha256": sha256.hex()}
    if read.line_class is LineClass.BLANK:
        return finding("blank_log_line", file, f"Line {number:,} is empty", line=number, subject=("line", None), details=details)
    if read.refused:
        details["cause"] = read.refused
        if read.salvageable:
            details["salvageable"] = read.salvageable
        if not terminated:
            message = f"The last line, {number:,}, is not finished: {why(read.refused)}"
            return finding("truncated_last_line", file, message, line=number, subject=("line", None), details=details, pending=True)
        message = f"Line {number:,} is no record: {why(read.refused)}"
        return finding(malformed, file, message, line=number, subject=("line", None), details=details)
    message = f"The last line, {number:,}, has no line break: what is appended next would be glued to it"
    return finding("unterminated_last_line", file, message, line=number, subject=("line", None), details=details)
