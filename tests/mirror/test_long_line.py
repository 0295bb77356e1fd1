"""While one line is read that is longer than all others together, whoever waits hears that reading goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from stores.mirror.importing import ImportProgress, import_store
from stores.mirror.packs import SIGN_BYTES
from stores.models import Decision, Fault
from tests.memory_folders import decision
from tests.mirror.images import register

pytestmark = pytest.mark.django_db
SIGNS = 3


@pytest.mark.parametrize("name", ["decisions.jsonl", "tool-preferences.json"])
@pytest.mark.parametrize("ended", [True, False])
def test_a_long_line_gives_signs_of_life(tmp_path: Path, name: str, ended: bool) -> None:
    root = tmp_path / ".claude" / "memory"
    root.mkdir(parents=True)
    store = register(root)
    before = decision("before", 1) if name == "decisions.jsonl" else b""
    with (root / name).open("wb") as out:
        out.write(before)
        for _ in range(SIGNS):
            out.write(b"x" * SIGN_BYTES)
        out.write(b"\n" + decision("behind", 2) if ended and before else b"")
    told: list[ImportProgress] = []
    import_store(store, progress=told.append)
    of_file = [one.bytes_done for one in told if one.path == name]
    assert len(of_file) > SIGNS
    assert max(of_file[: SIGNS - 1]) < SIGN_BYTES * SIGNS
    assert Fault.objects.filter(store=store, code="too_large").count() == 1
    if before:
        assert list(Decision.objects.order_by("line").values_list("title", flat=True)) == ["before", "behind"][: 1 + ended]
