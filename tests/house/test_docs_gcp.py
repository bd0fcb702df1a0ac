"""docs/gcp.md says what is so: commands, roles, configuration, services and messages are those of the code."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from ingest.gcp.policy import EXAMPLE, reader_commands
from ingest.source import DEFAULT_SETTLE_DAYS, SourceKind
from overrun.config import load_config
from tests.house.test_docs_aws import sources
from tests.house.tree import ROOT, package_files

PAGE = (ROOT / "docs/gcp.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def test_the_commands_are_those_that_are_printed() -> None:
    found = re.search(r"<!-- commands -->\n```bash\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert found[1] == reader_commands(EXAMPLE)


def test_every_role_is_explained_and_no_other() -> None:
    rows = re.findall(r"^\| `(roles/[\w.]+)` \| ", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(granted())


def granted() -> set[str]:
    """Return the roles of the printed commands."""
    text = "\n".join(line for line in reader_commands(EXAMPLE).splitlines() if not line.startswith("#"))
    return set(re.findall(r"roles/[\w.]+\w", text))


@pytest.mark.parametrize("example", blocks("toml"))
def test_the_examples_are_configurations_without_a_warning(example: str, tmp_path: Path) -> None:
    if tomllib.loads(example)["source"][0]["kind"] not in get_args(SourceKind):
        pytest.skip("this version has no such kind")
    (tmp_path / "overrun.toml").write_text(example, encoding="utf-8")
    config = load_config(tmp_path / "overrun.toml", {})
    assert config.warnings == ()
    assert all(source.projects for source in config.sources)


def test_days_and_services_are_those_of_the_code() -> None:
    assert f"`settle_days`, {DEFAULT_SETTLE_DAYS['gcp-export']} for" in PAGE
    assert "6F81-5844-456A" in PAGE


EXPLAINED = re.findall(r"^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$", PAGE.partition("## When something")[2], re.M)
REFUSALS = {"NoIdentity", "SourceChanged", "SourceDamaged", "SourceDenied", "SourceUnreadable"}


def told() -> list[str]:
    """Return the messages of what Google Cloud refuses, with … for each value in them."""
    trees = [ast.parse((ROOT / name).read_text(encoding="utf-8")) for name in package_files(".py") if is_of_gcp(name)]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call) and node.args]
    raised = [call.args[0] for call in calls if isinstance(call.func, ast.Name) and call.func.id in REFUSALS]
    return [text for text in map(template, raised) if text]


def is_of_gcp(name: Path) -> bool:
    return name.parts[:2] == ("ingest", "gcp")


def template(node: ast.expr) -> str:
    """Return a text as it stands in the code, with … for each value in it; empty for another expression."""
    pieces = node.values if isinstance(node, ast.JoinedStr) else [node]
    texts = [piece.value if isinstance(piece, ast.Constant) else "…" for piece in pieces]
    return "" if texts == ["…"] else "".join(map(str, texts))


@pytest.mark.parametrize("message", told())
def test_every_refusal_is_explained(message: str) -> None:
    assert [row for row in EXPLAINED if re.search(".*".join(map(re.escape, row.split("…"))), message)] != []


@pytest.mark.parametrize("message", EXPLAINED)
def test_every_message_is_one_that_is_told(message: str) -> None:
    said = sources()
    assert [piece for piece in re.split("…", message) if piece.strip() not in said] == []


def test_there_are_messages() -> None:
    assert len(EXPLAINED) > 10
    assert len(told()) > 30
