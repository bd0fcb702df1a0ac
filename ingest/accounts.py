"""Names and tags of accounts, kept as the provider's organisation last listed them: `ops.account`, `ops.account_tag`.

Called once a night, after loading. It fails soft: names are a help to people, and no reason to fail a night, so what
cannot be listed leaves the rows that were listed last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ingest.aws.organizations import list_account_tags, list_accounts
from ingest.errors import AccountsUnlisted, SourceUnreadable
from ingest.privacy import Privacy
from ingest.source import SourceSettings
from sql.contract import ACCOUNT, ACCOUNT_TAG, Table
from sql.warehouse import Row, Warehouse

Progress = Callable[[str], None]

_ROWS_PER_INSERT = 500


def refresh_accounts(
    warehouse: Warehouse,
    sources: Sequence[SourceSettings],
    progress: Progress = lambda _: None,
    privacy: Privacy | None = None,
) -> list[AccountsUnlisted]:
    """Replace the accounts of each source whose organisation lists others, and return what could not be listed.

    A source that is configured without `organizations` has no accounts; one that is configured no more keeps its own.
    """
    refused: list[AccountsUnlisted] = []
    for source in sources:
        if source.organizations:
            progress(f"{source.name}: asking for names and tags of accounts")
            refused += _refresh(warehouse, source, privacy)
        else:
            replace_listed(warehouse, source.name, {ACCOUNT: [], ACCOUNT_TAG: []})
    return refused


def _refresh(warehouse: Warehouse, source: SourceSettings, privacy: Privacy | None) -> list[AccountsUnlisted]:
    """List the accounts of one source and their tags; names are of use without tags."""
    refused: list[AccountsUnlisted] = []
    content: dict[Table, list[Row]] = {}
    try:
        names = list_accounts(source)
        content[ACCOUNT] = [(source.name, account_id, name) for account_id, name in names.items()]
        tags = list_account_tags(source, list(names))
        content[ACCOUNT_TAG] = [
            (source.name, tag.account_id, tag.key, privacy.tag_value(tag.key, tag.value) if privacy else tag.value)
            for tag in tags
        ]
    except SourceUnreadable as error:
        refused.append(AccountsUnlisted(str(error), source=source.name, hint=error.hint))
    replace_listed(warehouse, source.name, content)
    return refused


def replace_listed(warehouse: Warehouse, source: str, content: dict[Table, list[Row]]) -> None:
    """Replace the rows that a source has in each table, all or none, where any of them differ."""
    changed = {table: rows for table, rows in content.items() if _held(warehouse, table, source) != _ordered(rows)}
    if not changed:
        return
    with warehouse.transaction():
        for table, rows in changed.items():
            warehouse.execute(f"delete from {table.full_name} where source = ?", [source])
            _insert(warehouse, table, rows)


def _held(warehouse: Warehouse, table: Table, source: str) -> list[Row]:
    rows = warehouse.rows(f"select * from {table.full_name} where source = ?", [source])
    return _ordered(rows)


def _ordered(rows: Sequence[Row]) -> list[Row]:
    return sorted(rows, key=repr)


def _insert(warehouse: Warehouse, table: Table, rows: Sequence[Row]) -> None:
    width = f"({', '.join('?' for _ in table.columns)})"
    for start in range(0, len(rows), _ROWS_PER_INSERT):
        chunk = rows[start : start + _ROWS_PER_INSERT]
        warehouse.execute(
            f"insert into {table.full_name} values {', '.join(width for _ in chunk)}",
            [value for row in chunk for value in row],
        )
