"""Months that people closed: figures, attribution, versions, who and when. Tables `closed_*` of the state store.

A closing is written in one transaction and never changed, except that a reopening is noted on it; a month that is
closed again is another closing. Each night mirrors what is closed to `settings.closed_*`, which models read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Literal

from overrun.exits import CommandFailed, Exit
from overrun.settings_splits import splits_version
from sql.state import instant_from, instant_text

if TYPE_CHECKING:
    from sql.state import StateStore
    from sql.warehouse import Warehouse

Row = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Amounts of one combination of dimensions in `billing_currency`; fields in the order of the tables."""

    source: str
    kind: Literal["actual", "shared", "accrual"]
    provider: str | None
    billing_account_id: str | None
    invoice_id: str | None
    sub_account_id: str | None
    tag_set_id: int | None
    service_name: str | None
    service_category: str | None
    charge_category: str | None
    project: str
    team: str
    cost_centre: str | None
    gl_account: str | None
    billing_currency: str
    billed_cost: Decimal
    effective_cost: Decimal
    cost_before_credits: Decimal
    list_cost: Decimal | None
    charge_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosedLoad:
    """What a source had delivered of the month."""

    source: str
    load_id: str
    version: str
    """Hash of the files, which a rebuild or a rename of the source does not change, as it may the load's id."""
    status: str
    complete_through: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """One closing of a month; `reopened_at` is None while it stands."""

    close_id: int
    month: date
    closed_at: datetime
    closed_by: str
    as_of: date
    is_estimate: bool
    splits_version: str
    """Hash of the splits that shared the month; empty where none was in force."""
    reopened_at: datetime | None
    reopened_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewClosing:
    """A month as it is about to be closed."""

    month: date
    closed_by: str
    as_of: date
    is_estimate: bool
    splits_version: str
    loads: Sequence[ClosedLoad]
    figures: Sequence[Figure]


_FIGURE_COLUMNS = ", ".join(field.name for field in fields(Figure))
_CLOSING_COLUMNS = (
    "close_id, billing_month, closed_at, closed_by, as_of, is_estimate, splits_version, reopened_at, reopened_by"
)
_CLOSED_TABLES = ("settings.closed_month", "settings.closed_load", "settings.closed_figure")


def closings(state: StateStore) -> list[Closing]:
    """Return every closing, reopened ones too, by month and time."""
    rows = state.rows(f"select {_CLOSING_COLUMNS} from closed_month order by billing_month, close_id")
    return [
        Closing(
            close_id=close_id,
            month=date.fromisoformat(month),
            closed_at=instant_from(closed_at),
            closed_by=closed_by,
            as_of=date.fromisoformat(as_of),
            is_estimate=bool(is_estimate),
            splits_version=splits_version,
            reopened_at=None if reopened_at is None else instant_from(reopened_at),
            reopened_by=reopened_by,
        )
        for close_id, month, closed_at, closed_by, as_of, is_estimate, splits_version, reopened_at, reopened_by in rows
    ]


def closing_of(state: StateStore, month: date) -> Closing | None:
    """Return the closing of a month that stands, or None."""
    return next((one for one in closings(state) if one.month == month and one.reopened_at is None), None)


def close_month(state: StateStore, closing: NewClosing, *, now: datetime) -> None:
    """Keep a closing, all of it or nothing; raises CommandFailed where the month is closed already."""
    with state.transaction():
        _refuse_closed(closing_of(state, closing.month))
        ((close_id,),) = state.rows(
            "insert into closed_month (billing_month, closed_at, closed_by, as_of, is_estimate, splits_version)"
            " values (?, ?, ?, ?, ?, ?) returning close_id",
            (
                closing.month.isoformat(),
                instant_text(now),
                closing.closed_by,
                closing.as_of.isoformat(),
                int(closing.is_estimate),
                closing.splits_version,
            ),
        )
        state.execute_many(
            "insert into closed_load (close_id, source, load_id, version, status, complete_through)"
            " values (?, ?, ?, ?, ?, ?)",
            [
                (close_id, load.source, load.load_id, load.version, load.status, _day_text(load.complete_through))
                for load in closing.loads
            ],
        )
        marks = ", ".join("?" for _ in fields(Figure))
        state.execute_many(
            f"insert into closed_figure (close_id, figure_number, {_FIGURE_COLUMNS}) values (?, ?, {marks})",
            ((close_id, number, *_as_texts(figure)) for number, figure in enumerate(closing.figures, start=1)),
        )


def _day_text(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _refuse_closed(closing: Closing | None) -> None:
    if closing is not None:
        raise CommandFailed(
            f"{closing.month:%Y-%m} is closed since {closing.closed_at:%Y-%m-%d %H:%M}Z, by {closing.closed_by}",
            code=Exit.USAGE,
            hint=f"overrun month reopen {closing.month:%Y-%m} first, if it is to be closed anew",
        )


def _as_texts(figure: Figure) -> list[str | int | None]:
    """Return the values of a figure as SQLite keeps them: amounts as text, ids of tag sets too, which may not fit."""
    values: list[str | int | None] = []
    for field in fields(Figure):
        value = getattr(figure, field.name)
        values.append(f"{value:f}" if isinstance(value, Decimal) else value)
    position = [field.name for field in fields(Figure)].index("tag_set_id")
    values[position] = None if figure.tag_set_id is None else str(figure.tag_set_id)
    return values


def reopen_month(state: StateStore, month: date, by: str, *, now: datetime) -> Closing:
    """Note that a month is closed no more and return its closing; raises CommandFailed where it is not closed."""
    with state.transaction():
        closing = closing_of(state, month)
        if closing is None:
            raise CommandFailed(
                f"{month:%Y-%m} is not closed", code=Exit.USAGE, hint="overrun month list shows what is closed"
            )
        state.execute(
            "update closed_month set reopened_at = ?, reopened_by = ? where close_id = ?",
            (instant_text(now), by, closing.close_id),
        )
    return closing


def figures_of(state: StateStore, close_id: int) -> list[Figure]:
    """Return the figures of a closing, in order."""
    rows = state.rows(
        f"select {_FIGURE_COLUMNS} from closed_figure where close_id = ? order by figure_number", (close_id,)
    )
    return [_figure(row) for row in rows]


def _figure(row: Row) -> Figure:
    named = dict(zip((field.name for field in fields(Figure)), row, strict=True))
    for name in ("billed_cost", "effective_cost", "cost_before_credits", "list_cost"):
        named[name] = None if named[name] is None else Decimal(str(named[name]))
    named["tag_set_id"] = None if named["tag_set_id"] is None else int(str(named["tag_set_id"]))
    return Figure(**named)  # type: ignore[arg-type]


def follow_renames(state: StateStore, renamed: Iterable[tuple[str, str]]) -> None:
    """Give what is kept of a source its new name; `renamed` are (old, new). Repeating it changes nothing."""
    for old, new in renamed:
        if not state.rows(
            "select 1 from closed_load where source = ? union all select 1 from invoice_check where source = ? limit 1",
            (old, old),
        ):
            continue
        with state.transaction():
            # Where a month has both names, the new one's version stands.
            state.execute("update or replace closed_load set source = ? where source = ?", (new, old))
            state.execute("update closed_figure set source = ? where source = ?", (new, old))
            state.execute("update invoice_check set source = ? where source = ?", (new, old))


def closed_rows(
    warehouse: Warehouse, state: StateStore, splits: Mapping[str, Sequence[Row]]
) -> Mapping[str, Sequence[Row]]:
    """Return the rows of `settings.closed_*` by table; nothing where the warehouse has them already.

    A closing never changes, so that its number, the names of its sources, and whether splits are still those of then
    are enough to know it by. `splits` are the tables of the splits of now.
    """
    standing = [closing for closing in closings(state) if closing.reopened_at is None]
    same = {one.close_id: one.splits_version == splits_version(splits, one.month) for one in standing}
    loads = {closing.close_id: loads_of(state, closing.close_id) for closing in standing}
    known = {(one.close_id, load.source, same[one.close_id]) for one in standing for load in loads[one.close_id]}
    mirrored = warehouse.rows(
        "select closed.close_id, load.source, closed.has_same_splits from settings.closed_month as closed"
        " inner join settings.closed_load as load using (billing_month)"
    )
    if set(mirrored) == known:
        return {}
    rows: dict[str, list[Row]] = {table: [] for table in _CLOSED_TABLES}
    for one in standing:
        closed_at = one.closed_at.astimezone(UTC).replace(tzinfo=None)
        rows["settings.closed_month"].append(
            (one.close_id, one.month, closed_at, one.as_of, one.is_estimate, same[one.close_id])
        )
        rows["settings.closed_load"] += [
            (one.month, load.source, load.load_id, load.version, load.status, load.complete_through)
            for load in loads[one.close_id]
        ]
        rows["settings.closed_figure"] += [
            (one.month, *_values(one_figure)) for one_figure in figures_of(state, one.close_id)
        ]
    return rows


def _values(figure: Figure) -> Row:
    return tuple(getattr(figure, field.name) for field in fields(Figure))


def loads_of(state: StateStore, close_id: int) -> list[ClosedLoad]:
    """Return what each source had delivered."""
    rows = state.rows(
        "select source, load_id, version, status, complete_through from closed_load where close_id = ? order by source",
        (close_id,),
    )
    return [
        ClosedLoad(
            source=source,
            load_id=load_id,
            version=version,
            status=status,
            complete_through=None if through is None else date.fromisoformat(through),
        )
        for source, load_id, version, status, through in rows
    ]
