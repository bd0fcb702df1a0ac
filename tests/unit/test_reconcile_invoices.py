"""Invoices of a file finding their charges: ids first, then issuers; sums exact, whatever the order of lines."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from overrun.invoice_file import InvoiceLine
from overrun.reconcile_invoices import BilledCharges, Compared, compare, report_of

OCTOBER = date(2026, 10, 1)


def charges(
    billed: str, invoice_id: str = "", *, issuer: str = "AWS", account: str = "000000000123", currency: str = "USD"
) -> BilledCharges:
    return BilledCharges(
        source="aws", load_id="l", month=OCTOBER, billing_account=account, issuer=issuer, sender="AWS",
        invoice_id=invoice_id, currency=currency, billed=Decimal(billed), tax=Decimal(0),
    )  # fmt: skip


def line(
    number: int, total: str, invoice_id: str = "", *, issuer: str = "AWS", account: str = "123", currency: str = "USD"
) -> InvoiceLine:
    return InvoiceLine(
        line=number, month=OCTOBER, billing_account=account, issuer=issuer, invoice_id=invoice_id, currency=currency,
        total=Decimal(total), tax=None,
    )  # fmt: skip


def compared(lines: list[InvoiceLine], loaded: list[BilledCharges]) -> Compared:
    return compare(lines, loaded, {charge.billing_account for charge in loaded})


def states(found: Compared) -> list[tuple[str, str]]:
    assert found.problems == ()
    return [(comparison.invoice_id, comparison.state) for comparison in found.comparisons]


def test_an_account_that_lost_its_zeros_and_an_issuer_in_other_case_are_found() -> None:
    assert states(compared([line(2, "5", issuer="aws")], [charges("5")])) == [("", "ties")]


def test_each_currency_of_an_account_is_compared_apart() -> None:
    lines = [line(2, "5"), line(3, "7", currency="EUR")]
    assert states(compared(lines, [charges("5"), charges("7", currency="EUR")])) == [("", "ties"), ("", "ties")]


def test_an_invoice_in_the_other_currency_is_no_match_by_id_either() -> None:
    found = compared([line(2, "5", "I1", currency="EUR")], [charges("5", "I1"), charges("5", "I2", currency="EUR")])
    assert found.problems == ((2, "the invoice is in EUR, its charges are in USD"),)


def test_what_ids_have_taken_is_not_compared_again() -> None:
    lines = [line(2, "9", "NEW"), line(3, "5", "I1")]
    assert states(compared(lines, [charges("5", "I1"), charges("9")])) == [("NEW", "ties"), ("I1", "ties")]


def test_an_invoice_without_charges_differs_by_all_of_it_and_the_others_are_compared() -> None:
    found = compared([line(2, "-9", "CREDIT"), line(3, "5", "I1")], [charges("5", "I1")])
    assert states(found) == [("I1", "ties"), ("CREDIT", "differs")]
    report = report_of(found.comparisons, "file.csv")
    assert (report.is_tied, report.sentences[0].split(",")[0]) == (False, "No charges: line 2")
    assert [[str(cell) for cell in row[5:8]] for row in report.rows] == [
        ["5.00", "5.00", "0.00"],
        ["0.00", "-9.00", "9.00"],
    ]


def test_charges_of_up_to_a_cent_need_no_invoice() -> None:
    assert states(compared([line(2, "5", "I1")], [charges("5", "I1"), charges("0.01", "I2")])) == [("I1", "ties")]


def test_a_report_says_which_line_differs() -> None:
    report = report_of(compared([line(7, "4", "I1")], [charges("5", "I1")]).comparisons, "f.csv")
    assert not report.is_tied
    assert "Does not tie: line 7, 000000000123 in 2026-10, differs by 1.00 USD" in report.sentences[0]


AMOUNTS = st.decimals(min_value=-(10**9), max_value=10**9, places=12).map(lambda amount: f"{amount:f}")
LOADED = st.lists(
    st.tuples(
        AMOUNTS, st.sampled_from(["", "I1", "I2"]), st.sampled_from(["AWS", "SARL"]), st.sampled_from(["A", "B"])
    ),
    min_size=1,
    max_size=12,
    unique_by=lambda charge: charge[1:],
)


@given(LOADED, st.integers())
def test_every_charge_is_compared_once_whatever_the_order(loaded: list[tuple[str, str, str, str]], seed: int) -> None:
    given_charges = [charges(billed, name, issuer=issuer, account=account) for billed, name, issuer, account in loaded]
    lines = [
        line(
            number,
            charge.billed.to_eng_string(),
            charge.invoice_id,
            issuer=charge.issuer,
            account=charge.billing_account,
        )
        for number, charge in enumerate(given_charges, start=2)
        if charge.invoice_id
    ]
    shuffled = Random(seed).sample(lines, len(lines))  # noqa: S311 - an order, not a secret
    one, other = compared(lines, given_charges), compared(shuffled, given_charges)
    assert [c.billed for c in one.comparisons] == [c.billed for c in other.comparisons]
    counted = [charge for comparison in one.comparisons for charge in comparison.charges]
    mentioned = {given_line.billing_account for given_line in lines}
    wanted = [
        c for c in given_charges if c.billing_account in mentioned and (c.invoice_id or abs(c.billed) > Decimal("0.01"))
    ]
    assert sorted(map(id, counted)) == sorted(map(id, wanted))
