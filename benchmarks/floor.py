"""The floor: what decoding and SQLite alone cost for the same log. Run as a program: `floor.py bare|rules LOG DATABASE`.

`rules` keeps the rules that the product keeps: its pragmas, commits of 5,000 rows with the indexes and the text index standing.
`bare` is one transaction on SQLite's own settings.
"""

from __future__ import annotations

import itertools
import json
import resource
import sqlite3
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

PRAGMAS = (
    "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-65536; "
    "PRAGMA wal_autocheckpoint=4000; PRAGMA temp_store=MEMORY;"
)
BATCH = 5000
INSERT = "INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
INDEX = "INSERT INTO words (rowid, what, why) SELECT id, what, why FROM decision"


def rows(log: Path) -> Iterator[tuple[object, ...]]:
    """Give a row a line: id, natural id, type, area, sayer, time, what, why, raw line."""
    decode = msgspec.json.Decoder().decode
    with log.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            raw = line.rstrip(b"\n")
            value = decode(raw)
            content, metadata = value["content"], value["metadata"]
            yield (
                number,
                value["id"],
                value["type"],
                metadata["category"],
                value["identity"]["user_id"],
                metadata["timestamp"],
                content["what"],
                content["why"],
                raw,
            )


def load(mode: str, log: Path, database: Path) -> None:
    """Fill a database from a log."""
    connection = sqlite3.connect(database, isolation_level=None)
    if mode == "rules":
        connection.executescript(PRAGMAS)
    connection.execute(
        "CREATE TABLE decision (id INTEGER PRIMARY KEY, natural_id TEXT, type TEXT, category TEXT, said_by TEXT, at TEXT, what TEXT, why TEXT, raw BLOB)"
    )
    for name, columns in (("by_area", "category, at"), ("by_type", "type, at"), ("by_time", "at")):
        connection.execute(f"CREATE INDEX {name} ON decision ({columns})")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(what, why, content='decision', content_rowid='id')")
    whole = rows(log)
    if mode == "rules":
        while batch := list(itertools.islice(whole, BATCH)):
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(INSERT, batch)
            connection.execute(f"{INDEX} WHERE id BETWEEN ? AND ?", (batch[0][0], batch[-1][0]))
            connection.execute("COMMIT")
    else:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(INSERT, whole)
        connection.execute(INDEX)
        connection.execute("COMMIT")
    connection.close()


if __name__ == "__main__":
    began = time.perf_counter()
    load(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    taken = time.perf_counter() - began
    sys.stdout.write(json.dumps({"seconds": taken, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
