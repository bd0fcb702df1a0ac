"""`[currency]`: what it may say, and what `overrun check` makes of it and of the file of rates."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from overrun.cli import main
from overrun.config import CurrencySettings, load_config
from overrun.config_problems import ConfigError
from overrun.exits import Exit

HEAD = "date,from,to,rate,source\n"
RATES = f"{HEAD}2026-10-01,EUR,USD,1.0834,ECB\n2026-10-02,EUR,USD,1.0850,ECB\n"
EUR = '[currency]\nreporting_currency = "EUR"\nrates = "rates.csv"\n'
Captured = pytest.CaptureFixture[str]


def write(folder: Path, text: str, rates: str | None = RATES) -> Path:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    if rates is not None:
        (folder / "rates.csv").write_text(rates, encoding="utf-8")
    return file


def test_without_the_table_nothing_is_converted(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, ""), {}).currency is None
    assert load_config(write(tmp_path, "[currency]\n"), {}).currency is None


def test_defaults_and_the_place_of_the_file(tmp_path: Path) -> None:
    assert load_config(write(tmp_path, EUR), {}).currency == CurrencySettings(
        reporting_currency="EUR", rates=tmp_path / "rates.csv", rule="charge-day", carry_days=5
    )
    text = '[currency]\nreporting_currency = "CNY"\nrate = "month-average"\ncarry_days = 0\n'
    assert load_config(write(tmp_path, text), {}).currency == CurrencySettings(
        reporting_currency="CNY", rates=None, rule="month-average", carry_days=0
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[currency]\nrates = "rates.csv"\n', 'needs a reporting_currency, like "EUR"'),
        ('[currency]\nreporting_currency = "eur"\n', 'did you mean "EUR"?'),
        (f'{EUR}rate = "month_end"\n', 'did you mean "month-end"?'),
        (f"{EUR}carry_days = 15\n", "less than or equal to 14"),
        (f"{EUR}carry_days = -1\n", "greater than or equal to 0"),
        (f'{EUR}currency = "EUR"\n', "currency.currency: unknown key"),
        ("[[currency]]\n", "must be one table, written [currency]"),
        (EUR.replace("rates.csv", "warehouse.duckdb"), "is the same path as warehouse.path"),
        (EUR.replace("rates.csv", "~/rates.csv"), "~ is not expanded"),
    ],
)
def test_what_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        load_config(write(tmp_path, text), {})
    assert message in f"{refused.value} {refused.value.hint}"


def check(file: Path, *more: str) -> int:
    return main(["check", "--config", str(file), *more])


def test_check_counts_rates(tmp_path: Path, capsys: Captured) -> None:
    assert check(write(tmp_path, EUR)) == Exit.DONE
    assert "0 budgets, 2 rates" in capsys.readouterr().out
    assert check(write(tmp_path, EUR), "--json") == Exit.DONE
    assert json.loads(capsys.readouterr().out)["rates"] == 2


def test_check_and_doctor_tell_each_broken_line_of_the_file(tmp_path: Path, capsys: Captured) -> None:
    file = write(tmp_path, EUR, f'{HEAD}2026-10-01,EUR,USD,0,ECB\n2026-10-02,EUR,USD,"1,08",ECB\n')
    assert check(file) == Exit.USAGE
    text = capsys.readouterr().err
    assert f'{tmp_path / "rates.csv"}:2: rate: "0" must be more than zero' in text
    assert f'{tmp_path / "rates.csv"}:3: rate: "1,08" has a comma' in text
    assert check(file, "--json") == Exit.USAGE
    assert [problem["key"] for problem in json.loads(capsys.readouterr().out)["problems"]] == ["rate", "rate"]
    assert main(["doctor", "--offline", "--config", str(file)]) == Exit.USAGE
    assert "configuration: " in capsys.readouterr().out


def test_check_tells_a_file_that_is_not_there(tmp_path: Path, capsys: Captured) -> None:
    assert check(write(tmp_path, EUR, None)) == Exit.USAGE
    text = capsys.readouterr().err
    assert f"{tmp_path / 'rates.csv'}: currency.rates: there is no such file" in text
    assert "hint: correct rates in [currency], or put the file there" in text


def test_check_warns_of_rates_that_lead_nowhere(tmp_path: Path, capsys: Captured) -> None:
    assert check(write(tmp_path, EUR.replace('"EUR"', '"ERU"'))) == Exit.DONE
    assert "rates.csv leads to ERU (the file has rates of EUR, USD)" in capsys.readouterr().out
