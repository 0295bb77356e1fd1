"""Reading writes nothing and opens no transaction (ruling 8): every named route is asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores import accounts
from tests.routes import addresses
from tests.scenes import make_scene

pytestmark = pytest.mark.django_db
READS = ("SELECT", "WITH", "FETCH", "DECLARE", "CLOSE", "EXPLAIN")


def other_statements(client: Client, address: str) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address)
        if answer.streaming:
            b"".join(answer)
    said = (query["sql"].lstrip("( \n") for query in captured.captured_queries)
    return [sql for sql in said if not sql.upper().startswith(READS)]


def test_no_get_writes_or_opens_a_transaction(tmp_path: Path) -> None:
    scene = make_scene(tmp_path, "zebrafish")
    by_session = Client(raise_request_exception=False)
    by_session.force_login(scene.insider)
    by_token = Client(headers={"Authorization": f"Bearer {accounts.make_token(scene.insider, 'walk', 'read', 1)[1]}"})
    for client, where in ((by_session, "/account/"), (by_token, "/api/v1/stores/")):
        client.get(where)  # Session and token note that they are used, at most every five minutes.
    wrong = []
    for route, address in addresses(scene.values()):
        client = by_token if route.name.startswith("api:") else by_session
        if not route.name.startswith("admin:"):
            wrong += [f"{address}: {sql[:120]}" for sql in other_statements(client, address)]
    assert not wrong, "\n".join(wrong)
