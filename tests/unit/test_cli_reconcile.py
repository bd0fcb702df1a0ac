"""`overrun reconcile`: raw totals of the published copy against Cost Explorer, asked by the real SDK over HTTP."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.exits import Exit
from sql.contract import LOAD_RAW_TOTAL
from sql.parts import prepare
from sql.warehouse import Warehouse, WarehouseSettings
from tests.fakes.aws import KEYS, moto_server
from tests.fakes.cost_explorer import JsonServer, group, json_server, page, refusal
from tests.fakes.exports import cur_line, deliver_export
from tests.fakes.parts import insert_rows, load_part

Captured = pytest.CaptureFixture[str]
DAY = "2026-11-20"
PAYER, MEMBER = "111111111111", "012345678901"
CONFIGURATION = """\
[[source]]
name = "aws-main"
kind = "aws-export"
location = "exports/aws"
endpoint_url = "{endpoint}"

[[source]]
name = "azure"
kind = "focus-export"
location = "exports/azure"
"""
CUR = (
    (PAYER, "Tax", "UnblendedCost", "7.50"),
    (PAYER, "Fee", "UnblendedCost", "100"),
    (MEMBER, "Usage", "UnblendedCost", "12.345678901234"),
    (MEMBER, "EdpDiscount", "UnblendedCost", "-1.2"),
)
EQUAL = (
    group(PAYER, "Tax", "7.5"),
    group(PAYER, "Upfront", "60"),
    group(PAYER, "Support", "40"),
    group(MEMBER, "Usage", "12.3456789012"),
    group(MEMBER, "Enterprise Discount Program Discount", "-1.2000000000"),
)

Totals = Sequence[tuple[str, str, str, str]]
"""(account, line item type, metric, amount)."""


@dataclass(frozen=True, slots=True)
class House:
    """A configuration and a published copy with raw totals, and the server that is asked."""

    config: Path
    server: JsonServer

    def load(self, totals: Totals, month: date = date(2026, 10, 1), source: str = "aws-main") -> None:
        """Write a load with its raw totals into the published copy."""
        with Warehouse.open(WarehouseSettings(path=self.config.with_name("finance.duckdb"))) as warehouse:
            prepare(warehouse)
            load_id = load_part(warehouse, source=source, month=month, charges=[])
            rows = [
                {
                    "load_id": load_id, "billing_account_id": PAYER, "sub_account_id": account,
                    "line_item_type": kind, "billing_currency": "USD", "metric": metric, "amount": amount,
                }
                for account, kind, metric, amount in totals
            ]  # fmt: skip
            insert_rows(warehouse, LOAD_RAW_TOTAL, rows)

    def run(self, *arguments: str, source: str = "aws-main", as_of: str = DAY) -> int:
        """Run the command."""
        return main(["reconcile", source, "--config", str(self.config), "--as-of", as_of, *arguments])

    def answer(self, capsys: Captured, *arguments: str, code: Exit = Exit.DONE) -> dict[str, Any]:
        """Run the command and return its JSON."""
        capsys.readouterr()
        assert self.run("--json", *arguments) == code
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with json_server() as server:
        (tmp_path / "overrun.toml").write_text(CONFIGURATION.format(endpoint=server.endpoint), encoding="utf-8")
        yield House(tmp_path / "overrun.toml", server)


def test_a_month_that_ties(house: House, capsys: Captured) -> None:
    house.load(CUR)
    house.server.give(page(*EQUAL))
    assert house.run() == Exit.DONE
    text = capsys.readouterr().out
    assert "Ties: none of 4 lines differs by more than 0.01." in text
    assert "rounds differently" in text
    assert "Not compared, since the export has no such columns: NetUnblendedCost, AmortizedCost, NetAmort" in text
    assert "AWS charges 0.01 USD for asking (1 x 0.01)." in text
    (table,) = [line for line in text.splitlines() if line.startswith("total")]
    assert table.split() == ["total", "all", "UnblendedCost", "118.65", "118.65", "0.00", "USD"]


def test_what_is_asked(house: House) -> None:
    house.load(CUR)
    house.server.give(page(*EQUAL))
    house.run()
    assert house.server.asked == [
        {
            "TimePeriod": {"Start": "2026-10-01", "End": "2026-11-01"},
            "Granularity": "MONTHLY",
            "Metrics": ["UnblendedCost", "NetUnblendedCost", "AmortizedCost", "NetAmortizedCost"],
            "GroupBy": [
                {"Type": "DIMENSION", "Key": "LINKED_ACCOUNT"},
                {"Type": "DIMENSION", "Key": "RECORD_TYPE"},
            ],
        }
    ]


def test_a_month_that_does_not_tie_shows_the_lines_that_differ(house: House, capsys: Captured) -> None:
    house.load(CUR)
    house.server.give(page(*EQUAL[:-1], group(MEMBER, "Enterprise Discount Program Discount", "-1.1"),
                           group("222222222222", "Moon\x1b[2J Fee", "5")))  # fmt: skip
    assert house.run() == Exit.FINDINGS
    text = capsys.readouterr().out
    assert "\x1b" not in text
    rows = [line.split() for line in text.splitlines() if line.startswith((MEMBER, "222222222222", PAYER))]
    assert rows == [
        [MEMBER, "EdpDiscount", "UnblendedCost", "-1.20", "-1.10", "-0.10", "USD"],
        ["222222222222", "Moon\\u001B[2JFee", "UnblendedCost", "0.00", "5.00", "-5.00", "USD"],
    ]
    assert "Does not tie: 2 of 5 lines differ by more than 0.01." in text


def test_all_shows_the_lines_that_tie(house: House, capsys: Captured) -> None:
    house.load(CUR)
    house.server.give(page(*EQUAL))
    assert house.answer(capsys)["lines"] == []
    lines = house.answer(capsys, "--all")["lines"]
    assert [(line["account"], line["line_item_type"]) for line in lines] == [
        (MEMBER, "EdpDiscount"),
        (MEMBER, "Usage"),
        (PAYER, "Fee"),
        (PAYER, "Tax"),
    ]
    assert lines[1] == {
        "account": MEMBER, "line_item_type": "Usage", "metric": "UnblendedCost", "currency": "USD",
        "ours": "12.345678901234", "cost_explorer": "12.3456789012", "difference": "0.000000000034", "ties": True,
    }  # fmt: skip


def test_all_pages_are_asked_and_counted(house: House, capsys: Captured) -> None:
    house.load(CUR)
    house.server.give(page(*EQUAL[:2], token="t1"), page(*EQUAL[2:4], token="t2"), page(*EQUAL[4:]))
    answer = house.answer(capsys)
    assert (answer["ties"], answer["pages"], answer["compared_lines"]) == (True, 3, 4)
    assert [asked.get("NextPageToken") for asked in house.server.asked] == [None, "t1", "t2"]


def test_a_page_that_comes_again_and_again_is_not_paid_for_ever(house: House, capsys: Captured) -> None:
    house.load(CUR)
    house.server.give(page(token="same"))
    assert house.run() == Exit.SOURCE
    assert "the same page again and again" in capsys.readouterr().err
    assert len(house.server.asked) == 2


def test_the_month_under_way_is_asked_for_through_today_and_is_estimated(house: House, capsys: Captured) -> None:
    house.load(CUR, month=date(2026, 11, 1))
    house.server.give(page(*EQUAL, is_estimated=True))
    assert house.run() == Exit.DONE
    assert house.server.asked[0]["TimePeriod"] == {"Start": "2026-11-01", "End": "2026-11-21"}
    assert "AWS still estimates 2026-11" in capsys.readouterr().out
    assert house.answer(capsys)["is_estimated"] is True


def test_the_last_loaded_month_is_taken_unless_another_is_named(house: House, capsys: Captured) -> None:
    house.load(CUR, month=date(2026, 9, 1))
    house.load(CUR, month=date(2026, 10, 1))
    house.server.give(page(*EQUAL))
    assert house.answer(capsys)["month"] == "2026-10"
    assert house.answer(capsys, "--month", "2026-09")["month"] == "2026-09"
    assert house.server.asked[1]["TimePeriod"] == {"Start": "2026-09-01", "End": "2026-10-01"}


def test_focus_is_compared_per_account(house: House, capsys: Captured) -> None:
    house.load([(MEMBER, "Usage", "BilledCost", "9"), (MEMBER, "Tax", "BilledCost", "1")])
    house.server.give(page(group(MEMBER, "Usage", "9.5", "9", "9", "9"), group(MEMBER, "Tax", "1")))
    assert house.run("--all") == Exit.DONE
    text = capsys.readouterr().out
    assert "compared per account with Cost Explorer's NetUnblendedCost" in text
    assert "Not compared" not in text


@pytest.mark.parametrize(
    ("answer", "message", "hint"),
    [
        (
            refusal("AccessDeniedException", "User: arn:aws:iam::1:user/secret-name is not authorized"),
            "ce:GetCostAndUsage",
            "allow ce:GetCostAndUsage",
        ),
        (
            refusal("AccessDeniedException", "User not enabled for cost explorer access"),
            "Cost Explorer is not switched on",
            "console of the management account",
        ),
        (
            refusal("ValidationException", "You haven't enabled historical data beyond 14 months.\x1b[2J"),
            "Cost Explorer refuses: You haven't enabled historical data beyond 14 months.\\u001B[2J",
            "2025-01 may be older than what it keeps",
        ),
        (refusal("DataUnavailableException", "Data unavailable."), "Cost Explorer refuses: Data unavail", "older"),
        ((200, page(group(MEMBER, "Usage", "NaN"))), "'NaN' where an amount belongs", "try again later"),
        ((200, {}), "another form than is documented", "endpoint_url"),
        ((200, page({"Keys": [MEMBER], "Metrics": {}})), "another form than is documented", "endpoint_url"),
        ((200, page(group(MEMBER, "Usage", "a lot"))), "'a lot' where an amount belongs", "try again later"),
    ],
)
def test_what_cannot_be_asked_says_why(
    house: House, capsys: Captured, answer: tuple[int, Mapping[str, Any]], message: str, hint: str
) -> None:
    house.load(CUR, month=date(2025, 1, 1))
    house.server.refuse(answer)
    assert house.run() == Exit.SOURCE
    error, _, rest = capsys.readouterr().err.partition("hint: ")
    assert error.startswith("error: source aws-main, 2025-01: ")
    assert message in error
    assert hint in rest
    assert "secret-name" not in error + rest
    assert len(house.server.asked) == 1, "a refusal is not asked again"
    assert house.server.asked[0]["TimePeriod"] == {"Start": "2025-01-01", "End": "2025-02-01"}


def test_a_server_that_cannot_be_reached(house: House, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    house.load(CUR)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    house.config.write_text(CONFIGURATION.format(endpoint="http://127.0.0.1:1"), encoding="utf-8")
    assert house.run() == Exit.SOURCE
    assert "cannot be reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("source", "arguments", "message", "hint"),
    [
        ("aws-mian", (), "no source aws-mian is configured", "did you mean aws-main?"),
        ("zzz", (), "no source zzz is configured", "overrun status lists the sources"),
        ("azure", (), "source azure is of neither AWS nor GCP", "an export of AWS is compared with Cost Explorer"),
        ("aws-main", ("--month", "2026-08"), "2026-08 of source aws-main is not loaded", "2026-09 to 2026-10"),
        ("aws-main", ("--month", "2026-09"), "no raw totals are kept of 2026-09", "overrun rebuild"),
        ("aws-main", ("--as-of", "2026-09-30"), "2026-10 has not begun on 2026-09-30", "--as-of"),
    ],
)
def test_what_is_not_there_to_be_compared(
    house: House, capsys: Captured, source: str, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    house.load((), month=date(2026, 9, 1))
    house.load(CUR)
    assert house.run(*arguments, source=source) == Exit.USAGE
    error, _, rest = capsys.readouterr().err.partition("hint: ")
    assert message in error
    assert hint in rest
    assert house.server.asked == []


def test_before_anything_is_loaded(house: House, capsys: Captured) -> None:
    assert house.run() == Exit.USAGE
    assert "overrun nightly" in capsys.readouterr().err
    house.load(CUR, source="azure")
    assert house.run() == Exit.USAGE
    assert "nothing of source aws-main is loaded" in capsys.readouterr().err


def test_a_copy_that_an_earlier_version_published(house: House, capsys: Captured) -> None:
    house.load(CUR)
    with Warehouse.open(WarehouseSettings(path=house.config.with_name("finance.duckdb"))) as warehouse:
        warehouse.execute(f"drop table {LOAD_RAW_TOTAL.full_name}")
    assert house.run() == Exit.USAGE
    assert "no raw totals are kept of 2026-10 of source aws-main" in capsys.readouterr().err


def test_a_whole_cost_explorer_answers(tmp_path: Path, capsys: Captured) -> None:
    with moto_server() as port:
        config = tmp_path / "overrun.toml"
        config.write_text(CONFIGURATION.format(endpoint=f"http://127.0.0.1:{port}"), encoding="utf-8")
        house = House(config, JsonServer())
        house.load(CUR)
        results = {"results": [page(*EQUAL[:3], token="next"), page(*EQUAL[3:])]}
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/moto-api/static/ce/cost-and-usage-results",
            data=json.dumps(results).encode(),
            headers={"Content-Type": "application/json"},
        )
        urllib.request.urlopen(request).close()  # noqa: S310 - a loopback address
        answer = house.answer(capsys)
    assert (answer["ties"], answer["pages"], answer["differing_lines"]) == (True, 2, 0)


def test_a_night_leaves_what_is_compared(house: House, capsys: Captured) -> None:
    deliver_export(
        house.config.parent / "exports" / "aws",
        "2026-10",
        [
            [
                cur_line(cost="10", account=MEMBER, line_item_net_unblended_cost="9"),
                cur_line(cost="5.5", account=MEMBER, line_item_net_unblended_cost="5"),
                cur_line(cost="2", account=PAYER, item="Tax", resource="", line_item_net_unblended_cost="2"),
            ]
        ],
    )
    assert main(["nightly", "-q", "--config", str(house.config), "--as-of", DAY]) in {Exit.DONE, Exit.SOURCE}
    house.server.give(page(group(MEMBER, "Usage", "15.5", "14", "15.5", "14"), group(PAYER, "Tax", "2")))
    answer = house.answer(capsys, "--all")
    assert (answer["ties"], answer["uncompared_metrics"], answer["compared_lines"]) == (True, [], 8)
    house.server.give(page(group(MEMBER, "Usage", "15.5", "14", "15.5", "14.02"), group(PAYER, "Tax", "2")))
    (line,) = house.answer(capsys, code=Exit.FINDINGS)["lines"]
    assert (line["metric"], line["difference"]) == ("NetAmortizedCost", "-0.020000000000")


def test_the_help_says_what_it_costs(capsys: Captured) -> None:
    assert main(["reconcile", "--help"]) == Exit.DONE
    text = capsys.readouterr().out
    assert "0.01 USD" in text
    assert "ce:GetCostAndUsage" in text
    assert "overrun reconcile aws-main --month 2026-10 --all" in text
    assert [line.split()[0] for line in text.partition("Exit codes:")[2].splitlines() if line[2:3].isdigit()] == [
        "0", "1", "2", "3", "75",
    ]  # fmt: skip
