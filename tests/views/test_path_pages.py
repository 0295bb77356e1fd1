"""The pages of paths: tree, lanes, comparison, one path; with and without htmx, for who may see the store and who may not."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores.mirror.importing import import_store
from stores.models import MemoryPath, Node, Store
from tests.factories import make_group, make_user
from tests.mirror.images import register
from tests.phase_memory_folders import Record, append, event, make_store, node, path, put
from tests.views.parsing import assert_harmless, elements, text

pytestmark = pytest.mark.django_db

SHARED = Path(os.environ.get("MEMORYUI_SHARED") or Path(__file__).parents[2] / ".." / "shared").resolve()
HOSTILE = '"><img src=x onerror=alert(1)>\u202e</script>{{ 7|add:7 }}'
SECRET = "ghp_" + "a1B2" * 9
BODY = SECRET[4:14]
"""Stands in no page: neither the whole, nor a half, nor with spaces in it."""
HTMX = {"HX-Request": "true"}

Make = Callable[..., Store]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Give what imports a store with these paths beside `path.a`, and events."""

    def made(*records: Record, events: list[Record] | None = None, nodes: list[Record] | None = None) -> Store:
        root = tmp_path.resolve() / "atlas"
        if not root.exists():
            make_store(root)
        append(root, "events.jsonl", *(events or []))
        for record in records:
            put(root, "path", record)
        for record in nodes or []:
            put(root, "node", record)
        store = Store.objects.filter(slug="atlas").first() or register(root, "atlas", kind="phase-memory")
        import_store(store)
        return store

    return made


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_user("ines"))
    return client


def pk(name: str) -> int:
    return MemoryPath.objects.get(natural_id=name).pk


def rows(answer: Any) -> list[dict[str, str]]:
    """Give the attributes of the rows of the tree that stand for a path."""
    return [attributes for tag, attributes in elements(answer) if tag == "tr" and "data-pk" in attributes]


def names(answer: Any) -> list[str]:
    by_pk = dict(MemoryPath.objects.values_list("pk", "natural_id"))
    return [by_pk[int(row["data-pk"])] for row in rows(answer)]


def story() -> list[Record]:
    """Give four paths: a fork, a merge, an abandoned and a compacted one."""
    return [
        path("main", title="Search rewrite", created_at="2026-03-01T10:00:00Z"),
        path("cap", title="Offset with a cap", parent_path_id="main", state="merged", merge_target="cursor", created_at="2026-03-01T11:00:00Z"),
        path("cursor", title="Cursor pages", parent_path_id="main", created_at="2026-03-01T12:00:00Z"),
        path("es", title="Elasticsearch", parent_path_id="main", state="abandoned", abandoned_reason="too heavy", created_at="2026-03-01T13:00:00Z"),
        path("old", title="Cap per tenant", parent_path_id="cap", state="compacted", compacted_summary_id="node.a", created_at="2026-03-01T14:00:00Z"),
    ]  # fmt: skip


def test_the_tree_shows_forks_merges_and_how_each_path_ended(make: Make, page: Client) -> None:
    make(*story())
    answer = page.get("/stores/atlas/paths/")
    assert names(answer) == ["path.a", "main", "cap", "old", "cursor", "es"]
    assert [row["aria-level"] for row in rows(answer)] == ["1", "1", "2", "3", "2", "2"]
    assert [row.get("aria-expanded") for row in rows(answer)] == [None, "true", "true", None, None, None]
    said = text(answer)
    assert "merged → Cursor pages" in said
    assert "abandoned: too heavy" in said
    assert "compacted into a summary" in said
    assert "6 paths" in said
    assert_harmless(answer)


def test_a_number_of_events_leads_to_those_that_the_path_lists(make: Make, page: Client) -> None:
    make(path("lister", "event.0011", "event.0012"), events=[event(11), event(12)])
    answer = page.get("/stores/atlas/paths/")
    assert f'href="/paths/{pk("lister")}/#events"' in answer.content.decode()
    listed = [attributes.get("id") for _, attributes in elements(page.get(f"/paths/{pk('lister')}/"))]
    assert listed.count("events") == 1
    assert "/events/?" not in answer.content.decode()


def test_a_closed_tree_is_opened_by_plain_links(make: Make, page: Client) -> None:
    make(*story())
    answer = page.get(f"/stores/atlas/paths/?shut={pk('main')}")
    assert names(answer) == ["path.a", "main"]
    (opener,) = [attributes for tag, attributes in elements(answer) if "data-twist" in attributes]
    assert names(page.get(opener["href"])) == ["path.a", "main", "cap", "old", "cursor", "es"]


def test_htmx_gets_a_level_alone_and_others_the_tree(make: Make, page: Client) -> None:
    make(*story())
    answer = page.get(f"/stores/atlas/paths/level/?under={pk('main')}", headers=HTMX)
    assert names(answer) == ["cap", "cursor", "es"]
    assert "<html" not in answer.content.decode()
    plain = page.get(f"/stores/atlas/paths/level/?under={pk('main')}")
    assert plain.status_code == 302
    assert page.get(plain["Location"]).status_code == 200
    assert page.get("/stores/atlas/paths/level/?under=999999", headers=HTMX).status_code == 302


def test_what_hangs_loose_is_shown_and_named(make: Make, page: Client) -> None:
    make(
        path("orphan", parent_path_id="gone-0004", title="Retry of imports"),
        path("r1", parent_path_id="r2"), path("r2", parent_path_id="r1"),
    )  # fmt: skip
    said = text(page.get("/stores/atlas/paths/"))
    assert "Detached 2" in said
    assert "parent gone-0004 does not exist" in said
    assert "ring: r1 > r2 > r1" in said


def test_the_chosen_path_stands_beside_the_tree_as_htmx_gets_it(make: Make, page: Client) -> None:
    made = [{"node_id": "n.one", "operation": "create"}]
    make(
        *story(),
        path("work", "event.0011", "event.0012", "event.0404", title="Work", parent_path_id="main", created_at="2026-03-01T12:30:00Z"),
        events=[event(11, kind="branched", path_id="work", path_updates=[{"path_id": "work", "operation": "branch", "parent_path_id": "main"}]),
                event(12, path_id="work", node_updates=made)],
        nodes=[node("n.one", text="Pages by cursor", metadata={"title": "Cursor it is"}, provenance={"path_id": "work"})],
    )  # fmt: skip
    whole = page.get(f"/stores/atlas/paths/?path={pk('work')}")
    part = page.get(f"/stores/atlas/paths/?path={pk('work')}", headers={**HTMX, "HX-Target": "path"})
    assert "<html" not in part.content.decode()
    assert [row["data-pk"] for row in rows(whole) if row.get("aria-current")] == [str(pk("work"))]
    for answer in (whole, part):
        said = text(answer)
        assert "Decided here" in said
        assert "Decision. Cursor it is" in said
        assert "branched off Search rewrite" in said
        assert "event.0404 is not in the log" in said
        assert "Fork 3 of 4 here" in said
        links = {attributes.get("href") for tag, attributes in elements(answer) if tag == "a"}
        assert Node.objects.get(natural_id="n.one").get_absolute_url() in links


def test_the_page_of_a_path_says_why_it_ended_and_leads_on(make: Make, page: Client) -> None:
    make(*story())
    said = text(page.get(f"/paths/{pk('es')}/"))
    assert "Why it was abandoned too heavy" in said
    merged = page.get(f"/paths/{pk('cap')}/")
    assert "merged into Cursor pages" in text(merged)
    assert f"/paths/{pk('cursor')}/" in {attributes.get("href") for _, attributes in elements(merged)}
    assert "Merged into this path" in text(page.get(f"/paths/{pk('cursor')}/"))
    compacted = page.get(f"/paths/{pk('old')}/")
    assert Node.objects.get(natural_id="node.a").get_absolute_url() in {attributes.get("href") for _, attributes in elements(compacted)}


def test_what_a_path_names_and_nobody_has_is_said(make: Make, page: Client) -> None:
    make(
        path("m", state="merged", merge_target="nowhere"), path("c", state="compacted", compacted_summary_id="no-node"),
        path("odd", state="paused"),
    )  # fmt: skip
    assert "merged into nowhere, which does not exist" in text(page.get(f"/paths/{pk('m')}/"))
    assert "no-node does not exist" in text(page.get(f"/paths/{pk('c')}/"))
    assert "state paused" in text(page.get("/stores/atlas/paths/"))


def test_a_search_and_a_state_narrow_the_tree_and_keep_what_leads_there(make: Make, page: Client) -> None:
    make(*story())
    answer = page.get("/stores/atlas/paths/?q=tenant")
    assert names(answer) == ["main", "cap", "old"]
    assert "1 of 6 paths matches" in text(answer)
    assert names(page.get("/stores/atlas/paths/?state=abandoned")) == ["main", "es"]
    nothing = page.get("/stores/atlas/paths/?q=zebrafish")
    assert "No path matches" in text(nothing)
    assert nothing.status_code == 200


def test_lanes_draw_what_their_table_says(make: Make, page: Client) -> None:
    make(
        *[{**one, "event_ids": [f"event.{number:04d}"]} for number, one in enumerate(story(), 11)],
        events=[event(number, path_id=str(one["path_id"])) for number, one in enumerate(story(), 11)],
    )
    answer = page.get("/stores/atlas/paths/lanes/")
    said = text(answer)
    assert "7 events on 6 paths" in said
    assert "branched off Search rewrite" in said
    assert "merged → Cursor pages" in said
    marks = [attributes for tag, attributes in elements(answer) if tag == "g"]
    assert len(marks) == 7
    assert_harmless(answer)
    first = page.get("/stores/atlas/paths/lanes/?rows=3")
    assert "4 older" in text(first)
    (older,) = [attributes["href"] for _, attributes in elements(first) if attributes.get("rel") == "next"]
    assert "3 newer" in text(page.get(f"/stores/atlas/paths/lanes/{older}"))


def test_two_paths_are_chosen_in_the_tree_and_compared(make: Make, page: Client) -> None:
    make(*story())
    first = page.get(f"/stores/atlas/paths/?path={pk('cap')}")
    (compare,) = [
        attributes["href"] for tag, attributes in elements(first) if attributes.get("class") == "button" and "second=" in attributes["href"]
    ]
    choosing = page.get(compare)
    assert "Choose the path to compare Offset with a cap with" in text(choosing)
    links = [attributes["href"] for _, attributes in elements(choosing) if "row-link" in attributes.get("class", "")]
    wanted = f"/stores/atlas/paths/compare/?left={pk('cap')}&right={pk('es')}"
    assert wanted in links
    said = text(page.get(wanted))
    assert "Both come from Search rewrite" in said
    assert page.get("/stores/atlas/paths/compare/").status_code == 302
    assert page.get(f"/stores/atlas/paths/compare/?left={pk('cap')}&right=123456").status_code == 302


def addresses() -> list[str]:
    """Give every address of the store's paths."""
    known = list(MemoryPath.objects.order_by("pk").values_list("pk", flat=True))
    trees = ["", "?q=a", "?state=active", "lanes/", "lanes/?rows=1000"] + [f"?path={one}" for one in known]
    pairs = zip(known, reversed(known), strict=True)
    return [
        *(f"/stores/atlas/paths/{one}" for one in trees),
        *(f"/stores/atlas/paths/compare/?left={left}&right={right}" for left, right in pairs),
        *(f"/paths/{one}/" for one in known),
        "/paths/?store=atlas",
    ]


def test_hostile_ids_and_texts_are_text_and_secrets_are_masked(make: Make, page: Client) -> None:
    bad = f"p {HOSTILE}"
    make(
        path(bad, "event.0011", "event.0013", title=f"{HOSTILE} {SECRET}", state="abandoned", abandoned_reason=f"{HOSTILE} {SECRET}"),
        path("under", "event.0012", parent_path_id=bad, state="merged", merge_target=bad, title=HOSTILE),
        path("lost", parent_path_id=f"{HOSTILE} {SECRET}"),
        path("worse", state=f"{HOSTILE}{SECRET}", compacted_summary_id=HOSTILE),
        events=[event(11, kind=HOSTILE, path_id=bad, actor=HOSTILE, payload={"note": f"{HOSTILE} {SECRET} and more words"},
                      node_updates=[{"node_id": HOSTILE, "operation": HOSTILE}, {"node_id": SECRET, "operation": SECRET}, {"node_id": "n.secret", "operation": "update"}]),
                event(13, kind=SECRET, path_id=bad, node_updates=[{"node_id": "n.secret", "operation": "update"}] * 2),
                event(12, kind="merged", path_id="under", path_updates=[{"path_id": "under", "operation": "merge", "merge_target": bad}])],
        nodes=[node("n.bad", kind=HOSTILE, text=f"{HOSTILE} {SECRET}", phase=HOSTILE, provenance={"path_id": bad}),
               node("n.secret", kind=SECRET, text="with a kind that is none", lifecycle_state=SECRET, provenance={"path_id": bad})],
    )  # fmt: skip
    seen = ""
    for address in addresses():
        answer = page.get(address)
        assert answer.status_code == 200, address
        assert_harmless(answer)
        content = answer.content.decode()
        assert "<img src=x" not in content, address
        assert BODY not in content, address
        assert "\u202e" not in content, address
        seen += content
    assert "&lt;img src=x" in seen
    assert "U+202E" in seen
    assert "masked, 40 characters" in seen


def test_as_many_queries_for_three_paths_as_for_three_hundred(make: Make, page: Client) -> None:
    counts: list[list[int]] = []
    begin = 0
    for size in (3, 300):
        numbers = range(100 + begin, 100 + size)
        events = [event(number, path_id=f"p{number}", node_updates=[{"node_id": "node.a", "operation": "update"}]) for number in numbers]
        paths = [path(f"p{number}", f"event.{number:04d}", parent_path_id="path.a" if number > 100 else None) for number in numbers]
        make(*paths, path("path.a", "event.0002", "event.0003"), events=events)
        begin = size
        one, other = pk("p100"), pk("p101")
        counts.append([])
        for address in (
            "/stores/atlas/paths/", f"/stores/atlas/paths/?path={one}", "/stores/atlas/paths/?q=p1", "/stores/atlas/paths/lanes/?rows=1000",
            f"/stores/atlas/paths/compare/?left={one}&right={other}", f"/paths/{one}/",
        ):  # fmt: skip
            page.get(address)
            with CaptureQueriesContext(connection) as queries:
                answer = page.get(address)
            assert answer.status_code == 200
            counts[-1].append(len(queries))
    assert counts[0] == counts[1]
    assert max(counts[0]) <= 12


def test_who_may_not_see_the_store_sees_none_of_its_paths(make: Make, page: Client) -> None:
    store = make(*story())
    store.groups.set([make_group("platform")])
    seen = [address for address in addresses() if page.get(address).status_code != 404]
    assert seen == ["/paths/?store=atlas"]
    assert "Search rewrite" not in text(page.get("/paths/"))
    assert page.get(f"/stores/atlas/paths/level/?under={pk('main')}", headers=HTMX).status_code == 404
    insider = Client()
    insider.force_login(make_user("ana", groups=["viewer", "platform"]))
    assert {insider.get(address).status_code for address in addresses()} == {200}


def test_a_path_of_another_store_cannot_be_chosen(make: Make, page: Client, tmp_path: Path) -> None:
    make(*story())
    other = make_store(tmp_path.resolve() / "hidden")
    put(other, "path", path("secret", title="Zebrafish"))
    hidden = register(other, "hidden", kind="phase-memory")
    import_store(hidden)
    hidden.groups.set([make_group("platform")])
    foreign = pk("secret")
    for address in (f"?path={foreign}", f"?second={foreign}", f"compare/?left={foreign}&right={pk('cap')}", f"level/?under={foreign}"):
        answer = page.get(f"/stores/atlas/paths/{address}", headers=HTMX if "level" in address else {}, follow=True)
        assert "Zebrafish" not in text(answer)


def test_a_store_without_paths_says_so(page: Client, tmp_path: Path) -> None:
    root = make_store(tmp_path.resolve() / "empty")
    (root / "paths" / "path.a.json").unlink()
    store = register(root, "empty", kind="phase-memory")
    assert "Not read yet" in text(page.get("/stores/empty/paths/"))
    import_store(store)
    assert "No paths" in text(page.get("/stores/empty/paths/"))
    assert "No event on a path" in text(page.get("/stores/empty/paths/lanes/"))


def test_a_path_that_cannot_be_read_any_more_is_shown_as_it_was(make: Make, page: Client, tmp_path: Path) -> None:
    store = make(*story())
    place = tmp_path.resolve() / "atlas" / "paths" / "es.json"
    place.write_text("{ torn")
    os.utime(place, (1_770_000_000, 1_770_000_000))
    import_store(store)
    tree = page.get("/stores/atlas/paths/")
    assert "1 file of paths cannot be read" in text(tree)
    assert "es" in names(tree)
    assert "this is its last good version" in text(page.get(f"/paths/{pk('es')}/"))


def test_a_store_made_with_every_fault_has_all_its_pages(page: Client, tmp_path: Path) -> None:
    tool = SHARED / "tools" / "gen_store.py"
    if not tool.is_file():
        pytest.skip("the generator of stores is not beside this checkout")
    spec = importlib.util.spec_from_file_location("gen_store", tool)
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    generator.main(
        ["--out", str(tmp_path / "g"), "--nodes", "60", "--paths", "12", "--events", "150", "--seed", "11", "--faults", "all", "--odd-ids"]
    )
    import_store(register((tmp_path / "g" / "store").resolve(), "atlas", kind="phase-memory"))
    shown = 0
    for address in addresses():
        answer = page.get(address)
        assert answer.status_code == 200, address
        assert_harmless(answer)
        assert not re.search(r"<script>window|__memoryui_xss=1</script>", answer.content.decode()), address
        shown += len(rows(answer))
    assert shown
    live = MemoryPath.objects.filter(gone_at__isnull=True)
    assert sorted(names(page.get("/stores/atlas/paths/"))) == sorted(live.values_list("natural_id", flat=True))
