"""Tables of the other files of a store, with their text indexes."""

from __future__ import annotations

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from stores.mirror.text_index import create_statements, drop_statements

TABLES = tuple(
    (f"stores_{name}", f"stores_{name}text")
    for name in (
        "flow",
        "problemsolution",
        "mem0operation",
        "sessionevent",
        "graphitem",
        "preferencefile",
        "memorymd",
        "foreignrecord",
    )
)


def add_indexes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the text index that the engine at hand has, as for the first tables."""
    for record_table, text_table in TABLES:
        for statement in create_statements(record_table, text_table, editor.connection.vendor):
            editor.execute(statement)


def widen_reasons(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Let `gone_reason` of the first tables name a file; SQLite takes texts of any length, so its tables need no copying."""
    if editor.connection.vendor == "postgresql":
        for table in ("stores_decision", "stores_queueoperation", "stores_problem"):
            editor.execute(f"ALTER TABLE {table} ALTER COLUMN gone_reason TYPE varchar(120)")


def drop_indexes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take them away again."""
    for record_table, text_table in TABLES:
        for statement in drop_statements(record_table, text_table, editor.connection.vendor):
            editor.execute(statement)


class Migration(migrations.Migration):
    """Flows, solutions, session events, graph, preferences, notes and foreign records."""

    dependencies = [
        ("stores", "0003_text_index"),
    ]

    operations = [
        migrations.CreateModel(
            name="Flow",
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
                ("session", models.CharField(max_length=220)),
                ("pattern", models.CharField(max_length=220)),
                ("standing", models.CharField(max_length=16)),
                ("actions", models.IntegerField()),
                ("reads", models.IntegerField()),
                ("writes", models.IntegerField()),
                ("tests", models.IntegerField()),
                ("builds", models.IntegerField()),
                ("agent_spawns", models.IntegerField()),
                ("success_rate", models.FloatField(null=True)),
                ("started_ms", models.BigIntegerField(null=True)),
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
                    models.Index(fields=["file", "key"], name="flow_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="flow_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="flow_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="flow_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "pattern", "-at_ms", "-id", "standing"],
                        name="flow_pattern",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "standing", "-at_ms", "-id", "pattern"],
                        name="flow_standing",
                    ),
                    models.Index(fields=["store", "session"], name="flow_session"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ForeignRecord",
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
                ("form", models.CharField(max_length=40)),
                ("session", models.CharField(max_length=220)),
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
                    models.Index(fields=["file", "key"], name="foreign_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="foreign_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="foreign_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="foreign_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "form", "-at_ms", "-id"], name="foreign_form"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GraphItem",
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
                ("what", models.CharField(max_length=16)),
                ("item_type", models.CharField(max_length=220)),
                ("start", models.CharField(max_length=220)),
                ("end", models.CharField(max_length=220)),
                ("observations", models.IntegerField()),
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
                    models.Index(fields=["file", "key"], name="graph_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="graph_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="graph_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="graph_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "what", "-at_ms", "-id", "item_type"],
                        name="graph_what",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "item_type", "-at_ms", "-id", "what"],
                        name="graph_item_type",
                    ),
                    models.Index(fields=["store", "start"], name="graph_start"),
                    models.Index(fields=["store", "end"], name="graph_end"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Mem0Operation",
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
                ("standing", models.CharField(max_length=16)),
                ("user_id", models.CharField(max_length=220)),
                ("type", models.CharField(max_length=220)),
                ("category", models.CharField(max_length=220)),
                ("project", models.CharField(max_length=220)),
                ("confidence", models.FloatField(null=True)),
                ("text_hash", models.BigIntegerField()),
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
                    models.Index(fields=["file", "key"], name="mem0_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="mem0_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="mem0_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="mem0_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "standing", "-at_ms", "-id", "category"],
                        name="mem0_standing",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "category", "-at_ms", "-id", "standing"],
                        name="mem0_category",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemoryMd",
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
                ("form", models.CharField(max_length=16)),
                ("agent", models.CharField(max_length=220)),
                ("topic_type", models.CharField(max_length=220)),
                ("lines", models.IntegerField()),
                ("characters", models.IntegerField()),
                ("not_loaded", models.IntegerField()),
                ("long_lines", models.IntegerField()),
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
                    models.Index(fields=["file", "key"], name="memory_md_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="memory_md_newest"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="memory_md_gone"
                    ),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="memory_md_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "form", "-at_ms", "-id", "agent"],
                        name="memory_md_form",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "agent", "-at_ms", "-id", "form"],
                        name="memory_md_agent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PreferenceFile",
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
                ("form", models.CharField(max_length=16)),
                ("samples", models.IntegerField()),
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
                    models.Index(fields=["file", "key"], name="preference_key"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="preference_newest"
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="preference_gone"
                    ),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="preference_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)), fields=["store", "form", "-at_ms", "-id"], name="preference_form"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProblemSolution",
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
                ("problem_id", models.CharField(max_length=220)),
                ("tool", models.CharField(max_length=220)),
                ("project", models.CharField(max_length=220)),
                ("session", models.CharField(max_length=220)),
                ("confidence", models.FloatField(null=True)),
                ("entities", models.IntegerField()),
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
                    models.Index(fields=["file", "key"], name="solution_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="solution_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="solution_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="solution_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "tool", "-at_ms", "-id", "project"],
                        name="solution_tool",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "project", "-at_ms", "-id", "tool"],
                        name="solution_project",
                    ),
                    models.Index(fields=["store", "problem_id"], name="solution_problem"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SessionEvent",
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
                ("event_type", models.CharField(max_length=220)),
                ("name", models.CharField(max_length=220)),
                ("session", models.CharField(max_length=220)),
                ("said_by", models.CharField(max_length=220)),
                ("machine", models.CharField(max_length=220)),
                ("identity_source", models.CharField(max_length=220)),
                ("outcome", models.CharField(max_length=16)),
                ("duration_ms", models.BigIntegerField(null=True)),
                ("shape", models.CharField(max_length=16)),
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
                    models.Index(fields=["file", "key"], name="event_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="event_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="event_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="event_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "event_type", "-at_ms", "-id", "name", "outcome"],
                        name="event_event_type",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "name", "-at_ms", "-id", "event_type", "outcome"],
                        name="event_name",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "outcome", "-at_ms", "-id", "event_type", "name"],
                        name="event_outcome",
                    ),
                    models.Index(fields=["store", "session", "at_ms", "id"], name="event_session"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FlowText",
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
                        to="stores.flow",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ForeignRecordText",
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
                        to="stores.foreignrecord",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="GraphItemText",
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
                        to="stores.graphitem",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="Mem0OperationText",
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
                        to="stores.mem0operation",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="MemoryMdText",
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
                        to="stores.memorymd",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="PreferenceFileText",
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
                        to="stores.preferencefile",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ProblemSolutionText",
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
                        to="stores.problemsolution",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="SessionEventText",
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
                        to="stores.sessionevent",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.RunPython(add_indexes, drop_indexes),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(widen_reasons, migrations.RunPython.noop)],
            state_operations=[
                migrations.AlterField(model, "gone_reason", models.CharField(blank=True, max_length=120))
                for model in ("decision", "queueoperation", "problem")
            ],
        ),
    ]
