"""What the lines of a long queue name, so that a line that is appended need not be held against all the others."""

from __future__ import annotations

from django.db import models

from stores.models.stores import SourceFile


class QueueName(models.Model):
    """One name in a queue of graph operations, and the part that it plays there; part of the mirror."""

    MADE, OBSERVED, BARE, MISSING, FILED = range(5)

    file = models.ForeignKey(SourceFile, on_delete=models.CASCADE, db_index=False, related_name="+")
    name = models.BigIntegerField()
    """First 8 bytes of the sha256 of the name."""
    role = models.SmallIntegerField()
    """MADE: an operation creates the entity, once a name. OBSERVED: something is observed of it, at most twice a name. BARE: the same
    without contents, each time. MISSING: an operation leads to it that leads nowhere, each time. FILED: the graph file has the entity."""
    operation_id = models.BigIntegerField(default=0)
    """The operation; 0 for the graph file."""

    class Meta:
        """By name."""

        indexes = [models.Index(fields=["file", "name", "role"], name="queue_name")]
