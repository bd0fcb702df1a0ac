"""`python -m benchmarks`: makes the data where it is missing, measures, prints a table and writes `results.json`."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import click

from benchmarks.exports import is_written, mark_written
from benchmarks.measures import MEASURES, QUICK, Measure, Result
from benchmarks.process import MeasurementFailed, run_module

RESULTS = Path(__file__).with_name("results.json")


@click.command()
@click.option("--rows", type=click.Choice(["1M", "10M", "all"]), default="all", show_default=True, help="How large.")
@click.option(
    "--only", multiple=True, type=click.Choice([measure.name for measure in MEASURES]), help="This one; repeatable."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
def main(rows: str, only: Sequence[str], as_json: bool) -> None:
    """Measure speed and memory as ratios within this run.

    CPU time is what is compared, so that a busy machine disturbs little; queries are timed by the clock.
    """
    chosen = [measure for measure in MEASURES if _is_wanted(measure, rows, only)]
    _make_data(chosen)
    results: list[Result] = []
    for measure in chosen:
        for result in measure.run():
            results.append(result)
            if not as_json:
                click.echo(_line(result))
    document = {"machine": _machine(), "results": [asdict(result) | {"is_met": result.is_met} for result in results]}
    text = json.dumps(document, indent=2)
    if not only:
        RESULTS.write_text(text + "\n", encoding="utf-8")
    if as_json:
        click.echo(text)
    missed = sum(not result.is_met for result in results)
    click.echo(f"{len(results)} measured, {missed} missed", err=True)


def _is_wanted(measure: Measure, rows: str, only: Sequence[str]) -> bool:
    """Return whether a measure was asked for."""
    if only:
        return measure.name in only
    return rows == "all" or measure.name in QUICK if rows != "10M" else measure.name.endswith("10M")


def _make_data(measures: Sequence[Measure]) -> None:
    """Write the exports that are missing, two processes at a time."""
    for folder in dict.fromkeys(folder for measure in measures for folder in measure.folders):
        if is_written(folder):
            continue
        click.echo(f"writing {folder}", err=True)
        writers = [run_module("benchmarks.exports", folder, str(first), "2") for first in range(2)]
        codes = [writer.wait() for writer in writers]
        if any(codes):
            raise MeasurementFailed(f"the exports in {folder} were not written")
        mark_written(folder)


def _line(result: Result) -> str:
    """Return one line of the table."""
    bar = "" if result.bar is None else f"<= {result.bar:g}"
    verdict = "pass" if result.is_met else "MISS"
    return f"{result.measure:<40} {result.figure:>9.3f} {result.unit:<14} {bar:<9} {verdict}  {result.detail}"


def _machine() -> dict[str, str | int | None]:
    """Return what the figures depend on."""
    return {"cores": os.cpu_count(), "python": platform.python_version(), "duckdb": version("duckdb")}


if __name__ == "__main__":
    main()
