"""Drains of queues into graphs."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0004_other_files")]

    operations = [
        migrations.CreateModel(
            name="Drain",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("journal_id", models.CharField(max_length=40)),
                ("at", models.DateTimeField()),
                ("actor", models.CharField(max_length=220)),
                ("graph_folder", models.TextField()),
                ("graph_path", models.CharField(max_length=400)),
                ("archive_path", models.CharField(max_length=400)),
                ("from_byte", models.BigIntegerField()),
                ("to_byte", models.BigIntegerField()),
                ("operations", models.IntegerField()),
                ("entities", models.IntegerField()),
                ("relations", models.IntegerField()),
                ("observations", models.IntegerField()),
                ("left_out", models.IntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[("verifying", "verifying"), ("kept", "kept"), ("lost", "lost")], default="verifying", max_length=16
                    ),
                ),
                ("verify_until", models.DateTimeField()),
                ("rewritten", models.SmallIntegerField(default=0)),
                ("graph_stamp", models.CharField(blank=True, max_length=120)),
                ("settled_at", models.DateTimeField(null=True)),
                ("displaced", models.TextField(blank=True)),
                ("displaced_sha256", models.BinaryField(default=b"")),
                (
                    "store",
                    models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="drains", to="stores.store"),
                ),
            ],
            options={
                "ordering": ["-at", "-id"],
                "indexes": [models.Index(fields=["store", "state"], name="drain_state")],
                "constraints": [models.UniqueConstraint(fields=("journal_id", "archive_path"), name="drain_once_an_archive")],
            },
        ),
    ]
