"""Conditions of stores and their history."""

from __future__ import annotations

from django.db import models

from stores.models.accounts import User
from stores.models.stores import Store


class Condition(models.Model):
    """One rule of health of one store, as last measured."""

    STATUSES = [(word, word) for word in ("ok", "note", "failing", "unmeasured")]

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="conditions")
    code = models.CharField(max_length=40)
    path = models.CharField(max_length=400, blank=True)
    position = models.SmallIntegerField()
    """Order within the kind's list."""
    title = models.TextField()
    status = models.CharField(max_length=12, choices=STATUSES)
    message = models.TextField()
    value = models.FloatField(null=True)
    value_text = models.TextField()
    limit = models.FloatField(null=True)
    limit_text = models.TextField()
    advice = models.TextField()
    faults_code = models.CharField(max_length=40, blank=True)
    """Faults of this code are what the value counts."""
    since = models.DateTimeField()
    """Since when it has this status."""
    measured_at = models.DateTimeField()
    muted_until = models.DateTimeField(null=True)
    muted_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    muted_why = models.TextField(blank=True)

    class Meta:
        """In the kind's order."""

        ordering = ["store_id", "position"]
        constraints = [models.UniqueConstraint(fields=["store", "code", "path"], name="condition_once")]


class Measurement(models.Model):
    """The values of a store at one moment (ruling 60): kept 90 days, then as daily means."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="measurements")
    at = models.DateTimeField()
    verdict = models.CharField(max_length=16)
    values = models.JSONField()
    """condition code, or "code:path" where a code stands for several files -> number or null; and counts of records."""
    daily = models.BooleanField(default=False)

    class Meta:
        """Newest first."""

        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["store", "-at"], name="measurement_newest")]
