"""`[[commitment_discount]]`: globs over service and SKU, a share, months; what is wrong names file, line and key."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from ingest.source import CommitmentDiscount
from overrun.config import load_config
from overrun.config_problems import ConfigError

GCP = '[[source]]\nname = "gcp"\nkind = "gcp-export"\nlocation = "exports"\n'
AWS = '[[source]]\nname = "aws"\nkind = "aws-export"\nlocation = "reports"\n'
WHOLE = """\
[[commitment_discount]]
service = "Cloud SQL"
sku = "*1 year*"
discount = "30.5%"
from = "2026-01"
until = "2027-01"
[[commitment_discount]]
service = "Brand 100% New"
discount = "12%"
"""


def written(folder: Path, text: str) -> Path:
    """Write a configuration."""
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_sources_of_google_cloud_are_given_the_discounts_in_order(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, GCP + AWS + WHOLE), {})

    first, second = (source.commitment_discounts for source in config.sources)
    assert first == (
        CommitmentDiscount(
            service_pattern="Cloud SQL",
            sku_pattern="%1 year%",
            discount=Decimal("0.305"),
            from_month=date(2026, 1, 1),
            until_month=date(2027, 1, 1),
        ),
        CommitmentDiscount(service_pattern=r"Brand 100\% New", sku_pattern="%", discount=Decimal("0.12")),
    )
    assert second == ()
    assert config.warnings == ()


@pytest.mark.parametrize(
    ("lines", "line", "key", "words"),
    [
        ('service = "S"\ndiscount = "25"', 7, "commitment_discount.discount", "must be a share of the price"),
        ('service = "S"\ndiscount = "0%"', 7, "commitment_discount.discount", "must be a share of the price"),
        ('service = "S"\ndiscount = "100%"', 7, "commitment_discount.discount", "must be a share of the price"),
        ('service = "S"\ndiscount = 25', 7, "commitment_discount.discount", "must be"),
        ('service = "S"', 5, "commitment_discount.discount", "is missing"),
        ('service = ""\ndiscount = "25%"', 6, "commitment_discount.service", "must"),
        ('discount = "25%"', 5, "commitment_discount", "must say what it is for: service, sku or both"),
        ('servise = "S"\nsku = "*"\ndiscount = "25%"', 6, "commitment_discount.servise", "unknown key"),
        ('sku = "*"\ndiscount = "25%"\nfrom = "26-01"', 8, "commitment_discount.from", "must be a month"),
        (
            'sku = "*"\ndiscount = "25%"\nfrom = "2026-02"\nuntil = "2026-02"',
            9,
            "commitment_discount.until",
            "must be later than from",
        ),
    ],
)
def test_what_is_wrong_names_file_line_and_key(tmp_path: Path, lines: str, line: int, key: str, words: str) -> None:
    file = written(tmp_path, f"{GCP}[[commitment_discount]]\n{lines}\n")

    with pytest.raises(ConfigError) as raised:
        load_config(file, {})

    [problem] = raised.value.problems
    assert (problem.place, problem.key) == (f"{file}:{line}", key)
    assert problem.message.startswith(words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (AWS + WHOLE, "has no effect"),
        (GCP + WHOLE + '[[commitment_discount]]\nservice = "Brand 100% New"\ndiscount = "9%"\n', "never counts"),
    ],
)
def test_what_has_no_effect_is_a_warning(tmp_path: Path, text: str, words: str) -> None:
    warnings = load_config(written(tmp_path, text), {}).warnings

    assert warnings
    assert all(warning.message.startswith(words) for warning in warnings)
