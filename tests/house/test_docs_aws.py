"""docs/aws.md says what is so: columns, policies, configuration and messages are those of the code."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ingest.aws.cur import FIELDS, derive, recognise
from ingest.aws.policy import reader_policy
from ingest.fields import folded
from ingest.formats import DeliveredColumn
from overrun.config import load_config
from tests.house.tree import ROOT, package_files
from tests.ingest.night import source

PAGE = (ROOT / "docs/aws.md").read_text(encoding="utf-8")
MAPS = {"resource_tags", "tags", "cost_category", "discount", "product"}


def blocks(language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


def export() -> dict[str, Any]:
    """Return the input of CreateExport."""
    (found,) = [block for block in map(json.loads, blocks("json")) if "Export" in block]
    return dict(found)


def listed_columns() -> list[str]:
    """Return the columns that the export is made with."""
    query = export()["Export"]["DataQuery"]["QueryStatement"]
    found = re.fullmatch(r"SELECT ([a-z_, ]+) FROM COST_AND_USAGE_REPORT", query)
    assert found is not None
    return found[1].split(", ")


def test_the_export_has_the_columns_that_are_read_and_no_other() -> None:
    listed = listed_columns()
    columns = [DeliveredColumn(name=name, reference=f'"{name}"', type="VARCHAR") for name in listed]
    derived = set(derive(columns)) - {"product_region_code"}
    read = {field.name for field in FIELDS} - derived
    assert len(set(listed)) == len(listed)
    assert sorted(listed) == sorted(read | MAPS)
    assert recognise(frozenset(map(folded, listed))) == "cur-2"


def test_the_columns_are_listed_in_one_place() -> None:
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    assert sum(page.count("FROM COST_AND_USAGE_REPORT") for page in pages) == 1


def test_the_columns_that_are_needed_are_those_without_which_nothing_is_read() -> None:
    row = next(line for line in PAGE.splitlines() if line.endswith("| the export is not recognised |"))
    assert set(re.findall(r"`(\w+)`", row)) == {field.name for field in FIELDS if field.is_required}


def test_the_export_is_one_that_the_api_takes() -> None:
    from botocore.session import get_session
    from botocore.validate import validate_parameters

    shape: Any = get_session().get_service_model("bcm-data-exports").operation_model("CreateExport").input_shape
    validate_parameters(export(), shape)
    output = shape.members["Export"].members["DestinationConfigurations"].members["S3Destination"].members
    for name, value in export()["Export"]["DestinationConfigurations"]["S3Destination"][
        "S3OutputConfigurations"
    ].items():
        assert value in output["S3OutputConfigurations"].members[name].enum


def test_the_policy_is_the_one_that_is_printed_for_the_source(tmp_path: Path) -> None:
    (example,) = blocks("toml")
    (tmp_path / "overrun.toml").write_text(example, encoding="utf-8")
    config = load_config(tmp_path / "overrun.toml", {})
    found = re.search(r"<!-- policy -->\n```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    assert json.loads(found[1]) == reader_policy(config.sources)
    assert config.warnings == ()
    for value in (config.sources[0].access.role_arn, config.sources[0].access.external_id):
        assert f'"{value}"' in "".join(blocks("json"))


def test_every_statement_is_explained() -> None:
    key = "arn:aws:kms:eu-west-1:123456789012:key/0aa1"
    statements = reader_policy([replace(source(ROOT), organizations=True)], [key])["Statement"]
    assert isinstance(statements, list)
    rows = re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)
    assert sorted(rows) == sorted(statement["Sid"] for statement in statements)


def sources() -> str:
    """Return the Python text in which messages stand, without the breaks inside them."""
    names = [name for name in package_files(".py") if name.parts[0] in {"ingest", "overrun", "sql"}]
    text = "\n".join((ROOT / name).read_text(encoding="utf-8") for name in names)
    return re.sub(r"\"\s*\n\s*f?\"", "", text)


@pytest.mark.parametrize(
    "message", re.findall(r"^\| `([^`]+)` \| [^|]+ \| [^|]+ \|$", PAGE.partition("## When something")[2], re.M)
)
def test_every_message_is_one_that_is_told(message: str) -> None:
    said = sources()
    assert [piece for piece in re.split("…", message) if piece.strip() not in said] == []
