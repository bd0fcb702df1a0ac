"""A published copy for some teams: their charges and marts, and nothing of anybody else's.

Made from the published copy, so it shows the same night. Relations that cannot be told apart by team (reconciliation,
restatements, month_news) are left out; data freshness and the months' status are everybody's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sql.contract import COST_AND_USAGE
from sql.parts import comment_on_table
from sql.publish import PublishReport, replace_copy
from sql.state import StateStore
from sql.warehouse import Warehouse, WarehouseSettings, literal, quoted

_SHARED = ("data_freshness", "month_status")
_ATTRIBUTED = (
    'exists (select 1 from published.core.attribution as owner where owner.source = charge."x_Source"'
    ' and owner.billing_month = charge."x_BillingMonth"'
    ' and owner.tag_set_id is not distinct from charge."x_TagSetId"'
    ' and owner.sub_account_id is not distinct from charge."SubAccountId" and owner.team in ({teams}))'
)


def publish_excerpt(
    settings: WarehouseSettings, published: Path, target: Path, teams: Sequence[str], build_id: str, state: StateStore
) -> PublishReport:
    """Replace `target` by the excerpt of `published` for `teams`, where that is newer."""
    excerpt_id = f"{build_id} {json.dumps(sorted(teams))}"

    def make(temporary: Path) -> None:
        with Warehouse.open(replace(settings, path=temporary)) as excerpt:
            _fill(excerpt, published, teams)
            excerpt.checkpoint()

    return replace_copy(target, excerpt_id, state, make)


def _fill(excerpt: Warehouse, published: Path, teams: Sequence[str]) -> None:
    """Copy the rows of `teams`, with the descriptions that people see."""
    listed = ", ".join(literal(team) for team in teams)
    excerpt.execute(f"attach {literal(str(published))} as published (read_only)")
    with excerpt.transaction():
        excerpt.execute("create schema focus; create schema marts")
        excerpt.execute(
            f"create table {COST_AND_USAGE.full_name} as select * from published.{COST_AND_USAGE.full_name} as charge"
            f" where {_ATTRIBUTED.format(teams=listed)}"
        )
        comment_on_table(excerpt, COST_AND_USAGE)
        for name, has_team in _marts(excerpt):
            if has_team or name in _SHARED:
                condition = f" where team in ({listed})" if has_team else ""
                excerpt.execute(
                    f"create table marts.{quoted(name)} as select * from published.marts.{quoted(name)}{condition}"
                )
                _copy_comments(excerpt, name)
    excerpt.execute("detach published")


def _marts(excerpt: Warehouse) -> list[tuple[str, bool]]:
    """Return the published marts, and whether each has a team column."""
    rows = excerpt.rows(
        "select table_name, bool_or(column_name = 'team') from duckdb_columns()"
        " where database_name = 'published' and schema_name = 'marts' group by 1 order by 1"
    )
    return [(str(row[0]), bool(row[1])) for row in rows]


def _copy_comments(excerpt: Warehouse, name: str) -> None:
    """Give a copied mart the descriptions of its columns."""
    rows = excerpt.rows(
        "select column_name, comment from duckdb_columns() where database_name = 'published' and schema_name = 'marts'"
        " and table_name = ? and comment is not null",
        [name],
    )
    purpose = excerpt.value(
        "select comment from (select database_name, schema_name, view_name as name, comment from duckdb_views()"
        " union all select database_name, schema_name, table_name, comment from duckdb_tables())"
        " where database_name = 'published' and schema_name = 'marts' and name = ?",
        [name],
    )
    if purpose is not None:
        excerpt.execute(f"comment on table marts.{quoted(name)} is {literal(str(purpose))}")
    for column, comment in rows:
        excerpt.execute(f"comment on column marts.{quoted(name)}.{quoted(str(column))} is {literal(str(comment))}")
