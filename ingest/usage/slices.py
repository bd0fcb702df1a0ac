"""Which part of an accelerator each kind that a file names is, as a table that its rows are joined with."""

from __future__ import annotations

from ingest.usage.gpus import part_of_profile
from sql.warehouse import Warehouse


def slice_parts(warehouse: Warehouse, origin: str, kind: str) -> None:
    """Make the temporary table `sliced` (name, part) of the distinct `kind` in `origin`; a part is null for unknown."""
    kinds = [str(row[0]) for row in warehouse.rows(f"select distinct {kind} {origin}") if row[0] is not None]
    warehouse.execute(
        "create or replace temporary table sliced as select unnest(?::varchar[]) as name,"
        " unnest(?::decimal(20,18)[]) as part",
        [kinds, [part_of_profile(name) for name in kinds]],
    )
