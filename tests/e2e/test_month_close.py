"""A month reconciled, closed and restated: what was closed stays, and what it has come to since is told by cause."""

from __future__ import annotations

import csv
import io
import json
from decimal import Decimal
from pathlib import Path

import pytest

from sql.state import StateStore
from tests.fakes.crash import Forker
from tests.fakes.exports import PAYER
from tests.fakes.nights import AWS, GCP, TEAMS, House, aws_lines, gcp_rows, house, query

pytestmark = pytest.mark.e2e

OTHER_RULE = (
    TEAMS.replace('project = "detector"', 'project = "scanner"')
    .replace('"resource_tags/user_project" = ', "project = ")
    .replace('["detector",', '["scanner",')
)
CORRECTIONS = (
    "select project, cause, cast(billed_correction_cost as double) from marts.month_corrections"
    " where billing_month = date '2026-10-01' order by all"
)
CLOSED = "select project, kind, cast(sum(billed_cost) as double) from marts.closed_month group by all order by all"
IN_OCTOBER = ("--as-of", "2026-11-08")


def closed(place: House, *more: str, month: str = "2026-10", code: int = 0) -> dict[str, object]:
    """Close a month and return the answer."""
    ran = place.run("month", "close", month, *IN_OCTOBER, "--by", "Ada", "--json", *more)
    assert ran.code == code, ran.stderr
    answer = json.loads(ran.stdout)
    assert isinstance(answer, dict)
    return answer


def listed(place: House) -> list[tuple[str, str]]:
    """Return (month, state) of every closing."""
    months = json.loads(place.run("month", "list", "--json").stdout)["months"]
    return [(row["month"], row["state"]) for row in months]


def journal(place: House, *more: str, month: str = "2026-10") -> list[dict[str, str]]:
    """Return the lines of the journal."""
    ran = place.run("export", "chargeback", "--month", month, "--basis", "billed", *more)
    assert ran.code == 0, ran.stderr
    return list(csv.DictReader(io.StringIO(ran.stdout)))


def load_october(home: House, invoice: str = "I1") -> None:
    """Deliver October and run the night on it: 40 for detector, 5 for segmenter, all invoiced."""
    home.configure(AWS, TEAMS)
    home.deliver_aws("2026-10", *aws_lines("2026-10", "40", "5", bill_invoice_id=invoice))
    home.night("2026-11-08")


@pytest.fixture(scope="module")
def october(tmp_path_factory: pytest.TempPathFactory, forker: Forker) -> House:
    """Return the company after the night on October; each test has a copy."""
    place = house(tmp_path_factory.mktemp("october") / "house", forker)
    load_october(place)
    return place


@pytest.fixture
def company(october: House, tmp_path: Path) -> House:
    """Return a company after the night on October."""
    return october.moved(tmp_path / "company")


def test_a_month_reconciled_closed_and_restated(company: House) -> None:
    invoices = company.folder / "invoices.csv"
    invoices.write_text(
        f"billing_month,billing_account_id,issuer,invoice_id,currency,total,tax\n2026-10,{PAYER},AWS,I1,USD,45.00,\n",
        encoding="utf-8",
    )
    assert company.run("reconcile", "--invoice", str(invoices)).code == 0
    answer = closed(company)
    assert (answer["state"], answer["closed_by"], answer["notes"]) == ("closed", "Ada", [])

    company.deliver_aws(
        "2026-10", *aws_lines("2026-10", "38", "5", bill_invoice_id="I1"), version="20261120T000000Z-e2"
    )
    company.night("2026-11-20")

    assert query(company.finance, CLOSED) == [("detector", "actual", 40.0), ("segmenter", "actual", 5.0)]
    assert query(company.finance, CORRECTIONS) == [("detector", "restatement", -2.0)]
    assert query(company.finance, "select outcome from marts.invoice_reconciliation") == [("ties",)]
    assert query(company.finance, "select is_load_in_force from marts.invoice_reconciliation") == [(False,)]
    assert company.run("reconcile", "--invoice", str(invoices)).code == 1


def test_late_charges_and_changed_rules_are_told_apart(home: House) -> None:
    load_october(home, invoice="")
    assert closed(home)["notes"] == [
        "aws: the month is estimated, and may still change",
        "aws: 29 days of the month are missing, it is complete through 2026-10-02; reopen it and close it with"
        " --estimate to book them",
    ]
    home.night("2026-11-09")
    assert query(home.finance, CORRECTIONS) == []

    home.configure(AWS, OTHER_RULE)
    home.night("2026-11-10")
    assert query(home.finance, CORRECTIONS) == [("detector", "rule change", -40.0), ("scanner", "rule change", 40.0)]

    home.deliver_aws("2026-10", *aws_lines("2026-10", "41", "5", "7"), version="20261112T000000Z-e2")
    home.night("2026-11-12")
    assert query(home.finance, CORRECTIONS) == [
        ("detector", "late charge", 1.0),
        ("detector", "rule change", -41.0),
        ("scanner", "rule change", 41.0),
        ("segmenter", "late charge", 7.0),
    ]
    assert query(home.finance, "select sum(billed_cost)::int from marts.monthly_cost") == [(53,)]


def test_reopening_takes_the_month_out_and_keeps_what_it_was(company: House) -> None:
    assert company.run("month", "list").stdout == "no month is closed\n"
    assert company.run("month", "reopen", "2026-10").code == 2
    closed(company)
    assert "is closed since" in str(closed(company, code=2)["message"])
    company.configure(AWS, OTHER_RULE)
    company.night("2026-11-09")
    assert company.run("month", "reopen", "2026-10", "--by", "Bob").code == 0
    company.night("2026-11-10")
    assert query(company.finance, CLOSED) == query(company.finance, CORRECTIONS) == []
    closed(company)
    company.night("2026-11-11")
    assert query(company.finance, CLOSED) == [("scanner", "actual", 40.0), ("segmenter", "actual", 5.0)]
    assert listed(company) == [("2026-10", "reopened"), ("2026-10", "closed")]
    assert "Bob" in company.run("month", "list").stdout
    with StateStore.open_read_only(company.state) as state:
        assert state.rows("select count(*) from closed_figure where project = 'detector'") == [(1,)]


def test_rebuild_rename_and_a_removed_source_keep_what_was_closed(company: House) -> None:
    closed(company)
    company.night("2026-11-08")
    before = query(company.finance, "select * from marts.closed_month order by all")
    assert company.run("rebuild", "--as-of", "2026-11-09").code == 0
    assert query(company.finance, "select * from marts.closed_month order by all") == before
    assert query(company.finance, CORRECTIONS) == []

    company.configure(AWS.replace('name = "aws"', 'name = "payer"\nwas = "aws"'), TEAMS)
    company.night("2026-11-10")
    assert query(company.finance, CLOSED) == [("detector", "actual", 40.0), ("segmenter", "actual", 5.0)]
    assert query(company.finance, "select distinct source from marts.closed_month") == [("payer",)]
    assert query(company.finance, CORRECTIONS) == []

    company.configure(GCP, TEAMS)
    company.deliver_gcp("r.ndjson", *gcp_rows("2026-10", "3"))
    assert company.run("source", "drop", "payer", "--as-of", "2026-11-10").code == 0
    company.night("2026-11-11")
    assert query(company.finance, CLOSED) == [("detector", "actual", 40.0), ("segmenter", "actual", 5.0)]
    assert query(company.finance, CORRECTIONS) == [
        ("detector", "source dropped", -40.0),
        ("segmenter", "source dropped", -5.0),
        ("unattributed", "late charge", 3.0),
    ]


def test_an_estimate_books_missing_days_and_is_corrected_when_they_come(home: House) -> None:
    home.configure(AWS, TEAMS)
    days = [line for day in range(1, 29) for line in aws_lines("2026-10", "10", "1", day=day)]
    home.deliver_aws("2026-10", *days)
    home.night("2026-10-29")
    assert home.run("month", "close", "2026-10", "--as-of", "2026-10-29").code == 2
    assert home.run("month", "close", "2026-11", "--estimate", "--as-of", "2026-10-29").code == 2
    through = query(home.finance, "select complete_through from marts.data_freshness")
    missing = 31 - int(str(through[0][0])[-2:])
    answer = closed(home, "--estimate", "--as-of", "2026-10-29")
    loaded = 28 - (31 - missing)
    booked = {row["kind"]: Decimal(row["billed_cost"]) for row in answer["totals"]}  # type: ignore[attr-defined]
    assert booked == {"actual": Decimal(308), "accrual": Decimal(11 * (missing - loaded))}

    home.night("2026-10-30")
    accrued = float(missing - loaded)
    assert query(home.finance, CORRECTIONS) == [
        ("detector", "late charge", -10 * accrued),
        ("segmenter", "late charge", -accrued),
    ]
    last = [line for day in range(29, 32) for line in aws_lines("2026-10", "12", "1", day=day)]
    home.deliver_aws("2026-10", *days, *last, version="20261103T000000Z-e2")
    home.night("2026-11-08")
    assert query(home.finance, CORRECTIONS) == [
        ("detector", "late charge", 36 - 10 * accrued),
        *([("segmenter", "late charge", 3 - accrued)] if accrued != 3 else []),
    ]


def test_the_journal_has_ledger_accounts_as_they_were_at_the_closing(company: House) -> None:
    owner = '[[owner]]\nprojects = ["detector"]\ncost_centre = "4711"\ngl_account = "620100"\n'
    company.configure(AWS, TEAMS, owner)
    company.night("2026-11-09")
    closed(company)
    company.configure(AWS, TEAMS, owner.replace("620100", "999999"))
    company.night("2026-11-10")
    assert [(row["project"], row["cost_centre"], row["gl_account"]) for row in journal(company)] == [
        ("detector", "4711", "620100"),
        ("segmenter", "unattributed", ""),
    ]
    accounts = "select distinct gl_account from marts.closed_month where project = 'detector'"
    assert query(company.finance, accounts) == [("620100",)]


def test_the_journal_is_that_of_the_closing(company: House) -> None:
    (first, *_) = journal(company)
    assert (first["state"], first["project"], first["debit"]) == ("not closed", "detector", "40.00")
    closed(company)
    company.configure(AWS, OTHER_RULE.replace('"scanner"', '"=cmd()"'))
    company.deliver_aws("2026-10", *aws_lines("2026-10", "99", "5"), version="20261120T000000Z-e2")
    company.night("2026-11-20")
    found = [(row["state"], row["project"], row["team"], row["debit"], row["credit"]) for row in journal(company)]
    assert found == [("closed", "detector", "vision", "40.00", ""), ("closed", "segmenter", "vision", "5.00", "")]
    assert company.run("month", "reopen", "2026-10").code == 0
    assert [row["project"] for row in journal(company)] == ["'=cmd()", "segmenter"]
    target = company.folder / "journal.csv"
    assert journal(company, "--output", str(target)) == []
    assert target.read_text(encoding="utf-8").startswith("billing_month,state,project,team,cost_centre,")
    assert company.run("export", "chargeback", "--month", "2026-10", "--output", str(company.finance)).code == 2
    assert company.run("export", "chargeback", "--month", "202501").code == 2
    nowhere = company.run(
        "export", "chargeback", "--month", "2026-10", "--output", str(company.folder / "no" / "j.csv")
    )
    assert (nowhere.code, "there is no folder" in nowhere.stderr) == (2, True)
    lines = json.loads(company.run("export", "chargeback", "--month", "2026-10", "--json").stdout)["lines"]
    assert sum(Decimal(line["amount"]) for line in lines) == Decimal("104.00")


def test_what_cannot_be_closed_says_why(home: House) -> None:
    ran = home.run("month", "close", "2026-10", *IN_OCTOBER)
    assert (ran.code, "there is no" in ran.stderr) == (2, True)
    load_october(home)
    for arguments, reason in (
        (("close", "2026-09"), "nothing of 2026-09 is loaded"),
        (("close", "2026-11"), "2026-11 has not ended on 2026-11-08"),
        (("close", "2026-12", "--estimate"), "2026-12 has not begun on 2026-11-08"),
        (("close", "2026-10", "--by", " "), "who it is must be a printable name"),
        (("close", "10/2026"), "'10/2026' is no month, YYYY-MM"),
        (("reopen", "2026-10"), "2026-10 is not closed"),
    ):
        ran = home.run("month", *arguments, *IN_OCTOBER)
        assert (ran.code, reason in ran.stderr) == (2, True), ran.stderr
    home.configure(AWS, GCP, TEAMS)
    home.night("2026-11-09")
    ran = home.run("month", "close", "2026-10", *IN_OCTOBER)
    assert ran.code == 0
    assert "closed 2026-10 by " in ran.stdout
    assert "note: gcp: nothing of the month is loaded" in ran.stderr
    with StateStore.open_read_only(home.state) as state:
        kept = state.rows("select load_id, version from closed_load")
    assert kept == query(home.finance, "select load_id, version from ops.load where billing_month = date '2026-10-01'")


def test_a_kill_while_closing_leaves_all_of_it_or_nothing(company: House) -> None:
    whole = company.moved(company.folder.with_name("whole"))
    edges = whole.run("month", "close", "2026-10", *IN_OCTOBER).edges
    states = [number for number, edge in enumerate(edges) if edge.kind == "state"]
    for number in states:
        company.killed("month", "close", "2026-10", *IN_OCTOBER, at=number)
        with StateStore.open(company.state) as state:
            counts = [state.rows(f"select count(*) from closed_{name}")[0][0] for name in ("month", "load", "figure")]
            assert counts in ([0, 0, 0], [1, 1, 2]), edges[number]
        if counts[0]:
            assert company.run("month", "reopen", "2026-10").code == 0
            break
    closed(company)
    assert listed(company)[-1] == ("2026-10", "closed")
