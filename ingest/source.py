"""The seam between a source and the rest: what is configured, what it delivers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Literal

from sql.secret import SecretReference

SourceKind = Literal["aws-export", "gcp-export", "focus-export"]
DEFAULT_SETTLE_DAYS: dict[SourceKind, int] = {"aws-export": 1, "gcp-export": 2, "focus-export": 2}
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
    """How long an answer of AWS is waited for; the default is a night's."""

    connect_seconds: float = 10
    read_seconds: float = 60
    """For an answer, or for the next piece of one."""
    attempts: int = 5
    """Times that a request is sent at most."""


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
    """Where every service is asked instead of at AWS."""
    patience: Patience = Patience()
    """Not configured: a night waits longer than somebody in front of a terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GcsLocation:
    """A bucket of Google Cloud Storage, or a folder or file in it, and how it is asked."""

    bucket: str
    prefix: str
    """What stands behind the bucket's slash, without slashes at its ends; empty for the bucket as a whole."""
    credentials: SecretReference | None = None
    """Service-account file; None for application default credentials."""
    endpoint_url: str | None = None
    """Where Cloud Storage is asked instead of at Google; plain http is for this machine, and asked anonymously."""
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
class SourceSettings:
    """One `[[source]]` of the configuration."""

    name: str
    kind: SourceKind
    location: Path | S3Location | GcsLocation
    """A folder or one file, absolute, or a place in S3 or Google Cloud Storage."""
    access: AwsAccess = AwsAccess()
    """How AWS is reached."""
    period: str | None = None
    """For loose files: YYYY-MM, or from-rows; None is the kind's default."""
    currency: str | None = None
    """ISO code that rows without a currency are in; loose AWS files only."""
    settle_days: int = 1
    """Days after which a day's usage counts as complete."""
    replaces: str | None = None
    """Source whose (provider, billing account, month) this one takes over."""
    was: str | None = None
    """Earlier name of this source."""
    from_month: date | None = None
    """First month that belongs to this source."""
    until_month: date | None = None
    """First month that no longer belongs to this source (half-open)."""
    organizations: bool = False
    """Whether names and tags of accounts are asked of AWS Organizations each night."""

    def covers(self, billing_month: date) -> bool:
        """Return whether `from` and `until` leave a month to this source."""
        return (self.from_month is None or billing_month >= self.from_month) and (
            self.until_month is None or billing_month < self.until_month
        )
