"""The locks answer what pyproject.toml asks for, on every machine alike."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def locked(lock: Path) -> list[tuple[Requirement, int]]:
    """Give each requirement of a lock with the number of its hashes."""
    text = "\n".join(line for line in lock.read_text("utf-8").splitlines() if not line.startswith("#")).replace("\\\n", " ")
    return [(Requirement(line.split("--hash=")[0].strip()), line.count("--hash=sha256:")) for line in text.splitlines() if line.strip()]


def pins(lock: Path, python: str) -> dict[str, str]:
    """Give name to version for one Python version on Linux."""
    here = {"python_version": python, "python_full_version": f"{python}.0", "sys_platform": "linux", "implementation_name": "cpython"}
    chosen = (one for one, _ in locked(lock) if one.marker is None or one.marker.evaluate(here))
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in chosen}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_pins_every_package_by_version_and_hash(lock: Path) -> None:
    loose = [str(one) for one, hashes in locked(lock) if not hashes or not re.fullmatch(r"==[^,*]+", str(one.specifier))]
    assert loose == []


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_registry_and_no_folder(lock: Path) -> None:
    text = lock.read_text("utf-8")
    assert not re.search(r"://|--index-url|--extra-index-url|--find-links| /", text)


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("name", ["base", "dev", "bench"])
def test_a_lock_answers_what_the_project_asks_for(name: str, python: str) -> None:
    project = PROJECT["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["postgres"], *PROJECT["dependency-groups"].get(name, [])]
    found = pins(ROOT / "requirements" / f"{name}.txt", python)
    unmet = [one for one in map(Requirement, wanted) if not one.specifier.contains(found.get(canonicalize_name(one.name), "0"))]
    assert unmet == []


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
def test_what_runs_in_production_is_what_the_tests_run_on(python: str) -> None:
    in_tests = pins(ROOT / "requirements" / "dev.txt", python)
    in_production = pins(ROOT / "requirements" / "base.txt", python)
    assert {name: in_tests.get(name) for name in in_production} == in_production


def test_django_is_the_long_term_release_on_the_oldest_python_and_the_newest_elsewhere() -> None:
    assert pins(ROOT / "requirements" / "base.txt", "3.11")["django"].startswith("5.2.")
    assert pins(ROOT / "requirements" / "base.txt", "3.12")["django"].startswith("6.")
