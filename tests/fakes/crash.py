"""Runs of the program in forked children that can be killed, or stopped, at any waypoint.

A small process without threads imports the program once and forks a child per run, so that a run costs no imports and
no child inherits a half-held lock of the test's servers. `Forker` is that process as tests see it; this module, run by
its name, is the process itself.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Self

ROOT = Path(__file__).resolve().parent.parent.parent

_NAMES = (
    (re.compile(r'parts\."[^"]*__tags"?'), "parts.<tags>"),
    (re.compile(r'parts\."[^"]*__split"?'), "parts.<split>"),
    (re.compile(r'parts\."[^"]*__tag_texts"?'), "parts.<tag texts>"),
    (re.compile(r'parts\."[^"]*"?'), "parts.<charges>"),
    (re.compile(r'months\."[^"]*"?'), "months.<month>"),
    (re.compile(r"(comment on \w+) .*", re.DOTALL), r"\1"),
    (re.compile(r"(create schema if not exists) .*"), r"\1"),
    (re.compile(r"(create table if not exists \w+)\..*", re.DOTALL), r"\1.<table>"),
    (re.compile(r"\bsettings\.\w+"), "settings.<table>"),
    (re.compile(r"\b(?:core|marts)\.(?!tag_set|split_cost)\w+"), "<model>"),
    (re.compile(r"\bops\.load_\w+"), "ops.load_<table>"),
    (re.compile(r"(?:delete from|insert into) (ops|settings|analysis)"), r"rows of \1"),
    (re.compile(r"(create (?:table|index)) \w+( on .*| \(.*)", re.DOTALL), r"\1"),
)
_READ = re.compile(r"(?:select|describe|with|set variable|pragma|create or replace temporary)\b")
_STATEMENT = re.compile(
    r"(create or replace \w+|create \w+ if not exists|create \w+|insert or replace into|insert into|rows of|delete from"
    r"|update|drop \w+(?: if exists)?|alter table(?: if exists)?|comment on \w+|attach|detach|begin \w+|commit"
    r"|checkpoint|open|close)"
    r"(?: ([\w.<>]+))?"
)
_FILE = re.compile(r"(\w+) (.*)")
_MODE_CAPABILITIES = 0b1110
"""CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH and CAP_FOWNER as bits."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One side of a waypoint, as a run passed it."""

    side: str
    """before or after"""
    kind: str
    detail: str

    def __str__(self) -> str:
        """Return the edge as `at` of an order names it."""
        return f"{self.side} {self.kind} {self.detail}"

    @property
    def family(self) -> str:
        """Return the class of operations that this one belongs to, names of months, versions and files apart."""
        if self.kind == "file":
            return f"file {_file_family(self.detail)}"
        text = self.detail.strip()
        for pattern, name in _NAMES:
            text = pattern.sub(name, text)
        if _READ.match(text):
            return f"{self.kind} read"
        found = _STATEMENT.match(text)
        if found:
            return f"{self.kind} {found[1]} {found[2] or ''}".rstrip()
        return f"{self.kind} {text}" if self.kind == "send" else f"{self.kind} text of a file"


def _file_family(detail: str) -> str:
    """Return the operation and what kind of file it touches."""
    found = _FILE.fullmatch(detail)
    assert found is not None
    operation, names = found[1], found[2]
    known = re.findall(r"delivery\.json|\w+\.duckdb", names)
    if known:
        return f"{operation} {known[-1]}"
    if names.endswith("/"):
        temporary = ".overrun-tmp" in names
        return f"{operation} {'unfinished version' if temporary else 'folder'}"
    if re.search(r"\.(csv|json|parquet)", names):
        return f"{operation} delivered file"
    return f"{operation} {'version' if re.search('[0-9a-f]{16}', names) else 'folder'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One run that is asked for."""

    arguments: list[str]
    environ: dict[str, str]
    output: str
    """Folder that takes `stdout`, `stderr` and `edges`."""
    signal: int = 0
    """SIGKILL or SIGSTOP, which the run sends itself at an edge; 0 lets it run."""
    numbers: tuple[int, ...] = ()
    """Edges, counted from 0, at which the signal is sent."""
    at: tuple[str, ...] = ()
    """Or the beginnings of the texts of such edges; a stopped run stops again at the next."""
    is_ordinary: bool = False
    """Whether root, too, is bound by the modes of files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What became of a run; `code` is negative where a signal ended it, and None while it is stopped."""

    pid: int
    code: int | None
    output: Path

    @property
    def stdout(self) -> str:
        """Return what it printed."""
        return (self.output / "stdout").read_text(encoding="utf-8")

    @property
    def stderr(self) -> str:
        """Return what it narrated."""
        return (self.output / "stderr").read_text(encoding="utf-8")

    @property
    def edges(self) -> list[Edge]:
        """Return the edges that it passed."""
        lines = (self.output / "edges").read_text(encoding="utf-8").splitlines()
        return [Edge(*json.loads(line)) for line in lines]


class Forker:
    """The process that forks runs; use as a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fakes.crash"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        """Wait until the program is imported, and return self."""
        assert self._process.stdout is not None
        if self._process.stdout.readline() != "ready\n":
            self._process.communicate()
            raise RuntimeError("the program cannot be imported; its own words are above")
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._process.communicate()

    def run(self, order: Order) -> Ran:
        """Run until the child ends or stops."""
        Path(order.output).mkdir(parents=True, exist_ok=True)
        return self._ask(asdict(order), Path(order.output))

    def resume(self, stopped: Ran) -> Ran:
        """Let a stopped run go on until it ends or stops again."""
        return self._ask({"pid": stopped.pid}, stopped.output)

    def _ask(self, order: Mapping[str, object], output: Path) -> Ran:
        """Send one order and wait for its end."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        answer = json.loads(self._process.stdout.readline())
        return Ran(pid=answer["pid"], code=answer["code"], output=output)


def cover(edges: Sequence[Edge], families: set[tuple[str, str]] | None = None) -> list[int]:
    """Return numbers of edges, few and in order, so that each (family, side) is met; `families` limits to some.

    Nothing outside memory changes between the end of one operation and the begin of the next: a kill there is after
    the one and before the other.
    """
    instants = [
        (number, {(edge.family, edge.side) for edge in edges[number : number + (2 if edge.side == "after" else 1)]})
        for number, edge in enumerate(edges)
        if edge.side == "after" or number == 0 or edges[number - 1].side != "after"
    ]
    missing = set.union(*(met for _, met in instants))
    if families is not None:
        missing &= families
    chosen: list[int] = []
    while missing:
        number, met = max(instants, key=lambda instant: (len(instant[1] & missing), -instant[0]))
        chosen.append(number)
        missing -= met
    return sorted(chosen)


# What follows runs in the forking process and its children.


def _serve() -> int | None:
    """Fork a child per order until there are no more; returns the exit code in a child, None in the forking process."""
    _import_program()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    stopped: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        if "arguments" in order:
            pid = os.fork()
            if pid == 0:
                return _run(Order(**order))
        else:
            pid = order["pid"]
            os.kill(pid, signal.SIGCONT)
        _, status = os.waitpid(pid, os.WUNTRACED)
        code = None if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)
        stopped = stopped | {pid} if code is None else stopped - {pid}
        sys.stdout.write(json.dumps({"pid": pid, "code": code}) + "\n")
        sys.stdout.flush()
    for pid in stopped:
        os.kill(pid, signal.SIGKILL)
    return None


def _import_program() -> None:
    """Import what runs need, their libraries included."""
    for name in ("duckdb", "slack_sdk.webhook", "smtplib"):
        importlib.import_module(name)
    for package in ("sql", "ingest", "analysis", "alerts", "overrun"):
        found = importlib.import_module(package)
        for module in pkgutil.walk_packages(found.__path__, f"{package}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    gc.freeze()


def _run(order: Order) -> int:
    """Run one command line as a fresh process would; returns its exit code."""
    from overrun.cli import main
    from sql.waypoints import OBSERVER

    output = Path(order.output)
    for descriptor, name in ((0, os.devnull), (1, "stdout"), (2, "stderr")):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        opened = os.open(output / name, flags, 0o644)
        os.dup2(opened, descriptor)
        os.close(opened)
    os.environ.clear()
    os.environ.update(order.environ)
    time.tzset()
    edges = (output / "edges").open("w", encoding="utf-8")
    if order.is_ordinary:
        _give_up_privileges()
    observer = _Observer(order, edges)
    OBSERVER.set(observer)
    with edges:
        return main(order.arguments)


def _give_up_privileges() -> None:
    """Give up the capabilities by which root ignores the modes of files. Source: capabilities(7), capget(2)."""
    header = struct.pack("Ii", 0x20080522, 0)
    sets = ctypes.create_string_buffer(24)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.capget(header, sets):
        raise OSError(ctypes.get_errno(), "capget")
    low = [value & ~_MODE_CAPABILITIES for value in struct.unpack("III", sets.raw[:12])]
    if libc.capset(header, struct.pack("III", *low) + sets.raw[12:]):
        raise OSError(ctypes.get_errno(), "capset")


class _Observer:
    """Writes each edge down, and signals the process at the one that was asked for."""

    def __init__(self, order: Order, edges: IO[str]) -> None:
        self._order = order
        self._edges = edges
        self._number = -1

    def __call__(self, kind: str, detail: str, side: str) -> None:
        """Pass one edge."""
        self._number += 1
        self._edges.write(json.dumps([side, kind, detail]) + "\n")
        is_named = f"{side} {kind} {detail}".startswith(tuple(self._order.at))
        if self._order.signal and (is_named or self._number in self._order.numbers):
            self._edges.flush()
            os.kill(os.getpid(), self._order.signal)


if __name__ == "__main__":
    sys.exit(_serve())
