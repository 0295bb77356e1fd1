"""The product audit: append-only and hash-chained (ruling 52)."""

from __future__ import annotations

from django.db import models

from stores.models.accounts import User


class AuditEvent(models.Model):
    """Who did what to which object; its digest covers its content and the digest of the event before it."""

    number = models.BigIntegerField(unique=True)
    at = models.DateTimeField()
    event = models.CharField(max_length=40)
    actor = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    actor_label = models.CharField(max_length=220)
    object_label = models.TextField()
    store_uid = models.UUIDField(null=True)
    store_slug = models.CharField(max_length=80, blank=True)
    through = models.CharField(max_length=16)
    """page, API, terminal or worker."""
    detail = models.JSONField(default=dict)
    previous_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)

    class Meta:
        """Newest first."""

        ordering = ["-number"]
        indexes = [
            models.Index(fields=["event", "-number"], name="audit_event"),
            models.Index(fields=["actor", "-number"], name="audit_actor"),
            models.Index(fields=["store_uid", "-number"], name="audit_store"),
            models.Index(fields=["at"], name="audit_time"),
        ]


class AuditHead(models.Model):
    """The end of the chain: one row, moved in the transaction that adds an event."""

    count = models.BigIntegerField()
    digest = models.CharField(max_length=64)
