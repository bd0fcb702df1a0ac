"""What BigQuery lets a source do, asked one thing after the other by `overrun doctor`; where refused, what is missing.

Nothing is written and nothing is billed: queries are dry runs, and the read session that is opened is not read. A
question is put even where an earlier one was refused, unless the answer would be the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ingest.errors import NoIdentity, SourceUnreadable
from ingest.finding import Finding, Level
from ingest.gcp.bq_errors import Request, data_request, is_passing, job_request
from ingest.gcp.bq_export import ExportTable, first_month, look_at, refuse_several_kinds
from ingest.gcp.bq_fetch import NOT_SET, open_session, refusal_note
from ingest.gcp.bq_session import asked, query_client, read_client
from ingest.source import HASTE, BigQueryLocation, BigQueryTable

if TYPE_CHECKING:
    from google.cloud.bigquery import Client


class _Ended(Exception):
    """Every further answer would be the same."""


def probe_bigquery(location: BigQueryLocation, now: datetime) -> list[Finding]:
    """Return what a source may do of what a night does: run queries, ask its tables, stream their rows.

    Sends two requests for each table and two more. `now` is UTC. Raises nothing of Google.
    """
    hasty = replace(location, patience=HASTE)
    try:
        client = query_client(hasty)
    except NoIdentity as error:
        return [Finding(level="fail", message=str(error), hint=error.hint)]
    probe = _Probe(location=hasty, client=client, now=now)
    with suppress(_Ended):
        probe.ask()
    return list(dict.fromkeys(probe.findings))


@dataclass(slots=True, kw_only=True)
class _Probe:
    """The findings so far."""

    location: BigQueryLocation
    client: Client
    now: datetime
    findings: list[Finding] = field(default_factory=list)

    def ask(self) -> None:
        """Put every question; raises _Ended where there is no sense in going on."""
        may_query = self._may_query()
        tables = [table for name in self.location.tables if (table := self._look_at(name)) is not None]
        with self._question():
            refuse_several_kinds(tables)
        if may_query:
            for table in tables:
                self._ask_for_state(table)
        self._open_session(tables)

    def _may_query(self) -> bool:
        """Find out whether the job project lets queries run."""
        project = self.location.paying_project
        with self._question():
            self._run_dry("SELECT 1", job_request(project))
            self._told("ok", f"queries can be run, paid by project {project}")
        return self.findings[-1].level == "ok"

    def _look_at(self, name: BigQueryTable) -> ExportTable | None:
        """Find out what a table is."""
        table = None
        with self._question():
            table = look_at(self.client, self.location, name)
            self._told("ok", f"{name} is there: {table.kind} export")
            for note in table.notes:
                self._told("ok", note)
            if table.is_empty:
                self._told(
                    "warn",
                    f"{name} has no rows yet",
                    "a new export takes a day; if it is older, compare `table` with the billing account's export",
                )
        return table

    def _ask_for_state(self, table: ExportTable) -> None:
        """Find out whether the query of each night may read a table."""
        named = table.table
        with self._question():
            statement = table.state_statement(first_month(self.location, self.now))
            self._run_dry(statement, data_request(f"{named.project}.{named.dataset}"))
            self._told("ok", f"{named} can be queried")

    def _open_session(self, tables: Sequence[ExportTable]) -> None:
        """Find out whether rows can be streamed, by a session of no rows; a night does without where it is refused."""
        table = next((table for table in tables if not table.is_view), None)
        if table is None:
            return
        client = read_client(self.location)
        if client is None:
            self._told("warn", NOT_SET, "set `storage_endpoint_url` of the [[source]]")
            return
        first = first_month(self.location, self.now)
        with client, self._question(may_do_without=True):
            open_session(client, self.location, table, table.condition(first, first, first))
            self._told("ok", f"the Storage Read API can be used, paid by project {self.location.paying_project}")

    def _run_dry(self, statement: str, request: Request) -> None:
        """Let BigQuery check a query, and all that it needs to be allowed, without running it."""
        from google.cloud.bigquery import QueryJobConfig

        config = QueryJobConfig(dry_run=True, use_query_cache=False)
        seconds = self.location.patience.read_seconds
        asked(
            self.location,
            request,
            lambda: self.client.query(
                statement,
                job_config=config,
                retry=None,  # type: ignore[arg-type]
                job_retry=None,
                timeout=seconds,
            ),
        )

    @contextmanager
    def _question(self, *, may_do_without: bool = False) -> Iterator[None]:
        """Note what is refused inside the `with` block as a finding, and go on behind it.

        Raises _Ended where it is about who asks, or nobody answers.
        """
        try:
            yield
        except SourceUnreadable as error:
            note = refusal_note(error) if may_do_without else None
            self._told("fail" if note is None else "warn", note or str(error), error.hint or "run again")
            cause = error.__cause__
            if isinstance(error, NoIdentity) or (isinstance(cause, Exception) and is_passing(cause)):
                raise _Ended from error

    def _told(self, level: Level, message: str, hint: str | None = None) -> None:
        self.findings.append(Finding(level=level, message=message, hint=hint))
