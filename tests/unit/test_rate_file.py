"""The file of exchange rates: what is read of it, and what each broken one is told."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.config_problems import ConfigError
from overrun.exits import Exit, code_of
from overrun.rate_file import WrittenRate, read_rate_file

HEAD = "date,from,to,rate,source\n"
GOOD = "2026-10-01,EUR,USD,1.0834,ECB\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rates.csv"


def problems_of(file: Path, content: str | bytes) -> list[tuple[str, str, str]]:
    """Return (line, column, message) of each problem of a file with this content."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigError) as caught:
        read_rate_file(file)
    assert code_of(caught.value) == Exit.USAGE
    assert all(problem.place.startswith(str(file)) for problem in caught.value.problems)
    return [
        (problem.place.removeprefix(str(file)).lstrip(":"), problem.key, problem.message)
        for problem in caught.value.problems
    ]


def test_a_line_is_kept_as_it_is_written(file: Path) -> None:
    file.write_text(f'{HEAD}{GOOD}2027-01-01,USD,CNY,7.100000000001,"Treasury, planned"\n', encoding="utf-8")
    assert read_rate_file(file) == (
        WrittenRate(
            line=2, day=date(2026, 10, 1), from_currency="EUR", to_currency="USD", rate=Decimal("1.0834"), source="ECB"
        ),
        WrittenRate(
            line=3, day=date(2027, 1, 1), from_currency="USD", to_currency="CNY", rate=Decimal("7.100000000001"),
            source="Treasury, planned",
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    "content",
    [
        "﻿" + HEAD + GOOD,
        (HEAD + GOOD).replace("\n", "\r\n"),
        (HEAD + GOOD).rstrip("\n"),
        "\n" + HEAD + "\n,,,,\n" + GOOD + "\n",
        "Date, FROM ,To,Rate,Source\n 2026-10-01 , EUR, USD, 1.0834 , ECB\n",
        "note,source,rate,to,from,date\nx,ECB,1.0834,USD,EUR,2026-10-01\n",
        HEAD + GOOD + GOOD,
        HEAD + GOOD + "2026-10-01,EUR,USD,1.08340,again\n",
    ],
    ids=["bom", "crlf", "no last end", "empty lines", "spaces", "order", "repeated", "repeated with another source"],
)
def test_what_spreadsheets_do_to_a_file_does_no_harm(file: Path, content: str) -> None:
    file.write_bytes(content.encode())
    (rate,) = read_rate_file(file)
    assert (rate.day, rate.from_currency, rate.to_currency) == (date(2026, 10, 1), "EUR", "USD")
    assert (rate.rate, rate.source) == (Decimal("1.0834"), "ECB")


def test_a_file_without_lines_has_no_rates(file: Path) -> None:
    file.write_text(HEAD, encoding="utf-8")
    assert read_rate_file(file) == ()


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        ("2026-10-01,EUR,USD,0,ECB", "rate", '"0" must be more than zero'),
        ("2026-10-01,EUR,USD,0.000,ECB", "rate", '"0.000" must be more than zero'),
        ("2026-10-01,EUR,USD,-1.08,ECB", "rate", '"-1.08" must be more than zero'),
        ("2026-10-01,EUR,USD,NaN,ECB", "rate", '"NaN" must be a plain decimal number, like 1.0834'),
        ("2026-10-01,EUR,USD,N/A,ECB", "rate", '"N/A" must be a plain decimal number, like 1.0834'),
        ("2026-10-01,EUR,USD,Infinity,ECB", "rate", '"Infinity" must be a plain decimal number, like 1.0834'),
        ("2026-10-01,EUR,USD,1e-5,ECB", "rate", '"1e-5" must be a plain decimal number, like 1.0834'),
        ("2026-10-01,EUR,USD,,ECB", "rate", '"" must be a plain decimal number, like 1.0834'),
        ("2026-10-01,EUR,USD,\u0661.\u0662,ECB", "rate", '"\u0661.\u0662" must be a plain decimal number, like 1.0834'),
        (
            '2026-10-01,EUR,USD,"1,0834",ECB', "rate",
            '"1,0834" has a comma: write a point before decimals, and nothing between thousands',
        ),
        ("2026-10-01,EUR,USD,1.0000000000001,ECB", "rate", '"1.0000000000001" has more than 12 decimals'),
        (
            "2026-10-01,EUR,USD,1000000,ECB", "rate",
            '"1000000" is a million or more: write the pair the other way round',
        ),
        ("01.10.2026,EUR,USD,1.08,ECB", "date", '"01.10.2026" must be a day, YYYY-MM-DD'),
        ("20261001,EUR,USD,1.08,ECB", "date", '"20261001" must be a day, YYYY-MM-DD'),
        ("2026-10,EUR,USD,1.08,ECB", "date", '"2026-10" must be a day, YYYY-MM-DD'),
        ("2026-02-30,EUR,USD,1.08,ECB", "date", '"2026-02-30" is no day of the calendar'),
        (
            "2026-10-01,eur,USD,1.08,ECB", "from",
            '"eur" must be the three capital letters of an ISO 4217 currency, did you mean "EUR"?',
        ),
        ("2026-10-01,EUR,$,1.08,ECB", "to", '"$" must be the three capital letters of an ISO 4217 currency'),
        ("2026-10-01,EUR,EUR,1,ECB", "to", "EUR is the currency of from, too"),
        ("2026-10-01,EUR,USD,1.08,", "source", "is empty: say whose rate it is, like ECB"),
        ("2026-10-01,EUR,USD,1.08,a\tb", "source", "must be a printable text of 200 characters at most"),
        ("2026-10-01,EUR,USD,1,0834,ECB", "", "6 values under 5 columns"),
        ("2026-10-01,EUR,USD,1.08", "", "4 values under 5 columns"),
        ("2026-10-01,EUR,USD,1.09,ECB", "rate", "EUR to USD stands on line 2 with another rate, 1.0834"),
        ("2026-10-01,USD,EUR,1.0834,ECB", "rate", "USD to EUR contradicts EUR to USD of the day, 1.0834 on line 2"),
    ],
)  # fmt: skip
def test_a_broken_line_is_told_by_line_and_column(file: Path, line: str, column: str, message: str) -> None:
    assert problems_of(file, f"{HEAD}{GOOD}\n{line}\n") == [("4", column, message)]


def test_an_inverse_that_is_only_rounded_is_no_contradiction(file: Path) -> None:
    file.write_text(f"{HEAD}{GOOD}2026-10-01,USD,EUR,0.92,bank\n2026-10-02,USD,EUR,0.5,bank\n", encoding="utf-8")
    assert len(read_rate_file(file)) == 3


def test_all_problems_are_told_at_once_and_no_more_than_anybody_reads(file: Path) -> None:
    assert problems_of(file, f"{HEAD}x,eur,USD,0,ECB\n2026-10-01,EUR,USD,?,\n") == [
        ("2", "date", '"x" must be a day, YYYY-MM-DD'),
        ("2", "from", '"eur" must be the three capital letters of an ISO 4217 currency, did you mean "EUR"?'),
        ("2", "rate", '"0" must be more than zero'),
        ("3", "rate", '"?" must be a plain decimal number, like 1.0834'),
        ("3", "source", "is empty: say whose rate it is, like ECB"),
    ]
    file.write_text(HEAD + "x,EUR,USD,1,ECB\n" * 30, encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        read_rate_file(file)
    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1].message == "and 10 more in the file of rates"


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ("", "", "is empty"),
        ("\n \n", "", "is empty"),
        ("﻿", "", "is empty"),
        ("date,from,to,rate\n2026-10-01,EUR,USD,1.08\n", "1", "has no column source"),
        (GOOD, "1", "has no column date"),
        ("date;from;to;rate;source\n2026-10-01;EUR;USD;1,08;ECB\n", "1", "parts its columns by semicolons"),
        ("date,from,to,rate,source,rate\n", "1", "has two columns rate"),
        ("date,from,to,rate,source\n".encode("utf-16"), "1", "is not UTF-8 text"),
        (HEAD.encode() + GOOD.encode() + "2026-10-02,EUR,USD,1,Zürich\n".encode("latin-1"), "3", "is not UTF-8 text"),
        (HEAD + GOOD + '2026-10-02,EUR,USD,1,"ECB\n', "3", "is no CSV (unexpected end of data)"),
    ],
)
def test_a_file_that_is_no_table_of_rates_is_told(file: Path, content: str | bytes, place: str, message: str) -> None:
    assert problems_of(file, content) == [(place, "currency.rates", message)]


def test_a_file_that_is_not_there_or_a_folder(file: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        read_rate_file(file)
    with pytest.raises(ConfigError, match="cannot be read"):
        read_rate_file(file.parent)


def test_a_file_larger_than_any_table_of_rates(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(60 * 1024 * 1024)
    with pytest.raises(ConfigError, match="is larger than"):
        read_rate_file(file)
