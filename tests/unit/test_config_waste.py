"""`[waste]`: defaults, what it may say, and what is refused."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.config import load_config
from overrun.config_problems import ConfigError
from overrun.settings_tables import settings_rows
from overrun.waste_checks import CHECKS, SAVING_KEYS
from sql.model import load_models


def write(folder: Path, text: str) -> Path:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_each_check_is_a_model_and_defaults_are_its_own(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, ""), {})
    assert config.waste.checks == CHECKS
    assert (config.waste.from_hour, config.waste.until_hour) == (8, 18)
    assert config.alerts.minimum_monthly_waste == Decimal(20)
    assert {f"core.waste_{check.name}" for check in CHECKS} <= {model.full_name for model in load_models()}
    assert {check.name for check in CHECKS} >= SAVING_KEYS


def test_numbers_of_the_file_reach_the_settings(tmp_path: Path) -> None:
    text = """\
[waste]
minimum_monthly = "50.5"
work_from = 7
[waste.idle_nat]
window_days = 3
[waste.gp2_volume]
saving_percent = 15
limit = 500
[waste.old_snapshot]
enabled = false
"""
    config = load_config(write(tmp_path, text), {})
    rows = {row[0]: row for row in settings_rows(config, date(2026, 11, 20))["settings.waste_check"]}
    # A shorter window also needs fewer days.
    assert rows["idle_nat"][4:6] == (3, 3)
    assert rows["gp2_volume"][6:8] == (Decimal("0.15"), 500.0)
    assert rows["old_snapshot"][3] is False
    assert config.alerts.minimum_monthly_waste == Decimal("50.5")
    assert settings_rows(config, date(2026, 11, 20))["settings.waste_hours"] == [(7, 18)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[waste.idle_nat]\nminimum_days = 15\n", "must not be more than the 14 days that the check looks at"),
        ("[waste.idle_nat]\nlimit = 1\n", "unknown key"),
        ("[waste.idle_nut]\nenabled = false\n", "unknown key"),
        ("[waste]\nwork_from = 18\n", "must be later than work_from"),
        ("[waste]\nminimum_monthly = 20.5\n", "must be in quotes"),
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_config(write(tmp_path, text), {})
