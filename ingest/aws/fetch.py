"""Fetching objects of S3, each compared with its ETag where that is made of MD5s."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ingest import fetching
from ingest.aws.s3 import Bucket, S3Object
from ingest.errors import SourceDamaged
from ingest.fetching import Fetched, read


def fetch_objects(bucket: Bucket, objects: Sequence[S3Object], directory: Path) -> dict[str, Fetched]:
    """Return the files of `objects` by key, fetched where they do not lie in `directory` already.

    Raises SourceUnreadable for an object that was replaced, cannot be read or arrived
    damaged; what has come by then stays for the next try.
    """
    return fetching.fetch_objects(_Objects(bucket), objects, directory)


@dataclass(slots=True)
class _Objects:
    """The objects of a bucket, and what answers have said of their ETags."""

    bucket: Bucket
    digests: dict[str, bool] = field(default_factory=dict)
    """Whether the ETag of a key is made of MD5s, where an answer has said it."""

    def chunks(self, item: S3Object, start: int, end: int) -> Iterator[bytes]:
        """Yield an object from `start` up to but without `end`."""
        body = self.bucket.stream(item, start, end)
        self.digests[item.key] = body.has_digest
        yield from body.chunks

    def verified(self, item: S3Object, path: Path) -> str:
        """Return the SHA-256 of a whole file; raises SourceDamaged where its MD5 is not that of the ETag."""
        digest, _, parts = item.etag.partition("-")
        has_digest = self.digests.get(item.key)
        sizes = self._part_sizes(item, int(parts)) if parts.isdecimal() and has_digest is not False else []
        sha256, md5 = _digests(path, sizes)
        is_known = _is_md5(digest) and bool(sizes or not parts)
        if not is_known or md5 == digest or not self._has_digest(item):
            return sha256
        raise SourceDamaged(
            "the file arrived damaged: its MD5 is not the one that S3 tells",
            file=item.name,
            hint="the next run fetches it again",
        )

    def _has_digest(self, item: S3Object) -> bool:
        """Return whether the ETag is made of MD5s; S3 is asked where no answer has said it."""
        known = self.digests.get(item.key)
        return self.bucket.has_digest(item) if known is None else known

    def _part_sizes(self, item: S3Object, parts: int) -> list[int]:
        """Return the sizes of the parts that an object was uploaded in, or none where the endpoint does not tell them.

        All but the last are taken to be like the first, unless they do not come to their number.
        """
        answer = self.bucket.head(item, 1)
        if answer.get("PartsCount") != parts:
            return []
        first = int(answer["ContentLength"])
        if first > 0 and -(-item.size // first) == parts:
            return [min(first, item.size - start) for start in range(0, item.size, first)]
        others = [int(self.bucket.head(item, number)["ContentLength"]) for number in range(2, parts + 1)]
        return [first, *others]


def _digests(path: Path, part_sizes: Sequence[int]) -> tuple[str, str]:
    """Return the SHA-256 of a file, and its MD5; with part sizes, the MD5 over the MD5s of the parts.

    Source: Amazon S3 user guide, "Checking object integrity", of ETags of multipart uploads.
    """
    sha256, md5s = hashlib.sha256(), []
    with path.open("rb") as stream:
        for size in part_sizes or [path.stat().st_size]:
            md5 = hashlib.md5(usedforsecurity=False)
            for chunk in read(stream.fileno(), size):
                sha256.update(chunk)
                md5.update(chunk)
            md5s.append(md5)
        for chunk in read(stream.fileno(), path.stat().st_size):
            sha256.update(chunk)
    if not part_sizes:
        return sha256.hexdigest(), md5s[0].hexdigest()
    joined = b"".join(md5.digest() for md5 in md5s)
    return sha256.hexdigest(), hashlib.md5(joined, usedforsecurity=False).hexdigest()


def _is_md5(digest: str) -> bool:
    """Return whether an ETag has the form of an MD5."""
    return len(digest) == 32 and all(character in "0123456789abcdef" for character in digest)
