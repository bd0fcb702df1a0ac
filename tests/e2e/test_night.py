"""Whole nights as cron runs them: what changes, what is told, which exit code speaks, and what a rebuild gives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sql.contract import STORED_COLUMNS
from sql.warehouse import Row, Warehouse, WarehouseSettings
from tests.fakes.crash import ROOT
from tests.fakes.nights import (
    AWS,
    BUDGET,
    GCP,
    ROUTE_TO_BOTH,
    ROUTE_TO_SLACK,
    TEAMS,
    House,
    aws_lines,
    differences,
    gcp_rows,
    query,
    tables,
)
from tests.fakes.servers import MailServer, SlackServer

pytestmark = pytest.mark.e2e

BILLED = (
    'select "x_Source", strftime("x_BillingMonth", \'%Y-%m\'), cast(sum("BilledCost") as double)'
    " from focus.cost_and_usage group by all order by all"
)


@pytest.fixture(autouse=True)
def _no_messages(slack: SlackServer, mail: MailServer) -> Iterator[None]:
    slack.bodies.clear()
    mail.mails.clear()
    yield


def report_of(place: House, as_of: str, *more: str, code: int = 0) -> dict[str, object]:
    """Run a night and return its report."""
    report = json.loads(place.night(as_of, "--json", *more, code=code).stdout)
    assert isinstance(report, dict)
    return report


def loaded(report: Mapping[str, object]) -> list[tuple[str, str]]:
    """Return the (source, month) that a night loaded."""
    rows = report["loaded"]
    assert isinstance(rows, list)
    return [(row["source"], row["billing_month"]) for row in rows]


def facts(path: Path) -> tuple[int, int, int]:
    """Return what tells whether a file was touched."""
    stat = path.stat()
    return stat.st_ino, stat.st_mtime_ns, stat.st_size


def as_a_user(place: House, as_of: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a night as a program of its own."""
    return subprocess.run(
        [sys.executable, "-m", "overrun", "nightly", "--config", str(place.folder / "overrun.toml"), "--as-of", as_of],
        cwd=ROOT, env={**os.environ, **place.environ, **environ}, capture_output=True, text=True, check=False,
    )  # fmt: skip


# Nothing new


def test_a_second_night_right_after_the_first_changes_nothing(home: House, slack: SlackServer) -> None:
    home.configure(AWS, GCP, TEAMS, BUDGET, ROUTE_TO_SLACK)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "70", "20"))
    home.deliver_gcp("november.ndjson", *gcp_rows("2026-11", "4"))
    home.environ["VISION_SLACK_URL"] = slack.url
    first = as_a_user(home, "2026-11-20")
    assert (first.returncode, first.stdout, first.stderr) == (0, "", "")
    assert len(slack.bodies) == 1
    before, told, held = facts(home.finance), home.told(), tables(home.warehouse)

    second = as_a_user(home, "2026-11-20")
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")
    report = report_of(home, "2026-11-20")
    assert (loaded(report), report["unchanged"], report["built"], report["queued"], report["sent"]) == ([], 2, 0, 0, 0)
    assert report["published"] == [{"path": str(home.finance), "is_new": False}]
    assert facts(home.finance) == before
    assert (differences(home.told(), told), differences(tables(home.warehouse), held)) == ([], [])
    assert len(slack.bodies) == 1


def test_a_night_without_sources_or_deliveries_is_a_night(home: House) -> None:
    home.configure()
    assert home.night("2026-11-20").stderr == ""
    home.configure(AWS, GCP)
    assert home.night("2026-11-20").stderr == ""
    assert query(home.finance, "select count(*) from focus.cost_and_usage") == [(0,)]


# Exit codes


MISSING = """\
[[source]]
name = "elsewhere"
kind = "focus-export"
location = "exports/elsewhere"
"""


def test_the_worst_failure_speaks_for_the_night_and_the_others_go_on(home: House, slack: SlackServer) -> None:
    home.configure(AWS, GCP, TEAMS, BUDGET)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "1", "2", "3"))
    home.deliver_gcp("november.ndjson", *gcp_rows("2026-11", "4"))
    home.night("2026-11-10")

    # A source that is not there: 3.
    home.configure(MISSING, AWS, GCP, TEAMS, BUDGET)
    home.deliver_gcp("november.ndjson", *gcp_rows("2026-11", "4", "5"))
    ran = home.night("2026-11-11", code=3)
    assert "error: source elsewhere: " in ran.stderr
    assert ran.stderr.count("error: ") == 1
    assert query(home.finance, BILLED) == [("aws", "2026-11", 6.0), ("gcp", "2026-11", 9.0)]

    # And a month that shrank: 4, with the last good version in place.
    home.deliver_aws("2026-11", *aws_lines("2026-11", "1"), version="20261112T000000Z-e2")
    home.deliver_gcp("november.ndjson", *gcp_rows("2026-11", "4", "5", "6"))
    ran = home.night("2026-11-12", code=4)
    assert "error: source aws, 2026-11: the month has 1 rows where 3 are loaded" in ran.stderr
    assert "hint: if that is right, run again with --accept-shrink" in ran.stderr
    assert ran.stderr.count("error: ") == 2
    assert "Traceback" not in ran.stderr
    assert query(home.finance, BILLED) == [("aws", "2026-11", 6.0), ("gcp", "2026-11", 15.0)]

    # A message that cannot be delivered changes nothing in that: 4 before 3 before 6.
    home.configure(MISSING, AWS, GCP, TEAMS, BUDGET, ROUTE_TO_SLACK)
    home.night("2026-11-12", code=4)
    home.night("2026-11-12", "--accept-shrink", code=3)
    home.configure(AWS, GCP, TEAMS, BUDGET, ROUTE_TO_SLACK)
    home.night("2026-11-12", code=6)
    home.environ["VISION_SLACK_URL"] = slack.url
    assert home.night("2026-11-12").stderr == ""
    assert query(home.finance, BILLED) == [("aws", "2026-11", 1.0), ("gcp", "2026-11", 15.0)]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('[[source]]\nname = "aws\n', "overrun.toml:2", ""),
        ('[warehouse]\nthreads = 1\npaht = "x.duckdb"\n', "overrun.toml:3", "path"),
    ],
    ids=["broken", "unknown-key"],
)
def test_a_wrong_configuration_is_told_with_its_line(home: House, text: str, place: str, words: str) -> None:
    (home.folder / "overrun.toml").write_text(text, encoding="utf-8")
    ran = home.night("2026-11-20", code=2)
    assert place in ran.stderr
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not home.warehouse.exists()


# Messages


def test_a_message_whose_secret_is_not_set_waits_for_the_night_on_which_it_is(home: House, slack: SlackServer) -> None:
    home.configure(AWS, TEAMS, BUDGET, ROUTE_TO_SLACK)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "10"))
    for night in ("2026-11-20", "2026-11-21"):
        ran = home.night(night, code=6)
        assert "VISION_SLACK_URL" in ran.stderr
    assert home.statuses() == [("welcome", "vision-slack", "pending")]
    home.environ["VISION_SLACK_URL"] = slack.url
    assert home.night("2026-11-22").stderr == ""
    assert home.statuses() == [("welcome", "vision-slack", "sent")]
    assert len(slack.bodies) == 1


def test_each_threshold_is_told_once_a_month_on_every_channel(
    home: House, slack: SlackServer, mail: MailServer
) -> None:
    home.environ["VISION_SLACK_URL"] = slack.url
    home.configure(AWS, TEAMS, BUDGET, ROUTE_TO_BOTH.format(port=mail.port))
    received: list[tuple[int, int]] = []
    for day, spent in ((5, "10"), (6, "60"), (7, "85"), (8, "95"), (9, "120"), (10, "130"), (11, "130")):
        home.deliver_aws("2026-11", *aws_lines("2026-11", spent), version=f"202611{day:02d}T000000Z-e{day}")
        assert home.night(f"2026-11-{day:02d}").stderr == ""
        received.append((len(slack.bodies), len(mail.mails)))
    assert received == [(1, 1), (1, 1), (2, 2), (2, 2), (3, 3), (3, 3), (3, 3)]
    assert ["80%" in text for text in slack.texts] == [False, True, False]
    assert ["100%" in text for text in mail.subjects] == [False, False, True]

    home.deliver_aws("2026-12", *aws_lines("2026-12", "85"))
    assert home.night("2026-12-05").stderr == ""
    assert home.night("2026-12-06").stderr == ""
    assert (len(slack.bodies), len(mail.mails)) == (4, 4)
    assert "80%" in slack.texts[3]
    assert not home.resent()


def test_a_message_without_channel_is_shown_and_kept(home: House) -> None:
    home.configure(AWS, TEAMS, BUDGET)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "10"))
    assert "First message to this route." in home.night("2026-11-10").stdout
    home.deliver_aws("2026-11", *aws_lines("2026-11", "90"), version="20261111T000000Z-e2")
    shown = home.night("2026-11-11").stdout
    assert "vision-monthly" in shown
    assert "90.00" in shown
    assert home.night("2026-11-11").stdout == ""
    assert home.statuses() == [("welcome", "", "kept"), ("budget", "", "kept")]


def test_news_about_earlier_months_is_no_message(home: House, slack: SlackServer) -> None:
    home.environ["VISION_SLACK_URL"] = slack.url
    home.configure(AWS, TEAMS, BUDGET, ROUTE_TO_SLACK)
    home.deliver_aws("2026-11", *aws_lines("2026-11", "10"))
    home.deliver_aws("2026-10", *aws_lines("2026-10", "10"))
    home.night("2026-11-10")
    slack.bodies.clear()

    home.deliver_aws("2026-08", *aws_lines("2026-08", "500"))
    home.deliver_aws("2026-10", *aws_lines("2026-10", "500"), version="20261111T000000Z-e2")
    assert loaded(report_of(home, "2026-11-11")) == [("aws", "2026-08"), ("aws", "2026-10")]
    # What belonged to nobody in October belongs to the team from now on.
    home.deliver_aws("2026-10", *aws_lines("2026-10", "500", account="333333333333"), version="20261112T000000Z-e3")
    home.night("2026-11-12")
    wider = TEAMS.replace("accounts = {", 'accounts = { "333333333333" = "segmenter",')
    home.configure(AWS, wider, BUDGET, ROUTE_TO_SLACK)
    assert report_of(home, "2026-11-13")["built"] != 0
    assert slack.bodies == []


# The warehouse made anew


@pytest.fixture
def full(home: House) -> House:
    """Return a house after a few nights: two sources, a month delivered twice."""
    home.configure(AWS, GCP, TEAMS, BUDGET)
    home.deliver_aws("2026-10", *aws_lines("2026-10", "4", "5"))
    home.deliver_aws("2026-11", *aws_lines("2026-11", "70", "20"))
    home.deliver_gcp("november.ndjson", *gcp_rows("2026-11", "4"))
    home.night("2026-11-20")
    home.deliver_aws("2026-10", *aws_lines("2026-10", "4", "6"), version="20261120T000000Z-e2")
    home.night("2026-11-21")
    return home


def execute(place: House, *statements: str) -> None:
    """Change the warehouse by hand."""
    with Warehouse.open(WarehouseSettings(path=place.warehouse)) as warehouse:
        for statement in statements:
            warehouse.execute(statement)


def test_a_rebuild_gives_equal_tables(full: House) -> None:
    before, inode = tables(full.warehouse), full.warehouse.stat().st_ino
    ran = full.run("rebuild", "--as-of", "2026-11-21")
    assert (ran.code, ran.stderr) == (0, "")
    assert "rebuilt: 3 months from landed files, 0 copied" in ran.stdout
    assert full.warehouse.stat().st_ino != inode
    assert differences(tables(full.warehouse), before) == []
    assert differences(tables(full.finance), before) == []
    assert loaded(report_of(full, "2026-11-21")) == []
    assert full.leftovers() == []


def test_a_rebuild_without_the_old_warehouse_gives_equal_tables(full: House) -> None:
    before = tables(full.warehouse, is_ledger_wanted=False)
    full.warehouse.unlink()
    ran = full.run("rebuild", "--as-of", "2026-11-21")
    assert (ran.code, ran.stderr) == (0, "")
    # What a month was restated from is history, and went with the ledger.
    history = {
        'core."loads_stretched"', 'core."loads_numbered"', 'core."loads_invoiced"', 'core."loads_final"',
        'core."loads_judged"', 'core."loads_restating"', 'marts."month_status"', 'marts."restatements"',
    }  # fmt: skip
    assert set(differences(tables(full.warehouse, is_ledger_wanted=False), before)) <= history
    assert loaded(report_of(full, "2026-11-21")) == []


def test_a_warehouse_of_another_version_is_made_anew_by_the_next_night(full: House) -> None:
    before, inode = tables(full.warehouse), full.warehouse.stat().st_ino
    execute(full, "update ops.meta set value = '0' where key in ('schema_version', 'conversion_hash')")
    assert loaded(report_of(full, "2026-11-21")) == []
    assert full.warehouse.stat().st_ino != inode
    assert differences(tables(full.warehouse), before) == []
    assert differences(tables(full.finance), before) == []
    assert full.leftovers() == []


def test_a_migration_that_does_not_tie_leaves_the_old_warehouse(full: House) -> None:
    execute(
        full,
        "update ops.meta set value = '0' where key in ('schema_version', 'conversion_hash')",
        "update ops.load_total set billed_cost = billed_cost + 1 where provider = 'Google Cloud'",
    )
    before, published = tables(full.warehouse), facts(full.finance)
    ran = full.night("2026-11-21", code=4)
    assert "the rebuilt month does not come to what is loaded" in ran.stderr
    assert differences(tables(full.warehouse), before) == []
    assert facts(full.finance) == published
    assert full.leftovers() == []


def test_what_a_killed_load_wrote_aside_is_not_published(full: House) -> None:
    execute(full, 'create table parts."aws__2026_10__aside" as select 1 as one')
    assert full.run("publish", "--force", "--as-of", "2026-11-21").code == 0
    assert query(full.finance, "select table_name from duckdb_tables() where contains(table_name, 'aside')") == []


def test_months_whose_landed_files_are_gone_are_copied(full: House) -> None:
    before = tables(full.warehouse)
    shutil.rmtree(full.folder / "landing" / "aws" / "2026-10")
    ran = full.run("rebuild", "--as-of", "2026-11-21")
    assert (ran.code, ran.stderr) == (0, "")
    assert "rebuilt: 2 months from landed files, 1 copied" in ran.stdout
    assert differences(tables(full.warehouse), before) == []
    assert loaded(report_of(full, "2026-11-21")) == []


def test_a_part_of_an_earlier_version_whose_landed_files_are_gone_is_copied(full: House) -> None:
    before = tables(full.warehouse)
    execute(
        full,
        "drop view focus.cost_and_usage",
        *(f'alter table parts."aws__2026_10" drop column {column.name}' for column in STORED_COLUMNS["aws_cur"]),
    )
    shutil.rmtree(full.folder / "landing" / "aws" / "2026-10")
    ran = full.run("rebuild", "--as-of", "2026-11-21")
    assert (ran.code, ran.stderr) == (0, "")
    assert differences(tables(full.warehouse), before) == []


def test_a_part_that_holds_tags_on_its_rows_is_copied_with_tags_apart(full: House) -> None:
    before = tables(full.warehouse)
    part = 'parts."gcp__2026_11"'
    execute(
        full,
        'create table main.texts as from parts."gcp__2026_11__tag_texts"',
        f'create table main.earlier as select p.* exclude (tier_start_amount), t.tags_text as "Tags",'
        " \"SkuId\" || '/' || coalesce(cast(tier_start_amount as varchar), '0') as \"SkuPriceId\","
        ' "BilledCost" as "x_EffectiveCostProvider", "BillingCurrency" as "PricingCurrency",'
        ' null::decimal(38, 12) as "PricingCurrencyEffectiveCost"'
        f' from {part} as p left join main.texts as t using ("x_TagSetId")',
        "drop view focus.cost_and_usage",
        'drop table parts."gcp__2026_11__tag_texts"',
        f"drop table {part}",
        f"create table {part} as from main.earlier",
        "drop table main.earlier",
        "drop table main.texts",
    )
    shutil.rmtree(full.folder / "landing" / "gcp" / "2026-11")
    ran = full.run("rebuild", "--as-of", "2026-11-21")
    assert (ran.code, ran.stderr) == (0, "")
    assert differences(tables(full.warehouse), before) == []


# Sources that go and come under another name


def charges(place: House) -> list[Row]:
    """Return what people sum, sources apart."""
    return query(
        place.finance,
        "select billing_month, provider, project, team, service_name, sum(billed_cost), sum(effective_cost)"
        " from marts.monthly_cost group by all order by all",
    )


def test_a_renamed_source_keeps_everything_and_loads_nothing_again(full: House) -> None:
    before = charges(full)
    old, new = full.folder / "landing" / "aws", full.folder / "landing" / "acme"
    landed = sorted(path.relative_to(old) for path in old.rglob("*"))
    full.configure(AWS.replace('"aws"', '"acme"\nwas = "aws"', 1), GCP, TEAMS, BUDGET)
    report = report_of(full, "2026-11-21")
    assert (loaded(report), report["unchanged"]) == ([], 3)
    assert query(full.finance, BILLED) == [
        ("acme", "2026-10", 10.0),
        ("acme", "2026-11", 90.0),
        ("gcp", "2026-11", 4.0),
    ]
    assert charges(full) == before
    assert sorted(path.relative_to(new) for path in new.rglob("*")) == landed
    assert not old.exists()

    held = tables(full.warehouse)
    assert loaded(report_of(full, "2026-11-21")) == []
    assert full.run("rebuild", "--as-of", "2026-11-21").code == 0
    assert differences(tables(full.warehouse), held) == []


def test_a_source_that_is_configured_no_more_is_kept_and_shown_as_retired(full: House) -> None:
    full.configure(AWS, TEAMS, BUDGET)
    assert full.night("2026-11-21").stderr == ""
    assert query(full.finance, BILLED) == [("aws", "2026-10", 10.0), ("aws", "2026-11", 90.0), ("gcp", "2026-11", 4.0)]
    retired = query(full.finance, "select source, is_retired from settings.source order by 1")
    assert retired == [("aws", False), ("gcp", True)]
    before = tables(full.warehouse)
    ran = full.run("rebuild", "--as-of", "2026-11-21")
    assert ran.code == 0, ran.stderr
    assert differences(tables(full.warehouse), before) == []


# Time zones


def test_the_zone_of_the_machine_decides_nothing(
    home: House, slack: SlackServer, mail: MailServer, tmp_path: Path
) -> None:
    home.environ["VISION_SLACK_URL"] = slack.url
    home.configure(AWS, GCP, TEAMS, BUDGET, ROUTE_TO_BOTH.format(port=mail.port))
    home.deliver_aws("2026-11", *aws_lines("2026-11", "60", "25", day=1), *aws_lines("2026-11", "1", day=30))
    home.deliver_gcp("november.ndjson", *gcp_rows("2026-11", "4", day=1), *gcp_rows("2026-11", "5", day=30))
    outcomes = []
    for zone in ("UTC", "Pacific/Auckland", "America/Los_Angeles"):
        place = home.moved(tmp_path / zone.replace("/", "-") / "house")
        for night in ("2026-11-29", "2026-11-30", "2026-12-01"):
            ran = as_a_user(place, night, TZ=zone)
            assert (ran.returncode, ran.stderr) == (0, "")
        outcomes.append((tables(place.finance), place.told(), slack.bodies.copy(), mail.contents))
        slack.bodies.clear()
        mail.mails.clear()
    assert outcomes[0][2]
    for other in outcomes[1:]:
        assert differences(other[0], outcomes[0][0]) == []
        assert other[1:] == outcomes[0][1:]
