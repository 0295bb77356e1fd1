"""Faults, and the lines that no reader took."""

from __future__ import annotations

from django.db import models
from django.db.models import Exists, OuterRef, Q, QuerySet

from stores.models.accounts import User
from stores.models.stores import SourceFile, Store


class Fault(models.Model):
    """Something wrong at a place: store, file, line, byte."""

    SEVERITIES = [(word, word) for word in ("error", "warning", "info")]

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="faults")
    file = models.ForeignKey(SourceFile, on_delete=models.CASCADE, null=True, db_index=False, related_name="faults")
    path = models.CharField(max_length=400)
    code = models.CharField(max_length=40)
    severity = models.CharField(max_length=8, choices=SEVERITIES)
    rank = models.SmallIntegerField()
    """0 error, 1 warning, 2 info: the order of lists."""
    message = models.TextField()
    line = models.BigIntegerField(null=True)
    byte = models.BigIntegerField(null=True)
    subject_type = models.CharField(max_length=32, blank=True)
    subject_id = models.CharField(max_length=220, blank=True)
    key = models.CharField(max_length=64, blank=True)
    is_diagnostic = models.BooleanField(default=False)
    """It comes from the kind's own rules: `key` is then the diagnostic's id, and `own_key` what its documents call the key."""
    own_key = models.TextField(null=True)  # noqa: DJ001 (no key and an empty one are two things in the documents)
    closed_in_store = models.BooleanField(default=False)
    """The store's own audit log acknowledges it."""
    details = models.TextField(default="{}")
    """JSON text."""
    repair_mode = models.CharField(max_length=12, default="none")
    repair_action = models.CharField(max_length=40, blank=True)
    pending = models.BooleanField(default=False)
    """A torn tail that may still grow; settled 10 s after the file's last change (ruling 24)."""
    generation = models.IntegerField(default=0)
    provisional = models.BooleanField(default=False)
    cross_line = models.BooleanField(default=False)
    """Found by looking at several lines or files; made anew whenever they are looked at."""
    first_seen_at = models.DateTimeField()

    class Meta:
        """Worst first, then by place."""

        ordering = ["rank", "path", "line", "id"]
        indexes = [
            models.Index(fields=["store", "rank", "path", "line", "id"], name="fault_list"),
            models.Index(fields=["store", "code"], name="fault_code"),
            models.Index(fields=["file", "line"], name="fault_place"),
        ]

    @property
    def told_key(self) -> str | None:
        """The key as documents give it."""
        return self.own_key if self.is_diagnostic else self.key

    @property
    def told_subject(self) -> str | None:
        """The subject's id as documents give it: a diagnostic may have none."""
        return self.subject_id or None if self.is_diagnostic else self.subject_id


class FaultAcknowledgement(models.Model):
    """A person has seen a fault and lets it be; it survives every import."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="acknowledgements")
    path = models.CharField(max_length=400)
    code = models.CharField(max_length=40)
    key = models.CharField(max_length=64)
    by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    note = models.TextField(blank=True)

    class Meta:
        """Once a fault."""

        constraints = [models.UniqueConstraint(fields=["store", "path", "code", "key"], name="acknowledged_once")]


def acknowledgements() -> QuerySet[FaultAcknowledgement]:
    """Give those of the fault at hand, for a subquery of one over faults."""
    return FaultAcknowledgement.objects.filter(store=OuterRef("store"), path=OuterRef("path"), code=OuterRef("code"), key=OuterRef("key"))


def acknowledged() -> Exists:
    """Give the condition, in a query over faults, that a person let the fault be."""
    return Exists(acknowledgements())


class RefusedLine(models.Model):
    """A line that the kind's reader refused, with its bytes (ruling 40) and the heads of its neighbours."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    file = models.ForeignKey(SourceFile, on_delete=models.CASCADE, db_index=False, related_name="refused")
    generation = models.IntegerField()
    provisional = models.BooleanField(default=False)
    line = models.BigIntegerField()
    offset = models.BigIntegerField()
    length = models.BigIntegerField()
    sha256 = models.BinaryField()
    raw = models.BinaryField()
    before = models.BinaryField(default=b"")
    after = models.BinaryField(default=b"")
    """First 200 bytes of the line before and after."""
    before_length = models.BigIntegerField(null=True)
    after_length = models.BigIntegerField(null=True)

    class Meta:
        """In file order."""

        ordering = ["file_id", "line"]
        indexes = [
            models.Index(fields=["file", "line"], name="refused_place"),
            models.Index(fields=["file"], name="refused_provisional", condition=Q(provisional=True)),
        ]
