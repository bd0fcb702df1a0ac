"""What is shipped: the packages that pyproject lists, their data files, and nothing that git ignores."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests.house.tree import PACKAGES, ROOT, committed_files

PLANTED = (".env", "sql/.env", "overrun/x.duckdb", "sql/models/x.sqlite", "ingest/__pycache__/x.cpython-311.pyc")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build the wheel from a copy of what git would commit, with ignored files planted, and return its names."""
    copy = tmp_path_factory.mktemp("checkout")
    for name in committed_files():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name)
    for planted in PLANTED:
        (copy / planted).parent.mkdir(parents=True, exist_ok=True)
        (copy / planted).write_text("secret", encoding="utf-8")
    build = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "out"],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert build.returncode == 0, build.stdout + build.stderr
    (wheel,) = (copy / "out").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_holds_what_git_would_commit_of_the_packages_and_nothing_else(wheel_names: set[str]) -> None:
    expected = {name.as_posix() for name in committed_files() if name.parts[0] in PACKAGES}
    assert {name for name in wheel_names if ".dist-info/" not in name} == expected


def test_the_wheel_holds_every_model(wheel_names: set[str]) -> None:
    models = {name.as_posix() for name in committed_files() if name.suffix == ".sql" and name.parts[0] == "sql"}
    assert models
    assert models <= wheel_names


def test_nothing_ignored_is_shipped(wheel_names: set[str]) -> None:
    assert not wheel_names & set(PLANTED)


def test_pyproject_lists_the_packages_of_the_house() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert tuple(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == PACKAGES
    assert project["project"]["classifiers"] == ["Private :: Do Not Upload"]


def owners_of_our_names() -> Iterator[tuple[str, str]]:
    """Yield (top-level name, distribution) for each distribution other than ours that installs one of our names."""
    for name, distributions in metadata.packages_distributions().items():
        if name in PACKAGES:
            yield from ((name, owner) for owner in distributions if owner != "overrun")


def test_no_other_distribution_owns_our_top_level_names() -> None:
    assert list(owners_of_our_names()) == []


def test_our_packages_are_imported_from_this_checkout() -> None:
    import sql

    assert Path(sql.__file__).is_relative_to(ROOT)
