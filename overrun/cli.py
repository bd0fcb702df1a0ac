"""The command line: which commands there are, and how every failure becomes one clear text and an exit code.

Only click is imported here. A command's module is imported when that command runs or shows its own `--help`; the
table below has the short texts, so that `overrun --help` imports none of them.
"""

from __future__ import annotations

import io
import json
import os
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from overrun.exits import Exit, code_of
from overrun.options import write_examples, write_exits

COMMANDS: tuple[tuple[str, str, str], ...] = (
    ("init", "overrun.commands.init:command", "Write a commented overrun.toml."),
    ("check", "overrun.commands.check:command", "Check the configuration, offline."),
    ("doctor", "overrun.commands.doctor:command", "Check folders, secrets, disk and lock."),
    ("nightly", "overrun.commands.nightly:command", "Run the whole night: ingest, build, publish, alert."),
    ("ingest", "overrun.commands.ingest:command", "Fetch and load new deliveries."),
    ("build", "overrun.commands.build:command", "Build what changed of the tables that people query."),
    ("publish", "overrun.commands.publish:command", "Replace the copy for people, where anything is new."),
    ("alert", "overrun.commands.alert:command", "Judge budgets, and send what is due."),
    ("status", "overrun.commands.status:command", "Say what was loaded when, and what failed and why."),
    ("waste", "overrun.commands.waste:command", "List what costs money for nothing, and dismiss findings."),
    ("query", "overrun.commands.query:command", "Run SQL on the copy for people."),
    ("explain", "overrun.commands.explain:command", "Say which rule decided whose a resource, project or row is."),
    ("attribution", "overrun.commands.attribution:command", "Propose rules for what is unattributed."),
    ("reconcile", "overrun.commands.reconcile:command", "Compare a source with Cost Explorer, or with invoices."),
    ("month", "overrun.commands.month:command", "Close a billing month, reopen it, or list what is closed."),
    ("export", "overrun.commands.export:command", "Write the journal of a month for another system."),
    ("rebuild", "overrun.commands.rebuild:command", "Make the warehouse anew from landed files."),
    ("source", "overrun.commands.source:command", "Drop the charges of a source that is configured no more."),
    ("demo", "overrun.commands.demo:command", "Write sample exports and run two nights on them."),
)
"""Name, module and attribute, short help; in the order in which people need them."""

_EXAMPLES = ("overrun init", "overrun check", "overrun nightly", "overrun status")


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names in the order of the table."""
        return [name for name, _, _ in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import the module of one command."""
        targets = {name: target for name, target, _ in COMMANDS}
        if cmd_name not in targets:
            return None
        module, _, attribute = targets[cmd_name].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - click's own
    ) -> click.Context:
        """Read the options; those that print, such as --help, may lose their reader."""
        with _quiet_pipe():
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own
        """Run the command."""
        with _quiet_pipe():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; an unknown one is told the nearest."""
        if args[0] not in self.list_commands(ctx) and not args[0].startswith("-"):
            raise click.NoSuchCommand(args[0], possibilities=self.list_commands(ctx), ctx=ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the table without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, _, text in COMMANDS])

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write examples and all exit codes."""
        write_examples(formatter, _EXAMPLES)
        write_exits(formatter, tuple(Exit))


@contextmanager
def _quiet_pipe() -> Iterator[None]:
    """End without a word where the reader of stdout has gone away, as in `overrun query ... | head`."""
    try:
        yield
    except BrokenPipeError as error:
        if _is_reader_gone():
            raise click.exceptions.Exit(Exit.DONE) from error
        # click would take any broken pipe for that of stdout, and hide that a connection broke.
        raise ConnectionAbortedError(str(error)) from error


def _is_reader_gone() -> bool:
    """Return whether stdout is a pipe that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), select.POLLOUT)
    return any(events & select.POLLERR for _, events in poll.poll(0))


def _flush_stdout() -> None:
    """Write out what is buffered; where nobody reads it, it goes nowhere, so that the interpreter ends quietly too."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_version(ctx: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if not is_wanted:
        return
    from importlib.metadata import PackageNotFoundError, version

    try:
        number = version("overrun")
    except PackageNotFoundError:
        number = "(not installed)"
    click.echo(f"overrun {number}")
    ctx.exit()


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Show the version."
)
def cli() -> None:
    """Who spent what on AWS and GCP, told before the compute budget is gone."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """What is said about an error."""

    message: str
    hint: str | None
    code: Exit


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; errors are told on stderr, under --json on stdout."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    outcome = _outcome(given)
    if isinstance(outcome, _Failure):
        _tell(outcome, as_json="--json" in given)
        return outcome.code
    _flush_stdout()
    return outcome


def _outcome(arguments: list[str]) -> Exit | _Failure:
    """Run the command and return its code, or what went wrong."""
    try:
        code = cli.main(arguments, prog_name="overrun", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return Exit.USAGE
    except (click.Abort, KeyboardInterrupt):
        return _Failure("interrupted", "run the same command again; nothing is left half done", Exit.INTERRUPTED)
    except click.ClickException as error:
        return _usage_failure(error)
    except SystemExit as stop:
        # click ends the process by itself after shell completion.
        return Exit(int(stop.code or 0))
    except Exception as error:
        return _failure(error)
    return Exit(code) if isinstance(code, int) else Exit.DONE


def _usage_failure(error: click.ClickException) -> _Failure:
    """Say a wrong command line in the form of all errors."""
    from overrun.config_problems import sentence_as_clause

    context = getattr(error, "ctx", None)
    hint = f"run {context.command_path if context else 'overrun'} --help"
    possibilities = getattr(error, "possibilities", None)
    if isinstance(error, click.NoSuchCommand | click.NoSuchOption):
        hint = f"did you mean {' or '.join(possibilities)}?" if possibilities else hint
        return _Failure(sentence_as_clause(error.message), hint, Exit.USAGE)
    return _Failure(sentence_as_clause(error.format_message()), hint, Exit.USAGE)


def _failure(error: Exception) -> _Failure:
    """Say an error; one that is nobody's business but ours comes with its traceback."""
    from overrun.redaction import without_secrets

    code = code_of(error)
    if code is not None:
        return _Failure(without_secrets(str(error)), getattr(error, "hint", None), code)
    from traceback import format_exception

    click.echo(without_secrets("".join(format_exception(error))), err=True)
    message = f"a fault of overrun itself: {type(error).__name__}"
    return _Failure(message, "please report the lines above; the last good data stands", Exit.FAULT)


def _tell(failure: _Failure, *, as_json: bool) -> None:
    """Print `error:` and `hint:`, or one JSON object."""
    from sql.text import visible

    if as_json:
        click.echo(json.dumps({"code": int(failure.code), "message": failure.message, "hint": failure.hint}))
        return
    message = "\n".join(map(visible, failure.message.splitlines()))
    click.echo(f"error: {message}", err=True)
    if failure.hint:
        click.echo(f"\nhint: {visible(failure.hint)}", err=True)
