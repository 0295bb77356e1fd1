"""Who remembers: identity file, then git's e-mail without running git, then the account."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from stores.apply.identity import email_in, identity_of


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a project of an account that has nothing configured but its name."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("USER", "ines")
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    (made / ".claude").mkdir()
    return made


def test_the_account_names_the_person_last(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert identity_of(str(project)).user_id == f"ines@{socket.gethostname()}"
    for name in ("USER", "USERNAME", "LOGNAME"):
        monkeypatch.delenv(name, raising=False)
    nobody = identity_of(str(project)).user_id
    assert nobody.startswith("anon-") and len(nobody) == len("anon-") + 8


def test_git_names_the_person_before_the_account_does(project: Path, tmp_path: Path) -> None:
    (tmp_path / "home" / ".gitconfig").write_text("[user]\n\tname = I\n\temail = home@example.org\n")
    assert identity_of(str(project)).user_id == "home@example.org"
    (project / ".git" / "config").write_text('[core]\n\temail = no\n[user]\n\tEmail = "project@example.org" ; mine\n')
    assert identity_of(str(project)).user_id == "project@example.org"


def test_the_identity_file_wins_and_a_broken_one_does_not(project: Path) -> None:
    (project / ".git" / "config").write_text("[user]\nemail=project@example.org\n")
    place = project / ".claude" / ".user_identity.json"
    place.write_text(json.dumps({"user_id": "lead@example.org", "team_id": "core"}))
    told = identity_of(str(project))
    assert (told.user_id, told.team_id, told.machine_id) == ("lead@example.org", "core", socket.gethostname())
    for broken in ("{", "[]", '{"user_id": 7}', ""):
        place.write_text(broken)
        assert identity_of(str(project)).user_id == "project@example.org"


def test_a_link_is_not_followed_to_an_identity(project: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text(json.dumps({"user_id": "somebody@example.org"}))
    (project / ".claude" / ".user_identity.json").symlink_to(tmp_path / "other.json")
    assert identity_of(str(project)).user_id == f"ines@{socket.gethostname()}"


@pytest.mark.parametrize(
    ("text", "email"),
    [
        ("", ""),
        ("email = a@b\n", ""),
        ("[user] email = a@b\n", "a@b"),
        ("[USER]\nemail = a@b # c\n", "a@b"),
        ('[user "x"]\n[alias]\nemail = a@b\n', ""),
        ("[user]\nemail = a@b\nemail = c@d\n", "c@d"),
        ("[user]\n# email = a@b\n", ""),
    ],
)
def test_the_address_stands_in_the_section_of_the_user(text: str, email: str) -> None:
    assert email_in(text.split("\n")) == email
