"""A small company with exports, a configuration and nights, and what a test asks about the files that they leave.

Exports are of a few rows and old enough (by their modification time) that every night remembers their checksums alike.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sql.files import TEMPORARY_MARK
from sql.state import Row as StateRow
from sql.state import StateStore
from sql.warehouse import Row, Warehouse, quoted
from tests.fakes.crash import Forker, Order, Ran
from tests.fakes.exports import Row as ExportRow
from tests.fakes.exports import cur_line, deliver_export, gcp_row, write_gcp

OLD = 1_790_000_000
"""Modification time of every export, [s]: before any test."""

SMALL = """\
[warehouse]
memory_limit = "200MB"
threads = 1
keep_landed = "newest"
"""
AWS = """\
[[source]]
name = "aws"
kind = "aws-export"
location = "exports/aws"
"""
GCP = """\
[[source]]
name = "gcp"
kind = "gcp-export"
location = "exports/gcp"
"""
TEAMS = """\
[[attribution.rule]]
project = "detector"
match = { tag = { "resource_tags/user_project" = "det*" } }

[attribution]
accounts = { "222222222222" = "segmenter" }

[[team]]
name = "vision"
projects = ["detector", "segmenter", "ml-train"]
"""
BUDGET = """\
[[budget]]
id = "vision-monthly"
limit = { amount = "100", currency = "USD" }
scope = { team = ["vision"] }
"""
EXCERPT = """\
[[publish]]
path = "vision.duckdb"
team = ["vision"]
"""
ROUTE_TO_SLACK = """\
[[channel]]
id = "vision-slack"
kind = "slack-webhook"
url = "env:VISION_SLACK_URL"

[[route]]
team = "vision"
channels = ["vision-slack"]
"""
ROUTE_TO_BOTH = """\
[[channel]]
id = "vision-slack"
kind = "slack-webhook"
url = "env:VISION_SLACK_URL"

[[channel]]
id = "vision-mail"
kind = "email"
smtp_host = "127.0.0.1"
smtp_port = {port}
security = "none"
from = "overrun@acme.example"
to = ["lead@acme.example"]

[[route]]
team = "vision"
channels = ["vision-slack", "vision-mail"]
"""

_CLOCKS = {"loaded_at", "first_loaded_at", "last_loaded_at", "superseded_at", "final_at", "was_final_at"}


@dataclass(slots=True)
class House:
    """One folder with `overrun.toml`, exports and the four stores, and the process that runs nights in it."""

    folder: Path
    forker: Forker
    environ: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    output: Path | None = None
    """Where runs leave what they print; None is beside the folder."""

    @property
    def warehouse(self) -> Path:
        """Return the warehouse."""
        return self.folder / "warehouse.duckdb"

    @property
    def finance(self) -> Path:
        """Return the copy for people."""
        return self.folder / "finance.duckdb"

    @property
    def state(self) -> Path:
        """Return the state store."""
        return self.folder / "state.sqlite"

    def configure(self, *texts: str) -> None:
        """Write the configuration."""
        (self.folder / "overrun.toml").write_text("\n".join((SMALL, *texts)), encoding="utf-8")

    def moved(self, folder: Path) -> House:
        """Return a copy of everything at another place."""
        shutil.copytree(self.folder, folder)
        return House(folder, self.forker, dict(self.environ))

    def run(self, *arguments: str, order: Mapping[str, object] | None = None) -> Ran:
        """Run one command line in this folder."""
        self.runs += 1
        environ = {"PATH": os.environ.get("PATH", ""), "TMPDIR": str(self.folder), **self.environ}
        output = (self.output or self.folder.with_name(f"{self.folder.name}-output")) / str(self.runs)
        command = [*arguments, "--config", str(self.folder / "overrun.toml")]
        plain = Order(arguments=command, environ=environ, output=str(output))
        return self.forker.run(replace(plain, **dict(order or {})))  # type: ignore[arg-type]

    def night(self, as_of: str, *more: str, code: int = 0) -> Ran:
        """Run a night, and see that it ends with `code`."""
        ran = self.run("nightly", "--as-of", as_of, *more)
        assert ran.code == code, ran.stderr
        return ran

    def killed(self, *arguments: str, at: int | str) -> Ran:
        """Run one command line and kill it at an edge, by its number or by the beginning of its text."""
        where = {"numbers": (at,)} if isinstance(at, int) else {"at": (at,)}
        ran = self.run(*arguments, order={"signal": int(signal.SIGKILL), **where})
        assert ran.code == -signal.SIGKILL, f"{at} was not reached: {ran.code} {ran.stderr}"
        return ran

    def stopped(self, *arguments: str, at: tuple[str, ...]) -> Ran:
        """Run one command line and stop it at edges; `forker.resume` lets it go on."""
        ran = self.run(*arguments, order={"signal": int(signal.SIGSTOP), "at": at})
        assert ran.code is None, f"{at} was not reached: {ran.code} {ran.stderr}"
        return ran

    def stops(self, *arguments: str, numbers: Sequence[int]) -> Iterator[tuple[int, Ran]]:
        """Run one command line to its end, and yield it stopped at each of these edges."""
        ran = self.run(*arguments, order={"signal": int(signal.SIGSTOP), "numbers": tuple(numbers)})
        for number in numbers:
            assert ran.code is None, f"edge {number} was not reached: {ran.code} {ran.stderr}"
            yield number, ran
            ran = self.forker.resume(ran)
        assert ran.code == 0, ran.stderr

    def keep(self, folder: Path) -> None:
        """Keep what a kill at this moment would leave; a file that runs replace as a whole is linked, not copied.

        A night knows delivered and published files by inode and time, so that copies of them would be news to it.
        """

        def link_or_copy(source: str, target: str) -> str:
            if self._is_replaced(Path(source)):
                os.link(source, target)
                return target
            return shutil.copy2(source, target)

        shutil.copytree(self.folder, folder, copy_function=link_or_copy)

    def put_back(self, folder: Path) -> None:
        """Put what was kept in the place of everything that is here."""
        shutil.rmtree(self.folder)
        folder.rename(self.folder)

    def digest(self) -> str:
        """Return a hash of all that is on the disk here: a run that finds the same one does the same."""
        found = hashlib.sha256()
        for path in sorted(self.folder.rglob("*")):
            known = path.stat()
            found.update(f"{path.relative_to(self.folder)}\0{known.st_mode}\0".encode())
            if self._is_replaced(path):
                found.update(f"{known.st_ino} {known.st_mtime_ns}".encode())
            elif path.is_file():
                found.update(path.read_bytes())
        return found.hexdigest()

    def _is_replaced(self, path: Path) -> bool:
        """Return whether a file is one that runs replace as a whole, and never write into."""
        name = str(path.relative_to(self.folder))
        is_published = path.parent == self.folder and path.suffix == ".duckdb" and path != self.warehouse
        return TEMPORARY_MARK not in name and (is_published or name.startswith(("exports/", "landing/")))

    def deliver_aws(self, month: str, *lines: ExportRow, version: str = "20261001T000000Z-e1") -> None:
        """Deliver a month of a CUR 2.0 export."""
        deliver_export(self.folder / "exports" / "aws", month, [lines], execution=version)
        self._age()

    def deliver_gcp(self, name: str, *rows: ExportRow) -> None:
        """Deliver a file of the detailed export."""
        write_gcp(self.folder / "exports" / "gcp" / name, rows)
        self._age()

    def _age(self) -> None:
        """Make every export as old as the others."""
        for path in (self.folder / "exports").rglob("*"):
            os.utime(path, (OLD, OLD))

    def told(self) -> dict[str, list[StateRow]]:
        """Return what the state store has of messages, clocks and counters of tries apart."""
        with StateStore.open_read_only(self.state) as state:
            return {
                "outbox": state.rows("select dedupe_key, route, channel, kind, payload, status from outbox order by 1"),
                "alert_state": state.rows("select fingerprint, state, as_of from alert_state order by 1"),
                "welcome": state.rows("select route, as_of from welcome order by 1"),
            }

    def statuses(self) -> list[tuple[str, str, str]]:
        """Return (kind, channel, status) of every message, oldest first."""
        with StateStore.open_read_only(self.state) as state:
            return [
                (str(kind), str(channel), str(status))
                for kind, channel, status in state.rows("select kind, channel, status from outbox order by id")
            ]

    def resent(self) -> set[str]:
        """Return the channels of messages that are marked as resent."""
        with StateStore.open_read_only(self.state) as state:
            return {str(row[0]) for row in state.rows("select channel from outbox where is_resent = 1")}

    def leftovers(self) -> list[str]:
        """Return what should not be there after a night: temporary files and folders, and logs of databases."""
        names = [path.relative_to(self.folder) for path in self.folder.rglob("*")]
        suspicious = (TEMPORARY_MARK, ".tmp", ".wal", "-wal", "-shm", "-journal")
        return sorted(str(name) for name in names if any(mark in name.name for mark in suspicious))


def house(folder: Path, forker: Forker, **environ: str) -> House:
    """Return a house with nothing in it but folders for exports."""
    for name in ("aws", "gcp"):
        (folder / "exports" / name).mkdir(parents=True)
    return House(folder, forker, environ)


def aws_lines(month: str, *costs: str, day: int = 3, **others: str) -> list[ExportRow]:
    """Return one hour of usage per cost on one day of a month; the first is tagged with a project."""
    hour = f"{month}-{day:02d}T"
    lines = [
        cur_line(
            cost=cost, month=month, start=f"{hour}{number:02d}:00:00Z", end=f"{hour}{number + 1:02d}:00:00Z",
            resource=f"i-{number}", **others,
        )
        for number, cost in enumerate(costs)
    ]  # fmt: skip
    return [line | {"resource_tags": '{"user_project":"detector"}' if line is lines[0] else "{}"} for line in lines]


def gcp_rows(month: str, *costs: str, day: int = 3) -> list[ExportRow]:
    """Return one hour of usage per cost on one day of a month."""
    return [
        gcp_row(
            cost=cost, month=month.replace("-", ""), start=f"{month}-{day:02d} {number:02d}:00:00 UTC",
            end=f"{month}-{day:02d} {number + 1:02d}:00:00 UTC",
        )
        for number, cost in enumerate(costs)
    ]  # fmt: skip


def tables(path: Path, *, is_ledger_wanted: bool = True) -> dict[str, Row]:
    """Return an order-free checksum per relation of a database, clocks and run ids apart, and its descriptions.

    The ledger and the fingerprints are among them; remembered checksums of files are not, since they hold inodes.
    """
    with Warehouse.open_published(path) as database:
        wanted = "'focus', 'core', 'marts', 'analysis', 'settings'" + (", 'ops'" if is_ledger_wanted else "")
        columns: dict[str, list[str]] = {}
        for schema, table, column in database.rows(
            "select schema_name, table_name, column_name from duckdb_columns()"
            f" where schema_name in ({wanted}) and table_name <> 'seen_file' order by all"
        ):
            names = columns.setdefault(f"{schema}.{quoted(str(table))}", [])
            names += [] if column in _CLOCKS else [quoted(str(column))]
        parts = [
            f"select '{table}', count(*), coalesce(sum(cast(hash({', '.join(names)}) as hugeint)), 0) from {table}"
            for table, names in columns.items()
        ]
        sums = {str(name): (rows, total) for name, rows, total in database.rows(" union all ".join(parts))}
        described = database.rows(
            "select count(*), sum(cast(hash(schema_name, table_name, column_name, data_type, comment) as hugeint))"
            f" from duckdb_columns() where schema_name in ({wanted}) and not starts_with(table_name, 'seen_file')"
        )
    return sums | {"descriptions": described[0]}


def differences(left: Mapping[str, object], right: Mapping[str, object]) -> Sequence[str]:
    """Return the names under which two mappings differ."""
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))


def query(path: Path, text: str) -> list[Row]:
    """Return the rows of a query on a database."""
    with Warehouse.open_published(path) as database:
        return database.rows(text)
