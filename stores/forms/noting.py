"""Forms in which reviewers note something beside a record (ruling 35)."""

from __future__ import annotations

from typing import Any, Final

from django import forms

from stores.models import RecordNote, User
from stores.noting import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS

PEOPLE_OFFERED: Final = 500


class NoteForm(forms.Form):
    """What every note has: its text, and which state of it was on the screen."""

    note = forms.CharField(label="Note", required=False, max_length=LONGEST_NOTE, widget=forms.Textarea(attrs={"rows": 3}))
    revision = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class ProblemNoteForm(NoteForm):
    """Who sees to a problem, and by when."""

    owner = forms.ChoiceField(label="Owner", required=False)
    due_on = forms.DateField(
        label="Due",
        required=False,
        help_text="Overdue when this day is over (UTC).",
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    field_order = ("owner", "due_on", "note", "revision")

    def __init__(self, *args: Any, people: dict[str, User], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.people = people
        self.fields["owner"].choices = [("", "nobody"), *((name, one.label) for name, one in people.items())]  # type: ignore[attr-defined]

    def clean_owner(self) -> User | None:
        """Give the account."""
        return self.people.get(self.cleaned_data["owner"])


class DecisionNoteForm(NoteForm):
    """How a decision stands, and its tags."""

    standing = forms.ChoiceField(label="Standing", choices=RecordNote.STANDINGS)
    tags = forms.CharField(
        label="Tags",
        required=False,
        max_length=(LONGEST_TAG + 2) * MOST_TAGS,
        help_text="Separated by commas.",
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    field_order = ("standing", "tags", "note", "revision")

    def __init__(self, *args: Any, superseded: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not superseded:
            self.fields["standing"].choices = [one for one in RecordNote.STANDINGS if one[0] != "superseded"]  # type: ignore[attr-defined]
            self.fields["standing"].help_text = "Superseded is said by choosing the decision that took its place."

    def clean_tags(self) -> list[str]:
        """Take them apart."""
        return str(self.cleaned_data["tags"]).split(",")
