"""What people note beside records: who sees to a problem and by when, how a decision stands, tags, a note (ruling 35).

Nothing of it is mirrored from a disk, so nothing can build it anew (ruling 50): it names its record as ruling 31 identifies it, and
outlives the mirror and the registration of its store.
"""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from stores.models.accounts import User
from stores.models.stores import Store


class RecordNote(models.Model):
    """What is noted beside one record."""

    STANDINGS = [(word, word) for word in ("current", "superseded", "retired")]

    store = models.ForeignKey(Store, on_delete=models.SET_NULL, null=True, db_index=False, related_name="record_notes")
    store_uid = models.UUIDField()
    record_type = models.CharField(max_length=32)
    path = models.CharField(max_length=400)
    """The record's file, relative to its store."""
    key = models.BigIntegerField()
    ordinal = models.IntegerField()
    """Which one it is among the records of the file with this key, in the order in which imports pair them, from 0."""
    natural_id = models.CharField(max_length=220, blank=True)
    """As it was when something was noted first; for people, records are found by their key."""
    record_id = models.BigIntegerField(null=True)
    """Where the record stands in the mirror; None as long as no import has brought it back after the mirror was dropped."""

    owner = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    """Who sees to the problem."""
    due_on = models.DateField(null=True)
    """The day (UTC) at whose end the problem is overdue."""
    standing = models.CharField(max_length=12, choices=STANDINGS, default="current")
    """How the decision stands."""
    superseded_by = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="supersedes")
    """What is noted, if only that, beside the decision of the same store that took its place."""
    tags = models.JSONField(default=list)
    note = models.TextField(blank=True)

    revision = models.IntegerField(default=0)
    """One more with each change: a form that has another one is out of date."""
    changed_at = models.DateTimeField(null=True)
    changed_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        """Once a record."""

        constraints = [models.UniqueConstraint(fields=["store", "record_type", "path", "key", "ordinal"], name="noted_once")]
        indexes = [
            models.Index(fields=["record_type", "record_id"], name="note_of_record"),
            models.Index(fields=["record_type", "store", "id"], name="note_of_store"),
            models.Index(fields=["record_type", "owner", "id"], name="note_owner", condition=Q(owner__isnull=False)),
            models.Index(fields=["store"], name="note_unplaced", condition=Q(record_id__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.record_type} {self.natural_id or self.path}"
