"""The three roles as groups, and the empty end of the audit chain."""

from __future__ import annotations

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

ROLES = ("viewer", "reviewer", "operator")
DIGEST_OF_NOTHING = "0" * 64


def add_roles(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Make the groups and the head row; both may be there already after a backwards migration."""
    group = apps.get_model("auth", "Group")
    for role in ROLES:
        group.objects.using(editor.connection.alias).get_or_create(name=role)
    head = apps.get_model("stores", "AuditHead")
    head.objects.using(editor.connection.alias).get_or_create(pk=1, defaults={"count": 0, "digest": DIGEST_OF_NOTHING})


class Migration(migrations.Migration):
    """Data only."""

    dependencies = [("stores", "0001_initial"), ("auth", "0012_alter_user_first_name_max_length")]

    operations = [migrations.RunPython(add_roles, migrations.RunPython.noop)]
