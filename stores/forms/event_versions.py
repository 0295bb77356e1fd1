"""The form by which an operator makes a schema version of events known."""

from __future__ import annotations

from django import forms

NAME_LENGTH = 200


class EventVersionForm(forms.Form):
    """One version, as the events write it."""

    name = forms.CharField(
        max_length=NAME_LENGTH, label="Schema version", help_text="As it stands in schema_version of the events, letter by letter."
    )
    note = forms.CharField(max_length=500, required=False, label="Note", help_text="Which writer uses it.")

    def clean_name(self) -> str:
        """Refuse what could be no name."""
        name: str = self.cleaned_data["name"]
        if not name.isprintable():
            raise forms.ValidationError("A version has no line breaks and no invisible characters.")
        return name
