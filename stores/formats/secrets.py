"""Finds what looks like a secret in memory text, so that no page, export or log shows it (ruling 20)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from stores.formats.storable import NAME_LIMIT, TITLE_LIMIT


class Secret(NamedTuple):
    """A place in a text that looks like a secret."""

    start: int
    end: int
    kind: str


_Finder = Callable[[str], Iterator[Secret]]
_SHORTEST_PASSWORD: Final = 3
_SHORTEST_TOKEN: Final = 8
_HARMLESS: Final = re.compile(
    r"(?:\$|\{\{|<|%\(|\[|process\.env|os\.environ|env\.|getenv|null\b|none\b|true\b|false\b|undefined\b|[*.xX•…]+$|masked\b|redacted\b)",
    re.IGNORECASE,
)
"""Beginnings of values that only stand for a secret."""


def find_secrets(text: str) -> tuple[Secret, ...]:
    """Find keys, tokens, passwords and private keys in a text, in order and without overlap; its time grows with the text only.

    Of a name or title that was cut also what begins a secret right before the cut, however little of it is there.
    """
    lowered = text.lower()
    found = [secret for signs, finder in _FINDERS if any(sign in lowered for sign in signs) for secret in finder(text)]
    found += _begun(text)
    if len(found) < 2:
        return tuple(found)
    found.sort()
    merged = [found[0]]
    for secret in found[1:]:
        last = merged[-1]
        if secret.start < last.end:
            merged[-1] = last._replace(end=max(last.end, secret.end))
        else:
            merged.append(secret)
    return tuple(merged)


def mask(text: str) -> str:
    """Put words such as "masked, 18 characters" in the place of each secret."""
    parts: list[str] = []
    position = 0
    for secret in find_secrets(text):
        parts += (text[position : secret.start], f"masked, {secret.end - secret.start:,} characters")
        position = secret.end
    return "".join([*parts, text[position:]]) if parts else text


def mask_nested(value: Any) -> Any:
    """Give a value of JSON with `mask` applied to each text in it, also to the names of fields; tuples become lists."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, dict):
        return {mask(name): mask_nested(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [mask_nested(one) for one in value]
    return value


def _shaped(kind: str, pattern: str, flags: int = 0) -> _Finder:
    """Make a finder of tokens that are known by their shape; a named group `secret` narrows what is hidden.

    Every pattern begins where a word begins and takes what it takes possessively, so that no place is looked at twice.
    """
    compiled = re.compile(pattern, re.ASCII | flags)
    group = "secret" if "secret" in compiled.groupindex else 0

    def find(text: str) -> Iterator[Secret]:
        for match in compiled.finditer(text):
            yield Secret(match.start(group), match.end(group), kind)

    return find


def _private_keys(text: str) -> Iterator[Secret]:
    """Find PEM blocks; one that is cut off hides everything behind it."""
    position = 0
    while True:
        begin = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY").search(text, position)
        if begin is None:
            return
        end = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----").search(text, begin.end())
        position = end.end() if end else len(text)
        yield Secret(begin.start(), position, "private key")


_ASSIGNED: Final = re.compile(
    r"""(?P<word>pass(?:word|wd|phrase)|pwd|secret|token|credential|(?:api|access|private|encryption|signing|auth)[ _-]?key)
        (?:[_-]?(?:access[_-]?key|key|value|string|id|hash|base|s)){0,2}+
        (?P<closing>\\{0,3}+["'`]?+)
        \s{0,4}+(?P<sign>=>|:=|=|:|\bis\b)\s{0,4}+
        (?:
            (?P<escape>\\{0,3}+)(?P<quote>["'`])(?P<quoted>[^"'`\\\n]{1,512}+)
          | (?P<bare>[^\s"'`,;\\]{1,512}+)
        )""",
    re.IGNORECASE | re.VERBOSE,
)


def _assigned(text: str) -> Iterator[Secret]:
    """Find values that are given to words such as `password=`, `"secret": "…"` or `token is …`."""
    for match in _ASSIGNED.finditer(text):
        group = "quoted" if match["quoted"] else "bare"
        value = match[group]
        if _looks_secret(text, match, value):
            yield Secret(match.start(group), match.end(group), "password" if match["word"].lower().startswith(("pass", "pwd")) else "token")


def _looks_secret(text: str, match: re.Match[str], value: str) -> bool:
    if _HARMLESS.match(value):
        return False
    is_password = match["word"].lower().startswith(("pass", "pwd"))
    strict = match["sign"] != "is"
    if is_password and strict:
        if match["word"].lower() == "pwd" and value.startswith(("/", "~")):
            return False
        if match["quoted"] or match["sign"] == "=":
            return len(value) >= _SHORTEST_PASSWORD
        return len(value) >= _SHORTEST_PASSWORD and (not value.isalpha() or _ends_there(text, match.end()))
    return len(value) >= _SHORTEST_TOKEN and " " not in value and _is_mixed(value)


def _ends_there(text: str, position: int) -> bool:
    """Say that no sentence goes on behind the value."""
    return not text[position : position + 2].strip(" ,;.\"'`)}]\n\r\t\\")


def _is_mixed(value: str) -> bool:
    """Say that a value is no word and no number: letters with digits, or both cases within."""
    letters = any(character.isalpha() for character in value)
    digits = any(character.isdigit() for character in value)
    return letters and (digits or (value[1:].lower() != value[1:] and value.upper() != value))


_FINDERS: Final[tuple[tuple[tuple[str, ...], _Finder], ...]] = (
    (
        ("akia", "asia", "aroa", "aida", "agpa", "abia", "acca"),
        _shaped("AWS key", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|AGPA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ),
    (("sk-",), _shaped("API key", r"(?<![A-Za-z0-9_-])sk-(?=[A-Za-z_-]{0,64}+[0-9])[A-Za-z0-9_-]{16,}+")),
    (("k_live_", "k_test_"), _shaped("Stripe key", r"(?<![A-Za-z0-9_])[rsp]k_(?:live|test)_[A-Za-z0-9]{10,}+")),
    (
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        _shaped("GitHub token", r"(?<![A-Za-z0-9_])(?:gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+)"),
    ),
    (("glpat-",), _shaped("GitLab token", r"(?<![A-Za-z0-9_-])glpat-[A-Za-z0-9_-]{16,}+")),
    (("xox", "xapp-"), _shaped("Slack token", r"(?<![A-Za-z0-9-])(?:xox[abceoprs]-[A-Za-z0-9-]{8,}+|xapp-[A-Za-z0-9-]{8,}+)")),
    (("hooks.slack.com",), _shaped("Slack webhook", r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]{8,}+)")),
    (("aiza",), _shaped("Google key", r"(?<![A-Za-z0-9_-])AIza[A-Za-z0-9_-]{30,}+")),
    (("npm_",), _shaped("npm token", r"(?<![A-Za-z0-9_])npm_[A-Za-z0-9]{30,}+")),
    (("pypi-",), _shaped("PyPI token", r"(?<![A-Za-z0-9_-])pypi-[A-Za-z0-9_-]{30,}+")),
    (("hf_",), _shaped("Hugging Face token", r"(?<![A-Za-z0-9_])hf_[A-Za-z0-9]{24,}+")),
    (("private key",), _private_keys),
    (("eyj",), _shaped("JSON web token", r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_-]{6,}+\.eyJ[A-Za-z0-9_-]{2,}+(?:\.[A-Za-z0-9_-]*+)?")),
    (("://",), _shaped("password in an address", r"://[^\s/:@\"'<>]{0,128}+:(?P<secret>[^\s/\"'<>]{1,256})@")),
    (
        ("bearer ", "basic "),
        _shaped(
            "authorization",
            r"(?<![A-Za-z])(?:bearer|basic) {1,4}+(?P<secret>(?=[A-Za-z._~+/=-]{0,64}[0-9A-Z])[A-Za-z0-9._~+/=-]{16,}+)",
            re.IGNORECASE,
        ),
    ),
    (("pass", "pwd", "secret", "token", "credential", "key"), _assigned),
)
"""Signs (small letters), one of which must occur, and the finder that then looks closely."""

_CUT_NAME: Final = re.compile(r"…[0-9a-f]{8}")
_BEGINNINGS: Final = (
    _shaped("AWS key", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|AGPA|ABIA|ACCA)[A-Z0-9]++\Z"),
    _shaped("API key", r"(?<![A-Za-z0-9_-])(?:sk-|glpat-|xox[abceoprs]-|xapp-|AIza|pypi-)[A-Za-z0-9_-]++\Z"),
    _shaped("API key", r"(?<![A-Za-z0-9_])(?:[rsp]k_(?:live|test)_|gh[pousr]_|github_pat_|npm_|hf_)[A-Za-z0-9_]++\Z"),
    _shaped("JSON web token", r"(?<![A-Za-z0-9_.-])eyJ[A-Za-z0-9_.-]++\Z"),
    _shaped("Slack webhook", r"hooks\.slack\.com/services/(?P<secret>[A-Za-z0-9/]++)\Z"),
    _shaped("password in an address", r"://[^\s/:@\"'<>]{0,128}+:(?![0-9]{1,5}\Z)(?P<secret>[^\s/\"'<>]++)\Z"),
    _shaped("authorization", r"(?<![A-Za-z])(?:bearer|basic) {1,4}+(?P<secret>[A-Za-z0-9._~+/=-]++)\Z", re.IGNORECASE),
)


def _begun(text: str) -> Iterator[Secret]:
    """Find what begins a secret where a name or a title was cut: its end, by which it would be known, is not there."""
    if len(text) in (NAME_LIMIT, TITLE_LIMIT):
        end = len(text)
    elif len(text) > NAME_LIMIT and _CUT_NAME.fullmatch(text, NAME_LIMIT):
        end = NAME_LIMIT
    else:
        return
    there = text[:end]
    for finder in _BEGINNINGS:
        yield from finder(there)
    for match in _ASSIGNED.finditer(there):
        group = "quoted" if match["quoted"] else "bare"
        if match.end() == end and not _HARMLESS.match(match[group]):
            yield Secret(match.start(group), end, "password" if match["word"].lower().startswith(("pass", "pwd")) else "token")
