"""What a source in S3 offers: a night with nothing new lists folders and reads nothing.

A manifest that was read once is kept under landing, by its key and ETag, so that it is not asked for again either. The
checksums of data files are remembered by their place, size and ETag; where all of a month's are known, so is its
version before anything is fetched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path

from ingest.aws.fetch import fetch_objects
from ingest.aws.manifest import Manifest, newest_of, parse_manifest, without_files
from ingest.aws.s3 import Bucket, S3Object
from ingest.aws.walk import Tree, is_hidden, open_tree
from ingest.checksums import Checksums
from ingest.delivery import Delivery, Offer, version_of
from ingest.errors import SourceChanged, SourceDenied, SourceUnreadable
from ingest.fetching import WORKERS, Fetched, remove_others
from ingest.landing import FETCHING
from ingest.remote import RemoteSource
from ingest.source import S3Location, SourceSettings
from sql.files import make_directory, remove, write_bytes

MANIFESTS = ".manifests"
_MAX_MANIFEST_BYTES = 64 << 20
_SAME_DELIVERY_NS = 5 * 60 * 1_000_000_000
"""By how much a file may be newer than its manifest and still be of the same delivery."""
_UNDER_WAY_NS = 60 * 60 * 1_000_000_000
"""How long files that are newer than their manifest count as a delivery that is under way."""


@dataclass(slots=True, kw_only=True)
class S3Source(RemoteSource[S3Object]):
    """A source in S3 that is being read."""

    bucket: Bucket
    tree: Tree

    def by_manifest(self) -> tuple[list[Offer], list[SourceUnreadable], bool]:
        """Return a month's offer for each newest manifest, the problems of others, and whether there was any."""
        manifests, problems = self._manifests()
        newest, ambiguous = newest_of(manifests.values())
        objects = {manifest: item for item, manifest in manifests.items()}
        wanted = [manifest for manifest in newest if self.source.covers(manifest.billing_month)]
        offers: list[Offer] = []
        problems += ambiguous
        for manifest, found in self.tree.resolve(wanted).items():
            if isinstance(found, SourceUnreadable):
                found.located(source=self.source.name, billing_month=manifest.billing_month)
                problems.append(found)
            elif self._is_under_way(objects[manifest], found):
                problems.append(_under_way(manifest))
            elif found:
                offers.append(self._offer(manifest, objects[manifest], found))
            else:
                problems.append(without_files(manifest))
        offers.sort(key=lambda offer: offer.billing_month)
        return offers, problems, bool(manifests or problems)

    def _is_under_way(self, manifest: S3Object, objects: Sequence[S3Object]) -> bool:
        """Return whether files have just been overwritten, and the manifest that comes after them has not.

        A tool that copies a bucket may write a manifest a little before the files, and somebody may replace a file by
        hand: neither keeps a month out for longer than an hour.
        """
        newest = max((item.modified_ns for item in objects), default=0)
        return newest - manifest.modified_ns > _SAME_DELIVERY_NS and self.checksums.now_ns - newest < _UNDER_WAY_NS

    def loose(self) -> list[S3Object]:
        """Return every file below the location that is not hidden, in order; or the one that it names."""
        prefix, named = self.tree.root.prefix, self.bucket.location.prefix
        if not self.tree.root.objects and not self.tree.root.folders:
            return self._named(named)
        return [item for item in self.bucket.below(prefix) if not is_hidden(item.key, prefix)]

    def _named(self, key: str) -> list[S3Object]:
        """Return the object of that very key; a role that may list the folder below it only says nothing of it."""
        try:
            return [item for item in self.bucket.folder(key).objects.values() if item.key == key]
        except SourceDenied:
            return []

    def url(self, key: str) -> str:
        """Return where an object lies, as `s3://bucket/key`."""
        return self.bucket.url(key)

    def fetch(self, items: Sequence[S3Object], folder: Path) -> Mapping[str, Fetched]:
        """Return objects by key, fetched into a folder."""
        return fetch_objects(self.bucket, items, folder)

    def _offer(self, manifest: Manifest, item: S3Object, objects: Sequence[S3Object]) -> Offer:
        """Return the offer of a manifest, with its version where all checksums are known."""
        known = [file for file in map(self.known, objects) if file is not None]
        return Offer(
            source=self.source.name,
            billing_month=manifest.billing_month,
            version=version_of(known, self.source.currency) if len(known) == len(objects) else None,
            fetch=partial(self._fetch, manifest.billing_month, item, objects),
        )

    def _fetch(self, month: date, manifest: S3Object, objects: Sequence[S3Object]) -> Delivery:
        """Return the delivery of a manifest, fetched; raises SourceUnreadable where it changed meanwhile."""
        folder = self.folder / f"{month:%Y-%m}" / FETCHING
        remove_others(objects, folder)
        files = tuple(self.fetched(objects, folder))
        if not self.bucket.is_unchanged(manifest):
            raise SourceUnreadable(
                "the manifest changed while the files that it names were fetched",
                file=manifest.name,
                hint="the last good version stays, and the next run takes the new one",
            )
        return Delivery(
            source=self.source.name,
            billing_month=month,
            version=version_of(files, self.source.currency),
            files=files,
            currency=self.source.currency,
        )

    def _manifests(self) -> tuple[dict[S3Object, Manifest], list[SourceUnreadable]]:
        """Return what each manifest says, read where it is not kept from an earlier night, and what is wrong."""
        items = self.tree.manifests()
        kept = {item: self.folder / MANIFESTS / _name(item) for item in items}
        new = [item for item, path in kept.items() if not path.is_file()]
        with ThreadPoolExecutor(WORKERS) as pool:
            texts = dict(zip(new, pool.map(self._read, new), strict=True))
        found: dict[S3Object, Manifest] = {}
        problems: list[SourceUnreadable] = []
        for item, path in kept.items():
            text = texts.get(item)
            if isinstance(text, SourceUnreadable):
                problems.append(text)
                continue
            try:
                manifest = parse_manifest(item.path, path.read_bytes() if text is None else text, item.modified_ns)
            except SourceUnreadable as error:
                problems.append(error)
                continue
            if manifest is not None:
                found[item] = manifest
        self._keep({kept[item]: text for item, text in texts.items() if isinstance(text, bytes)}, set(kept.values()))
        return found, problems

    def _read(self, item: S3Object) -> bytes | SourceUnreadable:
        """Return the text of a manifest, or what is wrong with this one; raises where none could be read."""
        if item.size > _MAX_MANIFEST_BYTES:
            return SourceUnreadable(f"the manifest has {item.size} bytes", file=item.name, hint="it is none of AWS's")
        try:
            return self.bucket.read(item)
        except SourceChanged as error:
            return error

    def _keep(self, new: dict[Path, bytes], kept: set[Path]) -> None:
        """Keep manifests for the next night, and remove those that are not there any more."""
        folder = self.folder / MANIFESTS
        if new:
            make_directory(folder)
        for path, text in new.items():
            write_bytes(path, text)
        for path in sorted(folder.iterdir()) if folder.is_dir() else []:
            if path not in kept:
                remove(path)


def open_source(source: SourceSettings, location: S3Location, checksums: Checksums, landing: Path) -> S3Source:
    """Return a source in S3, its location listed; raises SourceUnreadable."""
    bucket = Bucket(source, location)
    return S3Source(source=source, bucket=bucket, tree=open_tree(bucket), checksums=checksums, landing=landing)


def _under_way(manifest: Manifest) -> SourceUnreadable:
    """Return the problem of a month whose files are being overwritten."""
    return SourceUnreadable(
        "files are newer than the manifest that names them: the delivery is under way",
        billing_month=manifest.billing_month,
        file=manifest.path.name,
        hint="the last good version stays and the next run tries again; after an hour the files are taken as they are",
    )


def _name(item: S3Object) -> str:
    """Return the name under which a manifest is kept."""
    return hashlib.sha256(f"{item.key}\0{item.etag}".encode()).hexdigest()[:32] + ".json"
