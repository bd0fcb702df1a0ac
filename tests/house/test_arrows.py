"""The arrows and walls of the design, and who may open a store, read a clock or print."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.tree import PACKAGES, ROOT, package_files

CLOCK_CALLS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.time_ns"}
SQL_CLOCK = re.compile(
    r"\b(current_date|current_timestamp|current_localtimestamp|localtimestamp"
    r"|(now|today|get_current_timestamp|random|uuid|gen_random_uuid)\s*\()",
    re.IGNORECASE,
)
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def modules() -> list[tuple[Path, ast.Module]]:
    """Return each module of the packages with its tree."""
    return [(name, ast.parse((ROOT / name).read_text(encoding="utf-8"))) for name in package_files(".py")]


def dotted(node: ast.expr) -> str:
    """Return `a.b.c` for a chain of names, else an empty string."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value)):
        return f"{owner}.{node.attr}"
    return ""


def full_names(tree: ast.Module) -> dict[str, str]:
    """Return what each imported name stands for, so that no alias hides a call."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({alias.asname or alias.name: alias.name for alias in node.names})
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update({alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names})
    return names


def references(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and full dotted name of each name in the module, called or handed on."""
    names = full_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Name)) and (name := dotted(node)):
            first, _, rest = name.partition(".")
            stands_for = names.get(first, first)
            yield node.lineno, f"{stands_for}.{rest}" if rest else stands_for


def uses(wanted: set[str]) -> list[tuple[Path, int, str]]:
    """Return where the packages use one of the dotted names."""
    return [
        (path, line, name)
        for path, tree in modules()
        for line, name in references(tree)
        if name in wanted or name.removeprefix("datetime.") in wanted
    ]


def test_import_linter_keeps_every_contract() -> None:
    run = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "0 broken" in run.stdout


@pytest.mark.parametrize(
    ("package", "forbidden"),
    [("sql", "ingest"), ("ingest", "alerts"), ("alerts", "overrun"), ("ingest", "slack_sdk"), ("analysis", "boto3")],
)
def test_import_linter_breaks_when_an_arrow_turns(tmp_path: Path, package: str, forbidden: str) -> None:
    for name in package_files(".py"):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    (tmp_path / "pyproject.toml").write_bytes((ROOT / "pyproject.toml").read_bytes())
    (tmp_path / package / "stray.py").write_text(f"import {forbidden}\n", encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, '.'); {LINT_IMPORTS}", "--no-logo", "--no-cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert f"{package}.stray -> {forbidden}" in run.stdout


def test_duckdb_is_opened_in_one_module_only() -> None:
    opened = uses({"duckdb.connect"})
    assert {path.as_posix() for path, _, _ in opened} == {"sql/warehouse.py"}, opened


def test_sqlite_is_opened_in_one_module_only() -> None:
    opened = uses({"sqlite3.connect"})
    assert {path.as_posix() for path, _, _ in opened} <= {"sql/state.py"}, opened


def test_nothing_prints() -> None:
    assert uses({"print"}) == []


def test_only_the_front_door_reads_the_clock() -> None:
    read = [use for use in uses(CLOCK_CALLS) if use[0].parts[0] != "overrun"]
    assert read == [], "today is a parameter"


def test_no_model_reads_the_clock_or_rolls_dice() -> None:
    found = [
        (name, match.group())
        for name in package_files(".sql")
        for match in SQL_CLOCK.finditer(re.sub(r"--.*", "", (ROOT / name).read_text(encoding="utf-8")))
    ]
    assert found == [], "today and each seed are parameters"


def test_every_package_of_the_house_is_checked() -> None:
    folders = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests", "benchmarks"}
    assert folders == set(PACKAGES)
