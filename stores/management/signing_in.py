"""Who decides from a terminal: a name, and the password or a personal token that proves it (ruling 12)."""

from __future__ import annotations

import getpass
import os
import sys
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandParser

from stores import accounts, sign_ins
from stores.management.base import Refused, terminal_actor
from stores.models import User

TOKEN: Final = "MEMORYUI_TOKEN"  # noqa: S105  name of a variable
_LONGEST: Final = 4096


@dataclass(frozen=True, slots=True)
class Person:
    """An account, and how it was proved."""

    user: User
    password_given: bool
    """False for a token, which is not enough for what takes something away."""
    is_asked: bool
    """Whether somebody sits at the terminal and can be asked."""


def add_sign_in_arguments(parser: CommandParser) -> None:
    """Declare who decides."""
    parser.add_argument("--as", dest="username", required=True, metavar="USER", help="the account that decides; its password is asked for")
    parser.add_argument(
        "--password-stdin",
        action="store_true",
        help=f"read the password from standard input, for scripts; {TOKEN}, a personal token with the scope review, does as well",
    )


def sign_in(options: dict[str, Any]) -> Person:
    """Give who decides; raises Refused, exit code 2, where nobody proves it. Failures are throttled and audited."""
    username, by_pipe = options["username"], options["password_stdin"]
    if by_pipe:
        return Person(_by_password(username, sys.stdin.readline(_LONGEST).rstrip("\r\n")), True, False)
    token = os.environ.get(TOKEN, "")
    if token:
        return Person(_by_token(username, token), False, sys.stdin.isatty())
    if not sys.stdin.isatty():
        raise Refused(
            f"Nothing proves that you are {username}: use a terminal, --password-stdin, or {TOKEN} with a token of the scope review."
        )
    return Person(_by_password(username, getpass.getpass(f"Password of {username}: ")), True, True)


def _by_password(username: str, password: str) -> User:
    request = sign_ins.TerminalRequest(terminal_actor())
    user = sign_ins.confirmed(request, username, password)
    if user is not None:
        return user
    if getattr(request, "axes_locked_out", False):
        minutes = round(settings.AXES_COOLOFF_TIME * 60)
        raise Refused(f"Too many failed tries with this name: wait {minutes} minutes.")
    raise Refused("Name and password do not match an account that may sign in.")


def _by_token(username: str, text: str) -> User:
    found = accounts.token_owner(text)
    wanted = User.normalize_username(username)
    if found is None or found[1].scope != "review" or found[0].username != wanted:
        sign_ins.note_refused_token(sign_ins.TerminalRequest(terminal_actor()), username)
        raise Refused(f"{TOKEN} is no valid token with the scope review of the account {username}.")
    return found[0]
