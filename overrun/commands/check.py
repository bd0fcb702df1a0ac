"""`overrun check`: reads the configuration as every command does, and says what is wrong or doubtful with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from overrun.exits import Exit
from overrun.options import Invocation, OverrunCommand, common_options

if TYPE_CHECKING:
    from overrun.config import Config
    from overrun.config_problems import ConfigError, Problem

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

    Reads the file, OVERRUN_ variables and nothing else: no network, no secret, no export. Prints every problem with
    its line, or one line that counts what is configured.
    """
    if is_schema_wanted:
        click.echo(schema_text(), nl=False)
        return Exit.DONE
    from overrun.config_problems import ConfigError

    try:
        config = invocation.load()
    except ConfigError as error:
        if not invocation.as_json:
            raise
        click.echo(json.dumps(_refusal(error)))
        return Exit.USAGE
    warnings = (*config.warnings, *missing_locations(config))
    if invocation.as_json:
        click.echo(json.dumps(_approval(config, warnings)))
        return Exit.DONE
    _print_approval(config, warnings)
    return Exit.DONE


def schema_text() -> str:
    """Return the JSON Schema as it stands in docs/overrun.schema.json."""
    from overrun.config_schema import json_schema

    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"


def counts(config: Config) -> dict[str, int]:
    """Return how many of each kind of thing are configured."""
    return {
        "sources": len(config.sources),
        "teams": len(config.teams),
        "channels": len(config.alerts.channels),
        "routes": len(config.alerts.routes),
        "budgets": len(config.budgets),
    }


def missing_locations(config: Config) -> list[Problem]:
    """Return a warning for each source whose folder or file is not there; it may still come, so it is no error."""
    from ingest.source import GcsLocation, S3Location
    from overrun.config_problems import Problem

    return [
        Problem(
            place=str(config.file),
            key=f"source {source.name}",
            message=f"there is nothing at {source.location} yet",
            hint="a night reports this source as failed until its export is there",
        )
        for source in config.sources
        if not isinstance(source.location, S3Location | GcsLocation) and not source.location.exists()
    ]


def _refusal(error: ConfigError) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "is_ok": False,
        "code": int(Exit.USAGE),
        "message": str(error),
        "hint": error.hint,
        "problems": [asdict(problem) for problem in error.problems],
    }


def _approval(config: Config, warnings: tuple[Problem, ...]) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "is_ok": True,
        "file": str(config.file),
        **counts(config),
        "warnings": [asdict(warning) for warning in warnings],
    }


def _print_approval(config: Config, warnings: tuple[Problem, ...]) -> None:
    from sql.text import visible

    for warning in warnings:
        hint = f" ({warning.hint})" if warning.hint else ""
        click.echo(visible(f"warning: {warning}{hint}"))
    listed = (f"{number} {name if number != 1 else name.removesuffix('s')}" for name, number in counts(config).items())
    click.echo(f"ok: {', '.join(listed)}")
