"""`overrun status`: how settled months are, which were restated, and how much has landed where."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from ingest.landing import LandedSource
from overrun.cli import main
from overrun.config import load_config
from overrun.exits import Exit
from overrun.status_read import MonthStatus, SourceStatus, Status
from overrun.status_show import print_status, status_as_json
from tests.fakes.focus_house import write_house

Captured = pytest.CaptureFixture[str]


def month(text: str, status: str, invoiced: int = 0, entities: int = 1, final: datetime | None = None) -> MonthStatus:
    """Return the status of a month."""
    return MonthStatus(
        billing_month=date.fromisoformat(f"{text}-01"),
        status=status,
        invoicing_entities=entities,
        entities_invoiced=invoiced,
        was_final_at=final,
    )


FINAL_AT = datetime(2026, 9, 6, 3, tzinfo=UTC)
STATUS = Status(
    as_of=date(2026, 11, 5),
    has_run=True,
    running_pid=None,
    sources=(
        SourceStatus(
            source="aws",
            kind="aws-export",
            months=4,
            settlement=(
                month("2026-11", "open"),
                month("2026-10", "estimated", 1, 2),
                month("2026-09", "final", 1),
                month("2026-08", "restated", 1, final=FINAL_AT),
            ),
        ),
        SourceStatus(source="new", kind="gcp-export"),
    ),
    landing=Path("/data/landing"),
    landed=(
        LandedSource(source="aws", months=4, versions=9, size=1_500_000),
        LandedSource(source="gcp", months=1, versions=1, size=12),
    ),
)


def test_the_last_months_and_the_restated_ones_are_shown(capsys: Captured) -> None:
    print_status(STATUS, sys.stdout)
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Months")
    assert lines[start + 1 : start + 3] == [
        "  aws: 2026-11 open, 2026-10 estimated (1 of 2 entities invoiced), 2026-09 final",
        "  aws: restated after it was final: 2026-08 (final on 2026-09-06)",
    ]
    assert not [line for line in lines if line.startswith("  new:")]


def test_what_is_provisional_and_how_a_month_became_final(capsys: Captured) -> None:
    settlement = (
        replace(month("2026-10", "final"), final_by="entered invoice"),
        replace(month("2026-09", "final"), final_by="quiet days"),
        replace(month("2026-08", "final", 1), final_by="invoice ids"),
    )
    source = SourceStatus(
        source="gcp",
        kind="gcp-export",
        months=3,
        settlement=settlement,
        provisional_from=date(2026, 11, 3),
        observed_lag_days=1,
    )
    status = replace(STATUS, sources=(source,))
    print_status(status, sys.stdout)
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Months")
    assert lines[start + 1 : start + 3] == [
        "  gcp: 2026-10 final (entered invoice), 2026-09 final (quiet days), 2026-08 final",
        "  gcp: usage from 2026-11-03 on may still grow (exported within 1 day of the usage, as observed)",
    ]
    answer: dict[str, Any] = json.loads(json.dumps(status_as_json(status)))
    (told,) = answer["sources"]
    assert (told["provisional_from"], told["observed_lag_days"]) == ("2026-11-03", 1)
    assert [row["final_by"] for row in told["month_status"]] == ["entered invoice", "quiet days", "invoice ids"]


def test_landed_files_are_shown_with_their_place(capsys: Captured) -> None:
    print_status(STATUS, sys.stdout)
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("Landed files in /data/landing")
    assert lines[start + 1 : start + 3] == [
        "  aws: 9 versions of 4 months, 1.5 MB",
        "  gcp: 1 version of 1 month, 12 B",
    ]


def test_json_has_every_month_and_what_has_landed() -> None:
    answer: dict[str, Any] = json.loads(json.dumps(status_as_json(STATUS)))
    assert [row["status"] for row in answer["sources"][0]["month_status"]] == ["open", "estimated", "final", "restated"]
    assert answer["sources"][0]["month_status"][-1] == {
        "billing_month": "2026-08",
        "status": "restated",
        "invoicing_entities": 1,
        "entities_invoiced": 1,
        "was_final_at": "2026-09-06T03:00:00Z",
        "final_by": None,
    }
    assert answer["sources"][1]["month_status"] == []
    assert (answer["landed"]["path"], answer["landed"]["versions"], answer["landed"]["bytes"]) == (
        "/data/landing",
        10,
        1_500_012,
    )
    assert answer["landed"]["sources"][1] == {"source": "gcp", "months": 1, "versions": 1, "bytes": 12}


def test_after_a_night(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    assert main(["status", "--config", str(config)]) == Exit.DONE
    assert "Landed files" not in capsys.readouterr().out
    assert main(["nightly", "-q", "--config", str(config), "--as-of", "2026-11-05"]) == Exit.DONE
    capsys.readouterr()
    assert main(["status", "--config", str(config), "--as-of", "2026-11-05"]) == Exit.DONE
    text = capsys.readouterr().out
    assert "\nMonths\n  clouds: 2026-11 open\n" in text
    assert f"\nLanded files in {tmp_path / 'landing'}\n  clouds: 1 version of 1 month, " in text


def test_what_is_kept_is_configured(tmp_path: Path) -> None:
    file = tmp_path / "overrun.toml"
    file.write_text("", encoding="utf-8")
    assert load_config(file, {}).keep_landed == "open-months"
    assert load_config(file, {"OVERRUN_WAREHOUSE_KEEP_LANDED": "all"}).keep_landed == "all"
    file.write_text('[warehouse]\nkeep_landed = "newest"\n', encoding="utf-8")
    assert load_config(file, {}).keep_landed == "newest"


def test_another_rule_is_refused(tmp_path: Path, capsys: Captured) -> None:
    file = tmp_path / "overrun.toml"
    file.write_text('[warehouse]\nkeep_landed = "some"\n', encoding="utf-8")
    assert main(["check", "--config", str(file)]) == Exit.USAGE
    assert "warehouse.keep_landed" in capsys.readouterr().err
