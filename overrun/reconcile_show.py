"""How `overrun reconcile` shows what it found, of whatever provider, and which exit code says so."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TextIO

from overrun.exits import Exit
from overrun.terminal import print_table
from sql.text import visible

SCHEMA_VERSION = 1
"""Of the JSON that this command prints."""
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A month of a source against what the provider says, for people and for programs."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    sentences: Sequence[str]
    """What to know about them, one line each."""
    as_json: Mapping[str, object]
    """All of it as JSON values; amounts are strings, so that no digit is lost."""
    is_tied: bool


def show(report: Report, stream: TextIO, *, as_json: bool) -> Exit:
    """Print a report to `stream`; return DONE where it ties, else FINDINGS."""
    if as_json:
        stream.write(f"{json.dumps(report.as_json)}\n")
    else:
        stream.write(f"{visible(report.title)}\n\n")
        print_table(report.columns, report.rows, stream)
        stream.write("\n")
        for sentence in report.sentences:
            stream.write(f"{visible(sentence)}\n")
    return Exit.DONE if report.is_tied else Exit.FINDINGS
