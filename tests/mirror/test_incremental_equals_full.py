"""Whatever happens to a file, reading only what changed gives the mirror that a full import gives (ruling 1)."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stores.mirror.importing import import_store
from stores.mirror.relocating import remove_store
from tests.mirror.images import fresh_image, image, register
from tests.mirror.moves import FILES, OTHER_FILES, Move, do, moves, other_moves


@pytest.mark.django_db
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps=st.lists(st.tuples(st.sampled_from(FILES), moves, st.booleans()), min_size=1, max_size=10))
def test_any_sequence_of_changes_ends_in_the_mirror_of_a_full_import(steps: list) -> None:  # type: ignore[type-arg]
    end_alike(steps)


@pytest.mark.django_db
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large])
@given(steps=st.lists(st.tuples(st.sampled_from(OTHER_FILES), other_moves, st.booleans()), min_size=1, max_size=12))
def test_so_does_any_sequence_of_changes_of_the_other_files(steps: list) -> None:  # type: ignore[type-arg]
    end_alike(steps)


def end_alike(steps: list[tuple[str, Move, bool]]) -> None:
    """Make the changes, looking now and then, and hold the mirror against one that was made at the end."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / ".claude" / "memory"
        root.mkdir(parents=True)
        store = register(root)
        import_store(store, trigger="sweep")
        for file, move, look in steps:
            do(root / file, move)
            if look:
                import_store(store, trigger="sweep")
        import_store(store, trigger="sweep")
        assert image(store) == fresh_image(root)
        import_store(store, trigger="sweep")
        assert image(store) == fresh_image(root)
        remove_store(store)
