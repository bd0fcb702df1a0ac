"""Which part of an accelerator each kind that a file names is, as a table that its rows are joined with."""

from __future__ import annotations

from collections.abc import Sequence

from ingest.usage.gpus import part_of_profile
from ingest.usage.tables import value_of
from sql.contract import RUN
from sql.warehouse import Warehouse


def slice_parts(warehouse: Warehouse, origin: str, kind: str) -> None:
    """Make the temporary table `sliced` (name, part) of the distinct `kind` in `origin`; a part is null for unknown."""
    kinds = [str(row[0]) for row in warehouse.rows(f"select distinct {kind} {origin}") if row[0] is not None]
    warehouse.execute(
        "create or replace temporary table sliced as select unnest(?::varchar[]) as name,"
        " unnest(?::decimal(20,18)[]) as part",
        [kinds, [part_of_profile(name) for name in kinds]],
    )


def counted_gpus(warehouse: Warehouse, names: Sequence[str]) -> dict[str, str]:
    """Return the expression for the count of accelerators in `given`, where the kind of some is a slice of one."""
    if not {"gpu_count", "accelerator"} <= set(names):
        return {}
    slice_parts(warehouse, "from given", "accelerator")
    count = value_of(next(column for column in RUN.columns if column.name == "gpu_count"))
    part = "(select part from sliced where name = given.accelerator)"
    return {
        "gpu_count": f"case when nullif(trim(accelerator), '') is null then {count}"
        f" else cast(round({count} * {part}, 9) as decimal(18, 9)) end"
    }
