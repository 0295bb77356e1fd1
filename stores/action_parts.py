"""The page of an action as plain values: why it waits, its targets, its trail, its receipt; what the templates print."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import display, markup
from stores.diff_markup import text_html
from stores.formats import javascript
from stores.formats.diffs import readable
from stores.formats.phase_memory.layout import FOLDER_OF
from stores.formats.secrets import mask
from stores.lifecycle.changes import Change, Create, EditLog, Move, Replace, TakeOut
from stores.lifecycle.states import State
from stores.lifecycle.vocabulary import Review, verb_named
from stores.models import AuditEvent, LifecycleAction
from stores.selectors import audit
from stores.selectors.action_page import ActionPage, Moved, TargetLine, counts
from stores.selectors.wording import age_since, moment

REASON_SHOWN: Final = 2_000
"""Characters of the proposer's words that are shown unfolded."""
SOURCES_SHOWN: Final = 6
SOURCE_SHOWN: Final = 3_000
FIELDS_SHOWN: Final = 40
_JOINED: Final = frozenset({"merge", "compact", "merge_duplicates"})
_STANDS: Final[Mapping[str, tuple[str, str]]] = {
    "same": ("ok", "same as when proposed"),
    "changed": ("stale", "changed since it was proposed"),
    "missing": ("failing", "not there any more"),
    "made": ("note", "not there yet: it is made"),
    "done": ("note", "already as the action wants it"),
}
QUICK_REASONS: Final = ("Still needed", "Not enough evidence", "Wrong target", "Duplicate of another action")


class TargetView(NamedTuple):
    """One target with both digests."""

    id: str
    path: str
    state: str
    words: str
    was: str
    """Hexadecimal; "" where it was not there."""
    now: str


class Field(NamedTuple):
    """One field of a record in three versions."""

    name: SafeString
    proposed_on: SafeString
    proposal: SafeString
    now: SafeString
    moved: bool


class Source(NamedTuple):
    """A record that is joined with others, or what they become."""

    id: str
    text: SafeString
    left: int
    """Characters that are not shown here; the change below shows all."""


class TrailLine(NamedTuple):
    """One thing that happened to the action."""

    state: str
    words: str
    who: str
    at: datetime
    reason: str


class WrittenFile(NamedTuple):
    """What a receipt says of one file."""

    path: str
    what: str
    before: str
    after: str
    digest: str
    state: str
    words: str


def why_review(page: ActionPage) -> list[str]:
    """Say why the action waits, who may decide, and until when."""
    action = page.action
    verb = verb_named(action.kind, action.verb)
    said: list[str] = []
    if not action.needs_review:
        said.append("It needs no review; an operator lets it be applied.")
    elif verb is not None and verb.review is Review.ALWAYS:
        said.append(f"The verb {action.verb} always needs a person.")
    elif action.durable:
        said.append("A target is durable, and changes of durable memory need a person.")
    elif action.verb in page.policy.review_verbs:
        said.append(f"The policy of the store asks for a review of {action.verb}.")
    else:
        said.append("It leads into a durable phase, or its proposer asked for a review.")
    if action.needs_review:
        groups = f" in the group {' or '.join(page.policy.reviewer_groups)}" if page.policy.reviewer_groups else ""
        store = action.store.name if action.store is not None else action.store_slug
        needed = "1 approval" if page.needed == 1 else f"{page.needed} approvals"
        barred = f" but {action.proposed_by}" if action.proposer_id is not None else ""
        said.append(f"{needed}, by any reviewer of {store}{groups}{barred}; {page.given} of {page.needed} given.")
    if action.destructive:
        said.append("It takes something away: the reviewer's password is asked for again.")
    if page.policy.single_reviewer is True:
        said.append("This store has a single reviewer: who proposed may approve.")
    return said


def reason_parts(action: LifecycleAction) -> tuple[SafeString, int, SafeString]:
    """Give the beginning of the proposer's words, how many characters follow, and all of them where any do."""
    text = action.reason
    if len(text) <= REASON_SHOWN:
        return text_html(text), 0, text_html("")
    return text_html(mask(text)[:REASON_SHOWN]), len(text) - REASON_SHOWN, text_html(text)


def waiting_words(page: ActionPage, now: datetime) -> tuple[str, str]:
    """Give state and words for what an approved action waits for; two empty ones where it waits for nothing of the sort."""
    action = page.action
    if State(action.state) not in (State.APPROVED, State.APPLYING) and not (action.state == State.READY and action.apply_asked_at):
        return "", ""
    if page.switch is None or not page.switch.applying:
        by = f" by {page.switch.switched_by}" if page.switch is not None and page.switch.switched_by else ""
        return "held", f"Applying is switched off{by}: nothing is written until it is on again."
    if page.worker is None:
        return "unmeasured", "No worker serves the store any more."
    seen = "never seen" if page.worker.seen_at is None else f"last seen {age_since(page.worker.seen_at, now)} ago"
    verb = "being written by" if action.state == State.APPLYING else "approved, waiting for"
    if action.state == State.READY:
        verb = "allowed, waiting for"
    said = f" Last try: {action.message}" if action.message and action.reason_code not in ("", "dry_run") else ""
    silent = " The worker gives no sign of life." if page.worker_silent else ""
    return (
        "late" if page.worker_silent else "applying"
    ), f"{verb[:1].upper()}{verb[1:]} worker {page.worker.label} ({seen}).{silent}{said}"


def target_views(lines: Sequence[TargetLine]) -> list[TargetView]:
    """Give the targets with their digests."""
    return [
        TargetView(
            one.target.target_id,
            one.target.path,
            _STANDS[one.state][0],
            _STANDS[one.state][1],
            one.target.before_digest.removeprefix("sha256:"),
            one.now_digest.removeprefix("sha256:"),
        )
        for one in lines
    ]


def fields_of(moved: Moved) -> list[Field]:
    """Give the fields in which three versions of a record differ; none where one of them is no record."""
    versions = [_record(data) for data in (moved.before, moved.after, moved.now or b"")]
    if any(not one for one in versions):
        return []
    was, wanted, now = versions
    names = [name for name in dict.fromkeys([*was, *wanted, *now]) if not was.get(name) == wanted.get(name) == now.get(name)]
    return [
        Field(
            markup.memory_text(name[:80]),
            _value(was.get(name)),
            _value(wanted.get(name)),
            _value(now.get(name)),
            was.get(name) != now.get(name),
        )
        for name in names[:FIELDS_SHOWN]
    ]


def sources_of(page: ActionPage) -> tuple[list[Source], list[Source], int]:
    """Give what is joined, what it becomes, and how many more are joined; nothing for a verb that joins nothing."""
    if page.action.verb not in _JOINED or page.effect is None:
        return [], [], 0
    ids = {one.target.path: one.target.target_id for one in page.targets if one.target.path}
    kept = page.kept[0] if page.kept is not None else ""
    sources: list[Source] = []
    results: list[Source] = []
    for change in page.effect.changes:
        for name, before, after in _versions(change, ids):
            if before is not None:
                sources.append(_source(name, before))
            made = isinstance(change, Create) and change.path.startswith(f"{FOLDER_OF.get(page.action.target_type, '')}/")
            if after is not None and (made or name == kept):
                results.append(_source(name, after))
    if page.kept is not None and not results:
        # The record that stays is not written itself: it is both, a source and what comes out.
        results = [_source(*page.kept)]
        sources = [results[0], *sources]
    return sources[:SOURCES_SHOWN], results[:SOURCES_SHOWN], max(0, len(sources) - SOURCES_SHOWN)


def trail_of(page: ActionPage) -> list[TrailLine]:
    """Give what happened to the action, oldest first: its proposal, then the events of the audit."""
    action = page.action
    origin = {"planner": "planned", "undo": "proposed, to take back another", "renewed": "renewed"}.get(action.origin, "proposed")
    first = TrailLine("pending", origin, action.proposed_by, action.created_at, "")
    return [first, *(_trail_line(one) for one in page.events)]


def approvals_of(page: ActionPage, now: datetime) -> list[TrailLine]:
    """Give the decisions on the action, each with whether it still counts."""
    lines = []
    for one in page.reviews:
        ended = "withdrawn" if one.withdrawn_at else "ran out" if one.decision == "approved" and not counts(one, now) else ""
        until = f", counts until {moment(one.expires_at, now)}" if one.expires_at and not ended and not one.spent_at else ""
        apart = {"none": ", single reviewer", "broken": ", four eyes set aside"}.get(one.separation, "")
        words = f"{one.decision}{f', {ended}' if ended else ''}{apart}{until}"
        lines.append(TrailLine("withdrawn" if ended else one.decision, words, one.reviewer_label, one.at, one.reason))
    return lines


_WRITTEN: Final[Mapping[str, str]] = {
    "put": "written",
    "appended": "{lines} lines appended",
    "moved": "moved to {to}",
    "taken_out": "taken out, and kept",
    "edited": "edited",
    "made": "made",
    "ended_line": "line break added",
}
"""What a receipt calls what was done to a file, in words."""


def written_files(page: ActionPage) -> list[WrittenFile]:
    """Give what the receipt says of each file; bytes before come from what was approved."""
    receipt = page.action.receipt if isinstance(page.action.receipt, Mapping) else {}
    before = {
        change.path: len(change.before) for change in (page.effect.changes if page.effect else ()) if isinstance(change, Replace | TakeOut)
    }
    files = []
    for one in receipt.get("files", ()) if isinstance(receipt.get("files"), list) else ():
        what = next((word for word in _WRITTEN if word in one), "put")
        path = str(one.get(what, ""))
        same = one.get("as_written", True)
        after = one.get("bytes")
        files.append(
            WrittenFile(
                path,
                _WRITTEN[what].format(lines=one.get("lines", 0), to=one.get("to", "")),
                display.size(before[path]) if path in before and what == "put" else "",
                display.size(after) if isinstance(after, int) else "not there" if "bytes" in one else "",
                str(one.get("sha256", "")),
                "ok" if same else "failing",
                "disk equals approved" if same else "disk differs from what was approved",
            )
        )
    return files


def _trail_line(event: AuditEvent) -> TrailLine:
    detail = event.detail if isinstance(event.detail, dict) else {}
    state = {
        "approved": "approved",
        "rejected": "rejected",
        "action_applied": "applied",
        "action_failed": "failed",
        "action_stale": "stale",
        "action_withdrawn": "withdrawn",
        "approval_withdrawn": "withdrawn",
        "action_expired": "expired",
        "decision_refused": "muted",
        "action_denied": "muted",
    }.get(event.event, "superseded")
    said = str(detail.get("reason", "")) or str(detail.get("code", "")).replace("_", " ")
    return TrailLine(state, audit.words(event.event), event.actor_label, event.at, said)


def _record(data: bytes) -> Mapping[str, Any]:
    parsed = javascript.parse(data)
    return parsed.value if parsed.accepted and isinstance(parsed.value, dict) else {}


def _value(value: object) -> SafeString:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
    if value is None:
        return format_html('<span class="least">{}</span>', "not given")
    masked = mask(text)
    return text_html(text) if len(text) <= 160 else text_html(f"{masked[:160]}… ({display.number(len(text))} characters)")


def _versions(change: Change, ids: Mapping[str, str]) -> list[tuple[str, bytes | None, bytes | None]]:
    if isinstance(change, Replace):
        return [(ids.get(change.path, change.path), change.before, change.after)]
    if isinstance(change, Create):
        return [(ids.get(change.path, change.path), None, change.after)]
    if isinstance(change, TakeOut | Move):
        return [(ids.get(change.path, change.path), change.before, None)]
    if isinstance(change, EditLog):
        return [(change.path, edit.before, edit.after[0] if edit.after else None) for edit in change.edits]
    return []


def _source(name: str, data: bytes) -> Source:
    text = readable(data)
    if len(text) <= SOURCE_SHOWN:
        return Source(name, text_html(text), 0)
    return Source(name, text_html(mask(text)[:SOURCE_SHOWN]), len(text) - SOURCE_SHOWN)
