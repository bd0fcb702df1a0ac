"""What can go wrong between a source and its part.

    IngestError
    ├── SourceUnreadable   cannot be listed, read or recognised: missing, truncated, zero bytes, not an export
    │   ├── SourceChanged  a file is not the one any more that was listed
    │   ├── SourceDamaged  a file did not arrive as the provider has it
    │   ├── SourceDenied   a permission is missing
    │   └── NoIdentity     credentials are missing, expired or wrong
    ├── SourceConflict     another source already holds this payer and month
    ├── Unlisted           what only helps cannot be listed; a note, which no exit code speaks of
    │   ├── AccountsUnlisted  accounts of an organisation of AWS
    │   ├── ProjectsUnlisted  projects of a billing account of Google Cloud
    │   └── PricesUnlisted    prices of the catalogue of Google Cloud
    └── LoadRefused        read, but totals, casts, field counts or keys fail, or the month shrank

Each leaves the last good version of the month in place; the other sources go on.
"""

from __future__ import annotations

from datetime import date


class IngestError(Exception):
    """Root of the errors of `ingest`; carries the source, the month and the file where they are known."""

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        billing_month: date | None = None,
        file: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message)
        self.source = source
        self.billing_month = billing_month
        self.file = file
        self.hint = hint

    def located(self, *, source: str, billing_month: date | None = None) -> IngestError:
        """Fill in the source and month where the raiser did not know them, and return self."""
        self.source = self.source or source
        self.billing_month = self.billing_month or billing_month
        return self

    def __str__(self) -> str:
        """Return the message behind the source, month and file that it is about."""
        where = [f"source {self.source}"] if self.source else []
        where += [f"{self.billing_month:%Y-%m}"] if self.billing_month else []
        where += [self.file] if self.file else []
        return f"{', '.join(where)}: {self.args[0]}" if where else str(self.args[0])


class SourceUnreadable(IngestError):
    """The source cannot be listed, read or recognised."""


class SourceChanged(SourceUnreadable):
    """A file was replaced or removed after it had been listed."""


class SourceDamaged(SourceUnreadable):
    """A file did not arrive as the provider has it."""


class SourceDenied(SourceUnreadable):
    """A permission to list or read is missing."""


class NoIdentity(SourceUnreadable):
    """There are no credentials that the provider takes: missing, expired or wrong, or the clock is."""


class SourceConflict(IngestError):
    """Two sources deliver the same payer and month."""


class Unlisted(IngestError):
    """What only helps people cannot be listed; what was listed last stands."""


class AccountsUnlisted(Unlisted):
    """The organisation does not list its accounts or their tags."""


class ProjectsUnlisted(Unlisted):
    """Cloud Billing does not list the projects of a billing account."""


class PricesUnlisted(Unlisted):
    """The catalogue does not list the prices of a service."""


class LoadRefused(IngestError):
    """The delivery was read but must not replace what is loaded."""
