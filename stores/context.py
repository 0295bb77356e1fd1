"""What every page shows around its content: theme, navigation, the worst stores, workers, the status strip."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from stores.accounts import Role, Visitor, roles
from stores.formats import KINDS
from stores.models import User, Worker
from stores.selectors import review_counts, verdicts, wording
from stores.selectors.review_counts import ReviewCounts, Switch

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"
KEYS_COOKIE = "single_keys"
"""Holds "off" in a browser whose user does not want keys that act without Ctrl or Alt (ruling 69)."""
KEYS_LAST_S = 365 * 86_400
STORES_IN_RAIL = 6
_ROLES = "_roles_of_account"
_PAGE = "_frame_of_page"


class RailStore(NamedTuple):
    """A store in the rail."""

    slug: str
    name: str
    verdict: str


class RailList(NamedTuple):
    """A list of records in the rail."""

    label: str
    url: str
    current: bool


class WorkerLine(NamedTuple):
    """A worker at the foot of the rail."""

    label: str
    alive: bool
    seen_text: str
    """"4 s ago", "silent since 14:02", "never seen"."""
    note: str


class Strip(NamedTuple):
    """The status strip: the only part of a page that is polled."""

    verdict: str
    """The worst of all stores that the account sees."""
    text: str
    """"1 degraded, 1 unmeasured", "23 healthy", "no stores"."""
    failing: int
    """Stores that are degraded or unavailable, for the title and the favicon."""
    version: str
    """Digest of all the above and below: the strip asks for itself with it and gets nothing while it is the same."""
    review: str = ""
    """"Review 17 · oldest 3 d"; "" for who may not review."""
    review_state: str = ""
    """The shape: only what is overdue draws the eye."""
    waiting: int = 0
    """Actions that wait for a review, for the title of the pages of the queue."""
    applying: bool = False
    switch: str = ""
    """"Applying on", "Applying stopped by Ines Moreau"; "" where it was not asked."""


SECTIONS = {
    "overview": "overview",
    "decision": "decisions",
    "problem": "problems",
    "queue": "queue",
    "health": "health",
    "audit": "audit",
    "review": "review",
    "action": "review",
    "switch": "review",
    "default_policy": "review",
    "flow": "flows",
    "event": "sessions",
    "session": "sessions",
    "search": "search",
    "account": "account",
    "store": "stores",
    "fault": "stores",
    "node": "nodes",
    "edge": "nodes",
    "profile": "nodes",
    "activation": "nodes",
    "path": "paths",
    "memory_event": "events",
    "event_versions": "events",
    "audit_record": "events",
}
"""A URL's name, without its last word, or its first word alone -> the entry of the rail that is marked."""
MEMORY = (
    ("decision", "Decisions", "decision_list", "decisions"),
    ("problem", "Problems", "problem_list", "problems"),
    ("queue_operation", "Queue", "queue_list", "queue"),
    ("flow", "Flows", "flow_list", "flows"),
    ("session_event", "Sessions", "event_list", "sessions"),
    ("node", "Nodes", "node_list", "nodes"),
    ("path", "Paths", "path_list", "paths"),
    ("event", "Events", "memory_event_list", "events"),
)
"""Type of record, words, URL name and section of each list in the rail."""


class Page:
    """The frame of one page. Each part is made when a template asks for it: at most three queries, none for a fragment."""

    def __init__(self, request: HttpRequest) -> None:
        self._request = request
        self._user: Visitor = getattr(request, "user", AnonymousUser())

    @cached_property
    def theme(self) -> str:
        """`light`, `dark` or `auto`."""
        return theme(self._request)

    @cached_property
    def now(self) -> datetime:
        """The moment for which everything on the page is told."""
        return timezone.now()

    @property
    def user(self) -> str:
        """The name of who is signed in; "" on pages without rail and bar."""
        return self._user.label if isinstance(self._user, User) else ""

    @cached_property
    def roles(self) -> Collection[Role]:
        """Roles of the account."""
        held: Collection[Role] | None = getattr(self._request, _ROLES, None)
        return roles(self._user) if held is None else held

    @property
    def keys_off(self) -> bool:
        """Whether single keys are off in this browser."""
        return keys_off(self._request)

    @property
    def is_reviewer(self) -> bool:
        """Whether the account may decide and unmask."""
        return "reviewer" in self.roles

    @property
    def is_operator(self) -> bool:
        """Whether the account may manage stores."""
        return "operator" in self.roles

    @property
    def is_superuser(self) -> bool:
        """Whether the account administers accounts."""
        return isinstance(self._user, User) and self._user.is_superuser

    @property
    def nav(self) -> str:
        """The section that the page belongs to; "" for none."""
        match = self._request.resolver_match
        name = (match.url_name or "") if match is not None else ""
        return next((SECTIONS[word] for word in (name, name.rpartition("_")[0], name.partition("_")[0]) if word in SECTIONS), "")

    @property
    def in_queue(self) -> bool:
        """Whether the page is one of the review queue: then its title counts what waits there."""
        return self.nav == "review" and self.is_reviewer

    @property
    def nav_store(self) -> str:
        """Slug of the store that the page belongs to; "" for none."""
        match = self._request.resolver_match
        return str(match.kwargs.get("slug", "")) if match is not None and self.nav == "stores" else ""

    @cached_property
    def judged(self) -> list[verdicts.JudgedStore]:
        """Every store that the account sees, worst first; the strip's other facts come with them. One query."""
        beside = review_counts.beside(self._user, self.now, counts=self.is_reviewer) if isinstance(self._user, User) else None
        return verdicts.judged_stores(self._user, self.now, beside)

    @cached_property
    def stores(self) -> tuple[RailStore, ...]:
        """The worst six."""
        return tuple(RailStore(one.store.slug, one.store.name, one.verdict) for one in self.judged[:STORES_IN_RAIL])

    @property
    def memory(self) -> list[RailList]:
        """The lists of what stores of these kinds hold; without a store those of the first kind."""
        kinds = {one.store.kind for one in self.judged} & KINDS.keys() or set(list(KINDS)[:1])
        held = {spec.record_type for kind in kinds for spec in KINDS[kind].files}
        nav = self.nav
        return [RailList(label, reverse(name), nav == section) for record_type, label, name, section in MEMORY if record_type in held]

    @property
    def stores_total(self) -> int:
        """How many stores the account sees."""
        return len(self.judged)

    @cached_property
    def workers(self) -> tuple[WorkerLine, ...]:
        """Every worker with its last sign of life. One query."""
        return tuple(_worker_line(worker, self.now) for worker in Worker.objects.all())

    @cached_property
    def strip(self) -> Strip:
        """The status strip."""
        return strip_of(self.judged, self.review if self.is_reviewer else None, self.switch, self.now)

    @cached_property
    def switch(self) -> Switch:
        """Whether anything is applied. Up to one query, where no store is to be seen."""
        found = review_counts.switch_of(self.judged[0].store) if self.judged else None
        return found or review_counts.switch()

    @cached_property
    def review(self) -> ReviewCounts:
        """What waits in the review queue. Up to one query, where no store is to be seen."""
        counts = review_counts.counts_of(self.judged[0].store) if self.judged else None
        return counts or review_counts.review_counts(self._user, self.now)

    @cached_property
    def single_reviewer(self) -> frozenset[int]:
        """Keys of the stores in which one person may propose and approve: every page of them says so (ruling 15)."""
        return frozenset(one.store.pk for one in self.judged if getattr(one.store, "single_reviewer", False))


def page(request: HttpRequest) -> dict[str, Page]:
    """Give templates the frame of the page."""
    return {"page": page_of(request)}


def page_of(request: HttpRequest) -> Page:
    """Give the frame of the page, one a request: what a view asks of it is not asked again for its template."""
    found: Page | None = getattr(request, _PAGE, None)
    if found is None:
        found = Page(request)
        setattr(request, _PAGE, found)
    return found


def theme(request: HttpRequest) -> str:
    """Give the chosen theme: a cookie that the server reads, so that no page flashes."""
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    return chosen if chosen in THEMES else THEMES[0]


def keys_off(request: HttpRequest) -> bool:
    """Say whether single keys are off in this browser: those of the queue, and "/" for the search."""
    return request.COOKIES.get(KEYS_COOKIE) == "off"


def keep_keys(request: HttpRequest, response: HttpResponse, *, off: bool) -> None:
    """Keep the choice with an answer."""
    if off:
        response.set_cookie(KEYS_COOKIE, "off", max_age=KEYS_LAST_S, secure=request.is_secure(), httponly=True, samesite="Lax")
    else:
        response.delete_cookie(KEYS_COOKIE, samesite="Lax")


def remember_roles(request: HttpRequest, held: Collection[Role]) -> None:
    """Keep the roles that were asked for once, for the rest of the request."""
    setattr(request, _ROLES, held)


def strip_of(
    judged: list[verdicts.JudgedStore], counts: ReviewCounts | None = None, switch: Switch | None = None, now: datetime | None = None
) -> Strip:
    """Give the status strip that says how some stores are, what waits for a review, and whether anything is applied."""
    tallied = verdicts.tally(judged)
    troubled = {verdict: count for verdict, count in tallied.items() if verdict != "healthy"}
    text = ", ".join(f"{count:,} {verdict}" for verdict, count in (troubled or tallied).items()) or "no stores"
    verdict = verdicts.overall(one.verdict for one in judged)
    failing = tallied.get("unavailable", 0) + tallied.get("degraded", 0)
    review = counts.words(now or timezone.now()) if counts is not None else ""
    review_state = "overdue" if counts is not None and counts.overdue else "pending"
    waiting = counts.pending if counts is not None else 0
    applying, said = (switch.on, switch.words) if switch is not None else (False, "")
    version = hashlib.sha256("\n".join([verdict, text, str(failing), review, review_state, said]).encode()).hexdigest()[:16]
    return Strip(verdict, text, failing, version, review, review_state if review else "", waiting, applying, said)


def _worker_line(worker: Worker, now: datetime) -> WorkerLine:
    if worker.seen_at is None:
        return WorkerLine(worker.label, False, "never seen", worker.note)
    if verdicts.is_silent(worker, now):
        return WorkerLine(worker.label, False, f"silent since {wording.moment(worker.seen_at, now)}", worker.note)
    return WorkerLine(worker.label, True, f"{wording.age_since(worker.seen_at, now)} ago", worker.note)
