"""Who remembers something: the chain by which OrchestKit names a person, without running git (docs/formats.md)."""

from __future__ import annotations

import hashlib
import os
import re
import socket
from collections.abc import Iterable
from pathlib import Path

from stores.errors import StoreUnreadable
from stores.files import CannotRead, StoreRoot
from stores.formats.orchestkit import Identity
from stores.formats.orchestkit.values import mapping, parse_raw

IDENTITY_FILE = ".claude/.user_identity.json"
MOST_BYTES = 1024 * 1024
_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)\s*(?:"(?:[^"\\]|\\.)*"\s*)?\]')
_EMAIL = re.compile(r"\s*email\s*=\s*(.*)", re.IGNORECASE)


def identity_of(project: str) -> Identity:
    """Give who works on a project: its identity file, else git's e-mail address, else the account's name, else nobody in particular."""
    machine = socket.gethostname() or "unknown-machine"
    configured = mapping(parse_raw(_read(project, IDENTITY_FILE)).value)
    team = configured.get("team_id")
    team_id = team if isinstance(team, str) else ""
    own = configured.get("user_id")
    if isinstance(own, str) and own:
        return Identity(own, machine, team_id)
    email = git_email(project)
    if email:
        return Identity(email, machine, team_id)
    account = next((os.environ[name] for name in ("USER", "USERNAME", "LOGNAME") if os.environ.get(name)), "")
    if account:
        return Identity(f"{account}@{machine}", machine, team_id)
    return Identity(f"anon-{hashlib.sha256(machine.encode()).hexdigest()[:8]}", machine, team_id)


def git_email(project: str) -> str:
    """Give the e-mail address that git would use in a project; "" where none is configured.

    Files that a configuration includes are not followed.
    """
    home = str(Path("~").expanduser())
    config = os.environ.get("XDG_CONFIG_HOME") or f"{home}/.config"
    places = [("/etc", "gitconfig"), (config, "git/config"), (home, ".gitconfig"), (project, _git_config(project))]
    found = ""
    for folder, path in places:
        found = email_in(_read(folder, path).decode("utf-8", "replace").splitlines()) or found
    return found


def email_in(lines: Iterable[str]) -> str:
    """Give the address in the `[user]` sections of a git configuration, the last one; "" where none is."""
    section, found = "", ""
    for line in lines:
        heading = _SECTION.match(line)
        if heading:
            section, line = heading[1].lower(), line[heading.end() :]
        given = _EMAIL.match(line) if section == "user" else None
        if given:
            found = re.split(r"\s[#;]", given[1])[0].strip().strip('"')
    return found


def _git_config(project: str) -> str:
    """Give the path of the repository's own configuration below the project; of a linked work tree it lies elsewhere, and is left out."""
    return ".git/config" if Path(project, ".git").is_dir() else ""


def _read(folder: str, path: str) -> bytes:
    try:
        with StoreRoot(folder) as root:
            return root.read(path, MOST_BYTES)
    except (CannotRead, StoreUnreadable):
        return b""
