"""Nights with several currencies: figures worked out by hand, rates that are missing, changed, new or broken."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal

import pytest

from sql.warehouse import Row
from tests.fakes.exports import cur_line, deliver_export
from tests.fakes.nights import AWS, BUDGET, GCP, ROUTE_TO_SLACK, TEAMS, House, aws_lines, gcp_rows, query
from tests.fakes.servers import SlackServer

pytestmark = pytest.mark.e2e

CHINA = """\
[[source]]
name = "aws-cn"
kind = "aws-export"
location = "exports/aws-cn"
"""
EUR = """\
[currency]
reporting_currency = "EUR"
rates = "rates.csv"
"""
RATES = (
    "2026-10-01,EUR,USD,1.25,ECB",
    "2026-10-01,EUR,CNY,8,ECB",
    "2026-10-02,EUR,USD,1.28,ECB",
    "2026-10-02,EUR,CNY,8,ECB",
    "2026-10-30,EUR,USD,1.6,ECB",
    "2026-10-30,EUR,CNY,10,ECB",
    "2026-11-02,EUR,USD,2,ECB",
    "2026-11-02,EUR,CNY,10,ECB",
)
COSTS = (
    "select source, strftime(billing_month, '%Y-%m'), billing_currency, sum(billed_cost), max(reporting_currency),"
    " sum(converted_billed_cost) from marts.monthly_cost group by 1, 2, 3 order by 1, 2"
)


def write_rates(home: House, lines: Sequence[str] = RATES) -> None:
    text = "\n".join(("date,from,to,rate,source", *lines)) + "\n"
    (home.folder / "rates.csv").write_text(text, encoding="utf-8")


def deliver(home: House) -> None:
    """Deliver two payers, in USD and CNY, and a Google account in EUR: usage on the 1st, 3rd and 31st of October."""
    days = [(1, "100"), (3, "64"), (31, "80")]
    usd = [line for day, cost in days for line in aws_lines("2026-10", cost, day=day)]
    home.deliver_aws("2026-10", *usd)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "30", day=3))
    china = [
        cur_line(
            cost=cost, payer="999999999999", account="999999999999", line_item_currency_code="CNY",
            start=f"2026-10-{day:02d}T05:00:00Z", end=f"2026-10-{day:02d}T06:00:00Z",
        )
        for day, cost in [(1, "800"), (3, "80")]
    ]  # fmt: skip
    deliver_export(home.folder / "exports" / "aws-cn", "2026-10", [china])
    home.deliver_gcp("october.ndjson", *(row | {"currency": "EUR"} for row in gcp_rows("2026-10", "7")))


def costs(home: House) -> list[Row]:
    return query(home.finance, COSTS)


def amounts(*rows: tuple[str, str, str, str, str]) -> list[tuple[object, ...]]:
    return [
        (source, month, code, Decimal(billed), "EUR", Decimal(worth)) for source, month, code, billed, worth in rows
    ]


def fingerprints(home: House) -> set[tuple[object, ...]]:
    return set(query(home.warehouse, "select model, billing_month, fingerprint from ops.fingerprint"))


def rebuilt(home: House, before: set[tuple[object, ...]]) -> set[str]:
    """Return `model YYYY-MM` of what was built since, views and the night's day apart."""
    changed = fingerprints(home) - before
    return {f"{model} {month:%Y-%m}" for model, month, _ in changed if month.year > 1}  # type: ignore[attr-defined]


def test_two_payers_and_a_google_account_meet_in_one_currency(home: House) -> None:
    home.configure(AWS, CHINA, GCP, EUR)
    write_rates(home)
    deliver(home)
    home.night("2026-11-04")
    # 100 / 1.25 + 64 / 1.28 (of the 2nd, over the 3rd) + 80 / 1.6; 800 / 8 + 80 / 8; 30 / 2.
    assert costs(home) == amounts(
        ("aws", "2026-10", "USD", "244", "180"),
        ("aws", "2026-11", "USD", "30", "15"),
        ("aws-cn", "2026-10", "CNY", "880", "110"),
        ("gcp", "2026-10", "EUR", "7", "7"),
    )
    days = query(
        home.finance,
        "select charge_date::varchar, sum(billed_cost), sum(converted_effective_cost), sum(converted_list_cost)"
        " from marts.project_daily_cost where source = 'aws' group by 1 order by 1",
    )
    assert days == [
        ("2026-10-01", Decimal(100), Decimal(80), Decimal(80)),
        ("2026-10-03", Decimal(64), Decimal(50), Decimal(50)),
        ("2026-10-31", Decimal(80), Decimal(50), Decimal(50)),
        ("2026-11-03", Decimal(30), Decimal(15), Decimal(15)),
    ]
    for mart in ("monthly_cost", "project_daily_cost", "service_daily_cost"):
        assert query(home.finance, f"select sum(converted_billed_cost) from marts.{mart}") == [(Decimal(312),)]
    assert query(home.finance, "select distinct made_from, source from settings.exchange_rate where rate = 0.125") == [
        ("EUR to CNY 8", "ECB")
    ]
    again = json.loads(home.night("2026-11-04", "--json").stdout)
    assert (again["built"], again["published"][0]["is_new"]) == (0, False)
    status = home.run("status", "--as-of", "2026-11-04").stdout
    assert "Costs in EUR (charge-day)\n  CNY: rates from 2026-10-01 to 2026-11-02 (ECB)\n  USD: rates" in status


@pytest.mark.parametrize(
    ("rule", "usd", "cny", "november"),
    [
        # 244 / 1.6; 880 / 10; November runs: 30 / 2.
        ("month-end", "152.5", "88", "15"),
        # 244 x (0.8 + 0.78125 + 0.625) / 3 at 12 decimals, day by day; 880 x (0.125 + 0.125 + 0.1) / 3.
        ("month-average", "179.441666666748", "102.66666666696", "15"),
    ],
)
def test_a_month_has_one_rate_under_a_monthly_rule(home: House, rule: str, usd: str, cny: str, november: str) -> None:
    home.configure(AWS, CHINA, GCP, EUR, f'rate = "{rule}"\ncarry_days = 14\n')
    # Gaps of more than 14 days are no mean, so there is a line between.
    middle = [] if rule == "month-end" else ["2026-10-16,EUR,USD,1.25,ECB", "2026-10-16,EUR,CNY,8,ECB"]
    first = [line for line in RATES if not (middle and line.startswith("2026-10-01"))]
    write_rates(home, [*first, *middle])
    deliver(home)
    home.night("2026-11-04")
    assert costs(home) == amounts(
        ("aws", "2026-10", "USD", "244", usd),
        ("aws", "2026-11", "USD", "30", november),
        ("aws-cn", "2026-10", "CNY", "880", cny),
        ("gcp", "2026-10", "EUR", "7", "7"),
    )


def test_a_missing_rate_ends_the_night_with_4_and_the_last_copy_stands(home: House, slack: SlackServer) -> None:
    home.configure(AWS, GCP, EUR, TEAMS, BUDGET, ROUTE_TO_SLACK)
    write_rates(home)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "95", day=3))
    home.night("2026-11-04", code=6)
    before = costs(home)
    assert before == amounts(("aws", "2026-11", "USD", "95", "47.5"))

    # Usage of the 8th: the rate of the 2nd holds through the 7th. What waited is sent, nothing is concluded.
    late = [*aws_lines("2026-11", "95", day=3), *aws_lines("2026-11", "1", day=8)]
    home.deliver_aws("2026-11", *late, version="20261109T000000Z-e2")
    home.environ["VISION_SLACK_URL"] = slack.url
    told = len(slack.bodies)
    ran = home.night("2026-11-09", code=4)
    assert "error: no rate from USD to EUR on 2026-11-08: 1 days of 2026-11 with costs in USD need one" in ran.stderr
    assert f"hint: add the day to {home.folder / 'rates.csv'}: its rates of USD go from 2026-10-01" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert costs(home) == before
    assert len(slack.bodies) == told + 1
    assert "no rate from USD to EUR on 2026-11-08" in home.run("status", "--as-of", "2026-11-09").stdout

    # The other commands that build say the same; the night with the rate makes up for it.
    assert home.run("build", "--as-of", "2026-11-09").code == 4
    write_rates(home, [*RATES, "2026-11-06,EUR,USD,2,ECB"])
    assert home.night("2026-11-09").stderr == ""
    assert costs(home) == amounts(("aws", "2026-11", "USD", "96", "48"))


def test_a_currency_that_no_line_leads_to_is_named_with_its_pair(home: House) -> None:
    home.configure(AWS, CHINA, GCP, EUR)
    write_rates(home, [line for line in RATES if "CNY" not in line])
    deliver(home)
    ran = home.night("2026-11-04", code=4)
    assert "error: no rate from CNY to EUR on 2026-10-01: 2 days of 2026-10 with costs in CNY need one" in ran.stderr
    assert "no line of it leads from CNY to EUR" in ran.stderr
    home.configure(AWS, CHINA, GCP, '[currency]\nreporting_currency = "EUR"\n')
    ran = home.night("2026-11-04", code=4)
    assert "hint: name a file of rates in [currency]" in ran.stderr


def test_without_a_currency_several_are_billed_and_none_is_converted(home: House) -> None:
    home.configure(AWS, CHINA, GCP)
    deliver(home)
    home.night("2026-11-04")
    assert [row[4:] for row in costs(home)] == [(None, None)] * 4
    assert query(home.finance, "select count(*) from core.exchange_rate") == [(0,)]


def test_a_broken_file_ends_the_run_with_2_before_anything_begins(home: House) -> None:
    home.configure(AWS, CHINA, GCP, EUR)
    write_rates(home)
    deliver(home)
    home.night("2026-11-04")
    before = (costs(home), fingerprints(home))
    write_rates(home, [*RATES, '2026-11-03,EUR,USD,"1,5",ECB'])
    home.deliver_aws("2026-11", *aws_lines("2026-11", "500", day=3), version="20261105T000000Z-e2")
    for command in ("nightly", "build"):
        ran = home.run(command, "--as-of", "2026-11-05")
        assert ran.code == 2, command
        assert f'{home.folder / "rates.csv"}:10: rate: "1,5" has a comma' in ran.stderr
        assert (costs(home), fingerprints(home)) == before, command


def test_a_new_rate_builds_the_months_that_it_reaches_and_what_depends_on_it(home: House) -> None:
    home.configure(AWS, CHINA, GCP, EUR)
    write_rates(home, RATES[:6])
    deliver(home)
    home.night("2026-11-04")
    before = fingerprints(home)
    dependants = {
        "core.exchange_rate", "core.costs_converted", "core.budget_daily_spend", "marts.monthly_cost",
        "marts.project_daily_cost", "marts.service_daily_cost",
    }  # fmt: skip

    # November's first rates: October is worth what it was.
    write_rates(home)
    home.night("2026-11-04")
    built = rebuilt(home, before)
    assert {name for name in built if name.endswith("2026-11")} >= {f"{model} 2026-11" for model in dependants}
    assert not {name for name in built if name.split(" ")[0] not in dependants}

    # Another day, another rate of November: October is not touched at all.
    before = fingerprints(home)
    write_rates(home, [*RATES, "2026-11-03,EUR,USD,1,ECB"])
    home.night("2026-11-04")
    assert rebuilt(home, before) == {f"{model} 2026-11" for model in dependants}
    assert costs(home)[1] == amounts(("aws", "2026-11", "USD", "30", "30"))[0]

    # A corrected rate of October changes October, and what comes after might have stood on it.
    before = fingerprints(home)
    write_rates(home, [RATES[0].replace("1.25", "1"), *RATES[1:], "2026-11-03,EUR,USD,1,ECB"])
    home.night("2026-11-04")
    assert rebuilt(home, before) == {f"{model} {month}" for model in dependants for month in ("2026-10", "2026-11")}
    assert costs(home)[0] == amounts(("aws", "2026-10", "USD", "244", "200"))[0]

    # A rate of a currency that nobody bills changes nothing.
    before = fingerprints(home)
    write_rates(
        home, [RATES[0].replace("1.25", "1"), *RATES[1:], "2026-11-03,EUR,USD,1,ECB", "2026-11-03,EUR,GBP,1,ECB"]
    )
    home.night("2026-11-04")
    assert fingerprints(home) == before
