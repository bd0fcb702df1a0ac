"""Checks of this machine and of the four stores: folders, disk, locks, the published copy, the state store, the clock.

The warehouse is never opened: whether somebody holds it is asked of the kernel, before DuckDB in this process opens
anything, since closing a plain descriptor of a file frees the locks that this process has on it.
"""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import struct
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from alerts.outbox import read_outbox
from ingest.conversion import conversion_hash, version_of
from overrun.doctor_check import Check, doubt, failure, well
from overrun.exits import CommandFailed, Exit
from overrun.published import has_relation, open_copy
from overrun.terminal import size_text
from sql.contract import META, SCHEMA_VERSION
from sql.errors import StateError, WarehouseError, WarehouseLocked
from sql.lock import holder
from sql.meta import read_meta
from sql.publish import find_writer, log_of
from sql.state import PublishedFile, Run, StateStore
from sql.text import shortened

if TYPE_CHECKING:
    from alerts.outbox import OutboxMessage
    from overrun.config import Config

_FLOCK = "hhqqixxxx"
_CLOCK_SLACK = timedelta(minutes=5)
_LONGEST_GAP = timedelta(hours=36)
_GIVEN_UP_LATELY = timedelta(days=30)
_REASON_LIMIT = 200
_RUNS_LOOKED_AT = 200


def check_versions() -> Check:
    """Name what the program runs on."""
    import duckdb

    return well("versions", f"Python {platform.python_version()}, DuckDB {duckdb.__version__}")


def check_stores(config: Config, now: datetime) -> Iterator[Check]:
    """Yield all checks of folders and stores; `now` is the clock's instant [UTC]."""
    yield from check_folders(config)
    yield from check_disk(config)
    yield from check_locks(config)
    yield check_copy_holder(config)
    yield from check_logs(config)
    yield from check_state(config, now)
    yield from check_schema(config)


def check_folders(config: Config) -> Iterator[Check]:
    """Yield whether each folder that a night writes to can be written."""
    wanted = {
        "warehouse": config.warehouse.path.parent,
        "landing": config.landing,
        "publish": config.publish.parent,
        "state": config.state.parent,
    }
    for publication in config.publications:
        wanted[f"publish of {', '.join(publication.teams)}"] = publication.path.parent
    for name, folder in wanted.items():
        yield _check_folder(f"{name} folder", folder)


def _check_folder(name: str, folder: Path) -> Check:
    """Try to make a file without a name in `folder`, or in the nearest folder above it that is there."""
    present = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=present):
            pass
    except OSError as error:
        return failure(
            name,
            f"{present} cannot be written ({error.strerror})",
            "check its owner and mode, or name another in [warehouse]",
            Exit.USAGE,
        )
    return well(name, f"{folder} can be written" if present == folder else f"{folder} can be made")


def check_disk(config: Config) -> Iterator[Check]:
    """Yield whether the next copy fits, for each disk that holds a database file.

    Three times the warehouse are needed in all: itself, the copy that people have open, the next copy.
    """
    size = _size(config.warehouse.path)
    stores = 3 * size + _size_below(config.landing)
    folders = {config.warehouse.path.parent: None, config.publish.parent: None}
    seen: set[int] = set()
    for folder in folders:
        present = next(place for place in (folder, *folder.parents) if place.exists())
        device = present.stat().st_dev
        if device in seen:
            continue
        seen.add(device)
        free = shutil.disk_usage(present).free
        message = f"{size_text(free)} free at {present}; 3 x warehouse + landing is {size_text(stores)}"
        hint = "free some space; docs/deploy.md says how much is needed"
        if free < size:
            yield failure("disk", f"{message}: the next copy of {size_text(size)} does not fit", hint, Exit.REFUSED)
        elif free < 2 * size:
            yield doubt("disk", message, hint)
        else:
            yield well("disk", message)


def check_locks(config: Config) -> Iterator[Check]:
    """Yield who holds the lock of the run, and who has the warehouse open."""
    running = holder(config.lock)
    yield well("lock", "no run is under way" if running is None else f"a run is under way ({_process(running)})")
    if not config.warehouse.path.is_file():
        yield well("warehouse", f"{config.warehouse.path} is made by the first night")
        return
    held_by = find_holder(config.warehouse.path)
    if held_by is None and not _is_database(config.warehouse.path):
        yield failure(
            "warehouse",
            f"{config.warehouse.path} is no DuckDB database",
            "restore it from a backup, or move it away: overrun rebuild makes a new one from landed files",
            Exit.REFUSED,
        )
    elif held_by is None:
        yield well("warehouse", f"{config.warehouse.path} is open nowhere")
    elif held_by == running:
        yield well("warehouse", f"{config.warehouse.path} is open in the run under way")
    else:
        yield failure(
            "warehouse",
            f"{config.warehouse.path} is open in {_process(held_by)}, so that no night can run",
            "close it there; people open the published copy, which is never locked",
            Exit.LOCKED,
        )


def find_holder(path: Path) -> int | None:
    """Return the pid of another process that has the database file open, for reading or writing; None for nobody.

    DuckDB holds a POSIX lock on every file that it has open. To be called while this process has `path` not open.
    """
    with path.open("rb") as file:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(file.fileno(), fcntl.F_GETLK, asked))
    return None if kind == fcntl.F_UNLCK else int(pid)


def _is_database(path: Path) -> bool:
    """Return whether a file begins as DuckDB's do; one of zero bytes is what a failed copy or a full disk leaves."""
    with path.open("rb") as file:
        return file.read(12)[8:12] == b"DUCK"


def check_copy_holder(config: Config) -> Check:
    """Return whether a program has the copy for people open for writing."""
    writer = find_writer(config.publish)
    if writer is None:
        return well("readers", f"nobody has {config.publish} open for writing")
    return doubt(
        "readers",
        f"{config.publish} is open for writing in {_process(writer)}: what it writes is lost, and queries wait for it",
        "let it open the copy read-only",
    )


def check_logs(config: Config) -> Iterator[Check]:
    """Yield write-ahead logs that lie about."""
    log = log_of(config.publish)
    if log.exists() and find_writer(config.publish) is None:
        yield doubt("log", f"{log} was left by a program that is gone", "the next night removes it")
    log = log_of(config.warehouse.path)
    if log.exists() and holder(config.lock) is None:
        yield doubt("log", f"{log} was left by a run that was killed", "the next night takes it in")


def check_state(config: Config, now: datetime) -> Iterator[Check]:
    """Yield what the state store says: the last night, the clock, the published copy, the messages."""
    if not config.state.exists():
        yield doubt("last night", "no night has run yet", "run overrun nightly")
        return
    locked = _unwritable(config.state)
    if locked is not None:
        yield failure("state", f"{locked} cannot be written", "check its owner and mode", Exit.USAGE)
    try:
        with StateStore.open_read_only(config.state) as state:
            runs = state.last_runs(_RUNS_LOOKED_AT)
            published = state.published(config.publish)
            outbox = read_outbox(state, "pending", "sending", "dead")
    except (StateError, WarehouseError) as error:
        yield failure("state", str(error), error.hint or "look at the file", Exit.USAGE)
        return
    yield _check_clock(runs, now)
    yield _check_last_night(runs, now)
    yield _check_copy(config.publish, published)
    yield from _check_messages(outbox, now)


def _unwritable(path: Path) -> Path | None:
    """Return the state store or the file beside it that this user may not write; None where all is well."""
    beside = (path.with_name(path.name + ending) for ending in ("-wal", "-shm"))
    return next((file for file in (path, *beside) if file.exists() and not os.access(file, os.W_OK)), None)


def _check_messages(outbox: list[OutboxMessage], now: datetime) -> Iterator[Check]:
    """Yield messages that wait because a channel did not take them, and those given up lately."""
    failing = [message for message in outbox if message.status != "dead" and message.last_error is not None]
    lost = [message for message in outbox if message.status == "dead" and message.expires_at > now - _GIVEN_UP_LATELY]
    for messages, fate, hint in (
        (failing, "waiting", "repair the channel, then run overrun alert"),
        (lost, "given up", "overrun status lists them; tell their readers"),
    ):
        by_channel = {message.channel: message for message in messages}
        for channel, last in by_channel.items():
            count = sum(message.channel == channel for message in messages)
            reason = shortened(last.last_error or "no reason is known", _REASON_LIMIT)
            yield doubt(f"messages to {channel}", f"{count} {fate}: {reason}", hint)
    if not failing and not lost:
        yield well("messages", "none waits with an error or was given up lately")


def _check_clock(runs: list[Run], now: datetime) -> Check:
    """Return whether the clock stands behind what was recorded."""
    latest = max((run.started_at for run in runs), default=now)
    if latest > now + _CLOCK_SLACK:
        return doubt(
            "clock",
            f"the clock says {now:%Y-%m-%d %H:%M} UTC, but a run began at {latest:%Y-%m-%d %H:%M}",
            "set the clock",
        )
    return well("clock", f"{now:%Y-%m-%d %H:%M} UTC")


def _check_last_night(runs: list[Run], now: datetime) -> Check:
    """Return whether a night ended lately, and how."""
    night = next((run for run in runs if run.command == "nightly" and run.finished_at is not None), None)
    if night is None or night.finished_at is None:
        return doubt("last night", "no night has ended yet", "run overrun nightly")
    message = f"ended {night.finished_at:%Y-%m-%d %H:%M} UTC with {night.exit_code}"
    if night.exit_code:
        return doubt("last night", message, "overrun status says what failed and why")
    if now - night.finished_at > _LONGEST_GAP:
        return doubt("last night", f"{message}, {(now - night.finished_at).days} days ago", "look at cron or the timer")
    return well("last night", message)


def _check_copy(path: Path, published: PublishedFile | None) -> Check:
    """Return whether the copy for people is as the last publish left it."""
    if published is None:
        return doubt("copy", f"{path} is not published yet", "run overrun nightly")
    if not path.is_file():
        return doubt("copy", f"{path} is gone", "overrun publish writes it again")
    stat = path.stat()
    if (stat.st_size, stat.st_mtime_ns, stat.st_ino) != (published.size, published.modified_ns, published.inode):
        return doubt("copy", f"{path} was changed since it was published", "overrun publish replaces it")
    return well("copy", f"{path} is as the last publish left it")


def check_schema(config: Config) -> Iterator[Check]:
    """Yield whether the data was converted as this program converts, as the published copy says."""
    if not config.publish.is_file():
        return
    try:
        with open_copy(config.publish) as warehouse:
            made_by = read_meta(warehouse, "conversion_hash") if has_relation(warehouse, META.full_name) else None
    except WarehouseLocked as error:
        yield doubt("schema", str(error), error.hint or "close that program")
        return
    except CommandFailed as error:
        yield failure("schema", str(error), error.hint or "publish again", Exit.USAGE)
        return
    if made_by is not None and version_of(made_by) == conversion_hash():
        yield well("schema", f"version {SCHEMA_VERSION}, made by this program's conversion ({version_of(made_by)})")
        return
    yield doubt(
        "schema",
        f"the data was made by another version (conversion {made_by or 'unknown'}, not {conversion_hash()})",
        "the next night makes the warehouse anew from landed files; it needs the room of one more warehouse",
    )


def _process(pid: int) -> str:
    """Return a process by pid and, where the kernel tells, by name."""
    try:
        name = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        name = ""
    known = f"process {pid}" if pid else "another process"
    return f"{known}, {name}" if name else known


def _size(path: Path) -> int:
    """Return the size of a file, 0 where there is none [bytes]."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _size_below(folder: Path) -> int:
    """Return the size of all files below a folder [bytes]."""
    return sum(_size(path) for path in folder.rglob("*") if path.is_file())
