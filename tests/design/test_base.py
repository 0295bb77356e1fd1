"""The frame of pages renders with and without somebody signed in, with nothing at all, and holds htmx to its limits."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.template.loader import get_template, render_to_string

from stores.charts import bars, sparkline, step_chart

PROBLEM = {"state": "failing", "title": "memoryui <made> a mistake", "happened": "x", "links": [{"text": "Go", "url": "/"}]}


class Ids(HTMLParser):
    """Collects ids, and what labels and popovers point to."""

    def __init__(self) -> None:
        super().__init__()
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.ids += [value for name, value in attrs if name == "id" and value]


def test_a_problem_page_needs_neither_request_nor_database() -> None:
    page = get_template("problem.html").render({"problem": PROBLEM})
    assert page.count("<h1") == 1
    assert page.count('id="problem"') == 1
    assert "memoryui &lt;made&gt; a mistake" in page
    assert "data-bare" in page
    assert "<nav" not in page


def test_htmx_may_not_evaluate_store_or_style_anything() -> None:
    page = get_template("problem.html").render({"problem": PROBLEM})
    found = re.search(r"<meta name=\"htmx-config\" content='([^']+)'", page)
    assert found
    config = json.loads(found[1])
    assert config["allowEval"] is config["allowScriptTags"] is config["includeIndicatorStyles"] is False
    assert config["selfRequestsOnly"] is True
    assert config["historyCacheSize"] == 0
    assert config["historyRestoreAsHxRequest"] is False
    codes = [entry["code"] for entry in config["responseHandling"]]
    assert codes.index("204") < codes.index("[23]..") < codes.index("422") < codes.index("[45]..")
    assert '<body hx-history="false"' in page


def test_ids_on_a_page_are_unique() -> None:
    reader = Ids()
    reader.feed(get_template("problem.html").render({"problem": PROBLEM}))
    assert len(reader.ids) == len(set(reader.ids))


def test_a_verdict_is_the_title_of_the_page_only_where_asked() -> None:
    verdict = {"state": "degraded", "sentence": "2 <corrupt> lines", "reasons": [{"text": "line 212", "url": "/x/"}], "when": 0}
    assert '<h1 class="verdict-sentence"><bdi>2 &lt;corrupt&gt; lines</bdi></h1>' in render_to_string(
        "_verdict.html", {"verdict": verdict, "heading": "h1"}
    )
    assert "<h1" not in render_to_string("_verdict.html", {"verdict": verdict})


@pytest.mark.parametrize(
    ("kind", "symbol"), [("empty", "healthy"), ("filtered", "filtered"), ("unreadable", "unavailable"), ("unmeasured", "unmeasured")]
)
def test_the_four_outcomes_have_four_looks(kind: str, symbol: str) -> None:
    shown = render_to_string(
        "_outcome.html", {"outcome": {"kind": kind, "title": "T", "text": "why", "links": [{"text": "a", "url": "/a/"}]}}
    )
    assert f'data-outcome="{kind}"' in shown
    assert f"#{symbol}" in shown


def test_choices_of_a_filter_show_memory_text_harmless() -> None:
    choice = {"value": '"><script>', "label": "a\u202eb", "count": "1,284", "checked": True}
    facets = {
        "url": "/decisions/",
        "groups": [{"legend": "Area", "name": "area", "choices": [choice]}],
        "kept": [{"name": "sort", "value": "-at"}],
    }
    shown = render_to_string("_facets.html", {"facets": facets})
    assert "<script>" not in shown
    assert 'value="&quot;&gt;&lt;script&gt;" checked' in shown
    assert "U+202E" in shown
    assert '<input type="hidden" name="sort" value="-at">' in shown


def test_charts_are_named_by_a_sentence() -> None:
    spark = render_to_string("_sparkline.html", {"spark": sparkline([(0, 1.0), (1, 3.0)], 2.0), "state": "failing", "label": "now 3"})
    days = render_to_string("_bars.html", {"bars": bars([1, 2]), "name": "Written", "total": "3", "label": "3 in 2 days"})
    depth = render_to_string("_depth.html", {"chart": step_chart([(0, 1.0)], since=0, until=2, limit=5), "label": "1 waits"})
    for shown, label in ((spark, "now 3"), (days, "3 in 2 days"), (depth, "1 waits")):
        assert f'role="img" aria-label="{label}"' in shown
    assert "5 limit" in depth
    assert render_to_string("_sparkline.html", {"spark": sparkline([])}).strip() == ""


def test_the_script_is_small_and_evaluates_nothing() -> None:
    script = (Path(__file__).resolve().parents[2] / "static" / "memoryui" / "app.js").read_text(encoding="utf-8")
    assert not re.search(r"\beval\(|new Function|innerHTML|insertAdjacentHTML|document\.write|\.style\b", script)
    assert len(script) < 12_000
