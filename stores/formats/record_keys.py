"""The number under which the mirror finds a record (ruling 31)."""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from stores.formats.storable import signed64

_CLOCK_DIGITS: Final = frozenset("0123456789abcdefghijklmnopqrstuvwxyz")


def record_key(natural_id: str, line_sha256: bytes) -> int:
    """Identity of a record as a signed 64 bit number: of its own id, else of its raw line.

    An id with a clock in it, as OrchestKit's writer makes them, gives a number that grows with the clock: the index of keys then
    grows at its end, where a hash would touch all of it at every import.
    """
    if not natural_id:
        return signed64(line_sha256)
    digest = sha256(natural_id.encode("utf-8", "surrogatepass")).digest()
    head, _, last = natural_id.rpartition("-")
    clock = head[-8:]
    if head[-9:-8] == "-" and last and _CLOCK_DIGITS.issuperset(clock):
        return ((int(clock, 36) << 22) | (int.from_bytes(digest[:3], "big") >> 2)) - (1 << 63)
    return signed64(digest)
