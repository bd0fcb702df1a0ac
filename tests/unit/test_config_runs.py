"""Sources of runs in the configuration: what they need, and what is none of theirs."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from ingest.usage.source import RunSource
from overrun.config import load_config
from overrun.config_problems import ConfigError

WHOLE = """\
[[source]]
name = "hpc"
kind = "slurm"
location = "sacct"
cluster = "c1"
run_tag = "run-id"
gpu_hour_price = "2.50"
currency = "USD"
[[source]]
name = "costs"
kind = "aws-export"
location = "exports"
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_sources_of_runs_stand_apart_from_those_of_costs(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, WHOLE), {})

    assert [source.name for source in config.sources] == ["costs"]
    assert config.run_sources == (
        RunSource(
            name="hpc", kind="slurm", location=tmp_path / "sacct", cluster="c1", run_tag="run-id",
            gpu_hour_price=Decimal("2.50"), currency="USD",
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "lines", "words"),
    [
        ("slurm", "", "location: is missing: slurm needs it"),
        ("mlflow", 'location = "s3://bucket/mlruns"', "location: must be on disk"),
        ("slurm", 'location = "x"\nsettle_days = 1', "settle_days: is not for slurm"),
        ("capacity", 'location = "x"\nfrom = "2026-01"', "from: is not for capacity"),
        ("slurm", 'location = "x"\ngpu_hour_price = 2', "gpu_hour_price: says nothing without currency"),
        ("slurm", 'location = "x"\ncurrency = "USD"', "currency: says nothing without gpu_hour_price"),
        ("aws-export", 'location = "x"\ncluster = "c"', "cluster: is for sources of runs only"),
        ("slurm", 'location = "x"\nwas = "s"', "was"),
    ],
)
def test_what_is_wrong_names_the_key(tmp_path: Path, kind: str, lines: str, words: str) -> None:
    file = written(tmp_path, f'[[source]]\nname = "s"\nkind = "{kind}"\n{lines}\n')
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    assert words in str(raised.value)
