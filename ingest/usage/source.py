"""What is configured of a source of runs or of capacity, and what reading one file of it gives."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal, get_args

from sql.contract import Table

RunSourceKind = Literal["slurm", "runs-files", "kubernetes", "mlflow", "capacity"]
RUN_KINDS: tuple[str, ...] = get_args(RunSourceKind)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSource:
    """One `[[source]]` that tells of runs or of capacity."""

    name: str
    kind: RunSourceKind
    location: Path
    """A folder or one file, absolute."""
    was: str | None = None
    """Earlier name of this source."""
    cluster: str = ""
    """Cluster of rows that name none."""
    run_tag: str | None = None
    """Tag key whose value, on a charge, is the id of a run."""
    gpu_hour_price: Decimal | None = None
    """Price of one accelerator for an hour, for runs whose cost nothing else tells."""
    currency: str | None = None
    """Currency of that price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """What a file was read to: the temporary table `incoming`, whose rows are of `table`."""

    table: Table
    rows_read: int
    rows_dropped: int = 0
    passed_over: tuple[str, ...] = ()
    """Columns that nothing is read of."""
