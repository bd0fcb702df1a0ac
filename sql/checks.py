"""What must hold before a build is committed: keys, exact money, and the queries in `.check.sql` files.

Called by `sql.runner` inside the transaction of the build, so that a failure leaves the tables of the last build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NoReturn

from sql.contract import COST_AND_USAGE, MONEY
from sql.errors import CheckFailed, ModelError
from sql.model import Model
from sql.warehouse import Row, Warehouse, quoted

MONEY_SUFFIXES = ("_cost", "_amount", "_credit")
MONEY_COLUMNS = frozenset(column.name for column in COST_AND_USAGE.columns if column.type == MONEY)
"""Money whose name has none of the suffixes."""

_INEXACT = ("DOUBLE", "FLOAT")
_SHOWN_ROWS = 3


def check_columns(model: Model, columns: Iterable[tuple[str, str]]) -> None:
    """Refuse money that is not exact and a key that names no column; `columns` are (name, type)."""
    types = dict(columns)
    for name, kind in types.items():
        if (name.endswith(MONEY_SUFFIXES) or name in MONEY_COLUMNS) and kind in _INEXACT:
            raise ModelError(model.full_name, f"money column {name} is {kind}; cast it to {MONEY}")
    for column in model.key:
        if column.name not in types:
            raise ModelError(model.full_name, f"its key names {column.name}, which is not a column")


def check_key(warehouse: Warehouse, model: Model, relation: str, billing_month: str | None) -> None:
    """Raise CheckFailed unless the key is unique, set, and of `billing_month` where the table holds one month."""
    nulls = " or ".join(f"{quoted(column.name)} is null" for column in model.key if not column.is_nullable) or "false"
    columns = ", ".join(quoted(column.name) for column in model.key)
    astray = f"billing_month <> date '{billing_month}'" if billing_month else "false"
    row = warehouse.row(
        f"select count(*) - count(distinct hash({columns})), count(*) filter (where {nulls}),"
        f" count(*) filter (where {astray}) from {relation}"
    )
    doubtful, unset, strays = row or (0, 0, 0)
    sample = f"select {columns} from {relation}"
    if unset:
        _fail(model, "a key column is null", warehouse.rows(f"{sample} where {nulls} limit {_SHOWN_ROWS}"))
    if strays:
        _fail(model, "rows of another month", warehouse.rows(f"{sample} where {astray} limit {_SHOWN_ROWS}"))
    # Distinct hashes prove distinct keys; equal hashes prove nothing, so only then the keys themselves are compared.
    repeated = f"{sample} group by {columns} having count(*) > 1 limit {_SHOWN_ROWS}"
    twice = warehouse.rows(repeated) if doubtful else []
    if twice:
        _fail(model, f"key ({columns}) is not unique", twice)


def run_checks(warehouse: Warehouse, model: Model, relations: Mapping[str, str], where: str) -> list[str]:
    """Run the checks of `model` over `relations`; return the sentences of warnings, raise CheckFailed for the rest."""
    warnings = []
    for check in model.checks:
        rows = warehouse.rows(f"select * from ({check.query.spliced(relations)}) as rows_found limit {_SHOWN_ROWS}")
        if rows and not check.is_warning:
            _fail(model, check.sentence, rows)
        if rows:
            warnings.append(f"{where}: {check.sentence}")
    return warnings


def _fail(model: Model, sentence: str, rows: list[Row]) -> NoReturn:
    """Raise CheckFailed with a few of the rows."""
    raise CheckFailed(model.full_name, sentence, rows)
