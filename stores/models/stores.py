"""Stores, their source files and what an import saw of them."""

from __future__ import annotations

import uuid

from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.urls import reverse

from stores.models.accounts import User
from stores.models.work import Worker


class Store(models.Model):
    """One directory of agent memory, with its last measured health."""

    VERDICTS = [(word, word) for word in ("healthy", "degraded", "unavailable", "unmeasured")]

    uid = models.UUIDField(unique=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=32)
    path = models.TextField()
    """The real path of the folder, links resolved when it was added (ruling 34)."""
    given_path = models.TextField()
    """The path as it was given; resolved again at each import."""
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="stores")
    groups = models.ManyToManyField(Group, blank=True, related_name="stores")
    """Who may see it; empty = everybody who may sign in."""
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, related_name="+")

    root_device = models.BigIntegerField(null=True)
    root_inode = models.BigIntegerField(null=True)
    size_bytes = models.BigIntegerField(default=0)
    file_count = models.IntegerField(default=0)
    changed_at = models.DateTimeField(null=True)
    """Newest modification of any of its files."""
    imported_at = models.DateTimeField(null=True)
    """When the worker last compared the mirror with the disk."""

    verdict = models.CharField(max_length=16, choices=VERDICTS, default="unmeasured")
    """As measured; pages and commands take `selectors.verdicts`, which knows when a measurement is too old."""
    sentence = models.TextField(blank=True)
    status = models.CharField(max_length=16, default="unmeasured")
    """The kind's own (classic) status."""
    message = models.TextField(blank=True)
    classic = models.JSONField(default=dict)
    measured_at = models.DateTimeField(null=True)
    stray_stores = models.JSONField(default=list)
    stray_checked_at = models.DateTimeField(null=True)

    class Meta:
        """By name."""

        ordering = ["name", "id"]
        constraints = [models.UniqueConstraint(fields=["worker", "path"], name="store_once_a_path")]

    def __str__(self) -> str:
        return self.slug

    def get_absolute_url(self) -> str:
        """The store's page."""
        return reverse("store_detail", args=[self.slug])


class SourceFile(models.Model):
    """One file of a store: what is known of its bytes, and up to where the mirror is an image of it."""

    STATES = [(word, word) for word in ("ok", "importing", "unreadable", "missing", "too_large", "symlink", "not_regular", "listed")]
    """`listed`: no reader of this kind takes it; size and time are known."""
    UNREADABLE = frozenset({"unreadable", "too_large", "symlink", "not_regular"})
    TROUBLED = Q(state__in=[*sorted(UNREADABLE), "importing"]) | Q(lines_refused__gt=0) | Q(tail_refused__gt=0) | Q(tail_pending__gt=0)
    """Something of it cannot be read, or is not read yet."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=400)
    """Relative to the store's root, `/` separated."""
    record_type = models.CharField(max_length=32, blank=True)
    state = models.CharField(max_length=16, choices=STATES, default="ok")
    error = models.TextField(blank=True)
    exists = models.BooleanField(default=True)

    device = models.BigIntegerField(default=0)
    inode = models.BigIntegerField(default=0)
    size_bytes = models.BigIntegerField(default=0)
    mtime_ns = models.BigIntegerField(default=0)
    ctime_ns = models.BigIntegerField(default=0)

    offset = models.BigIntegerField(default=0)
    """Bytes committed: the mirror's records are exactly those of this prefix, and of the provisional tail."""
    next_line = models.BigIntegerField(default=1)
    head_sha256 = models.BinaryField(default=b"")
    tail_sha256 = models.BinaryField(default=b"")
    """Of the first min(1 KiB, offset) and the last min(4 KiB, offset) bytes before the offset (ruling 1)."""
    generation = models.IntegerField(default=0)
    rereading = models.BooleanField(default=False)
    reader_state = models.TextField(blank=True)
    """The reader's state at the offset."""
    end_state = models.TextField(blank=True)
    """The reader's state after the last byte seen, provisional lines included."""

    lines_record = models.BigIntegerField(default=0)
    lines_refused = models.BigIntegerField(default=0)
    lines_blank = models.BigIntegerField(default=0)
    tail_record = models.IntegerField(default=0)
    tail_refused = models.IntegerField(default=0)
    tail_blank = models.IntegerField(default=0)
    tail_pending = models.IntegerField(default=0)
    """Lines after the offset: read, but read again when the file grows."""

    info_counts = models.JSONField(default=dict)
    """Findings of severity info in the committed lines, by code: of each code only the first 1,000 have a fault row of their own."""
    across = models.CharField(max_length=120, blank=True)
    """What the last look across lines was based on; while it is the same there is nothing new to find."""
    scrubbed_at = models.DateTimeField(null=True)
    read_at = models.DateTimeField(null=True)
    grew_at = models.DateTimeField(null=True)
    shrank_at = models.DateTimeField(null=True)
    """Last time a queue lost lines: something drained it."""
    first_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """By path."""

        ordering = ["store_id", "path"]
        constraints = [models.UniqueConstraint(fields=["store", "path"], name="source_file_once_a_path")]

    def __str__(self) -> str:
        return self.path

    @property
    def line_count(self) -> int:
        """Lines that are not blank, as the kind's own health check counts them."""
        return self.lines_record + self.lines_refused + self.tail_record + self.tail_refused + self.tail_pending

    @property
    def corrupt_lines(self) -> int:
        """Lines that the kind's own reader rejects."""
        return self.lines_refused + self.tail_refused + self.tail_pending

    @property
    def readable_lines(self) -> int:
        """Lines that became records."""
        return self.lines_record + self.tail_record

    @property
    def cannot_be_read(self) -> bool:
        """Whether its bytes are out of reach; its records are then those of the last reading, of which there may be none."""
        return self.state in self.UNREADABLE

    @property
    def is_troubled(self) -> bool:
        """Whether something of it cannot be read, or is not read yet."""
        return self.cannot_be_read or self.state == "importing" or self.corrupt_lines > 0

    @property
    def share_read(self) -> float:
        """How much of the file is mirrored, 0 to 1."""
        return min(1.0, self.offset / self.size_bytes) if self.size_bytes else 1.0


class FileVersion(models.Model):
    """An earlier content of a file that its writers rewrite (ruling 37: 200 versions or a year)."""

    file = models.ForeignKey(SourceFile, on_delete=models.CASCADE, related_name="versions")
    seen_at = models.DateTimeField()
    sha256 = models.BinaryField()
    size_bytes = models.BigIntegerField()
    content = models.BinaryField()
    """The whole bytes up to 1 MiB, else the first 4 KiB."""

    class Meta:
        """Newest first."""

        ordering = ["-seen_at", "-id"]


class Change(models.Model):
    """What one import found changed in one file."""

    WHAT = [
        (word, word)
        for word in (
            "created",
            "appended",
            "rewritten",
            "edited",
            "replaced",
            "truncated",
            "vanished",
            "returned",
            "unreadable",
            "silent_rewrite",
        )
    ]

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="changes")
    path = models.CharField(max_length=400)
    what = models.CharField(max_length=16, choices=WHAT)
    at = models.DateTimeField()
    created = models.BigIntegerField(default=0)
    updated = models.BigIntegerField(default=0)
    removed = models.BigIntegerField(default=0)
    bytes_before = models.BigIntegerField(default=0)
    bytes_after = models.BigIntegerField(default=0)

    class Meta:
        """Newest first."""

        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["store", "-at", "-id"], name="change_newest")]


class ImportRun(models.Model):
    """One import of one store that read something, or was asked for."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="runs")
    mode = models.CharField(max_length=16)
    status = models.CharField(max_length=16)
    trigger = models.CharField(max_length=16)
    started_at = models.DateTimeField()
    duration_s = models.FloatField()
    records = models.JSONField(default=dict)
    """record type -> {created, updated, removed, total}"""
    faults = models.IntegerField(default=0)
    files_read = models.IntegerField(default=0)
    bytes_read = models.BigIntegerField(default=0)
    error = models.TextField(blank=True)

    class Meta:
        """Newest first."""

        ordering = ["-started_at", "-id"]
        indexes = [models.Index(fields=["store", "-started_at"], name="run_newest")]


class FacetCount(models.Model):
    """How many live records of a type have a value: kept by the import, read by every page that shows a number (ruling 42)."""

    store = models.ForeignKey(Store, on_delete=models.CASCADE, related_name="facet_counts")
    record_type = models.CharField(max_length=32)
    facet = models.CharField(max_length=32)
    """A column of the record, or "" for all records of the type."""
    value = models.CharField(max_length=220)
    count = models.BigIntegerField()

    class Meta:
        """One row a value."""

        constraints = [models.UniqueConstraint(fields=["store", "record_type", "facet", "value"], name="facet_count_once")]
