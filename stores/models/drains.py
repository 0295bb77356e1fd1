"""Drains: which lines of which archived queue went into which graph, and whether they stayed there."""

from __future__ import annotations

from django.db import models

from stores.models.stores import Store


class Drain(models.Model):
    """A piece of an archived queue that was written into the graph (ruling 53)."""

    STATES = [(word, word) for word in ("verifying", "kept", "lost")]
    """`lost`: something took its entities out of the graph again and again."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="drains")
    journal_id = models.CharField(max_length=40)
    """Of the change that wrote it; the data folder keeps its receipt under this name."""
    at = models.DateTimeField()
    actor = models.CharField(max_length=220)
    graph_folder = models.TextField()
    """Real path of the folder that holds the graph, "" for the store's own."""
    graph_path = models.CharField(max_length=400)
    archive_path = models.CharField(max_length=400)
    from_byte = models.BigIntegerField()
    to_byte = models.BigIntegerField()
    """The lines from `from_byte` up to here were taken; what stands behind was appended late, and is taken by the next drain."""
    operations = models.IntegerField()
    entities = models.IntegerField()
    relations = models.IntegerField()
    observations = models.IntegerField()
    left_out = models.IntegerField()
    """Lines that say nothing a graph could take."""

    state = models.CharField(max_length=16, choices=STATES, default="verifying")
    verify_until = models.DateTimeField()
    rewritten = models.SmallIntegerField(default=0)
    """How often its entities were missing from the graph and were written again."""
    graph_stamp = models.CharField(max_length=120, blank=True)
    """The graph's file as the last look found it."""

    settled_at = models.DateTimeField(null=True)
    """When it was certain that nobody writes to the archived queue any more."""
    displaced = models.TextField(blank=True)
    """Where the graph's file lies that was displaced, while it is watched for late writes."""
    displaced_sha256 = models.BinaryField(default=b"")

    class Meta:
        """Newest first."""

        ordering = ["-at", "-id"]
        constraints = [models.UniqueConstraint(fields=["journal_id", "archive_path"], name="drain_once_an_archive")]
        indexes = [models.Index(fields=["store", "state"], name="drain_state")]

    def __str__(self) -> str:
        return f"{self.archive_path} {self.from_byte}-{self.to_byte}"
