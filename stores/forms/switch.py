"""The form of the switch that stops all applying."""

from __future__ import annotations

from django import forms


class SwitchForm(forms.Form):
    """Which way, why, and the password of who turns it."""

    to = forms.ChoiceField(choices=[("on", "on"), ("off", "off")], widget=forms.HiddenInput)
    reason = forms.CharField(max_length=400, required=False, label="Reason")
    password = forms.CharField(
        max_length=4096, strip=False, label="Your password", widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )
