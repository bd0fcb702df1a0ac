"""The front door's table: each command is there, and showing the list of them loads nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import click
import pytest

from overrun.cli import COMMANDS, cli

HEAVY = {"boto3", "botocore", "duckdb", "google", "numpy", "pyarrow", "pydantic", "sklearn", "slack_sdk", "sqlglot"}
LIST_MODULES = """
import json, sys
from overrun.cli import main
code = main(["--help"])
print(json.dumps([code, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""


@pytest.mark.parametrize("name", [name for name, _, _ in COMMANDS])
def test_a_command_of_the_table_is_there(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert command.name == name


def test_the_list_of_commands_loads_nothing_heavy() -> None:
    run = subprocess.run([sys.executable, "-c", LIST_MODULES], capture_output=True, text=True, check=True)
    code, modules = json.loads(run.stderr.splitlines()[-1])
    assert code == 0
    assert HEAVY & set(modules) == set()
    assert all(name in run.stdout for name, _, _ in COMMANDS)
