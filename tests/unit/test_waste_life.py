"""The life of a finding, by hand arithmetic; and that no id of a cloud becomes a second command."""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import date
from decimal import Decimal

import pytest

from analysis.waste import Evaluation, Followed, Found, follow
from analysis.waste_steps import stop_step

CHECK = ("aws", "idle_nat")
FOUND = Found(
    source="aws",
    check_name="idle_nat",
    provider="AWS",
    resource_id="nat-1",
    resource_name=None,
    sub_account_id="222222222222",
    region_id="us-east-1",
    project="detector",
    team="vision",
    billing_currency="USD",
    outcome="waste",
    is_counted=True,
    usage_cost=Decimal("3.24"),
    wasted_cost=Decimal("3.24"),
    cash_saving=Decimal("3.24"),
    charged_days=3,
    window_start=date(2026, 10, 2),
    window_end=date(2026, 10, 5),
    evidence="3 of 3 days",
)
BEFORE = {CHECK: "3"}


UNKNOWN = replace(FOUND, outcome="unknown", wasted_cost=Decimal(0), cash_saving=Decimal(0), is_counted=False)


def evaluation(
    end: date = date(2026, 10, 5),
    *,
    numbers: str = "3",
    is_made: bool = True,
    is_off: bool = False,
    is_charged: bool = False,
) -> Evaluation:
    return Evaluation(
        numbers={CHECK: numbers} if is_made else {},
        ends={CHECK: end},
        off=frozenset({CHECK}) if is_off else frozenset(),
        charged=frozenset({(*CHECK, "nat-1")}) if is_charged else frozenset(),
    )


def known(*followed: Followed) -> dict[str, Followed]:
    return {one.found.finding_id: one for one in followed}


def test_what_a_check_finds_when_it_is_first_made_is_a_baseline() -> None:
    (first,) = follow([FOUND], {}, evaluation(), {}, date(2026, 10, 6))
    assert (first.status, first.is_baseline, first.first_seen) == ("new", True, date(2026, 10, 2))
    (news,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    assert not news.is_baseline
    (changed,) = follow([FOUND], {}, evaluation(), {CHECK: "14"}, date(2026, 10, 6))
    assert changed.is_baseline


def test_a_month_is_730_hours() -> None:
    assert FOUND.monthly_cost == Decimal("32.850000000000")


def test_money_so_far_grows_by_complete_days_alone() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    later = replace(FOUND, window_start=date(2026, 10, 4), window_end=date(2026, 10, 7))
    (still,) = follow([later], known(first), evaluation(date(2026, 10, 7)), BEFORE, date(2026, 10, 8))
    assert (still.status, still.so_far_cost, still.first_seen) == (
        "still",
        Decimal("5.400000000000"),
        date(2026, 10, 2),
    )
    assert follow([later], known(still), evaluation(date(2026, 10, 7)), BEFORE, date(2026, 10, 8)) == [still]


def test_the_same_night_twice_is_the_same() -> None:
    first = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    assert follow([FOUND], known(*first), evaluation(), BEFORE, date(2026, 10, 6)) == first


def test_what_is_no_longer_found_is_resolved_and_counts_what_it_would_have_cost() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    (gone,) = follow([], known(first), evaluation(date(2026, 10, 9)), BEFORE, date(2026, 10, 10))
    assert (gone.status, gone.resolved_on, gone.saved_cost) == (
        "resolved",
        date(2026, 10, 10),
        Decimal("4.320000000000"),
    )
    (later,) = follow([], known(gone), evaluation(date(2026, 10, 10)), BEFORE, date(2026, 10, 11))
    assert (later.resolved_on, later.saved_cost) == (date(2026, 10, 10), Decimal("5.400000000000"))
    assert follow([], known(later), evaluation(date(2027, 10, 10)), BEFORE, date(2027, 10, 11)) == []
    (again,) = follow([FOUND], known(later), evaluation(), BEFORE, date(2026, 10, 20))
    assert (again.status, again.first_found, again.saved_cost) == ("new", date(2026, 10, 20), Decimal(0))


def test_a_resource_that_is_no_longer_charged_on_all_days_is_resolved() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    (gone,) = follow([UNKNOWN], known(first), evaluation(), BEFORE, date(2026, 10, 7))
    assert gone.status == "resolved"


def test_what_is_still_charged_saves_nothing_and_what_is_only_unknown_now_is_not_resolved() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    later = evaluation(date(2026, 10, 9), is_charged=True)
    (used,) = follow([], known(first), later, BEFORE, date(2026, 10, 10))
    assert (used.status, used.saved_cost) == ("resolved", Decimal(0))
    (unclear,) = follow([UNKNOWN], known(first), later, BEFORE, date(2026, 10, 10))
    assert (unclear.status, unclear.found.outcome, unclear.saved_cost) == ("still", "unknown", Decimal(0))


def test_other_numbers_of_a_check_resolve_nothing() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    assert follow([], known(first), evaluation(date(2026, 10, 9), numbers="14"), BEFORE, date(2026, 10, 10)) == []


def test_a_night_of_an_earlier_day_changes_nothing() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    earlier = replace(FOUND, window_start=date(2026, 9, 30), window_end=date(2026, 10, 3))
    back = evaluation(date(2026, 10, 3))
    assert follow([earlier], known(first), back, BEFORE, date(2026, 10, 4)) == [first]
    assert follow([], known(first), back, BEFORE, date(2026, 10, 4)) == [first]


def test_what_was_too_young_is_news_once_it_is_old_enough() -> None:
    young = replace(FOUND, outcome="unknown", wasted_cost=Decimal(0), cash_saving=Decimal(0), is_counted=False)
    (first,) = follow([young], {}, evaluation(), {}, date(2026, 10, 4))
    (news,) = follow([FOUND], known(first), evaluation(), BEFORE, date(2026, 10, 6))
    assert (news.status, news.is_baseline, news.first_found) == ("new", False, date(2026, 10, 6))
    assert follow([], known(first), evaluation(), BEFORE, date(2026, 10, 6)) == []


def test_a_check_that_could_not_be_made_says_nothing_and_one_turned_off_is_forgotten() -> None:
    (first,) = follow([FOUND], {}, evaluation(), BEFORE, date(2026, 10, 6))
    assert follow([], known(first), evaluation(is_made=False), BEFORE, date(2026, 10, 7)) == [first]
    assert follow([], known(first), evaluation(is_made=False, is_off=True), BEFORE, date(2026, 10, 7)) == []


@pytest.mark.parametrize(
    ("name", "provider", "resource", "step"),
    [
        ("idle_nat", "AWS", "nat-1", "aws ec2 delete-nat-gateway --nat-gateway-id=nat-1 --region=us-east-1"),
        (
            "old_snapshot",
            "AWS",
            "arn:aws:ec2:us-east-1:1:snapshot/snap-1",
            "aws ec2 delete-snapshot --snapshot-id=snap-1 --region=us-east-1",
        ),
        (
            "stopped_machine_disk",
            "Google Cloud",
            "//compute.googleapis.com/projects/p/zones/us-east1-b/disks/vm-1",
            "Snapshot the disk; once that is complete, detach the disk and delete it.",
        ),
        (
            "idle_load_balancer",
            "AWS",
            "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/app/web/1f",
            "aws elbv2 delete-load-balancer"
            " --load-balancer-arn=arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/app/web/1f --region=us-east-1",
        ),
        (
            "idle_load_balancer",
            "AWS",
            "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/classic",
            "aws elb delete-load-balancer --load-balancer-name=classic --region=us-east-1",
        ),
        (
            "always_on_notebook",
            "AWS",
            "arn:aws:sagemaker:us-east-1:1:app/d-1/bob/JupyterLab/default",
            "Stop it in the console when nobody works, or give it an idle timeout.",
        ),
        ("gp2_volume", "AWS", "volume/", "Delete it in the console if nothing needs it."),
        ("log_growth", "AWS", "logs-1", "Give the log group a retention time."),
        ("unheard_of", "AWS", "x", "Delete it in the console if nothing needs it."),
        # An id with a line end or an escape is no id: no command is made of it.
        ("idle_nat", "AWS", "nat-1\nrm -rf /", "Delete the gateway in the console, under Cloud NAT."),
    ],
)
def test_a_step_is_a_command_where_one_does(name: str, provider: str, resource: str, step: str) -> None:
    assert stop_step(name, provider, resource_id=resource, region="us-east-1", sub_account="2") == step


def test_there_is_no_command_for_what_is_not_claimed() -> None:
    step = stop_step("idle_nat", "AWS", resource_id="nat-1", region=None, sub_account=None, is_waste=False)
    assert step == "Delete the gateway in the console, under Cloud NAT."


@pytest.mark.parametrize("hostile", ["nat-1; rm -rf ~", "$(reboot)", "`x`", "a' b", "--all", "x && y"])
def test_an_id_stays_one_word(hostile: str) -> None:
    step = stop_step("idle_nat", "AWS", resource_id=hostile, region=None, sub_account=None)
    assert shlex.split(step) == ["aws", "ec2", "delete-nat-gateway", f"--nat-gateway-id={hostile.rsplit('/', 1)[-1]}"]
