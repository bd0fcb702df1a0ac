"""Checksums of delivered files, remembered so that an unchanged file is read once.

The checksum of a file on disk is trusted where path, size, modification time and inode are the same, and the file was
not written in the two seconds before it was read: within those a second write could leave the same time. What lies at a
provider (`s3://bucket/key`, `gs://bucket/key`) is trusted where its size and entity tag, or generation, are the same.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from ingest.delivery import DeliveredFile
from ingest.errors import SourceUnreadable
from sql.contract import SEEN_FILE
from sql.warehouse import Warehouse

_SETTLED_NS = 2_000_000_000


class Checksums:
    """The checksums of one night: what is remembered in `ops.seen_file`, and what was newly read."""

    def __init__(self, warehouse: Warehouse, now_ns: int) -> None:
        self._warehouse = warehouse
        self.now_ns = now_ns
        rows = warehouse.rows(f"select path, size, stamp, sha256, months from {SEEN_FILE.full_name}")
        self._seen = {str(row[0]): row for row in rows}
        self._changed: dict[str, tuple[object, ...]] = {}
        self._earlier: dict[str, str] = {}
        self._by_stamp = {(_root(str(row[0])), row[1], row[2]): str(row[3]) for row in rows if _root(str(row[0]))}

    def file(self, path: Path, name: str) -> DeliveredFile:
        """Return `path` with its checksum; raises SourceUnreadable where it cannot be read."""
        try:
            stat = path.stat()
            seen = self._seen.get(str(path))
            stamp = f"{stat.st_mtime_ns}:{stat.st_ino}"
            if seen is not None and seen[1:3] == (stat.st_size, stamp):
                return DeliveredFile(name=name, path=path, size=stat.st_size, sha256=str(seen[3]))
            with path.open("rb") as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise SourceUnreadable(f"the file cannot be read ({error.strerror})", file=name) from error
        if seen is not None and seen[4] is not None:
            self._earlier[str(path)] = str(seen[4])
        row = (str(path), stat.st_size, stamp, sha256, None)
        self._seen[str(path)] = row
        if self.now_ns - stat.st_mtime_ns > _SETTLED_NS:
            self._changed[str(path)] = row
        return DeliveredFile(name=name, path=path, size=stat.st_size, sha256=sha256)

    def remembered(self, place: str, size: int, stamp: str) -> str | None:
        """Return the checksum of what lies at a place of a provider, where it is as it was remembered.

        Equal content bears an equal entity tag within one bucket, so a copy under another key is known too.
        """
        seen = self._seen.get(place)
        if seen is not None and seen[1:3] == (size, stamp):
            return str(seen[3])
        return self._by_stamp.get((_root(place), size, stamp))

    def remember(self, place: str, size: int, stamp: str, sha256: str) -> None:
        """Remember what lies at a place of a provider."""
        seen = self._seen.get(place)
        if seen is not None and seen[1:4] == (size, stamp, sha256):
            return
        months = None
        if seen is not None and seen[4] is not None:
            if seen[3] == sha256:
                months = seen[4]
            else:
                self._earlier[place] = str(seen[4])
        row = (place, size, stamp, sha256, months)
        self._seen[place] = self._changed[place] = row
        self._by_stamp[_root(place), size, stamp] = sha256

    def months(self, file: DeliveredFile) -> list[str] | None:
        """Return the months of a file's rows as they were remembered, or None."""
        seen = self._seen.get(file.place)
        return None if seen is None or seen[4] is None else [month for month in str(seen[4]).split(",") if month]

    def remember_months(self, file: DeliveredFile, months: list[str]) -> None:
        """Remember the months of a file's rows."""
        row = (*self._seen[file.place][:4], ",".join(months))
        self._seen[file.place] = row
        if file.place in self._changed:
            self._changed[file.place] = row

    def earlier_months(self, file: DeliveredFile) -> list[str]:
        """Return the months that a file had rows of before it was written again; none where it is as it was."""
        return [month for month in self._earlier.get(file.place, "").split(",") if month]

    def forget(self, file: DeliveredFile) -> None:
        """Do not remember a file as it is now, so that the next night sees the same change again."""
        self._changed.pop(file.place, None)

    def save(self) -> None:
        """Write what was newly read to the ledger."""
        if not self._changed:
            return
        with self._warehouse.transaction():
            for row in self._changed.values():
                self._warehouse.execute(f"delete from {SEEN_FILE.full_name} where path = ?", [row[0]])
                self._warehouse.execute(f"insert into {SEEN_FILE.full_name} values (?, ?, ?, ?, ?)", row)
        self._changed.clear()


def _root(place: str) -> str:
    """Return the bucket of a provider's place; empty for a file on disk."""
    return place[: place.find("/", len("s3://"))] if place.startswith(("s3://", "gs://")) else ""
