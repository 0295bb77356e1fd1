"""Texts of records in the words of pages: what hides a secret before it is changed or cut."""

from __future__ import annotations

import pytest

from stores.memory_words import id_text, label_of, plain, short, spaced

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
BODY = SECRET[4:14]
BEHIND = f"a long text in front of {SECRET}"


def test_a_word_of_a_format_is_written_without_underscores() -> None:
    assert spaced("delete_requested") == "delete requested"


@pytest.mark.parametrize("text", [SECRET, f"state_of {SECRET}", "api_key=a1B2c3D4e5"])
def test_a_word_that_holds_a_secret_stays_one_that_is_known(text: str) -> None:
    assert spaced(text) == text


@pytest.mark.parametrize("limit", [10, 24, 30, 40, 48, 60, 64, 68, 100])
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(limit: int) -> None:
    assert BODY[:6] not in short(BEHIND, limit)
    assert BODY[:6] not in id_text(BEHIND, limit)


def test_a_text_is_cut_at_its_limit_and_one_that_fits_once_it_is_masked_is_not() -> None:
    assert short("abcdef", 4) == "<bdi>abcd…</bdi>"
    assert short("abcd", 4) == "<bdi>abcd</bdi>"
    assert "…" not in short(BEHIND, 50)
    assert "masked, 44 characters" in short(BEHIND, 50)


def test_an_id_that_is_not_given_is_none() -> None:
    assert "none" in id_text(" ")
    assert "not given" in short(" ", 40)


def test_labels_and_lines_hold_neither_secrets_nor_what_is_unseen() -> None:
    assert label_of("is_generalizable") == "Is generalizable"
    assert label_of(" _ ") == "(no name)"
    assert BODY not in label_of(f"name {SECRET} {SECRET}")
    assert plain(f" key {SECRET}\u202e\nend ") == "key masked, 44 characters\\u{202E}⏎end"
