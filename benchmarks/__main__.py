"""Runs every measurement and writes docs/benchmarks.md: `python -m benchmarks [--lines N] [--list-lines N] [--nodes N] [--rounds N] [--dry-run]`."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import approvals, datasette, graphs, logs, paths, sign_ins, trees

REPOSITORY = Path(__file__).parents[1]
APPENDS = 20


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lines", type=int, default=300_000, help="lines of the log that is imported")
    parser.add_argument("--list-lines", type=int, default=1_000_000, help="lines behind the list pages")
    parser.add_argument("--nodes", type=int, default=20_000, help="nodes of the store of record files; it has three times as many files")
    parser.add_argument("--rounds", type=int, default=3, help="alternating runs of each import")
    parser.add_argument("--dry-run", action="store_true", help="print the page, do not write it")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="memoryui-bench-") as temporary:
        page = measure(Path(temporary), given.lines, given.list_lines, given.rounds, given.nodes)
    print(page)
    if not given.dry_run:
        (REPOSITORY / "docs" / "benchmarks.md").write_text(page, encoding="utf-8")


def measure(folder: Path, lines: int, list_lines: int, rounds: int, nodes: int) -> str:
    """Do every measurement in turn and give the page that tells of them."""
    log = folder / "short.jsonl"
    logs.write_log(log, lines)
    tell(f"importing {lines:,} lines, {rounds} rounds")
    imports = measure_imports(folder, log, rounds)
    tell("appending")
    appended = product("append", fresh(folder, log), str(APPENDS))
    waiting = folder / "waiting"
    logs.write_queue(waiting / "project" / ".claude" / "memory" / "graph-queue.jsonl", lines)
    queued = product("append", waiting, str(APPENDS))
    shutil.rmtree(waiting)
    tell("signing in during an import")
    signed_in = sign_ins.measure(fresh(folder, log), REPOSITORY)
    tell("graph")
    graph = folder / "graph"
    graphs.write_graph(graph)
    drawn = product("graph", graph)
    tell(f"a store of {nodes:,} nodes")
    tree = folder / "tree"
    files = trees.write_tree(tree / "project", nodes)
    grown = trees.section(files, product("tree", tree), in_process("-m", "benchmarks.trees", "floor", str(tree / "project")))
    shutil.rmtree(tree)
    tell(f"{paths.PATHS:,} paths")
    branched = folder / "paths"
    paths.write_paths(branched / "project")
    grown += paths.section(product("paths", branched))
    shutil.rmtree(branched)
    tell("approvals")
    nodes_of_actions = folder / "approvals"
    approvals.write_nodes(nodes_of_actions)
    grown += approvals.section(product("approvals", nodes_of_actions))
    shutil.rmtree(nodes_of_actions)
    tell(f"lists over {list_lines:,} rows")
    long_log = folder / "long.jsonl"
    logs.write_log(long_log, list_lines)
    lists = product("lists", fresh(folder, long_log))
    database = folder / "peer.db"
    floor("rules", long_log, database)
    with sqlite3.connect(database) as connection:
        connection.execute("CREATE INDEX by_sayer ON decision (said_by, at)")
        connection.execute("ANALYZE")
    peer = datasette.measure(database)
    return report(lines, list_lines, log.stat().st_size, imports, appended, queued, signed_in, drawn, grown, lists, peer)


def measure_imports(folder: Path, log: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Import the log in each way in turn, so that a slow moment of the machine meets all of them; give medians."""
    ways: dict[str, Callable[[], dict[str, Any]]] = {
        "memoryui": lambda: product("import", fresh(folder, log)),
        "floor, same rules": lambda: floor("rules", log, fresh(folder, log) / "floor.db"),
        "floor, bare": lambda: floor("bare", log, fresh(folder, log) / "floor.db"),
        "sqlite-utils insert --nl": lambda: sqlite_utils(log, fresh(folder, log) / "utils.db"),
    }
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, run in ways.items():
            results[name].append(run())
            tell(f"  {name}: {results[name][-1]['seconds']:.1f} s")
    return {
        name: {
            "seconds": statistics.median(run["seconds"] for run in runs),
            "least": min(run["seconds"] for run in runs),
            "most": max(run["seconds"] for run in runs),
            "peak_mb": max(run["peak_mb"] for run in runs),
        }
        for name, runs in results.items()
    }


def fresh(folder: Path, log: Path) -> Path:
    """Give an empty folder with a project whose store holds the log; the one before is deleted."""
    place = folder / "run"
    shutil.rmtree(place, ignore_errors=True)
    memory = place / "project" / ".claude" / "memory"
    memory.mkdir(parents=True)
    shutil.copyfile(log, memory / "decisions.jsonl")
    return place


def product(what: str, folder: Path, *more: str) -> dict[str, Any]:
    """Run the product in a process of its own."""
    return in_process("-m", "benchmarks.product", what, str(folder), *more)


def floor(mode: str, log: Path, database: Path) -> dict[str, Any]:
    """Run the floor in a process of its own."""
    return in_process("-m", "benchmarks.floor", mode, str(log), str(database))


def in_process(*arguments: str) -> dict[str, Any]:
    """Run this Python with arguments and give the JSON document that it prints."""
    done = subprocess.run([sys.executable, *arguments], cwd=REPOSITORY, check=True, stdout=subprocess.PIPE)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def sqlite_utils(log: Path, database: Path) -> dict[str, Any]:
    """Let sqlite-utils insert the same log; it makes no index and no text index."""
    began = datetime.now(UTC)
    tool = Path(sys.executable).with_name("sqlite-utils")
    subprocess.run([str(tool), "insert", str(database), "decision", str(log), "--nl"], check=True, stdout=subprocess.DEVNULL)
    return {"seconds": (datetime.now(UTC) - began).total_seconds(), "peak_mb": 0.0}


def report(
    lines: int,
    list_lines: int,
    size: int,
    imports: dict[str, dict[str, float]],
    appended: dict[str, Any],
    queued: dict[str, Any],
    signed_in: dict[str, Any],
    drawn: dict[str, Any],
    grown: list[str],
    lists: dict[str, Any],
    peer: dict[str, float],
) -> str:
    """Give the page."""
    own = imports["memoryui"]["seconds"]
    rules, bare, utils = (imports[name]["seconds"] for name in ("floor, same rules", "floor, bare", "sqlite-utils insert --nl"))
    medians = [page["median_ms"] for page in lists["lists"].values()]
    slower = [peer[name] / lists["lists"][name]["median_ms"] for name in peer]
    rows = [
        "# How fast it is",
        "",
        f"Measured {datetime.now(UTC):%Y-%m-%d} by `make bench` on {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}. Each way runs in a process of its own, in turn with the others; only ratios of one run mean anything.",
        "",
        f"## Import of {lines:,} decisions ({size / 1e6:.0f} MB)",
        "",
        "| way | median s | least – most | memoryui against it | goal |",
        "|---|---:|---:|---:|---|",
    ]
    goals = {
        "memoryui": ("", ""),
        "floor, same rules": (f"{own / rules:.2f} ×", "≤ 1.5 ×"),
        "floor, bare": (f"{own / bare:.2f} ×", "≤ 2 ×"),
        "sqlite-utils insert --nl": (f"{own / utils:.2f} ×", "< 1 ×"),
    }
    for name, result in imports.items():
        ratio, goal = goals[name]
        rows.append(f"| {name} | {result['seconds']:.1f} | {result['least']:.1f} – {result['most']:.1f} | {ratio} | {goal} |")
    rows += [
        "",
        "The floor decodes with msgspec and writes one table with the raw line, three indexes and FTS5 over what and why. memoryui writes two tables, the key and",
        "five list indexes, hashes, counts and one text index over all texts of a record. sqlite-utils makes no index.",
        "",
        "| measured | result | goal |",
        "|---|---:|---|",
        f"| peak memory of that import | {imports['memoryui']['peak_mb']:.0f} MB | < 200 MB |",
        f"| peak memory of the import of {list_lines:,} lines | {lists['peak_mb']:.0f} MB | < 200 MB |",
        f"| one line appended, then imported (median of {APPENDS}) | {appended['median_ms']:.0f} ms | < 100 ms |",
        f"| bytes read for it | {appended['bytes_read']:,} | < 65,536 |",
        f"| one operation appended to a queue of {lines:,} that nobody drains (median of {APPENDS}) | {queued['median_ms']:.0f} ms | < 100 ms |",
        f"| bytes read for it | {queued['bytes_read']:,} | < 65,536 |",
        f"| nothing changed, looked again and measured | {appended['unchanged_ms']:.0f} ms | |",
        f"| sign-in during the import, p50 of {signed_in['sign_ins']} | {signed_in['p50_ms']:.0f} ms | |",
        f"| sign-in during the import, p95 | {signed_in['p95_ms']:.0f} ms | < 300 ms |",
        "",
        f"## List pages over {list_lines:,} decisions",
        "",
        "Whole answers of the server, HTML with facets, median ms. Datasette serves the same rows with indexes on the same columns, FTS5 and the same facets.",
        "",
        "| list | memoryui | queries | Datasette | × |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, page in lists["lists"].items():
        other = f"{peer[name]:.0f} | {peer[name] / page['median_ms']:.0f}" if name in peer else "– | –"
        rows.append(f"| {name} | {page['median_ms']:.0f} | {page['queries']} | {other} |")
    rows += [
        "",
        f"Median of all lists {statistics.median(medians):.0f} ms, the slowest {max(medians):.0f} ms (goal: < 100 ms); against Datasette {min(slower):.0f} to "
        f"{max(slower):.0f} times as fast (goal: ≥ 10).",
        *graphs.section(drawn),
        *grown,
        "",
        '`make bench ARGS="--lines 30000 --list-lines 100000 --rounds 1 --dry-run"` is a quick look.',
        "",
    ]
    return "\n".join(rows)


def tell(text: str) -> None:
    """Say on standard error where the run stands."""
    print(text, file=sys.stderr)


if __name__ == "__main__":
    main()
