"""`overrun reconcile` of a source of GCP: totals per cost type beside entered invoices, which the state store keeps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.exits import Exit
from overrun.invoices import Invoice, enter_invoices, entered_invoices, invoice_rows
from sql.state import StateStore
from tests.fakes.exports import gcp_row, write_gcp

Captured = pytest.CaptureFixture[str]
DAY = "2026-11-08"
ACCOUNT = str(gcp_row()["billing_account_id"])
OTHER = "0A0A0A-0B0B0B-0C0C0C"
CONFIGURATION = """\
[[source]]
name = "gcp-main"
kind = "gcp-export"
location = "exports"

[[source]]
name = "aws-main"
kind = "aws-export"
location = "aws"
"""


@dataclass(frozen=True, slots=True)
class House:
    """A configuration with a source of GCP, and the exports that it reads."""

    folder: Path

    def deliver(self, *rows: dict[str, object], file: str = "r.ndjson") -> None:
        """Write an export."""
        write_gcp(self.folder / "exports" / file, rows)

    def night(self, as_of: str = DAY) -> None:
        """Run a night."""
        assert main(["nightly", "--config", str(self.folder / "overrun.toml"), "--as-of", as_of, "-q"]) in {0, 6}

    def run(self, *arguments: str, source: str = "gcp-main", as_of: str = DAY) -> int:
        """Run the command."""
        return main(["reconcile", source, "--config", str(self.folder / "overrun.toml"), "--as-of", as_of, *arguments])

    def answer(self, capsys: Captured, *arguments: str, code: Exit = Exit.DONE, as_of: str = DAY) -> dict[str, Any]:
        """Run the command and return its JSON."""
        capsys.readouterr()
        assert self.run("--json", *arguments, as_of=as_of) == code
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    def month_status(self, capsys: Captured, month: str = "2026-10") -> tuple[str, str | None]:
        """Return status and final_by of a month, as `overrun status` says them."""
        capsys.readouterr()
        assert main(["status", "--config", str(self.folder / "overrun.toml"), "--as-of", DAY, "--json"]) == Exit.DONE
        sources = json.loads(capsys.readouterr().out)["sources"]
        (source,) = (source for source in sources if source["source"] == "gcp-main")
        (found,) = (row for row in source["month_status"] if row["billing_month"] == month)
        return found["status"], found["final_by"]


@pytest.fixture
def house(tmp_path: Path) -> House:
    (tmp_path / "overrun.toml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "exports").mkdir()
    (tmp_path / "aws").mkdir()
    return House(tmp_path)


def deliver_october(house: House) -> None:
    """Deliver a month with every cost type: 20.1049 before credits, 17.9999 billed."""
    house.deliver(
        gcp_row(cost="10.10", credits=[("-1.1", "PROMOTION"), ("-1.005", "DISCOUNT")]),
        gcp_row(cost="7.00", project="other"),
        gcp_row(cost="3.01", cost_type="tax", project=None),
        gcp_row(cost="-0.0001", cost_type="rounding_error", project=None),
        gcp_row(cost="-0.005", cost_type="adjustment", project=None),
    )


def test_raw_totals_are_kept_by_project_and_cost_type(house: House, capsys: Captured) -> None:
    deliver_october(house)
    house.night()
    (account,) = house.answer(capsys, code=Exit.FINDINGS)["accounts"]
    assert account["state"] == "no invoice"
    assert [
        (kind["cost_type"], Decimal(kind["cost"]), Decimal(kind["credits"]), Decimal(kind["billed"]))
        for kind in account["cost_types"]
    ] == [
        ("regular", Decimal("17.1"), Decimal("-2.105"), Decimal("14.995")),
        ("tax", Decimal("3.01"), 0, Decimal("3.01")),
        ("adjustment", Decimal("-0.005"), 0, Decimal("-0.005")),
        ("rounding_error", Decimal("-0.0001"), 0, Decimal("-0.0001")),
    ]
    assert Decimal(account["billed"]) == Decimal("17.9999")


def test_a_month_that_ties_is_final_after_the_next_night(house: House, capsys: Captured) -> None:
    deliver_october(house)
    house.night()
    assert house.month_status(capsys) == ("estimated", None)
    typed = (f"202610 {ACCOUNT.lower()} 12.00 USD INV-1", f"2026-10 {ACCOUNT} 6.00 USD INV-2")
    assert house.run("--invoice", typed[0], "--invoice", typed[1]) == Exit.DONE
    text = capsys.readouterr().out
    assert [line.split()[1:-1] for line in text.splitlines() if line.startswith(ACCOUNT)] == [
        ["regular", "17.10", "-2.105", "14.995"],
        ["tax", "3.01", "0.00", "3.01"],
        ["adjustment", "-0.005", "0.00", "-0.005"],
        ["rounding_error", "-0.0001", "0.00", "-0.0001"],
        ["total", "-", "-", "17.9999"],
        ["invoice", "INV-1", "-", "-", "12.00"],
        ["invoice", "INV-2", "-", "-", "6.00"],
        ["rounding", "-", "-", "-0.0001"],
    ]
    assert "Ties: no billing account differs" in text
    house.night()
    assert house.month_status(capsys) == ("final", "entered invoice")
    house.night()
    assert house.month_status(capsys) == ("final", "entered invoice")
    assert house.run("--remove", "INV-2") == Exit.DONE
    house.night()
    assert house.month_status(capsys) == ("estimated", None)


def test_a_month_is_asked_for_in_either_form(house: House, capsys: Captured) -> None:
    deliver_october(house)
    house.night()

    answers = [house.answer(capsys, "--month", text, code=Exit.FINDINGS) for text in ("2026-10", "202610")]

    assert answers[0] == answers[1]
    assert house.run("--month", "October") == Exit.USAGE


def test_a_rebuild_keeps_what_people_entered(house: House, capsys: Captured) -> None:
    deliver_october(house)
    house.night()
    house.run("--invoice", f"202610 {ACCOUNT} 18 USD")
    house.night()
    for name in ("warehouse.duckdb", "finance.duckdb"):
        (house.folder / name).unlink()
    house.night()
    assert house.month_status(capsys) == ("final", "entered invoice")
    assert house.answer(capsys, "--list")["invoices"] == [
        {
            "month": "2026-10",
            "billing_account": ACCOUNT,
            "invoice_id": f"202610-{ACCOUNT}-USD",
            "currency": "USD",
            "amount": "18",
        }
    ]


@pytest.mark.parametrize(
    ("amount", "code"),
    [("18.0098", Exit.DONE), ("18.0099", Exit.FINDINGS), ("17.99", Exit.DONE), ("17", Exit.FINDINGS)],
)
def test_a_cent_is_a_difference(house: House, capsys: Captured, amount: str, code: Exit) -> None:
    deliver_october(house)
    house.night()
    (account,) = house.answer(capsys, "--invoice", f"202610 {ACCOUNT} {amount} USD", code=code)["accounts"]
    assert Decimal(account["difference"]) == Decimal("17.9999") - Decimal(amount)
    assert account["state"] == ("ties" if code == Exit.DONE else "differs")


def test_each_account_and_currency_is_compared_apart(house: House, capsys: Captured) -> None:
    house.deliver(
        gcp_row(cost="5"),
        gcp_row(cost="7", currency="EUR"),
        gcp_row(cost="0.004", billing_account_id=OTHER),
    )
    house.night()
    answer = house.answer(capsys, "--invoice", f"202610 {ACCOUNT} 5 USD", code=Exit.FINDINGS)
    assert [(row["billing_account"], row["currency"], row["state"]) for row in answer["accounts"]] == sorted(
        [(OTHER, "USD", "ties"), (ACCOUNT, "EUR", "no invoice"), (ACCOUNT, "USD", "ties")]
    )
    house.run()
    assert f'--invoice "202610 {ACCOUNT} AMOUNT EUR ID"' in capsys.readouterr().out
    assert house.answer(capsys, "--invoice", f"202610 {ACCOUNT} 7 EUR")["ties"]


def test_invoices_of_a_file_are_kept_once(house: House, capsys: Captured) -> None:
    deliver_october(house)
    house.night()
    file = house.folder / "invoices.csv"
    file.write_text(
        "\ufeffMonth,Billing_Account,Invoice ID,Currency,Amount,Note\n"
        f"202609,{ACCOUNT},I-1,USD,4.20,not loaded\n\n"
        f"202610,{ACCOUNT},I-2,USD,20,\n"
        f'2026-10,{ACCOUNT},I-3,USD,-2.00,"credit note, corrected"\n',
        encoding="utf-8",
    )
    for _ in range(2):
        answer = house.answer(capsys, "--invoices", str(file))
        assert (answer["month"], answer["ties"]) == ("2026-10", True)
        assert [row["invoice_id"] for row in house.answer(capsys, "--list")["invoices"]] == ["I-1", "I-2", "I-3"]
    house.answer(capsys, "--invoice", f"202610 {ACCOUNT} 21 USD I-2", code=Exit.FINDINGS)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"202610 {ACCOUNT} 18", "--invoice: must be"),
        (f"202613 {ACCOUNT} 18 USD", "the month '202613' must be"),
        (f"202610 {ACCOUNT} 1,234.56 USD", "the amount '1,234.56' must be a plain decimal number"),
        (f"202610 {ACCOUNT} NaN USD", "the amount 'NaN' must be"),
        (f"202610 {ACCOUNT} 18 usd", "the currency must be the three capital letters"),
        (f"202610 {ACCOUNT} 18 USD {'x' * 101}", "the invoice id must be a printable text"),
        (f"202611 {ACCOUNT} 18 USD", "2026-11 has not ended on 2026-11-08"),
        (f"202610 {OTHER} 18 USD", f"no charges of billing account {OTHER}"),
        (f"202610 {ACCOUNT} 18 EUR", "has no charges in EUR"),
        (f"202609 {ACCOUNT} 18 USD", "2026-09 of source gcp-main is not loaded"),
    ],
)
def test_a_typed_invoice_that_cannot_be_one_is_not_kept(
    house: House, capsys: Captured, text: str, message: str
) -> None:
    deliver_october(house)
    house.night()
    capsys.readouterr()
    assert house.run("--invoice", text) == Exit.USAGE
    assert message in capsys.readouterr().err
    assert house.answer(capsys, "--list") == {"invoices": []}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"month,amount\n", "has no column 'billing account'"),
        (b"month,billing account,invoice id,currency,amount\n202610,A,I,USD\n", "row 2: has 4 values under 5 columns"),
        (b"month,billing account,invoice id,currency,amount\n202610,A,I,USD,\n", "row 2: the amount ''"),
        (b"month,billing account,invoice id,currency,amount\n202610,,I,USD,1\n", "row 2: the billing account"),
        (b"\xff\xfe", "cannot be read"),
        (None, "cannot be read (No such file or directory)"),
    ],
)
def test_a_file_that_is_none_of_invoices_says_where(
    house: House, capsys: Captured, content: bytes | None, message: str
) -> None:
    file = house.folder / "invoices.csv"
    if content is not None:
        file.write_bytes(content)
    assert house.run("--invoices", str(file)) == Exit.USAGE
    assert message in capsys.readouterr().err


def test_options_that_do_not_go_together(house: House, capsys: Captured) -> None:
    assert house.run("--remove", "I-1") == Exit.USAGE
    assert "no invoice I-1 is entered" in capsys.readouterr().err
    assert house.run("--invoice", f"202610 {ACCOUNT} 18 USD", "--list") == Exit.USAGE
    assert "cannot be given and removed at once" in capsys.readouterr().err
    assert house.run("--list", source="aws-main") == Exit.USAGE
    assert "source aws-main is of AWS" in capsys.readouterr().err
    assert house.run("--list") == Exit.DONE
    assert capsys.readouterr().out == "no invoices are kept\n"


def test_the_store_keeps_the_first_entry_and_refuses_an_id_of_another(tmp_path: Path) -> None:
    now = datetime(2026, 11, 8, 9, tzinfo=UTC)
    invoice = Invoice(invoice_id="I", month=date(2026, 10, 1), billing_account="A", currency="USD", amount=Decimal(1))
    corrected = Invoice(**(_fields(invoice) | {"amount": Decimal("1.50")}))
    with StateStore.open(tmp_path / "state.sqlite") as state:
        enter_invoices(state, [invoice], now=now)
        enter_invoices(state, [corrected], now=now + timedelta(days=1))
        assert invoice_rows(entered_invoices(state)) == [
            ("I", date(2026, 10, 1), "A", "USD", Decimal("1.50"), now.replace(tzinfo=None))
        ]
        other = Invoice(**(_fields(invoice) | {"month": date(2026, 9, 1)}))
        fine = Invoice(**(_fields(invoice) | {"invoice_id": "fine"}))
        with pytest.raises(Exception, match="invoice I is entered for 2026-10, A, USD"):
            enter_invoices(state, [fine, other], now=now)
        with pytest.raises(Exception, match="invoice fine is given twice"):
            enter_invoices(state, [fine, fine], now=now)
        assert [row.invoice_id for row in entered_invoices(state)] == ["I"]


def _fields(invoice: Invoice) -> dict[str, Any]:
    return {name: getattr(invoice, name) for name in Invoice.__dataclass_fields__}
