"""Forms of the review queue: what a decision carries, so that it counts for exactly what was on the screen."""

from __future__ import annotations

from django import forms
from django.core import signing

from stores.models import LifecycleAction
from stores.review.deciding import LONGEST_REASON
from stores.review.discussing import LONGEST_COMMENT

_SALT = "review.shown"
LONGEST_S = 14 * 24 * 3600
"""A page that was open longer says nothing of how long a decision took."""
DECISIONS = ("approve", "reject", "withdraw", "allow", "renew", "undo", "check")
LONGEST_LIST = 4_000
MEMBERS_LIMIT = 20_000 * 26


class ShownForm(forms.Form):
    """What of the page comes back with every form of an action: the list that it was opened from, and how."""

    list = forms.CharField(required=False, max_length=LONGEST_LIST)
    """Parameters of the list."""
    beside = forms.BooleanField(required=False)
    """The action stood beside its list."""


class DecisionForm(ShownForm):
    """One decision on one action."""

    decision = forms.ChoiceField(choices=[(one, one) for one in DECISIONS])
    digest = forms.CharField(max_length=80)
    revision = forms.IntegerField(min_value=0)
    shown = forms.CharField(max_length=400, required=False)
    reason = forms.CharField(required=False, max_length=LONGEST_REASON, strip=False)
    password = forms.CharField(required=False, max_length=4096, strip=False)
    break_glass = forms.BooleanField(required=False)


class CommentForm(ShownForm):
    """What somebody says of an action."""

    text = forms.CharField(max_length=LONGEST_COMMENT, strip=False)
    at = forms.CharField(required=False, max_length=40)
    """The line that it is about; "" for the whole action."""


class AssignForm(ShownForm):
    """Whom an action is given to; nobody where it is empty."""

    to = forms.CharField(required=False, max_length=150)


class SnoozeForm(ShownForm):
    """For how many hours an action is hidden from its own list; 0 shows it again."""

    hours = forms.IntegerField(min_value=0, max_value=30 * 24)


class BulkForm(forms.Form):
    """A decision on many actions: which set was shown, and what is said of it."""

    decision = forms.ChoiceField(choices=[(one, one) for one in ("approve", "reject", "apply")])
    digest = forms.RegexField(r"^[0-9a-f]{64}$")
    count = forms.IntegerField(min_value=0)
    members = forms.CharField(required=False, max_length=MEMBERS_LIMIT)
    shown = forms.CharField(max_length=400, required=False)
    reason = forms.CharField(required=False, max_length=LONGEST_REASON, strip=False)
    phrase = forms.CharField(required=False, max_length=60)
    password = forms.CharField(required=False, max_length=4096, strip=False)


def shown_token(key: str, at_s: float) -> str:
    """Give a signed note of when a page about `key` was shown."""
    return signing.dumps([key, at_s], salt=_SALT)


def seconds_since(token: str, key: str, now_s: float) -> float | None:
    """Give how long a page was open; None for a note that is not ours, is about something else, or too old."""
    try:
        noted, at_s = signing.loads(token, salt=_SALT)
        took = now_s - float(at_s)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return took if noted == key and 0 <= took <= LONGEST_S else None


def key_of(action: LifecycleAction) -> str:
    """Name what the page of an action shows."""
    return f"{action.pk} {action.digest}"
