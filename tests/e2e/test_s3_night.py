"""Nights on exports in S3: killed anywhere and run again, and months loaded again by name."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.aws import KEYS, Asked, Aws, First, moto_server, proxy
from tests.fakes.crash import Edge, Forker
from tests.fakes.exports import cur_line, deliver_export
from tests.fakes.nights import House, aws_lines, differences, house, query, tables

pytestmark = pytest.mark.e2e

AS_OF = "2026-11-20"
IN_S3 = """\
[[source]]
name = "aws"
kind = "aws-export"
location = "s3://{bucket}/exp"
endpoint_url = "{endpoint}"
"""


@pytest.fixture(scope="module")
def aws() -> Iterator[Aws]:
    """Return an AWS with one bucket, which the tests of this module share."""
    with moto_server() as port, proxy(port) as aws, pytest.MonkeyPatch.context() as patch:
        for name, value in KEYS.items():
            patch.setenv(name, value)
        yield aws


@pytest.fixture
def home(tmp_path: Path, forker: Forker, aws: Aws) -> House:
    """Return a house whose source is an empty bucket."""
    aws.forget()
    bucket = f"acme-{tmp_path.name.replace('_', '-')}"[:60].strip("-")
    aws.bucket(bucket)
    place = house(tmp_path / "house", forker, **KEYS, AWS_EC2_METADATA_DISABLED="true", HOME=str(tmp_path))
    place.configure(IN_S3.format(bucket=bucket, endpoint=aws.endpoint))
    return place


def bucket_of(home: House) -> str:
    """Return the bucket of a house."""
    return (home.folder / "overrun.toml").read_text(encoding="utf-8").partition("s3://")[2].partition("/")[0]


def deliver(home: House, aws: Aws, month: str, *chunks: list[dict[str, object]], suffix: str = ".csv.gz") -> None:
    """Deliver a month to the bucket."""
    folder = home.folder / "exports" / "aws"
    shutil.rmtree(folder)
    deliver_export(folder, month, chunks, execution=None, suffix=suffix)
    aws.upload(folder, bucket_of(home))


def is_data(asked: Asked) -> bool:
    return asked.kind == "GET" and "/data/" in asked.path


def test_a_killed_fetch_goes_on_where_it_stopped(home: House, aws: Aws) -> None:
    # About 20 MB, so three ranges, and thirty small files.
    wide = [cur_line(cost="1", resource=f"i-{number}", product_comment="x" * 1900) for number in range(10_000)]
    deliver(home, aws, "2026-10", wide, *([cur_line(cost="1")] for _ in range(30)), suffix=".csv")
    total = 33
    running: list[subprocess.Popen[bytes]] = []
    count = [0]

    def kill() -> None:
        running[0].kill()

    def twentieth(asked: Asked) -> First | None:
        count[0] += is_data(asked)
        return First(kill) if is_data(asked) and count[0] == 20 else None

    aws.rules.append(twentieth)
    command = [sys.executable, "-m", "overrun", "ingest", "--config", str(home.folder / "overrun.toml")]
    running.append(subprocess.Popen(command, env={**os.environ, **home.environ}, stderr=subprocess.DEVNULL))
    assert running[0].wait() == -signal.SIGKILL
    [notes] = home.folder.rglob(".fetch/ranges")
    came = notes.read_text(encoding="utf-8").count("\n")
    assert 0 < came < 20
    aws.forget()

    ran = home.run("ingest", "--as-of", AS_OF)

    assert ran.code == 0, ran.stderr
    assert sum(map(is_data, aws.asked)) == total - came
    assert query(home.warehouse, 'select sum("BilledCost") from focus.cost_and_usage') == [(10_030,)]
    assert not list(home.folder.rglob(".fetch"))
    assert home.leftovers() == []


def test_a_run_killed_at_any_step_of_a_fetch_ends_as_if_it_had_not_been(home: House, aws: Aws, tmp_path: Path) -> None:
    deliver(home, aws, "2026-10", aws_lines("2026-10", "1", "2"), aws_lines("2026-10", "4"))
    assert home.run("ingest").code == 0
    deliver(home, aws, "2026-10", aws_lines("2026-10", "1", "2"), aws_lines("2026-10", "8"))
    undisturbed = home.moved(tmp_path / "undisturbed")
    aws.forget()
    ran = undisturbed.run("ingest")
    assert sum(map(is_data, aws.asked)) == 1
    expected = tables(undisturbed.warehouse)

    for number in steps_of_fetching(ran.edges):
        again = home.moved(tmp_path / f"killed-{number}")
        aws.forget()
        again.killed("ingest", at=number)
        assert again.run("ingest").code == 0
        assert sum(map(is_data, aws.asked)) == 1, f"fetched twice after {ran.edges[number]}"
        assert differences(tables(again.warehouse), expected) == [], str(ran.edges[number])
        assert not list(again.folder.rglob(".fetch")), str(ran.edges[number])
        assert again.leftovers() == [], str(ran.edges[number])


def test_months_that_were_loaded_before_a_kill_are_not_fetched_again(home: House, aws: Aws, tmp_path: Path) -> None:
    for month in ("2026-09", "2026-10"):
        deliver(home, aws, month, aws_lines(month, "1", "2"))
    ran = home.moved(tmp_path / "undisturbed").run("ingest")
    _, second = (number for number, edge in enumerate(ran.edges) if str(edge) == "before file mkdir .fetch")
    aws.forget()

    home.killed("ingest", at=second)
    assert home.run("ingest").code == 0

    assert sum(map(is_data, aws.asked)) == 2


def steps_of_fetching(edges: list[Edge]) -> list[int]:
    """Return edges from the first step under landing to the swap of the part, one of each kind."""
    last = next(number for number, edge in enumerate(edges) if edge.detail.startswith("create table parts"))
    seen: dict[tuple[str, str], int] = {}
    for number, edge in enumerate(edges[:last]):
        if edge.kind == "file" and not edge.detail.startswith(("mkdir house", "fsync house")):
            seen.setdefault((edge.side, edge.family), number)
        if edge.side == "after" and "ops.seen_file" in edge.detail:
            seen.setdefault((edge.side, edge.family), number)
    return sorted(seen.values())


def test_months_are_loaded_again_from_landing_or_fetched_again(home: House, aws: Aws) -> None:
    for month in ("2026-08", "2026-09", "2026-10"):
        deliver(home, aws, month, aws_lines(month, "1", "2"))
    home.night(AS_OF)
    [landed] = (home.folder / "landing" / "aws" / "2026-09").glob("*/delivery.json")
    shutil.rmtree(landed.parent)
    manifest = "exp/ml-cur2/metadata/BILLING_PERIOD=2026-10/ml-cur2-Manifest.json"
    aws.client().delete_object(Bucket=bucket_of(home), Key=manifest)
    aws.forget()
    before = query(home.warehouse, "select source, billing_month, version, loaded_at from ops.load order by all")

    ran = home.run("ingest", "--as-of", AS_OF, "--backfill", "2026-09..2026-10", "--json")

    assert ran.code == 0, ran.stderr
    assert '"loaded"' in ran.stdout
    fetched = [asked.key for asked in aws.asked if is_data(asked)]
    assert fetched == ["exp/ml-cur2/data/BILLING_PERIOD=2026-09/ml-cur2-00001.csv.gz"]
    after = query(home.warehouse, "select source, billing_month, version, loaded_at from ops.load order by all")
    assert [row[:3] for row in after] == [row[:3] for row in before]
    assert [new[3] == old[3] for new, old in zip(after, before, strict=True)] == [True, False, False]


def test_a_night_takes_months_too(home: House, aws: Aws) -> None:
    deliver(home, aws, "2026-10", aws_lines("2026-10", "1"))
    home.night(AS_OF)
    aws.forget()

    ran = home.night(AS_OF, "--backfill", "2026-10", "--json")

    assert '"2026-10"' in ran.stdout
    assert {asked.kind for asked in aws.asked} == {"LIST"}


@pytest.mark.parametrize("is_in_s3", [True, False])
def test_only_nights_on_s3_import_the_library(home: House, repository: Path, is_in_s3: bool) -> None:
    if not is_in_s3:
        home.configure('[[source]]\nname = "a"\nkind = "aws-export"\nlocation = "exports"\n')
    code = (
        "import sys; from overrun.cli import main; code = main(sys.argv[1:]);"
        " sys.exit(10 + ('boto3' in sys.modules) if code == 0 else 1)"
    )
    command = [sys.executable, "-c", code, "nightly", "--config", str(home.folder / "overrun.toml")]
    environ = {**os.environ, **home.environ}
    ran = subprocess.run(command, cwd=repository, env=environ, capture_output=True, check=False)
    assert ran.returncode == 10 + is_in_s3, ran.stderr
