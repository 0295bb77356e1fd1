"""Records of OrchestKit's line files: decisions, queue operations, problems.

List columns stand apart from texts and raw bytes (ruling 74), so that a page over a million records stays quick. Store text
never comes as JSON or as an integer that an engine could refuse (ruling 45); the raw bytes keep the truth.
"""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models
from django.db.models import Q
from django.urls import reverse

from stores.models.stores import SourceFile, Store

LIVE = Q(gone_at__isnull=True)


class MirroredRecord(models.Model):
    """What every mirrored record has: its identity (ruling 31) and its place on disk."""

    record_type: ClassVar[str]
    text_model: ClassVar[type[RecordText]]

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    file = models.ForeignKey(SourceFile, on_delete=models.CASCADE, db_index=False, related_name="+")
    key = models.BigIntegerField()
    """First 8 bytes of the sha256 of the natural id, or of the raw line where there is none. Equal keys pair in file order."""
    natural_id = models.CharField(max_length=220)
    generation = models.IntegerField()
    """The reading of its file that saw it last."""
    provisional = models.BooleanField(default=False)
    """It stands behind the file's committed offset."""
    line = models.BigIntegerField()
    offset = models.BigIntegerField()
    length = models.BigIntegerField()
    sha256 = models.BinaryField()
    fault_count = models.SmallIntegerField(default=0)
    first_seen_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)
    gone_reason = models.CharField(max_length=120, blank=True)

    at_ms = models.BigIntegerField()
    """When it was written by its own word, milliseconds since 1970 UTC; 0 when not known."""
    at_state = models.CharField(max_length=8)
    """ok, naive (no zone given), missing or odd."""
    title = models.TextField()

    class Meta:
        """The concrete tables add the indexes."""

        abstract = True

    def __str__(self) -> str:
        return self.natural_id or f"line {self.line}"

    @property
    def file_path(self) -> str:
        """The path of the file in which it stands, relative to the store."""
        return str(self.file.path)


class RecordText(models.Model):
    """Raw bytes and search text of a record, under the record's id."""

    store_id = models.BigIntegerField()
    raw = models.BinaryField()
    """The line without its line break; above 1 MiB the first 4 KiB."""
    search = models.TextField()
    """formats.search_text of its texts: all that both engines index (ruling 44)."""

    class Meta:
        """The concrete tables add the key."""

        abstract = True


def record_indexes(prefix: str, *columns: str) -> list[models.Index]:
    """Indexes of a record table: the key, the newest, the gone, the provisional ones, and the newest by each column.

    Behind the unique key those by a column hold the other columns, so that a list over several filters reads no rows of the table:
    10,000 of a million records take 10 ms instead of 85.
    """
    return [
        models.Index(fields=["file", "key"], name=f"{prefix}_key"),
        models.Index(fields=["store", "-at_ms", "-id"], name=f"{prefix}_newest", condition=LIVE),
        models.Index(fields=["store", "-gone_at", "-id"], name=f"{prefix}_gone", condition=Q(gone_at__isnull=False)),
        models.Index(fields=["file"], name=f"{prefix}_provisional", condition=Q(provisional=True)),
        *(
            models.Index(
                fields=["store", column, "-at_ms", "-id", *(other for other in columns if other != column)],
                name=f"{prefix}_{column}",
                condition=LIVE,
            )
            for column in columns
        ),
    ]


class Decision(MirroredRecord):
    """One line of `decisions.jsonl`."""

    record_type = "decision"

    shape = models.CharField(max_length=40)
    type = models.CharField(max_length=220)
    category = models.CharField(max_length=220)
    said_by = models.CharField(max_length=220)
    machine = models.CharField(max_length=220)
    session = models.CharField(max_length=220)
    project = models.CharField(max_length=220)
    source = models.CharField(max_length=220)
    scope = models.CharField(max_length=220)
    importance = models.CharField(max_length=220)
    confidence = models.FloatField(null=True)
    what_hash = models.BigIntegerField()
    """Of the normalised `what`: equal texts have equal hashes; 0 without text."""
    entities = models.IntegerField()
    """How many; -1 when the field is missing, which silences the injection."""

    class Meta:
        """Four indexes beside the key (ruling 76 allows five); equal texts are found by the text index."""

        indexes = record_indexes("decision", "category", "type", "said_by")

    def get_absolute_url(self) -> str:
        """The decision's page."""
        return reverse("decision_detail", args=[self.pk])


class QueueOperation(MirroredRecord):
    """One line of `graph-queue.jsonl`."""

    record_type = "queue_operation"

    operation = models.CharField(max_length=220)
    standing = models.CharField(max_length=16)
    """waiting, poison, ignored, dangling end or duplicate."""
    reason = models.TextField()
    would_write = models.TextField()
    entities = models.IntegerField()
    relations = models.IntegerField()
    observations = models.IntegerField()
    decision_id = models.CharField(max_length=220)
    payload_hash = models.BigIntegerField()

    class Meta:
        """Oldest first is the default order of the page."""

        indexes = [
            *record_indexes("queue", "standing", "operation"),
            models.Index(fields=["payload_hash", "file", "line"], name="queue_payload", condition=LIVE),
        ]

    def get_absolute_url(self) -> str:
        """The operation's page."""
        return reverse("queue_detail", args=[self.pk])


class Problem(MirroredRecord):
    """One line of `open-problems.jsonl`."""

    record_type = "problem"

    status = models.CharField(max_length=220)
    project = models.CharField(max_length=220)
    session = models.CharField(max_length=220)
    confidence = models.FloatField(null=True)
    solved_at_ms = models.BigIntegerField(null=True)
    solved_by = models.CharField(max_length=220)
    entities = models.IntegerField()

    class Meta:
        """Age first is the default order of the page."""

        indexes = record_indexes("problem", "status", "project")

    def get_absolute_url(self) -> str:
        """The problem's page."""
        return reverse("problem_detail", args=[self.pk])


class DecisionText(RecordText):
    """Texts of a decision."""

    record: Any = models.OneToOneField(Decision, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class QueueOperationText(RecordText):
    """Texts of a queue operation."""

    record: Any = models.OneToOneField(QueueOperation, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class ProblemText(RecordText):
    """Texts of a problem."""

    record: Any = models.OneToOneField(Problem, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


Decision.text_model = DecisionText
QueueOperation.text_model = QueueOperationText
Problem.text_model = ProblemText


class RecordVersion(models.Model):
    """An earlier wording of a record that was changed in place."""

    record_type = models.CharField(max_length=32)
    record_id = models.BigIntegerField()
    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="+")
    replaced_at = models.DateTimeField()
    line = models.BigIntegerField()
    sha256 = models.BinaryField()
    digest = models.BinaryField(default=b"")
    """Of the parsed record, where the kind has such digests: audit records name them."""
    raw = models.BinaryField()

    class Meta:
        """Newest first."""

        ordering = ["-replaced_at", "-id"]
        indexes = [models.Index(fields=["record_type", "record_id"], name="version_of_record")]
