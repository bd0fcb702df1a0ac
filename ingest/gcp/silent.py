"""Projects that had charges and have none any more: deleted, moved to another billing account, or lost by an export."""

from __future__ import annotations

from sql.warehouse import Warehouse

GCP_KINDS = frozenset({"gcp-export", "gcp-bigquery"})
_QUIET_DAYS = 7
_KNOWN_DAYS = 62
_LISTED = 5


def silent_projects(warehouse: Warehouse, source: str) -> list[str]:
    """Return a note on the projects of a source whose last usage is long before that of the others, or nothing.

    Those that stopped more than two months ago are old news.
    """
    rows = warehouse.rows(
        "with project as ("
        'select "SubAccountId" as id, max("ChargePeriodStart") as last_at from focus.cost_and_usage'
        ' where "x_Source" = ? and "ChargeCategory" = \'Usage\' and "x_BillingMonth" >= ('
        "select max(billing_month) - interval 3 months from ops.load where is_current and source = ?)"
        " group by all), latest as (select max(last_at) as newest_at from project)"
        " select id, strftime(last_at, '%Y-%m-%d') from project, latest where id is not null"
        f" and last_at < newest_at - interval {_QUIET_DAYS} days and last_at >= newest_at - interval {_KNOWN_DAYS} days"
        " order by id",
        [source, source],
    )
    if not rows:
        return []
    listed = ", ".join(f"{name} (last on {day})" for name, day in rows[:_LISTED])
    more = f" and {len(rows) - _LISTED} more" if len(rows) > _LISTED else ""
    return [f"{len(rows)} projects have no usage for more than {_QUIET_DAYS} days: {listed}{more}"]
