"""The text index of each record table: FTS5 on SQLite, a stored tsvector on PostgreSQL (ruling 75)."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from stores.mirror.text_index import create_statements, drop_statements

TABLES = (
    ("stores_decision", "stores_decisiontext"),
    ("stores_queueoperation", "stores_queueoperationtext"),
    ("stores_problem", "stores_problemtext"),
)


def add_indexes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the index that the engine at hand has."""
    for record_table, text_table in TABLES:
        for statement in create_statements(record_table, text_table, editor.connection.vendor):
            editor.execute(statement)


def drop_indexes(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Take them away again."""
    for record_table, text_table in TABLES:
        for statement in drop_statements(record_table, text_table, editor.connection.vendor):
            editor.execute(statement)


class Migration(migrations.Migration):
    """Index tables stand beside the records; nothing of Django's own state changes."""

    dependencies = [("stores", "0002_roles")]

    operations = [migrations.RunPython(add_indexes, drop_indexes)]
