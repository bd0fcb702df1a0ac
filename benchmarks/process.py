"""A fresh process per measurement: CPU seconds and peak memory as the kernel counts them.

The process that starts the others stays small, since a child's peak begins at what its parent held.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one process took."""

    cpu_seconds: float
    """User and system time of the whole process."""
    wall_seconds: float
    peak_mb: float
    """Peak resident memory [MB]."""
    said: Mapping[str, float] = field(default_factory=dict)
    """What a piece of work measured itself."""

    @property
    def work_seconds(self) -> float:
        """Return the CPU seconds of the piece of work alone, without the start of Python."""
        return self.said["cpu_seconds"]


class MeasurementFailed(Exception):
    """A measured process did not end as it should."""


def run_work(*arguments: str | Path) -> Figures:
    """Run a piece of work of `benchmarks.work`."""
    return _run([sys.executable, "-m", "benchmarks.work", *map(str, arguments)], is_work=True)


def run_overrun(*arguments: str | Path) -> Figures:
    """Run one command of the program."""
    return _run([sys.executable, "-m", "overrun", *map(str, arguments)])


def run_module(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a module that is not measured."""
    return subprocess.Popen([sys.executable, "-m", module, *arguments], cwd=ROOT, env=_environment())


def _environment() -> dict[str, str]:
    """Return the environment with this checkout first on the path."""
    return os.environ | {"PYTHONPATH": str(ROOT)}


def _run(command: list[str], *, is_work: bool = False) -> Figures:
    """Run a command to its end and return its figures; raises MeasurementFailed."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, cwd=ROOT, env=_environment(), stdout=subprocess.PIPE, stdin=subprocess.DEVNULL
    ) as process:
        output = process.stdout.read() if process.stdout else b""
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise MeasurementFailed(f"{' '.join(command[1:])} ended with {process.returncode}: {output.decode()[-500:]}")
    return Figures(
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        wall_seconds=time.perf_counter() - started,
        peak_mb=usage.ru_maxrss / 1024,
        said=json.loads(output) if is_work else {},
    )
