"""Sign-ins: what the throttle counts by, and the audit of each (ruling 20)."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

from axes.models import AccessAttempt
from axes.signals import user_locked_out
from axes.utils import reset
from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from stores import audit
from stores.models import User

NO_ADDRESS = "0.0.0.0"  # noqa: S104  a request by a socket without addresses; nothing is bound to it


class TerminalRequest(HttpRequest):
    """What the throttle is told of a try at a terminal. It has no address: its failures are counted apart from those of pages."""

    def __init__(self, actor: str) -> None:
        super().__init__()
        self.actor = actor
        """Who sits there, as the audit names it."""


def confirmed(request: HttpRequest, username: str, password: str) -> User | None:
    """Give the account whose name and password are given once more for one decision; None where they do not fit.

    Throttled and audited as a sign-in is: while the name is locked out, `request.axes_locked_out` is set and nothing is compared.
    """
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        return None
    reset(ip=client_address(request), username=throttled_name(request, {"username": username}))
    return user


def throttled_name(request: HttpRequest, credentials: dict[str, Any] | None = None) -> str:
    """Give the name under which failures are counted: as accounts are named, so that a change of case starts no new count."""
    given = (credentials or {}).get("username") or request.POST.get("username") or ""
    return User.normalize_username(str(given))[:150]


def client_address(request: HttpRequest) -> str:
    """Give the address that the request came from.

    Behind a trusted proxy that is the last entry of X-Forwarded-For, which the proxy itself has written; the others are hearsay.
    """
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() if settings.TRUSTED_PROXY else ""
    return _address(forwarded) or _address(request.META.get("REMOTE_ADDR", "")) or NO_ADDRESS


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return ""


@receiver(user_logged_in)
def note_sign_in(request: HttpRequest, user: User, **_: Any) -> None:
    """Audit a sign-in."""
    audit.record("signed_in", actor=user, object_label=f"from {client_address(request)}", through="page")


@receiver(user_logged_out)
def note_sign_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    """Audit a sign-out of somebody who was signed in."""
    if user is not None:
        audit.record("signed_out", actor=user, object_label=f"from {client_address(request)}", through="page")


@receiver(user_login_failed)
def note_failure(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """Audit a failed sign-in; while a name is locked out, attempts are not added one by one."""
    if request is not None and not getattr(request, "axes_locked_out", False):
        _record_failure(request, throttled_name(request, credentials), {})


@receiver(user_locked_out)
def note_lock_out(request: HttpRequest, username: str, **_: Any) -> None:
    """Audit the failure that locked a name out; later attempts send the same signal and are passed over."""
    now = getattr(request, "axes_attempt_time", None)
    if AccessAttempt.objects.filter(username=username, ip_address=client_address(request), attempt_time=now).exists():
        _record_failure(request, username, {"locked_out_minutes": round(settings.AXES_COOLOFF_TIME * 60)})


def _record_failure(request: HttpRequest, name: str, detail: dict[str, object]) -> None:
    # A name that no account has may be a password typed into the wrong field: it is not kept.
    known = User.objects.filter(username=name).exists()
    label = name if known else "a name that no account has"
    through: audit.Through = "terminal" if isinstance(request, TerminalRequest) else "page"
    place = request.actor if isinstance(request, TerminalRequest) else client_address(request)
    audit.record("sign_in_failed", actor=None, actor_label=label, object_label=f"from {place}", through=through, detail=detail)


def note_refused_token(request: TerminalRequest, username: str) -> None:
    """Audit that somebody tried to decide by a token that does not count."""
    _record_failure(request, throttled_name(request, {"username": username}), {"by": "token"})
