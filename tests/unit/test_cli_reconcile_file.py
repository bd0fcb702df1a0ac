"""`overrun reconcile --invoice FILE`: invoices of any provider against what is loaded, and what is kept of it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.exits import Exit
from sql.state import StateStore
from sql.warehouse import Warehouse
from tests.fakes.exports import PAYER, cur_line, deliver_export, gcp_row, write_gcp

Captured = pytest.CaptureFixture[str]
HEADER = "billing_month,billing_account_id,issuer,invoice_id,currency,total,tax"
GCP_ACCOUNT = str(gcp_row()["billing_account_id"])
CONFIGURATION = """\
[[source]]
name = "aws"
kind = "aws-export"
location = "aws"

[[source]]
name = "gcp"
kind = "gcp-export"
location = "gcp"
"""
INC, SARL = "Amazon Web Services, Inc.", "AWS EMEA SARL"


@dataclass(frozen=True, slots=True)
class House:
    """A configuration, a night on a month of two clouds, and files of invoices."""

    folder: Path

    def night(self) -> None:
        """Run a night."""
        assert main(["nightly", "--config", str(self.folder / "overrun.toml"), "--as-of", "2026-11-08", "-q"]) in {0, 6}

    def run(self, *lines: str, more: tuple[str, ...] = (), header: str = HEADER) -> int:
        """Write a file of invoices and compare it."""
        file = self.folder / "invoices.csv"
        file.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
        return main(["reconcile", *more, "--config", str(self.folder / "overrun.toml"), "--invoice", str(file)])

    def answer(self, capsys: Captured, *lines: str, code: Exit = Exit.DONE) -> list[dict[str, Any]]:
        """Compare a file and return the invoices of the JSON."""
        capsys.readouterr()
        assert self.run(*lines, more=("--json",)) == code
        found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["invoices"]
        return found

    def history(self) -> list[tuple[object, ...]]:
        """Return what the published copy keeps."""
        with Warehouse.open_published(self.folder / "finance.duckdb") as copy:
            return copy.rows(
                "select outcome, difference_cost, is_latest from marts.invoice_reconciliation order by all"
            )


@pytest.fixture(scope="module")
def company(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder after its night; not to be changed by a test."""
    tmp_path = tmp_path_factory.mktemp("company")
    (tmp_path / "overrun.toml").write_text(CONFIGURATION, encoding="utf-8")
    first, other = {"bill_invoicing_entity": INC}, {"bill_invoicing_entity": SARL}
    lines = [
        cur_line(cost="100.004", bill_invoice_id="I1", **first),
        cur_line(cost="20", item="Tax", bill_invoice_id="I1", resource="", **first),
        cur_line(cost="5", bill_invoice_id="I2", **first),
        cur_line(cost="7", bill_invoice_id="I3", **other),
    ]
    deliver_export(tmp_path / "aws", "2026-10", [lines])
    write_gcp(tmp_path / "gcp" / "r.ndjson", [gcp_row(cost="30"), gcp_row(cost="3", cost_type="tax", project=None)])
    House(tmp_path).night()
    return tmp_path


@pytest.fixture
def house(company: Path, tmp_path: Path) -> House:
    return House(Path(shutil.copytree(company, tmp_path / "house")))


def aws(invoice: str = "I1", total: str = "120.00", tax: str = "20", issuer: str = INC, currency: str = "USD") -> str:
    return f'2026-10,{PAYER},"{issuer}",{invoice},{currency},{total},{tax}'


ALL = (aws(), aws("I2", "5", ""), aws("I3", "7", "0", SARL), f"202610,{GCP_ACCOUNT.lower()},Google Cloud,9,USD,33,3")


def test_invoices_that_tie_by_id_or_by_issuer_and_show_their_rounding(house: House, capsys: Captured) -> None:
    found = house.answer(capsys, *ALL)
    assert [(row["invoice_id"], row["state"], row["difference"]) for row in found] == [
        ("9", "ties", "0.000000000000"),
        ("I3", "ties", "0.000000000000"),
        ("I1", "rounding", "0.004000000000"),
        ("I2", "ties", "0.000000000000"),
    ]
    assert {row["tolerance"] for row in found} == {"0.015"}
    assert house.run(*ALL) == Exit.DONE
    text = capsys.readouterr().out
    assert "Ties: no invoice differs from its charges by more than rounding." in text
    assert "rounding" in text.split("Ties")[0]


def test_what_differs_ends_with_1_and_is_named_by_its_line(house: House, capsys: Captured) -> None:
    assert house.run(aws(total="121"), *ALL[1:]) == Exit.FINDINGS
    assert f"line 2, {PAYER} in 2026-10, differs by -0.996 USD, and 0.015 is allowed." in capsys.readouterr().out
    assert house.run(aws(total="119.989"), *ALL[1:]) == Exit.DONE
    assert house.run(aws(total="119.988"), *ALL[1:]) == Exit.FINDINGS
    assert house.run(aws(tax="19"), *ALL[1:]) == Exit.FINDINGS


def test_charges_without_an_invoice_are_a_finding(house: House, capsys: Captured) -> None:
    found = house.answer(capsys, ALL[0], ALL[1], code=Exit.FINDINGS)
    missing = [(row["invoice_id"], row["billed"]) for row in found if row["state"] == "no invoice"]
    assert missing == [("I3", "7.000000000000")]


def test_an_invoice_whose_id_no_charge_has_takes_what_is_left_of_its_issuer(house: House, capsys: Captured) -> None:
    found = house.answer(capsys, ALL[0], aws("NEW-1", "3.5", ""), aws("NEW-2", "1.5", ""), ALL[2])
    assert [(row["invoice_id"], row["tolerance"]) for row in found] == [
        ("I3", "0.015"),
        ("I1", "0.015"),
        ("NEW-1, NEW-2", "0.020"),
    ]


def test_history_is_kept_and_survives_a_rebuild(house: House) -> None:
    assert house.run(aws(total="121"), *ALL[1:3]) == Exit.FINDINGS
    assert house.history() == []
    house.night()
    assert sorted({str(row[0]) for row in house.history()}) == ["differs", "ties"]
    config = str(house.folder / "overrun.toml")
    before = house.history()
    assert main(["rebuild", "--config", config, "--as-of", "2026-11-08", "-q"]) == Exit.DONE
    assert house.history() == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (aws(currency="EUR"), "invoices.csv:2: the invoice is in EUR, its charges are in USD"),
        ("2026-10,999,AWS,,USD,1,", "invoices.csv:2: billing account 999 is in nothing that is loaded; known are"),
        (aws().replace("2026-10", "2026-09"), "invoices.csv:2: 2026-09 of billing account"),
        (
            aws("", issuer="Nobody"),
            "invoices.csv:2: 2026-10 has no charges of issuer 'Nobody'; it has those of AWS EMEA",
        ),
        (aws("", issuer=""), "invoices.csv:2: no issuer, and 2026-10 has charges of AWS EMEA SARL, Amazon"),
        (f"{aws()}\n{aws()}", "invoices.csv:3: invoice I1 stands on line 2 already"),
        (f"{aws('')}\n{aws('')}", "invoices.csv:3: the same account, issuer and month stands on line 2 already; give"),
        (f"{aws()}\n\n{aws(total='1,2')}", "invoices.csv:4: 8 values under 7 columns"),
        (aws(total="ten"), "invoices.csv:2: the total 'ten' must be a plain decimal number"),
        (aws(tax="NaN"), "invoices.csv:2: the tax 'NaN' must be a plain decimal number"),
        (aws().replace("2026-10", "10/2026"), "invoices.csv:2: the month '10/2026' must be YYYYMM or YYYY-MM"),
        (aws(currency="usd"), "invoices.csv:2: the currency"),
        (f"{aws(total='x')}\n{aws('I2', 'y')}", "invoices.csv:3: the total 'y'"),
        (aws("", issuer="AWS") + "\n" + aws("", "5", issuer=INC), "invoices.csv:3: its charges are in part those of"),
        ('2026-10,"x', "cannot be read"),
    ],
)
def test_what_cannot_be_compared_names_file_and_line(house: House, capsys: Captured, line: str, message: str) -> None:
    capsys.readouterr()
    assert house.run(*line.split("\n")) == Exit.USAGE
    assert message in capsys.readouterr().err
    with StateStore.open_read_only(house.folder / "state.sqlite") as state:
        assert state.rows("select * from invoice_check") == []


def test_a_header_without_a_column_and_an_empty_file_are_refused(house: House, capsys: Captured) -> None:
    assert house.run(header="billing_month,issuer") == Exit.USAGE
    assert "has no invoices" in capsys.readouterr().err
    assert house.run("a,b", header="billing_month,issuer") == Exit.USAGE
    assert "invoices.csv:1: no column billing_account_id" in capsys.readouterr().err
    assert main(["reconcile", "--config", str(house.folder / "overrun.toml"), "--invoice", "no.csv"]) == Exit.USAGE
    assert "no.csv cannot be read" in capsys.readouterr().err


def test_a_source_and_a_month_narrow_it(house: House, capsys: Captured) -> None:
    assert house.run(ALL[3], more=("gcp",)) == Exit.DONE
    assert house.run(*ALL, more=("gcp",)) == Exit.USAGE
    assert house.run(*ALL, more=("--month", "2026-09")) == Exit.USAGE
    assert "has no invoices of 2026-09" in capsys.readouterr().err
    assert house.run(ALL[3], more=("nobody",)) == Exit.USAGE
    assert house.run(ALL[3], more=("--list",)) == Exit.USAGE


def test_every_source_is_compared_where_none_is_named(
    house: House, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(house.folder / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    config = str(house.folder / "overrun.toml")
    capsys.readouterr()
    code = main(["reconcile", "--config", config, "--as-of", "2026-11-08", "--json"])
    aws_answer, gcp_answer = json.loads(capsys.readouterr().out)["sources"]
    assert code == Exit.SOURCE
    assert aws_answer["source"] == "aws"
    assert aws_answer["error"]
    assert gcp_answer["accounts"][0]["state"] == "no invoice"
    main(["reconcile", "--config", config, "--as-of", "2026-11-08"])
    assert "aws: not compared: " in capsys.readouterr().out
    assert main(["reconcile", "--config", config, "--list"]) == Exit.USAGE
