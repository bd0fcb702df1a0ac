"""Discovery: the deliveries that a source now offers.

AWS exports are found by manifest; without one, files of a known suffix below the location are loose. A loose file
belongs to the months of its rows, so one new file touches those months only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePath, PurePosixPath

import duckdb

from ingest.aws.cur import CUR
from ingest.aws.manifest import Manifest, newest_manifests, resolve_keys, without_files
from ingest.aws.offers import S3Source, open_source
from ingest.checksums import Checksums
from ingest.dataset import Dataset, Described, describe_files
from ingest.delivery import DeliveredFile, Delivery, Offer, version_of
from ingest.errors import LoadRefused, SourceUnreadable
from ingest.explain import explained
from ingest.fetching import remove_others
from ingest.focus.export import FOCUS
from ingest.formats import SUFFIXES, format_of, is_without_rows
from ingest.gcp.bigquery import Asking, offers_in_bigquery
from ingest.gcp.export import GCP_EXPORT
from ingest.gcp.gcs import open_gcs
from ingest.keys import unread_keys, unread_note
from ingest.landed import create_landed_view
from ingest.landing import FETCHING
from ingest.listing import list_files
from ingest.remote import Item, RemoteSource
from ingest.runs import Written, of_newest_runs, without_leftovers
from ingest.source import BigQueryLocation, GcsLocation, S3Location, SourceKind, SourceSettings
from ingest.unpack import unpacked
from sql.warehouse import Warehouse, quoted

DATASETS: Mapping[SourceKind, tuple[Dataset, ...]] = {
    "aws-export": (CUR, FOCUS),
    "gcp-export": (GCP_EXPORT, FOCUS),
    "gcp-bigquery": (GCP_EXPORT, FOCUS),
    "focus-export": (FOCUS,),
}
_MONTH = re.compile(r"(?:19|20|21)\d{2}-\d{2}")
_PERIOD_FOLDER = re.compile(r"/(?:billing_period=\d{4}-\d{2}|\d{8}-\d{8}|year=\d{4}/month=\d{1,2})/", re.IGNORECASE)
"""Folders of the provider's own layouts: files there without a manifest are a delivery that is not finished."""
_MANIFEST_AFTER_NS = 24 * 60 * 60 * 1_000_000_000
"""How long after its files a manifest may be missing: it is written last."""
_RUN_FOLDER = re.compile(r"/(?P<period>\d{8}-\d{8})/(?P<run>[^/]+)/[^/]+$")
"""Folders of an export that writes each run, with all of the month so far, beside the earlier ones."""
ALL_DATASETS = (CUR, GCP_EXPORT, FOCUS)


@dataclass(frozen=True, slots=True)
class Vanished:
    """A month that no loose file has rows of any more, though `file` had: they may stand in another month now."""

    billing_month: date
    file: DeliveredFile


@dataclass(slots=True, kw_only=True)
class Discovered:
    """What a source offers: its deliveries, the problems of single months, and files that are passed over."""

    deliveries: list[Delivery | Offer] = field(default_factory=list)
    problems: list[SourceUnreadable] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    vanished: list[Vanished] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What somebody should know though nothing failed; fetching may add to it."""


def discover(
    source: SourceSettings,
    warehouse: Warehouse,
    checksums: Checksums,
    landing: Path,
    months: frozenset[date] = frozenset(),
) -> Discovered:
    """Return what `source` offers; nothing yet is normal. Raises SourceUnreadable where it cannot be listed.

    `landing` is where files of S3 are looked up and fetched to where their rows tell the month; `months` are looked at
    even where they lie before the lookback of a source that has one.
    """
    location = source.location
    if isinstance(location, BigQueryLocation):
        found_there = offers_in_bigquery(source, location, Asking(warehouse, checksums.now_ns, landing, months))
        return Discovered(deliveries=[*found_there.offers], problems=found_there.problems, notes=found_there.notes)
    if isinstance(location, S3Location):
        return _in_s3(source, open_source(source, location, checksums, landing), warehouse, checksums)
    if isinstance(location, GcsLocation):
        return _in_bucket(source, open_gcs(source, location, checksums, landing), warehouse, checksums)
    if not location.exists():
        raise SourceUnreadable(
            f"{location} does not exist", source=source.name, hint="check `location` of the [[source]]"
        )
    manifests, problems = _manifests(source, location)
    if not manifests and not problems:
        visible, earlier = _of_newest_runs(source, list_files(location), checksums)
        paths, passed_over = _listed(visible)
        passed_over += earlier
        newest_ns = max((path.stat().st_mtime_ns for path in paths), default=0)
        listing = _Listing(paths, passed_over, newest_ns, lambda: [checksums.file(path, path.name) for path in paths])
        return _loose(source, listing, warehouse, checksums)
    found = Discovered(problems=[error for error in problems if _concerns(source, error)])
    for manifest in (manifest for manifest in manifests if source.covers(manifest.billing_month)):
        try:
            paths = resolve_keys(location, manifest)
            files = tuple(checksums.file(path, path.name) for path in paths)
        except SourceUnreadable as error:
            error.located(source=source.name, billing_month=manifest.billing_month)
            found.problems.append(error)
            continue
        if files:
            found.deliveries.append(_delivery(source, manifest.billing_month, files))
        else:
            found.problems.append(without_files(manifest))
            found.problems[-1].located(source=source.name)
    return found


def _in_s3(source: SourceSettings, s3: S3Source, warehouse: Warehouse, checksums: Checksums) -> Discovered:
    """Return what a source in S3 offers, by manifest or as loose files."""
    if source.kind == "aws-export":
        offers, problems, has_manifests = s3.by_manifest()
        if has_manifests:
            for problem in problems:
                problem.located(source=source.name)
            return Discovered(deliveries=[*offers], problems=[error for error in problems if _concerns(source, error)])
    return _in_bucket(source, s3, warehouse, checksums)


def _in_bucket(
    source: SourceSettings, remote: RemoteSource[Item], warehouse: Warehouse, checksums: Checksums
) -> Discovered:
    """Return what a source in a bucket offers as loose files."""
    objects, earlier = _of_runs_in_bucket(source, remote.loose(), checksums)
    readable = [item for item in objects if format_of(item.path) is not None and not _is_manifest(item.path)]
    passed_over = [*(item.name for item in objects if item not in set(readable)), *earlier]
    newest_ns = max((item.modified_ns for item in readable), default=0)
    paths = [item.path for item in readable]
    listing = _Listing(paths, passed_over, newest_ns, lambda: _loose_files(source, remote, readable))
    found = _loose(source, listing, warehouse, checksums)
    loose = [delivery for delivery in found.deliveries if isinstance(delivery, Delivery)]
    found.deliveries = [remote.offer_of(delivery, readable) for delivery in loose]
    return found


def _of_runs_in_bucket(
    source: SourceSettings, items: Sequence[Item], checksums: Checksums
) -> tuple[list[Item], list[str]]:
    """Return the objects of the newest runs, and what is passed over.

    Shards are told apart in Cloud Storage only, where the time of an object is that of its export.
    """
    if source.kind == "aws-export":
        return [*items], []
    by_path = {item.path: item for item in items}
    kept, passed_over = of_newest_runs([Written(item.path, item.modified_ns) for item in items], checksums.now_ns)
    if isinstance(source.location, GcsLocation):
        kept, left = without_leftovers(kept)
        passed_over += left
    return [by_path[PurePosixPath(file.path)] for file in kept], passed_over


def _loose_files(source: SourceSettings, remote: RemoteSource[Item], items: Sequence[Item]) -> list[DeliveredFile]:
    """Return loose files with their checksums: those that are not known, or whose months are not, are fetched."""
    needs_months = _period_of(source) == "from-rows"
    known = {item: remote.known(item) for item in items}
    there = {
        item: file
        for item, file in known.items()
        if file is not None and not (needs_months and remote.checksums.months(file) is None)
    }
    missing = [item for item in items if item not in there]
    remove_others(items, remote.folder / FETCHING)
    fetched = dict(zip(missing, remote.fetched(missing, remote.folder / FETCHING), strict=True))
    return [there.get(item) or fetched[item] for item in items]


def _concerns(source: SourceSettings, error: SourceUnreadable) -> bool:
    """Return whether a problem is about a month that belongs to the source, or about no certain month."""
    return error.billing_month is None or source.covers(error.billing_month)


def _manifests(source: SourceSettings, location: Path) -> tuple[list[Manifest], list[SourceUnreadable]]:
    """Return the manifests of a source that has any; problems know their source."""
    if source.kind != "aws-export" or not location.is_dir():
        return [], []
    manifests, problems = newest_manifests(location)
    for problem in problems:
        problem.located(source=source.name)
    return manifests, problems


@dataclass(frozen=True, slots=True)
class _Listing:
    """Files without a manifest: where those stand that are read, what is passed over, and how the former are had."""

    paths: Sequence[PurePath]
    passed_over: list[str]
    newest_ns: int
    """When the last of them was written, [ns] since 1970."""
    files: Callable[[], list[DeliveredFile]]


def _period_of(source: SourceSettings) -> str | None:
    """Return the month of a source's loose files, or from-rows."""
    return source.period or (None if source.kind == "aws-export" else "from-rows")


def _loose(source: SourceSettings, listing: _Listing, warehouse: Warehouse, checksums: Checksums) -> Discovered:
    """Return the deliveries of files without a manifest."""
    paths, passed_over = listing.paths, listing.passed_over
    if not paths:
        if passed_over:
            raise SourceUnreadable(
                f"no file of a format that is read, but {', '.join(passed_over[:3])}",
                source=source.name,
                hint=f"read are {', '.join(sorted(SUFFIXES))}",
            )
        return Discovered()
    _refuse_runs(paths, source)
    period = _period_of(source)
    if period is None and all(_PERIOD_FOLDER.search(path.as_posix()) for path in paths):
        if checksums.now_ns - listing.newest_ns > _MANIFEST_AFTER_NS:
            raise SourceUnreadable(
                "there are files in folders of AWS's own layout, but no manifest that names them",
                source=source.name,
                hint="point `location` at the export's folder, above data and metadata, or above the months' folders",
            )
        return Discovered()
    if period is None:
        raise SourceUnreadable(
            "the files have no manifest that says which month they are",
            source=source.name,
            hint='set `period = "2026-10"` or `period = "from-rows"` in the [[source]]',
        )
    files, repeated = _distinct(listing.files())
    found = Discovered(passed_over=[*passed_over, *(f"{file.name} (same content as another)" for file in repeated)])
    if period == "from-rows":
        found.deliveries += _by_month(source, files, warehouse, checksums, found.notes)
        months = {delivery.billing_month for delivery in found.deliveries}
        found.vanished = [gone for gone in _vanished(files, checksums) if gone.billing_month not in months]
    else:
        month = date.fromisoformat(f"{period}-01")
        found.deliveries = [_delivery(source, month, tuple(files), stated=True)]
    found.deliveries = [delivery for delivery in found.deliveries if source.covers(delivery.billing_month)]
    return found


def _refuse_runs(paths: Sequence[PurePath], source: SourceSettings) -> None:
    """Refuse several runs of an export that repeats the month to date, as Azure's does: added up they count twice."""
    runs: dict[str, set[str]] = {}
    for path in paths:
        found = _RUN_FOLDER.search(path.as_posix())
        if found:
            runs.setdefault(found["period"], set()).add(found["run"])
    for period, names in sorted(runs.items()):
        if len(names) > 1:
            raise SourceUnreadable(
                f"{len(names)} runs of {period} lie side by side, and each holds the month to date",
                source=source.name,
                hint="keep the newest run of each period only, or let the export overwrite its files",
            )


def _distinct(files: Sequence[DeliveredFile]) -> tuple[list[DeliveredFile], list[DeliveredFile]]:
    """Return the files whose content is not that of an earlier one, and the rest: copies must not count twice."""
    first = {file.sha256: file for file in reversed(files)}
    kept = [file for file in files if first[file.sha256] is file]
    return kept, [file for file in files if first[file.sha256] is not file]


def _of_newest_runs(
    source: SourceSettings, paths: Sequence[Path], checksums: Checksums
) -> tuple[list[Path], list[str]]:
    """Return the files of the newest runs, and what is passed over; an AWS export has manifests for that."""
    if source.kind == "aws-export":
        return [*paths], []
    files = [Written(path, path.stat().st_mtime_ns) for path in paths]
    kept, passed_over = of_newest_runs(files, checksums.now_ns)
    return [Path(file.path) for file in kept], passed_over


def _listed(visible: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the files that are read and the names of those that are passed over."""
    readable = [path for path in visible if format_of(path) is not None and not _is_manifest(path)]
    return readable, [path.name for path in visible if path not in set(readable)]


def _is_manifest(path: PurePath) -> bool:
    """Return whether a file is a provider's list of files, whatever its form."""
    return path.name.lower().endswith("manifest.json")


def _by_month(
    source: SourceSettings,
    files: Sequence[DeliveredFile],
    warehouse: Warehouse,
    checksums: Checksums,
    notes: list[str],
) -> list[Delivery]:
    """Return one delivery per month that any file has rows of; a file without rows goes with the newest month.

    What nothing reads in a file that is new is added to `notes`.
    """
    members: dict[date, list[DeliveredFile]] = {}
    without_rows: list[DeliveredFile] = []
    for file in files:
        months = checksums.months(file)
        if months is None:
            months = _months_of(source, file, warehouse, notes)
            checksums.remember_months(file, months)
        for month in months:
            members.setdefault(date.fromisoformat(f"{month}-01"), []).append(file)
        if not months:
            without_rows.append(file)
    if members:
        members[max(members)] += without_rows
    return [_delivery(source, month, tuple(group), month_only=True) for month, group in sorted(members.items())]


def _vanished(files: Sequence[DeliveredFile], checksums: Checksums) -> list[Vanished]:
    """Return the months that files had rows of before they were written again."""
    return [
        Vanished(date.fromisoformat(f"{month}-01"), file) for file in files for month in checksums.earlier_months(file)
    ]


def _months_of(source: SourceSettings, file: DeliveredFile, warehouse: Warehouse, notes: list[str]) -> list[str]:
    """Return the billing months of a file's rows, YYYY-MM; what nothing reads in it is added to `notes`."""
    if is_without_rows(file):
        return []
    try:
        with unpacked(warehouse, [file]) as files:
            described = describe_files(files, DATASETS[source.kind], warehouse)
            create_landed_view(warehouse, described, None, read_by=described.dataset.month)
            rows = warehouse.rows(
                f"select distinct strftime({described.dataset.month}, '%Y-%m') from landed order by 1"
            )
            if any(row[0] is None or not _MONTH.fullmatch(str(row[0])) for row in rows):
                raise _without_month(described, file, warehouse)
            unread = unread_keys(warehouse, described)
    except (SourceUnreadable, LoadRefused) as error:
        raise error.located(source=source.name) from error
    except duckdb.Error as error:
        raise explained(error, file.name).located(source=source.name) from error
    if unread:
        notes.append(unread_note(file.name, unread))
    return [str(row[0]) for row in rows if row[0] is not None]


def _without_month(described: Described, file: DeliveredFile, warehouse: Warehouse) -> LoadRefused:
    """Return the refusal of a file that has a row of which nothing tells the month."""
    dates = [
        quoted(f"bad_{item.name}") for item in described.dataset.fields if item.type == "instant" and item.is_required
    ]
    found = warehouse.row(
        f"select row_number, coalesce({', '.join([*dates, 'null'])}, '') from landed"
        f" where {described.dataset.month} is null or year({described.dataset.month}) not between 1900 and 2199"
        " order by 1 limit 1"
    )
    number, text = found or ("", "")
    return LoadRefused(f"row {number} tells no billing month (its usage start is {str(text)[:60]!r})", file=file.name)


def _delivery(
    source: SourceSettings,
    month: date,
    files: tuple[DeliveredFile, ...],
    *,
    month_only: bool = False,
    stated: bool = False,
) -> Delivery:
    """Return the delivery of these files."""
    return Delivery(
        source=source.name,
        billing_month=month,
        version=version_of(files, source.currency),
        files=files,
        rows_of_month_only=month_only,
        month_is_stated=stated,
        currency=source.currency,
    )
