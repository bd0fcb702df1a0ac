"""docs/finance.md is what the demo answers; benchmarks say how fast."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from overrun.cli import main
from overrun.exits import Exit
from overrun.published import open_copy
from sql.warehouse import Warehouse
from tests.conftest import ROOT
from tests.e2e.finance_page import Question, answer, page, questions, source
from tests.fakes.demo import demo_folder

pytestmark = pytest.mark.e2e

PAGE = ROOT / "docs/finance.md"
ACTUAL = ROOT / "tests/actual/finance.md"


@pytest.fixture
def finance(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Warehouse]:
    with open_copy(demo_folder(tmp_path_factory) / "demo/finance.duckdb") as opened:
        yield opened


def test_the_page_is_up_to_date(finance: Warehouse) -> None:
    wanted = page(finance)
    if PAGE.read_text(encoding="utf-8") != wanted:
        ACTUAL.parent.mkdir(exist_ok=True)
        ACTUAL.write_text(wanted, encoding="utf-8")
        pytest.fail("docs/finance.md differs: look at tests/actual/finance.md, and copy it over where it is right")


def test_there_are_twelve_questions_and_more() -> None:
    assert len(questions()) >= 12
    assert len({question.title for question in questions()}) == len(questions())


@pytest.mark.parametrize("question", questions(), ids=lambda question: question.title[:40])
def test_a_question_is_answered_from_marts(question: Question, finance: Warehouse) -> None:
    assert f"```text\n{answer(finance, question)}\n```" in PAGE.read_text(encoding="utf-8")
    assert len(answer(finance, question).splitlines()) > 1
    assert set(re.findall(r"\b(?:from|join) (\w+)\.", question.sql)) == {"marts"}


def test_the_lines_of_python_run(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    monkeypatch.chdir(demo_folder(tmp_path_factory) / "demo")
    found: dict[str, object] = {}
    exec(block, found)  # noqa: S102 - the page's own lines
    assert "by_team" in found


@pytest.mark.parametrize("line", re.findall(r"^overrun (query .*)$", source()["head"], re.MULTILINE))
def test_a_line_for_the_shell_runs(
    line: str, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = demo_folder(tmp_path_factory) / "demo/overrun.toml"
    monkeypatch.chdir(tmp_path)
    assert main([*shlex.split(line), "--config", str(config)]) == Exit.DONE
    assert [path.name for path in tmp_path.iterdir()] == (["costs.xlsx"] if "costs.xlsx" in line else [])
