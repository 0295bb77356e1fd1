"""The page of a Markdown file that agents load: its budget, what of it is loaded, what OrchestKit wrote into it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from stores import charts, display, markup
from stores.formats.orchestkit.memory_md import LOADED_BYTES, LOADED_LINES, LONG_LINE, MemoryMdDetail, dead_links, unlisted
from stores.formats.secrets import Secret, find_secrets
from stores.memory_words import title_of, value_of
from stores.models import MemoryMd
from stores.record_facts import Fact
from stores.record_parts.base import Content, Link, MarkedLine, Meter, Part, Said, fields, shown, tags
from stores.selectors import wording

LINES_SHOWN = 2_000
LINE_SHOWN = 1_000
ENTRIES_SHOWN = 100
LINKS_SHOWN = 50
FORMS = {
    "index": "index, loaded at the start of a session",
    "topic": "topic, loaded when an agent wants it",
    "rules": "rules, loaded whole into every session",
    "note": "note, which nothing loads by itself",
}
BORDER = "Nothing below is loaded: 200 lines or 25 KB, whichever comes first"


def content(record: MemoryMd, detail: MemoryMdDetail, kept: int, beside: Mapping[str, int]) -> Content:
    """Put the page together; `kept` is how many bytes of the file the mirror holds, `beside` gives the other files of its folder by name."""
    is_index = record.form == "index"
    main = [_lines(record, detail, kept)]
    if detail.entries or detail.archived:
        main.insert(0, _block(record, detail))
    if is_index:
        main.insert(0, _budget(record, detail))
    side = [Part("File", facts=_facts(record))]
    if is_index:
        side += _astray(detail, beside)
    if detail.front:
        side.append(Part("Front matter", facts=fields(detail.front)))
    return Content(title=title_of(record.title), tab_title=record.title, said=_said(record), main=main, side=side)


def _said(record: MemoryMd) -> list[Said]:
    said = [Said(FORMS.get(record.form, record.form))]
    if record.not_loaded:
        said.insert(0, Said(f"{wording.counted(record.not_loaded, 'line')} never loaded", "warning"))
    elif record.form == "index":
        said.insert(0, Said("loaded whole", "ok"))
    if record.agent:
        said.append(Said(format_html("of the agent {}", value_of(record.agent))))
    return said


def _facts(record: MemoryMd) -> list[Fact]:
    facts: list[Fact] = [
        {"label": "Kind", "value": record.form},
        {"label": "Agent", "value": value_of(record.agent)} if record.agent else {"label": "Agent", "value": "none"},
        {"label": "Lines", "value": display.number(record.lines)},
        {"label": "Characters", "value": display.number(record.characters)},
        {"label": "Size", "value": display.size(record.length)},
        {"label": "Changed", "value": markup.clock(record.file.mtime_ns // 1_000_000)},
    ]
    if record.topic_type:
        facts.insert(1, {"label": "Topic", "value": value_of(record.topic_type)})
    return facts


def _budget(record: MemoryMd, detail: MemoryMdDetail) -> Part:
    # Of a file of which the mirror holds only the head the counts are the reader's own.
    lines, size = record.lines, record.length
    meters = (
        Meter("Lines", f"{display.number(lines)} of {LOADED_LINES}", charts.budget(lines, LOADED_LINES)),
        Meter("Bytes", f"{display.number(size)} of {display.number(LOADED_BYTES)}", charts.budget(size, LOADED_BYTES)),
    )
    long = wording.counted(record.long_lines, "entry", "entries")
    words = f"{long} longer than {LONG_LINE} characters, which OrchestKit's own check finds too long" if record.long_lines else ""
    near = "Nearly full: what comes next, agents never see." if detail.budget.near else ""
    return Part("Budget", fact="loaded of it at the start of a session", meters=meters, after=" ".join(filter(None, [near, words])))


def _astray(detail: MemoryMdDetail, beside: Mapping[str, int]) -> Iterator[Part]:
    """Give what an agent is sent to in vain, and what it is never sent to."""
    dead = dead_links(detail.links, beside.keys())
    if dead:
        facts: list[Fact] = [{"label": f"Line {link.line:,}", "value": value_of(link.target), "mono": True} for link in dead[:LINKS_SHOWN]]
        yield Part("Links to files that are not there", fact=display.number(len(dead)), facts=facts)
    unseen = unlisted(detail.links, beside.keys(), detail.budget.loaded_lines)
    if unseen:
        links = [Link(value_of(name), reverse("memory_file_detail", args=[beside[name]])) for name in unseen[:LINKS_SHOWN]]
        yield Part("Topics that no loaded line names", fact=display.number(len(unseen)), links=links, after="Agents do not learn of them.")


def _block(record: MemoryMd, detail: MemoryMdDetail) -> Part:
    facts: list[Fact] = []
    for entry in detail.entries[:ENTRIES_SHOWN]:
        why = format_html(' <span class="second">because {}</span>', shown(entry.why)) if entry.why else ""
        named = format_html_join(" ", '<a class="tag" href="{}">{}</a>', ((tag.url, tag.text) for tag in tags(entry.tags) if tag.url))
        facts.append({"label": f"{entry.label[:20]}, line {entry.line:,}", "value": format_html("{}{} {}", shown(entry.what), why, named)})
    left = len(detail.entries) - ENTRIES_SHOWN
    after = [f"{left:,} more follow in the file."] if left > 0 else []
    after += ["Older ones were cut off by the writer."] if detail.archived else []
    note = (
        "The injector writes them here since 6.7: every session goes on loading this file until somebody deletes it, however old it is."
        if record.form == "rules"
        else ""
    )
    return Part(
        "Decisions that OrchestKit wrote here",
        fact=wording.counted(len(detail.entries), "entry", "entries"),
        note=note,
        facts=facts,
        after=" ".join(after),
    )


def _lines(record: MemoryMd, detail: MemoryMdDetail, kept: int) -> Part:
    is_index = record.form == "index"
    number = min(len(detail.lines), LINES_SHOWN)
    after = []
    if kept < record.length:
        after.append(f"The mirror holds only the first {display.size(kept)} of this file.")
    if len(detail.lines) > number:
        after.append(f"{len(detail.lines) - number:,} more lines are under Raw.")
    fact = f"{wording.counted(detail.budget.loaded_lines, 'line')} loaded, {detail.budget.not_loaded:,} not" if is_index else ""
    return Part(
        "What an agent loads of it" if is_index else "Text",
        fact=fact,
        note="" if detail.lines else "The file is empty.",
        lines=list(marked_lines(detail, is_index)),
        border=BORDER if is_index else "",
        after=" ".join(after),
    )


def marked_lines(detail: MemoryMdDetail, is_index: bool) -> Iterator[MarkedLine]:
    """Give the lines as they may be shown: a secret that goes over several lines is masked in each."""
    texts = [line.text for line in detail.lines[:LINES_SHOWN]]
    secrets = find_secrets("\n".join(texts))
    start = 0
    for line, text in zip(detail.lines, texts, strict=False):
        end = start + len(text)
        touching = [secret for secret in secrets if secret.start < end and secret.end > start]
        yield MarkedLine(
            line.number,
            _masked(text, start, touching),
            f"{len(text):,} characters" if is_index and line.long else "",
            is_index and not line.loaded,
            is_index and line.long,
        )
        start = end + 1


def _masked(text: str, start: int, secrets: Sequence[Secret]) -> SafeString:
    if not secrets:
        return markup.memory_text(text if len(text) <= LINE_SHOWN else f"{text[:LINE_SHOWN]}…")
    parts: list[SafeString] = []
    position = 0
    for secret in secrets:
        begin, end = max(0, secret.start - start), min(len(text), secret.end - start)
        parts += [markup.memory_text(text[position:begin][:LINE_SHOWN]), markup.masked(end - begin)]
        position = end
    parts.append(markup.memory_text(text[position:][:LINE_SHOWN]))
    return format_html_join("", "{}", ((part,) for part in parts))
