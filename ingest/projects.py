"""Projects of billing accounts, kept as Cloud Billing last listed them: `ops.project`.

Called once a night, after loading, for the billing accounts that are loaded. It fails soft, account by account: what
cannot be listed leaves the rows that were listed last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingest.accounts import replace_listed
from ingest.errors import ProjectsUnlisted, SourceUnreadable
from ingest.gcp.projects import list_projects
from ingest.source import SourceSettings
from sql.contract import PROJECT
from sql.warehouse import Row, Warehouse

Progress = Callable[[str], None]


def refresh_projects(
    warehouse: Warehouse, sources: Sequence[SourceSettings], progress: Progress = lambda _: None
) -> list[ProjectsUnlisted]:
    """Replace the projects of each source whose billing accounts list others, and return what could not be listed.

    A source that is configured without `projects` has none; one that is configured no more keeps its own.
    """
    refused: list[ProjectsUnlisted] = []
    for source in sources:
        rows: list[Row] = []
        if source.projects:
            progress(f"{source.name}: asking for projects")
            for account_id in loaded_accounts(warehouse, source.name):
                rows += _listed(warehouse, source, account_id, refused)
        replace_listed(warehouse, source.name, {PROJECT: rows})
    return refused


def loaded_accounts(warehouse: Warehouse, source: str) -> list[str]:
    """Return the billing accounts of Google Cloud that a source has loaded."""
    rows = warehouse.rows(
        "select distinct total.billing_account_id from ops.load as load"
        " inner join ops.load_total as total on total.load_id = load.load_id"
        " where load.is_current and load.source = ? and total.billing_account_id is not null order by 1",
        [source],
    )
    return [str(row[0]) for row in rows]


def _listed(
    warehouse: Warehouse, source: SourceSettings, account_id: str, refused: list[ProjectsUnlisted]
) -> Sequence[Row]:
    """Return the rows of one billing account, those that are there where it is refused."""
    try:
        listed = list_projects(source.billing, account_id)
    except SourceUnreadable as error:
        refused.append(ProjectsUnlisted(str(error), source=source.name, hint=error.hint))
        return warehouse.rows(
            f"select * from {PROJECT.full_name} where source = ? and billing_account_id = ?", [source.name, account_id]
        )
    return [(source.name, account_id, project.project_id, project.project_id, project.is_enabled) for project in listed]
