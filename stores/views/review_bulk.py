"""Decisions on many actions: a page that shows exactly what is decided, and one that says what became of it (ux.md 2.8, ruling 21)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from stores import action_lists, action_words, change_views, diff_rows, sign_ins
from stores.accounts import require_operator, require_reviewer
from stores.errors import BadRequest, Conflict, MemoryUIError, NotAllowed, NotFound
from stores.forms.review import BulkForm, seconds_since, shown_token
from stores.lists.actions import ActionQuery, read_actions
from stores.models import LifecycleAction, User
from stores.review import bulk, discussing, keeping
from stores.review.bulk import Decision, SetChanged, Shown
from stores.review.deciding import MOST_DESTRUCTIVE, Manner, PasswordNeeded, visible_actions, withdraw
from stores.selectors import action_selection
from stores.selectors.action_selection import Selection
from stores.selectors.actions import ActionList
from stores.views import problems
from stores.views.requests import signed_in
from stores.views.review_action import assignable

SHOWN_AT_FIRST: Final = 20
NAMED_AT_MOST: Final = 50
DECISIONS: Final = ("approve", "reject", "apply", "assign")
_DOES: Final = {"approve": "Approve", "reject": "Reject", "apply": "Let be applied", "assign": "Assign"}


@require_http_methods(["GET", "HEAD", "POST"])
def review_bulk(request: HttpRequest) -> HttpResponse:
    """Show what a decision on many would cover, then decide exactly on that."""
    user = signed_in(request)
    decision = request.GET.get("decision", "")
    if decision not in DECISIONS:
        raise BadRequest("Say what is to be done with the selected actions.")
    (require_operator if decision == "apply" else require_reviewer)(user)
    found = ActionList(user, read_actions(request.GET), timezone.now())
    chosen = action_selection.selected(found, *_picks(request.GET), every=request.GET.get("every") == "1")
    if decision == "assign":
        return _assign(request, user, chosen, found.query)
    if request.method == "POST":
        return _decide(request, user, found, chosen, decision)  # type: ignore[arg-type]  # one of the three
    return _page(request, user, found, action_selection.part(user, chosen, decision, found.now))  # type: ignore[arg-type]


@require_safe
def review_batch(request: HttpRequest, batch: str) -> HttpResponse:
    """What became of each action of a batch."""
    user = signed_in(request)
    lines = action_selection.batch_lines(user, batch)
    if not lines:
        raise NotFound("There is no such batch, or it is not for your eyes.")
    counts: dict[str, int] = {}
    for line in lines:
        counts[line.code] = counts.get(line.code, 0) + 1
    shown = {
        "batch": batch,
        "lines": [
            {"line": line, "subject": action_words.subject(line.action), "verb": action_words.verb_words(line.action.verb).does}
            for line in lines
        ],
        "counts": sorted(counts.items(), key=lambda one: -one[1]),
        "all_done": not {"stale", "refused"} & counts.keys(),
        "withdrawable": len(action_selection.withdrawable(user, batch)),
        "list_url": f"{reverse('review_list')}?{urlencode({'batch': batch})}",
    }
    return render(request, "stores/review_batch.html", shown)


@require_POST
def review_batch_withdraw(request: HttpRequest, batch: str) -> HttpResponse:
    """Take back what of a batch is not written yet."""
    user, now = signed_in(request), timezone.now()
    keys = action_selection.withdrawable(user, batch)
    if not keys and not action_selection.batch_lines(user, batch):
        raise NotFound("There is no such batch, or it is not for your eyes.")
    if not keys:
        raise Conflict("Nothing of this batch can be taken back any more, or none of it is yours.")
    done = 0
    for pk in keys:
        try:
            with transaction.atomic():
                withdraw(user, pk, Manner("page", now, "The whole batch is taken back.", batch_id=batch))
            done += 1
        except Conflict:
            # It is being written at this moment: that one stays, and the page says so.
            continue
    messages.success(request, f"Withdrawn: {done:,} of {len(keys):,} actions of the batch")
    return redirect("review_batch", batch)


def _picks(given: QueryDict) -> tuple[list[int], list[str]]:
    picks = [int(one) for one in given.getlist("pick") if one.isascii() and one.isdecimal() and len(one) < 18]
    folds = [one for one in given.getlist("fold") if len(one) < 100 and one.isascii()]
    return picks, folds


def _page(
    request: HttpRequest,
    user: User,
    found: ActionList,
    selection: Selection,
    *,
    refused: MemoryUIError | None = None,
    typed: QueryDict | None = None,
) -> HttpResponse:
    covered = selection.covered
    effects = _effects(selection)
    blocked = _blocked(selection, effects)
    everything = request.GET.get("show") == "all"
    digest = bulk.set_digest(selection.members)
    typing = len(covered) >= bulk.TYPED_FROM or (selection.is_destructive and selection.decision == "approve")
    shown = {
        "decision": selection.decision,
        "does": _DOES[selection.decision],
        "title": _title(selection),
        "selection": selection,
        "table": action_selection.table_of(selection),
        "left_out": [
            {"group": group, "state": "stale" if group.code == "stale" else "muted", "rows": _named(group.actions)}
            for group in selection.left_out
        ],
        "rows": _rows(covered if everything else covered[:SHOWN_AT_FIRST], found.query),
        "rest": 0 if everything else max(0, len(covered) - SHOWN_AT_FIRST),
        "all_url": f"?{_with(request.GET, 'show', 'all')}",
        "effects": effects if blocked == "" else [],
        "digest": digest,
        "members": " ".join(f"{pk}:{bulk.short(one)}" for pk, one in selection.members),
        "shown_token": shown_token(digest, found.now.timestamp()),
        "phrase": bulk.phrase_for(selection.decision, len(covered)) if typing else "",
        "asks_password": selection.decision == "approve" and selection.is_destructive,
        "needs_reason": selection.decision == "reject",
        "blocked": blocked,
        "silent": action_selection.silent_stores([one for group in selection.left_out for one in group.actions], found.now),
        "refused": problems.from_error(refused) if refused is not None else None,
        "difference": _difference(user, refused),
        "reason": typed.get("reason", "") if typed is not None else "",
        "post_url": request.get_full_path(),
        "list_url": found.query.address(reverse("review_list")),
        "filters": found.query.parameters() if request.GET.get("every") == "1" else [],
        "every": request.GET.get("every") == "1",
    }
    return render(request, "stores/review_bulk.html", shown, status=refused.status if refused is not None else 200)


def _decide(request: HttpRequest, user: User, found: ActionList, chosen: Any, decision: Decision) -> HttpResponse:
    form = BulkForm(request.POST)
    selection = action_selection.part(user, chosen, decision, found.now)
    if not form.is_valid():
        error = BadRequest("The form does not say what it was shown: look at the list again.")
        return _page(request, user, found, selection, refused=error, typed=request.POST)
    given = form.cleaned_data
    try:
        shown = Shown(given["digest"], given["count"], _members(given["members"]))
        if len(selection.members) != shown.count or bulk.set_digest(selection.members) != shown.digest:
            raise SetChanged(bulk.difference_of(shown, selection.members))
        typing = shown.count >= bulk.TYPED_FROM or (selection.is_destructive and decision == "approve")
        if blocked := _blocked(selection, _effects(selection)):
            raise BadRequest(blocked)
        if typing and given["phrase"].strip() != bulk.phrase_for(decision, shown.count):
            raise BadRequest(f"Type “{bulk.phrase_for(decision, shown.count)}” to confirm. Nothing was decided.")
        manner = Manner(
            "page",
            found.now,
            given["reason"].strip(),
            password_given=_proved(request, user, given["password"]),
            took_s=seconds_since(given["shown"], given["digest"], found.now.timestamp()),
        )
        covered = visible_actions(user).filter(pk__in=[one.pk for one in selection.covered])
        batch, decided = bulk.decide(user, covered, shown, decision, manner)
    except (BadRequest, Conflict, NotAllowed) as error:
        return _page(request, user, found, selection, refused=error, typed=request.POST)
    done = sum(one.is_done for one in decided)
    if done == len(decided):
        messages.success(request, f"{_DOES[decision]}: all {done:,} actions")
    else:
        messages.warning(request, f"{_DOES[decision]}: {done:,} of {len(decided):,} actions; the others stand below with the reason")
    return redirect("review_batch", batch)


def _assign(request: HttpRequest, user: User, chosen: Any, query: ActionQuery) -> HttpResponse:
    rows = list(chosen.select_related("store").order_by("pk").defer("record", "effect")[: bulk.MOST])
    people = assignable()
    if request.method == "POST":
        name = request.POST.get("to", "")
        if name and name not in people:
            raise BadRequest("There is no such reviewer.")
        discussing.assign_all(user, rows, people.get(name), through="page")
        messages.success(request, f"{len(rows):,} actions are assigned to {people[name].label if name else 'nobody'}")
        return redirect(query.address(reverse("review_list")))
    shown = {
        "rows": _rows(rows[:SHOWN_AT_FIRST], query),
        "rest": max(0, len(rows) - SHOWN_AT_FIRST),
        "number": len(rows),
        "people": list(people.values()),
        "me": user.username,
        "post_url": request.get_full_path(),
        "list_url": query.address(reverse("review_list")),
    }
    return render(request, "stores/review_assign.html", shown)


def _proved(request: HttpRequest, user: User, password: str) -> bool:
    if not password:
        return False
    if sign_ins.confirmed(request, user.username, password) != user:
        raise PasswordNeeded("That is not your password. Nothing was decided.")
    return True


def _blocked(selection: Selection, effects: Sequence[dict[str, Any]]) -> str:
    """Say why nothing can be decided at once; "" where it can. What is not shown whole is approved by nobody (ruling 21)."""
    if not selection.covered:
        return "None of the selected actions can be decided like this."
    try:
        bulk.check(selection.covered, selection.decision)
    except BadRequest as error:
        return str(error)
    if selection.decision == "approve":
        for effect in effects:
            if any(file.left for file in effect["files"]):
                return f"The change of #{effect['action'].pk} is too large to be shown whole here: decide it on its own page."
    return ""


def _title(selection: Selection) -> str:
    if not selection.covered:
        return f"{_DOES[selection.decision]} together"
    first = selection.covered[0]
    number = action_words.counted(len(selection.covered), "action")
    stores = {one.store_slug for one in selection.covered}
    place = f" in {first.store_slug}" if len(stores) == 1 else f" in {len(stores)} stores"
    return f"{_DOES[selection.decision]} {number}: {action_words.verb_words(first.verb).doing.removesuffix(' of')}{place}"


def _rows(actions: list[LifecycleAction], query: ActionQuery) -> list[dict[str, Any]]:
    return [
        {
            "action": one,
            "risk": action_words.risk_bar(one.tier),
            "verb": action_words.verb_words(one.verb).does,
            "subject": action_words.subject(one),
            "url": action_lists.action_url(one.pk, query),
        }
        for one in actions
    ]


def _named(actions: list[LifecycleAction]) -> list[dict[str, Any]]:
    return _rows(actions[:NAMED_AT_MOST], ActionQuery())


def _effects(selection: Selection) -> list[dict[str, Any]]:
    """Give the whole effect of each action, where it takes something away and they are few enough to be decided at once."""
    if not selection.is_destructive or len(selection.covered) > MOST_DESTRUCTIVE:
        return []
    effects = keeping.effects_of(selection.covered)
    return [{"action": one, "files": change_views.file_views(effects[one.pk].changes, diff_rows.Shown())} for one in selection.covered]


def _members(text: str) -> tuple[tuple[int, str], ...]:
    members = []
    for one in text.split():
        pk, _, digest = one.partition(":")
        if pk.isascii() and pk.isdecimal() and len(pk) < 18:
            members.append((int(pk), digest))
    return tuple(members)


def _difference(user: User, error: MemoryUIError | None) -> list[dict[str, Any]]:
    """Name what came, went and changed since the page was shown, as far as the account may see it."""
    if not isinstance(error, SetChanged):
        return []
    groups = []
    for word, keys in error.difference._asdict().items():
        rows = visible_actions(user).filter(pk__in=keys[:NAMED_AT_MOST]).select_related("store").defer("record", "effect")
        if keys:
            groups.append({"word": word, "number": len(keys), "rows": _rows(list(rows.order_by("pk")), ActionQuery())})
    return groups


def _with(given: QueryDict, name: str, value: str) -> str:
    changed = given.copy()
    changed[name] = value
    return changed.urlencode()
