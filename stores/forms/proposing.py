"""Forms in which people say what an action needs to know; the action itself is made by the intake, as any agent's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from django import forms

from stores.formats.identifiers import fits_file_name
from stores.formats.phase_memory.vocabulary import PATH_ENDS, PATH_STATES, PHASES
from stores.lifecycle.actions import is_digest
from stores.lifecycle.vocabulary import MOST_TARGETS

LONGEST_REASON: Final = 4_000
LONGEST_TEXT: Final = 20_000
NODES: Final = "known-nodes"
PATHS: Final = "known-paths"
"""Lists of ids that a field offers."""
FIND: Final = "find"
"""The field by which nodes are looked for."""

Fields = dict[str, forms.Field]


@dataclass(frozen=True, slots=True)
class About:
    """What a form is made for."""

    target_id: str = ""
    phase: str = ""
    doubles: Sequence[tuple[str, str]] = ()
    """Ids of records with the same text, with what stands beside each box."""
    nodes: Sequence[tuple[str, str]] = ()
    """Ids of nodes that are picked already or were found, with what stands beside each box."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a filled-in form asks for."""

    target_ids: list[str]
    parameters: dict[str, object] = field(default_factory=dict)
    beside: dict[str, object] = field(default_factory=dict)
    """Fields of the action itself."""


def _text(label: str, help_text: str = "", *, required: bool = True, most: int = LONGEST_TEXT, rows: int = 4) -> forms.CharField:
    return forms.CharField(
        label=label, help_text=help_text, required=required, max_length=most, widget=forms.Textarea(attrs={"rows": rows})
    )


def _id(label: str, listed: str = "", help_text: str = "", initial: str = "") -> forms.CharField:
    attributes = (
        {"list": listed, "autocomplete": "off", "spellcheck": "false"} if listed else {"autocomplete": "off", "spellcheck": "false"}
    )
    return forms.CharField(
        label=label, help_text=help_text, max_length=200, strip=False, initial=initial, widget=forms.TextInput(attrs=attributes)
    )


def _others(label: str, about: About) -> Fields:
    return {
        "picked": forms.MultipleChoiceField(
            label=label, choices=list(about.nodes), required=False, widget=forms.CheckboxSelectMultiple, help_text=""
        ),
        FIND: forms.CharField(
            label="Find nodes",
            required=False,
            max_length=200,
            help_text="By words or by an id; nothing shows the newest. What is ticked stays.",
            widget=forms.TextInput(attrs={"type": "search", "autocomplete": "off"}),
        ),
        "others": _text("Or by their ids", "One a line, letter for letter.", required=False, rows=3),
    }


def _none(about: About) -> Fields:
    return {}


def _phase(about: About) -> Fields:
    return {"to_phase": forms.ChoiceField(label="Into", choices=[(one, one) for one in PHASES if one != about.phase])}


def _strength(about: About) -> Fields:
    return {
        "strength_to": forms.FloatField(
            label="Set its strength to", min_value=0, max_value=1, required=False, help_text="0 to 1; empty leaves it."
        )
    }


def _source(about: About) -> Fields:
    return {
        "source_digest": _id(
            "Digest of its source as it is now", help_text="sha256: and 64 digits, of the source that it was checked against."
        )
    }


def _compact(about: About) -> Fields:
    return {
        **_others("Fold it together with", about),
        "summary_text": _text("Text of the summary", "Empty: the titles of the folded nodes as a list.", required=False),
        "strategy": forms.CharField(label="Strategy", max_length=80, initial="summarize"),
        "preserve_originals": forms.BooleanField(label="Keep the folded nodes as they are", required=False, initial=True),
    }


def _delete(about: About) -> Fields:
    return {"delete_after_days": forms.IntegerField(label="May be deleted after (days)", min_value=0, max_value=36_500, required=False)}


def _supersede(about: About) -> Fields:
    return {"superseded_by": _id("Superseded by", NODES, "Id of the node that holds in its place.")}


def _merge(about: About) -> Fields:
    return {**_others("Merge it with", about), "into": _id("The one that stays", NODES, initial=about.target_id)}


def _branch(about: About) -> Fields:
    return {"new_id": _id("Id of the new path"), "title": forms.CharField(label="Title", max_length=200, required=False)}


def _merge_target(about: About) -> Fields:
    return {"merge_target": _id("Merged into", PATHS, "Id of the path that goes on.")}


def _abandon(about: About) -> Fields:
    return {"abandoned_reason": _text("Why it is abandoned", "It is written into the path.", most=2_000, rows=3)}


def _summary(about: About) -> Fields:
    return {"compacted_summary_id": _id("Node that sums it up", NODES)}


def _state(about: About) -> Fields:
    return {
        "state": forms.ChoiceField(label="It is", choices=[(one, one) for one in sorted(PATH_STATES)]),
        "end": forms.CharField(
            label="Into which path, into which node, or why", max_length=2_000, required=False, help_text="Empty for an active path."
        ),
    }


def _solution(about: About) -> Fields:
    return {"solution": _text("What solved it", "It is written into the problem as its solution.", rows=3)}


def _doubles(about: About) -> Fields:
    return {
        "doubles": forms.MultipleChoiceField(
            label="Take out",
            choices=list(about.doubles),
            widget=forms.CheckboxSelectMultiple,
            help_text="This decision is kept; each ticked line is taken out.",
        )
    }


_FIELDS: Final[Mapping[str, Callable[[About], Fields]]] = {
    "transition_phase": _phase,
    "mark_stale": _strength,
    "refresh": _source,
    "compact": _compact,
    "request_delete": _delete,
    "supersede": _supersede,
    "merge": _merge,
    "create_path": _branch,
    "branch_path": _branch,
    "merge_path": _merge_target,
    "choose_merge_target": _merge_target,
    "abandon_path": _abandon,
    "compact_path": _summary,
    "correct_path_state": _state,
    "close_problem": _solution,
    "merge_duplicates": _doubles,
}


class ProposalForm(forms.Form):
    """What one verb needs to know, why it is proposed, and which version of the record was on the screen."""

    seen = forms.CharField(max_length=64, required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, verb: str, about: About, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._verb, self._about = verb, about
        self.fields.update(_FIELDS.get(verb, _none)(about))
        self.fields["reason"] = _text("Why", "Reviewers read it; it is no part of what is written.", most=LONGEST_REASON, rows=3)

    def clean(self) -> dict[str, Any]:
        """Refuse what the intake would refuse with less to say."""
        given = super().clean() or {}
        digest, new_id = given.get("source_digest"), given.get("new_id")
        if digest is not None and not is_digest(digest):
            self.add_error("source_digest", "A digest is sha256: and 64 digits 0-9 a-f.")
        if new_id is not None and not fits_file_name(new_id):
            self.add_error(
                "new_id", "A new id names a file: letters, digits, dots, hyphens and underscores, beginning with one of the first two."
            )
        others = self._others(given)
        if "others" in given and not set(others) - {self._about.target_id}:
            self.add_error("others", "Name at least one other node.")
        if len(others) > MOST_TARGETS:
            self.add_error("others", f"At most {MOST_TARGETS:,} at once.")
        if self._verb == "correct_path_state" and given.get("state") in PATH_ENDS and not given.get("end", "").strip():
            self.add_error("end", "This state needs to say it.")
        return given

    @property
    def asks(self) -> frozenset[str]:
        """Give the parameters that the form asks for, or sets by itself."""
        ends = PATH_ENDS.values() if self._verb == "correct_path_state" else ()
        return frozenset(self.fields) | frozenset(ends) | {"keep", "parent_path_id"}

    @staticmethod
    def _others(given: Mapping[str, Any]) -> list[str]:
        return list(dict.fromkeys([*given.get("picked", ()), *_lines(given.get("others", ""))]))

    @property
    def wanted(self) -> Wanted:
        """Give what the form asks for; only of a valid one."""
        given, about = self.cleaned_data, self._about
        match self._verb:
            case "transition_phase":
                return Wanted([about.target_id], beside={"to_phase": given["to_phase"]})
            case "compact" | "merge":
                named = [about.target_id, *(one for one in self._others(given) if one != about.target_id)]
                return Wanted(list(dict.fromkeys(named)), _given(given, "into", "summary_text", "strategy", "preserve_originals"))
            case "create_path":
                return Wanted([given["new_id"]], _given(given, "title"))
            case "branch_path":
                return Wanted([given["new_id"]], {"parent_path_id": about.target_id, **_given(given, "title")})
            case "correct_path_state":
                end = PATH_ENDS.get(given["state"])
                return Wanted([about.target_id], {"state": given["state"], **({end: given["end"]} if end else {})})
            case "merge_duplicates":
                return Wanted([about.target_id, *given["doubles"]], {"keep": about.target_id})
        return Wanted([about.target_id], _given(given, *(name for name in given if name not in ("reason", "seen"))))


def initial_of(record: Mapping[str, Any]) -> tuple[About, dict[str, Any]]:
    """Give what the form of an action that is there already is about, and what is filled in."""
    parameters, ids, verb = dict(record.get("parameters", {})), list(record["target_ids"]), record["action"]
    initial: dict[str, Any] = {**parameters, "reason": record.get("reason", "")}
    match verb:
        case "transition_phase":
            return About(ids[0]), {**initial, "to_phase": record.get("to_phase")}
        case "compact" | "merge":
            return About(ids[0]), {**initial, "others": "\n".join(ids[1:])}
        case "create_path":
            return About(), {**initial, "new_id": ids[0]}
        case "branch_path":
            return About(str(parameters.get("parent_path_id", ""))), {**initial, "new_id": ids[0]}
        case "correct_path_state":
            return About(ids[0]), {**initial, "end": parameters.get(PATH_ENDS.get(str(parameters.get("state")), ""), "")}
        case "merge_duplicates":
            doubles = [one for one in ids if one != parameters.get("keep")]
            return About(str(parameters.get("keep", ""))), {**initial, "doubles": doubles}
    return About(ids[0]), initial


def _given(cleaned: Mapping[str, Any], *names: str) -> dict[str, object]:
    return {name: cleaned[name] for name in names if cleaned.get(name) not in (None, "")}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
