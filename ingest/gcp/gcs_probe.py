"""What Cloud Storage lets a source do, asked by `overrun doctor`: a list as far as a file, and a byte of it."""

from __future__ import annotations

from dataclasses import replace

from ingest.errors import SourceChanged, SourceUnreadable
from ingest.fetching import Broken
from ingest.finding import Finding
from ingest.gcp.gcs import GcsBucket, GcsObject
from ingest.source import HASTE, GcsLocation


def probe_gcs(location: GcsLocation) -> list[Finding]:
    """Return whether the files at a location can be listed and read; raises nothing of Google."""
    try:
        bucket = GcsBucket(replace(location, patience=HASTE))
        first = next((item for item in bucket.files() if item.size > 0), None)
    except SourceUnreadable as error:
        return [_refused(error)]
    listed = Finding(level="ok", message=f"{location} can be listed")
    if first is None:
        hint = "let a job export into it; if one does, compare `location` with where it writes"
        return [listed, Finding(level="warn", message=f"nothing yet at {location}", hint=hint)]
    return [listed, _read(bucket, first)]


def _read(bucket: GcsBucket, item: GcsObject) -> Finding:
    """Return whether the first byte of an object can be read."""
    try:
        for _ in bucket.chunks(item, 0, 1):
            pass
    except SourceUnreadable as error:
        return _refused(error)
    except Broken:
        return _refused(SourceUnreadable("the connection broke", file=item.name, hint="run again"))
    return Finding(level="ok", message=f"gs://{bucket.location.bucket}/{item.key} can be read")


def _refused(error: SourceUnreadable) -> Finding:
    """Return a refusal as a finding; what was replaced while it was asked for is an export that is under way."""
    return Finding(level="warn" if isinstance(error, SourceChanged) else "fail", message=str(error), hint=error.hint)
