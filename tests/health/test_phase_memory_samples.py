"""Generated stores with planted faults, the second checker, and the hostile samples as logs and records of this kind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from stores.formats.lines import split_lines
from stores.formats.phase_memory.reading import read_root
from stores.health.phase_memory import Finding, StoreFacts, check_all, record_facts
from tests.phase_memory_stores import read_facts

Identity = tuple[str, str, int | None, str | None, str | None]
FIELDS = ("code", "file", "line", "subject_id", "key")


def generate(shared: Path, out: Path, *arguments: str) -> Counter[Identity]:
    """Make a store with planted faults below `out` and give what has to be found in it."""
    command = [sys.executable, str(shared / "tools/gen_store.py"), "--out", str(out), *arguments]
    subprocess.run(command, check=True, capture_output=True)
    manifest = json.loads((out / "manifest.json").read_bytes())
    return Counter(identity(one) for one in manifest["expected_diagnostics"])


def identity(diagnostic: dict[str, object]) -> Identity:
    code, file, line, subject, key = (diagnostic[name] for name in FIELDS)
    assert isinstance(code, str)
    assert isinstance(file, str)
    assert line is None or isinstance(line, int)
    assert subject is None or isinstance(subject, str)
    assert key is None or isinstance(key, str)
    return code, file, line, subject, key


def found_in(store: Path) -> list[Finding]:
    return check_all(read_facts(store)).listed()


@pytest.mark.parametrize(
    ("seed", "faults", "per_kind", "odd"),
    [
        (11, "all", 1, False),
        (12, "all", 4, True),
        (13, "all", 9, True),
        (14, "none", 1, True),
        (15, "store_root_missing", 1, False),
        (16, "unsupported_store_version", 1, False),
        (17, "missing_layout_entry", 1, False),
    ],
)
def test_planted_faults_are_found_and_nothing_else(shared: Path, tmp_path: Path, seed: int, faults: str, per_kind: int, odd: bool) -> None:
    arguments = ["--nodes", "120", "--seed", str(seed), "--faults", faults, "--faults-per-kind", str(per_kind)]
    expected = generate(shared, tmp_path / "made", *arguments, *(["--odd-ids"] if odd else []))
    found = found_in(tmp_path / "made/store")
    assert Counter(one.identity for one in found) == expected
    command = [sys.executable, str(shared / "tools/check_store.py"), str(tmp_path / "made/store")]
    second = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    theirs = Counter((*identity(one), one["severity"]) for one in map(json.loads, second))
    assert Counter((*one.identity, str(one.severity)) for one in found) == theirs


def hostile(shared: Path, kind: str) -> dict[str, dict[str, object]]:
    expected = json.loads((shared / "samples/hostile/EXPECT.json").read_bytes())
    return {name: case for name, case in expected.items() if case["kind"] == kind}


@pytest.mark.parametrize("log", ["events", "audit"])
def test_hostile_logs_are_refused_line_by_line_for_the_expected_cause(shared: Path, log: str) -> None:
    cases = hostile(shared, "jsonl")
    assert cases
    for name, case in cases.items():
        facts = StoreFacts()
        facts.put_root(read_root(b'{"schema_version":"phase_memory.local_store.v1"}'))
        lines = split_lines([(shared / "samples/hostile" / name).read_bytes()])
        (facts.extend_events if log == "events" else facts.extend_audit)(lines)
        found = [one for one in check_all(facts).listed() if one.file == f"{log}.jsonl"]
        malformed = [one for one in found if one.code == f"malformed_{'event' if log == 'events' else 'audit'}_line"]
        causes = Counter(one.details["cause"] for one in malformed)
        torn = [one for one in found if one.code == "truncated_last_line"]
        whole = [one for one in found if one.code == "unterminated_last_line"]
        if case["bad"] == "some":
            assert malformed or torn, name
            continue
        assert causes == case["bad"], name
        assert (len(torn), len(whole)) == {"torn": (1, 0), "nul_run": (1, 0), "complete": (0, 1), "": (0, 0)}[str(case.get("tail", ""))]
        assert all(one.pending for one in torn)
        if case.get("tail") == "nul_run":
            assert torn[0].details["cause"] == "nul_run", name
        if "salvageable" in case:
            assert sum(int(str(one.details["salvageable"])) for one in malformed) == case["salvageable"], name


def test_hostile_record_files_get_the_expected_verdict(shared: Path) -> None:
    cases = hostile(shared, "json")
    assert cases
    for name, case in cases.items():
        data = (shared / "samples/hostile" / name).read_bytes()
        facts = StoreFacts()
        verdict = str(case["verdict"])
        if verdict == "flag:unknown_schema":
            facts.put_root(read_root(data))
            assert [one.code for one in check_all(facts).listed()] == ["unsupported_store_version"], name
            continue
        facts.put_root(read_root(b'{"schema_version":"phase_memory.local_store.v1"}'))
        path = "nodes/node-001.json"
        facts.put_file(record_facts(path, data))
        found = [one for one in check_all(facts).listed() if one.file == path]
        refused = [one.details["cause"] for one in found if one.code == "malformed_record_file"]
        mismatch = [one for one in found if one.code == "filename_id_mismatch"]
        assert refused == ([verdict.removeprefix("bad:")] if verdict.startswith("bad:") else []), name
        assert bool(mismatch) == (verdict == "flag:id_filename_mismatch"), name
