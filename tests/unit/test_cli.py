"""The frame of the command line: help, errors, exit codes, and what is imported when."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from overrun import cli as front
from overrun.exits import CommandFailed, Exit
from overrun.options import Invocation, OverrunCommand, common_options
from sql.errors import WarehouseLocked

HEAVY = ("duckdb", "pydantic", "boto3", "google", "sklearn", "slack_sdk", "structlog", "pyarrow", "sqlglot")
Failing = Callable[[BaseException], None]


def run(
    *arguments: str, cwd: Path, repository: Path, environ: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the program as a user would."""
    return subprocess.run(
        [sys.executable, "-m", "overrun", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(repository), **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Return a function that makes `overrun check` raise."""

    def fail_with(error: BaseException) -> None:
        @click.command("check", cls=OverrunCommand, examples=())
        @common_options
        def command(invocation: Invocation) -> Exit:
            raise error if invocation.verbosity == 0 else AssertionError

        monkeypatch.setattr(front.LazyGroup, "get_command", lambda *_: command)

    return fail_with


def test_help_imports_nothing_heavy(tmp_path: Path, repository: Path) -> None:
    code = (
        "import sys; from overrun.cli import main; main(['--help']); "
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(repository)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.strip() == "[]"
    assert all(name in done.stdout for name, _, _ in front.COMMANDS)
    assert "Exit codes:" in done.stdout


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that does something, those of groups under their whole name."""
    for name, _, _ in front.COMMANDS:
        command = front.cli.get_command(click.Context(front.cli), name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from ((f"{name} {inner}", leaf) for inner, leaf in command.commands.items())
        else:
            yield name, command


@pytest.mark.parametrize("name", [name for name, _ in leaves()])
def test_every_command_has_the_common_options_examples_and_exit_codes(name: str) -> None:
    command = dict(leaves())[name]
    assert isinstance(command, OverrunCommand)
    assert {"config_file", "as_of", "as_json"} <= {parameter.name for parameter in command.params}
    text = CliRunner().invoke(front.cli, [*name.split(), "--help"]).output
    assert f"overrun {name}" in text.partition("Examples:")[2]
    assert "Exit codes:\n  0 " in text


def test_version(tmp_path: Path, repository: Path) -> None:
    done = run("--version", cwd=tmp_path, repository=repository)
    assert done.returncode == 0
    assert done.stdout.startswith("overrun ")


def test_no_arguments_show_help_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert front.main([]) == Exit.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Commands:" in captured.err


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (["chek"], "no such command 'chek'", "did you mean check?"),
        (["zzz"], "no such command 'zzz'", "run overrun --help"),
        (["check", "--jsn"], "no such option '--jsn'", "did you mean --json?"),
        (["check", "extra"], "got unexpected extra argument (extra)", "run overrun check --help"),
        (["check", "--as-of", "2026-02-30"], "'2026-02-30' is not a day, YYYY-MM-DD", "run overrun check --help"),
        (["--nope"], "no such option '--nope'", "run overrun --help"),
    ],
)
def test_a_wrong_command_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str, hint: str
) -> None:
    assert front.main(arguments) == Exit.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    first, blank, last = captured.err.splitlines()
    assert first.startswith("error: ")
    assert message in first
    assert blank == ""
    assert last == f"hint: {hint}"


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (CommandFailed("no run yet", code=Exit.USAGE, hint="run it"), 2, "error: no run yet\n\nhint: run it\n"),
        (CommandFailed("no run yet", code=Exit.FINDINGS), 1, "error: no run yet\n"),
        (CommandFailed("a\x1b[2J\nb", code=Exit.REFUSED), 4, "error: a\\u001B[2J\nb\n"),
        (
            KeyboardInterrupt(),
            130,
            "\nerror: interrupted\n\nhint: run the same command again; nothing is left half done\n",
        ),
        (click.Abort(), 130, "error: interrupted\n\nhint: run the same command again; nothing is left half done\n"),
    ],
)
def test_an_error_is_a_clause_and_a_hint(
    capsys: pytest.CaptureFixture[str], failing: Failing, error: BaseException, code: int, text: str
) -> None:
    failing(error)
    assert front.main(["check"]) == code
    assert capsys.readouterr() == ("", text)


def test_a_locked_warehouse_names_the_process(capsys: pytest.CaptureFixture[str], failing: Failing) -> None:
    failing(WarehouseLocked(Path("w.duckdb"), 4711))
    assert front.main(["check"]) == Exit.LOCKED
    assert "4711" in capsys.readouterr().err


def test_errors_under_json_are_one_object(capsys: pytest.CaptureFixture[str], failing: Failing) -> None:
    failing(CommandFailed("no run yet", code=Exit.LOCKED, hint="wait"))
    assert front.main(["check", "--json"]) == Exit.LOCKED
    captured = capsys.readouterr()
    assert json.loads(captured.out) == {"code": 75, "message": "no run yet", "hint": "wait"}
    assert captured.err == ""


def test_a_fault_of_ours_shows_its_traceback_without_secrets(
    capsys: pytest.CaptureFixture[str], failing: Failing
) -> None:
    failing(ZeroDivisionError("https://hooks.slack.com/services/s3cr3t"))
    assert front.main(["check"]) == Exit.FAULT
    text = capsys.readouterr().err
    assert "Traceback" in text
    assert "error: a fault of overrun itself: ZeroDivisionError" in text
    assert "s3cr3t" not in text


@pytest.mark.parametrize("arguments", [["--help"], ["check", "--schema"]])
def test_a_reader_that_goes_away_is_no_error(tmp_path: Path, repository: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "overrun", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(repository)},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_narrow_encoding_still_gets_the_text(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "overrun.toml").write_text("[warehouse]\n'日' = 1", encoding="utf-8")
    done = run("check", cwd=tmp_path, repository=repository, environ={"PYTHONIOENCODING": "latin-1"})
    assert done.returncode == Exit.USAGE
    assert "\\u65e5" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_connection_is_not_taken_for_a_reader_that_went_away(
    capfd: pytest.CaptureFixture[str], failing: Failing
) -> None:
    failing(BrokenPipeError(32, "Broken pipe"))
    assert front.main(["check"]) == Exit.FAULT
    assert "Broken pipe" in capfd.readouterr().err
