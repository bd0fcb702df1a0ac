"""Checksums of delivered files, remembered so that an unchanged file is read once.

A remembered checksum is trusted where path, size, modification time and inode are the same, and the file was not
written in the two seconds before it was read: within those a second write could leave the same time.
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
        self._now_ns = now_ns
        rows = warehouse.rows(f"select path, size, stamp, sha256, months from {SEEN_FILE.full_name}")
        self._seen = {str(row[0]): row for row in rows}
        self._changed: dict[str, tuple[object, ...]] = {}
        self._earlier: dict[str, str] = {}

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
        if self._now_ns - stat.st_mtime_ns > _SETTLED_NS:
            self._changed[str(path)] = row
        return DeliveredFile(name=name, path=path, size=stat.st_size, sha256=sha256)

    def months(self, file: DeliveredFile) -> list[str] | None:
        """Return the months of a file's rows as they were remembered, or None."""
        seen = self._seen.get(str(file.path))
        return None if seen is None or seen[4] is None else [month for month in str(seen[4]).split(",") if month]

    def remember_months(self, file: DeliveredFile, months: list[str]) -> None:
        """Remember the months of a file's rows."""
        row = (*self._seen[str(file.path)][:4], ",".join(months))
        self._seen[str(file.path)] = row
        if str(file.path) in self._changed:
            self._changed[str(file.path)] = row

    def earlier_months(self, file: DeliveredFile) -> list[str]:
        """Return the months that a file had rows of before it was written again; none where it is as it was."""
        return [month for month in self._earlier.get(str(file.path), "").split(",") if month]

    def forget(self, file: DeliveredFile) -> None:
        """Do not remember a file as it is now, so that the next night sees the same change again."""
        self._changed.pop(str(file.path), None)

    def save(self) -> None:
        """Write what was newly read to the ledger."""
        if not self._changed:
            return
        with self._warehouse.transaction():
            for row in self._changed.values():
                self._warehouse.execute(f"delete from {SEEN_FILE.full_name} where path = ?", [row[0]])
                self._warehouse.execute(f"insert into {SEEN_FILE.full_name} values (?, ?, ?, ?, ?)", row)
        self._changed.clear()
