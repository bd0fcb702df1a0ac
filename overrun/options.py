"""Options that every command has, and the form of every command's `--help`.

Imports nothing but click, so that `overrun --help` and a mistyped option cost little.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from overrun.exits import Exit

if TYPE_CHECKING:
    from overrun.config import Config

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """What the options that every command has say."""

    config_file: Path
    as_of: date
    """The day that counts as today."""
    as_json: bool
    verbosity: int
    """-1 quiet, 0 usual, 1 each step, 2 everything."""

    def load(self) -> Config:
        """Set up the log and read the configuration; raises ConfigError."""
        from overrun.config import load_config
        from overrun.log import configure_log

        configure_log(self.verbosity)
        return load_config(self.config_file, os.environ)


class Day(click.ParamType[date]):
    """A calendar day, YYYY-MM-DD."""

    name = "date"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Return the day that `value` names."""
        if isinstance(value, date):
            return value
        try:
            return datetime.strptime(str(value), "%Y-%m-%d").replace(tzinfo=UTC).date()
        except ValueError:
            self.fail(f"{str(value)!r} is not a day, YYYY-MM-DD", param, ctx)


class Month(click.ParamType[date]):
    """A month, YYYY-MM or, as invoices of Google Cloud have it, YYYYMM."""

    name = "month"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> date:
        """Return the first day of the month."""
        if isinstance(value, date):
            return value
        form = "%Y-%m" if "-" in str(value) else "%Y%m"
        try:
            return datetime.strptime(str(value), form).replace(tzinfo=UTC).date()
        except ValueError:
            self.fail(f"{str(value)!r} is no month, YYYY-MM", param, ctx)


class Months(click.ParamType[frozenset[date]]):
    """One month, YYYY-MM, or those from the first to the last, both included: YYYY-MM..YYYY-MM."""

    name = "months"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[date]:
        """Return the first day of each month."""
        if isinstance(value, frozenset):
            return value
        first, separator, last = str(value).partition("..")
        try:
            months = self._between(self._month(first), self._month(last if separator else first))
        except ValueError:
            months = frozenset()
        if not months:
            self.fail(f"{str(value)!r} is no month, YYYY-MM, and no months, YYYY-MM..YYYY-MM", param, ctx)
        return months

    @staticmethod
    def _month(text: str) -> date:
        return date.fromisoformat(f"{text}-01")

    @staticmethod
    def _between(first: date, last: date) -> frozenset[date]:
        start, end = first.year * 12 + first.month - 1, last.year * 12 + last.month - 1
        return frozenset(date(number // 12, number % 12 + 1, 1) for number in range(start, end + 1))


class OverrunCommand(click.Command):
    """A command whose `--help` ends with examples and with the exit codes that it can have.

    `examples` are whole command lines; `exits` are codes besides 0 and 2, which every command has.
    """

    def __init__(self, *args: Any, examples: Sequence[str], exits: Sequence[Exit] = (), **kwargs: Any) -> None:  # noqa: ANN401 - click's own
        super().__init__(*args, **kwargs)
        self.examples = tuple(examples)
        self.exits = tuple(sorted({Exit.DONE, Exit.USAGE, *exits}))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and exit codes."""
        super().format_epilog(ctx, formatter)
        write_examples(formatter, self.examples)
        write_exits(formatter, self.exits)


def write_examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    """Write command lines, unwrapped so that they can be copied."""
    with formatter.section("Examples"):
        for example in examples:
            formatter.write(f"{'':>{formatter.current_indent}}{example}\n")


def write_exits(formatter: click.HelpFormatter, exits: Sequence[Exit]) -> None:
    """Write exit codes and what they mean."""
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(int(code)), code.meaning) for code in exits])


def today() -> date:
    """Return the present day [UTC]; the only clock that decides what a night judges."""
    return datetime.now(UTC).date()


config_option = click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    default=Path("overrun.toml"),
    envvar="OVERRUN_CONFIG",
    help="Configuration file; default ./overrun.toml, or OVERRUN_CONFIG.",
)
as_of_option = click.option(
    "--as-of",
    type=Day(),
    metavar="DATE",
    default=today,
    help="Day that counts as today, YYYY-MM-DD; default today in UTC.",
)
backfill_option = click.option(
    "--backfill",
    "months",
    type=Months(),
    metavar="MONTHS",
    help="Load these months again, changed or not: YYYY-MM, or YYYY-MM..YYYY-MM with both ends.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the result, or the error, as JSON.")
verbose_option = click.option("-v", "--verbose", count=True, help="Tell each step on stderr; twice for more.")
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Tell errors only.")


def common_options(function: F) -> F:
    """Give a command --config, --as-of, --json, -v and -q, as one `invocation` argument."""

    @wraps(function)
    def with_invocation(
        *args: Any,  # noqa: ANN401 - whatever the command takes
        config_file: Path,
        as_of: date,
        as_json: bool,
        verbose: int,
        quiet: bool,
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        verbosity = -1 if quiet else verbose
        invocation = Invocation(config_file=config_file, as_of=as_of, as_json=as_json, verbosity=verbosity)
        return function(*args, invocation=invocation, **options)

    command: Any = with_invocation
    for option in (quiet_option, verbose_option, json_option, as_of_option, config_option):
        command = option(command)
    return command  # type: ignore[no-any-return]
