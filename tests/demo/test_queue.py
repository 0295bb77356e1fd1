"""The demo's queue: proposed once, a little of it decided, applied by the worker."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.utils import timezone

from stores.demo.queue import fill_queue
from stores.mirror.importing import import_store
from stores.models import LifecycleAction, Review
from stores.review.installation import is_applying
from tests.factories import make_store, make_superuser
from tests.phase_memory_folders import Record, put
from tests.review.conftest import data_folder
from tests.review.queues import imported, reviewer

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("data_folder")]
__all__ = ["data_folder"]
RULES: Record = {
    "id": "profile.a",
    "retention": {"default": {"stale_after_days": 30, "delete_after_days": 60}},
    "metadata": {
        "phase_transitions": [{"kind": "decision", "from_phase": "fluid", "to_phase": "stabilized", "min_age_days": 10, "reason": "old"}]
    },
}


def test_the_queue_of_the_demo_is_filled_once_and_worked_on(tmp_path: Path) -> None:
    store, root = imported(tmp_path)
    put(root, "profile", RULES)
    import_store(store)
    people = reviewer("reviewer"), make_superuser("admin")
    number = fill_queue([store, make_store("empty")], *people, timezone.now())
    assert number == LifecycleAction.objects.count() > 0
    assert is_applying()
    assert fill_queue([store], *people, timezone.now()) == 0
    assert LifecycleAction.objects.count() == number
    decided = set(Review.objects.values_list("action__state", flat=True))
    assert decided <= {"approved", "rejected"}
