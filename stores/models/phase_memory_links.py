"""What records of a phase-memory store point at, a row for each: the ids are kept as the record says them."""

from __future__ import annotations

from django.db import models

from stores.models.phase_memory import Activation, AuditRecord, Event, MemoryPath, Node
from stores.models.stores import Store


class PathEvent(models.Model):
    """An event that a path lists, at its place in the list."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    record = models.ForeignKey(MemoryPath, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="listed_events")
    position = models.IntegerField()
    """From 0."""
    event_id = models.CharField(max_length=220)

    class Meta:
        """In the path's order; all paths that list one event."""

        indexes = [
            models.Index(fields=["record", "position"], name="path_event_order"),
            models.Index(fields=["store", "event_id"], name="path_event_event"),
        ]


class NodeSource(models.Model):
    """An event from which a node comes: `provenance.source_event_ids`."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    record = models.ForeignKey(Node, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="source_events")
    position = models.IntegerField()
    event_id = models.CharField(max_length=220)

    class Meta:
        """In the node's order; all nodes that come from one event."""

        indexes = [
            models.Index(fields=["record", "position"], name="node_source_order"),
            models.Index(fields=["store", "event_id"], name="node_source_event"),
        ]


class ActivationItem(models.Model):
    """A node that an activation chose or passed over, and why."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    record = models.ForeignKey(Activation, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="items")
    position = models.IntegerField()
    node_id = models.CharField(max_length=220)
    chosen = models.BooleanField()
    reason = models.TextField()
    """`reason_selected` or `reason_code`."""
    tokens = models.FloatField(null=True)
    score = models.FloatField(null=True)

    class Meta:
        """Chosen ones first, in the activation's order; all activations that speak of one node."""

        indexes = [
            models.Index(fields=["record", "position"], name="activation_item_order"),
            models.Index(fields=["store", "node_id"], name="activation_item_node"),
        ]


class EventUpdate(models.Model):
    """What an event says it did to one record."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    record = models.ForeignKey(Event, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="updates")
    position = models.IntegerField()
    target_type = models.CharField(max_length=12)
    """node, edge or path."""
    target_id = models.CharField(max_length=220)
    operation = models.CharField(max_length=220)
    named = models.TextField()
    """What the operation names besides: parent, merge target, summary node or reason."""

    class Meta:
        """In the event's order; all that happened to one record."""

        indexes = [
            models.Index(fields=["record", "position"], name="event_update_order"),
            models.Index(fields=["store", "target_type", "target_id"], name="event_update_target"),
        ]


class AuditTarget(models.Model):
    """A record that an audited operation touched, with its digests."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    record = models.ForeignKey(AuditRecord, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="targets")
    position = models.IntegerField()
    target_type = models.CharField(max_length=220)
    target_id = models.CharField(max_length=220)
    before_digest = models.CharField(max_length=220)
    after_digest = models.CharField(max_length=220)

    class Meta:
        """In the record's order; all that was audited of one record."""

        indexes = [
            models.Index(fields=["record", "position"], name="audit_target_order"),
            models.Index(fields=["store", "target_type", "target_id"], name="audit_target_target"),
        ]
