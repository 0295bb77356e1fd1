"""Tables of phase-memory stores, with their text indexes, and what a fault needs that comes from a kind's own rules."""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from stores.mirror.text_index import create_statements, drop_statements

TABLES = tuple(
    (f"stores_{name}", f"stores_{name}text") for name in ("profile", "node", "edge", "memorypath", "activation", "event", "auditrecord")
)


def add_indexes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the text index that the engine at hand has, as for the other tables."""
    for record_table, text_table in TABLES:
        for statement in create_statements(record_table, text_table, editor.connection.vendor):
            editor.execute(statement)


def drop_indexes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take them away again."""
    for record_table, text_table in TABLES:
        for statement in drop_statements(record_table, text_table, editor.connection.vendor):
            editor.execute(statement)


class Migration(migrations.Migration):
    """Record tables, their texts, what points where, and the files and versions that are known."""

    dependencies = [
        ("stores", "0006_graph"),
    ]

    operations = [
        migrations.CreateModel(
            name="Activation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("path", models.CharField(max_length=400)),
                ("digest", models.BinaryField()),
                ("is_duplicate", models.BooleanField(default=False)),
                ("unreadable_since", models.DateTimeField(null=True)),
                ("unreadable_cause", models.CharField(blank=True, max_length=32)),
                ("created_ms", models.BigIntegerField(default=0)),
                ("updated_ms", models.BigIntegerField(default=0)),
                ("graph_id", models.CharField(max_length=220)),
                ("profile_id", models.CharField(max_length=220)),
                ("intent", models.TextField()),
                ("max_items", models.FloatField(null=True)),
                ("max_tokens", models.FloatField(null=True)),
                ("used_items", models.FloatField(null=True)),
                ("used_tokens", models.FloatField(null=True)),
                ("node_count", models.IntegerField()),
                ("omitted_count", models.IntegerField()),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="activation_key"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="activation_newest"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="activation_gone"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "profile_id", "-at_ms", "-id"],
                        name="activation_profile",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "graph_id", "-at_ms", "-id"],
                        name="activation_graph",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("sequence", models.BigIntegerField(null=True)),
                ("operation", models.CharField(max_length=220)),
                ("decision", models.CharField(max_length=220)),
                ("actor", models.CharField(max_length=220)),
                ("subject_id", models.CharField(max_length=220)),
                ("reason", models.TextField()),
                ("reason_code", models.CharField(max_length=220)),
                ("review_id", models.CharField(max_length=220)),
                ("dry_run", models.BooleanField()),
                ("requires_review", models.BooleanField()),
                ("approved", models.BooleanField()),
                ("applied", models.BooleanField()),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="audit_record_key"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="audit_record_newest"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="audit_record_gone"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "operation", "-at_ms", "-id"],
                        name="audit_record_operation",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "decision", "-at_ms", "-id"],
                        name="audit_record_decision",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "actor", "-at_ms", "-id"], name="audit_record_actor"
                    ),
                    models.Index(fields=["file", "line"], name="audit_record_line"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="audit_record_provisional"),
                    models.Index(
                        condition=models.Q(("subject_id", ""), _negated=True), fields=["store", "subject_id"], name="audit_record_subject"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Edge",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("path", models.CharField(max_length=400)),
                ("digest", models.BinaryField()),
                ("is_duplicate", models.BooleanField(default=False)),
                ("unreadable_since", models.DateTimeField(null=True)),
                ("unreadable_cause", models.CharField(blank=True, max_length=32)),
                ("created_ms", models.BigIntegerField(default=0)),
                ("updated_ms", models.BigIntegerField(default=0)),
                ("kind", models.CharField(max_length=220)),
                ("source", models.CharField(max_length=220)),
                ("target", models.CharField(max_length=220)),
                ("state", models.CharField(max_length=220)),
                ("agent", models.CharField(max_length=220)),
                ("weight", models.FloatField(null=True)),
                ("confidence", models.FloatField(null=True)),
                ("valid_ms", models.BigIntegerField(default=0)),
                ("invalid_ms", models.BigIntegerField(default=0)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="edge_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="edge_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="edge_gone"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "kind", "-at_ms", "-id"], name="edge_kind"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "state", "-at_ms", "-id"], name="edge_state"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "agent", "-at_ms", "-id"], name="edge_agent"
                    ),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "source"], name="edge_source"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "target"], name="edge_target"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Event",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("kind", models.CharField(max_length=220)),
                ("actor", models.CharField(max_length=220)),
                ("session", models.CharField(max_length=220)),
                ("path_id", models.CharField(max_length=220)),
                ("task", models.CharField(max_length=220)),
                ("action_id", models.CharField(max_length=220)),
                ("schema_version", models.CharField(max_length=220)),
                ("update_count", models.IntegerField()),
                ("standing", models.CharField(db_default="", max_length=16)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="memory_event_key"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="memory_event_newest"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="memory_event_gone"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "kind", "-at_ms", "-id"], name="memory_event_kind"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "actor", "-at_ms", "-id"], name="memory_event_actor"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "session", "-at_ms", "-id"],
                        name="memory_event_session",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "path_id", "-at_ms", "-id"],
                        name="memory_event_path",
                    ),
                    models.Index(fields=["file", "line"], name="memory_event_line"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="memory_event_provisional"),
                    models.Index(
                        condition=models.Q(("action_id", ""), _negated=True), fields=["store", "action_id"], name="memory_event_action"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoryPath",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("path", models.CharField(max_length=400)),
                ("digest", models.BinaryField()),
                ("is_duplicate", models.BooleanField(default=False)),
                ("unreadable_since", models.DateTimeField(null=True)),
                ("unreadable_cause", models.CharField(blank=True, max_length=32)),
                ("created_ms", models.BigIntegerField(default=0)),
                ("updated_ms", models.BigIntegerField(default=0)),
                ("state", models.CharField(max_length=220)),
                ("parent_path_id", models.CharField(max_length=220)),
                ("merge_target", models.CharField(max_length=220)),
                ("summary_id", models.CharField(max_length=220)),
                ("abandoned_reason", models.TextField()),
                ("event_count", models.IntegerField()),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="path_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="path_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="path_gone"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "state", "-at_ms", "-id"], name="path_state"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "parent_path_id", "at_ms", "id"], name="path_parent"
                    ),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "merge_target"], name="path_merge"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Node",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("path", models.CharField(max_length=400)),
                ("digest", models.BinaryField()),
                ("is_duplicate", models.BooleanField(default=False)),
                ("unreadable_since", models.DateTimeField(null=True)),
                ("unreadable_cause", models.CharField(blank=True, max_length=32)),
                ("created_ms", models.BigIntegerField(default=0)),
                ("updated_ms", models.BigIntegerField(default=0)),
                ("kind", models.CharField(max_length=220)),
                ("phase", models.CharField(max_length=220)),
                ("phase_assumed", models.BooleanField()),
                ("state", models.CharField(max_length=220)),
                ("label", models.CharField(max_length=220)),
                ("agent", models.CharField(max_length=220)),
                ("session", models.CharField(max_length=220)),
                ("path_id", models.CharField(max_length=220)),
                ("project", models.CharField(max_length=220)),
                ("task", models.CharField(max_length=220)),
                ("graph_id", models.CharField(max_length=220)),
                ("trust_zone", models.CharField(max_length=220)),
                ("secret", models.BooleanField()),
                ("tags", models.TextField()),
                ("confidence", models.FloatField(null=True)),
                ("strength", models.FloatField(null=True)),
                ("activation_count", models.IntegerField()),
                ("superseded_by", models.CharField(max_length=220)),
                ("compacted_into", models.CharField(max_length=220)),
                ("stale_since_ms", models.BigIntegerField(default=0)),
                ("review", models.CharField(default="", max_length=12)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="node_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="node_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="node_gone"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "kind", "-at_ms", "-id"], name="node_kind"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "phase", "-at_ms", "-id"], name="node_phase"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "state", "-at_ms", "-id"], name="node_state"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "label", "-at_ms", "-id"], name="node_label"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "agent", "-at_ms", "-id"], name="node_agent"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "session", "-at_ms", "-id"], name="node_session"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "path_id", "-at_ms", "-id"], name="node_path"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "review", "-at_ms", "-id"], name="node_review"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Profile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("natural_id", models.CharField(max_length=220)),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("fault_count", models.SmallIntegerField(default=0)),
                ("first_seen_at", models.DateTimeField()),
                ("gone_at", models.DateTimeField(null=True)),
                ("gone_reason", models.CharField(blank=True, max_length=120)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("path", models.CharField(max_length=400)),
                ("digest", models.BinaryField()),
                ("is_duplicate", models.BooleanField(default=False)),
                ("unreadable_since", models.DateTimeField(null=True)),
                ("unreadable_cause", models.CharField(blank=True, max_length=32)),
                ("created_ms", models.BigIntegerField(default=0)),
                ("updated_ms", models.BigIntegerField(default=0)),
                ("durable_writes", models.CharField(max_length=220)),
                ("memory_kinds", models.TextField()),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["file", "key"], name="profile_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="profile_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="profile_gone"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "durable_writes", "-at_ms", "-id"],
                        name="profile_durable_writes",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ActivationText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.activation",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ActivationItem",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("node_id", models.CharField(max_length=220)),
                ("chosen", models.BooleanField()),
                ("reason", models.TextField()),
                ("tokens", models.FloatField(null=True)),
                ("score", models.FloatField(null=True)),
                (
                    "record",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="stores.activation",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["record", "position"], name="activation_item_order"),
                    models.Index(fields=["store", "node_id"], name="activation_item_node"),
                ],
            },
        ),
        migrations.CreateModel(
            name="AuditRecordText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.auditrecord",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="AuditTarget",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("target_type", models.CharField(max_length=220)),
                ("target_id", models.CharField(max_length=220)),
                ("before_digest", models.CharField(max_length=220)),
                ("after_digest", models.CharField(max_length=220)),
                (
                    "record",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="stores.auditrecord",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["record", "position"], name="audit_target_order"),
                    models.Index(fields=["store", "target_type", "target_id"], name="audit_target_target"),
                ],
            },
        ),
        migrations.CreateModel(
            name="EdgeText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.edge",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="EventText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.event",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="EventUpdate",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("target_type", models.CharField(max_length=12)),
                ("target_id", models.CharField(max_length=220)),
                ("operation", models.CharField(max_length=220)),
                ("named", models.TextField()),
                (
                    "record",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="updates",
                        to="stores.event",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["record", "position"], name="event_update_order"),
                    models.Index(fields=["store", "target_type", "target_id"], name="event_update_target"),
                ],
            },
        ),
        migrations.CreateModel(
            name="EventVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=200, unique=True)),
                ("note", models.TextField(blank=True)),
                ("added_at", models.DateTimeField(auto_now_add=True)),
                (
                    "added_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="MemoryPathText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.memorypath",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="NodeText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.node",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="NodeSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("event_id", models.CharField(max_length=220)),
                (
                    "record",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="source_events",
                        to="stores.node",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["record", "position"], name="node_source_order"),
                    models.Index(fields=["store", "event_id"], name="node_source_event"),
                ],
            },
        ),
        migrations.CreateModel(
            name="PathEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("position", models.IntegerField()),
                ("event_id", models.CharField(max_length=220)),
                (
                    "record",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="listed_events",
                        to="stores.memorypath",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["record", "position"], name="path_event_order"),
                    models.Index(fields=["store", "event_id"], name="path_event_event"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProfileText",
            fields=[
                ("store_id", models.BigIntegerField()),
                ("raw", models.BinaryField()),
                ("search", models.TextField()),
                (
                    "record",
                    models.OneToOneField(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="text",
                        serialize=False,
                        to="stores.profile",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="RecordFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=400)),
                ("record_id", models.BigIntegerField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("ok", "ok"), ("refused", "refused"), ("unreadable", "unreadable"), ("too_large", "too_large")],
                        default="ok",
                        max_length=12,
                    ),
                ),
                ("size_bytes", models.BigIntegerField()),
                ("mtime_ns", models.BigIntegerField()),
                ("ctime_ns", models.BigIntegerField()),
                ("inode", models.BigIntegerField()),
                ("racy", models.BooleanField(default=False)),
                ("sha256", models.BinaryField()),
                ("facts", models.BinaryField()),
                ("raw", models.BinaryField(default=b"")),
                (
                    "folder",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="record_files", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("state", "ok"), _negated=True), fields=["folder", "state"], name="record_file_state"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("store", "path"), name="record_file_once_a_path"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecordTree",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("stamp", models.CharField(max_length=32)),
                ("basis", models.CharField(blank=True, max_length=64)),
                ("store", models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name="tree", to="stores.store")),
            ],
        ),
        migrations.AddField(
            model_name="fault",
            name="closed_in_store",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="fault",
            name="is_diagnostic",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="fault",
            name="own_key",
            field=models.TextField(null=True),
        ),
        migrations.AddField(
            model_name="recordversion",
            name="digest",
            field=models.BinaryField(default=b""),
        ),
        migrations.RunPython(add_indexes, drop_indexes),
    ]
