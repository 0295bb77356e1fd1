"""The database account of a worker can do a worker's work, and can approve nothing (ruling 13)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, transaction
from pytest_django import Settings

from stores.mirror.importing import import_store
from stores.models import AuditEvent, LifecycleAction, Notice, Review, Worker
from stores.notices import planning
from stores.review.installation import is_applying
from stores.worker.identity import this_worker
from stores.worker.loop import Loop
from stores.worker.stopping import Stop
from tests.apply.actions import approved, memory_store, proposed
from tests.factories import make_user
from tests.phase_memory_folders import node, put

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = (ROOT / "deploy" / "grants.sql").read_text("utf-8")
ON_POSTGRES = pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL has roles")


def test_every_table_of_ours_is_named() -> None:
    tables = {model._meta.db_table for model in apps.get_app_config("stores").get_models(include_auto_created=True)}
    named = set(re.findall(r"\bstores_\w+", SCRIPT))
    assert named == tables


@contextmanager
def as_worker() -> Iterator[None]:
    """Be the worker's role while the block runs."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL ROLE memoryui_worker")
        yield
        cursor.execute("RESET ROLE")


@pytest.fixture
def role(db: None) -> None:
    """Make the role and give it what the script gives; all of it goes with the test's transaction."""
    with connection.cursor() as cursor:
        cursor.execute("DROP ROLE IF EXISTS memoryui_worker")
        cursor.execute("CREATE ROLE memoryui_worker NOLOGIN")
        cursor.execute(re.sub(r"^(BEGIN|COMMIT);$", "", SCRIPT, flags=re.MULTILINE))


@ON_POSTGRES
def test_a_worker_does_its_work_with_no_more_than_that(role: None, settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR, settings.STORE_ROOTS = tmp_path.resolve() / "data", (tmp_path.resolve(),)
    store, root = memory_store(tmp_path)
    Worker.objects.filter(pk=store.worker_id).update(uid=this_worker_uid())
    action = approved(proposed(store, "transition_phase", "node.a", to_phase="stabilized"))
    put(root, "node", node("node.new"))
    with as_worker():
        worker = this_worker()
        assert worker.pk == store.worker_id
        done = Loop(worker, Stop()).once()
        assert [(one.run.status if one.run else one.error) for one in done] == ["ok"]
        action.refresh_from_db()
        assert action.state == "applied"
        import_store(store, full=True)
        settings.WEBHOOK_URL = "http://127.0.0.1:9/"
        planning.plan(action.created_at)
        Notice.objects.update(tries=1)
    assert Review.objects.get().spent_at is not None
    assert AuditEvent.objects.filter(event="action_applied", through="worker").exists()


def this_worker_uid() -> object:
    """Give the id of this data folder, without keeping the worker that was made for it."""
    made = this_worker()
    uid = made.uid
    made.delete()
    return uid


FORBIDDEN = [
    "UPDATE stores_user SET is_superuser = true",
    "INSERT INTO stores_user_groups (user_id, group_id) SELECT u.id, g.id FROM stores_user u, auth_group g",
    "UPDATE auth_group SET name = 'reviewer2'",
    "SELECT * FROM stores_apitoken",
    "SELECT * FROM django_session",
    "INSERT INTO stores_apitoken (owner_id, label, prefix, digest, scope, created_at, expires_at) "
    "SELECT id, 'x', 'x', 'x', 'review', now(), now() FROM stores_user",
    "UPDATE stores_review SET decision = 'approved'",
    "UPDATE stores_review SET withdrawn_at = NULL",
    "UPDATE stores_review SET marker = 'x'",
    "DELETE FROM stores_review",
    "UPDATE stores_reviewpolicy SET approvals = 1",
    "DELETE FROM stores_reviewpolicy",
    "INSERT INTO stores_reviewpolicy (store_id) VALUES (NULL)",
    "UPDATE stores_installation SET applying = true",
    "UPDATE stores_signingkey SET retired_at = now()",
    "INSERT INTO stores_signingkey (kid, jwk, created_at) VALUES ('x', '{}', now())",
    "UPDATE stores_lifecycleaction SET digest = 'x'",
    "UPDATE stores_lifecycleaction SET record = '{}'",
    "UPDATE stores_lifecycleaction SET effect = '{}'",
    "UPDATE stores_lifecycleaction SET requires_review = false",
    "UPDATE stores_lifecycleaction SET apply_asked_at = now()",
    "UPDATE stores_lifecycleaction SET barred = '[]'",
    "DELETE FROM stores_lifecycleaction",
    "UPDATE stores_keptbytes SET content = ''",
    "UPDATE stores_auditevent SET object_label = 'x'",
    "DELETE FROM stores_auditevent",
    "SELECT setval('stores_review_id_seq', 1)",
    "DELETE FROM stores_store_groups",
    "INSERT INTO stores_store_groups (store_id, group_id) SELECT s.id, g.id FROM stores_store s, auth_group g",
]


@ON_POSTGRES
@pytest.mark.parametrize("statement", FORBIDDEN)
def test_it_can_neither_decide_nor_change_who_may(role: None, statement: str) -> None:
    make_user("ines", groups=("reviewer",))
    # The role ends with what is rolled back.
    with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic(), as_worker(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert not is_applying()
    assert not LifecycleAction.objects.exists()
