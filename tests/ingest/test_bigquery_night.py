"""A whole night on an export in BigQuery, as the configuration has it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from overrun.cli import main
from overrun.exits import Exit
from tests.fakes.bigquery import DETAILED, LIKE, Emulator
from tests.ingest.bigquery_night import november

if TYPE_CHECKING:
    import pytest


def test_two_nights_check_status_and_doctor(
    bigquery: Emulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost="7")])
    monkeypatch.chdir(tmp_path)
    Path("overrun.toml").write_text(
        f'[[source]]\nname = "gcp-main"\nkind = "gcp-bigquery"\ntable = "{DETAILED}"\n'
        f'endpoint_url = "{bigquery.rest}"\nlookback_months = 120\n',
        encoding="utf-8",
    )
    night = ["nightly", "--as-of", "2026-11-20", "--json"]

    assert main(["check"]) == Exit.DONE
    capsys.readouterr()
    assert main(night) == Exit.DONE
    told = json.loads(capsys.readouterr().out)
    assert [load["billing_month"] for load in told["loaded"]] == ["2026-11"]
    assert "rows come by queries" in told["notes"]["gcp-main"][0]
    assert main(night) == Exit.DONE
    told = json.loads(capsys.readouterr().out)
    assert (told["loaded"], told["unchanged"], told["published"][0]["is_new"]) == ([], 1, False)
    assert main(["status"]) == Exit.DONE
    assert main(["doctor", "--offline"]) == Exit.DONE
