"""Nights with `projects = true` and `[prices]`: silent projects in status, names in marts; a refusal is a note."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.exits import Exit
from sql.warehouse import Warehouse
from tests.fakes.exports import gcp_row, write_gcp
from tests.fakes.google_billing import COMPUTE, SECRET, GoogleBilling, google_billing, sku
from tests.fakes.nights import OLD

Captured = pytest.CaptureFixture[str]
ACCOUNT = "0A1B2C-3D4E5F-678901"
CONFIGURATION = """\
[[source]]
name = "gcp-main"
kind = "gcp-export"
location = "exports/gcp"
projects = true
billing_endpoint = "{endpoint}"

[prices]
gcp = {prices}
gcp_services = ["6F81-5844-456A"]
gcp_endpoint = "{endpoint}"
"""


@dataclass(frozen=True, slots=True)
class House:
    """A folder with an export of one billing account, and the Google that is asked."""

    folder: Path
    google: GoogleBilling

    def configure(self, *, prices: bool = False) -> None:
        text = CONFIGURATION.format(endpoint=self.google.endpoint, prices=str(prices).lower())
        (self.folder / "overrun.toml").write_text(text, encoding="utf-8")

    def run(self, command: str = "nightly", *arguments: str) -> int:
        config = str(self.folder / "overrun.toml")
        return main([command, "--config", config, "--as-of", "2026-11-20", *arguments])

    def rows(self, query: str) -> list[tuple[object, ...]]:
        with Warehouse.open_published(self.folder / "finance.duckdb") as copy:
            return copy.rows(query)

    def status(self, capsys: Captured) -> Any:  # noqa: ANN401 - JSON
        capsys.readouterr()
        assert self.run("status", "--json") == Exit.DONE
        return json.loads(capsys.readouterr().out)

    def text(self, capsys: Captured) -> str:
        capsys.readouterr()
        assert self.run("status") == Exit.DONE
        return capsys.readouterr().out


def charge(project: str | None, month: str, name: str | None = None) -> dict[str, Any]:
    row = gcp_row(cost="2", month=month, project=project)
    row["billing_account_id"] = ACCOUNT
    if project is not None:
        row["project"] = {**row["project"], "name": name}
    return row


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    rows = [charge("vision-prod", "202610"), charge("nlp", "202609", "NLP"), charge(None, "202610")]
    write_gcp(tmp_path / "exports" / "gcp" / "rows.ndjson", rows)
    for path in (tmp_path / "exports").rglob("*"):
        os.utime(path, (OLD, OLD))
    with google_billing() as google:
        google.projects = {ACCOUNT: [("vision-prod", True), ("nlp", True), ("quiet", True), ("closed", False)]}
        google.skus = {COMPUTE: [sku("T4", "Nvidia Tesla T4 GPU running in EMEA", (0, 350_000_000))]}
        house = House(tmp_path, google)
        house.configure()
        yield house


def test_status_says_which_enabled_projects_have_no_charges(house: House, capsys: Captured) -> None:
    assert house.run() == Exit.DONE
    assert house.status(capsys)["sources"][0]["projects_without_charges"] == ["nlp", "quiet"]
    text = house.text(capsys)
    assert "  2 projects with billing enabled have no charges in 2026-10: nlp, quiet" in text
    assert "closed" not in text


def test_a_charge_without_a_name_is_shown_under_the_listed_one(house: House) -> None:
    assert house.run() == Exit.DONE
    names = "select distinct sub_account_id, sub_account_name from marts.resource_daily_cost order by all"
    assert house.rows(names) == [("nlp", "NLP"), ("vision-prod", "vision-prod"), (None, None)]


def test_a_project_that_two_billing_accounts_list_repeats_no_charge(house: House) -> None:
    house.google.projects["FFFFFF-000000-111111"] = [("vision-prod", True)]
    extra = charge("vision-prod", "202610") | {"billing_account_id": "FFFFFF-000000-111111"}
    write_gcp(house.folder / "exports" / "gcp" / "more.ndjson", [extra])
    assert house.run() == Exit.DONE
    assert house.rows("select count(*) from ops.project where sub_account_id = 'vision-prod'") == [(2,)]
    assert house.rows("select sum(billed_cost) from marts.resource_daily_cost") == house.rows(
        "select sum(BilledCost) from focus.cost_and_usage"
    )


def test_a_refusal_is_a_note_and_the_last_projects_stay(house: House, capsys: Captured) -> None:
    assert house.run() == Exit.DONE
    house.google.always_refuse("list_projects", "PERMISSION_DENIED")
    assert house.run() == Exit.DONE
    assert "projects_not_listed" in capsys.readouterr().err
    assert house.run("ingest") == Exit.DONE
    assert house.rows("select count(*) from ops.project") == [(4,)]
    status = house.status(capsys)
    (note,) = status["unlisted_projects"]
    assert (note["source"], note["runs"]) == ("gcp-main", 2)
    assert f"roles/billing.viewer on billing account {ACCOUNT}" in note["message"]
    assert (status["failed"], status["unlisted_accounts"]) == ([], [])
    text = house.text(capsys)
    assert "Projects of gcp-main not listed in 2 runs: names are those that were listed last" in text
    assert SECRET not in text
    house.google.refusals.clear()
    assert house.run() == Exit.DONE
    assert house.status(capsys)["unlisted_projects"] == []


def test_what_was_listed_outlives_a_rebuild(house: House, capsys: Captured) -> None:
    house.configure(prices=True)
    assert house.run() == Exit.DONE
    house.google.always_refuse("list_projects", "PERMISSION_DENIED")
    house.google.always_refuse("list_skus", "PERMISSION_DENIED", "SERVICE_DISABLED")
    assert house.run("rebuild") == Exit.DONE
    assert house.run() == Exit.DONE
    assert house.rows("select count(*) from ops.project") == [(4,)]
    assert house.rows("select count(*) from settings.price") == [(1,)]
    capsys.readouterr()


def test_prices_are_asked_for_where_the_file_says_so(house: House, capsys: Captured) -> None:
    assert house.run() == Exit.DONE
    assert house.google.requests("list_skus") == []
    house.configure(prices=True)
    house.google.always_refuse("list_skus", "PERMISSION_DENIED", "SERVICE_DISABLED")
    assert house.run() == Exit.DONE
    (note,) = house.status(capsys)["unlisted_prices"]
    assert (note["source"], note["runs"]) == (None, 1)
    assert "Prices not listed in 1 run: prices are those that were listed last" in house.text(capsys)
    house.google.refusals.clear()
    assert house.run() == Exit.DONE
    today = datetime.now(UTC).date()
    assert house.rows("select sku_id, price::varchar, fetched_on from settings.price") == [
        ("T4", "0.350000000000", today)
    ]
    asked = len(house.google.requests("list_skus"))
    assert house.run() == Exit.DONE
    assert len(house.google.requests("list_skus")) == asked


def test_projects_follow_a_source_to_its_new_name(house: House) -> None:
    assert house.run() == Exit.DONE
    house.google.always_refuse("list_projects", "PERMISSION_DENIED")
    file = house.folder / "overrun.toml"
    renamed = file.read_text(encoding="utf-8").replace('name = "gcp-main"', 'name = "gcp-new"\nwas = "gcp-main"')
    file.write_text(renamed, encoding="utf-8")
    assert house.run() == Exit.DONE
    assert house.rows("select distinct source, count(*) from ops.project group by all") == [("gcp-new", 4)]


def test_the_first_night_fills_costs_at_list_from_the_prices_that_it_asks_for(house: House) -> None:
    row = charge("vision-prod", "202610") | {"sku": {"id": "T4", "description": "Nvidia Tesla T4 GPU running in EMEA"}}
    row["usage"] = {"amount_in_pricing_units": 10, "pricing_unit": "hour"}
    write_gcp(house.folder / "exports" / "gcp" / "gpus.ndjson", [row])
    os.utime(house.folder / "exports" / "gcp" / "gpus.ndjson", (OLD, OLD))
    house.configure(prices=True)
    assert house.run() == Exit.DONE
    query = 'select cast("ListCost" as varchar) from focus.cost_and_usage where "SkuId" = \'T4\''
    assert house.rows(query) == [("3.500000000000",)]
