"""Manifests of AWS exports: which files make up which month.

Deliveries are found by their manifests, never by listing data files. Two forms are read: legacy CUR
(`reportKeys`, `billingPeriod`) and Data Exports (`dataFiles`, period in the partition folder). A provider writes the
manifest last, and twice in the layouts that keep versions: the one highest in the tree is always the newest.
What a manifest says is read here from bytes, wherever they came from; the files that it names are looked up on disk
here, and in S3 by `ingest.aws.walk`.

Source: AWS CUR user guide, "Understanding your report"; Data Exports user guide, "Understanding export delivery".
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath, PurePosixPath

from ingest.errors import SourceUnreadable
from ingest.listing import list_files

MANIFEST_SUFFIX = "Manifest.json"
_Read = tuple[str, date, list[object]]
_MARKS = {"executionId", "exportArn", "dataFiles"}
"""Keys by which a manifest of Data Exports is known, also one that has lost the list of its files."""
_BUCKET = re.compile(r"^s3://[^/]+/")
_PARTITION = re.compile(r"(?:^|/)billing_period=(\d{4})-(\d{2})(?:/|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One manifest: the export it belongs to, its month and the keys of the files, all of which must be there."""

    path: PurePath
    export: str
    billing_month: date
    keys: tuple[str, ...]
    modified_ns: int

    def rank(self) -> tuple[int, str, int]:
        """Return the order among manifests of a month: highest in the tree, then latest folder, then latest written."""
        return (
            -len(self.path.parts),
            self.path.parent.name if self.path.parent.name[:1].isdigit() else "",
            self.modified_ns,
        )


def newest_manifests(location: Path) -> tuple[list[Manifest], list[SourceUnreadable]]:
    """Return the newest manifest of each month below `location`, oldest month first, and what is wrong with others.

    A broken manifest, or several exports of one month, is a problem of its own: the other months go on.
    """
    manifests: list[Manifest] = []
    problems: list[SourceUnreadable] = []
    for path in (path for path in list_files(location) if path.name.endswith(MANIFEST_SUFFIX)):
        try:
            manifest = _read(path)
        except SourceUnreadable as error:
            problems.append(error)
            continue
        manifests += [] if manifest is None else [manifest]
    newest, ambiguous = newest_of(manifests)
    return newest, problems + ambiguous


def newest_of(manifests: Iterable[Manifest]) -> tuple[list[Manifest], list[SourceUnreadable]]:
    """Return the newest manifest of each month, oldest month first, and the months that several exports cover."""
    months: dict[date, dict[str, list[Manifest]]] = {}
    for manifest in manifests:
        months.setdefault(manifest.billing_month, {}).setdefault(manifest.export, []).append(manifest)
    newest: list[Manifest] = []
    problems: list[SourceUnreadable] = []
    for month, exports in sorted(months.items()):
        if len(exports) > 1:
            problems.append(_ambiguous(month, exports))
        else:
            newest += [max(versions, key=Manifest.rank) for versions in exports.values()]
    return newest, problems


def _ambiguous(month: date, exports: Mapping[str, object]) -> SourceUnreadable:
    """Return the refusal of a month that several exports cover."""
    return SourceUnreadable(
        f"{len(exports)} exports cover this month: {', '.join(sorted(exports))}",
        billing_month=month,
        hint="point `location` at the folder of one of them",
    )


def resolve_keys(location: Path, manifest: Manifest) -> list[Path]:
    """Return the files that a manifest names, in its order; two keys must not come down to one file."""
    paths = [resolve_key(location, key, manifest) for key in manifest.keys]
    refuse_repeated(paths, manifest)
    return paths


def refuse_repeated(places: Iterable[object], manifest: Manifest) -> None:
    """Raise SourceUnreadable where two keys of a manifest came down to one place."""
    listed = list(places)
    if len(set(listed)) < len(listed):
        raise SourceUnreadable(
            "two keys of the manifest come down to one file under the location",
            file=manifest.path.name,
            hint="point `location` at the bucket's root, or at the folder that the keys begin with",
        )


def bare_key(key: str, manifest: Manifest) -> str:
    """Return a key without the bucket that it may name; raises SourceUnreadable where it leaves its folder."""
    bare = _BUCKET.sub("", key)
    if ".." in bare.split("/"):
        raise leaving(key, manifest)
    return bare


def leaving(key: str, manifest: Manifest) -> SourceUnreadable:
    """Return the refusal of a key that leaves the location."""
    return SourceUnreadable(f"the manifest names {key}, which leaves the location", file=manifest.path.name)


def missing(key: str, manifest: Manifest) -> SourceUnreadable:
    """Return the problem of a key whose file is not there (yet)."""
    return SourceUnreadable(
        f"the manifest names {key}, which is not there",
        file=manifest.path.name,
        hint="the delivery may still be under way; the last good version stays and the next run tries again. Where it"
        " goes on, point `location` at a folder above both the manifest and its files",
    )


def without_files(manifest: Manifest) -> SourceUnreadable:
    """Return the problem of a month whose newest manifest names no files."""
    return SourceUnreadable(
        "the manifest names no files",
        file=manifest.path.name,
        billing_month=manifest.billing_month,
        hint="the last good version stays; where it goes on, see whether the export's form has changed",
    )


def resolve_key(location: Path, key: str, manifest: Manifest) -> Path:
    """Return the file that a key of a manifest names: its longest suffix that exists under `location`.

    The bucket's name is ignored. Raises SourceUnreadable where no file is there, or where a key leaves the location.
    """
    parts = [part for part in PurePosixPath(bare_key(key, manifest)).parts if part != "/"]
    root = location.resolve()
    for start in range(len(parts)):
        candidate = location.joinpath(*parts[start:])
        if _is_file(candidate):
            if not candidate.resolve().is_relative_to(root):
                raise leaving(key, manifest)
            return candidate
    raise missing(key, manifest)


def _is_file(path: Path) -> bool:
    """Return whether a file is there; a name longer than the file system takes names none."""
    try:
        return path.is_file()
    except OSError:
        return False


def _read(path: Path) -> Manifest | None:
    """Read one manifest on disk; None where the file is some other JSON."""
    try:
        return parse_manifest(path, path.read_bytes(), path.stat().st_mtime_ns)
    except OSError as error:
        raise SourceUnreadable(f"the manifest cannot be read ({error.strerror})", file=path.name) from error


def parse_manifest(path: PurePath, text: bytes, modified_ns: int) -> Manifest | None:
    """Return what a manifest says; None where the file is some other JSON. Raises SourceUnreadable."""
    try:
        content = json.loads(text.decode("utf-8"))
    except ValueError as error:
        raise SourceUnreadable(
            f"the manifest is not readable JSON ({error})", file=path.name, hint="it may be half written; run again"
        ) from error
    if not isinstance(content, dict):
        return None
    read = _legacy(path, content) or _data_export(path, content)
    if read is None:
        return None
    export, billing_month, keys = read
    return Manifest(
        path=path,
        export=export,
        billing_month=billing_month,
        keys=tuple(str(key) for key in keys),
        modified_ns=modified_ns,
    )


def _legacy(path: PurePath, content: Mapping[str, object]) -> _Read | None:
    """Return export, month and keys of a legacy CUR manifest, or None where it is none."""
    keys, period = content.get("reportKeys", []), content.get("billingPeriod")
    if not isinstance(keys, list) or not isinstance(period, dict):
        return None
    start = str(period.get("start", ""))
    if not re.match(r"\d{8}", start):
        raise SourceUnreadable(f"the manifest has no billing period ({start!r})", file=path.name)
    month = _first_day(start[:4], start[4:6], path)
    name = str(content.get("reportName") or path.name.removesuffix("-Manifest.json"))
    return f"legacy report {name}", month, keys


def _data_export(path: PurePath, content: Mapping[str, object]) -> _Read | None:
    """Return export, month and keys of a Data Exports manifest, or None where it is none."""
    keys = content.get("dataFiles", [])
    if not isinstance(keys, list) or not _MARKS & content.keys():
        return None
    found = _PARTITION.search(path.as_posix()) or next(
        filter(None, (_PARTITION.search(str(key)) for key in keys)), None
    )
    if found is None:
        raise SourceUnreadable("no billing_period=YYYY-MM folder tells the month of the manifest", file=path.name)
    name = str(content.get("exportArn") or path.name.removesuffix("-Manifest.json"))
    return f"data export {name}", _first_day(found[1], found[2], path), keys


def _first_day(year: str, month: str, path: PurePath) -> date:
    """Return the first day of the month; raises SourceUnreadable where there is none such."""
    try:
        return date(int(year), int(month), 1)
    except ValueError as error:
        raise SourceUnreadable(f"the manifest's billing period {year}-{month} is no month", file=path.name) from error
