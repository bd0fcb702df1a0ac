"""What BigQuery refuses and what breaks on the way: tried again, explained, never half loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.errors import SourceDenied
from tests.fakes.bigquery import LIKE, Emulator
from tests.fakes.bigquery_faults import Cut, HttpFront, Refusal, StreamFront, http_front, stream_front
from tests.fakes.servers import free_port
from tests.ingest.bigquery_night import november, queries, source
from tests.ingest.night import Night


@pytest.fixture
def front(bigquery: Emulator) -> Iterator[HttpFront]:
    bigquery.make(like=LIKE)
    bigquery.add([november(cost=str(cost)) for cost in (1, 2, 3)])
    with http_front(bigquery.rest) as front:
        yield front


@pytest.fixture
def stream(bigquery: Emulator, front: HttpFront) -> Iterator[StreamFront]:
    assert front.url
    with stream_front(bigquery.grpc) as stream:
        yield stream


@pytest.mark.parametrize(
    ("status", "reason"), [(429, "rateLimitExceeded"), (503, "backendError"), (403, "rateLimitExceeded")]
)
@pytest.mark.parametrize("part", ["/tables/", "/jobs", "/queries/"])
def test_what_may_pass_is_asked_again(
    night: Night, bigquery: Emulator, front: HttpFront, part: str, status: int, reason: str
) -> None:
    front.refuse(part, Refusal(status, reason), times=2)
    night.load(source(bigquery, endpoint_url=front.url))
    assert night.billed() == 6


@pytest.mark.parametrize("status", [429, 503])
def test_patience_has_an_end(night: Night, bigquery: Emulator, front: HttpFront, status: int) -> None:
    front.refuse("/jobs", Refusal(status, "backendError"))

    error = night.refusal(source(bigquery, endpoint_url=front.url))

    assert "did not answer bigquery.jobs.create after 3 tries (backendError)" in str(error)
    assert len([path for _, path in front.asked if "/jobs" in path]) == 3


def test_nobody_who_listens_is_no_fault_of_googles(night: Night, bigquery: Emulator) -> None:
    error = night.refusal(source(bigquery, endpoint_url=f"http://127.0.0.1:{free_port()}"))

    assert "BigQuery cannot be reached (ConnectionError; 3 tries)" in str(error)
    assert "check the network" in str(error.hint)


@pytest.mark.parametrize(
    ("part", "missing", "role"),
    [
        ("/tables/", "bigquery.tables.get on dataset acme-billing.billing", "roles/bigquery.dataViewer"),
        ("/jobs", "bigquery.jobs.create on project acme-finops", "roles/bigquery.jobUser"),
    ],
)
def test_a_missing_role_is_named_and_not_asked_for_again(
    night: Night, bigquery: Emulator, front: HttpFront, part: str, missing: str, role: str
) -> None:
    front.refuse(part, Refusal(403, "accessDenied"))

    error = night.refusal(source(bigquery, endpoint_url=front.url, job_project="acme-finops"))

    assert isinstance(error, SourceDenied)
    assert missing in str(error)
    assert role in str(error.hint)
    assert len([path for _, path in front.asked if part in path]) == 1


def test_too_many_bytes_are_refused_with_the_key_to_raise(night: Night, bigquery: Emulator, front: HttpFront) -> None:
    front.refuse("/jobs", Refusal(400, "bytesBilledLimitExceeded"))
    assert "more bytes than `max_bytes_billed`" in str(night.refusal(source(bigquery, endpoint_url=front.url)))


def test_a_result_that_breaks_off_is_asked_for_again_as_a_whole(
    night: Night, bigquery: Emulator, front: HttpFront
) -> None:
    front.refuse("/queries/", Cut(), times=2, method="GET")
    night.load(source(bigquery, endpoint_url=front.url, storage_endpoint_url=None))
    assert night.values("BilledCost") == [1, 2, 3]


def test_a_stream_that_breaks_goes_on_where_it_broke(night: Night, bigquery: Emulator, stream: StreamFront) -> None:
    stream.breaks = [1, 1, 0]
    night.load(source(bigquery, storage_endpoint_url=stream.url))
    assert night.values("BilledCost") == [1, 2, 3]
    assert stream.offsets == [0, 1, 2, 2]


def test_a_stream_that_goes_on_breaking_leaves_the_last_good_version(
    night: Night, bigquery: Emulator, stream: StreamFront, tmp_path: Path
) -> None:
    night.load(source(bigquery, storage_endpoint_url=stream.url))
    bigquery.add([november(cost="10")])
    stream.breaks = [1, 0, 0, 0]

    error = night.refusal(source(bigquery, storage_endpoint_url=stream.url))

    assert "did not answer bigquery.tables.getData after 3 tries" in str(error)
    assert night.billed() == 6
    assert list(tmp_path.rglob(".fetch/*.parquet")) == []
    night.load(source(bigquery, storage_endpoint_url=stream.url))
    assert night.billed() == 16


def test_a_storage_api_that_is_refused_is_noted_and_queries_do(
    night: Night, bigquery: Emulator, stream: StreamFront
) -> None:
    stream.refused = "PERMISSION_DENIED"

    report = night.load(source(bigquery, storage_endpoint_url=stream.url))

    assert night.billed() == 6
    [note] = report.notes["gcp"]
    assert "the Storage Read API is refused" in note
    assert "bigquery.readsessions.create on project acme-billing is missing" in note
    assert queries(night) == [("SELECT", 2)]


def test_rows_that_come_while_a_month_is_fetched_are_fetched_with_it(
    night: Night, bigquery: Emulator, stream: StreamFront
) -> None:
    more = [november(cost="10")]

    def add() -> None:
        if more:
            bigquery.add([more.pop()])

    stream.before_session = add
    night.load(source(bigquery, storage_endpoint_url=stream.url))

    assert night.billed() == 16
    assert not night.load(source(bigquery, storage_endpoint_url=stream.url)).loaded


def test_a_table_that_never_rests_is_left_for_the_next_night(
    night: Night, bigquery: Emulator, stream: StreamFront
) -> None:
    stream.before_session = lambda: bigquery.add([november(cost="10")])
    error = night.refusal(source(bigquery, storage_endpoint_url=stream.url))
    assert "rows came or went each time" in str(error)
