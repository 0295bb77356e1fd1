"""Every read of a store and every write of a durable file goes through here (ruling 58).

No link is followed, no special file opened, a store's root never left (DESIGN §6.4). Nothing else opens anything for writing.
"""

from __future__ import annotations

from stores.files.exchanging import MAX_EXCHANGES, OURS_SUFFIX, ours_beside
from stores.files.facts import MAX_INT64, CannotRead, Entry, FileStat, printable_name, why
from stores.files.logs import LONGEST_WAIT_S, TORN_AFTER_S, has_writer
from stores.files.opened import CHUNK_BYTES, LOCK_WAIT_S, OpenedFile, OpenedFolder
from stores.files.own import append_bytes, append_line, make_folder, rename_folder, write_file_atomically, write_new_file
from stores.files.root import MAX_DEPTH, MAX_ENTRIES, StoreRoot

__all__ = [
    "CHUNK_BYTES",
    "LOCK_WAIT_S",
    "LONGEST_WAIT_S",
    "MAX_DEPTH",
    "MAX_ENTRIES",
    "MAX_EXCHANGES",
    "MAX_INT64",
    "OURS_SUFFIX",
    "TORN_AFTER_S",
    "CannotRead",
    "Entry",
    "FileStat",
    "OpenedFile",
    "OpenedFolder",
    "StoreRoot",
    "append_bytes",
    "append_line",
    "has_writer",
    "make_folder",
    "ours_beside",
    "printable_name",
    "rename_folder",
    "why",
    "write_file_atomically",
    "write_new_file",
]
