"""Forms of sign-in and of the account page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm

from stores.accounts import LONGEST_REVIEW_DAYS, LONGEST_TOKEN_DAYS, is_reviewer
from stores.context import THEMES
from stores.models import ApiToken, User

WRONG = "Name and password do not match an account that may sign in."
"""The one answer to an unknown name, a wrong password and a deactivated account."""


class SignInForm(AuthenticationForm):
    """Name and password."""

    error_messages = {"invalid_login": WRONG, "inactive": WRONG}


class NameForm(forms.ModelForm):  # type: ignore[type-arg]  # Django cannot be subscripted at run time
    """The name that others see beside what an account did."""

    class Meta:
        """The sign-in name is not among them: it stands in the audit."""

        model = User
        fields = ["first_name", "last_name"]
        labels = {"first_name": "First name", "last_name": "Last name"}


class OwnPasswordForm(PasswordChangeForm):
    """The password, after the old one; the same form for everybody signed in."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        del self.fields["old_password"].widget.attrs["autofocus"]  # It is not the first thing on its page.


class TokenForm(forms.Form):
    """What a new personal token may do, and for how long."""

    label = forms.CharField(max_length=80, label="Label")
    scope = forms.ChoiceField(
        choices=ApiToken.SCOPES,
        label="Scope",
        initial="read",
        help_text=(
            "read: sees what you see. propose: for an agent, which may also hand in actions, decides nothing, and whose proposals you cannot "
            f"approve. review: decides in your name from a script, at most {LONGEST_REVIEW_DAYS} days; never give it to an agent."
        ),
    )
    days = forms.IntegerField(min_value=1, max_value=LONGEST_TOKEN_DAYS, initial=90, label="Valid for (days)")

    def __init__(self, *args: Any, owner: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not is_reviewer(owner):
            self.fields["scope"].choices = [one for one in ApiToken.SCOPES if one[0] != "review"]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a token that decides for longer than such a token lives."""
        given = super().clean() or {}
        if given.get("scope") == "review" and given.get("days", 0) > LONGEST_REVIEW_DAYS:
            self.add_error("days", f"A token of the scope review is valid for at most {LONGEST_REVIEW_DAYS} days.")
        return given


class ThemeForm(forms.Form):
    """Light, dark, or as the system is."""

    theme = forms.ChoiceField(choices=[(word, word) for word in THEMES])
    next = forms.CharField(required=False, max_length=2000)
