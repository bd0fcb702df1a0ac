"""`quiet_days` of a source: for exports that name no invoice, which are those of Google Cloud."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from overrun.config import load_config
from overrun.config_problems import ConfigError
from overrun.settings_tables import Finality, settings_rows

SOURCE = '[[source]]\nname = "main"\nkind = "{kind}"\nlocation = "exports"\n'


def write(folder: Path, kind: str, more: str = "") -> Path:
    file = folder / "overrun.toml"
    file.write_text(SOURCE.format(kind=kind) + more, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("kind", "more", "days"),
    [
        ("gcp-export", "", 7),
        ("gcp-export", "quiet_days = 3\n", 3),
        ("aws-export", "", None),
        ("focus-export", "", None),
    ],
)
def test_only_months_of_google_cloud_become_final_by_quiet_days(
    tmp_path: Path, kind: str, more: str, days: int | None
) -> None:
    config = load_config(write(tmp_path, kind, more), {})
    assert config.sources[0].quiet_days == days
    rows = settings_rows(config, date(2026, 11, 20))
    assert rows["settings.quiet_source"] == ([] if days is None else [("main", days)])


@pytest.mark.parametrize(
    ("kind", "days", "message"),
    [
        ("aws-export", 7, "is for sources of GCP only"),
        ("focus-export", 7, "is for sources of GCP only"),
        ("gcp-export", 0, "greater than or equal to 1"),
        ("gcp-export", 91, "less than or equal to 90"),
    ],
)
def test_quiet_days_that_cannot_be(tmp_path: Path, kind: str, days: int, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(write(tmp_path, kind, f"quiet_days = {days}\n"), {})
    assert message in str(refused.value)


def test_sources_no_longer_configured_keep_their_quiet_days(tmp_path: Path) -> None:
    config = load_config(write(tmp_path, "gcp-export"), {})
    finality = Finality(retired=[("main", 1), ("gone", 5)])
    rows = settings_rows(config, date(2026, 11, 20), finality=finality)
    assert rows["settings.quiet_source"] == [("main", 7), ("gone", 5)]
