"""The page of a profile: its rules in words, beside what the store really holds."""

from __future__ import annotations

from collections.abc import Iterable

from django.forms.utils import flatatt
from django.utils.html import format_html
from django.utils.safestring import SafeString

from stores import charts, display, markup
from stores.addresses import list_url
from stores.formats.phase_memory import records
from stores.formats.phase_memory.aliases import unwrapped
from stores.formats.phase_memory.forecast import Due
from stores.formats.phase_memory.rules import Retention, Rules
from stores.formats.phase_memory.values import mapping
from stores.formats.phase_memory.vocabulary import DURABLE
from stores.memory_words import plain, spaced, title_of, value_of
from stores.models import Profile
from stores.record_facts import Fact
from stores.record_parts import memory_graph
from stores.record_parts.base import Content, Meter, Part, Said, fields, shown, tags
from stores.record_parts.cells import LEAD, NUM, SHORT_QUIET, WRAP, worded
from stores.record_parts.nodes import as_text, others
from stores.selectors import wording
from stores.selectors.phase_board import ActivationUse, ProfileUse
from stores.table_view import Head, Row, TableView

_FIELDS = frozenset(
    [
        "schema_version",
        "id",
        "title",
        "intent",
        "memory_kinds",
        "stores",
        "limits",
        "latency",
        "retention",
        "refresh",
        "compaction",
        "activation",
        "policy",
        "observability",
        "failure",
        "metadata",
    ]
)
_REVIEW = flatatt({"class": "short quiet", "data-word": "review"})
_WORDED = {"stores": "Where each kind lies", "latency": "Latency", "refresh": "Refresh", "compaction": "Compaction",
           "observability": "Observability", "failure": "When something is missing"}  # fmt: skip


def content(record: Profile, read: records.Profile, rules: Rules, use: ProfileUse, due: list[Due]) -> Content:
    """Put the page together."""
    return Content(
        title=title_of(record.title),
        tab_title=record.title,
        said=(
            Said(format_html("durable writes: {}", value_of(record.durable_writes))),
            *([Said(markup.clock(record.at_ms))] if record.at_ms else []),
        ),
        main=(
            *([Part("Intent", text=shown(read.intent))] if read.intent.strip() else []),
            _retention_part(record, rules, use),
            _transitions_part(record, rules, due),
            Part("What needs a review", note=shown(review_words(rules))),
            _budget_part(record, rules, use),
        ),
        side=(
            Part("Kinds of memory", tags=tags(read.memory_kinds), note="" if read.memory_kinds else "The profile names none."),
            *_worded_parts(read),
            Part("Record", facts=memory_graph.file_facts(record)),
        ),
        others=others(read.value, "profile", _FIELDS, ("title", "phase_transitions")),
    )


def _worded_parts(read: records.Profile) -> list[Part]:
    """Give what the profile sets besides, value by value."""
    value = unwrapped("profile", read.value)
    parts = []
    for name, title in _WORDED.items():
        given = mapping(value.get(name))
        if given:
            parts.append(Part(title, facts=fields((key, _plain(one)) for key, one in given.items())))
    return parts


def _plain(value: object) -> str:
    """Give a value as people read it: yes and no, names and values of a small object."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{spaced(name)} {_plain(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(_plain(one) for one in value)
    return as_text(value)


def _days(days: float) -> str:
    return f"{display.number(days)} day{'' if days == 1 else 's'}"


def retention_sentence(rule: Retention) -> str:
    """Say what happens to nodes of a kind as they grow old."""
    parts = []
    if rule.stale_after_days is not None:
        parts.append(f"stale {_days(rule.stale_after_days)} after the last change")
    if rule.delete_after_days is not None:
        parts.append(f"its deletion is asked for after {_days(rule.delete_after_days)}, which needs a review")
    if rule.strategy:
        parts.append(f"strategy {rule.strategy}")
    if rule.review_gate:
        parts.append(f"review gate {rule.review_gate}")
    return ", ".join(parts) or "kept without an end"


def _retention_part(record: Profile, rules: Rules, use: ProfileUse) -> Part:
    if not rules.retention:
        return Part("What is kept how long", note="The profile sets no retention: nothing goes stale by its age.")
    heads = (Head("Kind", LEAD), Head("Rule", WRAP), Head("Nodes", NUM), Head("Active", NUM), Head("Stale", NUM))
    own_kinds = {rule.kind for rule in rules.retention}
    rows = []
    for rule in rules.retention:
        is_default = rule is rules.retention_for("")
        kinds = [kind for kind in use.by_kind if (is_default and kind not in own_kinds) or kind == rule.kind]
        words = value_of(rule.kind) if not is_default else "every other kind" if len(rules.retention) > 1 else "every kind"
        one_kind = "" if is_default else rule.kind
        cells = (
            (LEAD, format_html("<span>{}</span>", words)),
            (WRAP, value_of(retention_sentence(rule))),
            (worded("nodes"), _number(record, sum(use.by_kind[kind].total() for kind in kinds), kind=one_kind)),
            (worded("active"), _number(record, sum(use.by_kind[kind]["active"] for kind in kinds), kind=one_kind, state="active")),
            (worded("stale"), _number(record, sum(use.by_kind[kind]["stale"] for kind in kinds), kind=one_kind, state="stale")),
        )
        rows.append(Row(cells))
    return Part(
        "What is kept how long",
        fact="durable memory never goes stale by its age alone",
        view=TableView("Retention", heads, rows, gutter=False),
        id="retention",
    )


def _number(record: Profile, number: int, **filters: str) -> SafeString:
    """Give a number that leads to what it counts, where one filter says that."""
    if not number:
        return format_html('<span class="zero">{}</span>', "0")
    wanted = {name: value for name, value in filters.items() if value}
    url = list_url("node_list", store=record.store.slug, **wanted) if filters.get("kind") else ""
    return format_html('<a href="{}">{}</a>', url, display.number(number)) if url else format_html("{}", display.number(number))


def _transitions_part(record: Profile, rules: Rules, due: list[Due]) -> Part:
    if not rules.transitions:
        return Part("What moves between phases", note="The profile sets no transition: phases change only when somebody asks for it.")
    return Part(
        "What moves between phases",
        fact="as the rules stand; nothing is planned by this",
        view=due_table(record, [one for one in due if one.verb == "move"]),
        id="transitions",
    )


def due_table(record: Profile, due: Iterable[Due]) -> TableView:
    """Give what rules move, now and next, as a table."""
    heads = (Head("Rule", LEAD), Head("Why", WRAP), Head("Review", SHORT_QUIET), Head("Due now", NUM), Head("Of", NUM), Head("Next", NUM))
    rows = []
    for one in due:
        cells = (
            (LEAD, rule_words(one)),
            (WRAP, value_of(one.reason) if one.reason else format_html('<span class="least">{}</span>', "by its age")),
            (_REVIEW, "needed" if one.needs_review else "not needed"),
            (worded("due"), display.number(one.due) if one.due else format_html('<span class="zero">{}</span>', "0")),
            (worded("of"), _concerned(record, one)),
            (worded("next"), next_words(one)),
        )
        rows.append(Row(cells, "pending" if one.due and one.needs_review else "ready" if one.due else "superseded"))
    return TableView("What the rules move", heads, rows)


def rule_words(one: Due) -> SafeString:
    """Say a rule in a few words."""
    kind = value_of(one.kind) if one.kind else "every other kind"
    if one.verb == "move":
        return format_html("<span>{}: {} → {} after {}</span>", kind, value_of(one.from_phase), value_of(one.to_phase), _days(one.days))
    return format_html("<span>{}: {} after {}</span>", kind, one.verb, _days(one.days))


def _concerned(record: Profile, one: Due) -> SafeString | str:
    if one.verb == "move":
        return _number(record, one.concerned, kind=one.kind, phase=one.from_phase, state="active")
    return display.number(one.concerned) if one.concerned else format_html('<span class="zero">{}</span>', "0")


def next_words(one: Due) -> SafeString | str:
    """Say when the next nodes are old enough."""
    if one.next_day is None:
        return format_html('<span class="least">{}</span>', "none waits")
    return format_html("{} on {}", display.number(one.next_number), markup.day(one.next_day * 86_400_000))


def review_words(rules: Rules) -> str:
    """Say what needs a review, and by whom, in sentences."""
    review = rules.review
    durable = " and ".join(sorted(DURABLE, reverse=True))
    said = [
        f"Durable writes are {review.durable_writes}."
        if review.durable_writes
        else "The profile does not say how durable memory is written.",
        f"Moving memory into or out of {durable}, refreshing, compacting, merging, superseding, restoring and asking for a deletion "
        "always need a review.",
    ]
    said.append(f"Reviewers are {wording.listed(list(review.reviewers), 8)}." if review.reviewers else "It names no reviewer.")
    said.append("A reason has to be given." if review.reason_required else "A reason is not asked for.")
    said.append("Who proposes may approve." if review.self_approval else "Who proposes may not approve.")
    if review.required_labels:
        said.append(f"Memory has to carry the label {wording.listed(list(review.required_labels), 8)}.")
    said.append("Secrets may be kept." if review.secrets_allowed else "Secrets may not be kept.")
    return " ".join(said)


def _budget_part(record: Profile, rules: Rules, use: ProfileUse) -> Part:
    meters = [
        Meter(
            f"{plain(limit.kind) or 'no kind'}, {limit.unit}",
            f"{display.number(use.number_of(limit.kind))} of {display.number(limit.most)}",
            charts.budget(use.number_of(limit.kind), limit.most),
        )
        for limit in rules.limits
    ]
    meters += _activation_meters(rules, use.activations)
    facts: list[Fact] = []
    if rules.budget.reserve_tokens is not None:
        facts.append({"label": "Held back", "value": f"{display.number(rules.budget.reserve_tokens)} tokens"})
    if use.activations.number:
        facts.append(
            {
                "label": "Activations",
                "value": display.number(use.activations.number),
                "url": list_url("activation_list", store=record.store.slug, profile_id=record.natural_id),
            }
        )
        if use.activations.over:
            facts.append({"label": "Over budget", "value": wording.counted(use.activations.over, "activation"), "state": "late"})
    note = "" if meters else "The profile sets no limit."
    return Part("Budgets against actual use", meters=meters, facts=facts, note=note, id="budgets")


def _activation_meters(rules: Rules, used: ActivationUse) -> list[Meter]:
    pairs = (
        ("Items of an activation, the most so far", used.most_items, rules.budget.max_items),
        ("Tokens of an activation, the most so far", used.most_tokens, rules.budget.max_tokens),
    )
    return [
        Meter(name, f"{display.number(most)} of {display.number(limit)}", charts.budget(most, limit))
        for name, most, limit in pairs
        if limit is not None and limit > 0 and most is not None and most >= 0
    ]
