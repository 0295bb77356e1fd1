"""All tables as of the first release."""

from __future__ import annotations

import uuid

import django.contrib.auth.validators
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import stores.models.accounts


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditHead",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("count", models.BigIntegerField()),
                ("digest", models.CharField(max_length=64)),
            ],
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, unique=True)),
                ("label", models.CharField(max_length=120)),
                ("started_at", models.DateTimeField(null=True)),
                ("seen_at", models.DateTimeField(null=True)),
                ("stopped_at", models.DateTimeField(null=True)),
                ("sweep_s", models.FloatField(default=5.0)),
                ("note", models.TextField(blank=True)),
                ("roots", models.JSONField(default=list)),
            ],
            options={
                "ordering": ["label", "id"],
            },
        ),
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("password", models.CharField(max_length=128, verbose_name="password")),
                ("last_login", models.DateTimeField(blank=True, null=True, verbose_name="last login")),
                (
                    "is_superuser",
                    models.BooleanField(
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                        verbose_name="superuser status",
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        error_messages={"unique": "A user with that username already exists."},
                        help_text="Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.",
                        max_length=150,
                        unique=True,
                        validators=[django.contrib.auth.validators.UnicodeUsernameValidator()],
                        verbose_name="username",
                    ),
                ),
                ("first_name", models.CharField(blank=True, max_length=150, verbose_name="first name")),
                ("last_name", models.CharField(blank=True, max_length=150, verbose_name="last name")),
                ("email", models.EmailField(blank=True, max_length=254, verbose_name="email address")),
                (
                    "is_staff",
                    models.BooleanField(
                        default=False, help_text="Designates whether the user can log into this admin site.", verbose_name="staff status"
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                        verbose_name="active",
                    ),
                ),
                ("date_joined", models.DateTimeField(default=django.utils.timezone.now, verbose_name="date joined")),
                (
                    "groups",
                    models.ManyToManyField(
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                        verbose_name="groups",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                        verbose_name="user permissions",
                    ),
                ),
            ],
            options={
                "verbose_name": "user",
                "verbose_name_plural": "users",
                "abstract": False,
                "constraints": [
                    models.UniqueConstraint(django.db.models.functions.text.Lower("username"), name="user_name_unique_without_case"),
                ],
            },
            managers=[
                ("objects", stores.models.accounts.AccountManager()),
            ],
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("label", models.CharField(max_length=80)),
                ("prefix", models.CharField(max_length=12, unique=True)),
                ("digest", models.CharField(max_length=64)),
                ("scope", models.CharField(choices=[("read", "read"), ("review", "review")], default="read", max_length=16)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tokens", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "ordering": ["-created_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="AuditEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.BigIntegerField(unique=True)),
                ("at", models.DateTimeField()),
                ("event", models.CharField(max_length=40)),
                ("actor_label", models.CharField(max_length=220)),
                ("object_label", models.TextField()),
                ("store_uid", models.UUIDField(null=True)),
                ("store_slug", models.CharField(blank=True, max_length=80)),
                ("through", models.CharField(max_length=16)),
                ("detail", models.JSONField(default=dict)),
                ("previous_digest", models.CharField(max_length=64)),
                ("digest", models.CharField(max_length=64)),
                (
                    "actor",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "indexes": [
                    models.Index(fields=["event", "-number"], name="audit_event"),
                    models.Index(fields=["actor", "-number"], name="audit_actor"),
                    models.Index(fields=["store_uid", "-number"], name="audit_store"),
                    models.Index(fields=["at"], name="audit_time"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SavedView",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("section", models.CharField(max_length=32)),
                ("name", models.CharField(max_length=80)),
                ("query", models.TextField()),
                ("shared", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                (
                    "owner",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="saved_views", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "section", "name"), name="saved_view_one_of_a_name"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Store",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("slug", models.SlugField(max_length=80, unique=True)),
                ("name", models.CharField(max_length=120)),
                ("kind", models.CharField(max_length=32)),
                ("path", models.TextField()),
                ("given_path", models.TextField()),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("root_device", models.BigIntegerField(null=True)),
                ("root_inode", models.BigIntegerField(null=True)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("file_count", models.IntegerField(default=0)),
                ("changed_at", models.DateTimeField(null=True)),
                ("imported_at", models.DateTimeField(null=True)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("healthy", "healthy"),
                            ("degraded", "degraded"),
                            ("unavailable", "unavailable"),
                            ("unmeasured", "unmeasured"),
                        ],
                        default="unmeasured",
                        max_length=16,
                    ),
                ),
                ("sentence", models.TextField(blank=True)),
                ("status", models.CharField(default="unmeasured", max_length=16)),
                ("message", models.TextField(blank=True)),
                ("classic", models.JSONField(default=dict)),
                ("measured_at", models.DateTimeField(null=True)),
                ("stray_stores", models.JSONField(default=list)),
                ("stray_checked_at", models.DateTimeField(null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("groups", models.ManyToManyField(blank=True, related_name="stores", to="auth.group")),
                ("worker", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="stores", to="stores.worker")),
            ],
            options={
                "ordering": ["name", "id"],
                "constraints": [
                    models.UniqueConstraint(fields=("worker", "path"), name="store_once_a_path"),
                ],
            },
        ),
        migrations.CreateModel(
            name="SourceFile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=400)),
                ("record_type", models.CharField(blank=True, max_length=32)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("ok", "ok"),
                            ("importing", "importing"),
                            ("unreadable", "unreadable"),
                            ("missing", "missing"),
                            ("too_large", "too_large"),
                            ("symlink", "symlink"),
                            ("not_regular", "not_regular"),
                            ("listed", "listed"),
                        ],
                        default="ok",
                        max_length=16,
                    ),
                ),
                ("error", models.TextField(blank=True)),
                ("exists", models.BooleanField(default=True)),
                ("device", models.BigIntegerField(default=0)),
                ("inode", models.BigIntegerField(default=0)),
                ("size_bytes", models.BigIntegerField(default=0)),
                ("mtime_ns", models.BigIntegerField(default=0)),
                ("ctime_ns", models.BigIntegerField(default=0)),
                ("offset", models.BigIntegerField(default=0)),
                ("next_line", models.BigIntegerField(default=1)),
                ("head_sha256", models.BinaryField(default=b"")),
                ("tail_sha256", models.BinaryField(default=b"")),
                ("generation", models.IntegerField(default=0)),
                ("rereading", models.BooleanField(default=False)),
                ("reader_state", models.TextField(blank=True)),
                ("end_state", models.TextField(blank=True)),
                ("lines_record", models.BigIntegerField(default=0)),
                ("lines_refused", models.BigIntegerField(default=0)),
                ("lines_blank", models.BigIntegerField(default=0)),
                ("tail_record", models.IntegerField(default=0)),
                ("tail_refused", models.IntegerField(default=0)),
                ("tail_blank", models.IntegerField(default=0)),
                ("tail_pending", models.IntegerField(default=0)),
                ("info_counts", models.JSONField(default=dict)),
                ("across", models.CharField(blank=True, max_length=120)),
                ("scrubbed_at", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("grew_at", models.DateTimeField(null=True)),
                ("shrank_at", models.DateTimeField(null=True)),
                ("first_seen_at", models.DateTimeField(auto_now_add=True)),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="files", to="stores.store")),
            ],
            options={
                "ordering": ["store_id", "path"],
                "constraints": [
                    models.UniqueConstraint(fields=("store", "path"), name="source_file_once_a_path"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Decision",
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
                ("gone_reason", models.CharField(blank=True, max_length=40)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("shape", models.CharField(max_length=40)),
                ("type", models.CharField(max_length=220)),
                ("category", models.CharField(max_length=220)),
                ("said_by", models.CharField(max_length=220)),
                ("machine", models.CharField(max_length=220)),
                ("session", models.CharField(max_length=220)),
                ("project", models.CharField(max_length=220)),
                ("source", models.CharField(max_length=220)),
                ("scope", models.CharField(max_length=220)),
                ("importance", models.CharField(max_length=220)),
                ("confidence", models.FloatField(null=True)),
                ("what_hash", models.BigIntegerField()),
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
                    models.Index(fields=["file", "key"], name="decision_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="decision_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="decision_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="decision_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "category", "-at_ms", "-id", "type", "said_by"],
                        name="decision_category",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "type", "-at_ms", "-id", "category", "said_by"],
                        name="decision_type",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "said_by", "-at_ms", "-id", "category", "type"],
                        name="decision_said_by",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Problem",
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
                ("gone_reason", models.CharField(blank=True, max_length=40)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("status", models.CharField(max_length=220)),
                ("project", models.CharField(max_length=220)),
                ("session", models.CharField(max_length=220)),
                ("confidence", models.FloatField(null=True)),
                ("solved_at_ms", models.BigIntegerField(null=True)),
                ("solved_by", models.CharField(max_length=220)),
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
                    models.Index(fields=["file", "key"], name="problem_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="problem_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="problem_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="problem_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "status", "-at_ms", "-id", "project"],
                        name="problem_status",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "project", "-at_ms", "-id", "status"],
                        name="problem_project",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="QueueOperation",
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
                ("gone_reason", models.CharField(blank=True, max_length=40)),
                ("at_ms", models.BigIntegerField()),
                ("at_state", models.CharField(max_length=8)),
                ("title", models.TextField()),
                ("operation", models.CharField(max_length=220)),
                ("standing", models.CharField(max_length=16)),
                ("reason", models.TextField()),
                ("would_write", models.TextField()),
                ("entities", models.IntegerField()),
                ("relations", models.IntegerField()),
                ("observations", models.IntegerField()),
                ("decision_id", models.CharField(max_length=220)),
                ("payload_hash", models.BigIntegerField()),
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
                    models.Index(fields=["file", "key"], name="queue_key"),
                    models.Index(condition=models.Q(("gone_at__isnull", True)), fields=["store", "-at_ms", "-id"], name="queue_newest"),
                    models.Index(condition=models.Q(("gone_at__isnull", False)), fields=["store", "-gone_at", "-id"], name="queue_gone"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="queue_provisional"),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "standing", "-at_ms", "-id", "operation"],
                        name="queue_standing",
                    ),
                    models.Index(
                        condition=models.Q(("gone_at__isnull", True)),
                        fields=["store", "operation", "-at_ms", "-id", "standing"],
                        name="queue_operation",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DecisionText",
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
                        to="stores.decision",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="ProblemText",
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
                        to="stores.problem",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="QueueOperationText",
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
                        to="stores.queueoperation",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
        migrations.CreateModel(
            name="FileVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("seen_at", models.DateTimeField()),
                ("sha256", models.BinaryField()),
                ("size_bytes", models.BigIntegerField()),
                ("content", models.BinaryField()),
                ("file", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="versions", to="stores.sourcefile")),
            ],
            options={
                "ordering": ["-seen_at", "-id"],
            },
        ),
        migrations.CreateModel(
            name="RefusedLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("generation", models.IntegerField()),
                ("provisional", models.BooleanField(default=False)),
                ("line", models.BigIntegerField()),
                ("offset", models.BigIntegerField()),
                ("length", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("raw", models.BinaryField()),
                ("before", models.BinaryField(default=b"")),
                ("after", models.BinaryField(default=b"")),
                ("before_length", models.BigIntegerField(null=True)),
                ("after_length", models.BigIntegerField(null=True)),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="refused", to="stores.sourcefile"
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "ordering": ["file_id", "line"],
                "indexes": [
                    models.Index(fields=["file", "line"], name="refused_place"),
                    models.Index(condition=models.Q(("provisional", True)), fields=["file"], name="refused_provisional"),
                ],
            },
        ),
        migrations.CreateModel(
            name="RecordVersion",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("record_type", models.CharField(max_length=32)),
                ("record_id", models.BigIntegerField()),
                ("replaced_at", models.DateTimeField()),
                ("line", models.BigIntegerField()),
                ("sha256", models.BinaryField()),
                ("raw", models.BinaryField()),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store")),
            ],
            options={
                "ordering": ["-replaced_at", "-id"],
                "indexes": [
                    models.Index(fields=["record_type", "record_id"], name="version_of_record"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Measurement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("verdict", models.CharField(max_length=16)),
                ("values", models.JSONField()),
                ("daily", models.BooleanField(default=False)),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="measurements", to="stores.store")),
            ],
            options={
                "ordering": ["-at", "-id"],
                "indexes": [
                    models.Index(fields=["store", "-at"], name="measurement_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("mode", models.CharField(max_length=16)),
                ("status", models.CharField(max_length=16)),
                ("trigger", models.CharField(max_length=16)),
                ("started_at", models.DateTimeField()),
                ("duration_s", models.FloatField()),
                ("records", models.JSONField(default=dict)),
                ("faults", models.IntegerField(default=0)),
                ("files_read", models.IntegerField(default=0)),
                ("bytes_read", models.BigIntegerField(default=0)),
                ("error", models.TextField(blank=True)),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="runs", to="stores.store")),
            ],
            options={
                "ordering": ["-started_at", "-id"],
                "indexes": [
                    models.Index(fields=["store", "-started_at"], name="run_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FaultAcknowledgement",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=400)),
                ("code", models.CharField(max_length=40)),
                ("key", models.CharField(max_length=64)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("note", models.TextField(blank=True)),
                (
                    "by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="acknowledgements", to="stores.store"),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("store", "path", "code", "key"), name="acknowledged_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Fault",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=400)),
                ("code", models.CharField(max_length=40)),
                ("severity", models.CharField(choices=[("error", "error"), ("warning", "warning"), ("info", "info")], max_length=8)),
                ("rank", models.SmallIntegerField()),
                ("message", models.TextField()),
                ("line", models.BigIntegerField(null=True)),
                ("byte", models.BigIntegerField(null=True)),
                ("subject_type", models.CharField(blank=True, max_length=32)),
                ("subject_id", models.CharField(blank=True, max_length=220)),
                ("key", models.CharField(blank=True, max_length=64)),
                ("details", models.TextField(default="{}")),
                ("repair_mode", models.CharField(default="none", max_length=12)),
                ("repair_action", models.CharField(blank=True, max_length=40)),
                ("pending", models.BooleanField(default=False)),
                ("generation", models.IntegerField(default=0)),
                ("provisional", models.BooleanField(default=False)),
                ("cross_line", models.BooleanField(default=False)),
                ("first_seen_at", models.DateTimeField()),
                (
                    "file",
                    models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="faults",
                        to="stores.sourcefile",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="faults", to="stores.store"
                    ),
                ),
            ],
            options={
                "ordering": ["rank", "path", "line", "id"],
                "indexes": [
                    models.Index(fields=["store", "rank", "path", "line", "id"], name="fault_list"),
                    models.Index(fields=["store", "code"], name="fault_code"),
                    models.Index(fields=["file", "line"], name="fault_place"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FacetCount",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("record_type", models.CharField(max_length=32)),
                ("facet", models.CharField(max_length=32)),
                ("value", models.CharField(max_length=220)),
                ("count", models.BigIntegerField()),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="facet_counts", to="stores.store")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("store", "record_type", "facet", "value"), name="facet_count_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Condition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("code", models.CharField(max_length=40)),
                ("path", models.CharField(blank=True, max_length=400)),
                ("position", models.SmallIntegerField()),
                ("title", models.TextField()),
                (
                    "status",
                    models.CharField(
                        choices=[("ok", "ok"), ("note", "note"), ("failing", "failing"), ("unmeasured", "unmeasured")], max_length=12
                    ),
                ),
                ("message", models.TextField()),
                ("value", models.FloatField(null=True)),
                ("value_text", models.TextField()),
                ("limit", models.FloatField(null=True)),
                ("limit_text", models.TextField()),
                ("advice", models.TextField()),
                ("faults_code", models.CharField(blank=True, max_length=40)),
                ("since", models.DateTimeField()),
                ("measured_at", models.DateTimeField()),
                ("muted_until", models.DateTimeField(null=True)),
                ("muted_why", models.TextField(blank=True)),
                (
                    "muted_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="conditions", to="stores.store")),
            ],
            options={
                "ordering": ["store_id", "position"],
                "constraints": [
                    models.UniqueConstraint(fields=("store", "code", "path"), name="condition_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Change",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("path", models.CharField(max_length=400)),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("created", "created"),
                            ("appended", "appended"),
                            ("rewritten", "rewritten"),
                            ("edited", "edited"),
                            ("replaced", "replaced"),
                            ("truncated", "truncated"),
                            ("vanished", "vanished"),
                            ("returned", "returned"),
                            ("unreadable", "unreadable"),
                            ("silent_rewrite", "silent_rewrite"),
                        ],
                        max_length=16,
                    ),
                ),
                ("at", models.DateTimeField()),
                ("created", models.BigIntegerField(default=0)),
                ("updated", models.BigIntegerField(default=0)),
                ("removed", models.BigIntegerField(default=0)),
                ("bytes_before", models.BigIntegerField(default=0)),
                ("bytes_after", models.BigIntegerField(default=0)),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="changes", to="stores.store")),
            ],
            options={
                "ordering": ["-at", "-id"],
                "indexes": [
                    models.Index(fields=["store", "-at", "-id"], name="change_newest"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Task",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("discover", "discover"),
                            ("import", "import"),
                            ("read_bytes", "read_bytes"),
                            ("add_store", "add_store"),
                            ("relocate", "relocate"),
                            ("reset_mirror", "reset_mirror"),
                            ("remove_store", "remove_store"),
                        ],
                        max_length=16,
                    ),
                ),
                ("arguments", models.JSONField(default=dict)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "waiting"), ("running", "running"), ("done", "done"), ("failed", "failed")],
                        default="waiting",
                        max_length=16,
                    ),
                ),
                ("lease_until", models.DateTimeField(null=True)),
                ("result", models.JSONField(default=dict)),
                ("content", models.BinaryField(default=b"")),
                ("error", models.TextField(blank=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("started_at", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name="tasks", to="stores.store"),
                ),
                ("worker", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="tasks", to="stores.worker")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [
                    models.Index(condition=models.Q(("state__in", ["waiting", "running"])), fields=["worker", "id"], name="task_due"),
                ],
            },
        ),
    ]
