"""Values that look like secrets are found and masked, memory text is left alone."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stores.formats import storable
from stores.formats.secrets import find_secrets, mask, mask_nested

TAIL = "abcdefghijklmnopqrstuvwxyz0123456789"


@pytest.mark.parametrize(
    ("text", "secret", "kind"),
    [
        ("key AKIAIOSFODNN7EXAMPLE.", "AKIAIOSFODNN7EXAMPLE", "AWS key"),
        (f"use sk-proj-{TAIL}", f"sk-proj-{TAIL}", "API key"),
        (f"ghp_{TAIL}", f"ghp_{TAIL}", "GitHub token"),
        (f"(github_pat_11ABC_{TAIL})", f"github_pat_11ABC_{TAIL}", "GitHub token"),
        ("xoxb-123456789-abcdefgh", "xoxb-123456789-abcdefgh", "Slack token"),
        (f"AIzaSy{TAIL}", f"AIzaSy{TAIL}", "Google key"),
        (f"sk_live_{TAIL}", f"sk_live_{TAIL}", "Stripe key"),
        ("postgres://app:hunter2@db:5432/x", "hunter2", "password in an address"),
        ("amqp://app:p@ss:w0rd@mq", "p@ss:w0rd", "password in an address"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk", "JSON web token"),
        ("Authorization: Bearer abcdef0123456789XYZ", "abcdef0123456789XYZ", "authorization"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY-----", None, "private key"),
        ("-----BEGIN OPENSSH PRIVATE KEY-----\\nb3Blb cut off", None, "private key"),
        ("password=hunter2", "hunter2", "password"),
        ("PASSWORD: hunter2, then go on", "hunter2", "password"),
        ("the password: hunter", "hunter", "password"),
        ("DB_PASSWORD='x y z'", "x y z", "password"),
        ('{"password": "correct horse"}', "correct horse", "password"),
        ('{\\"dbPassword\\":\\"hunter2\\"}', "hunter2", "password"),
        ("secret: s3cr3tV4lue", "s3cr3tV4lue", "token"),
        ("my token is abcDEF123456", "abcDEF123456", "token"),
        ('"api_key": "9f8e7d6c5b4a"', "9f8e7d6c5b4a", "token"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "token"),
        ("client_secret=abc123def456", "abc123def456", "token"),
        ("https://hooks.slack.com/services/T00000/B00000/XXXX", "T00000/B00000/XXXX", "Slack webhook"),
    ],
)
def test_a_secret_is_found_at_its_place(text: str, secret: str | None, kind: str) -> None:
    (found,) = find_secrets(text)
    assert text[found.start : found.end] == (text if secret is None else secret)
    assert found.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "the password: use bcrypt with cost 12",
        "use a token bucket: rate limiting",
        "session token: jwt instead of cookies",
        "max_tokens=4096 and tokenizer: cl100k_base",
        "token: 4096",
        "password=${DB_PASSWORD}",
        "password = process.env.DB_PASSWORD",
        "password: <your password>",
        "secret: null",
        "pwd=/home/dana/project",
        "primary key: id",
        "store the api key: in Vault",
        "decision-mlggszlr-rkp1k1 by 95cc258f-5eba-44fe-92d4-727459e353eb",
        "https://example.com:8080/path@x",
        "http://[::1]:8000/",
        "task-sk-learn is a name",
        "passwords are hashed with argon2",
        "we chose jwt since the api must be stateless",
    ],
)
def test_memory_text_without_a_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == ()
    assert mask(text) == text


def test_masking_says_how_long_the_secret_is_and_keeps_the_rest() -> None:
    assert (
        mask("a password=hunter2 and postgres://u:pw123@h/") == "a password=masked, 7 characters and postgres://u:masked, 5 characters@h/"
    )


def test_every_text_of_a_nested_value_is_masked_and_the_rest_kept() -> None:
    secret = "ghp_" + "a1B2" * 9
    given = {"of": [secret, {"deep": ({"deeper": secret}, 3, None, True)}], secret: 1.5}
    masked = "masked, 40 characters"
    assert mask_nested(given) == {"of": [masked, {"deep": [{"deeper": masked}, 3, None, True]}], masked: 1.5}


def test_secrets_that_overlap_are_one() -> None:
    text = f"token=ghp_{TAIL}"
    assert mask(text) == "token=masked, 40 characters"


PIECES = st.sampled_from(
    [
        "password",
        "secret",
        "token",
        "=",
        ":",
        " is ",
        '"',
        "'",
        "\\",
        " ",
        "\n",
        "hunter2",
        "://",
        "u:",
        "@",
        "eyJ",
        ".",
        "sk-",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----",
        "é",
        "x1Y2z3W4",
    ]
)


@given(st.lists(PIECES, max_size=20).map("".join))
def test_found_places_are_in_order_without_overlap_and_masking_drops_them(text: str) -> None:
    found = find_secrets(text)
    end = 0
    for secret in found:
        assert end <= secret.start < secret.end <= len(text)
        end = secret.end
    if not found:
        assert mask(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "eyJ" * 200_000,
        "eyJa.eyJ" * 100_000,
        "password" * 80_000,
        "password=" * 60_000,
        "://:" * 150_000,
        "://a:b" * 100_000,
        "x://a:" + "@" * 600_000,
        "sk-" * 200_000,
        "-----BEGIN PRIVATE KEY" * 20_000,
        "bearer " * 80_000,
        " " * 600_000 + "key",
        "token  :  " * 60_000,
        'secret\\\\\\"' * 50_000,
    ],
    ids=lambda text: text[:12],
)
def test_hostile_text_is_searched_in_linear_time(text: str) -> None:
    start = time.process_time()
    find_secrets(text)
    assert time.process_time() - start < 5


BEGUN = [
    ("key ", "AKIA", "IOSFODNN7EXAMPLE"),
    ("use ", "sk-", f"proj-{TAIL}"),
    ("", "ghp_", TAIL),
    ("(", "github_pat_", f"11ABC_{TAIL}"),
    ("", "glpat-", TAIL),
    ("", "xoxb-", "123456789-abcdefgh"),
    ("", "AIza", f"Sy{TAIL}"),
    ("", "sk_live_", TAIL),
    ("", "npm_", TAIL),
    ("", "pypi-", TAIL),
    ("", "hf_", TAIL),
    ("at https://hooks.slack.com/services/", "", "T00000/B00000/XXXX"),
    ("postgres://app:", "", "hunter2hunter3"),
    ("", "eyJ", "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmVk"),
    ("Authorization: Bearer ", "", "abcdef0123456789XYZ"),
    ("password=", "", "hunter2"),
    ('{"password": "', "", "correct horse"),
    ("my token is ", "", "abcDEF123456"),
    ("client_secret=", "", "abc123def456"),
]
"""What stands before a secret, the sign by which it is known, and what nobody may see."""


@pytest.mark.parametrize(("lead", "sign", "secret"), BEGUN)
@pytest.mark.parametrize(("cut", "limit"), [(storable.name, storable.NAME_LIMIT), (storable.title, storable.TITLE_LIMIT)])
def test_a_secret_that_was_cut_in_two_does_not_show_its_first_half(
    cut: Callable[[object], str], limit: int, lead: str, sign: str, secret: str
) -> None:
    for shown in range(1, len(secret) + 1):
        before = "chosen by all of us ".ljust(limit - len(lead) - len(sign) - shown, "n")[:-1] + " "
        whole = before + lead + sign + secret + "@db and so on" * 30
        assert mask(cut(whole)).startswith(f"{before}{lead}masked, "), mask(cut(whole))


def test_words_at_a_cut_that_begin_no_secret_stay() -> None:
    for end in (" task-sk-learn", " at http://localhost:8080", " the primary key: id", " a token bucket", " passwords"):
        for cut, limit in ((storable.name, storable.NAME_LIMIT), (storable.title, storable.TITLE_LIMIT)):
            whole = "n" * (limit - len(end)) + end + " which goes on and on" * 30
            assert mask(cut(whole)) == cut(whole)
