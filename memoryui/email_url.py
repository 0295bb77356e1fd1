"""Reads MEMORYUI_EMAIL_URL: which of Django's ways of sending mail is used, and how."""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urlsplit

TIMEOUT_S: Final = 10
_BACKENDS: Final = {
    "smtp": "smtp",
    "smtps": "smtp",
    "smtp+tls": "smtp",
    "console": "console",
    "file": "filebased",
    "memory": "locmem",
}
_PORTS: Final = {"smtp": 25, "smtps": 465, "smtp+tls": 587}


class MailWay(NamedTuple):
    """A backend of `django.core.mail` and what it is made with."""

    backend: str
    options: dict[str, Any]


def read_email_url(url: str) -> MailWay:
    """Give how mail is sent; raises ValueError, whose text holds nothing of the URL."""
    read = urlsplit(url)
    name = _BACKENDS.get(read.scheme)
    if name is None:
        raise ValueError(f"it begins with one of {', '.join(f'{scheme}://' for scheme in _BACKENDS)}")
    options: dict[str, Any] = {}
    if name == "smtp":
        if not read.hostname:
            raise ValueError("it names no mail server")
        options = {
            "host": read.hostname,
            "port": read.port or _PORTS[read.scheme],
            "username": unquote(read.username or ""),
            "password": unquote(read.password or ""),
            "use_tls": read.scheme == "smtp+tls",
            "use_ssl": read.scheme == "smtps",
            "timeout": TIMEOUT_S,
        }
    elif name == "filebased":
        if not read.path.startswith("/") or read.netloc:
            raise ValueError("file:// is followed by the whole path of a folder")
        options = {"file_path": unquote(read.path)}
    return MailWay(f"django.core.mail.backends.{name}.EmailBackend", options)
