"""Fetching objects into a folder under landing: ranges at once, resumed after a kill, each file seen to be whole.

A file bears a name made of the object's key, size and stamp, so what lies there under it is of that very version.
`ranges` beside the files has one line per range that is there, with a CRC: after a kill, what can be read back as noted
is not asked for again. None of it has to survive a power cut by itself, since all of it is checked; the landing step
syncs what it takes.
"""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Generic, Protocol, TypeVar

from ingest.errors import SourceDamaged, SourceUnreadable
from sql.files import file_errors, make_directory, remove

WORKERS = 16
"""Requests under way at once."""
RANGE_BYTES = 8 << 20
TRIES = 5
"""Tries of one range; each goes on where the one before broke off."""
_PAUSE_SECONDS = 0.2
_NOTES = "ranges"
_READ_BYTES = 1 << 20


class Broken(Exception):
    """The body of an answer ended before its end; what came is good."""


class Remote(Protocol):
    """An object as a listing shows it."""

    @property
    def key(self) -> str:
        """Return its name within the bucket."""

    @property
    def size(self) -> int:
        """Return its size [bytes]."""

    @property
    def name(self) -> str:
        """Return the part of the key behind its last slash."""

    @property
    def stamp(self) -> str:
        """Return what is another one as soon as the content is."""


Item = TypeVar("Item", bound=Remote)
Item_contra = TypeVar("Item_contra", bound=Remote, contravariant=True)


class Store(Protocol[Item_contra]):
    """Where objects are fetched from; its methods are called by several threads."""

    def chunks(self, item: Item_contra, start: int, end: int) -> Iterable[bytes]:
        """Yield an object from `start` up to but without `end`, as it was listed and not as it is since.

        Raises Broken where it ends early, and SourceUnreadable for what is gone, replaced or refused.
        """

    def verified(self, item: Item_contra, path: Path) -> str:
        """Return the SHA-256 of a whole file; raises SourceDamaged where it is not what the provider says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A file that is whole."""

    path: Path
    sha256: str


def fetch_objects(store: Store[Item], objects: Sequence[Item], directory: Path) -> dict[str, Fetched]:
    """Return the files of `objects` by key, fetched where they do not lie in `directory` already.

    Raises SourceUnreadable for an object that was replaced, cannot be read or arrived
    damaged; what has come by then stays for the next try.
    """
    make_directory(directory)
    files = {item.key: _File(item, directory / _name(item)) for item in objects}
    notes = _Notes(directory / _NOTES)
    noted = notes.read()
    pool = ThreadPoolExecutor(WORKERS)
    try:
        work = _Work(store=store, notes=notes)
        _run(pool.submit(file.prepare, noted.get(file.path.name, [])) for file in files.values())
        _run(pool.submit(work.fetch, file, span) for file in files.values() for span in file.tasks())
    finally:
        pool.shutdown(cancel_futures=True)
    return {key: Fetched(path=file.path, sha256=file.sha256) for key, file in files.items()}


def remove_others(objects: Sequence[Remote], directory: Path) -> None:
    """Remove from a folder of fetched files what belongs to none of `objects`, as they are listed now."""
    kept = {_name(item) for item in objects} | {_NOTES}
    for path in sorted(directory.iterdir()) if directory.is_dir() else []:
        if path.name not in kept:
            remove(path)


def _run(tasks: Iterable[Future[None]]) -> None:
    """Wait for all, or for the first that fails, whose error is raised."""
    done, _ = wait(list(tasks), return_when=FIRST_EXCEPTION)
    for future in done:
        future.result()


@dataclass(frozen=True, slots=True)
class _Span:
    """Bytes of a file from `start` up to but without `end`."""

    start: int
    end: int


@dataclass(slots=True)
class _File(Generic[Item]):
    """One object on its way."""

    item: Item
    path: Path
    missing: list[_Span] = field(default_factory=list)
    left: int = 0
    """Ranges that are still to come."""
    sha256: str = ""

    def prepare(self, noted: Sequence[tuple[_Span, int]]) -> None:
        """Find out which ranges are missing: those that are not noted, or do not read back as they were noted."""
        spans = [
            _Span(start, min(start + RANGE_BYTES, self.item.size)) for start in range(0, self.item.size, RANGE_BYTES)
        ]
        with file_errors(self.path), self.path.open("a+b") as stream:
            there = {span for span, crc in noted if _crc(stream.fileno(), span) == crc}
        self.missing = [span for span in spans if span not in there]
        self.left = max(len(self.missing), 1)

    def tasks(self) -> list[_Span | None]:
        """Return what is to be done for this file: a range each, or the check alone where none is missing."""
        return [*self.missing] or [None]


@dataclass(slots=True, kw_only=True)
class _Work(Generic[Item]):
    """What the workers share."""

    store: Store[Item]
    notes: _Notes
    lock: Lock = field(default_factory=Lock)

    def fetch(self, file: _File[Item], span: _Span | None) -> None:
        """Fetch one range; whoever fetches the last one of a file, or finds none missing, sees that it is whole."""
        if span is not None:
            crc = self._fetch_span(file, span)
            with self.lock:
                self.notes.add(file.path.name, span, crc)
        with self.lock:
            file.left -= 1
            is_last = file.left == 0
        if is_last:
            self._check(file)

    def _fetch_span(self, file: _File[Item], span: _Span) -> int:
        """Write a range to its place and return its CRC; a connection that breaks is opened again where it broke."""
        at, crc = span.start, 0
        with file_errors(file.path), file.path.open("r+b", buffering=0) as stream:
            for attempt in range(TRIES):
                try:
                    for chunk in self.store.chunks(file.item, at, span.end):
                        _write(stream.fileno(), chunk, at)
                        crc = zlib.crc32(chunk, crc)
                        at += len(chunk)
                    return crc
                except Broken:
                    time.sleep(_PAUSE_SECONDS * attempt)
        raise SourceUnreadable(
            f"the connection broke {TRIES} times at one place",
            file=file.item.name,
            hint="check the network; the next run goes on where this one stopped",
        )

    def _check(self, file: _File[Item]) -> None:
        """Take the checksum of a whole file, and see that it is what the provider says."""
        with file_errors(file.path):
            os.truncate(file.path, file.item.size)
        try:
            file.sha256 = self.store.verified(file.item, file.path)
        except SourceDamaged:
            remove(file.path)
            raise


class _Notes:
    """The ranges that are there: one line each, of name, start, end and CRC."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> dict[str, list[tuple[_Span, int]]]:
        """Return the noted ranges by file; a line that a kill cut off, or that a disk spoilt, is passed over."""
        noted: dict[str, list[tuple[_Span, int]]] = {}
        text = self._path.read_text(encoding="utf-8", errors="replace") if self._path.is_file() else ""
        for line in text.splitlines(keepends=True):
            fields = line.split()
            if line.endswith("\n") and len(fields) == 4 and all(item.isdecimal() for item in fields[1:]):
                start, end, crc = map(int, fields[1:])
                noted.setdefault(fields[0], []).append((_Span(start, end), crc))
        return noted

    def add(self, name: str, span: _Span, crc: int) -> None:
        """Note one range."""
        with file_errors(self._path), self._path.open("a", encoding="utf-8") as stream:
            stream.write(f"{name} {span.start} {span.end} {crc}\n")


def _name(item: Remote) -> str:
    """Return the name of an object's file."""
    return hashlib.sha256(f"{item.key}\0{item.size}\0{item.stamp}".encode()).hexdigest()[:32]


def _write(descriptor: int, chunk: bytes, at: int) -> None:
    """Write a chunk to its place."""
    view = memoryview(chunk)
    while view:
        written = os.pwrite(descriptor, view, at)
        at, view = at + written, view[written:]


def _crc(descriptor: int, span: _Span) -> int | None:
    """Return the CRC of bytes of a file, or None where they are not there."""
    crc, at = 0, span.start
    while at < span.end:
        chunk = os.pread(descriptor, min(_READ_BYTES, span.end - at), at)
        if not chunk:
            return None
        crc, at = zlib.crc32(chunk, crc), at + len(chunk)
    return crc


def read(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield the next bytes of an open file, `size` at most."""
    while size > 0:
        chunk = os.read(descriptor, min(_READ_BYTES, size))
        if not chunk:
            return
        size -= len(chunk)
        yield chunk
