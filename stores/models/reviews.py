"""The review queue: proposed actions, what people decided on them, and what was written (ruling 7).

Rows outlive their store: what was decided and applied stays when a mirror is dropped.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.urls import reverse

from stores.lifecycle.states import OPEN, State
from stores.lifecycle.vocabulary import Tier
from stores.models.accounts import ApiToken, User
from stores.models.stores import Store

TIER_RANKS = {Tier.SAFE: 0, Tier.LOW: 1, Tier.MEDIUM: 2, Tier.HIGH: 3}
"""How a queue is sorted by what is at stake."""
STATES = [(str(state), str(state)) for state in State]
TIERS = [(str(tier), str(tier)) for tier in Tier]
IS_OPEN = Q(state__in=sorted(OPEN))
COUNTED = [
    "state",
    "store",
    "verb",
    "tier",
    "kind",
    "proposed_by",
    "assigned_to",
    "alike",
    "rank",
    "due_at",
    "created_at",
    "closed_at",
    "reason_code",
    "adds_secret",
]
"""What numbers, facets and folded rows of the queue are made of: with all of it in one index none of them reads the long rows."""


class KeptBytes(models.Model):
    """Bytes of a file or line before or after a change, by their sha256; equal ones stand once and are never changed."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    content = models.BinaryField()


class LifecycleAction(models.Model):
    """One proposed change, from its intake to its receipt."""

    ORIGINS = [(word, word) for word in ("planner", "agent", "terminal", "page", "undo", "renewed")]

    store = models.ForeignKey(Store, on_delete=models.SET_NULL, null=True, related_name="actions")
    store_uid = models.UUIDField()
    store_slug = models.CharField(max_length=80)
    kind = models.CharField(max_length=32)
    action_id = models.CharField(max_length=80)
    """`action:` and the hash of its content."""
    verb = models.CharField(max_length=40)
    tier = models.CharField(max_length=8, choices=TIERS)
    rank = models.SmallIntegerField()
    """`TIER_RANKS` of the tier."""
    state = models.CharField(max_length=10, choices=STATES)
    revision = models.IntegerField(default=1)
    """One more with each change of its state or decisions; a form that has another one is out of date."""
    record = models.TextField()
    """The action's record as canonical JSON: exactly what the digest is about."""
    digest = models.CharField(max_length=71)
    """`sha256:…` over the record, the store's id and the bytes of every target before and after (ruling 2)."""
    effect = models.TextField()
    """`lifecycle.packing` of the effect, as JSON; its bytes are `KeptBytes`."""
    sentence = models.TextField()
    """The effect in one sentence, computed here."""
    undo_refused = models.TextField(blank=True)
    """Why it cannot be undone; "" where it can."""
    requires_review = models.BooleanField()
    durable = models.BooleanField(default=False)
    """A target was durable at intake."""
    destructive = models.BooleanField(default=False)
    adds_secret = models.BooleanField(default=False)
    """It would write something that looks like a secret and is not there yet: nobody can approve it."""

    target_type = models.CharField(max_length=16)
    target_count = models.IntegerField()
    first_target = models.CharField(max_length=220)
    """Id of the first target, for lists."""
    gist = models.TextField(blank=True)
    """First line of what the first target says, for lists."""
    reason = models.TextField(blank=True)
    """Why, in the proposer's own words."""
    alike = models.CharField(max_length=64)
    """Hash of store, verb, proposer and kind of effect: equal ones are folded in lists."""

    origin = models.CharField(max_length=10, choices=ORIGINS)
    proposer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    """The account that proposed it; None for the planner and for what came from a shell."""
    token = models.ForeignKey(ApiToken, on_delete=models.SET_NULL, null=True, related_name="+")
    """The agent's token by which it came."""
    proposed_by = models.CharField(max_length=220)
    """Who proposed it, as text: an account, a token's label, the planner, or `os:user@host`."""
    also_proposed_by = models.CharField(max_length=220, blank=True)
    """Whom the record names as its proposer: one more who cannot approve it (ruling 26)."""
    barred = models.JSONField(default=list)
    """Ids of the accounts that proposed or changed it: four eyes (ruling 65)."""
    batch_id = models.CharField(max_length=40, blank=True)
    foreign_action_id = models.CharField(max_length=220, blank=True)
    renewed_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="renewals")
    undo_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="undos")

    planned_at = models.DateTimeField()
    """The time inside the bytes that it writes."""
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    """When it reached a final state."""
    assigned_to = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="assigned_actions")
    seen_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    """Who is looking at it; a hint, never a lock (ruling 64)."""
    seen_until = models.DateTimeField(null=True)

    status = models.CharField(max_length=10, blank=True)
    reason_code = models.CharField(max_length=32, blank=True)
    message = models.TextField(blank=True)
    """The last verdict on it: status, code and words."""
    attempts = models.IntegerField(default=0)
    claimed_by = models.CharField(max_length=64, blank=True)
    lease_until = models.DateTimeField(null=True)
    apply_asked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    """The operator who let an action that needs no review be applied."""
    apply_asked_at = models.DateTimeField(null=True)
    applied_at = models.DateTimeField(null=True)
    applied_by = models.CharField(max_length=220, blank=True)
    change_id = models.CharField(max_length=40, blank=True)
    """Id of its entry in the journal."""
    receipt = models.JSONField(default=dict)
    """What was re-read from disk: `journal` receipt plus `audit_id`, `event_ids`, `as_approved`."""
    is_sample = models.BooleanField(default=False)
    """It needed no human and is shown for later checking."""
    checked_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    checked_at = models.DateTimeField(null=True)

    class Meta:
        """What is due first; of actions with the same id in a store at most one is open."""

        ordering = ["due_at", "-rank", "id"]
        constraints = [models.UniqueConstraint(fields=["store", "action_id"], name="action_open_once", condition=IS_OPEN)]
        indexes = [
            models.Index(fields=["state", "due_at", "-rank", "id"], name="action_due"),
            models.Index(fields=["store", "state", "due_at", "-rank", "id"], name="action_of_store"),
            models.Index(fields=["store", "action_id", "state"], name="action_by_id"),
            models.Index(fields=["state", "alike", "id"], name="action_alike"),
            models.Index(fields=["state", "rank", "id"], name="action_rank"),
            models.Index(fields=["state", "created_at", "id"], name="action_created"),
            models.Index(fields=["assigned_to", "state", "due_at"], name="action_mine"),
            models.Index(fields=["closed_at", "id"], name="action_closed"),
            models.Index(fields=COUNTED, name="action_counted"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.first_target}"

    def get_absolute_url(self) -> str:
        """The action's page."""
        return reverse("action_detail", args=[self.pk])

    @property
    def is_open(self) -> bool:
        """Whether anything can still become of it."""
        return State(self.state) in OPEN

    @property
    def needs_review(self) -> bool:
        """Whether people have to approve it: also where an apply found that the policy asks for it by now.

        The worker may not write `requires_review`; the first approval of such an action does.
        """
        return self.requires_review or self.reason_code == "review_required"


class ActionTarget(models.Model):
    """One record that an action is about."""

    action = models.ForeignKey(LifecycleAction, on_delete=models.CASCADE, db_index=False, related_name="targets")
    position = models.IntegerField()
    record_type = models.CharField(max_length=16)
    target_id = models.CharField(max_length=220)
    """As both engines hold it."""
    path = models.TextField()
    """The file in which it stood at intake; "" for what is to be made."""
    before_digest = models.CharField(max_length=71, blank=True)
    after_digest = models.CharField(max_length=71, blank=True)

    class Meta:
        """In the order of the action."""

        ordering = ["action_id", "position"]
        constraints = [models.UniqueConstraint(fields=["action", "position"], name="action_target_place")]
        indexes = [models.Index(fields=["record_type", "target_id"], name="action_target")]


class Review(models.Model):
    """One person's decision on one action; never changed, only withdrawn."""

    DECISIONS = [("approved", "approved"), ("rejected", "rejected")]

    name = models.CharField(max_length=32, unique=True)
    """Random; what markers and audit records know it by."""
    action = models.ForeignKey(LifecycleAction, on_delete=models.CASCADE, related_name="reviews")
    reviewer = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="reviews")
    reviewer_label = models.CharField(max_length=220)
    decision = models.CharField(max_length=8, choices=DECISIONS)
    reason = models.TextField(blank=True)
    digest = models.CharField(max_length=71)
    """What was on the screen."""
    policy_version = models.CharField(max_length=32)
    marker = models.TextField(blank=True)
    """Of an approval: the compact JWS."""
    at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)
    spent_at = models.DateTimeField(null=True)
    """When its marker was used: the point of no return of the apply."""
    batch_id = models.CharField(max_length=40, blank=True)
    """Of decisions that were made at once."""
    through = models.CharField(max_length=16)
    took_s = models.FloatField(null=True)
    """Seconds between the page's being shown and the decision; None from a terminal."""
    separation = models.CharField(max_length=16, default="four_eyes")
    """four_eyes, none (single reviewer) or broken (break-glass)."""

    class Meta:
        """In the order in which they came; a person's decision on an action counts once."""

        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["action", "reviewer"], name="review_once_a_person", condition=Q(withdrawn_at__isnull=True))
        ]
        indexes = [
            models.Index(fields=["reviewer", "-at"], name="review_of_person"),
            models.Index(fields=["-at", "id"], name="review_newest"),
        ]

    @property
    def review_id(self) -> str:
        """Its name as markers and audit records have it."""
        return f"memoryui:{self.name}"


class ActionComment(models.Model):
    """What somebody said of an action; no part of what is approved."""

    action = models.ForeignKey(LifecycleAction, on_delete=models.CASCADE, related_name="comments")
    author = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    author_label = models.CharField(max_length=220)
    text = models.TextField()
    at = models.DateTimeField(auto_now_add=True)
    file = models.IntegerField(default=0)
    """Which of the action's changes it is about, from 1; 0 for the action as a whole."""
    path = models.TextField(blank=True)
    """The file of that change."""
    side = models.CharField(max_length=6, blank=True)
    """before or after."""
    line = models.IntegerField(default=0)
    """As pages number the lines of that side, from 1."""

    class Meta:
        """Oldest first."""

        ordering = ["id"]


class Snooze(models.Model):
    """A reviewer does not want to see an action until a time; its due time goes on (ruling 64)."""

    action = models.ForeignKey(LifecycleAction, on_delete=models.CASCADE, related_name="snoozes")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    until = models.DateTimeField()

    class Meta:
        """Once a person and action."""

        constraints = [models.UniqueConstraint(fields=["action", "user"], name="snoozed_once")]


class ReviewPolicy(models.Model):
    """What a store asks for before anything is applied; the row without a store is for all that have none of their own."""

    store = models.OneToOneField(Store, on_delete=models.CASCADE, null=True, related_name="policy")
    number = models.IntegerField(default=1)
    """One more with each change; part of the version."""
    in_force = models.BooleanField(default=True)
    """False for a store's own policy that was dropped: its number goes on, so that no version stands for two policies."""
    approvals = models.SmallIntegerField(default=1)
    approvals_by_verb = models.JSONField(default=dict)
    """Verb to how many people, where it is not `approvals`."""
    review_verbs = models.JSONField(default=list)
    """Verbs that are reviewed though they need not be."""
    denied_verbs = models.JSONField(default=list)
    auto_apply = models.JSONField(default=list)
    """Verbs that are applied without an operator where they need no review (ruling 16)."""
    reviewer_groups = models.JSONField(default=list)
    """Names of groups of which a reviewer must be in one; none = everybody with the role."""
    lifetime_days = models.FloatField(default=7)
    """How long an approval is valid."""
    due_days = models.JSONField(default=dict)
    """Tier to days, where not those of the vocabulary."""
    single_reviewer = models.BooleanField(default=False)
    submit_only = models.BooleanField(default=False)
    """Commands that write directly make an action instead (ruling 17)."""
    changed_at = models.DateTimeField(null=True)
    changed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        """One default."""

        constraints = [models.UniqueConstraint(models.Value(1), name="one_default_policy", condition=Q(store__isnull=True))]

    @property
    def version(self) -> str:
        """What markers name it by."""
        return f"{'default' if self.store_id is None else self.store_id}.{self.number}"


class SigningKey(models.Model):
    """A public key of approval markers; the private one lies in a file where the web runs (ruling 13)."""

    kid = models.CharField(max_length=64, unique=True)
    jwk = models.JSONField()
    created_at = models.DateTimeField()
    retired_at = models.DateTimeField(null=True)

    class Meta:
        """Newest first."""

        ordering = ["-id"]


class Installation(models.Model):
    """One row: what this installation is called in its markers, and whether anything is applied at all."""

    uid = models.UUIDField()
    applying = models.BooleanField(default=False)
    """The global switch; off on a fresh installation (ruling 16)."""
    switched_at = models.DateTimeField(null=True)
    switched_by = models.CharField(max_length=220, blank=True)
    reason = models.TextField(blank=True)


class Notice(models.Model):
    """A message to people that is due or was sent (ruling 63)."""

    CHANNELS = [("mail", "mail"), ("webhook", "webhook")]

    channel = models.CharField(max_length=8, choices=CHANNELS)
    what = models.CharField(max_length=32)
    """digest or high_risk."""
    recipient = models.CharField(max_length=220)
    """Account name, or the name of the hook; never its address."""
    key = models.CharField(max_length=120, unique=True)
    """What makes it one message: it is never sent twice."""
    body: Any = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    due_at = models.DateTimeField()
    tries = models.SmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    error = models.TextField(blank=True)

    class Meta:
        """Due first."""

        ordering = ["due_at", "id"]
        indexes = [models.Index(fields=["due_at"], name="notice_due", condition=Q(sent_at__isnull=True))]
