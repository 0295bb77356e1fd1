"""The demo's four accounts, one for each role and one that administers."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from django.contrib.auth.models import Group
from django.db import transaction

from stores import audit
from stores.models import User

ROLES = ("viewer", "reviewer", "operator")
ADMIN = "admin"
PASSWORD_WORDS = 4
_SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


class Account(NamedTuple):
    """An account of the demo; its password only where it was made now, since nothing but its hash is kept."""

    name: str
    password: str | None


def make_accounts(*, new_passwords: bool, by: str) -> list[Account]:
    """Make the accounts that are missing, and new passwords for all where asked; `by` is who does so, for the audit."""
    return [_make(name, new_passwords, by) for name in (*ROLES, ADMIN)]


def _make(name: str, new_password: bool, by: str) -> Account:
    user = User.objects.filter(username=name).first()
    if user is not None and not new_password:
        return Account(name, None)
    password = _password()
    with transaction.atomic():
        event: audit.Event = "password_changed" if user is not None else "account_added"
        user = user or User(username=name, is_superuser=name == ADMIN, is_staff=name == ADMIN)
        user.set_password(password)
        user.save()
        if name in ROLES:
            user.groups.add(Group.objects.get(name=name))
        audit.record(event, actor=None, actor_label=by, object_label=name, through="terminal")
    return Account(name, password)


def _password() -> str:
    """Give four words of three syllables: 74 bits that one can type."""
    return "-".join("".join(secrets.choice(_SYLLABLES) for _ in range(3)) for _ in range(PASSWORD_WORDS))
