"""How settled a month is, from what is delivered: open, estimated, final, restated; and what is counted for it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from ingest.rename import apply_renames
from sql.runner import build
from sql.settings import replace_settings
from tests.fakes.exports import Row, cur_line, deliver_legacy, focus_charge, gcp_row, write_csv, write_gcp
from tests.ingest.night import Night, source

AWS = "Amazon Web Services EMEA SARL"
SELLER = "Seller, Inc."
COUNTED = (
    "select invoicing_entity, rows_delivered, rows_invoiced, invoice_digest <> '' from ops.load_invoice"
    " semi join (select load_id from ops.load where is_current) as load using (load_id) order by all"
)


def line(cost: str = "1", invoice: str = "", entity: str = AWS, **others: str) -> Row:
    """Return a line of October that `entity` bills."""
    return cur_line(cost=cost, bill_invoice_id=invoice, bill_invoicing_entity=entity, **others)


def judge(night: Night, day: str, bucket: Path, lines: list[Row]) -> tuple[object, ...] | None:
    """Deliver October on a day, load and build as of it; return its status, entities, loads and when it was final."""
    night.now = datetime.fromisoformat(f"{day}T03:00:00").replace(tzinfo=UTC)
    deliver_legacy(bucket, "2026-10", [lines], assembly=f"{day.replace('-', '')}T000000Z")
    night.load(source(bucket))
    build_as_of(night, night.now.date())
    return night.warehouse.row(
        "select status, invoicing_entities, entities_invoiced, loads, was_final_at::date from marts.month_status"
        " where source = 'main' and billing_month = '2026-10-01'"
    )


def build_as_of(night: Night, as_of: date) -> None:
    """Build every model as of a day."""
    replace_settings(
        night.warehouse, {"settings.night": [(as_of,)], "settings.source": [("main", "aws-export", 1, False)]}
    )
    build(night.warehouse)


def test_a_month_is_open_then_estimated_then_final_then_restated(night: Night, bucket: Path) -> None:
    assert judge(night, "2026-10-20", bucket, [line(), line(entity=SELLER)]) == ("open", 2, 0, 1, None)
    waiting = [line("2", "INV-1"), line(entity=SELLER)]
    assert judge(night, "2026-11-02", bucket, waiting) == ("estimated", 2, 1, 2, None)
    whole = [line("2", "INV-1"), line("1", "INV-2", SELLER)]
    assert judge(night, "2026-11-06", bucket, whole) == ("final", 2, 2, 3, date(2026, 11, 6))
    restated = [line("2", "INV-1"), line("1", "INV-2", SELLER), line("3")]
    assert judge(night, "2026-11-20", bucket, restated) == ("restated", 2, 1, 4, date(2026, 11, 6))
    settled = [line("2", "INV-1"), line("1", "INV-2", SELLER), line("3", "INV-3")]
    assert judge(night, "2026-11-25", bucket, settled) == ("restated", 2, 2, 5, date(2026, 11, 6))
    assert night.warehouse.rows(
        "select load_number, previous_status, is_after_final, change_cost::integer from marts.restatements order by 1"
    ) == [(2, "open", False, 1), (3, "estimated", False, 0), (4, "final", True, 3), (5, "estimated", True, 0)]


def test_another_invoice_for_the_same_amount_restates_the_month(night: Night, bucket: Path) -> None:
    judge(night, "2026-11-06", bucket, [line("2", "INV-1")])
    assert judge(night, "2026-11-07", bucket, [line("2", "INV-2")]) == ("restated", 1, 1, 2, date(2026, 11, 6))


def test_a_delivery_that_changes_neither_cost_nor_invoice_leaves_a_month_final(night: Night, bucket: Path) -> None:
    judge(night, "2026-11-06", bucket, [line("2", "INV-1")])
    split = [line("1.5", "INV-1"), line("0.5", "INV-1", resource="i-0002")]
    assert judge(night, "2026-11-07", bucket, split) == ("final", 1, 1, 2, date(2026, 11, 6))


def test_a_row_that_the_load_adds_does_not_keep_a_month_from_being_final(night: Night, bucket: Path) -> None:
    # The negation has more to cancel than there is: the rest stays as one charge, which no invoice names.
    lines = [line("2", "INV-1"), line("-3", "INV-1", item="SavingsPlanNegation")]
    assert judge(night, "2026-11-06", bucket, lines) == ("final", 1, 1, 1, date(2026, 11, 6))
    assert night.warehouse.rows(COUNTED) == [(AWS, 1, 1, True)]
    assert night.warehouse.value('select count(*) from focus.cost_and_usage where "InvoiceId" is null') == 1


def test_rows_are_counted_by_account_and_entity(night: Night, bucket: Path) -> None:
    lines = [line(), line(invoice="INV-1"), line(invoice="INV-1"), line(entity=SELLER), line(entity="")]
    deliver_legacy(bucket, "2026-10", [lines])
    night.load(source(bucket))
    assert night.warehouse.rows(COUNTED) == [("", 1, 0, False), (AWS, 3, 2, True), (SELLER, 1, 0, False)]


def test_the_same_invoices_in_another_order_have_one_digest(night: Night, bucket: Path) -> None:
    digests = set()
    for day, invoices in enumerate(("abc", "cba", "aabc", "abd"), start=1):
        lines = [line(str(day), f"INV-{name}") for name in invoices]
        deliver_legacy(bucket, "2026-10", [lines], assembly=f"2026110{day}T000000Z")
        night.load(source(bucket))
        digests.add(night.warehouse.value("select invoice_digest from ops.load_invoice natural join ops.load"
                                          " where is_current"))  # fmt: skip
    assert len(digests) == 2


@pytest.mark.parametrize("kind", ["gcp-export", "focus-export"])
def test_an_export_without_invoices_is_estimated_once_the_month_has_ended(
    night: Night, bucket: Path, kind: str
) -> None:
    if kind == "gcp-export":
        write_gcp(bucket / "g.ndjson", [gcp_row(cost="100")])
        night.load(source(bucket, "gcp-export"))
    else:
        write_csv(bucket / "f.csv", [focus_charge()])
        night.load(source(bucket, "focus-export"))
    found = []
    for day in (date(2026, 10, 31), date(2026, 11, 1), date(2027, 11, 1)):
        build_as_of(night, day)
        found.append(night.warehouse.value("select status from marts.month_status where billing_month = '2026-10-01'"))
    assert found == ["open", "estimated", "estimated"]


def test_a_focus_export_with_invoices_is_final(night: Night, bucket: Path) -> None:
    write_csv(bucket / "f.csv", [focus_charge() | {"InvoiceId": "INV-1", "InvoiceIssuerName": SELLER}])
    night.load(source(bucket, "focus-export"))
    build_as_of(night, date(2026, 11, 20))
    assert night.warehouse.rows(COUNTED) == [(SELLER, 1, 1, True)]
    assert night.warehouse.value("select last_month_status from marts.data_freshness") == "final"


def test_a_source_without_a_load_of_the_present_month_has_no_data(night: Night, bucket: Path) -> None:
    judge(night, "2026-11-06", bucket, [line("2", "INV-1")])
    assert night.warehouse.rows("select billing_month, status from marts.month_status order by 1") == [
        (date(2026, 10, 1), "final"),
        (date(2026, 11, 1), "no data"),
    ]


def test_a_renamed_source_keeps_the_status_of_its_months(night: Night, bucket: Path) -> None:
    judge(night, "2026-11-06", bucket, [line("2", "INV-1")])
    renamed = source(bucket, name="acme", was="main")
    apply_renames(night.warehouse, [renamed], night.landing)
    assert not night.load(renamed).loaded
    build_as_of(night, date(2026, 11, 7))
    assert night.warehouse.rows("select source, status from marts.month_status where billing_month = '2026-10-01'") == [
        ("acme", "final")
    ]
