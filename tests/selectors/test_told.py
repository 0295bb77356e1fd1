"""What agents are told, taken from the mirror, is what the loader makes of the file itself."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from django.utils import timezone

from stores.formats.orchestkit.injection import CLASSIC, DOCUMENTED, V7, after_clean_up, preview
from stores.mirror.importing import import_store
from stores.mirror.registering import add_store
from stores.models import SourceFile, Store
from stores.selectors.store_page import store_frame
from stores.selectors.told import Told, told
from tests.factories import make_user, make_worker
from tests.memory_folders import decision

pytestmark = pytest.mark.django_db


def imported(memory: Path, data: bytes) -> Store:
    memory.mkdir(parents=True, exist_ok=True)
    (memory / "decisions.jsonl").write_bytes(data)
    store = Store.objects.filter(path=str(memory)).first() or add_store(
        memory, worker=make_worker(), by=make_user(groups=["viewer", "operator"])
    )
    import_store(store)
    return store


def told_of(store: Store, variant: str = CLASSIC) -> Told:
    return told(store_frame(store.created_by or make_user(), store.slug, "told", timezone.now()), variant)


def log(*numbers: int) -> bytes:
    return b"".join(decision(f"use cursors in part {number}", number) for number in numbers)


SILENT = decision("say nothing", 99, entities=None)
LOGS = {
    "empty": b"",
    "one": log(1),
    "more than the loader looks at": log(*range(60)),
    "corrupt, blank and torn": log(1, 2) + b"not json\n \n\t\n" + log(3) + b"null\n" + log(4) + b'{"id":',
    "a byte order mark and trailing spaces": b"\xef\xbb\xbf" + log(1, 2)[:-1] + "\u00a0 \n\n".encode(),
    "carriage returns": log(1, 2, 3).replace(b"\n", b"\r\n"),
    "silenced": log(1, 2) + SILENT + log(3),
    "silenced long ago": SILENT + log(*range(10)),
    "the same again and again": b"".join(decision("use redis for sessions", number) for number in range(30)) + log(1),
    "equal ids": b"".join(decision(f"use part {number} of it", 7) for number in range(14)),
    "other tools": b'{"decision":"by hand"}\n[]\n5\n' + log(1),
    "glued": log(1)[:-1] + log(2) + log(3),
    "too much": b"".join(decision(f"{number} " + "long " * 120, number) for number in range(10)),
    "half an emoji": json.dumps({"id": "x", "content": {"what": "smile \ud83d here"}, "entities": []}).encode() + b"\n",
}


@pytest.mark.parametrize("data", LOGS.values(), ids=LOGS)
def test_the_mirror_tells_what_the_file_tells(tmp_path: Path, data: bytes) -> None:
    store = imported(tmp_path, data)
    for variant in (CLASSIC, V7, DOCUMENTED):
        found, wanted = told_of(store, variant), preview(data, variant)
        assert found.preview == wanted
        after = after_clean_up(data, variant)
        if found.cleaned is None:
            assert after.mended == ()
        else:
            shown = "\n".join("".join(run.text for run in line.runs) for line in found.cleaned.after)
            assert shown == after.preview.text
            assert found.cleaned.won == after.preview.items - wanted.items


def test_the_shared_injections_are_told_as_the_loaders_told_them(tmp_path: Path, shared: Path) -> None:
    for number, case in enumerate(json.loads((shared / "samples/golden/injection.json").read_bytes())):
        store = imported(tmp_path / str(number), base64.b64decode(case["input_b64"]))
        for variant, field in ((CLASSIC, "inject_v6"), (V7, "inject_v7")):
            found = told_of(store, variant).preview
            assert found is not None
            assert found.text == (case[field] or ""), case["name"]


def test_a_log_that_grows_is_told_anew(tmp_path: Path) -> None:
    data = log(*range(20)) + SILENT
    store = imported(tmp_path, data)
    assert told_of(store).preview == preview(data)
    data += log(*range(30, 36))
    with (tmp_path / "decisions.jsonl").open("ab") as file:
        file.write(log(*range(30, 36)))
    import_store(store)
    assert told_of(store).preview == preview(data)


def test_what_silences_is_named_with_its_fault(tmp_path: Path) -> None:
    found = told_of(imported(tmp_path, log(1) + SILENT + log(2)))
    [place] = found.silencing
    assert (place.number, place.slot.line, place.state) == (2, 2, "failing")
    assert place.fault is not None
    assert place.fault.code == "missing_entities"
    assert found.cleaned is not None
    assert found.cleaned.before == []
    assert (found.cleaned.won, found.cleaned.sentence) == (3, "Mends 1 line that silences the loader: 3 more decisions would be told.")


def test_the_newest_line_has_the_first_place_and_each_leads_to_what_it_says(tmp_path: Path) -> None:
    found = told_of(imported(tmp_path, log(1) + b"not json\n" + log(3)))
    assert [(place.number, place.slot.line, place.words, place.title) for place in found.places] == [
        (1, 3, "told", "use cursors in part 3"),
        (2, 2, "corrupt", ""),
        (3, 1, "told", "use cursors in part 1"),
    ]
    assert [place.url.partition("?")[0].strip("/").split("/")[0] for place in found.places] == ["decisions", "stores", "decisions"]
    assert found.places[1].url.endswith("?file=decisions.jsonl&line=2")


def test_older_lines_that_are_not_looked_at_are_spoken_of(tmp_path: Path) -> None:
    data = log(1, 2, 3) + b"".join(decision("use redis for sessions", number) for number in range(50))
    cleaned = told_of(imported(tmp_path, data)).cleaned
    assert cleaned is not None
    assert cleaned.sentence.endswith("Older lines than are looked at here would move up besides.")


def test_a_secret_is_masked_and_counted(tmp_path: Path) -> None:
    secret = "AKIAIOSFODNN7EXAMPLE"
    found = told_of(imported(tmp_path, decision(f"use {secret} for the bucket") * 2))
    assert found.masked == 2
    assert found.cleaned is None or secret not in str(found.cleaned)
    assert secret not in str(told_of(imported(tmp_path, decision(f"use {secret} for the bucket") * 2 + b"x\n")).cleaned)


def test_without_a_log_nothing_is_told_and_a_mirror_of_an_earlier_version_says_so(tmp_path: Path) -> None:
    store = imported(tmp_path, log(1, 2))
    SourceFile.objects.filter(path="decisions.jsonl").update(end_state='{"seen":true,"utf16":false,"recent":[],"slots":[0,0],"gap":0}')
    assert told_of(store).preview is None
    assert told_of(store).unknown
    SourceFile.objects.filter(path="decisions.jsonl").update(state="importing")
    assert told_of(store).unknown
    SourceFile.objects.filter(path="decisions.jsonl").update(exists=False)
    assert told_of(store) == Told(None)
