"""A commitment whose effective costs do not tie is told where the month has ended, and only then."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.exports import cur_line, deliver_legacy

PLAN = "arn:aws:savingsplans::111111111111:savingsplan/b"


@pytest.mark.e2e
@pytest.mark.parametrize(("as_of", "is_told"), [("2026-10-20", False), ("2026-11-02", True)])
def test_a_gap_is_warned_of_once_the_month_has_ended(tmp_path: Path, as_of: str, *, is_told: bool) -> None:
    fee = cur_line(
        cost="5",
        item="SavingsPlanRecurringFee",
        savings_plan_savings_plan_a_r_n=PLAN,
        savings_plan_savings_plan_effective_cost="",
        savings_plan_total_commitment_to_date="4.5",
        savings_plan_used_commitment="4",
    )
    deliver_legacy(tmp_path / "bucket", "2026-10", [[fee]])
    configuration = tmp_path / "overrun.toml"
    configuration.write_text('[[source]]\nname = "aws"\nkind = "aws-export"\nlocation = "bucket"\n', encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "overrun", "ingest", "--config", str(configuration), "--as-of", as_of],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert done.returncode == 0
    events = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(event["event"], event["commitments"], event["widest_gap"]) for event in events] == (
        [("effective_cost_unproven", 1, "-4.500000000000 USD")] if is_told else []
    )
