"""Landing: delivered files, unchanged, in `landing/<source>/<month>/<version>/`.

A delivery appears there whole or not at all: files are copied into a temporary directory, synced, and the directory is
renamed. `delivery.json` beside the files says what they are, so that a rebuild needs nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from ingest.delivery import DeliveredFile, Delivery
from ingest.errors import SourceUnreadable
from sql.files import (
    TEMPORARY_MARK,
    copy_file,
    link_file,
    make_directory,
    remove_tree,
    rename,
    sync_directory,
    sync_file,
    temporary_beside,
    write_text,
)

RECORD = "delivery.json"
FETCHING = ".fetch"
"""Folder of files that are being fetched, of a month or of a source; a killed run leaves it to the next, and `prune` as
it is."""
IN_FORCE = "in-force"
_UNSAFE = re.compile(r"[^A-Za-z0-9._=-]")


def version_directory(landing: Path, delivery: Delivery) -> Path:
    """Return where a delivery lands."""
    return landing / delivery.source / f"{delivery.billing_month:%Y-%m}" / delivery.version


def land(landing: Path, delivery: Delivery) -> Delivery:
    """Take the files of a delivery to its place and return the delivery of the landed files.

    Raises SourceUnreadable where a file changed or vanished while it was copied; nothing is then landed.
    """
    target = version_directory(landing, delivery)
    if not (target / RECORD).is_file():
        remove_tree(target)
        temporary = temporary_beside(target)
        remove_tree(temporary)
        make_directory(temporary)
        names = _names(delivery)
        for file, name in zip(delivery.files, names, strict=True):
            _take(file, temporary / name, landing)
        _record(delivery, names, temporary / RECORD)
        sync_directory(temporary)
        rename(temporary, target)
    return read_landed(target, delivery.source, delivery.billing_month)


def read_landed(directory: Path, source: str, billing_month: date) -> Delivery:
    """Return the delivery that stands in a version directory."""
    record = json.loads((directory / RECORD).read_text(encoding="utf-8"))
    files = tuple(
        DeliveredFile(name=item["name"], path=directory / item["name"], size=item["size"], sha256=item["sha256"])
        for item in record["files"]
    )
    return Delivery(
        source=source,
        billing_month=billing_month,
        version=directory.name,
        files=files,
        rows_of_month_only=record["rows_of_month_only"],
        month_is_stated=record["month_is_stated"],
        currency=record["currency"],
    )


def landed_version(landing: Path, source: str, billing_month: date, version: str) -> Delivery | None:
    """Return a delivery that has landed, or None."""
    directory = landing / source / f"{billing_month:%Y-%m}" / version
    return read_landed(directory, source, billing_month) if (directory / RECORD).is_file() else None


def note_in_force(landing: Path, source: str, billing_month: date, version: str) -> None:
    """Note which landed version is loaded, for a rebuild that has no ledger to ask."""
    path = landing / source / f"{billing_month:%Y-%m}" / IN_FORCE
    if path.parent.is_dir() and (not path.is_file() or path.read_text(encoding="utf-8") != version):
        write_text(path, version)


def version_in_force(month: Path) -> str | None:
    """Return the version that `note_in_force` noted in a month's directory; without a note, the one landed last."""
    noted = month / IN_FORCE
    if noted.is_file():
        return noted.read_text(encoding="utf-8")
    versions = [path for path in month.iterdir() if (path / RECORD).is_file() and not path.name.startswith(".")]
    return max(versions, key=lambda path: path.stat().st_mtime_ns).name if versions else None


def prune(landing: Path, source: str, billing_month: date, kept: Sequence[str] | None) -> None:
    """Remove the versions of a month that are not in `kept`; None keeps all of them.

    Nothing is removed while the first of `kept`, the version in force, does not stand there whole. A version that is
    half removed bears no version's name, and goes in any case.
    """
    month = landing / source / f"{billing_month:%Y-%m}"
    is_keeping_all = not kept or not (month / kept[0] / RECORD).is_file()
    for directory in sorted(month.iterdir()) if month.is_dir() else []:
        if not directory.is_dir() or directory.name == FETCHING:
            continue
        if directory.name.startswith("."):
            remove_tree(directory)
        elif kept and not is_keeping_all and directory.name not in kept:
            leaving = temporary_beside(directory)
            rename(directory, leaving)
            remove_tree(leaving)


@dataclass(frozen=True, slots=True, kw_only=True)
class LandedSource:
    """What has landed of one source."""

    source: str
    months: int
    versions: int
    size: int
    """[bytes]"""


def count_landed(landing: Path) -> list[LandedSource]:
    """Return what has landed, by source; a night may add and remove versions meanwhile."""
    versions: dict[str, dict[Path, int]] = {}
    for record in sorted(landing.glob(f"*/????-??/*/{RECORD}")):
        directory = record.parent
        if not directory.name.startswith("."):
            versions.setdefault(directory.parents[1].name, {})[directory] = sum(map(_size, directory.glob("*")))
    return [
        LandedSource(
            source=source,
            months=len({directory.parent for directory in found}),
            versions=len(found),
            size=sum(found.values()),
        )
        for source, found in versions.items()
    ]


def _size(path: Path) -> int:
    """Return the size of a file [bytes], zero where it has just gone."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def landed_files(landing: Path, source: str) -> dict[str, Path]:
    """Return the files that a source has landed, by checksum."""
    found: dict[str, Path] = {}
    for record in sorted((landing / source).glob(f"????-??/[!.]*/{RECORD}")):
        files = json.loads(record.read_text(encoding="utf-8"))["files"]
        paths = {item["sha256"]: record.with_name(item["name"]) for item in files}
        found |= {sha256: path for sha256, path in paths.items() if path.is_file()}
    return found


def remove_fetched(landing: Path, source: str, kept: Collection[date]) -> None:
    """Remove what was fetched for a source and is not wanted any more: all but that of the months in `kept`."""
    if not kept:
        remove_tree(landing / source / FETCHING)
    months = {f"{month:%Y-%m}" for month in kept}
    for folder in sorted((landing / source).glob(f"????-??/{FETCHING}")):
        if folder.parent.name not in months:
            remove_tree(folder)


def remove_interrupted(landing: Path) -> None:
    """Remove what an interrupted night left half copied."""
    for directory in landing.glob(f"*/*/.*{TEMPORARY_MARK}"):
        remove_tree(directory)


def _names(delivery: Delivery) -> list[str]:
    """Return a safe, unique name per file: its base name, with a number before it where two are alike."""
    names: list[str] = []
    for position, file in enumerate(delivery.files, start=1):
        plain = _UNSAFE.sub("_", Path(file.name).name).lstrip(".") or "file"
        names.append(plain if plain not in names else f"{position:05d}-{plain}")
    return names


def _take(file: DeliveredFile, target: Path, landing: Path) -> None:
    """Link a file that already lies under landing, where nobody changes it, or copy one from elsewhere."""
    if not file.path.is_relative_to(landing):
        _copy(file, target)
        return
    link_file(file.path, target)
    sync_file(target)


def _copy(file: DeliveredFile, target: Path) -> None:
    """Copy one file and see that it is still the file whose checksum was taken."""
    try:
        before = file.path.stat()
        copy_file(file.path, target)
        after = file.path.stat()
    except FileNotFoundError as error:
        raise SourceUnreadable("the file vanished while it was copied", file=file.name) from error
    same = (before.st_size, before.st_mtime_ns, before.st_ino) == (after.st_size, after.st_mtime_ns, after.st_ino)
    if not same or target.stat().st_size != file.size:
        raise SourceUnreadable(
            "the file changed while it was copied", file=file.name, hint="the next night takes it once it is whole"
        )
    sync_file(target)


def _record(delivery: Delivery, names: list[str], path: Path) -> None:
    """Write what the landed files are."""
    files = [
        {"name": name, "delivered_as": file.name, "size": file.size, "sha256": file.sha256}
        for file, name in zip(delivery.files, names, strict=True)
    ]
    record = {
        "files": files,
        "rows_of_month_only": delivery.rows_of_month_only,
        "month_is_stated": delivery.month_is_stated,
        "currency": delivery.currency,
    }
    write_text(path, json.dumps(record, indent=1, sort_keys=True))
