"""`[[accelerator]]`: machine types that go before those of the list; what is wrong names file, line and key."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from overrun.accelerators import accelerator_rows
from overrun.config import Accelerator, load_config
from overrun.config_problems import ConfigError

WHOLE = """\
[[accelerator]]
instance_type = "p77.48xlarge"
accelerator = "X1"
count = 16
[[accelerator]]
instance_type = "g6f.large"
accelerator = "L4 slice"
count = "1.000"
[[accelerator]]
instance_type = "g6f.large"
accelerator = "L4"
count = "0.25"
"""


def written(folder: Path, text: str) -> Path:
    """Write a configuration."""
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_type_of_the_configuration_goes_before_the_list_and_the_first_table_of_it_counts(tmp_path: Path) -> None:
    config = load_config(written(tmp_path, WHOLE), {})

    assert config.accelerators[0] == Accelerator(instance_type="p77.48xlarge", accelerator="X1", count=Decimal(16))
    rows = accelerator_rows(config.accelerators)
    assert ("machine", "p77.48xlarge", "X1", Decimal(16)) in rows
    assert [row for row in rows if row[1] == "g6f.large"] == [("machine", "g6f.large", "L4 slice", Decimal(1))]
    assert len(rows) == len(accelerator_rows([])) + 1


def test_the_list_has_each_name_once_and_counts_that_fit_the_table() -> None:
    rows = accelerator_rows([])

    assert {row[0] for row in rows} == {"machine", "sku"}
    assert len({row[:2] for row in rows}) == len(rows)
    assert all(Decimal("0.001") <= Decimal(str(row[3])) < 1000 for row in rows)
    assert ("machine", "p5.48xlarge", "H100", Decimal(8)) in rows


@pytest.mark.parametrize(
    ("instance_type", "count", "line", "key", "words"),
    [
        ('"ml.p4d.24xlarge"', "8", 2, "instance_type", "must"),
        ('"m6i.large"', "8", 2, "instance_type", "must"),
        ('"p4d"', "8", 2, "instance_type", "must"),
        ('"p4d.24xlarge"', "0", 4, "count", "more than zero"),
        ('"p4d.24xlarge"', "1000", 4, "count", "below 1000"),
        ('"p4d.24xlarge"', '"0.1255"', 4, "count", "three decimals"),
        ('"p4d.24xlarge"', "true", 4, "count", "must"),
    ],
)
def test_what_is_wrong_names_file_line_and_key(
    tmp_path: Path, instance_type: str, count: str, line: int, key: str, words: str
) -> None:
    text = f'[[accelerator]]\ninstance_type = {instance_type}\naccelerator = "X"\ncount = {count}\n'
    file = written(tmp_path, text)

    with pytest.raises(ConfigError) as raised:
        load_config(file, {})

    assert f"{file.name}:{line}" in str(raised.value)
    assert f"accelerator.{key}" in str(raised.value)
    assert words in str(raised.value)
