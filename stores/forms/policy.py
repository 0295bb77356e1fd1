"""The form of a policy: what a store, or all of them, ask for before anything is applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

from django import forms
from django.contrib.auth.models import Group
from django.forms import BoundField

from stores.accounts import ROLES
from stores.lifecycle.vocabulary import DUE_DAYS, Review, Tier, Verb
from stores.models import ReviewPolicy
from stores.review.policies import FIELDS, LONGEST_DAYS, MOST_APPROVALS
from stores.review.presets import verbs_of

_PARTS = (("people", "approvals_by_verb"), ("review", "review_verbs"), ("denied", "denied_verbs"), ("auto", "auto_apply"))
_TIERS = (Tier.HIGH, Tier.MEDIUM, Tier.LOW, Tier.SAFE)


class VerbRow(NamedTuple):
    """What a policy says of one verb."""

    name: str
    tier: str
    review: str
    """When it is reviewed whatever the policy says."""
    people: BoundField
    review_always: BoundField | None
    """None where it is always reviewed."""
    denied: BoundField
    auto: BoundField | None


class PolicyForm(forms.Form):
    """All fields of a policy; those of verbs are made for the kind of the store."""

    approvals = forms.IntegerField(min_value=1, max_value=MOST_APPROVALS, label="People who approve")
    lifetime_days = forms.FloatField(min_value=0.01, max_value=LONGEST_DAYS, label="An approval is valid for (days)")
    reviewer_groups = forms.MultipleChoiceField(
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Groups of which a reviewer must be in one",
        help_text="None: everybody with the role reviewer.",
    )
    submit_only = forms.BooleanField(required=False, label="Commands that write directly make an action instead")
    single_reviewer = forms.BooleanField(required=False, label="A single reviewer may approve what they proposed")
    seen = forms.CharField(widget=forms.HiddenInput, max_length=40)
    looked = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)

    def __init__(self, *args: Any, kind: str = "", for_all: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._verbs = verbs_of(kind)
        names = Group.objects.exclude(name__in=ROLES).order_by("name").values_list("name", flat=True)
        chosen = [name for name in self.initial.get("reviewer_groups", []) if name not in names]
        self.fields["reviewer_groups"].choices = [(name, name) for name in [*names, *chosen]]  # type: ignore[attr-defined]
        if for_all:
            del self.fields["single_reviewer"]
        for tier in _TIERS:
            self.fields[f"due__{tier}"] = forms.FloatField(
                min_value=0.01,
                max_value=LONGEST_DAYS,
                required=False,
                label=f"At stake {tier}: decided within (days)",
                widget=forms.NumberInput(attrs={"placeholder": f"{DUE_DAYS[tier]}"}),
            )
        for name, verb in self._verbs.items():
            self._add_verb(name, verb)

    def _add_verb(self, name: str, verb: Verb) -> None:
        self.fields[f"people__{name}"] = forms.IntegerField(
            min_value=1, max_value=MOST_APPROVALS, required=False, label=f"People who approve {name}"
        )
        self.fields[f"denied__{name}"] = forms.BooleanField(required=False, label=f"{name} is not allowed")
        if verb.review is not Review.ALWAYS:
            self.fields[f"review__{name}"] = forms.BooleanField(required=False, label=f"{name} is always reviewed")
            self.fields[f"auto__{name}"] = forms.BooleanField(required=False, label=f"{name} is applied without an operator")

    @property
    def verb_rows(self) -> Iterator[VerbRow]:
        """Give the rows of the table of verbs."""
        for name, verb in self._verbs.items():
            optional = verb.review is not Review.ALWAYS
            yield VerbRow(
                name,
                str(verb.tier),
                str(verb.review),
                self[f"people__{name}"],
                self[f"review__{name}"] if optional else None,
                self[f"denied__{name}"],
                self[f"auto__{name}"] if optional else None,
            )

    @property
    def due_fields(self) -> list[BoundField]:
        """Give the fields of the due times, the highest tier first."""
        return [self[f"due__{tier}"] for tier in _TIERS]

    @property
    def problems(self) -> list[str]:
        """Name every field that is wrong, for the head of the page: most of them stand far down in a table."""
        return [f"{self.fields[name].label}: {' '.join(map(str, said))}" for name, said in self.errors.items() if name in self.fields]

    @property
    def values(self) -> dict[str, Any]:
        """Give the policy as it was typed; only of a valid form."""
        given = self.cleaned_data

        def named(part: str) -> list[str]:
            return [name for name in self._verbs if given.get(f"{part}__{name}")]

        return {
            "approvals": given["approvals"],
            "approvals_by_verb": {name: given[f"people__{name}"] for name in named("people")},
            "review_verbs": named("review"),
            "denied_verbs": named("denied"),
            "auto_apply": named("auto"),
            "reviewer_groups": sorted(given["reviewer_groups"]),
            "lifetime_days": given["lifetime_days"],
            "due_days": {str(tier): given[f"due__{tier}"] for tier in _TIERS if given.get(f"due__{tier}")},
            "single_reviewer": given.get("single_reviewer", False),
            "submit_only": given["submit_only"],
        }

    @property
    def fingerprint(self) -> str:
        """Give what stands for these values in the second step: other ones are shown again before they are saved."""
        return sha256(repr((self.values, self.cleaned_data["seen"])).encode()).hexdigest()


def initial_of(values: Mapping[str, Any], seen: str) -> dict[str, Any]:
    """Give a policy's values as the form takes them."""
    initial: dict[str, Any] = {
        name: values[name] for name in ("approvals", "lifetime_days", "reviewer_groups", "submit_only", "single_reviewer")
    }
    initial |= {f"people__{name}": number for name, number in values["approvals_by_verb"].items()}
    for part, field in _PARTS[1:]:
        initial |= {f"{part}__{name}": True for name in values[field]}
    initial |= {f"due__{tier}": days for tier, days in values["due_days"].items()}
    return {**initial, "seen": seen}


def values_of(policy: ReviewPolicy) -> dict[str, Any]:
    """Give the values of a policy by their names."""
    return {name: getattr(policy, name) for name in FIELDS}
