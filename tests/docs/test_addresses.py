"""Addresses, API routes and metrics that documents name exist, and all of the latter two are named."""

from __future__ import annotations

import re

import pytest
from django.urls import Resolver404, resolve
from django.utils import timezone

from docs.take_screenshots import VIEWS
from stores.api import api
from stores.models import Store
from stores.selectors.metrics import StoreMetrics
from tests.docs.documents import DOCUMENTS, ROOT, code_words, name_of, text_of
from tests.test_access import NEVER, RULES

NO_PICTURES = frozenset(
    {
        "healthz",
        "readyz",
        "metrics",
        "status_strip",
        "task_detail",
        "node_data",
        "entity_data",
        "store_graph_data",
        "store_path_level",
        "action_now",
        "review_newer",
        # It needs a decision on many, which the demo's people have not made.
        "review_batch",
        # The demo's stores have no policy of their own.
        "store_policy_drop",
    }
)
"""Answers for machines, fragments, and what the demo has none of."""


def filled(address: str) -> str:
    """Put a value in the place of each parameter."""
    return address.partition("?")[0].replace("<slug>", "shop-api").replace("<id>", "1")


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_address_that_a_document_names_exists(document: str) -> None:
    for word in code_words((ROOT / document).read_text("utf-8")):
        if word.startswith("/"):
            try:
                resolve(filled(word))
            except Resolver404:
                pytest.fail(f"nothing is at {word}")


def test_every_route_of_the_api_is_described_and_no_other() -> None:
    described = {
        part for cells in re.findall(r"^\| (`/api/v1/.*?`) \|", text_of("docs/api.md"), re.MULTILINE) for part in code_words(cells)
    }
    schema = api.get_openapi_schema(path_prefix="/api/v1/")
    assert {filled(address) for address in described} == {
        re.sub(r"{pk}", "1", filled(path.replace("{slug}", "<slug>"))) for path in schema["paths"]
    }


@pytest.mark.django_db
def test_every_metric_is_named() -> None:
    metrics = {family.name for family in StoreMetrics(Store.objects.all(), timezone.now()).collect()}
    # A counter's samples end in _total, its name does not.
    named = {
        word.partition("{")[0].split()[0].removesuffix("_total")
        for word in code_words(text_of("docs/operations.md"))
        if word.startswith("memoryui_")
    }
    assert named - {"memoryui_worker"} == metrics, "memoryui_worker is an account of the database"


def test_every_page_has_a_picture() -> None:
    taken = {resolve(filled(view.path.partition("{link:")[0])).url_name for view in VIEWS if view.name != "not-found"}
    for view in VIEWS:
        # Where a picture follows links, its pattern says to which kind of address.
        if "{link:" in view.path:
            pattern = view.path.rpartition("{link:")[2].removesuffix("}")
            taken.update(name for name, part in LINKED.items() if part in pattern)
    pages = {name for name, rule in RULES.items() if rule.get != NEVER and not name.endswith("_export")}
    assert pages - taken - NO_PICTURES == set()


LINKED = {
    "decision_detail": r"/decisions/\d+",
    "problem_detail": r"/problems/\d+",
    "queue_detail": r"/queue/\d+",
    "flow_detail": r"/flows/\d+",
    "event_detail": r"/sessions/events/\d+",
    "session_timeline": "/timeline/",
    "solution_detail": r"/solutions/\d+",
    "mem0_detail": r"/mem0/\d+",
    "preference_detail": r"/preferences/\d+",
    "memory_file_detail": r"/memory-files/\d+",
    "graph_item_detail": r"/graph/\d+",
    "other_detail": r"/other/\d+",
    "node_detail": r"/nodes/\d+",
    "edge_detail": r"/edges/\d+",
    "activation_detail": r"/activations/\d+",
    "memory_event_detail": r"/events/\d+",
    "audit_record_detail": r"/store-audit/\d+",
    "profile_detail": r"/profiles/\d+",
    "entity_detail": r"/entities/\d+",
    "relation_detail": r"/relations/\d+",
    "path_detail": r"/paths/\d+",
    "store_paths": r"/paths/\?path=",
    "path_compare": "/compare/",
    "fault_detail": r"/faults/\d+",
    "condition_mute": "/mute/",
    "action_edit": "/edit/",
    "propose_on_record": "/propose/",
    "decision_successor": "/successor/",
    "audit_event": r"/audit/\d+/",
    "action_detail": r"/review/\d+/",
}
