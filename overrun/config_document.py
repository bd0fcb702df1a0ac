"""Reads the raw values of a file into tables, one by one, so that one bad table does not hide the others' problems."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from overrun import config_schema as schema
from overrun.config_places import KeyPath
from overrun.config_problems import Findings, known_keys, nearest, note_errors

T = TypeVar("T", bound=schema.Table)


@dataclass(frozen=True, slots=True)
class Placed(Generic[T]):
    """A table and where in the file it stands."""

    path: KeyPath
    table: T


@dataclass(frozen=True, slots=True, kw_only=True)
class RawNames:
    """Names as the file gives them, those of tables with problems too, so that references to them are no problem."""

    channels: frozenset[str]
    sources: frozenset[str]
    teams: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadDocument:
    """The tables that are well formed; those that are not stand in the findings."""

    warehouse: schema.WarehouseTable
    report: schema.ReportTable
    attribution: schema.AttributionTable
    prices: schema.PricesTable
    privacy: schema.PrivacyTable
    currency: schema.CurrencyTable
    waste: schema.WasteTable
    publications: list[Placed[schema.PublishTable]]
    sources: list[Placed[schema.SourceTable]]
    prepaid_capacities: list[Placed[schema.PrepaidCapacityTable]]
    accelerators: list[Placed[schema.AcceleratorTable]]
    commitment_discounts: list[Placed[schema.CommitmentDiscountTable]]
    teams: list[Placed[schema.TeamTable]]
    owners: list[Placed[schema.OwnerTable]]
    splits: list[Placed[schema.SplitTable]]
    channels: list[Placed[schema.SlackWebhookTable | schema.EmailTable]]
    routes: list[Placed[schema.RouteTable]]
    budgets: list[Placed[schema.BudgetTable]]
    names: RawNames


def read_document(raw: dict[str, Any], findings: Findings) -> ReadDocument:
    """Read every table of `raw`; what is malformed goes to `findings` and is left out."""
    _refuse_unknown_tables(raw, findings)
    return ReadDocument(
        warehouse=_read_single(raw, "warehouse", schema.WarehouseTable, findings),
        report=_read_single(raw, "report", schema.ReportTable, findings),
        attribution=_read_single(raw, "attribution", schema.AttributionTable, findings),
        prices=_read_single(raw, "prices", schema.PricesTable, findings),
        privacy=_read_single(raw, "privacy", schema.PrivacyTable, findings),
        currency=_read_single(raw, "currency", schema.CurrencyTable, findings),
        waste=_read_single(raw, "waste", schema.WasteTable, findings),
        publications=_read_list(raw, "publish", schema.PublishTable, findings),
        sources=_read_list(raw, "source", schema.SourceTable, findings),
        prepaid_capacities=_read_list(raw, "prepaid_capacity", schema.PrepaidCapacityTable, findings),
        accelerators=_read_list(raw, "accelerator", schema.AcceleratorTable, findings),
        commitment_discounts=_read_list(raw, "commitment_discount", schema.CommitmentDiscountTable, findings),
        teams=_read_list(raw, "team", schema.TeamTable, findings),
        owners=_read_list(raw, "owner", schema.OwnerTable, findings),
        splits=_read_list(raw, "split", schema.SplitTable, findings),
        channels=_read_list(raw, "channel", schema.ChannelTable, findings),
        routes=_read_list(raw, "route", schema.RouteTable, findings),
        budgets=_read_list(raw, "budget", schema.BudgetTable, findings),
        names=RawNames(
            channels=_names(raw, "channel", "id"),
            sources=_names(raw, "source", "name"),
            teams=_names(raw, "team", "name"),
        ),
    )


def _refuse_unknown_tables(raw: dict[str, Any], findings: Findings) -> None:
    known = known_keys(schema.Document)
    for key in raw:
        if key not in known:
            findings.refuse((key,), "unknown key", _home_of(key, known))


def _home_of(key: str, known: list[str]) -> str:
    """Return a hint: the nearest table, or the table that such a key belongs to."""
    homes = [f"[{table}]" for table in ("warehouse", "report") if key in known_keys(schema.Document, (table,))]
    if homes:
        return f"it belongs in {' or '.join(homes)}"
    near = nearest(key, known)
    return f"did you mean {_header(near)}?" if near else f"known tables: {', '.join(map(_header, known))}"


def _header(table: str) -> str:
    return f"[{table}]" if table in _SINGLE else f"[[{table}]]"


_SINGLE = frozenset({"warehouse", "report", "attribution", "prices", "privacy", "currency", "waste"})
"""Tables that a file has once."""


def _read_single(raw: dict[str, Any], name: str, model: type[T], findings: Findings) -> T:
    """Read `[name]`; its defaults stand in where it has problems."""
    value = raw.get(name, {})
    if not isinstance(value, dict):
        findings.refuse((name,), f"must be one table, written [{name}]")
        return model()
    return _validated(value, model, (name,), findings) or model()


def _read_list(raw: dict[str, Any], name: str, model: Any, findings: Findings) -> list[Placed[Any]]:  # noqa: ANN401
    """Read every `[[name]]`; `model` is a table or a union of tables."""
    values = raw.get(name, [])
    if not isinstance(values, list):
        findings.refuse((name,), f"must be a list of tables, each written [[{name}]]")
        return []
    tables = [((name, index), _validated(value, model, (name, index), findings)) for index, value in enumerate(values)]
    return [Placed(path, table) for path, table in tables if table is not None]


def _validated(value: object, model: Any, path: KeyPath, findings: Findings) -> Any:  # noqa: ANN401
    """Return the table, or None after noting its problems."""
    try:
        return _adapter(model).validate_python(value)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        note_errors(findings, errors, model=_branch(model, value), path=path, raw=value)
        return None


@lru_cache
def _adapter(model: Any) -> TypeAdapter[Any]:  # noqa: ANN401
    return TypeAdapter(model)


def _branch(model: Any, value: object) -> Any:  # noqa: ANN401
    """Return the channel table that `value` chose by its kind, so that hints name that kind's keys."""
    if model is not schema.ChannelTable or not isinstance(value, dict):
        return model
    return {"slack-webhook": schema.SlackWebhookTable, "email": schema.EmailTable}.get(str(value.get("kind")), model)


def _names(raw: dict[str, Any], table: str, key: str) -> frozenset[str]:
    values = raw.get(table, [])
    rows = [value for value in values if isinstance(value, dict)] if isinstance(values, list) else []
    return frozenset(row[key] for row in rows if isinstance(row.get(key), str))
