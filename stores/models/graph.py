"""The knowledge graph of a store, put together from its graph file, its queue and its decisions."""

from __future__ import annotations

from django.db import models
from django.urls import reverse

from stores.models.stores import Store

NO_RECORDS = -1
"""`seen_id` of a graph file that was taken from its bytes, since its lines are no records."""


class GraphEntity(models.Model):
    """One entity by its exact name, as the memory server tells entities apart."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    key = models.BigIntegerField()
    """First 8 bytes of the name's sha256: names of any script stay apart."""
    name = models.CharField(max_length=220)
    type = models.CharField(max_length=220, blank=True)
    title = models.TextField()
    """What a decision says, where its id is the name; else the name."""
    words = models.CharField(max_length=600)
    """formats.search_text of name and title, a space before each word."""

    decisions = models.IntegerField(default=0)
    queued = models.IntegerField(default=0)
    filed = models.IntegerField(default=0)
    """How many decisions, waiting operations and lines of the graph file tell of it. All zero: it only stands in relations."""
    degree = models.IntegerField(default=0)
    """How many relations begin or end here."""

    decision_type = models.CharField(max_length=220, blank=True)
    queue_type = models.CharField(max_length=220, blank=True)
    file_type = models.CharField(max_length=220, blank=True)
    """What each source says it is; `type` is the word of the graph file, else of the queue, else of the decisions."""
    decision_observations = models.IntegerField(default=0)
    queue_observations = models.IntegerField(default=0)
    file_observations = models.IntegerField(default=0)
    decision_ms = models.BigIntegerField(default=0)
    queue_ms = models.BigIntegerField(default=0)
    file_ms = models.BigIntegerField(default=0)
    newest_ms = models.BigIntegerField(default=0)
    """The newest date among all that is said of it, 0 where nothing carries one."""

    class Meta:
        """One row a name; by connections, by decisions, by age, by name."""

        constraints = [models.UniqueConstraint(fields=["store", "key"], name="graph_entity_once")]
        indexes = [
            models.Index(fields=["store", "-degree", "id"], name="entity_degree"),
            models.Index(fields=["store", "-decisions", "id"], name="entity_decisions"),
            models.Index(fields=["store", "newest_ms", "id"], name="entity_newest"),
            models.Index(fields=["store", "words", "id"], name="entity_words"),
            models.Index(fields=["store", "type", "-degree", "id"], name="entity_type"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        """The entity's page; `store` has to be loaded."""
        return reverse("entity_detail", args=[self.store.slug, self.pk])

    @property
    def observations(self) -> int:
        """How many sentences the most talkative of its sources has of it: the sources mostly say the same."""
        return max(self.decision_observations, self.queue_observations, self.file_observations)


class GraphRelation(models.Model):
    """One relation between two entities."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    key = models.BigIntegerField()
    start = models.ForeignKey(GraphEntity, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="outgoing")
    end = models.ForeignKey(GraphEntity, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="incoming")
    type = models.CharField(max_length=220)
    decisions = models.IntegerField(default=0)
    queued = models.IntegerField(default=0)
    filed = models.IntegerField(default=0)
    """How many decisions, waiting operations and lines of the graph file say it."""

    class Meta:
        """One row for each start, type and end; from both ends."""

        constraints = [models.UniqueConstraint(fields=["store", "key"], name="graph_relation_once")]
        indexes = [
            models.Index(fields=["start", "end"], name="relation_start"),
            models.Index(fields=["end", "start"], name="relation_end"),
            models.Index(fields=["store", "type"], name="relation_type"),
        ]

    def __str__(self) -> str:
        return f"{self.start_id} {self.type} {self.end_id}"


class GraphMention(models.Model):
    """A decision, or a waiting operation, that tells of an entity."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, db_index=False, related_name="+")
    entity = models.ForeignKey(GraphEntity, on_delete=models.CASCADE, db_index=False, db_constraint=False, related_name="mentions")
    record_type = models.CharField(max_length=32)
    record_id = models.BigIntegerField()

    class Meta:
        """Newest first by entity; all of one record."""

        indexes = [
            models.Index(fields=["entity", "record_type", "-record_id"], name="mention_entity"),
            models.Index(fields=["store", "record_type", "record_id"], name="mention_record"),
        ]


class GraphSource(models.Model):
    """How far the records of one type are in the graph of a store."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="graph_sources")
    record_type = models.CharField(max_length=32)
    basis = models.CharField(max_length=120, blank=True)
    """What the file was when the graph began to take it; "" begins anew."""
    seen_id = models.BigIntegerField(default=0)
    """The last record that was looked at."""
    taken = models.IntegerField(default=0)
    left_out = models.IntegerField(default=0)
    """Older records that are not taken since there are too many."""
    complete = models.BooleanField(default=False)
    whole = models.BooleanField(default=True)
    """Nothing was added since it was taken from its beginning."""
    at = models.DateTimeField(null=True)
    """When it was last brought up to date."""

    class Meta:
        """One row a type."""

        constraints = [models.UniqueConstraint(fields=["store", "record_type"], name="graph_source_once")]
