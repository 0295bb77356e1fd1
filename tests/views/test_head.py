"""HEAD asks what GET would answer, without its content: no page refuses it, and nothing is logged about it."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client

from tests.factories import make_superuser
from tests.routes import addresses
from tests.scenes import make_scene
from tests.test_access import NEVER, RULES

pytestmark = pytest.mark.django_db


def test_every_page_answers_head_as_it_answers_get(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    scene = make_scene(tmp_path, "zebrafish")
    client = Client(raise_request_exception=False)
    client.force_login(make_superuser("root"))
    wrong = []
    for route, address in addresses(scene.values()):
        rule = RULES.get(route.name)
        if rule is None or rule.get == NEVER:
            continue
        with transaction.atomic():
            got = client.get(address)
            if got.streaming:
                b"".join(got)
            caplog.clear()
            with caplog.at_level(logging.WARNING, "django.request"):
                asked = client.head(address)
            transaction.set_rollback(True)
        content = b"".join(asked) if asked.streaming else asked.content
        if asked.status_code != got.status_code or content or (got.status_code < 400 and caplog.records):
            wrong.append((route.name, got.status_code, asked.status_code, len(content), caplog.text))
    assert not wrong
