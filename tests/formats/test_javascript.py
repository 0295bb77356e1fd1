"""The verdict on a line is that of Node's `JSON.parse`."""

from __future__ import annotations

import base64
import json
import random
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import javascript
from stores.formats.javascript import TOO_DEEP, parse, parse_exactly, scan

NODE = shutil.which("node")
ASK_NODE = """
const lines = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(lines.map(line => {
  try { JSON.parse(Buffer.from(line, "base64").toString("utf8")); return true } catch { return false }
})));
"""

ACCEPTED = [
    b'{"a":1}',
    b' {"a" : [1 , -0.5e+3] }\r',
    b"null",
    b"42",
    b'"x"',
    b"[]",
    b"1e999",
    b"-0",
    b'{"a":1,"a":2}',
    b'"\\ud83d"',
    b'"\\u0000"',
    b'"\xff\xfe"',
    b'"\xed\xa0\x80"',
    '"a\u2028b\u0085c\u00a0d"'.encode(),
    b'"\x7f"',
    b"9" * 5000,
    b"[" * 201 + b"]" * 201,
    b'{"a":' * 20000 + b"1" + b"}" * 20000,
]
REFUSED = [
    b"",
    b"   ",
    b"NaN",
    b'{"a":NaN}',
    b'{"a":-Infinity}',
    b"\xef\xbb\xbf{}",
    '{"a":1}\u00a0'.encode(),
    b'{"a":1}\x0b',
    b'{"a":1}\x00',
    b'{"a":1}{"b":2}',
    b'{"a":1,}',
    b"[1,]",
    b"{'a':1}",
    b"{a:1}",
    b"// x",
    b'"a\tb"',
    b'"\\x41"',
    b'"\\ud83',
    b"01",
    b"1.",
    b".5",
    b"+1",
    b"- 1",
    b"1e",
    b"[" * 20000,
    b"[" * 300 + b"}" * 300,
    b"tru",
    b'{"a" 1}',
    b'{"a":1 "b":2}',
    b"{,}",
    b"[,]",
    b'{1:"a"}',
    '{"a":\u0661}'.encode(),
    b"\xff\xfe{\x00}\x00",
]


@pytest.mark.parametrize("line", ACCEPTED, ids=lambda line: repr(line[:20]))
def test_what_json_parse_takes_is_taken(line: bytes) -> None:
    assert parse(line).accepted
    assert parse(line).cause == ""


@pytest.mark.parametrize("line", REFUSED, ids=lambda line: repr(line[:20]))
def test_what_json_parse_refuses_is_refused_with_a_cause(line: bytes) -> None:
    assert not parse(line).accepted
    assert parse(line).cause in ("nan", "bad_json")


@pytest.mark.parametrize(
    ("line", "warnings"),
    [
        (b'{"a":1}', ()),
        (b'{"a":"\xff"}', ("bad_utf8",)),
        ('{"a":"\ufffd"}'.encode(), ()),
        (b'{"a":1,"a":1}', ("dup_key",)),
        (b'{"x":{"a":1,"b":2,"a":3}}', ("dup_key",)),
        (b'{"a":1,"\\u0061":2}', ("dup_key",)),
        (b'{"a":1, "a" :2}', ("dup_key",)),
        (b'{"a":"\\":","b":{"a":1}}', ()),
        (b'{"a":1e999}', ("nan",)),
        (b'{"a":-1e999}', ("nan",)),
        (b'{"a":"1e999"}', ()),
        (b'{"a":"\\ud800"}', ("lone_surrogate",)),
        (b'{"\\udc00":1}', ("lone_surrogate",)),
        (b'{"a":"\\ud83d\\ude00"}', ()),
        (b'{"a":"\\\\ud800"}', ()),
        (b'{"a":"\\u0000"}', ("nul",)),
        (b'{"a":"\\\\u0000"}', ()),
        (b'{"a":9223372036854775807}', ()),
        (b'{"a":9223372036854775808}', ("int_range",)),
        (b'{"a":18446744073709551615}', ("int_range",)),
        (b'{"a":-9223372036854775808}', ()),
        (b'{"a":-9223372036854775809}', ("int_range",)),
        (b'{"a":' + b"9" * 5000 + b"}", ("int_range",)),
        (b'{"a":"99999999999999999999"}', ()),
        (b'{"a":1e-999}', ()),
        (b"[" * 200 + b"]" * 200, ()),
        (b"[" * 201 + b"]" * 201, ("too_deep",)),
        (b'{"a":"' + b"[{" * 5000 + b'"}', ()),
    ],
    ids=lambda case: repr(case[:24]),
)
def test_what_is_odd_about_a_line_is_named(line: bytes, warnings: tuple[str, ...]) -> None:
    assert parse(line).accepted
    assert parse(line).warnings == warnings


def test_a_value_nested_too_deep_is_taken_without_its_value() -> None:
    for line in (b"[" * 201 + b"]" * 201, b"[" * 20000 + b"]" * 20000):
        assert parse(line).value is TOO_DEEP
    assert parse(b"[" * 200 + b"]" * 200).value is not TOO_DEEP


def test_numbers_are_not_rounded_and_the_last_of_two_keys_wins() -> None:
    assert parse(b'{"n":9007199254740993,"m":1234567890123456789012345}').value == {"n": 9007199254740993, "m": 1234567890123456789012345}
    assert parse(b'{"a":1,"a":2}').value == {"a": 2}
    assert parse(b'{"a":0.1000000000000000055511151231257827}').value == {"a": 0.1}


def test_trim_removes_what_javascript_removes_and_nothing_else() -> None:
    removed = "".join(chr(code) for code in range(0x10000) if not 0xD800 <= code < 0xE000 and javascript.trim(chr(code)) == "")
    assert (
        removed
        == "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
    )


def test_a_line_that_might_need_trimming_is_seen_from_its_end() -> None:
    assert not javascript.may_need_trim(b'{"a":1}')
    assert not javascript.may_need_trim(b'{"a":1} \t\r')
    for space in ("\u00a0", "\v", "\f", "\ufeff", "\u3000"):
        assert javascript.may_need_trim(f'{{"a":1}}{space}\r'.encode())


def test_millions_of_brackets_are_judged_in_short_time() -> None:
    assert scan("[" * 500_000) == 500_000
    assert scan("[" + "[]," * 100_000 + "[]]") == -1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
TOKENS = st.lists(
    st.sampled_from(
        [
            *'{}[],:" \t\r\\',
            "\u00a0",
            "\ufeff",
            "0",
            "1",
            "-",
            ".",
            "e",
            "1e999",
            "true",
            "null",
            "NaN",
            '"a"',
            '"b":',
            "\\u0041",
            "\\ud83d",
            "\x00",
            "é",
        ]
    ),
    max_size=12,
).map("".join)


@given(json_values, st.booleans(), st.sampled_from([(",", ":"), (", ", ": ")]))
def test_every_json_value_is_taken_as_it_is(value: object, ascii_only: bool, separators: tuple[str, str]) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only, separators=separators).encode("utf-8", "surrogatepass")
    found = parse(line)
    assert found.accepted
    assert found.value == value
    assert set(found.warnings) <= {"int_range", "lone_surrogate", "nul"}


@given(st.one_of(st.binary(max_size=60), TOKENS.map(str.encode), json_values.map(lambda value: json.dumps(value).encode())))
def test_the_quick_way_says_what_the_exact_way_says(line: bytes) -> None:
    assert parse(line) == parse_exactly(line)


@given(st.one_of(TOKENS, json_values.map(json.dumps)))
def test_the_scanner_decides_as_the_decoder_does(text: str) -> None:
    assert (scan(text) < 0) == parse_exactly(text.encode()).accepted


@pytest.mark.skipif(NODE is None, reason="Node is not installed")
def test_node_itself_says_the_same() -> None:
    rnd = random.Random(20261130)  # noqa: S311
    seeds = [*ACCEPTED[:-1], *REFUSED, b'{"id":"x","content":{"what":"caf\xc3\xa9 \\u00e9"},"entities":[1.5,true,null]}']
    lines = list(seeds)
    for _ in range(6000):
        line = bytearray(rnd.choice([seed for seed in seeds if len(seed) < 200]))
        for _ in range(rnd.randrange(1, 4)):
            place = rnd.randrange(len(line) + 1)
            line[place : place + rnd.randrange(2)] = rnd.choice(
                [b"", b'"', b"\\", b",", b"}", b"\xc2\xa0", b"\xff", b"1", b"\t", b"\x01", b":", b"\r"]
            )
        lines.append(bytes(line).replace(b"\n", b""))
    asked = json.dumps([base64.b64encode(line).decode() for line in lines])
    answer = subprocess.run([NODE or "node", "-e", ASK_NODE], input=asked, capture_output=True, text=True, check=True, timeout=120)
    different = [line for line, taken in zip(lines, json.loads(answer.stdout), strict=True) if parse(line).accepted != taken]
    assert different == []
