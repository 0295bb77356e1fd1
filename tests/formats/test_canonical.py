"""The canonical form equals what Python's own encoder writes, and a file's form is told from its bytes."""

from __future__ import annotations

import json
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats.canonical import Form, canonical, digest, form_of, log_line, pretty

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
scalars = st.none() | st.booleans() | numbers | st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4))
HALF = '{"a":"\\ud83d"}'


@given(values)
def test_the_canonical_form_is_that_of_the_standard_encoder(value: object) -> None:
    value = json.loads(json.dumps(value).replace("\\ud", "\\u0"))
    expected = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert canonical(value) == expected
    assert log_line(value) == expected + b"\n"
    assert digest(value) == "sha256:" + sha256(expected).hexdigest()


@given(st.integers(-40, 40), st.integers(1, 10**9), st.booleans())
def test_small_and_large_numbers_are_spelled_as_the_standard_encoder_does(power: int, digits: int, negative: bool) -> None:
    value = {"a": (-digits if negative else digits) * 10.0**power, "b": [digits * 10.0**power]}
    assert canonical(value) == json.dumps(value, separators=(",", ":")).encode()
    assert pretty(value) == json.dumps(value, indent=2).encode() + b"\n"


@given(st.dictionaries(st.text("aé😀\n", max_size=5), st.text('aé😀"\\\x01', max_size=5) | numbers | st.lists(numbers)))
def test_record_files_are_written_in_four_forms_and_told_apart(value: dict[str, object]) -> None:
    for escaped in (False, True):
        for final_newline in (False, True):
            written = pretty(value, Form(escaped, final_newline))
            text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=escaped) + ("\n" if final_newline else "")
            assert written == text.encode()
            form = form_of(written, value)
            assert form is not None
            assert pretty(value, form) == written
    assert form_of(json.dumps(value, indent=1, sort_keys=True).encode() + b" ", value) is None


@pytest.mark.parametrize(
    "data",
    [
        b'{"a": 1}',
        b'{\n  "b": 1,\n  "a": 2\n}\n',
        b'{\n  "a": 1e5\n}\n',
        b'{\n  "a": 1e16\n}\n',
        b'{\n  "a": 1\n}\n\n',
        b'\xef\xbb\xbf{\n  "a": 1\n}\n',
        b'{\r\n  "a": 1\r\n}\r\n',
        b'{\n  "a": "\\u00e9 \xc3\xa9"\n}\n',
    ],
)
def test_other_forms_are_told(data: bytes) -> None:
    assert form_of(data, json.loads(data.decode("utf-8-sig"))) is None


def test_half_an_emoji_is_written_escaped_and_has_a_digest() -> None:
    value = json.loads(HALF)
    assert canonical(value) == HALF.encode()
    assert pretty(value) == b'{\n  "a": "\\ud83d"\n}\n'
    assert form_of(pretty(value), value) is not None
