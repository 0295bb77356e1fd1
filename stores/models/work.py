"""Workers and what the web asks of them."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class Worker(models.Model):
    """The process of one host that touches disks; its id lies in its data folder (ruling 39)."""

    uid = models.UUIDField(unique=True, default=uuid.uuid4)
    label = models.CharField(max_length=120)
    started_at = models.DateTimeField(null=True)
    seen_at = models.DateTimeField(null=True)
    """Last sign of life; written every few seconds while the worker runs."""
    stopped_at = models.DateTimeField(null=True)
    sweep_s = models.FloatField(default=5.0)
    """Current period of its sweeps."""
    note = models.TextField(blank=True)
    """What limits it at present, e.g. that the watch limit is reached."""
    roots = models.JSONField(default=list)
    """MEMORYUI_STORE_ROOTS of that host, for the pages."""

    class Meta:
        """By label."""

        ordering = ["label", "id"]

    def __str__(self) -> str:
        return self.label


class Task(models.Model):
    """Something that the web wants from a disk: only the worker of that host does it (ruling 40)."""

    KINDS = [(word, word) for word in ("discover", "import", "plan", "read_bytes", "add_store", "relocate", "reset_mirror", "remove_store")]
    STATES = [(word, word) for word in ("waiting", "running", "done", "failed")]

    kind = models.CharField(max_length=16, choices=KINDS)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="tasks")
    store = models.ForeignKey("stores.Store", on_delete=models.CASCADE, null=True, related_name="tasks")
    arguments = models.JSONField(default=dict)
    asked_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    state = models.CharField(max_length=16, choices=STATES, default="waiting")
    lease_until = models.DateTimeField(null=True)
    result = models.JSONField(default=dict)
    content = models.BinaryField(default=b"")
    """Bytes of `read_bytes`, at most 1 MiB."""
    error = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        """Newest first; the worker asks for the waiting ones every second."""

        ordering = ["-id"]
        indexes = [models.Index(fields=["worker", "id"], name="task_due", condition=models.Q(state__in=["waiting", "running"]))]
