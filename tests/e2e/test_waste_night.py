"""Waste over nights: found, told once, told again after a week, dismissed, resolved; through Slack and email."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.crash import Forker
from tests.fakes.exports import Row, cur_line
from tests.fakes.nights import AWS, ROUTE_TO_BOTH, TEAMS, House, house, query
from tests.fakes.servers import MailServer, SlackServer

pytestmark = pytest.mark.e2e

WASTE = """\
[waste.idle_nat]
window_days = 3
"""
STATUSES = (
    "select resource_id, status, first_found::varchar, so_far_cost, saved_cost from marts.waste_findings order by 1"
)


@pytest.fixture
def place(tmp_path: Path, forker: Forker, slack: SlackServer, mail: MailServer) -> Iterator[House]:
    slack.bodies.clear()
    mail.mails.clear()
    made = house(tmp_path / "house", forker, VISION_SLACK_URL=slack.url)
    made.configure(AWS, TEAMS, ROUTE_TO_BOTH.format(port=mail.port), WASTE)
    yield made


def hours(gateway: str, first: int, last: int, *, traffic_on: int = 0) -> list[Row]:
    """Return what a gateway of the project `detector` is charged on each day: 24 hours at 0.045 are 1.08."""
    shared = {"resource": gateway, "resource_tags": '{"user_project":"detector"}', "product_region_code": "us-east-1"}
    lines = [
        cur_line(
            cost="1.08", start=f"2026-10-{day:02d}T00:00:00Z", end=f"2026-10-{day + 1:02d}T00:00:00Z",
            line_item_usage_type="NatGateway-Hours", line_item_usage_amount="24", **shared,
        )
        for day in range(first, last + 1)
    ]  # fmt: skip
    if traffic_on:
        lines.append(
            cur_line(
                cost="0.9", start=f"2026-10-{traffic_on:02d}T00:00:00Z", end=f"2026-10-{traffic_on + 1:02d}T00:00:00Z",
                line_item_usage_type="NatGateway-Bytes", line_item_usage_amount="20", **shared,
            )
        )  # fmt: skip
    return lines


def test_waste_is_told_once_then_weekly_until_it_is_dismissed_or_resolved(
    place: House, slack: SlackServer, mail: MailServer
) -> None:
    place.deliver_aws("2026-10", *hours("nat-1", 1, 5))
    place.night("2026-10-06")
    # 3 days at 1.08 are complete: 3.24, and 1.08 x 730 / 24 a month.
    assert query(place.finance, "select status, is_baseline, wasted_cost, monthly_cost from marts.waste_findings") == [
        ("new", True, *query(place.finance, "select 3.24::decimal(38,12), 32.85::decimal(38,12)")[0])
    ]
    assert slack.texts[0].splitlines()[0] == "32.85 USD a month for nothing: 1 finding"
    assert "aws ec2 delete-nat-gateway --nat-gateway-id=nat-1 --region=us-east-1" in json.dumps(slack.bodies[0])
    assert mail.subjects == ["32.85 USD a month for nothing: 1 finding"]
    place.night("2026-10-06")
    assert (len(slack.bodies), len(mail.mails)) == (1, 1)

    # On the next night a second gateway has been idle for long enough, and a third has traffic.
    lines = [*hours("nat-1", 1, 6), *hours("nat-2", 3, 6), *hours("nat-3", 1, 6, traffic_on=4)]
    place.deliver_aws("2026-10", *lines, version="20261007T000000Z-e2")
    place.night("2026-10-07")
    assert len(slack.bodies) == 2
    assert "New: 32.85 USD a month: NAT gateway without traffic, nat-2" in slack.texts[1]
    assert "nat-1" not in json.dumps(slack.bodies[1])
    assert [row[:3] for row in query(place.finance, STATUSES)] == [
        ("nat-1", "still", "2026-10-06"),
        ("nat-2", "new", "2026-10-07"),
    ]
    # One complete day more: 4 x 1.08.
    assert query(place.finance, STATUSES)[0][3] == query(place.finance, "select 4.32::decimal(38,12)")[0][0]

    place.night("2026-10-12")
    assert len(slack.bodies) == 2
    place.night("2026-10-13")
    assert len(slack.bodies) == 3
    assert "Of what costs money for nothing: 2 that still are." in json.dumps(slack.bodies[2])

    # nat-1 is dismissed; nat-2 was deleted at the end of 6 October.
    listed = json.loads(place.run("waste", "--json", "--as-of", "2026-10-13").stdout)
    ids = {finding["resource_id"]: finding["finding_id"] for finding in listed["findings"]}
    assert listed["monthly_cost"] == {"USD": "65.700000000000"}
    said = place.run(
        "waste", "dismiss", ids["nat-1"], "--until", "2026-12-31", "--reason", "for the audit", "--by", "Ada"
    )
    assert said.code == 0, said.stderr
    now = json.loads(place.run("waste", "--json", "--as-of", "2026-10-13").stdout)
    assert [finding["resource_id"] for finding in now["findings"]] == ["nat-2"]
    lines = [*hours("nat-1", 1, 19), *hours("nat-2", 3, 6)]
    place.deliver_aws("2026-10", *lines, version="20261020T000000Z-e3")
    place.night("2026-10-20")
    assert len(slack.bodies) == 3
    rows = query(place.finance, STATUSES)
    assert [row[:2] for row in rows] == [("nat-1", "dismissed"), ("nat-2", "resolved")]
    # From 6 October, where its last window ended, through 18 October it would have cost 13 x 1.08.
    assert rows[1][4] == query(place.finance, "select 14.04::decimal(38,12)")[0][0]


def test_a_night_that_is_killed_tells_of_waste_once(place: House, slack: SlackServer) -> None:
    place.deliver_aws("2026-10", *hours("nat-1", 1, 5))
    place.killed("nightly", "--as-of", "2026-10-06", at="before state insert into outbox")
    assert slack.bodies == []
    place.night("2026-10-06")
    assert len(slack.bodies) == 1
    place.night("2026-10-06")
    assert len(slack.bodies) == 1


def test_little_waste_waits_and_nobodys_waste_goes_to_the_default_route(place: House, slack: SlackServer) -> None:
    (place.folder / "overrun.toml").write_text(
        (place.folder / "overrun.toml")
        .read_text()
        .replace("[waste.idle_nat]", '[waste]\nminimum_monthly = "40"\n[waste.idle_nat]')
    )
    place.deliver_aws("2026-10", *hours("nat-1", 1, 5))
    place.night("2026-10-06")
    assert slack.bodies == []
    lines = [*hours("nat-1", 1, 6), *hours("nat-2", 3, 6)]
    orphan = [
        line | {"resource_tags": "{}", "line_item_usage_account_id": "999999999999"} for line in hours("nat-9", 1, 6)
    ]
    place.deliver_aws("2026-10", *lines, *orphan, version="20261007T000000Z-e2")
    place.night("2026-10-07")
    assert len(slack.bodies) == 1
    assert "65.70 USD a month for nothing: 2 findings" in slack.texts[0]
    assert "nat-9" not in json.dumps(slack.bodies)


def test_dismissing_what_is_not_there_is_refused(place: House) -> None:
    place.deliver_aws("2026-10", *hours("nat-1", 1, 5))
    place.night("2026-10-06")
    ran = place.run("waste", "dismiss", "nothing", "--until", "2026-12-31", "--reason", "x")
    assert ran.code == 2
    assert "there is no finding 'nothing'" in ran.stderr
    checks = place.run("waste", "checks", "--as-of", "2026-10-06").stdout
    assert "only 4 of 90 days are loaded" in checks or "of 90 days are loaded" in checks
    shown = place.run("waste", "--team", "vision", "--all", "--as-of", "2026-10-06").stdout
    assert "32.85 USD a month go for nothing" in shown
    assert (
        place.run("waste", "--team", "nlp", "--as-of", "2026-10-06").stdout
        == "nothing is found that costs money for nothing\n"
    )
