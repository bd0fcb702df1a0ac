"""`overrun doctor`: whether the next night will find what it needs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from overrun.exits import Exit, worst
from overrun.options import Invocation, OverrunCommand, common_options

if TYPE_CHECKING:
    from overrun.config import Config
    from overrun.doctor_check import Check

SCHEMA_VERSION = 1
"""Of the JSON that this command prints."""


@click.command(
    "doctor",
    cls=OverrunCommand,
    examples=(
        "overrun doctor",
        "overrun doctor --offline",
        "overrun doctor --json",
        "overrun doctor --print-policy aws",
        "overrun doctor --print-policy gcp",
    ),
    exits=(Exit.SOURCE, Exit.REFUSED, Exit.UNDELIVERED, Exit.LOCKED),
)
@click.option("--offline", is_flag=True, help="Connect to no mail relay or webhook, and ask neither AWS nor Google.")
@click.option(
    "--print-policy",
    "policy_of",
    type=click.Choice(["aws", "gcp"]),
    help="Print what a night must be allowed and check nothing: aws, a policy as JSON; gcp, commands that grant roles.",
)
@click.option(
    "--kms-key",
    "kms_keys",
    metavar="ARN",
    multiple=True,
    help="With --print-policy: key of a bucket; more than once for more.",
)
@common_options
def command(invocation: Invocation, offline: bool, policy_of: str | None, kms_keys: tuple[str, ...]) -> Exit:
    """Check folders, secrets, disk and lock.

    One line for each check: ok, warn or fail, and a hint where something is to be done. Secrets are resolved and never
    shown; channels are connected to, and nothing is sent. AWS and Google are asked, source by source, for what a
    night asks them, and each permission or role that is missing is named. Ends with the code of the worst failure that
    it finds, and with 0 where there are only warnings.
    """
    if policy_of == "gcp" and not kms_keys:
        _print_commands(invocation)
        return Exit.DONE
    if policy_of == "aws":
        _print_policy(invocation, kms_keys)
        return Exit.DONE
    if kms_keys:
        raise click.UsageError("--kms-key goes with --print-policy aws")
    checks = []
    for check in _checks(invocation, is_offline=offline):
        checks.append(check)
        if not invocation.as_json and (invocation.verbosity >= 0 or check.level != "ok"):
            _print(check)
    code = worst(check.code for check in checks)
    if invocation.as_json:
        answer = {
            "schema_version": SCHEMA_VERSION,
            "is_ok": code == Exit.DONE,
            "code": int(code),
            "checks": [{**asdict(check), "code": int(check.code)} for check in checks],
        }
        click.echo(json.dumps(answer))
    return code


def _checks(invocation: Invocation, *, is_offline: bool) -> Iterator[Check]:
    """Yield every check; a configuration that cannot be read ends them."""
    from overrun.config_problems import ConfigError
    from overrun.doctor_check import doubt, failure, well
    from overrun.doctor_reach import check_channels, check_sources
    from overrun.doctor_stores import check_stores, check_versions
    from overrun.exchange_rates import read_rates

    now = datetime.now(UTC)
    yield check_versions()
    try:
        config = invocation.load()
        read_rates(config.currency)
    except ConfigError as error:
        for problem in error.problems:
            yield failure("configuration", str(problem), problem.hint or "run overrun check", Exit.USAGE)
        return
    yield well("configuration", f"{config.file} is right")
    for warning in config.warnings:
        yield doubt("configuration", str(warning), warning.hint or "run overrun check")
    yield from check_stores(config, now)
    yield from check_sources(config, now, is_offline=is_offline)
    yield from check_channels(config, os.environ, now, is_offline=is_offline)


def _print_policy(invocation: Invocation, kms_keys: tuple[str, ...]) -> None:
    """Print the policy for the configured sources; without a configuration, with placeholders."""
    from ingest.aws.policy import KMS_KEY, reader_policy

    wrong = next((arn for arn in kms_keys if not KMS_KEY.fullmatch(arn)), None)
    if wrong is not None:
        raise click.BadParameter(f"{wrong!r} is not the ARN of a key", param_hint="--kms-key")
    config = _config(invocation)
    click.echo(json.dumps(reader_policy(config.sources if config else (), kms_keys), indent=2))


def _print_commands(invocation: Invocation) -> None:
    """Print the commands that grant the roles of the configured sources; without any, with placeholders."""
    from ingest.gcp.policy import Needs, needs_of, reader_commands

    config = _config(invocation)
    needs = needs_of(config.sources, asks_catalogue=bool(config.prices.services)) if config else Needs()
    click.echo(reader_commands(needs), nl=False)


def _config(invocation: Invocation) -> Config | None:
    """Return the configuration; where there is none, say that placeholders stand for it."""
    if invocation.config_file.exists():
        return invocation.load()
    if invocation.verbosity >= 0:
        click.echo(f"there is no {invocation.config_file}: the policy has placeholders", err=True)
    return None


def _print(check: Check) -> None:
    from sql.text import visible

    click.echo(visible(f"{check.level:<4}  {check.name}: {check.message}"))
    if check.hint:
        click.echo(visible(f"      hint: {check.hint}"))
