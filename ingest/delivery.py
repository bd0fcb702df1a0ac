"""A delivery: one version of one billing month of one source, and the files that make it up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveredFile:
    """A file as the provider delivered it; `name` is unique within its delivery."""

    name: str
    path: Path
    size: int
    sha256: str
    origin: str = ""
    """Where the provider keeps it, as s3://bucket/key; empty for a file that is read where it lies."""

    @property
    def place(self) -> str:
        """Return the name under which its checksum is remembered."""
        return self.origin or str(self.path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One version of one month.

    `version` is a hash of the files' checksums, so that the same content delivered again, under whatever name or
    assembly id, is the same version and a night has nothing to do.
    """

    source: str
    billing_month: date
    version: str
    files: tuple[DeliveredFile, ...]
    rows_of_month_only: bool = False
    """True for loose files, which may hold other months too."""
    month_is_stated: bool = False
    """True where the configuration states the month of loose files: rows of another month are then an error."""
    currency: str | None = None
    """Currency of rows that carry none, as configured; part of the version."""

    @property
    def load_id(self) -> str:
        """Return the id under which this delivery is loaded: a hash of source, month and version."""
        return hashlib.sha256(f"{self.source}\0{self.billing_month}\0{self.version}".encode()).hexdigest()[:16]

    @property
    def size(self) -> int:
        """Return the bytes of all files."""
        return sum(file.size for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A delivery whose files have still to be fetched, once it is known that they are wanted."""

    source: str
    billing_month: date
    version: str | None
    """None where the checksum of a file is not known before it is fetched."""
    fetch: Callable[[], Delivery]
    """Fetch what is not there and return the delivery; raises IngestError."""


def version_of(files: Iterable[DeliveredFile], currency: str | None = None) -> str:
    """Return the version of a delivery: a hash of the sorted checksums of its files, and of the configured currency."""
    checksums = sorted(file.sha256 for file in files)
    return hashlib.sha256("\n".join([*checksums, *([currency] if currency else [])]).encode()).hexdigest()[:16]
