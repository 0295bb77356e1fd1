"""Reading below a store's root: nothing outside is reached, whatever the path says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from stores.files import CannotRead, StoreRoot


@pytest.mark.parametrize("path", ["", ".", "..", "../outside", "sub/../../outside", "/etc/passwd", "sub//file", "./file"])
def test_no_path_leaves_the_root(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "outside").write_text("outside")
    (root / "file").write_text("inside")
    with StoreRoot(root) as opened, pytest.raises(CannotRead):
        opened.open(path)


def test_a_link_is_not_followed_and_a_pipe_does_not_block(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("inside")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "linked").symlink_to(tmp_path, target_is_directory=True)
    os.mkfifo(tmp_path / "pipe")
    with StoreRoot(tmp_path) as opened:
        states = {}
        for path in ("link", "linked/file", "pipe", "nothing"):
            with pytest.raises(CannotRead) as refused:
                opened.open(path)
            states[path] = refused.value.state
        with opened.open("file") as file:
            assert file.at(0, 100) == b"inside"
    assert states == {"link": "symlink", "linked/file": "missing", "pipe": "not_regular", "nothing": "missing"}
