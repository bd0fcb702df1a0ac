"""A bucket as a source reads it: folders listed, small objects read whole, large ones by ranges.

Whatever is refused comes out as SourceUnreadable. Listing is bounded: a location far above the export would otherwise
read the whole bucket, night after night.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING, Any

from ingest.aws.errors import Request, aws_errors, code_of, explained, failures, not_aws
from ingest.aws.session import client
from ingest.errors import IngestError, SourceChanged, SourceUnreadable
from ingest.fetching import WORKERS, Broken
from ingest.source import S3Location, SourceSettings

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef, HeadObjectOutputTypeDef, ListObjectsV2OutputTypeDef

MAX_LISTS = 1000
"""LIST requests of one source and night [at 1,000 keys each]."""
_CHUNK = 1 << 20
_GONE = ("NoSuchKey", "404", "PreconditionFailed", "412", "NoSuchVersion")
_KMS = ("aws:kms", "aws:kms:dsse")


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Object:
    """An object as a listing shows it."""

    key: str
    size: int
    etag: str
    """Without quotes."""
    modified_ns: int

    @property
    def stamp(self) -> str:
        """Return what is another one as soon as the content is."""
        return self.etag

    @property
    def name(self) -> str:
        """Return the part of the key behind its last slash."""
        return self.key.rpartition("/")[2]

    @property
    def path(self) -> PurePosixPath:
        """Return the key as a path, for its name and depth: empty folder names are not in it."""
        return PurePosixPath(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """What stands directly in a folder; `prefix` ends with a slash, and is empty for the bucket."""

    prefix: str
    objects: Mapping[str, S3Object]
    """By key."""
    folders: frozenset[str]
    """Their prefixes."""


class Bucket:
    """The bucket of a source; its methods may be called by several threads."""

    def __init__(self, source: SourceSettings, location: S3Location) -> None:
        self.location = location
        self._access = source.access
        self._lists = 0
        self._lock = Lock()
        self._partition = "aws"
        with aws_errors(self._request("s3:ListBucket")):
            self._client = client(source, "s3")
        self._partition = self._client.meta.partition

    def url(self, key: str) -> str:
        """Return `s3://bucket/key`."""
        return f"s3://{self.location.bucket}/{key}"

    def folder(self, prefix: str) -> Folder:
        """List what stands directly in a folder."""
        objects: dict[str, S3Object] = {}
        folders: set[str] = set()
        for page in self._pages(prefix, "/"):
            objects |= {item.key: item for item in self._objects(page)}
            folders |= {item["Prefix"] for item in page.get("CommonPrefixes", []) if "Prefix" in item}
        return Folder(prefix=prefix, objects=objects, folders=frozenset(folders))

    def folders(self, prefixes: Iterable[str]) -> list[Folder]:
        """List several folders at once, in order."""
        wanted = list(prefixes)
        if self._lists + len(wanted) > MAX_LISTS:
            raise self._too_many_lists()
        with ThreadPoolExecutor(WORKERS) as pool:
            return list(pool.map(self.folder, wanted))

    def below(self, prefix: str) -> list[S3Object]:
        """List every object below a prefix."""
        return [item for page in self._pages(prefix, "") for item in self._objects(page)]

    def first_below(self, prefix: str) -> list[S3Object]:
        """List the objects below a prefix as far as one request goes."""
        return self._objects(next(self._pages(prefix, "")))

    def read(self, item: S3Object) -> bytes:
        """Return the content of a small object, as it was listed."""
        content = bytearray()
        for _ in range(3):
            try:
                for chunk in self.stream(item, len(content), item.size).chunks:
                    content += chunk
            except Broken:
                continue
            return bytes(content)
        raise SourceUnreadable("the connection broke three times", file=item.name, hint="run again")

    def stream(self, item: S3Object, start: int, end: int) -> Stream:
        """Begin to read an object from `start` up to but without `end`, as it was listed and not as it is since.

        Raises SourceUnreadable where it is gone or another one now; the chunks raise Broken.
        """
        from botocore.exceptions import ClientError

        part: dict[str, Any] = {} if (start, end) == (0, item.size) else {"Range": f"bytes={start}-{end - 1}"}
        try:
            answer = self._client.get_object(
                Bucket=self.location.bucket, Key=item.key, IfMatch=f'"{item.etag}"', **part
            )
        except ClientError as error:
            raise self._not_read(error, item) from error
        except failures() as error:
            raise explained(error, self._request("s3:GetObject")) from error
        if part and not answer.get("ContentRange", "").startswith(f"bytes {start}-"):
            raise SourceUnreadable("the endpoint does not answer for a part of an object", file=item.name)
        return Stream(chunks=_chunks(answer, end - start), has_digest=_has_digest(answer))

    def is_unchanged(self, item: S3Object) -> bool:
        """Return whether an object is still the one that was listed."""
        try:
            return self.head(item)["ETag"].strip('"') == item.etag
        except SourceUnreadable as error:
            if isinstance(error, SourceChanged):
                return False
            raise

    def head(self, item: S3Object, part: int | None = None) -> HeadObjectOutputTypeDef:
        """Ask about an object, or about one part of it from 1, as it was uploaded."""
        from botocore.exceptions import ClientError

        numbered: dict[str, Any] = {} if part is None else {"PartNumber": part}
        try:
            answer = self._client.head_object(Bucket=self.location.bucket, Key=item.key, **numbered)
        except ClientError as error:
            raise self._not_read(error, item) from error
        except failures() as error:
            raise explained(error, self._request("s3:GetObject")) from error
        if "ETag" not in answer:
            raise not_aws(self._request("s3:GetObject"))
        return answer

    def has_digest(self, item: S3Object) -> bool:
        """Return whether the ETag of an object is made of MD5s, which it is not under a KMS or customer key."""
        return _has_digest(self.head(item))

    def _pages(self, prefix: str, delimiter: str) -> Iterator[ListObjectsV2OutputTypeDef]:
        """Yield the pages of a listing."""
        pages = self._client.get_paginator("list_objects_v2").paginate(
            Bucket=self.location.bucket, Prefix=prefix, Delimiter=delimiter
        )
        try:
            for page in pages:
                with self._lock:
                    self._lists += 1
                if self._lists > MAX_LISTS:
                    raise self._too_many_lists()
                if "Name" not in page:  # AWS repeats the bucket's name; a page of HTML would be an empty folder
                    raise not_aws(self._request("s3:ListBucket"))
                yield page
        except failures() as error:
            raise explained(error, self._request("s3:ListBucket")) from error

    def _objects(self, page: ListObjectsV2OutputTypeDef) -> list[S3Object]:
        """Return the objects of a page; raises SourceUnreadable where one lacks what AWS says of each."""
        with aws_errors(self._request("s3:ListBucket")):
            return _objects(page)

    def _too_many_lists(self) -> SourceUnreadable:
        return SourceUnreadable(
            f"more than {MAX_LISTS} LIST requests would be needed below {self.location}",
            hint="point `location` at the export's folder",
        )

    def _request(self, permission: str) -> Request:
        """Return what is asked for, by the permission that it takes."""
        arn = f"arn:{self._partition}:s3:::{self.location.bucket}"
        below = self.location.prefix.strip("/")
        narrowed = f"{below}/*" if below else "*"
        resource = f"{arn} with prefix {narrowed}" if permission == "s3:ListBucket" else f"{arn}/{narrowed}"
        return Request(access=self._access, permission=permission, resource=resource)

    def _not_read(self, error: ClientError, item: S3Object) -> IngestError:
        """Return why an object was not read: gone or replaced, or refused."""
        if code_of(error) in _GONE:
            return SourceChanged(
                "it was replaced or removed while the month was fetched",
                file=item.name,
                hint="the last good version stays, and the next run takes the new one",
            )
        return explained(error, self._request("s3:GetObject"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """The body of an object, or of a range of it."""

    chunks: Iterator[bytes]
    has_digest: bool
    """Whether the ETag is made of MD5s."""


def _objects(page: ListObjectsV2OutputTypeDef) -> list[S3Object]:
    """Return the objects of a page; what stands for a folder is none."""
    return [
        S3Object(
            key=item["Key"],
            size=item["Size"],
            etag=item["ETag"].strip('"'),
            modified_ns=int(item["LastModified"].timestamp()) * 1_000_000_000,
        )
        for item in page.get("Contents", [])
        if not item["Key"].endswith("/")
    ]


def _chunks(answer: GetObjectOutputTypeDef, expected: int) -> Iterator[bytes]:
    """Yield a body; raises Broken where it ends early or takes too long, whatever the length that was announced."""
    from botocore.exceptions import BotoCoreError

    left = expected
    body = answer["Body"]
    try:
        while left > 0:
            chunk = body.read(min(_CHUNK, left))
            if not chunk:
                break
            left -= len(chunk)
            yield chunk
    except (BotoCoreError, OSError) as error:
        raise Broken from error
    finally:
        body.close()
    if left:
        raise Broken


def _has_digest(answer: GetObjectOutputTypeDef | HeadObjectOutputTypeDef) -> bool:
    """Return whether the ETag of an answer is made of MD5s.

    Source: Amazon S3 API reference, Object, ETag.
    """
    return answer.get("ServerSideEncryption") not in _KMS and not answer.get("SSECustomerAlgorithm")
