"""The page of one action, and what people do on it; each form says exactly what it was shown (ux.md 2.9)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.contrib import messages
from django.db.models import Q
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.views.decorators.http import require_POST, require_safe

from stores import action_lists, action_parts, action_words, change_views, line_comments, sign_ins
from stores.accounts import require_reviewer
from stores.context import Page, keys_off
from stores.diff_rows import MODES, Shown
from stores.errors import BadRequest, Conflict, MemoryUIError, NotAllowed
from stores.forms.review import AssignForm, CommentForm, DecisionForm, ShownForm, SnoozeForm, key_of, seconds_since, shown_token
from stores.htmx import page_or_fragment
from stores.lifecycle.differences import Place
from stores.lists.actions import TABS, ActionQuery, read_actions
from stores.models import ActionComment, LifecycleAction, User
from stores.review import deciding, discussing, renewing
from stores.review.approving import approve
from stores.review.deciding import Decided, Manner, PasswordNeeded, action_seen_by, allow_apply, reject, withdraw
from stores.selectors.action_checks import around
from stores.selectors.action_page import ActionPage, TargetLine, action_page, targets_now
from stores.selectors.actions import ActionList, Neighbours
from stores.views import problems
from stores.views.editing import is_offered
from stores.views.requests import signed_in, whole_number

FRAGMENT: Final = "action"
TEMPLATE: Final = "stores/action_detail.html"
ASSIGNABLE: Final = 200
SNOOZES: Final = ((4, "4 hours"), (24, "a day"), (72, "3 days"), (168, "a week"))
_MODES: Final = dict(MODES)
_CHANGES: Final = ("diff", "file", "from", "context", "at")
"""Parameters that say how the change is shown."""


@require_safe
def action_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """One action: what it would do, why it waits, what it rests on, who decided; as a page, and beside its list."""
    return _answer(request, signed_in(request), pk)


@require_safe
def action_now(request: HttpRequest, pk: int) -> HttpResponse:
    """Where the action and its targets stand now; 204 while that is what the page says."""
    user = signed_in(request)
    action = action_seen_by(user, pk)
    lines = targets_now(action)
    version = _version(action, lines)
    if request.GET.get("seen") == version and request.headers.get("HX-Request") == "true":
        return HttpResponse(status=204)
    shown = {
        "now_url": _now_url(pk, version),
        "targets": action_parts.target_views(lines),
        "targets_left": max(0, action.target_count - len(lines)),
        "asked": timezone.now(),
        "moved_on": request.GET.get("revision", str(action.revision)) != str(action.revision),
        "revision": action.revision,
        "page_of": {"action": action, "is_open": action.is_open},
        "reload": action_lists.action_url(pk, None),
    }
    return render(request, "stores/_action_now.html", shown)


@require_POST
def action_decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve, reject, withdraw, let be applied, renew or take back; what is refused shows the page again with what was typed."""
    user = signed_in(request)
    form = DecisionForm(request.POST)
    action = action_seen_by(user, pk)
    if not form.is_valid():
        return _answer(request, user, pk, refused=BadRequest(_form_words(form)), typed=request.POST)
    given = form.cleaned_data
    now = timezone.now()
    try:
        _check_shown(action, given)
        manner = _manner(request, user, action, given, now)
        behind = _behind(user, pk, given["list"], now)
        said, then = _DECISIONS[given["decision"]](user, action, given, manner)
    except (BadRequest, Conflict, NotAllowed) as error:
        return _answer(request, user, pk, refused=error, typed=request.POST)
    messages.success(request, said)
    if given["decision"] in ("approve", "reject") and given["list"]:
        return redirect(_next_place(behind, given))
    return redirect(_place(then, given))


@require_POST
def action_comment(request: HttpRequest, pk: int) -> HttpResponse:
    """Say something of an action, or of one line of what it changes."""
    user = signed_in(request)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _answer(request, user, pk, refused=BadRequest("A comment has 1 to 10,000 characters."), typed=request.POST)
    given = form.cleaned_data
    at = Place.read(given["at"])
    try:
        if at is None and given["at"]:
            raise BadRequest("There is no such line in what the action changes.")
        made = discussing.comment(user, pk, given["text"], through="page", at=at)
    except BadRequest as error:
        return _answer(request, user, pk, refused=error, typed=request.POST)
    return redirect(f"{_place(pk, given, at)}#{f'comment-{made.pk}' if at is not None else 'comments'}")


@require_POST
def action_assign(request: HttpRequest, pk: int) -> HttpResponse:
    """Give an action to somebody, or to nobody."""
    user = signed_in(request)
    action_seen_by(user, pk)
    form = AssignForm(request.POST)
    if not form.is_valid():
        raise BadRequest("Name one account.")
    name = form.cleaned_data["to"]
    to = user if name == user.username else assignable().get(name)
    if name and to is None:
        raise BadRequest("There is no such reviewer.")
    discussing.assign(user, pk, to, through="page")
    messages.success(request, f"#{pk} is assigned to {to.label if to is not None else 'nobody'}")
    return redirect(_place(pk, form.cleaned_data))


@require_POST
def action_snooze(request: HttpRequest, pk: int) -> HttpResponse:
    """Hide an action from one's own list for a while."""
    user, now = signed_in(request), timezone.now()
    action_seen_by(user, pk)
    form = SnoozeForm(request.POST)
    if not form.is_valid():
        raise BadRequest("Snooze for at most 30 days.")
    given, hours = form.cleaned_data, form.cleaned_data["hours"]
    behind = _behind(user, pk, given["list"], now)
    discussing.snooze(user, pk, now + timedelta(hours=hours) if hours else None, now)
    messages.success(request, f"#{pk} is {'hidden from your list for a while' if hours else 'in your list again'}; its due time goes on")
    return redirect(_next_place(behind, given) if hours and given["list"] else _place(pk, given))


@require_POST
def action_look(request: HttpRequest, pk: int) -> HttpResponse:
    """Note that a reviewer looks at an action, and say who else does; a hint, never a lock (ruling 64)."""
    user = require_reviewer(signed_in(request))
    other = discussing.look_at(user, action_seen_by(user, pk), timezone.now())
    if request.headers.get("HX-Request") != "true":
        return redirect("action_detail", pk)
    return render(request, "stores/_action_looks.html", {"other": other.label if other is not None else ""})


def assignable() -> dict[str, User]:
    """Give the accounts to which an action may be given, by name: those with the role; whether they see the store is asked then."""
    found = User.objects.filter(Q(groups__name="reviewer") | Q(is_superuser=True), is_active=True).distinct().order_by("username")
    return {one.username: one for one in found[:ASSIGNABLE]}


def _answer(
    request: HttpRequest, user: User, pk: int, *, refused: MemoryUIError | None = None, typed: QueryDict | None = None
) -> HttpResponse:
    now = timezone.now()
    action = action_seen_by(user, pk)
    page = action_page(user, action, now)
    given = typed if typed is not None else request.GET
    beside = request.headers.get("HX-Target") == FRAGMENT
    query = _asked(QueryDict(given.get("list", ""))) if typed is not None else _asked(request.GET)
    shown = {
        **_common(request, user, page, query, now),
        **_changes(request, page, query, Place.read(given.get("at", ""))),
        "refused": problems.from_error(refused) if refused is not None else None,
        "typed": {name: given.get(name, "") for name in ("reason", "text")} if typed is not None else {},
        "beside": beside,
        "from_list": bool(given.get("beside")) if typed is not None else beside,
    }
    template = page_or_fragment(request, TEMPLATE, FRAGMENT)
    return render(request, template, shown, status=refused.status if refused is not None else 200)


def _common(request: HttpRequest, user: User, page: ActionPage, query: ActionQuery | None, now: datetime) -> dict[str, Any]:
    action = page.action
    beside = _neighbours(user, query, action.pk, now)
    listed = urlencode([("tab", query.tab), *query.parameters(without=("tab", "page"))]) if query is not None else ""
    due_state, due = action_lists.due_words(action, now)
    reason, reason_left, reason_whole = action_parts.reason_parts(action)
    waiting_state, waiting = action_parts.waiting_words(page, now)
    version = _version(action, page.targets)
    return {
        "action": action,
        "page_of": page,
        "can": page.can,
        "can_edit": is_offered(user, action),
        "verb": action_words.verb_words(action.verb).does,
        "subject": action_words.subject(action),
        "headline": action_words.plain_headline(action),
        "risk": action_words.risk_bar(action.tier),
        "short_id": action_words.short_id(action.action_id),
        "due_state": due_state,
        "due": due,
        "reason_text": reason,
        "reason_left": reason_left,
        "reason_whole": reason_whole,
        "why": action_parts.why_review(page),
        "waiting_state": waiting_state,
        "waiting": waiting,
        "targets": action_parts.target_views(page.targets),
        "targets_left": max(0, action.target_count - len(page.targets)),
        "asked": now,
        "now_url": _now_url(action.pk, version),
        "around": around(page),
        "approvals": action_parts.approvals_of(page, now),
        "trail": action_parts.trail_of(page),
        "files": action_parts.written_files(page),
        "approve_label": action_words.approve_label(action),
        "quick_reasons": action_parts.QUICK_REASONS,
        "assignable": list(assignable().values()) if page.can.assign else [],
        "snoozes": SNOOZES,
        "shown_token": shown_token(key_of(action), now.timestamp()),
        "listed": listed,
        "place": beside,
        "tab": TABS[query.tab] if query is not None else "",
        "list_url": query.address(reverse("review_list")) if query is not None else reverse("review_list"),
        "previous_url": action_lists.action_url(beside.previous, query) if beside.previous else "",
        "next_url": action_lists.action_url(beside.next, query) if beside.next else "",
        "earlier_comments": ActionComment.objects.filter(action=action.renewed_from_id).count() if action.renewed_from_id else 0,
        "newer": LifecycleAction.objects.filter(renewed_from=action).order_by("-pk").only("pk", "origin").first(),
        "undone_by": LifecycleAction.objects.filter(undo_of=action).order_by("-pk").values_list("pk", flat=True).first(),
        "me": user.username,
        "keys_off": keys_off(request),
        "page_roles": sorted(Page(request).roles),
    }


def _changes(request: HttpRequest, page: ActionPage, query: ActionQuery | None, at: Place | None) -> dict[str, Any]:
    """Give the changes as the address asks for them, with the addresses that show them otherwise."""
    mode = request.GET.get("diff", "")
    shown = Shown(
        mode if mode in _MODES else "unified",
        whole_number(request, "file", 0, 1_000_000),
        whole_number(request, "from", 1, 1_000_000_000),
        request.GET.get("context") == "1",
        at,
        line_comments.places_of(page.comments),
    )
    changes = page.effect.changes if page.effect is not None else ()
    views = line_comments.with_comments(change_views.file_views(changes, shown), page.comments, at)
    address = action_lists.action_url(page.action.pk, query)
    beside = "&" if "?" in address else "?"
    kept = {"diff": shown.mode} if shown.mode != "unified" else {}
    wider = {**kept, "context": "1"} if shown.context else kept
    sources, results, sources_left = action_parts.sources_of(page)
    moved = page.moved
    return {
        "changes": views,
        "change_totals": change_views.totals(views),
        "modes": [
            {
                "label": label,
                "url": f"{address}{beside}{urlencode({'diff': name, **({'context': '1'} if shown.context else {})})}#change",
                "state": "",
                "current": name == shown.mode,
            }
            for name, label in MODES
        ],
        "more_url": f"{address}{beside}{urlencode(kept)}{'&' if kept else ''}",
        "line_url": f"{address}{beside}{urlencode(wider)}{'&' if wider else ''}at=",
        "line_asked": line_comments.words_of(at, changes) if at is not None and any(row.asked for one in views for row in one.rows) else "",
        "no_line_url": f"{address}{beside if wider else ''}{urlencode(wider)}#change",
        "thread": line_comments.thread_of(page.comments, changes),
        "context_url": "" if shown.context else f"{address}{beside}{urlencode({**kept, 'context': '1'})}#change",
        "sources": sources,
        "results": results,
        "sources_left": sources_left,
        "moved_fields": action_parts.fields_of(moved) if moved is not None else [],
        "moved_view": change_views.between(moved.path, moved.before, moved.now, shown)
        if moved is not None and moved.now is not None
        else None,
    }


def _asked(given: QueryDict) -> ActionQuery | None:
    """Give the list that an address or a form names; None where it names none."""
    return read_actions(given) if "tab" in given or any(name not in _CHANGES for name in given) else None


def _neighbours(user: User, query: ActionQuery | None, pk: int, now: datetime) -> Neighbours:
    return ActionList(user, query, now).neighbours(pk) if query is not None else Neighbours(0, 0, None, None)


def _behind(user: User, pk: int, listed: str, now: datetime) -> int | None:
    """Give the action that follows in the list before it changes."""
    if not listed:
        return None
    beside = _neighbours(user, read_actions(QueryDict(listed)), pk, now)
    return beside.next or beside.previous


def _check_shown(action: LifecycleAction, given: dict[str, Any]) -> None:
    """Raise Conflict unless the form was made from the action as it is."""
    if given["digest"] != action.digest or given["revision"] != action.revision:
        raise Conflict("The action was decided or changed by somebody else since this page was shown. It stands below as it is now.")


def _manner(request: HttpRequest, user: User, action: LifecycleAction, given: dict[str, Any], now: datetime) -> Manner:
    proved = False
    if given["password"]:
        proved = sign_ins.confirmed(request, user.username, given["password"]) == user
        if not proved:
            raise PasswordNeeded("That is not your password. Nothing was decided.")
    took = seconds_since(given["shown"], key_of(action), now.timestamp())
    return Manner("page", now, given["reason"].strip(), password_given=proved, break_glass=given["break_glass"], took_s=took)


def _approve(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    decided = approve(user, action.pk, given["digest"], manner)
    more = "; it needs one more approval" if decided.code == "counted" else ""
    return f"Approved #{action.pk}: {action_words.plain_headline(action)}{more}", action.pk


def _reject(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    reject(user, action.pk, given["digest"], manner)
    return f"Rejected #{action.pk}: {action_words.plain_headline(action)}", action.pk


def _withdraw(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    withdraw(user, action.pk, manner)
    return f"Withdrawn #{action.pk}", action.pk


def _allow(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    decided: Decided = deciding.or_raise(allow_apply(user, [action], manner)[0])
    return f"#{decided.action.pk} may be applied; its worker takes it up", action.pk


def _renew(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    made = renewing.renew(user, action.pk, manner.now, through=manner.through)
    return f"#{made.pk} proposes the same on today's content; it needs a new approval", made.pk


def _undo(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    reason = manner.reason or f"Takes back #{action.pk}."
    made = renewing.undo(user, action.pk, reason, manner.now, through=manner.through)
    return f"#{made.pk} proposes to take #{action.pk} back; another reviewer decides", made.pk


def _check(user: User, action: LifecycleAction, given: dict[str, Any], manner: Manner) -> tuple[str, int]:
    discussing.check_sample(user, action.pk, manner.now, through=manner.through)
    return f"Noted that you have checked #{action.pk}", action.pk


_DECISIONS: Final[dict[str, Callable[[User, LifecycleAction, dict[str, Any], Manner], tuple[str, int]]]] = {
    "approve": _approve,
    "reject": _reject,
    "withdraw": _withdraw,
    "allow": _allow,
    "renew": _renew,
    "undo": _undo,
    "check": _check,
}


def _next_place(behind: int | None, given: dict[str, Any]) -> str:
    """Give where a person goes on after a decision: in the same list, on the action that followed."""
    query = read_actions(QueryDict(given["list"]))
    if behind is None:
        return query.address(reverse("review_list"))
    return _place(behind, given)


def _place(pk: int, given: dict[str, Any], at: Place | None = None) -> str:
    """Give the action's page, or its place beside the list where it stood there; with a line of what it changes in sight."""
    query = _asked(QueryDict(given["list"]))
    line = {"at": str(at)} if at is not None else {}
    if query is None or not given["beside"]:
        return action_lists.action_url(pk, query, **line)
    address = query.address(reverse("review_list"))
    return f"{address}{'&' if '?' in address else '?'}{urlencode({'open': str(pk), **line})}"


def _form_words(form: ShownForm) -> str:
    if "reason" in form.errors:
        return f"A reason has at most {deciding.LONGEST_REASON:,} characters."
    return "The form does not say what it was shown: load the page again."


def _now_url(pk: int, version: str) -> str:
    return f"{reverse('action_now', args=[pk])}?seen={version}"


def _version(action: LifecycleAction, targets: Sequence[TargetLine]) -> str:
    """Name what the polled part of the page says."""
    return "-".join([str(action.revision), action.state, *(line.state for line in targets)])
