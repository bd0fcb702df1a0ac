"""A bucket of Google Cloud Storage as a source reads it: listed below the prefix, files fetched by ranges.

An object is asked for by the generation that was listed, so that what is replaced meanwhile is not read half from each.
A whole file is compared with its MD5, or with its CRC32C where it was composed of parts and has no MD5.

Source: Cloud Storage documentation, "Object versioning and generation numbers", "Hashes and ETags".
"""

from __future__ import annotations

import base64
import hashlib
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from ingest.checksums import Checksums
from ingest.errors import SourceChanged, SourceDamaged, SourceUnreadable
from ingest.fetching import Broken, Fetched, fetch_objects
from ingest.gcp.gcs_errors import explained, is_broken, is_busy, is_gone, is_passing
from ingest.gcp.gcs_session import storage_client
from ingest.remote import RemoteSource
from ingest.source import GcsLocation, SourceSettings

if TYPE_CHECKING:
    from google.api_core.retry import Retry

MAX_LISTS = 1000
"""LIST requests of one source and night [at 1,000 names each]."""
_PAGE = 1000
_FIELDS = "items(name,size,generation,md5Hash,crc32c,updated),nextPageToken"
_CHUNK = 1 << 20
_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GcsObject:
    """An object as a listing shows it."""

    key: str
    size: int
    generation: int
    md5: str
    """Base64; empty for an object that was composed."""
    crc32c: str
    """Base64, big-endian."""
    modified_ns: int

    @property
    def stamp(self) -> str:
        """Return what is another one as soon as the content is."""
        return f"{self.generation}:{self.md5 or self.crc32c}"

    @property
    def name(self) -> str:
        """Return the part of the key behind its last slash."""
        return self.key.rpartition("/")[2]

    @property
    def path(self) -> PurePosixPath:
        """Return the key as a path."""
        return PurePosixPath(self.key)


class GcsBucket:
    """The bucket of a source; its methods may be called by several threads."""

    def __init__(self, location: GcsLocation) -> None:
        self.location = location
        self._client = storage_client(location)
        # Connections stay open between requests, and are closed with the last who holds the bucket.
        weakref.finalize(self, self._client.close)

    def below(self, prefix: str) -> Iterator[GcsObject]:
        """Yield every object below a prefix, page by page; what stands for a folder is none."""
        for page in self._pages(prefix):
            yield from (item for item in map(_listed, page) if not item.key.endswith("/"))

    def files(self) -> Iterator[GcsObject]:
        """Yield every file at the location that is not hidden, as far as it is asked for; or the one that it names."""
        prefix = self.location.prefix
        folder = f"{prefix}/" if prefix else ""
        is_folder = not prefix
        for item in self.below(folder):
            if not _is_hidden(item.key.removeprefix(folder)):
                is_folder = True
                yield item
        if not is_folder:
            yield from (item for item in self.below(prefix) if item.key == prefix)

    def _pages(self, prefix: str) -> Iterator[Any]:
        """Yield the pages of a listing."""
        lists = 0
        try:
            found = self._client.list_blobs(
                self.location.bucket,
                prefix=prefix,
                fields=_FIELDS,
                page_size=_PAGE,
                timeout=self._timeout,
                retry=self._retry(is_passing),
            )
            for page in found.pages:
                lists += 1
                if lists > MAX_LISTS:
                    raise SourceUnreadable(
                        f"more than {MAX_LISTS} LIST requests would be needed below {self.location}",
                        hint="point `location` at the export's folder",
                    )
                yield page
        except SourceUnreadable:
            raise
        except Exception as error:
            raise explained(error, self.location, "storage.objects.list") from error

    def chunks(self, item: GcsObject, start: int, end: int) -> Iterator[bytes]:
        """Yield an object from `start` up to but without `end`, as it was listed and not as it is since."""
        blob = self._client.bucket(self.location.bucket).blob(item.key, generation=item.generation)
        sink = _Sink()
        try:
            blob.download_to_file(
                sink,
                start=start,
                end=end - 1,
                raw_download=True,
                if_generation_match=item.generation,
                checksum=None,
                timeout=self._timeout,
                retry=self._retry(is_busy),
            )
        except Exception as error:
            yield from sink.pieces
            raise self._not_read(error, item) from error
        yield from sink.pieces
        if sink.size < end - start:
            raise Broken

    def verified(self, item: GcsObject, path: Path) -> str:
        """Return the SHA-256 of a whole file; raises SourceDamaged where it is not what Cloud Storage says."""
        import google_crc32c

        crc: Any = google_crc32c.Checksum()  # type: ignore[no-untyped-call]
        sha256, md5 = hashlib.sha256(), hashlib.md5(usedforsecurity=False)
        with path.open("rb") as stream:
            while chunk := stream.read(_CHUNK):
                sha256.update(chunk)
                if item.md5:
                    md5.update(chunk)
                elif item.crc32c:
                    crc.update(chunk)
        there, wanted = (md5.digest(), item.md5) if item.md5 else (crc.digest(), item.crc32c)
        if wanted and base64.b64encode(there).decode() != wanted:
            raise SourceDamaged(
                f"the file arrived damaged: its {'MD5' if item.md5 else 'CRC32C'} is not the one Cloud Storage tells",
                file=item.name,
                hint="the next run fetches it again",
            )
        return sha256.hexdigest()

    def _not_read(self, error: Exception, item: GcsObject) -> Exception:
        """Return why an object was not read: gone or replaced, broken off, or refused."""
        if is_gone(error):
            return SourceChanged(
                "it was replaced or removed while the month was fetched",
                file=item.name,
                hint="the last good version stays, and the next run takes the new one",
            )
        return Broken() if is_broken(error) else explained(error, self.location, "storage.objects.get")

    @property
    def _timeout(self) -> tuple[float, float]:
        patience = self.location.patience
        return patience.connect_seconds, patience.read_seconds

    def _retry(self, predicate: Callable[[Exception], bool]) -> Retry:
        """Return when a request is sent again: where the refusal may pass, and so many times at most."""
        from google.api_core.retry import Retry

        return Retry(
            predicate=_capped(predicate, self.location.patience.attempts),
            initial=_PAUSE_SECONDS,
            maximum=_LONGEST_PAUSE_SECONDS,
            timeout=None,
        )


@dataclass(slots=True)
class _Sink:
    """Takes what is downloaded of one range."""

    pieces: list[bytes] = field(default_factory=list)
    size: int = 0

    def write(self, piece: bytes) -> int:
        """Take a piece."""
        self.pieces.append(piece)
        self.size += len(piece)
        return len(piece)


@dataclass(slots=True, kw_only=True)
class GcsSource(RemoteSource[GcsObject]):
    """A source in Cloud Storage that is being read."""

    bucket: GcsBucket

    def url(self, key: str) -> str:
        """Return where an object lies, as `gs://bucket/key`."""
        return f"gs://{self.bucket.location.bucket}/{key}"

    def loose(self) -> list[GcsObject]:
        """Return every file below the location that is not hidden, in order; or the one that it names."""
        return sorted(self.bucket.files(), key=lambda item: item.key)

    def fetch(self, items: Sequence[GcsObject], folder: Path) -> Mapping[str, Fetched]:
        """Return objects by key, fetched into a folder."""
        return fetch_objects(self.bucket, items, folder)


def open_gcs(source: SourceSettings, location: GcsLocation, checksums: Checksums, landing: Path) -> GcsSource:
    """Return a source in Cloud Storage; nothing is asked yet but for credentials. Raises SourceUnreadable."""
    return GcsSource(source=source, checksums=checksums, landing=landing, bucket=GcsBucket(location))


def _capped(predicate: Callable[[Exception], bool], attempts: int) -> Callable[[Exception], bool]:
    """Return a predicate that holds for the first tries only."""
    tries = 0

    def holds(error: Exception) -> bool:
        nonlocal tries
        tries += 1
        return tries < attempts and predicate(error)

    return holds


def _listed(blob: Any) -> GcsObject:  # noqa: ANN401 - the library has no types
    """Return an object out of a page."""
    return GcsObject(
        key=str(blob.name),
        size=int(blob.size or 0),
        generation=int(blob.generation or 0),
        md5=str(blob.md5_hash or ""),
        crc32c=str(blob.crc32c or ""),
        modified_ns=int(blob.updated.timestamp()) * 1_000_000_000 if blob.updated else 0,
    )


def _is_hidden(key: str) -> bool:
    """Return whether a file or a folder on its way begins with a dot."""
    return any(piece.startswith(".") for piece in key.split("/"))
