"""A user who may see nothing of a phase-memory store finds no byte of it on any address (ruling 20)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from stores.lists.phase_memory import PHASE_MEMORY
from stores.lists.specs import DECISIONS, FURTHER, PROBLEMS, QUEUE
from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import Condition, Fault, Store, User
from tests.factories import make_group, make_user, make_worker
from tests.phase_memory_folders import append, audit, edge, event, make_store, node, path, put
from tests.routes import addresses
from tests.test_hidden_store import asking, said

pytestmark = pytest.mark.django_db

WORD = "zebrafish"
QUERIES = ("", "gone=1", "q=text&cols=agent,session,path_id,label")

OTHERS = frozenset(
    f"{one}{spec.name}_{part}"
    for spec in (DECISIONS, PROBLEMS, QUEUE, *FURTHER)
    for one in ("", "api:")
    for part in ("list", "detail", "export")
)
"""Names of routes about other kinds, which tests/test_hidden_store.py walks."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Give a store in whose every record the word stands, seen by one group only."""
    root = make_store(tmp_path.resolve() / WORD)
    named = {"agent": WORD, "session_id": WORD, "path_id": f"path.{WORD}", "source_event_ids": ["event.0009"]}
    put(root, "node", node(f"node.{WORD}", text=f"{WORD} text", phase="rigid", provenance=named, policy={"labels": [WORD]}))
    put(root, "edge", edge(f"edge.{WORD}", f"node.{WORD}", "node.a", text=f"{WORD} holds"))
    put(root, "path", path(f"path.{WORD}", "event.0009", title=f"{WORD} line"))
    put(root, "profile", {"id": f"profile.{WORD}", "title": f"{WORD} rules", "policy": {"durable_writes": WORD}})
    put(root, "activation", {"id": f"activation.{WORD}", "title": f"{WORD} context", "node_ids": [f"node.{WORD}"], "profile_id": WORD})
    append(root, "events.jsonl", event(9, actor=WORD, path_id=f"path.{WORD}", payload={"note": WORD}))
    append(root, "events.jsonl", event(10, schema_version=f"{WORD}.v9"))
    append(root, "audit.jsonl", audit(9, subject_id=WORD, actor=WORD))
    with (root / "events.jsonl").open("ab") as log:
        log.write(f"not json {WORD}\n".encode())
    made = add_store(root, worker=make_worker())
    made.groups.add(make_group("platform"))
    import_store(made)
    return made


def values(store: Store) -> dict[str, Callable[[str], object]]:
    """Give what each parameter of a route means for this store: of a record the one with the word."""
    first = {
        spec.name: spec.model._default_manager.filter(store=store, natural_id__contains=WORD).values_list("pk", flat=True).first()
        for spec in PHASE_MEMORY
    }
    first["memory_event"] = (
        next(spec for spec in PHASE_MEMORY if spec.name == "memory_event").model._default_manager.get(natural_id="event.0009").pk
    )
    first["audit_record"] = (
        next(spec for spec in PHASE_MEMORY if spec.name == "audit_record").model._default_manager.get(natural_id="audit.0009").pk
    )
    fault, condition = Fault.objects.filter(store=store).order_by("pk")[0].pk, Condition.objects.filter(store=store)[0].pk

    def record(name: str) -> object:
        bare = name.rpartition(":")[2]
        return first.get(bare.rpartition("_")[0], first["node"])

    known: dict[str, Callable[[str], object]] = {
        "slug": lambda name: store.slug,
        "pk": record,
        "fault_id": lambda name: fault,
        "condition_id": lambda name: condition,
        "section": lambda name: "nodes",
        "record_type": lambda name: "node",
        "verb": lambda name: "mark_stale",
        "batch": lambda name: "bulk:0123456789abcdef",
        "form": lambda name: "json",
        "url": lambda name: "nothing/",
        "app_label": lambda name: "stores",
    }
    return known | {name: lambda name: 1 for name in ("task_id", "token_id", "number", "view_id", "object_id", "id", "content_type_id")}


def found_on(store: Store, user: User, queries: tuple[str, ...] = ("",)) -> set[str]:
    """Give the names of the routes on which an account finds the word."""
    names = set()
    for client, by_token in zip(asking(user), (False, True), strict=True):
        for route, address in addresses(values(store)):
            if route.name.startswith("admin:") or route.name in OTHERS or by_token != route.name.startswith("api:"):
                continue
            is_list = not route.parameters or "export" in route.name
            for query in queries if is_list else queries[:1]:
                where = f"{address}?{query}" if query else address
                answer = client.get(where)
                assert answer.status_code < 500, where
                if WORD in said(answer, where):
                    names.add(route.name)
    return names


def test_no_address_says_a_byte_of_the_store_to_an_outsider(store: Store) -> None:
    assert found_on(store, make_user("outsider", groups=["viewer", "reviewer", "operator"]), QUERIES) == set()


def test_the_same_walk_finds_it_where_it_may_be_seen(store: Store) -> None:
    user = make_user("insider", groups=["viewer", "operator"])
    user.groups.add(make_group("platform"))
    assert found_on(store, user) >= {
        *(f"{spec.name}_{part}" for spec in PHASE_MEMORY for part in ("list", "detail", "export")),
        *(f"api:{spec.name}_{part}" for spec in PHASE_MEMORY for part in ("list", "detail")),
        "node_data",
        "store_phases",
        "store_paths",
        "event_versions",
        "search",
        "store_detail",
    }
