"""Hostile files as the three files of a store: every page, fragment, export and API answer is 200, and memory text stays text."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.test import Client

from stores import accounts
from stores.formats.orchestkit import KIND
from stores.lists.specs import FURTHER
from stores.mirror.importing import import_store
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.registering import add_store
from stores.models import Fault, GraphEntity, GraphRelation, RefusedLine, SessionEvent, Store
from stores.review.offering import offered
from tests.factories import make_user, make_worker
from tests.mirror.images import place_of
from tests.views.parsing import assert_harmless

pytestmark = pytest.mark.django_db

SHARED = Path(os.environ.get("MEMORYUI_SHARED") or Path(__file__).parents[2] / ".." / "shared").resolve() / "samples" / "hostile"
OWN_LINES = (
    b'{"id":"<b>","type":"<script>alert(1)</script>","content":{"what":"<img src=x onerror=alert(1)>","why":"{{ 7|add:7 }}"},"entities":["<svg onload=alert(1)>"],'
    b'"identity":{"user_id":"\\" onmouseover=alert(1) x=\\"","machine_id":"javascript:alert(1)"},"metadata":{"category":"</title><h1>","timestamp":"9999-12-31T23:59:59Z"}}',
    b'{"type":"create_entities","payload":{"entities":[{"name":"<form hx-post=/theme/ hx-trigger=load>","entityType":"x","observations":["\\u202e"]}]}}',
    b'{"id":"prob-<i>","text":"</pre><iframe>","status":"\\" autofocus onfocus=alert(1)","solution":{"<b>":"<base href=//evil.example>"}}',
    b"<script>not json</script>",
    b'{"content":{"what":"half \\ud83d and \\u0000"},"big":123456789012345678901234567890,"entities":null}',
)
EACH = 3
"""Records and faults of a store whose own pages are opened; of those that are all about markup, every one."""
ENTITIES = 12


def cases() -> list[Path]:
    """Give the shared hostile files; none where they are not beside this checkout."""
    return sorted([*SHARED.glob("jsonl/*"), *SHARED.glob("json/*")])


@pytest.mark.parametrize("name", ["own", *(str(path.relative_to(SHARED)) for path in cases())])
def test_every_answer_about_a_hostile_store_is_whole_and_harmless(name: str, tmp_path: Path) -> None:
    root = tmp_path / "hostile project" / ".claude" / "memory"
    root.mkdir(parents=True)
    data = b"\n".join(OWN_LINES) if name == "own" else (SHARED / name).read_bytes()
    for spec in KIND.files:
        if spec.anchor != "home":
            path = place_of(root, spec)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    (root / "<img src=x onerror=alert(1)>.md").write_bytes(data)
    if name != "own":
        shutil.copyfile(SHARED / name, root / "notes.bin")
    store = add_store(root, kind="orchestkit", worker=make_worker())
    import_store(store)
    payloads = payloads_of(data)
    limit = 60 if name == "own" or "xss" in name else EACH
    user = make_user("ines", groups=["viewer", "reviewer", "operator"])
    client = Client()
    client.force_login(user)
    for address, headers in pages(store, limit):
        response = client.get(address, headers=headers)
        assert response.status_code == 200, (address, response.status_code)
        content = response.getvalue() if response.streaming else response.content
        kind = response.headers["Content-Type"]
        if kind.startswith("text/html"):
            assert_known_elements(assert_harmless(response))
            page = content.decode()
            assert not [payload for payload in payloads if payload in page], address
        elif "json" in kind:
            for document in filter(None, content.decode().split("\n")) if ".jsonl" in address else [content.decode()]:
                json.loads(document)
        else:
            content.decode()
    token = accounts.make_token(user, "test", "read", 1)[1]
    api = Client(headers={"Authorization": f"Bearer {token}"})
    for address in api_addresses(store, limit):
        response = api.get(address)
        assert response.status_code == 200, (address, response.content[:300])
        response.json()


def pages(store: Store, limit: int) -> Iterator[tuple[str, dict[str, str]]]:
    """Give every address of a page, fragment and export that tells of the store, with the headers to ask for it."""
    fragment = {"HX-Request": "true", "HX-Target": "list"}
    own = f"/stores/{store.slug}/"
    for section in ("decisions", "problems", "queue"):
        for query in ("?all=1&per_page=250", f"?store={store.slug}&q=alert&all=1", "?gone=1"):
            yield f"/{section}/{query}", {}
        yield f"/{section}/?all=1&sort=-at&per_page=250", fragment
        for form in ("csv", "json", "jsonl"):
            yield f"/{section}/export.{form}?all=1", {}
    for spec in FURTHER:
        yield f"/{spec.section}/?all=1&per_page=250&q=a", {}
        yield f"/{spec.section}/?all=1&per_page=250", fragment
        yield f"/{spec.section}/export.jsonl?all=1", {}
    yield f"/sessions/{store.slug}/", {}
    for session in SessionEvent.objects.filter(store=store).values_list("session", flat=True).distinct()[:3]:
        yield f"/sessions/{store.slug}/timeline/?{urlencode({'id': session})}", {}
    for address in (
        "/",
        "/stores/",
        "/health/",
        "/audit/",
        "/search/?q=alert",
        "/search/?q=a",
        "/account/",
        own,
        f"{own}backlog/",
        f"{own}health/",
    ):
        yield address, {}
    for tab in ("changes", "files", "settings", "faults", "raw"):
        yield f"{own}{tab}/", {}
    for query in ("", "?q=alert&sort=name", "?told=relations&dated=none"):
        yield f"{own}graph/{query}", {}
        yield f"{own}graph/data/{query}", {}
    yield f"{own}graph/", fragment
    for entity in GraphEntity.objects.filter(store=store).order_by("-degree", "pk")[: min(limit, ENTITIES)]:
        yield f"{own}entities/{entity.pk}/", {}
        yield f"{own}entities/{entity.pk}/", {"HX-Request": "true", "HX-Target": "picked"}
        yield f"{own}entities/{entity.pk}/data/?depth=2", {}
    for relation in GraphRelation.objects.filter(store=store).order_by("pk")[: min(limit, ENTITIES)]:
        yield f"{own}relations/{relation.pk}/", {}
    for fault in Fault.objects.filter(store=store).order_by("pk")[:limit]:
        yield f"{own}faults/{fault.pk}/", {}
        yield f"{own}faults/?open={fault.pk}", {}
    for line in RefusedLine.objects.filter(store=store)[:limit]:
        yield f"{own}raw/?file={line.file.path}&line={line.line}", {}
    for record_type in RECORD_TYPES.values():
        for record in record_type.model._default_manager.filter(store=store).order_by("pk")[:limit]:
            yield record.get_absolute_url(), {}  # type: ignore[attr-defined]
        for record in record_type.model._default_manager.filter(store=store).order_by("pk")[:2]:
            for verb in offered(record, has_doubles=False):
                yield f"/records/{record.record_type}/{record.pk}/propose/{verb.name}/", {}
    for part in ("plan/", "policy/", "propose/queue/drain_queue/"):
        yield f"{own}{part}", {}


def api_addresses(store: Store, limit: int) -> Iterator[str]:
    """Give the addresses of the API that tell of the store."""
    yield from (
        "/api/v1/stores/",
        f"/api/v1/stores/{store.slug}/",
        f"/api/v1/stores/{store.slug}/faults/",
        f"/api/v1/stores/{store.slug}/entities/?q=alert",
        f"/api/v1/stores/{store.slug}/entities/",
        "/api/v1/health/",
        "/api/v1/audit/",
    )
    for entity in GraphEntity.objects.filter(store=store).order_by("-degree", "pk")[: min(limit, ENTITIES)]:
        yield f"/api/v1/stores/{store.slug}/entities/{entity.pk}/"
    for section, record_type in (("decisions", "decision"), ("problems", "problem"), ("queue", "queue_operation")):
        yield f"/api/v1/{section}/?all=1"
        for record in RECORD_TYPES[record_type].model._default_manager.filter(store=store).order_by("pk")[:limit]:
            yield f"/api/v1/{section}/{record.pk}/"
    for spec in FURTHER:
        yield f"/api/v1/{spec.section}/?all=1"
        for record in spec.model._default_manager.filter(store=store).order_by("pk")[: min(limit, EACH)]:
            yield f"/api/v1{record.get_absolute_url()}"  # type: ignore[attr-defined]
    yield "/api/v1/search/?q=alert"


def payloads_of(data: bytes) -> set[str]:
    """Give every text of the file that holds markup: none of them may stand in an answer as it is."""
    found: set[str] = set()

    def collect(value: object) -> None:
        if isinstance(value, str):
            if "<" in value and len(value) > 3:
                found.add(value)
        elif isinstance(value, dict):
            for key, item in value.items():
                collect(key)
                collect(item)
        elif isinstance(value, list):
            for item in value:
                collect(item)

    for line in data.split(b"\n"):
        try:
            collect(json.loads(line.decode("utf-8", "replace")))
        except (ValueError, RecursionError):
            if b"<" in line:
                found.add(line.decode("utf-8", "replace"))
    return found


ELEMENTS = {
    "html",
    "head",
    "meta",
    "title",
    "link",
    "script",
    "body",
    "header",
    "nav",
    "main",
    "aside",
    "section",
    "article",
    "footer",
    "div",
    "span",
    "p",
    "a",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "h1",
    "h2",
    "h3",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "form",
    "input",
    "button",
    "select",
    "option",
    "datalist",
    "template",
    "label",
    "fieldset",
    "legend",
    "textarea",
    "details",
    "summary",
    "svg",
    "use",
    "path",
    "g",
    "line",
    "rect",
    "circle",
    "polyline",
    "text",
    "time",
    "bdi",
    "b",
    "noscript",
    "strong",
    "em",
    "code",
    "pre",
    "kbd",
    "mark",
    "ins",
    "del",
    "br",
    "hr",
    "small",
    "abbr",
    "data",
}
"""What the templates are made of; an element of another name came out of memory text."""


def assert_known_elements(found: list[tuple[str, dict[str, str]]]) -> None:
    """Assert that a page holds no other element than the templates', and no form that leads elsewhere than to a route of ours."""
    for tag, attributes in found:
        assert tag in ELEMENTS, tag
        for name, value in attributes.items():
            assert name.replace("-", "").replace(":", "").isalnum(), (tag, attributes)
            if name in ("hx-get", "hx-post", "hx-put", "hx-delete", "hx-patch"):
                assert value.startswith(("/", "?")), (tag, attributes)
            assert name not in ("autofocus", "onfocus", "srcdoc", "formaction"), (tag, attributes)
