"""The roles that let a night read what is configured, and nothing else, as commands that an administrator can paste.

One role for each need, on the smallest resource that takes it: a dataset, a bucket, a billing account; the two that
allow jobs and read sessions can only be given on a project.

Source: BigQuery documentation, "Introduction to IAM" and GRANT; Cloud Storage, "IAM roles"; Cloud Billing, "Overview of
Cloud Billing access control".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from ingest.gcp.billing_errors import API
from ingest.gcp.bq_errors import DATA_VIEWER, JOB_USER, READ_SESSION_USER
from ingest.gcp.gcs_errors import OBJECT_VIEWER
from ingest.gcp.projects import ROLE as BILLING_VIEWER
from ingest.source import BigQueryLocation, GcsLocation, SourceSettings

T = TypeVar("T")
_PLAIN = re.compile(r"[\w.:-]+", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What a night reads of Google Cloud."""

    datasets: tuple[tuple[str, str], ...] = ()
    """Pairs of (project, dataset) that hold exports."""
    job_projects: tuple[str, ...] = ()
    """Projects that queries and read sessions are paid by."""
    buckets: tuple[str, ...] = ()
    billing_accounts: tuple[str, ...] = ()
    asks_catalogue: bool = False


EXAMPLE = Needs(
    datasets=(("EXAMPLE-PROJECT", "EXAMPLE_DATASET"),),
    job_projects=("EXAMPLE-JOB-PROJECT",),
    buckets=("EXAMPLE-BUCKET",),
    billing_accounts=("EXAMPLE-BILLING-ACCOUNT",),
    asks_catalogue=True,
)
"""Stands for what is not configured yet."""


def needs_of(sources: Sequence[SourceSettings], *, asks_catalogue: bool) -> Needs:
    """Return what the sources need; which billing accounts they are of, the configuration does not know."""
    accounts = EXAMPLE.billing_accounts if any(source.projects for source in sources) else ()
    exports = [source.location for source in sources if isinstance(source.location, BigQueryLocation)]
    return Needs(
        datasets=tuple((table.project, table.dataset) for export in exports for table in export.tables),
        job_projects=tuple(export.paying_project for export in exports),
        buckets=tuple(source.location.bucket for source in sources if isinstance(source.location, GcsLocation)),
        billing_accounts=accounts,
        asks_catalogue=asks_catalogue,
    )


def reader_commands(needs: Needs) -> str:
    """Return the commands, for a POSIX shell; for no needs at all, with placeholders for each kind.

    Raises ValueError for a name that could mean something else to a shell.
    """
    if needs == Needs():
        needs = EXAMPLE
    lines = [
        "# The least that a night needs of Google Cloud. Replace each EXAMPLE name; MEMBER is who runs the night.",
        'MEMBER="serviceAccount:overrun@EXAMPLE-PROJECT.iam.gserviceaccount.com"',
    ]
    for what, command in _commands(_quotable(needs)):
        lines += ["", f"# {what}", command]
    return "\n".join(lines) + "\n"


def _commands(needs: Needs) -> Iterator[tuple[str, str]]:
    """Yield what each command is for, and the command."""
    for project, dataset in needs.datasets:
        runs_in = needs.job_projects[0] if needs.job_projects else project
        yield (
            f"{DATA_VIEWER} on the dataset: the tables of the export, and no other dataset",
            f"bq query --project_id={runs_in} --use_legacy_sql=false"
            f" 'GRANT `{DATA_VIEWER}` ON SCHEMA `{project}`.`{dataset}` TO \"'\"$MEMBER\"'\"'",
        )
    for project in needs.job_projects:
        yield f"{JOB_USER} on the project that pays: queries", _on_project(project, JOB_USER)
        yield f"{READ_SESSION_USER} on the same project: the Storage Read API", _on_project(project, READ_SESSION_USER)
    for bucket in needs.buckets:
        yield (
            f"{OBJECT_VIEWER} on the bucket: exported files",
            f'gcloud storage buckets add-iam-policy-binding gs://{bucket} --member="$MEMBER" --role={OBJECT_VIEWER}',
        )
    for account in needs.billing_accounts:
        yield (
            f"{BILLING_VIEWER} on the billing account: its projects (projects = true)",
            f'gcloud billing accounts add-iam-policy-binding {account} --member="$MEMBER" --role={BILLING_VIEWER}',
        )
    if needs.asks_catalogue or needs.billing_accounts:
        yield (
            "no role: the Cloud Billing API, in the project of the credentials",
            f"gcloud services enable {API} --project=EXAMPLE-PROJECT",
        )


def _on_project(project: str, role: str) -> str:
    return f'gcloud projects add-iam-policy-binding {project} --member="$MEMBER" --role={role} --condition=None'


def _quotable(needs: Needs) -> Needs:
    """Return the needs, each once, of names that a shell takes as they are."""
    names = [*(name for pair in needs.datasets for name in pair), *needs.job_projects, *needs.buckets]
    odd = next((name for name in [*names, *needs.billing_accounts] if not _PLAIN.fullmatch(name)), None)
    if odd is not None:
        raise ValueError(f"{odd!r} is no name of a resource of Google Cloud")
    return replace(
        needs,
        datasets=_once(needs.datasets),
        job_projects=_once(needs.job_projects),
        buckets=_once(needs.buckets),
        billing_accounts=_once(needs.billing_accounts),
    )


def _once(names: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(names))
