"""Records of the other files of an OrchestKit store: sessions, flows, graph, preferences, notes, and what others wrote there."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.urls import reverse

from stores.models.logs import MirroredRecord, RecordText, record_indexes


class Flow(MirroredRecord):
    """One way that a session worked: a line of `completed-flows.jsonl` or a file of `flows/`."""

    record_type = "flow"

    session = models.CharField(max_length=220)
    pattern = models.CharField(max_length=220)
    standing = models.CharField(max_length=16)
    """last, or earlier where a later line of the same session stands."""
    actions = models.IntegerField()
    reads = models.IntegerField()
    writes = models.IntegerField()
    tests = models.IntegerField()
    builds = models.IntegerField()
    agent_spawns = models.IntegerField()
    success_rate = models.FloatField(null=True)
    started_ms = models.BigIntegerField(null=True)

    class Meta:
        """By pattern, and the last of each session."""

        indexes = [
            *record_indexes("flow", "pattern", "standing"),
            models.Index(fields=["store", "session"], name="flow_session"),
        ]

    def get_absolute_url(self) -> str:
        """The flow's page."""
        return reverse("flow_detail", args=[self.pk])


class ProblemSolution(MirroredRecord):
    """One line of `problem-solutions.jsonl`."""

    record_type = "problem_solution"

    problem_id = models.CharField(max_length=220)
    tool = models.CharField(max_length=220)
    project = models.CharField(max_length=220)
    session = models.CharField(max_length=220)
    confidence = models.FloatField(null=True)
    entities = models.IntegerField()

    class Meta:
        """By tool and project, and those of one problem."""

        indexes = [
            *record_indexes("solution", "tool", "project"),
            models.Index(fields=["store", "problem_id"], name="solution_problem"),
        ]

    def get_absolute_url(self) -> str:
        """The solution's page."""
        return reverse("solution_detail", args=[self.pk])


class Mem0Operation(MirroredRecord):
    """One line of `mem0-queue.jsonl`."""

    record_type = "mem0_operation"

    standing = models.CharField(max_length=16)
    """waiting, or duplicate where the same text was queued later."""
    user_id = models.CharField(max_length=220)
    type = models.CharField(max_length=220)
    category = models.CharField(max_length=220)
    project = models.CharField(max_length=220)
    confidence = models.FloatField(null=True)
    text_hash = models.BigIntegerField()
    """Of the text as it is compared; 0 without text."""

    class Meta:
        """By standing and area."""

        indexes = record_indexes("mem0", "standing", "category")

    def get_absolute_url(self) -> str:
        """The operation's page."""
        return reverse("mem0_detail", args=[self.pk])


class SessionEvent(MirroredRecord):
    """One line of a session's `events.jsonl`."""

    record_type = "session_event"

    event_type = models.CharField(max_length=220)
    name = models.CharField(max_length=220)
    session = models.CharField(max_length=220)
    said_by = models.CharField(max_length=220)
    machine = models.CharField(max_length=220)
    identity_source = models.CharField(max_length=220)
    outcome = models.CharField(max_length=16)
    """success, failure or "" where it does not say."""
    duration_ms = models.BigIntegerField(null=True)
    shape = models.CharField(max_length=16)
    """Which of the two writers made it: tracker, hook or foreign."""

    class Meta:
        """By type, name and outcome, and those of one session."""

        indexes = [
            *record_indexes("event", "event_type", "name", "outcome"),
            models.Index(fields=["store", "session", "at_ms", "id"], name="event_session"),
        ]

    def get_absolute_url(self) -> str:
        """The event's page."""
        return reverse("event_detail", args=[self.pk])


class GraphItem(MirroredRecord):
    """One line of `memory.json`: an entity or a relation of the graph."""

    record_type = "graph_entity"

    what = models.CharField(max_length=16)
    """entity, relation or foreign."""
    item_type = models.CharField(max_length=220)
    start = models.CharField(max_length=220)
    """Name of an entity, or where a relation begins."""
    end = models.CharField(max_length=220)
    observations = models.IntegerField()

    class Meta:
        """By kind and type, and all that begins or ends at one entity."""

        indexes = [
            *record_indexes("graph", "what", "item_type"),
            models.Index(fields=["store", "start"], name="graph_start"),
            models.Index(fields=["store", "end"], name="graph_end"),
        ]

    def get_absolute_url(self) -> str:
        """The line's page."""
        return reverse("graph_item_detail", args=[self.pk])


class PreferenceFile(MirroredRecord):
    """One file of counted preferences."""

    record_type = "preference_file"

    form = models.CharField(max_length=16)
    """tools, workflows or foreign."""
    samples = models.IntegerField()

    class Meta:
        """By form."""

        indexes = record_indexes("preference", "form")

    def get_absolute_url(self) -> str:
        """The file's page."""
        return reverse("preference_detail", args=[self.pk])


class MemoryMd(MirroredRecord):
    """One Markdown file that agents load."""

    record_type = "memory_md"

    form = models.CharField(max_length=16)
    """index, topic, rules or note."""
    agent = models.CharField(max_length=220)
    topic_type = models.CharField(max_length=220)
    lines = models.IntegerField()
    characters = models.IntegerField()
    not_loaded = models.IntegerField()
    """Lines behind what an agent loads of it."""
    long_lines = models.IntegerField()

    class Meta:
        """By form and agent."""

        indexes = record_indexes("memory_md", "form", "agent")

    def get_absolute_url(self) -> str:
        """The file's page."""
        return reverse("memory_file_detail", args=[self.pk])


class ForeignRecord(MirroredRecord):
    """What others wrote into the store, or an old version did: shown as it is, never rewritten."""

    record_type = "foreign"

    form = models.CharField(max_length=40)
    """A short word for what it is."""
    session = models.CharField(max_length=220)

    class Meta:
        """By form."""

        indexes = record_indexes("foreign", "form")

    def get_absolute_url(self) -> str:
        """The record's page."""
        return reverse("other_detail", args=[self.pk])


class FlowText(RecordText):
    """Texts of a flow."""

    record: Any = models.OneToOneField(Flow, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class ProblemSolutionText(RecordText):
    """Texts of a solution."""

    record: Any = models.OneToOneField(
        ProblemSolution, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text"
    )


class Mem0OperationText(RecordText):
    """Texts of a mem0 operation."""

    record: Any = models.OneToOneField(Mem0Operation, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class SessionEventText(RecordText):
    """Texts of a session's event."""

    record: Any = models.OneToOneField(SessionEvent, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class GraphItemText(RecordText):
    """Texts of a graph item."""

    record: Any = models.OneToOneField(GraphItem, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class PreferenceFileText(RecordText):
    """Texts of a preference file."""

    record: Any = models.OneToOneField(PreferenceFile, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class MemoryMdText(RecordText):
    """Texts of a Markdown file."""

    record: Any = models.OneToOneField(MemoryMd, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


class ForeignRecordText(RecordText):
    """Texts of a foreign record."""

    record: Any = models.OneToOneField(ForeignRecord, on_delete=models.CASCADE, primary_key=True, db_constraint=False, related_name="text")


Flow.text_model = FlowText
ProblemSolution.text_model = ProblemSolutionText
Mem0Operation.text_model = Mem0OperationText
SessionEvent.text_model = SessionEventText
GraphItem.text_model = GraphItemText
PreferenceFile.text_model = PreferenceFileText
MemoryMd.text_model = MemoryMdText
ForeignRecord.text_model = ForeignRecordText
