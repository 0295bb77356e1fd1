"""What is looked at before an action is approved, and what there is around it: checks, links, rivals, earlier decisions (ux.md 2.9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from django.db.models import Count, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from stores.formats import javascript
from stores.formats.lookalikes import mixes_alphabets
from stores.formats.phase_memory.layout import FOLDERS
from stores.formats.phase_memory.reading import read_record
from stores.formats.visible import visible
from stores.lifecycle.changes import AppendLines, Create, EditLog, Replace
from stores.lifecycle.effects import Effect
from stores.lifecycle.states import FINAL, OPEN
from stores.lifecycle.vocabulary import PHASE_MEMORY
from stores.mirror.record_types import RECORD_TYPES
from stores.models import ActionTarget, Edge, LifecycleAction, MemoryPath, Node
from stores.selectors.action_page import ActionPage
from stores.selectors.actions import SHOWN_DAYS
from stores.selectors.memory_nodes import named
from stores.selectors.wording import counted

RECORDS_SHOWN: Final = 20
CHECKED_AT_MOST: Final = 500
_GOES: Final = frozenset({"archive", "request_delete", "set_file_aside", "abandon_path", "merge_path"})
"""Verbs after which what refers to a target refers to nothing that agents use."""
_TOLD: Final[Mapping[str, str]] = {
    "stale_source": "a target has changed since it was proposed",
    "target_missing": "a target is not there any more",
    "store_blocked": "a fault must be mended first",
    "policy_denied": "the store's policy does not allow it",
    "already_applied": "its targets are already as it wants them",
}


class Check(NamedTuple):
    """One thing that was looked at."""

    state: str
    """ok, note, late or failing."""
    text: str
    url: str = ""


class RecordLink(NamedTuple):
    """A record that an action is about."""

    title: str
    url: str
    id: str


class Alike(NamedTuple):
    """How actions of the same sort ended before."""

    state: str
    number: int
    url: str


class Around(NamedTuple):
    """What lies around an action."""

    checks: list[Check]
    records: list[RecordLink]
    provenance: list[RecordLink]
    """Sessions and paths that its targets come from."""
    alike: list[Alike]
    open_alike: int
    """Other open actions of the same sort."""


def _decided_alike(action: LifecycleAction, state: str) -> str:
    return f"{reverse('review_list')}?{urlencode({'tab': 'decided', 'alike': action.alike, 'state': state})}"


def around(page: ActionPage) -> Around:
    """Look at an action from all sides; about eight queries."""
    action = page.action
    ids = [line.target.target_id for line in page.targets]
    found = _records(action, ids)
    ends: Counter[str] = Counter()
    since = timezone.now() - timedelta(days=SHOWN_DAYS)
    for state, number in (
        LifecycleAction.objects.filter(Q(state__in=sorted(OPEN)) | Q(state__in=sorted(FINAL), closed_at__gte=since), alike=action.alike)
        .exclude(pk=action.pk)
        .order_by()
        .values_list("state")
        .annotate(n=Count("pk"))
    ):
        ends[state] += number
    return Around(
        checks=_checks(page, ids),
        records=[RecordLink(one.title, one.get_absolute_url(), one.natural_id) for one in found],
        provenance=_provenance(action, found),
        alike=[Alike(state, number, _decided_alike(action, state)) for state, number in sorted(ends.items()) if state in FINAL],
        open_alike=sum(number for state, number in ends.items() if state in OPEN),
    )


def _checks(page: ActionPage, ids: Sequence[str]) -> list[Check]:
    action = page.action
    if not page.is_open:
        return []
    checks = [_applies(page)]
    if page.effect is not None:
        checks.append(_readable(action.kind, page.effect))
    checks.append(
        Check("failing", "adds something that looks like a secret: nobody can approve that")
        if action.adds_secret
        else Check("ok", "adds no secret")
    )
    checks += _links(action, ids)
    rivals = _rivals(action, ids)
    url = rivals[0].get_absolute_url() if rivals else ""
    checks.append(
        Check("late", f"{counted(len(rivals), 'other open action')} on the same record", url)
        if rivals
        else Check("ok", "no other open action on the same record")
    )
    odd = [one for one in ids if mixes_alphabets(one) or any(span.kind != "plain" for span in visible(one))]
    if odd:
        checks.append(Check("failing", f"{counted(len(odd), 'id')} with letters that look like others, or with unseen ones"))
    if mixes_alphabets(action.reason) or any(span.kind in ("bidi", "tag") for span in visible(action.reason)):
        checks.append(Check("late", "the proposer's words hold characters that deceive the eye"))
    return checks


def _applies(page: ActionPage) -> Check:
    if page.damage:
        return Check("failing", "what it would write is not kept as it was: it cannot be approved")
    if page.verdict is None:
        return Check("unmeasured", "the store is not here any more")
    if page.verdict.reason_code == "dry_run":
        return Check("ok", "applies cleanly in a dry run")
    code = page.verdict.reason_code or ""
    said = page.verdict.message if code in ("store_blocked",) else _TOLD.get(code, page.verdict.message)
    return Check("note" if code == "already_applied" else "failing", f"would not apply: {said}")


def _readable(kind: str, effect: Effect) -> Check:
    """Check that what is written can be read again."""
    bad = looked = 0
    for change in effect.changes[:CHECKED_AT_MOST]:
        if isinstance(change, Replace | Create) and kind == PHASE_MEMORY:
            record_type = FOLDERS.get(change.path.partition("/")[0], "")
            looked += bool(record_type)
            bad += bool(record_type) and bool(read_record(record_type, change.after).refused)
        elif isinstance(change, EditLog | AppendLines):
            lines = change.lines if isinstance(change, AppendLines) else [line for edit in change.edits for line in edit.after]
            looked += len(lines)
            bad += sum(not javascript.parse(line).accepted for line in lines)
    if bad:
        return Check("failing", f"{counted(bad, 'written record')} could not be read again")
    return Check("ok", f"{counted(looked, 'written record')} can be read again" if looked else "writes no record")


def _links(action: LifecycleAction, ids: Sequence[str]) -> list[Check]:
    if action.kind != PHASE_MEMORY or action.verb not in _GOES or action.store is None:
        return []
    if action.target_type == "node":
        edges = Edge.objects.filter(store=action.store, gone_at__isnull=True, state="active")
        number = edges.filter(Q(source__in=ids) | Q(target__in=ids)).count()
        noun = "edge"
    elif action.target_type == "path":
        live = MemoryPath.objects.filter(store=action.store, gone_at__isnull=True)
        number = live.filter(Q(parent_path_id__in=ids) | Q(merge_target__in=ids)).count()
        noun = "path"
    else:
        return []
    if not number:
        return [Check("ok", f"no {noun} leads to what goes")]
    return [Check("note", f"{counted(number, noun)} {'leads' if number == 1 else 'lead'} to what goes")]


def _rivals(action: LifecycleAction, ids: Sequence[str]) -> list[LifecycleAction]:
    same = ActionTarget.objects.filter(record_type=action.target_type, target_id__in=ids).exclude(action=action)
    mine = LifecycleAction.objects.filter(store=action.store_id, state__in=sorted(OPEN), pk__in=same.values("action"))
    return list(mine.order_by("pk").defer("record", "effect")[:RECORDS_SHOWN])


def _records(action: LifecycleAction, ids: Sequence[str]) -> list[Any]:
    of_type = RECORD_TYPES.get(action.target_type)
    if of_type is None or action.store_id is None:
        return []
    found = named(of_type.model, action.store_id, ids[:RECORDS_SHOWN])
    return [found[one] for one in ids if one in found]


def _provenance(action: LifecycleAction, records: Sequence[Any]) -> list[RecordLink]:
    nodes = [one for one in records if isinstance(one, Node)]
    paths = {one.path_id for one in nodes if one.path_id}
    sessions = sorted({one.session for one in nodes if one.session})
    links = []
    if paths and action.store_id is not None:
        links = [
            RecordLink(one.title, one.get_absolute_url(), one.natural_id) for one in named(MemoryPath, action.store_id, paths).values()
        ]
    return [*links, *(RecordLink(one, "", one) for one in sessions[:RECORDS_SHOWN])]
