"""A source in a bucket of any provider: what lists as it was remembered is not read again.

The checksums of files are remembered by their place, size and stamp; where all of a month's are known, so is its
version before anything is fetched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Generic, Protocol, TypeVar

from ingest.checksums import Checksums
from ingest.delivery import DeliveredFile, Delivery, Offer
from ingest.fetching import Fetched, Remote
from ingest.landing import FETCHING, landed_files
from ingest.source import SourceSettings


class Listed(Remote, Protocol):
    """An object as a listing shows it, with what a guess at its delivery needs."""

    @property
    def path(self) -> PurePosixPath:
        """Return the key as a path, for its name and depth."""

    @property
    def modified_ns(self) -> int:
        """Return when it was written, [ns] since 1970."""


Item = TypeVar("Item", bound=Listed)


@dataclass(slots=True, kw_only=True)
class RemoteSource(ABC, Generic[Item]):
    """A source in a bucket that is being read."""

    source: SourceSettings
    checksums: Checksums
    landing: Path

    @abstractmethod
    def url(self, key: str) -> str:
        """Return where an object lies."""

    @abstractmethod
    def loose(self) -> list[Item]:
        """Return every file below the location that is not hidden, in order; or the one that it names."""

    @abstractmethod
    def fetch(self, items: Sequence[Item], folder: Path) -> Mapping[str, Fetched]:
        """Return objects by key, fetched into a folder."""

    @property
    def folder(self) -> Path:
        """Return the source's folder under landing."""
        return self.landing / self.source.name

    def known(self, item: Item) -> DeliveredFile | None:
        """Return a file whose checksum is remembered, not fetched, or None."""
        sha256 = self.checksums.remembered(self.url(item.key), item.size, item.stamp)
        return None if sha256 is None else self._file(item, sha256, Path())

    def fetched(self, items: Sequence[Item], folder: Path) -> list[DeliveredFile]:
        """Return files that lie on this disk: landed already, or else fetched into a folder."""
        landed = landed_files(self.landing, self.source.name)
        known = {item.key: self.known(item) for item in items}
        there = {key: landed[file.sha256] for key, file in known.items() if file is not None and file.sha256 in landed}
        missing = [item for item in items if item.key not in there]
        fetched = self.fetch(missing, folder) if missing else {}
        files: list[DeliveredFile] = []
        for item in items:
            file = known[item.key]
            if file is not None and item.key in there:
                files.append(replace(file, path=there[item.key]))
            else:
                files.append(self._file(item, fetched[item.key].sha256, fetched[item.key].path))
        return files

    def offer_of(self, delivery: Delivery, items: Sequence[Item]) -> Offer:
        """Return the offer of a delivery of loose files, whose checksums are known."""
        by_place = {self.url(item.key): item for item in items}
        own = [by_place[file.origin] for file in delivery.files]

        def fetch() -> Delivery:
            return replace(delivery, files=tuple(self.fetched(own, self.folder / FETCHING)))

        return Offer(
            source=delivery.source, billing_month=delivery.billing_month, version=delivery.version, fetch=fetch
        )

    def _file(self, item: Item, sha256: str, path: Path) -> DeliveredFile:
        """Return an object as a file, and remember its checksum."""
        place = self.url(item.key)
        self.checksums.remember(place, item.size, item.stamp, sha256)
        return DeliveredFile(name=item.name, path=path, size=item.size, sha256=sha256, origin=place)
