"""`overrun check`: reads the configuration as every command does, and says what is wrong or doubtful with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from overrun.config import Config
    from overrun.config_problems import ConfigError, Problem
    from overrun.rate_file import WrittenRate

SCHEMA_VERSION = 1
"""Of the JSON that this command prints."""


@click.command(
    "check",
    cls=OverrunCommand,
    examples=(
        "overrun check",
        "overrun check --config /etc/overrun/overrun.toml --json",
        "overrun check --schema > overrun.schema.json",
    ),
)
@click.option("--schema", "is_schema_wanted", is_flag=True, help="Print the JSON Schema of the file, for editors.")
@common_options
def command(invocation: Invocation, is_schema_wanted: bool) -> Exit:
    """Check the configuration, offline.

    Reads the file, the exchange rates and quantities of splits that it names, OVERRUN_ variables and nothing else: no
    network, no secret, no export. Prints every problem with its line, or one line that counts what is configured.
    """
    if is_schema_wanted:
        click.echo(schema_text(), nl=False)
        return Exit.DONE
    from overrun.config_problems import ConfigError
    from overrun.exchange_rates import read_rates

    try:
        config = invocation.load()
        rates = read_rates(config.currency)
    except ConfigError as error:
        if not invocation.as_json:
            raise
        click.echo(json.dumps(_refusal(error)))
        return Exit.USAGE
    warnings = (*config.warnings, *missing_locations(config), *missing_quantities(config), *stray_rates(config, rates))
    counted = counts(config) | ({"rates": len(rates)} if rates else {})
    if invocation.as_json:
        click.echo(json.dumps(_approval(config, counted, warnings)))
        return Exit.DONE
    _print_approval(counted, warnings)
    return Exit.DONE


def schema_text() -> str:
    """Return the JSON Schema as it stands in docs/overrun.schema.json."""
    from overrun.config_schema import json_schema

    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def counts(config: Config) -> dict[str, int]:
    """Return how many of each kind of thing are configured."""
    return {
        "sources": len(config.sources) + len(config.run_sources),
        "teams": len(config.teams),
        "channels": len(config.alerts.channels),
        "routes": len(config.alerts.routes),
        "budgets": len(config.budgets),
    }


def missing_locations(config: Config) -> list[Problem]:
    """Return a warning for each source whose folder or file is not there; it may still come, so it is no error."""
    from pathlib import Path

    from overrun.config_problems import Problem

    places = [
        *((source.name, source.location) for source in config.sources),
        *((source.name, source.location) for source in config.run_sources),
    ]
    return [
        Problem(
            place=str(config.file),
            key=f"source {name}",
            message=f"there is nothing at {location} yet",
            hint="a night reports this source as failed until its export is there",
        )
        for name, location in places
        if isinstance(location, Path) and not location.exists()
    ]


def missing_quantities(config: Config) -> list[Problem]:
    """Return a warning for each split whose file of quantities is not there; raises CommandFailed for a bad one."""
    from overrun.config_problems import Problem
    from overrun.split_usage import read_split_usage

    missing = []
    for split in config.splits:
        if split.usage_file is None:
            continue
        if split.usage_file.exists():
            read_split_usage(split.usage_file, split.each, needs_days=split.is_daily)
            continue
        problem = Problem(
            place=str(config.file),
            key=f"split {split.name}",
            message=f"there is nothing at {split.usage_file} yet",
            hint="no night builds its tables until the file is there",
        )
        missing.append(problem)
    return missing


def stray_rates(config: Config, rates: Sequence[WrittenRate]) -> list[Problem]:
    """Return a warning where no rate of the file has to do with the reporting currency."""
    from overrun.config_problems import Problem

    if config.currency is None or not rates:
        return []
    named = {code for rate in rates for code in (rate.from_currency, rate.to_currency)}
    if config.currency.reporting_currency in named:
        return []
    message = f"no rate of {config.currency.rates} leads to {config.currency.reporting_currency}"
    hint = f"the file has rates of {', '.join(sorted(named))}"
    return [Problem(place=str(config.file), key="currency.rates", message=message, hint=hint)]


def _refusal(error: ConfigError) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "is_ok": False,
        "code": int(Exit.USAGE),
        "message": str(error),
        "hint": error.hint,
        "problems": [asdict(problem) for problem in error.problems],
    }


def _approval(config: Config, counted: dict[str, int], warnings: tuple[Problem, ...]) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "is_ok": True,
        "file": str(config.file),
        **counted,
        "warnings": [asdict(warning) for warning in warnings],
    }


def _print_approval(counted: dict[str, int], warnings: tuple[Problem, ...]) -> None:
    from sql.text import visible

    for warning in warnings:
        hint = f" ({warning.hint})" if warning.hint else ""
        click.echo(visible(f"warning: {warning}{hint}"))
    listed = (f"{number} {name if number != 1 else name.removesuffix('s')}" for name, number in counted.items())
    click.echo(f"ok: {', '.join(listed)}")
