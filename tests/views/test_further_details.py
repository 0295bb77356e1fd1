"""Pages of single records of the other files, made from real files on disk."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from stores.formats.orchestkit import KIND
from stores.lists.specs import DECISIONS, FURTHER, PROBLEMS, QUEUE
from stores.mirror.importing import import_store
from stores.mirror.record_types import RECORD_TYPES
from stores.mirror.registering import add_store
from stores.models import AuditEvent, Flow, ForeignRecord, MemoryMd, PreferenceFile, ProblemSolution, SessionEvent, SourceFile, Store
from tests.docs.documents import section, text_of
from tests.factories import make_decision, make_problem, make_store, make_user, make_worker
from tests.scenes import write_memory
from tests.views.parsing import assert_harmless, text

pytestmark = pytest.mark.django_db

SHARED = Path(os.environ.get("MEMORYUI_SHARED") or Path(__file__).parents[2] / ".." / "shared").resolve() / "samples" / "orchestkit"
LISTS = (DECISIONS, PROBLEMS, QUEUE, *FURTHER)
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA7bq\nb3JlIGtleSBzdHVmZg\n-----END RSA PRIVATE KEY-----"


@pytest.fixture
def page() -> Client:
    client = Client()
    client.force_login(make_user("ines", groups=["viewer", "reviewer"]))
    client.get("/account/")
    return client


def project(folder: Path, files: dict[str, str]) -> Store:
    """Write files below a project, those without a folder of their own into its memory; import it."""
    memory = folder / "shop" / ".claude" / "memory"
    memory.mkdir(parents=True)
    (memory / "decisions.jsonl").write_text(json.dumps(decision("use redis", "s-9", "2026-03-01T10:00:30.000Z")) + "\n")
    for path, content in files.items():
        place = folder / "shop" / path if path.startswith(".claude") else memory / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
    store = add_store(memory, worker=make_worker())
    import_store(store)
    return store


def decision(what: str, session: str, at: str) -> dict[str, object]:
    return {
        "id": "decision-mx3a2c3b-0001",
        "type": "decision",
        "content": {"what": what},
        "entities": [],
        "metadata": {"session_id": session, "timestamp": at},
    }


def step(second: int, tool: str, summary: str, result: str = "success", **more: object) -> dict[str, object]:
    stamp = f"2026-03-01T10:00:{second:02}.000Z"
    return {"tool": tool, "timestamp": stamp, "summary": summary, "result": result, "category": "testing", **more}


def flow(*steps: dict[str, object], last: str) -> str:
    record = {
        "session_id": "s-9",
        "actions": list(steps),
        "started_at": "2026-03-01T10:00:00.000Z",
        "last_action_at": last,
        "stats": {"total_actions": 7, "reads": 1, "success_rate": 0.5},
        "inferred_pattern": "test-first",
    }
    return json.dumps(record) + "\n"


def test_a_flow_shows_its_steps_in_order_its_other_versions_and_what_was_decided(page: Client, tmp_path: Path) -> None:
    first, second = step(1, "Read", "Read a.py", file="/home/dev/a.py"), step(13, "Bash", "pytest -q", "failure", exit_code=2)
    project(
        tmp_path,
        {
            "completed-flows.jsonl": flow(first, last="2026-03-01T10:00:02.000Z") + flow(first, second, last="2026-03-01T10:00:15.000Z"),
            "open-problems.jsonl": json.dumps(
                {
                    "id": "prob-mx3a2c3b-0001",
                    "text": "times out",
                    "status": "open",
                    "session_id": "other",
                    "timestamp": "2026-03-01T10:00:05Z",
                }
            )
            + "\n",
        },
    )
    last, earlier = Flow.objects.get(standing="last"), Flow.objects.get(standing="earlier")
    answer = page.get(f"/flows/{last.pk}/")
    assert_harmless(answer)
    shown = text(answer)
    assert shown.index("Read a.py") < shown.index("pytest -q")
    assert "+12 s" in shown
    assert "/home/dev/a.py" in shown
    assert "5 more steps are counted" in shown
    assert f'href="/flows/{earlier.pk}/"' in answer.content.decode()
    assert "use redis" in shown
    assert "times out" in shown
    assert "/timeline/" not in answer.content.decode(), "no event names the session by which a flow goes"
    assert "earlier version of its session" in text(page.get(f"/flows/{earlier.pk}/"))


def test_no_address_of_a_record_holds_a_secret(page: Client) -> None:
    store = make_store("one")
    record = make_decision(store, session=SECRET, said_by=SECRET, machine=SECRET)
    problem = make_problem(store, session=SECRET, project=SECRET)
    for one in (record, problem):
        answer = page.get(one.get_absolute_url())
        assert answer.status_code == 200
        assert SECRET[4:14] not in answer.content.decode()


def event(second: int, identity: Mapping[str, object], **payload: object) -> str:
    record = {
        "event_id": payload.pop("event_id", f"evt-1772359200000-{second}"),
        "event_type": "tool_used",
        "identity": {"session_id": "main-0301", "timestamp": f"2026-03-01T10:00:{second:02}.000Z", **identity},
        "payload": payload,
    }
    return json.dumps(record) + "\n"


def test_a_session_is_told_from_first_to_last_event_of_both_writers(page: Client, tmp_path: Path) -> None:
    tracker = {"user_id": "ines@example.org", "machine_id": "ws-1", "identity_source": "git"}
    events = [
        event(50, {"user_id": "ines"}, name="posttool/x", success=False, duration_ms=1500, event_id="evt-1772359250000-abcdef"),
        event(1, tracker, name="startup", success=True),
        event(2, tracker, name="Bash", success=True, context="ran it", event_id="evt-1772359200000-1"),
    ]
    project(tmp_path, {"sessions/main-0301/events.jsonl": "".join(events) + "torn {\n"})
    answer = page.get("/sessions/shop/timeline/?id=main-0301")
    assert_harmless(answer)
    shown = text(answer)
    assert shown.index("startup") < shown.index("ran it") < shown.index("posttool/x")
    assert shown.count("same id as another event") == 2
    assert "2 by the session tracker and 1 by the runner of hooks" in shown
    assert "+49 s" in shown
    assert "1.5 s" in shown
    assert "failure" in shown
    assert "1 of 4 lines" in shown
    assert "ignores the whole file" in shown
    assert "use redis" in shown, "the decision was made while the session ran"
    single = SessionEvent.objects.get(title="ran it")
    assert "/sessions/shop/timeline/?id=main-0301" in page.get(single.get_absolute_url()).content.decode()


def test_a_solution_leads_to_its_problem(page: Client, tmp_path: Path) -> None:
    problem = {"id": "prob-mx3a2c3b-0001", "text": "docker times out", "status": "solved", "timestamp": "2026-03-01T10:00:05Z"}
    pair = {
        "problem_id": problem["id"],
        "problem_text": "docker times out",
        "solution_text": "0 failed",
        "tool": "Bash",
        "entities": ["docker"],
    }
    lost = {**pair, "problem_id": "prob-gone"}
    project(
        tmp_path,
        {"open-problems.jsonl": json.dumps(problem) + "\n", "problem-solutions.jsonl": f"{json.dumps(pair)}\n{json.dumps(lost)}\n"},
    )
    found, other = ProblemSolution.objects.order_by("line")
    assert 'href="/problems/' in page.get(found.get_absolute_url()).content.decode()
    assert "No record of the store has the id prob-gone" in text(page.get(other.get_absolute_url()))


def test_preferences_are_bars_with_the_confidence_worked_out_anew(page: Client, tmp_path: Path) -> None:
    # 0.4 * min(1, 20/10) + 0.6 * 20/25 = 0.88; the file says 0.5. One use is none.
    tools = {
        "usage": {"file_search": {"Glob": 20, "Bash:find": 5}, "testing": {"Bash:pytest": 1}},
        "preferences": {"file_search": {"preferred_tool": "Glob", "confidence": 0.5}, "testing": None},
        "updated_at": "2026-03-01T10:00:00Z",
    }
    ways = {
        "pattern_counts": {"test-first": 3, "mixed": 1},
        "pattern_success_rates": {"test-first": [1, 0.5, 0]},
        "total_sessions": 4,
        "preferences": [{"pattern": "test-first", "frequency": 0.75, "avg_success_rate": 0.5}],
    }
    project(tmp_path, {"tool-preferences.json": json.dumps(tools), "workflow-preferences.json": json.dumps(ways)})
    answer = page.get(PreferenceFile.objects.get(form="tools").get_absolute_url())
    assert_harmless(answer)
    shown = text(answer)
    assert "0.88" in shown
    assert "0.50 differs" in shown
    assert "80%" in shown
    assert "25 uses" in shown
    assert "too low" in shown
    assert "1 conclusion is not what the counts give" in shown
    assert 'width="96.0"' in answer.content.decode(), "20 of 25 on a bar of 120"
    other = text(page.get(PreferenceFile.objects.get(form="workflows").get_absolute_url()))
    assert "75%" in other
    assert "50%" in other
    assert "differs" not in other


def test_of_an_index_the_lines_that_nobody_loads_stand_below_a_border(page: Client, tmp_path: Path) -> None:
    lines = ["# Notes", f"- [{'x' * 210}](a.md)", *(f"line {number}" for number in range(3, 212))]
    topic = "---\nname: naming\nmetadata:\n  type: feedback\n---\n\nCall it a store.\n"
    project(
        tmp_path, {".claude/agent-memory/reviewer/MEMORY.md": "\n".join(lines) + "\n", ".claude/agent-memory/reviewer/naming.md": topic}
    )
    index, other = MemoryMd.objects.get(form="index"), MemoryMd.objects.get(form="topic")
    answer = page.get(index.get_absolute_url())
    assert_harmless(answer)
    shown = answer.content.decode()
    assert shown.count('class="bytes-border"') == 1
    assert shown.index("line 200<") < shown.index('class="bytes-border"') < shown.index("line 201<")
    assert shown.count("data-unloaded") == 11
    assert shown.count("data-bad") == 1
    assert "211 of 200" in text(answer)
    assert "11 lines never loaded" in text(answer)
    assert "Links to files that are not there1 Line 2a.md" in " ".join(text(answer).split())
    assert "Topics that no loaded line names1 naming.md" in " ".join(text(answer).split())
    assert f'href="{other.get_absolute_url()}"' in shown
    assert 'width="94.79"' in shown, "200 of 211 of the bar are what is loaded"
    front = text(page.get(other.get_absolute_url()))
    assert "feedback" in front
    assert "bytes-border" not in page.get(other.get_absolute_url()).content.decode()


def test_the_block_of_the_injector_is_taken_apart(page: Client, tmp_path: Path) -> None:
    rules = "## Recent Project Decisions\n\n- **[Decision]** Use SQLite _(because: one file)_ [sqlite, wal]\n"
    project(tmp_path, {".claude/rules/recent-decisions.md": rules})
    shown = text(page.get(MemoryMd.objects.get(form="rules").get_absolute_url()))
    assert "Use SQLite because one file sqlite wal" in " ".join(shown.split())
    assert "until somebody deletes it" in shown


def test_a_secret_that_goes_over_lines_is_masked_in_each_and_shown_only_when_asked(page: Client, tmp_path: Path) -> None:
    project(tmp_path, {"notes.md": f"before\n{KEY}\ntoken {SECRET}\nafter\n"})
    record = MemoryMd.objects.get(form="note")
    shown = page.get(record.get_absolute_url()).content.decode()
    assert "before" in shown and "after" in shown
    assert not [part for part in (*KEY.split("\n")[1:3], SECRET) if part in shown]
    document = page.get(f"/api/v1{record.get_absolute_url()}").content.decode()
    assert not [part for part in (*KEY.split("\n")[1:3], SECRET) if part in document]
    assert SECRET in page.post(f"/records/memory_md/{record.pk}/unmask/").content.decode()
    assert AuditEvent.objects.filter(event="unmasked").count() == 1


def metrics(day: int, total: int) -> str:
    record = {
        "timestamp": f"2026-03-{day:02}T10:00:00Z",
        "decisions": {"total": total},
        "queues": {"graphQueueDepth": 4},
        "completedFlows": 1,
    }
    return json.dumps(record) + "\n"


def test_a_log_of_counts_is_a_chart_and_other_logs_are_fields(page: Client, tmp_path: Path) -> None:
    consulted = {"ts": "2026-03-01T10:00:00Z", "session": "s-9", "tool": "mcp__memory__search_nodes", "query": "redis", "deep": {"a": [1]}}
    project(
        tmp_path,
        {
            ".claude/logs/memory-metrics.jsonl": metrics(1, 10) + metrics(2, 40) + metrics(5, 55),
            ".claude/logs/memory-consult.jsonl": json.dumps(consulted) + "\n",
        },
    )
    counted = page.get(ForeignRecord.objects.filter(form="metrics").first().get_absolute_url())  # type: ignore[union-attr]
    assert_harmless(counted)
    assert 'aria-label="Decisions: 10 on 1 Mar 2026, 55 on 5 Mar 2026, at most 55"' in counted.content.decode()
    fields = text(page.get(ForeignRecord.objects.get(form="consulted").get_absolute_url()))
    assert "mcp__memory__search_nodes" in fields
    assert '{"a":[1]}' in fields


def test_the_store_page_says_which_versions_wrote_it(page: Client, tmp_path: Path) -> None:
    project(
        tmp_path,
        {"graph-queue.jsonl": "", "tool-preferences.json": "{}", ".claude/rules/recent-decisions.md": "## Recent Project Decisions\n"},
    )
    shown = text(page.get("/stores/shop/"))
    assert "Versions of OrchestKit that wrote here" in shown
    assert "5.2.4 to 6.0.3" in shown
    assert "6.7 or later" in shown


def test_no_page_of_a_record_asks_more_than_12_times(page: Client, tmp_path: Path) -> None:
    store = add_store(write_memory(tmp_path / "walrus", "walrus"), worker=make_worker())
    import_store(store)
    for spec in FURTHER:
        record = spec.model._default_manager.filter(store=store).order_by("pk")[0]
        with CaptureQueriesContext(connection) as queries:
            answer = page.get(record.get_absolute_url())  # type: ignore[attr-defined]
        assert answer.status_code == 200
        assert len(queries) <= 12, spec.section
        document = page.get(f"/api/v1{record.get_absolute_url()}").json()  # type: ignore[attr-defined]
        assert document["record_type"] == spec.record_type
        assert "walrus" in document["raw"]


def samples() -> list[Path]:
    """Give the shared real projects; none where they are not beside this checkout."""
    return sorted(SHARED.glob("*/.claude/memory"))


@pytest.mark.parametrize("memory", samples(), ids=lambda path: path.parents[1].name)
def test_every_file_of_a_real_store_has_the_page_that_the_documents_name(page: Client, tmp_path: Path, memory: Path) -> None:
    shutil.copytree(memory.parents[1], tmp_path / "real")
    store = add_store(tmp_path / "real" / ".claude" / "memory", worker=make_worker())
    import_store(store)
    named = files_named()
    titles = {spec.record_type: spec.title for spec in LISTS}
    seen = 0
    for source in SourceFile.objects.filter(store=store, exists=True).exclude(record_type=""):
        spec = KIND.spec_of(source.path)
        assert spec is not None
        becomes, shown_on = named[spec.full_path]
        assert becomes == f"`{spec.record_type}`", source.path
        assert shown_on.startswith(titles[spec.record_type]), source.path
        for record in RECORD_TYPES[spec.record_type].model._default_manager.filter(file=source)[:2]:
            answer = page.get(record.get_absolute_url())  # type: ignore[attr-defined]
            assert answer.status_code == 200
            assert_harmless(answer)
            seen += 1
    assert seen > 5


def test_the_documents_name_every_file_that_is_read() -> None:
    assert {path: becomes for path, (becomes, _) in files_named().items()} == {
        spec.full_path: f"`{spec.record_type}`" for spec in KIND.files
    }


def files_named() -> dict[str, tuple[str, str]]:
    """Give each file of the documents' table with what it becomes and where that is shown."""
    found: dict[str, tuple[str, str]] = {}
    for line in section(text_of("docs/formats.md"), "## OrchestKit").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| `") and len(cells) == 4:
            found |= {path: (cells[2], cells[3].rstrip("| ")) for path in re.findall(r"`([^`]+)`", cells[0])}
    return found
