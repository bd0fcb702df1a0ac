"""What README and docs/ tell people to type works, on a demo that is made once.

Blocks of bash below `<!-- test -->` run whole; blocks of sql run as queries, and must find something; blocks of toml
make one configuration.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from overrun.cli import main
from overrun.config import load_config
from overrun.exits import Exit
from tests.conftest import ROOT
from tests.fakes.demo import demo_folder

pytestmark = pytest.mark.e2e

README = (ROOT / "README.md").read_text(encoding="utf-8")
_MARKED = re.compile(r"^<!-- test -->\n```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BASH = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def fenced(page: str, language: str) -> list[str]:
    """Return the blocks of a page of docs/ in one language."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def desk(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a folder with a demo of its own and the program on the PATH, as after the first block of README."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(demo / "demo", folder / "demo")
    program = folder / "bin" / "overrun"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m overrun "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    yield folder


@pytest.mark.parametrize("block", _MARKED.findall(README), ids=lambda block: block.splitlines()[0][:40])
def test_a_block_of_readme_runs(block: str, desk: Path) -> None:
    environ = {**os.environ, "PATH": f"{desk / 'bin'}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block], cwd=desk, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "error:" not in done.stderr
    assert done.stdout


def test_every_block_of_readme_runs_or_makes_a_target() -> None:
    untested = [block for block in _BASH.findall(README) if block not in _MARKED.findall(README)]
    lines = [line for block in untested for line in block.splitlines()]
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert lines
    assert [line for line in lines if not line.startswith("make ") or line.removeprefix("make ") not in targets] == []


def test_the_message_in_readme_is_that_of_the_demo(demo: Path) -> None:
    picture = re.search(r"<!-- demo message -->\n```text\n(.*?)```", README, re.DOTALL)
    assert picture is not None
    assert textwrap.indent(picture[1], "  ") in (demo / "shown.txt").read_text(encoding="utf-8")


def test_readme_tells_every_exit_code() -> None:
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)] == sorted(Exit)


@pytest.mark.parametrize("query", fenced("tables.md", "sql"), ids=lambda query: " ".join(query.split())[:40])
def test_an_example_query_finds_something(query: str, demo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", query, "--config", str(demo / "demo/overrun.toml"), "--format", "csv"]) == Exit.DONE
    assert len(capsys.readouterr().out.splitlines()) > 1


def test_the_examples_of_the_configuration_make_one(tmp_path: Path) -> None:
    examples = fenced("configuration.md", "toml")
    assert len(examples) > 5
    file = tmp_path / "overrun.toml"
    file.write_text("\n".join(examples), encoding="utf-8")
    config = load_config(file, {})
    assert (len(config.sources), len(config.budgets), len(config.publications)) == (6, 2, 1)
    assert config.warnings == ()
