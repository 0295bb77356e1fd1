"""The knowledge graph of a store: entities, relations, what tells of them, and how far it is built."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("stores", "0005_drains"),
    ]

    operations = [
        migrations.CreateModel(
            name="GraphEntity",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("name", models.CharField(max_length=220)),
                ("type", models.CharField(blank=True, max_length=220)),
                ("title", models.TextField()),
                ("words", models.CharField(max_length=600)),
                ("decisions", models.IntegerField(default=0)),
                ("queued", models.IntegerField(default=0)),
                ("filed", models.IntegerField(default=0)),
                ("degree", models.IntegerField(default=0)),
                ("decision_type", models.CharField(blank=True, max_length=220)),
                ("queue_type", models.CharField(blank=True, max_length=220)),
                ("file_type", models.CharField(blank=True, max_length=220)),
                ("decision_observations", models.IntegerField(default=0)),
                ("queue_observations", models.IntegerField(default=0)),
                ("file_observations", models.IntegerField(default=0)),
                ("decision_ms", models.BigIntegerField(default=0)),
                ("queue_ms", models.BigIntegerField(default=0)),
                ("file_ms", models.BigIntegerField(default=0)),
                ("newest_ms", models.BigIntegerField(default=0)),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["store", "-degree", "id"], name="entity_degree"),
                    models.Index(fields=["store", "-decisions", "id"], name="entity_decisions"),
                    models.Index(fields=["store", "newest_ms", "id"], name="entity_newest"),
                    models.Index(fields=["store", "words", "id"], name="entity_words"),
                    models.Index(fields=["store", "type", "-degree", "id"], name="entity_type"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("store", "key"), name="graph_entity_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="GraphMention",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("record_type", models.CharField(max_length=32)),
                ("record_id", models.BigIntegerField()),
                (
                    "entity",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="mentions",
                        to="stores.graphentity",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["entity", "record_type", "-record_id"], name="mention_entity"),
                    models.Index(fields=["store", "record_type", "record_id"], name="mention_record"),
                ],
            },
        ),
        migrations.CreateModel(
            name="GraphRelation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("key", models.BigIntegerField()),
                ("type", models.CharField(max_length=220)),
                ("decisions", models.IntegerField(default=0)),
                ("queued", models.IntegerField(default=0)),
                ("filed", models.IntegerField(default=0)),
                (
                    "end",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="incoming",
                        to="stores.graphentity",
                    ),
                ),
                (
                    "start",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outgoing",
                        to="stores.graphentity",
                    ),
                ),
                (
                    "store",
                    models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="+", to="stores.store"),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["start", "end"], name="relation_start"),
                    models.Index(fields=["end", "start"], name="relation_end"),
                    models.Index(fields=["store", "type"], name="relation_type"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("store", "key"), name="graph_relation_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="GraphSource",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("record_type", models.CharField(max_length=32)),
                ("basis", models.CharField(blank=True, max_length=120)),
                ("seen_id", models.BigIntegerField(default=0)),
                ("taken", models.IntegerField(default=0)),
                ("left_out", models.IntegerField(default=0)),
                ("complete", models.BooleanField(default=False)),
                ("whole", models.BooleanField(default=True)),
                ("at", models.DateTimeField(null=True)),
                ("store", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="graph_sources", to="stores.store")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("store", "record_type"), name="graph_source_once"),
                ],
            },
        ),
    ]
