"""Any order and any repetition of deliveries gives the tables that their last state gives a fresh warehouse."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.source import SourceSettings
from sql.warehouse import Row, Warehouse
from tests.fakes.exports import (
    csv_text,
    cur_line,
    cur_lines,
    deliver_export,
    focus_charge,
    gcp_row,
    write_csv,
    write_gcp,
    write_text,
)
from tests.ingest.night import Night, source

MONTHS = ("2026-09", "2026-10")
PAYERS = {
    "aws": {"bill_payer_account_id": "111111111111", "line_item_currency_code": "USD"},
    "aws-cn": {"bill_payer_account_id": "999999999999", "line_item_currency_code": "CNY"},
}


@dataclass(frozen=True, slots=True)
class Step:
    """One change of what lies at a source, and whether a night follows it."""

    name: str
    month: str
    rows: int
    """0 is a file of headers alone."""
    version: int
    night: bool


steps = st.builds(
    Step,
    name=st.sampled_from(["aws", "aws-cn", "gcp", "focus"]),
    month=st.sampled_from(MONTHS),
    rows=st.integers(min_value=0, max_value=3),
    version=st.integers(min_value=1, max_value=3),
    night=st.booleans(),
)


def deliver(step: Step, place: Path) -> None:
    """Deliver a version of a month of a source; the same step gives the same content."""
    costs = [f"{step.version}.{number}" for number in range(1, step.rows + 1)]
    tags = {f"{step.name}-{step.version}": step.month}
    if step.name in PAYERS:
        payer = PAYERS[step.name]
        lines = [line | payer | {"resource_tags": tags} for line in cur_lines(*costs, month=step.month)]
        header = [*cur_line(), "resource_tags"]
        execution = f"2026100{step.version}T000000Z-e"
        deliver_export(place / step.name, step.month, [lines], execution=execution, header=header)
        return
    if step.name == "gcp":
        labels = [{"key": key, "value": value} for key, value in tags.items()]
        invoice = step.month.replace("-", "")
        start = f"{step.month}-02 00:00:00 UTC"
        write_gcp(
            place / "gcp" / f"{step.month}.ndjson",
            [gcp_row(cost=cost, month=invoice, start=start, labels=labels) for cost in costs or ["0"]],
        )
        return
    # A file for both months: what changes it touches the months of its rows.
    rows = [focus_charge(cost=cost, month=step.month, Tags=tags) for cost in costs]
    if rows:
        write_csv(place / "focus" / f"{step.month}.csv", [focus_charge(cost="7", month="2026-09"), *rows])
    else:
        write_text(place / "focus" / "header.csv", csv_text([*focus_charge(), "Tags"], []))


def sources(place: Path) -> list[SourceSettings]:
    """Return the four sources."""
    for name in ("aws", "aws-cn", "gcp", "focus"):
        (place / name).mkdir(parents=True, exist_ok=True)
    return [
        source(place / "aws", name="aws"),
        source(place / "aws-cn", name="aws-cn"),
        source(place / "gcp", "gcp-export", name="gcp"),
        source(place / "focus", "focus-export", name="focus"),
    ]


def afresh(delivering: list[SourceSettings], landing: Path) -> Row | None:
    """Return the tables of a fresh warehouse that loads what lies at the sources now."""
    with Warehouse.in_memory() as warehouse:
        night = Night(warehouse, landing)
        night.load(*delivering)
        return night.tables()


@settings(max_examples=5, deadline=None)
@given(history=st.lists(steps, min_size=1, max_size=5), again=st.booleans())
def test_a_history_of_deliveries_ends_like_its_last_state(history: list[Step], *, again: bool) -> None:
    with TemporaryDirectory() as folder, Warehouse.in_memory() as warehouse:
        place, night = Path(folder) / "delivered", Night(warehouse, Path(folder) / "landing")
        for step in history:
            deliver(step, place)
            if step.night:
                report = night.run(*sources(place), accept_shrink=True)
                assert report.problems == []
        for _ in range(1 + again):
            assert night.run(*sources(place), accept_shrink=True).problems == []

        assert night.tables() == afresh(sources(place), Path(folder) / "fresh")


@settings(max_examples=3, deadline=None)
@given(order=st.permutations([(month, version) for month in MONTHS for version in (1, 2)]))
def test_versions_that_arrive_late_do_not_undo_newer_ones(order: list[tuple[str, int]]) -> None:
    with TemporaryDirectory() as folder, Warehouse.in_memory() as warehouse:
        place, night = Path(folder) / "delivered", Night(warehouse, Path(folder) / "landing")
        for month, version in order:
            deliver(Step(name="aws", month=month, rows=2, version=version, night=True), place)
            night.load(source(place / "aws", name="aws"))

        # The partition's own manifest is overwritten by each delivery: the last one written is in force.
        last = {month: max(position for position, (other, _) in enumerate(order) if other == month) for month in MONTHS}
        versions = {month: order[position][1] for month, position in last.items()}
        expected = {f"aws-{version}" for version in versions.values()}
        assert {key for key, _ in night.tags()} == expected
        assert night.tables() == afresh([source(place / "aws", name="aws")], Path(folder) / "fresh")


def test_a_night_without_news_changes_nothing(tmp_path: Path) -> None:
    with Warehouse.in_memory() as warehouse:
        night = Night(warehouse, tmp_path / "landing")
        for name in ("aws", "gcp", "focus"):
            deliver(Step(name=name, month="2026-10", rows=2, version=1, night=True), tmp_path / "delivered")
        night.load(*sources(tmp_path / "delivered"))
        before = night.tables(), warehouse.rows("select * from ops.load order by all")

        report = night.load(*sources(tmp_path / "delivered"))

        assert report.loaded == []
        assert (night.tables(), warehouse.rows("select * from ops.load order by all")) == before
