"""The form that keeps a view of a list."""

from __future__ import annotations

from typing import Any

from django import forms

from stores.lists.registry import SECTIONS
from stores.selectors.saved_views import clean_query


class SavedViewForm(forms.Form):
    """A name for what a list shows."""

    section = forms.ChoiceField(choices=[(section, section) for section in SECTIONS])
    name = forms.CharField(max_length=80)
    query = forms.CharField(max_length=20_000, required=False)
    shared = forms.BooleanField(required=False)

    def clean(self) -> dict[str, Any]:
        """Keep only what the list knows."""
        cleaned = super().clean() or self.cleaned_data
        if "section" in cleaned and "query" in cleaned:
            cleaned["query"] = clean_query(SECTIONS[cleaned["section"]], cleaned["query"])
        return cleaned
