"""Actions in the words of pages: headline, buttons, states, what is at stake (visual-design §14)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.formats.secrets import find_secrets, mask
from stores.formats.visible import one_line
from stores.lifecycle.vocabulary import Tier
from stores.memory_words import spaced
from stores.models import LifecycleAction

GIST_LENGTH: Final = 120
RISKS: Final[Mapping[str, int]] = {Tier.SAFE: 0, Tier.LOW: 1, Tier.MEDIUM: 2, Tier.HIGH: 3}
"""Tier -> bars that are lit."""


class VerbWords(NamedTuple):
    """A verb as a button and a heading say it."""

    does: str
    doing: str


_WORDS: Final[Mapping[str, VerbWords]] = {
    "append_newline": VerbWords("End the last line of", "ending the last line of"),
    "create_missing_entry": VerbWords("Create", "creation of"),
    "rewrite_canonical": VerbWords("Rewrite", "rewriting of"),
    "undo": VerbWords("Take back", "taking back"),
    "set_aside_lines": VerbWords("Set aside", "setting aside"),
    "repair_lines": VerbWords("Repair", "repair of"),
    "drain_queue": VerbWords("Drain", "draining of"),
    "archive_queue": VerbWords("Archive", "archiving of"),
    "replay_decisions": VerbWords("Replay", "replaying of"),
    "remember": VerbWords("Remember", "remembering of"),
    "close_problem": VerbWords("Close", "closing of"),
    "abandon_problem": VerbWords("Abandon", "abandoning of"),
    "reopen_problem": VerbWords("Reopen", "reopening of"),
    "merge_duplicates": VerbWords("Merge duplicates", "merging of"),
    "retire_decision": VerbWords("Retire", "retiring of"),
    "transition_phase": VerbWords("Change phase of", "change of phase of"),
    "mark_stale": VerbWords("Mark stale", "marking stale of"),
    "refresh": VerbWords("Refresh", "refreshing of"),
    "compact": VerbWords("Compact", "compacting of"),
    "request_delete": VerbWords("Forget", "forgetting of"),
    "archive": VerbWords("Archive", "archiving of"),
    "supersede": VerbWords("Supersede", "superseding of"),
    "merge": VerbWords("Merge", "merging of"),
    "restore": VerbWords("Restore", "restoring of"),
    "create_path": VerbWords("Begin path", "beginning of"),
    "branch_path": VerbWords("Branch path", "branching of"),
    "merge_path": VerbWords("Merge path", "merging of"),
    "abandon_path": VerbWords("Abandon path", "abandoning of"),
    "compact_path": VerbWords("Compact path", "compacting of"),
    "create_record": VerbWords("Take in", "taking in of"),
    "replace_record": VerbWords("Replace", "replacing of"),
    "append_events": VerbWords("Append", "appending of"),
    "rename_file": VerbWords("Rename", "renaming of"),
    "set_file_aside": VerbWords("Set aside", "setting aside of"),
}


def verb_words(verb: str) -> VerbWords:
    """Give a verb's words; one without any of its own says itself."""
    said = verb.replace("_", " ")
    return _WORDS.get(verb, VerbWords(said[:1].upper() + said[1:], f"{said} of"))


def what(action: LifecycleAction) -> str:
    """Give the number of targets with their noun: "1 node", "400 nodes"."""
    return counted(action.target_count, action.target_type)


def counted(number: int, noun: str) -> str:
    """Give a number with its noun."""
    return f"{display.number(number)} {noun}{'' if number == 1 else 's'}"


def subject(action: LifecycleAction) -> SafeString:
    """Give what an action is about, as memory text: the gist of its one target, else how many there are."""
    if action.target_count > 1:
        return format_html("{}", what(action))
    text = shortened(action.gist, GIST_LENGTH)
    if not text.strip():
        return markup.memory_text(shortened(action.first_target, GIST_LENGTH))
    # Where a line stands is said by us, and is no quotation.
    return markup.memory_text(text) if action.target_type == "line" else format_html("“{}”", markup.memory_text(text))


def short_id(action_id: str) -> SafeString:
    """Give an action's id with its first twelve digits, the whole one on hover."""
    head, _, digits = action_id.partition(":")
    return format_html('<code title="{}">{}:{}</code>', action_id, head, digits[:12])


def plain_headline(action: LifecycleAction) -> str:
    """Give verb and object as one line for titles, masked and with nothing invisible in it."""
    about = what(action) if action.target_count > 1 else shortened(action.gist or action.first_target, 60)
    return f"{verb_words(action.verb).does} {one_line(mask(about))}"


def shortened(text: str, limit: int) -> str:
    """Give at most so many characters of a text; secrets are masked before it is cut, as half of one looks like none."""
    return text if len(text) <= limit else f"{mask(text)[:limit]}…"


def approve_label(action: LifecycleAction) -> str:
    """Give what the button of an approval says: verb, object and number."""
    return f"Approve {verb_words(action.verb).doing} {what(action)}"


def kind_words(value: str) -> str:
    """Give a value of a facet as people write it; a secret stays a secret."""
    return value if find_secrets(value) else spaced(value)


def risk_bar(tier: str) -> SafeString:
    """Draw what is at stake as three bars, with its word for who does not see them."""
    lit = RISKS.get(Tier(tier), 3)
    bars = [
        format_html('<rect x="{}" y="{}" width="3.5" height="{}" class="{}"/>', x, 12 - height, height, "lit" if place < lit else "")
        for place, (x, height) in enumerate(((0, 4), (5, 7), (10, 10)))
    ]
    return format_html(
        '<svg class="risk" viewBox="0 0 14 12" data-risk="{}" role="img" aria-label="{} risk">{}{}{}</svg>', str(tier), str(tier), *bars
    )
