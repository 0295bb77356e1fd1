"""Forms of stores: adding them, their settings, muting and acknowledging."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import Group
from django.utils import timezone

from stores.formats import KINDS
from stores.formats.visible import one_line
from stores.models import SourceFile, Store, Worker

PATH_LENGTH = 4096
FOUND_AT_MOST = 200
LONGEST_MUTE_DAYS = 365


def _path_field(**options: Any) -> forms.CharField:
    return forms.CharField(max_length=PATH_LENGTH, strip=False, **options)


class WorkerField(forms.ModelChoiceField):  # type: ignore[type-arg]  # generic in its stubs only
    """One of the hosts, by the label of its worker."""

    def label_from_instance(self, obj: Worker) -> str:
        """Give the label with its invisible characters written out."""
        return one_line(obj.label)


class AddStoreForm(forms.Form):
    """One folder of one host; its worker recognises the kind, and refuses what is no store or lies outside its roots."""

    worker = WorkerField(Worker.objects.order_by("label", "id"), label="Host", empty_label=None)
    path = _path_field(label="Folder", help_text="The memory folder itself, or the project that holds it.")
    name = forms.CharField(max_length=120, required=False, label="Name", help_text="Left empty, it is named after its project.")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [("", "as recognised"), *((kind.name, kind.title) for kind in KINDS.values())]
        self.fields["kind"] = forms.ChoiceField(choices=choices, required=False, label="Kind")

    def clean_path(self) -> str:
        """Refuse what no folder can be called, and relative paths: nobody knows relative to what."""
        path: str = self.cleaned_data["path"]
        if not path.startswith("/"):
            raise forms.ValidationError("Give the whole path, beginning with “/”.")
        return path


class FoundStoresForm(forms.Form):
    """Which of the found folders to register."""

    worker = forms.ModelChoiceField(Worker.objects.all())

    def __init__(self, *args: Any, found: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["path"] = forms.MultipleChoiceField(
            choices=[(path, path) for path in found], error_messages={"required": "Tick at least one store."}
        )


class DiscoverForm(forms.Form):
    """On which host to look."""

    worker = forms.ModelChoiceField(Worker.objects.all())


class RenameForm(forms.ModelForm):  # type: ignore[type-arg]  # Django cannot be subscripted at run time
    """The name that pages show; the slug, and so every address, stays."""

    class Meta:
        """Nothing else of a store is typed in."""

        model = Store
        fields = ["name"]
        labels = {"name": "Name"}


class GroupsForm(forms.Form):
    """Who may see the store."""

    groups = forms.ModelMultipleChoiceField(
        Group.objects.order_by("name", "id"), required=False, widget=forms.CheckboxSelectMultiple, label="Groups that see this store"
    )


class RelocateForm(forms.Form):
    """Where the folder lies now."""

    path = _path_field(label="New folder")
    force = forms.BooleanField(required=False, label="Take it even if its content is another")

    def clean_path(self) -> str:
        """Refuse relative paths."""
        path: str = self.cleaned_data["path"]
        if not path.startswith("/"):
            raise forms.ValidationError("Give the whole path, beginning with “/”.")
        return path


class TypedSlugForm(forms.Form):
    """The slug of the store, typed, so that no stray click loses a mirror."""

    slug = forms.CharField(max_length=80, label="Type the slug of the store")

    def __init__(self, *args: Any, expected: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._expected = expected

    def clean_slug(self) -> str:
        """Compare."""
        slug: str = self.cleaned_data["slug"]
        if slug != self._expected:
            raise forms.ValidationError(f"This is not the slug of the store. Type “{self._expected}”.")
        return slug


class MuteForm(forms.Form):
    """Until when a condition does not count, and why."""

    until = forms.DateField(label="Until the end of", widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    why = forms.CharField(max_length=400, label="Reason", widget=forms.Textarea(attrs={"rows": 3}))

    def clean_until(self) -> date:
        """Refuse days that are over, and mutes without an end in sight."""
        until: date = self.cleaned_data["until"]
        today = timezone.now().date()
        if until < today:
            raise forms.ValidationError("This day is over.")
        if until > today + timedelta(days=LONGEST_MUTE_DAYS):
            raise forms.ValidationError("A condition can be muted for a year at most.")
        return until


class AcknowledgeForm(forms.Form):
    """What the person who lets a fault be has to say about it."""

    note = forms.CharField(max_length=400, required=False, label="Note")


class RawForm(forms.Form):
    """Which bytes of which file to show."""

    MAX_BYTES = 64 * 1024

    line = forms.IntegerField(min_value=1, max_value=2**53, required=False, label="Line")
    offset = forms.IntegerField(min_value=0, max_value=2**53, required=False, label="From byte")
    length = forms.IntegerField(min_value=1, max_value=MAX_BYTES, required=False, label="Bytes")

    def __init__(self, *args: Any, files: list[SourceFile], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"] = forms.ChoiceField(choices=[(file.path, file.path) for file in files], label="File")
