"""docs/gcp.md says what is so: commands, roles, configuration, services and messages are those of the code."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest

from ingest.gcp.policy import EXAMPLE, reader_commands
from ingest.source import DEFAULT_SETTLE_DAYS, SourceKind
from overrun.config import load_config
from tests.house.test_docs_aws import sources
from tests.house.tree import ROOT

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


@pytest.mark.parametrize(
    "message", re.findall(r"^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$", PAGE.partition("## When something")[2], re.M)
)
def test_every_message_is_one_that_is_told(message: str) -> None:
    said = sources()
    assert [piece for piece in re.split("…", message) if piece.strip() not in said] == []


def test_there_are_messages() -> None:
    assert len(re.findall(r"^\| `", PAGE.partition("## When something")[2], re.M)) > 10
