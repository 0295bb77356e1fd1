"""Records of a phase-memory store: what its record files and its two logs say.

Ids that a record points at are kept as it says them, whether anything has them or not: the record itself is found under
`record_key` of the id in the folder or log of its type.
"""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.urls import reverse

from stores.models.accounts import User
from stores.models.logs import LIVE, MirroredRecord, RecordText
from stores.models.stores import SourceFile, Store


def _indexes(prefix: str, *columns: str) -> list[models.Index]:
    """Indexes of a record table: by key, the newest, the gone, and the newest by each column.

    Leaner than those of line files: a store has ten thousands of these records, not millions.
    """
    return [
        models.Index(fields=["file", "key"], name=f"{prefix}_key"),
        models.Index(fields=["store", "-at_ms", "-id"], name=f"{prefix}_newest", condition=LIVE),
        models.Index(fields=["store", "-gone_at", "-id"], name=f"{prefix}_gone", condition=Q(gone_at__isnull=False)),
        *(
            models.Index(fields=["store", column, "-at_ms", "-id"], name=f"{prefix}_{name}", condition=LIVE)
            for column in columns
            for name in (column.removesuffix("_id"),)
        ),
    ]


class RecordTree(models.Model):
    """What the mirror of a store's record files stands for, so that a process knows whether what it remembers still holds."""

    store = models.OneToOneField(Store, on_delete=models.CASCADE, related_name="tree")
    stamp = models.CharField(max_length=32)
    """Another one after each import that changed a record file, a log or a fault."""
    basis = models.CharField(max_length=64, blank=True)
    """Hash of what else the faults rest on: the root file, other entries, and the schema versions that were known."""
    logs = models.JSONField(default=dict)
    """By path generation, next line and size of each log whose faults are up to date."""


class RecordFile(models.Model):
    """One record file: by what it is known again, and what the rules need to know of it."""

    STATES = [(word, word) for word in ("ok", "refused", "unreadable", "too_large")]

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    folder = models.ForeignKey(SourceFile, on_delete=models.CASCADE, db_index=False, related_name="record_files")
    path = models.CharField(max_length=400)
    """Relative to the store, `/` separated."""
    record_id = models.BigIntegerField(null=True)
    """Of its record, also of one that can no longer be read; None where it never could."""
    state = models.CharField(max_length=12, choices=STATES, default="ok")
    size_bytes = models.BigIntegerField()
    mtime_ns = models.BigIntegerField()
    ctime_ns = models.BigIntegerField()
    inode = models.BigIntegerField()
    racy = models.BooleanField(default=False)
    """It was read within 2 s of its last change, so it is read once more (ruling 11)."""
    sha256 = models.BinaryField()
    facts = models.BinaryField()
    """`health.phase_memory.RecordFacts`, packed."""
    raw = models.BinaryField(default=b"")
    """Bytes of a file that cannot be read, up to 1 MiB, else the first 4 KiB; those of others stand with their record."""

    class Meta:
        """By path."""

        constraints = [models.UniqueConstraint(fields=["store", "path"], name="record_file_once_a_path")]
        indexes = [models.Index(fields=["folder", "state"], name="record_file_state", condition=~Q(state="ok"))]

    def __str__(self) -> str:
        return self.path


class EventVersion(models.Model):
    """A schema version of events that an operator made known."""

    name = models.CharField(max_length=200, unique=True)
    note = models.TextField(blank=True)
    added_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """By name."""

        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class FileRecord(MirroredRecord):
    """A record that is a file of its own; `file` is its folder."""

    path = models.CharField(max_length=400)
    """Of the file, relative to the store."""
    digest = models.BinaryField()
    """Of the parsed record, 32 bytes: what audit records and plans call `sha256:…`."""
    is_duplicate = models.BooleanField(default=False)
    """Another file has the id and counts in its place."""
    unreadable_since = models.DateTimeField(null=True)
    """The file cannot be read any more; this is its last good version (ruling 11)."""
    unreadable_cause = models.CharField(max_length=32, blank=True)
    created_ms = models.BigIntegerField(default=0)
    updated_ms = models.BigIntegerField(default=0)
    """By the record's own word, 0 where it gives none; `at_ms` is the later one."""

    class Meta:
        """The concrete tables add the indexes."""

        abstract = True

    @property
    def file_path(self) -> str:
        """The path of the file that it is, relative to the store."""
        return str(self.path)


class Profile(FileRecord):
    """One file of `profiles/`: the rules by which the store is kept."""

    record_type = "profile"

    durable_writes = models.CharField(max_length=220)
    memory_kinds = models.TextField()
    """In its order, separated by ", "."""

    class Meta:
        """By what it asks of durable writes."""

        indexes = _indexes("profile", "durable_writes")

    def get_absolute_url(self) -> str:
        """The profile's page."""
        return reverse("profile_detail", args=[self.pk])


class Node(FileRecord):
    """One file of `nodes/`: a piece of memory."""

    record_type = "node"

    kind = models.CharField(max_length=220)
    phase = models.CharField(max_length=220)
    phase_assumed = models.BooleanField()
    """The record names no phase."""
    state = models.CharField(max_length=220)
    """`lifecycle_state`."""
    label = models.CharField(max_length=220)
    """Its policy labels, sorted, separated by ", "."""
    agent = models.CharField(max_length=220)
    session = models.CharField(max_length=220)
    path_id = models.CharField(max_length=220)
    """Where it came up: `provenance.path_id`."""
    project = models.CharField(max_length=220)
    task = models.CharField(max_length=220)
    graph_id = models.CharField(max_length=220)
    trust_zone = models.CharField(max_length=220)
    secret = models.BooleanField()
    tags = models.TextField()
    confidence = models.FloatField(null=True)
    strength = models.FloatField(null=True)
    activation_count = models.IntegerField()
    superseded_by = models.CharField(max_length=220)
    compacted_into = models.CharField(max_length=220)
    stale_since_ms = models.BigIntegerField(default=0)
    review = models.CharField(max_length=12, default="")
    """Of a durable node: "reviewed" when the audit log has an approved change of it, else "never"; "" of others."""

    class Meta:
        """By each facet."""

        indexes = _indexes("node", "kind", "phase", "state", "label", "agent", "session", "path_id", "review")

    def get_absolute_url(self) -> str:
        """The node's page."""
        return reverse("node_detail", args=[self.pk])


class Edge(FileRecord):
    """One file of `edges/`: what one node has to do with another."""

    record_type = "edge"

    kind = models.CharField(max_length=220)
    source = models.CharField(max_length=220)
    target = models.CharField(max_length=220)
    """Ids of nodes."""
    state = models.CharField(max_length=220)
    agent = models.CharField(max_length=220)
    weight = models.FloatField(null=True)
    confidence = models.FloatField(null=True)
    valid_ms = models.BigIntegerField(default=0)
    invalid_ms = models.BigIntegerField(default=0)

    class Meta:
        """By each facet, and from both ends."""

        indexes = [
            *_indexes("edge", "kind", "state", "agent"),
            models.Index(fields=["store", "source"], name="edge_source", condition=LIVE),
            models.Index(fields=["store", "target"], name="edge_target", condition=LIVE),
        ]

    def get_absolute_url(self) -> str:
        """The edge's page."""
        return reverse("edge_detail", args=[self.pk])


class MemoryPath(FileRecord):
    """One file of `paths/`: a line of work, which events belong to it, where it branched off and how it ended."""

    record_type = "path"

    state = models.CharField(max_length=220)
    parent_path_id = models.CharField(max_length=220)
    merge_target = models.CharField(max_length=220)
    summary_id = models.CharField(max_length=220)
    """The node that a compacted path became."""
    abandoned_reason = models.TextField()
    event_count = models.IntegerField()

    class Meta:
        """By state, and those that branched off one path or were merged into it, oldest first."""

        indexes = [
            *_indexes("path", "state"),
            models.Index(fields=["store", "parent_path_id", "at_ms", "id"], name="path_parent", condition=LIVE),
            models.Index(fields=["store", "merge_target"], name="path_merge", condition=LIVE),
        ]

    def get_absolute_url(self) -> str:
        """The path's page."""
        return reverse("path_detail", args=[self.pk])


class Activation(FileRecord):
    """One file of `activations/`: what was put before an agent at one time."""

    record_type = "activation"

    graph_id = models.CharField(max_length=220)
    profile_id = models.CharField(max_length=220)
    intent = models.TextField()
    max_items = models.FloatField(null=True)
    max_tokens = models.FloatField(null=True)
    used_items = models.FloatField(null=True)
    used_tokens = models.FloatField(null=True)
    node_count = models.IntegerField()
    omitted_count = models.IntegerField()

    class Meta:
        """By profile and graph."""

        indexes = _indexes("activation", "profile_id", "graph_id")

    def get_absolute_url(self) -> str:
        """The activation's page."""
        return reverse("activation_detail", args=[self.pk])


class Event(MirroredRecord):
    """One line of `events.jsonl`."""

    record_type = "event"

    kind = models.CharField(max_length=220)
    actor = models.CharField(max_length=220)
    session = models.CharField(max_length=220)
    path_id = models.CharField(max_length=220)
    task = models.CharField(max_length=220)
    action_id = models.CharField(max_length=220)
    """Of the lifecycle action that appended it."""
    schema_version = models.CharField(max_length=220)
    update_count = models.IntegerField()
    standing = models.CharField(max_length=16, db_default="")
    """"" for an event that counts; "unknown version" or "repeated" for one that is not interpreted."""

    class Meta:
        """By each facet, in the order of the log, and those of one action."""

        indexes = [
            *_indexes("memory_event", "kind", "actor", "session", "path_id"),
            models.Index(fields=["file", "line"], name="memory_event_line"),
            models.Index(fields=["file"], name="memory_event_provisional", condition=Q(provisional=True)),
            models.Index(fields=["store", "action_id"], name="memory_event_action", condition=~Q(action_id="")),
        ]

    def get_absolute_url(self) -> str:
        """The event's page."""
        return reverse("memory_event_detail", args=[self.pk])


class AuditRecord(MirroredRecord):
    """One line of `audit.jsonl`, the store's own audit log."""

    record_type = "audit"

    sequence = models.BigIntegerField(null=True)
    operation = models.CharField(max_length=220)
    decision = models.CharField(max_length=220)
    actor = models.CharField(max_length=220)
    subject_id = models.CharField(max_length=220)
    """What it is about: of a lifecycle apply the action's id."""
    reason = models.TextField()
    reason_code = models.CharField(max_length=220)
    review_id = models.CharField(max_length=220)
    dry_run = models.BooleanField()
    requires_review = models.BooleanField()
    approved = models.BooleanField()
    """It names an approval marker or a review."""
    applied = models.BooleanField()
    """It says that a lifecycle action was carried out."""

    class Meta:
        """By each facet, in the order of the log, and those about one action."""

        indexes = [
            *_indexes("audit_record", "operation", "decision", "actor"),
            models.Index(fields=["file", "line"], name="audit_record_line"),
            models.Index(fields=["file"], name="audit_record_provisional", condition=Q(provisional=True)),
            models.Index(fields=["store", "subject_id"], name="audit_record_subject", condition=~Q(subject_id="")),
        ]

    def get_absolute_url(self) -> str:
        """The record's page."""
        return reverse("audit_record_detail", args=[self.pk])


class ProfileText(RecordText):
    """Texts of a profile."""

    record: Any = models.OneToOneField(Profile, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class NodeText(RecordText):
    """Texts of a node."""

    record: Any = models.OneToOneField(Node, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class EdgeText(RecordText):
    """Texts of an edge."""

    record: Any = models.OneToOneField(Edge, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class MemoryPathText(RecordText):
    """Texts of a path."""

    record: Any = models.OneToOneField(MemoryPath, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class ActivationText(RecordText):
    """Texts of an activation."""

    record: Any = models.OneToOneField(Activation, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class EventText(RecordText):
    """Texts of an event."""

    record: Any = models.OneToOneField(Event, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class AuditRecordText(RecordText):
    """Texts of an audit record."""

    record: Any = models.OneToOneField(AuditRecord, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


Profile.text_model = ProfileText
Node.text_model = NodeText
Edge.text_model = EdgeText
MemoryPath.text_model = MemoryPathText
Activation.text_model = ActivationText
Event.text_model = EventText
AuditRecord.text_model = AuditRecordText
