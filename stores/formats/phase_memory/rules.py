"""The rules of a profile: what is kept how long, what moves when, who reviews, how much there may be (docs/formats.md)."""

from __future__ import annotations

from typing import Final, NamedTuple

from stores.formats import storable
from stores.formats.phase_memory.aliases import Record, unwrapped
from stores.formats.phase_memory.values import items, mapping, texts
from stores.formats.phase_memory.vocabulary import DURABLE

DEFAULT: Final = "default"
RULES_READ: Final = 100
"""Of each sort; a profile with more is no profile that anybody reads."""


class Retention(NamedTuple):
    """How long nodes of a kind are kept."""

    kind: str
    """`default` for every kind without a rule of its own."""
    stale_after_days: float | None
    delete_after_days: float | None
    strategy: str
    review_gate: str
    """What the rule says of a review, as it is written; "" for nothing."""


class Transition(NamedTuple):
    """When nodes of a kind move to another phase."""

    kind: str
    from_phase: str
    to_phase: str
    min_age_days: float
    reason: str

    @property
    def needs_review(self) -> bool:
        """Whether a person has to decide: into a durable phase, or out of one."""
        return self.to_phase in DURABLE or self.from_phase in DURABLE


class Limit(NamedTuple):
    """How many nodes, or items, of a kind there may be."""

    kind: str
    most: float
    unit: str
    """nodes or items."""


class Budget(NamedTuple):
    """How much an activation may put before an agent."""

    max_items: float | None
    max_tokens: float | None
    reserve_tokens: float | None


class Review(NamedTuple):
    """What needs a review, and by whom."""

    durable_writes: str
    reviewers: tuple[str, ...]
    reason_required: bool
    self_approval: bool
    required_labels: tuple[str, ...]
    secrets_allowed: bool


class Rules(NamedTuple):
    """What a profile asks for."""

    retention: tuple[Retention, ...]
    """The default one first."""
    transitions: tuple[Transition, ...]
    limits: tuple[Limit, ...]
    budget: Budget
    review: Review

    def retention_for(self, kind: str) -> Retention | None:
        """Give the rule for a kind: its own, else the default; a single rule is the default of all. None where nothing is said."""
        own = next((rule for rule in self.retention if rule.kind == kind), None)
        return own or next((rule for rule in self.retention if rule.kind == DEFAULT or len(self.retention) == 1), None)

    def counting(self, kind: str, said: str) -> Retention | None:
        """Give the rule by which nodes of a kind go stale or are deleted, given the field that says after how many days.

        A kind's own rule goes over the default one field by field: where it is silent, the default counts. None where neither says it.
        """
        asked = (self.retention_for(kind), self.retention_for(""))
        return next((rule for rule in asked if rule is not None and getattr(rule, said) is not None), None)


def rules(profile: Record) -> Rules:
    """Read the rules of a profile; what is of a wrong type is left out."""
    record = unwrapped("profile", profile)
    policy, activation = mapping(record.get("policy")), mapping(record.get("activation"))
    review = mapping(policy.get("review"))
    return Rules(
        retention=_retention(mapping(record.get("retention"))),
        transitions=_transitions(items(mapping(record.get("metadata")).get("phase_transitions"))),
        limits=_limits(mapping(record.get("limits"))),
        budget=Budget(*(storable.number(activation.get(name)) for name in ("max_items", "max_tokens", "reserve_tokens"))),
        review=Review(
            durable_writes=storable.text(policy.get("durable_writes")),
            reviewers=texts(review.get("default_reviewers")),
            reason_required=review.get("reason_required") is True,
            self_approval=review.get("self_approval") is True,
            required_labels=texts(policy.get("required_labels")),
            secrets_allowed=policy.get("secrets_allowed") is True,
        ),
    )


def _retention(given: Record) -> tuple[Retention, ...]:
    found = [
        Retention(
            kind=storable.name(kind),
            stale_after_days=_days(mapping(rule).get("stale_after_days")),
            delete_after_days=_days(mapping(rule).get("delete_after_days")),
            strategy=storable.text(mapping(rule).get("strategy")),
            review_gate=storable.text(mapping(rule).get("review_gate")),
        )
        for kind, rule in list(given.items())[:RULES_READ]
        if isinstance(rule, dict)
    ]
    return tuple(sorted(found, key=lambda rule: (rule.kind != DEFAULT, rule.kind)))


def _transitions(given: list[object]) -> tuple[Transition, ...]:
    found = []
    for rule in map(mapping, given[:RULES_READ]):
        kind = storable.name(rule.get("kind") or rule.get("node_kind"))
        days = _days(rule.get("min_age_days"))
        if kind and rule.get("to_phase"):
            phases = storable.name(rule.get("from_phase")), storable.name(rule.get("to_phase"))
            found.append(Transition(kind, *phases, days or 0, storable.text(rule.get("reason"))))
    return tuple(found)


def _limits(given: Record) -> tuple[Limit, ...]:
    found = []
    for kind, limit in list(given.items())[:RULES_READ]:
        for unit in ("nodes", "items"):
            most = storable.number(mapping(limit).get(f"max_{unit}"))
            if most is not None and most > 0:
                found.append(Limit(storable.name(kind), most, unit))
    return tuple(sorted(found))


def _days(value: object) -> float | None:
    days = storable.number(value)
    return days if days is not None and days >= 0 else None
