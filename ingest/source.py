"""The seam between a source and the rest: what is configured, what it delivers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Literal

from sql.secret import SecretReference

SourceKind = Literal["aws-export", "gcp-export", "gcp-bigquery", "focus-export"]
DEFAULT_QUIET_DAYS = 7
"""For sources of GCP, whose exports name no invoice."""
DEFAULT_SETTLE_DAYS: dict[SourceKind, int] = {"aws-export": 1, "gcp-export": 2, "gcp-bigquery": 2, "focus-export": 2}
_TABLE = re.compile(
    r"(?P<project>(?:[a-z0-9.-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9])\.(?P<dataset>\w{1,1024})\.(?P<table>[\w-]{1,1024})",
    re.ASCII,
)
_GCS_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,220}[a-z0-9]")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Location:
    """A bucket, or a folder or file in it."""

    bucket: str
    prefix: str
    """What stands behind the bucket's slash, as it was written; empty for the bucket as a whole."""

    @classmethod
    def parse(cls, text: str) -> S3Location:
        """Return the place that `s3://bucket/prefix` names; raises ValueError, which does not repeat the text.

        Source: Amazon S3 user guide, "Bucket naming rules".
        """
        bucket, _, prefix = text.removeprefix("s3://").partition("/")
        if not text.startswith("s3://") or not _BUCKET.fullmatch(bucket):
            raise ValueError("must be s3://BUCKET or s3://BUCKET/PREFIX, with the name of a bucket and nothing else")
        if not prefix.isprintable() or ".." in prefix.split("/"):
            raise ValueError("must be a prefix without control characters and without ..")
        return cls(bucket=bucket, prefix=prefix)

    def __str__(self) -> str:
        """Return `s3://bucket/prefix`."""
        return f"s3://{self.bucket}/{self.prefix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long an answer of a provider is waited for; the default is a night's."""

    connect_seconds: float = 10
    read_seconds: float = 60
    """For an answer, or for the next piece of one."""
    attempts: int = 5
    """Times that a request is sent at most."""


HASTE = Patience(connect_seconds=3, read_seconds=10, attempts=2)
"""Of somebody in front of a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwsAccess:
    """How AWS is reached; without any of it, as the AWS SDK finds credentials and region by itself."""

    profile: str | None = None
    """Profile of the AWS configuration files."""
    role_arn: str | None = None
    """Role that is assumed."""
    external_id: str | None = None
    """What the role's trust policy may ask for."""
    region: str | None = None
    """Region of the bucket."""
    endpoint_url: str | None = None
    """Where every service is asked instead of at AWS; S3 alone, where it is an address of AWS for S3."""
    patience: Patience = Patience()
    """Not configured: a night waits longer than somebody in front of a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BigQueryTable:
    """A table or view of BigQuery."""

    project: str
    dataset: str
    table: str

    @classmethod
    def parse(cls, text: str) -> BigQueryTable:
        """Return the table that `project.dataset.table` names; raises ValueError.

        Source: Google Cloud documentation, "Creating and managing projects" and BigQuery's naming of tables.
        """
        found = _TABLE.fullmatch(text)
        if found is None:
            raise ValueError('must be project.dataset.table, like "acme-billing.billing.gcp_billing_export_v1_0A1B2C"')
        return cls(project=found["project"], dataset=found["dataset"], table=found["table"])

    def __str__(self) -> str:
        """Return `project.dataset.table`."""
        return f"{self.project}.{self.dataset}.{self.table}"


@dataclass(frozen=True, slots=True, kw_only=True)
class BigQueryLocation:
    """Billing exports in BigQuery, and how they are asked.

    The job project pays for queries, the tables lie in a dataset's project, and charges are of further projects.
    """

    tables: tuple[BigQueryTable, ...]
    """One at least; all of one kind, each of its own billing account."""
    job_project: str | None = None
    """Who pays for queries and read sessions; None for the first table's project."""
    lookback_months: int = 2
    """Invoice months before the current one that are looked at each night."""
    max_bytes_billed: int = 100 * 10**9
    """What one query may bill at most [bytes]."""
    credentials: SecretReference | None = None
    """Service-account file; None for application default credentials."""
    endpoint_url: str | None = None
    """Where BigQuery is asked instead of at Google; plain http is an emulator on this machine."""
    storage_endpoint_url: str | None = None
    """Where its Storage API is asked; beside `endpoint_url`, None is to do without."""
    patience: Patience = Patience()
    """Not configured."""
    pause_seconds: float = 1.0
    """Pause before the second try of a request, doubled with each; not configured."""

    @property
    def paying_project(self) -> str:
        """Return the project that jobs run in."""
        return self.job_project or self.tables[0].project

    def __str__(self) -> str:
        """Return the tables' names."""
        return ", ".join(map(str, self.tables))


@dataclass(frozen=True, slots=True, kw_only=True)
class BillingAccess:
    """How the Cloud Billing API of Google is reached."""

    endpoint: str | None = None
    """HOST:PORT on this machine that is asked instead, without credentials: for tests."""
    credentials: SecretReference | None = None
    """Service-account file; None for application default credentials."""
    retry_seconds: float = 90
    """How long a request that Google has no room or no answer for is sent again; not configured."""
    first_wait_seconds: float = 1
    """Pause before it is sent again for the first time; each further one is twice as long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcsLocation:
    """A bucket of Google Cloud Storage, or a folder or file in it, and how it is asked."""

    bucket: str
    prefix: str
    """What stands behind the bucket's slash, without slashes at its ends; empty for the bucket as a whole."""
    credentials: SecretReference | None = None
    """Service-account file; None for application default credentials."""
    endpoint_url: str | None = None
    """Where Cloud Storage is asked instead of at Google; plain http is for this machine, without credentials."""
    patience: Patience = Patience()
    """Not configured."""

    @classmethod
    def parse(cls, text: str) -> GcsLocation:
        """Return the place that `gs://bucket/prefix` names; raises ValueError, which does not repeat the text.

        Source: Cloud Storage documentation, "Bucket naming requirements".
        """
        bucket, _, prefix = text.removeprefix("gs://").partition("/")
        if not text.startswith("gs://") or not _GCS_BUCKET.fullmatch(bucket):
            raise ValueError("must be gs://BUCKET or gs://BUCKET/PREFIX, with the name of a bucket and nothing else")
        if not prefix.isprintable() or ".." in prefix.split("/"):
            raise ValueError("must be a prefix without control characters and without ..")
        if "*" in prefix:
            raise ValueError("must be the folder of the files, without *")
        return cls(bucket=bucket, prefix=prefix.strip("/"))

    def __str__(self) -> str:
        """Return `gs://bucket/prefix`."""
        return f"gs://{self.bucket}/{self.prefix}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentDiscount:
    """What a spend commitment takes off the price without it, where the export does not say so itself."""

    service_pattern: str
    """LIKE pattern, escaped with a backslash, over the name of the service."""
    sku_pattern: str
    """The same over the description of the fee's SKU."""
    discount: Decimal
    """Between 0 and 1."""
    from_month: date | None = None
    """First billing month that it is in force."""
    until_month: date | None = None
    """First billing month that it is no longer in force (half-open)."""

    def covers(self, billing_month: date) -> bool:
        """Return whether it is in force in a month."""
        return (self.from_month is None or billing_month >= self.from_month) and (
            self.until_month is None or billing_month < self.until_month
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSettings:
    """One `[[source]]` of the configuration."""

    name: str
    kind: SourceKind
    location: Path | S3Location | GcsLocation | BigQueryLocation
    """A folder or one file, absolute, a place in S3 or Google Cloud Storage, or tables of BigQuery."""
    access: AwsAccess = AwsAccess()
    """How AWS is reached."""
    period: str | None = None
    """For loose files: YYYY-MM, or from-rows; None is the kind's default."""
    currency: str | None = None
    """ISO code that rows without a currency are in; loose AWS files only."""
    settle_days: int = 1
    """Days after which a day's usage counts as complete."""
    quiet_days: int | None = None
    """Days without a change after which an ended month is final; None where the export names invoices."""
    replaces: str | None = None
    """Source whose (provider, billing account, month) this one takes over."""
    was: str | None = None
    """Earlier name of this source."""
    from_month: date | None = None
    """First month that belongs to this source."""
    until_month: date | None = None
    """First month that no longer belongs to this source (half-open)."""
    amortise: bool = True
    """Whether commitments are spread over usage here where the provider delivers fees and credits; gcp-export only."""
    commitment_discounts: tuple[CommitmentDiscount, ...] = ()
    """For sources of GCP: discounts that go before the published ones; the first that matches counts."""
    organizations: bool = False
    """Whether names and tags of accounts are asked of AWS Organizations each night."""
    projects: bool = False
    """Whether the projects of the loaded billing accounts are asked of Cloud Billing each night."""
    billing: BillingAccess = BillingAccess()
    """How Cloud Billing is reached."""

    def covers(self, billing_month: date) -> bool:
        """Return whether `from` and `until` leave a month to this source."""
        return (self.from_month is None or billing_month >= self.from_month) and (
            self.until_month is None or billing_month < self.until_month
        )
