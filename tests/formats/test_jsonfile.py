"""The strict reader of single files gives the verdicts of the hostile samples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.jsonfile import SIZE_CAP, read_strict_file

NODE = b'{"id":"node-001","state":"active"}'


@pytest.mark.parametrize(
    ("data", "verdict"),
    [
        (NODE, "ok"),
        (b"\xef\xbb\xbf" + NODE, "ok"),
        (NODE + b"\n", "ok"),
        (b"", "bad:empty"),
        (b" \n", "bad:empty"),
        (NODE[:20], "bad:bad_json"),
        (NODE + b"\n}}", "bad:bad_json"),
        (NODE + NODE, "bad:bad_json"),
        (b"[" + NODE + b"]", "bad:not_object"),
        (NODE.decode().encode("utf-16"), "bad:bad_utf8"),
        (b'{"id":"node-999"}', "flag:id_filename_mismatch"),
        (b'{"id":"../../profiles/admin"}', "bad:bad_id"),
        (b'{"state":"active"}', "bad:bad_id"),
        (b'{"id":"node-001","id":"node-001"}', "bad:dup_key"),
        (b'{"id":"node-001","c":NaN}', "bad:nan"),
        (b'{/* c */"id":"node-001"}', "bad:bad_json"),
        (b'{"id":"node-001","x":' + b"[" * 3000 + b"]" * 3000 + b"}", "bad:too_deep"),
        (b'{"id":"node-001","__proto__":{"x":1},"__class__":1}', "ok"),
        (b" " * SIZE_CAP + NODE, "bad:too_large"),
    ],
    ids=lambda case: repr(case[:24]),
)
def test_a_file_named_by_its_id_is_judged(data: bytes, verdict: str) -> None:
    assert read_strict_file(data, stem="node-001").verdict == verdict


def test_a_file_that_is_not_named_by_an_id_needs_none() -> None:
    assert read_strict_file(b'{"schema_version":"phase_memory.local_store.v1"}').verdict == "ok"
    assert read_strict_file(b'{"schema_version":"phase_memory.local_store.v99"}').verdict == "flag:unknown_schema"
    assert read_strict_file(b'{"id":7}').verdict == "bad:bad_id"


def test_a_kind_may_say_which_schemas_it_knows() -> None:
    data = b'{"schema_version":"other.v3"}'
    assert read_strict_file(data, knows_schema=lambda given: given == "other.v3").verdict == "ok"


@given(st.one_of(st.binary(max_size=80), st.binary(max_size=8).map(lambda piece: NODE[:10] + piece + NODE[10:])))
def test_any_bytes_are_judged_without_an_error(data: bytes) -> None:
    verdict = read_strict_file(data, stem="node-001").verdict
    assert verdict == "ok" or verdict.startswith(("bad:", "flag:"))


def test_the_shared_files_get_the_expected_verdicts(shared: Path) -> None:
    folder = shared / "samples/hostile"
    expected = {name: case for name, case in json.loads((folder / "EXPECT.json").read_bytes()).items() if case["kind"] == "json"}
    assert expected
    for name, case in expected.items():
        stem = None if "store_schema" in name else "node-001"
        found = read_strict_file((folder / name).read_bytes(), stem=stem)
        assert found.verdict == case["verdict"], name
        assert set(case.get("flags", ())) <= set(found.flags), name
