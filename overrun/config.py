"""The configuration: one TOML file, read once, into one frozen `Config` that everything else is given.

Precedence is option, environment (`OVERRUN_WAREHOUSE_PATH` and so on, one variable per key of `[warehouse]` and
`[report]`), file, default. Relative paths are relative to the file, wherever they come from. All problems of a file
are raised together as `ConfigError`. Nothing but the file itself is read here: `check` works offline.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from overrun.config_places import find_places
from overrun.config_problems import ConfigError, Findings, Problem

if TYPE_CHECKING:
    from alerts.settings import AlertSettings
    from ingest.prices import PriceSettings
    from ingest.privacy import PrivacySettings
    from ingest.retention import KeepLanded
    from ingest.source import SourceSettings
    from ingest.usage.source import RunSource
    from overrun.config_values import Assigned
    from overrun.waste_checks import WasteCheck
    from sql.warehouse import WarehouseSettings

Dimension = Literal["project", "team"]
Basis = Literal["effective", "billed", "list"]
SplitMethod = Literal["cost", "even", "weights", "usage"]
RateRule = Literal["charge-day", "month-end", "month-average"]

_TOML_PLACE = re.compile(r" \(at line (?P<line>\d+), column (?P<column>\d+)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A further published copy that holds only the charges of `teams`."""

    path: Path
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of a rule: any of `globs` over the whole value of what it looks at."""

    subject: str
    """tag, account, account_name, provider, billing_account, service, region, resource or charge_category."""
    tag_key: str
    """Exact tag key, with accountTag/ or costCategory/ before those; empty where the subject is no tag."""
    globs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionRule:
    """What is set where all `conditions` hold, in billing months from `from_month` to before `until_month`."""

    sets: tuple[tuple[str, Assigned], ...]
    """Pairs of dimension and what it is set to."""
    conditions: tuple[Condition, ...]
    from_month: date | None = None
    until_month: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionSettings:
    """Who a charge belongs to: rules in order, then tag keys left to right, then accounts."""

    rules: tuple[AttributionRule, ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...]
    """Pairs of dimension and the tag keys that name it."""
    accounts: tuple[tuple[str, str], ...]
    """Pairs of (account, project)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team and the projects that it owns."""

    name: str
    projects: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """Who owns `projects` in billing months from `from_month` to before `until_month`; None says nothing."""

    projects: tuple[str, ...]
    team: str | None
    cost_centre: str | None
    gl_account: str | None
    from_month: date | None
    until_month: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Split:
    """Costs that are shared out, in billing months from `from_month` to before `until_month`."""

    name: str
    share: tuple[Condition, ...]
    """Which costs are shared."""
    method: SplitMethod
    of: tuple[Condition, ...]
    """Which costs of the recipients count; none means all that no split takes."""
    each: Dimension
    recipients: tuple[tuple[str, Decimal | None], ...]
    """Pairs of glob and weight; none means all with costs of their own."""
    usage_file: Path | None
    is_daily: bool
    from_month: date | None
    until_month: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Globs that one dimension of a budget's charges must match, any of them."""

    dimension: Dimension
    globs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """A threshold as written, and the amount that it stands for in the budget's currency."""

    text: str
    amount: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A limit on the cost of one period."""

    id: str
    measure: Literal["cost"]
    basis: Basis
    includes_credits: bool
    includes_tax: bool
    includes_refunds: bool
    includes_shared: bool
    limit_amount: Decimal
    currency: str
    period: Literal["month"]
    scopes: tuple[Scope, ...]
    """All must hold; none means that the budget covers everything."""
    thresholds: tuple[Threshold, ...]
    """In ascending order of amount."""
    team: str | None
    """Team that is told; None is the default route."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrencySettings:
    """The one currency that costs are converted to, and at which rates."""

    reporting_currency: str
    rates: Path | None
    """File of exchange rates; None where all is billed in the reporting currency."""
    rule: RateRule
    carry_days: int
    """Days after its own that a rate holds where none is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrepaidCapacity:
    """Capacity paid before it is used, and the time that it is reserved for [UTC, half-open]."""

    usage_type: str
    """Glob."""
    resource: str | None
    """Glob; None is any resource."""
    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Accelerator:
    """What a machine type has of accelerators."""

    instance_type: str
    accelerator: str
    count: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class WasteSettings:
    """How waste is looked for."""

    checks: tuple[WasteCheck, ...]
    from_hour: int
    """First working hour [UTC]."""
    until_hour: int
    """First hour after work [UTC]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """All that `overrun.toml`, the environment and the options say. Every path is absolute."""

    file: Path
    warehouse: WarehouseSettings
    publish: Path
    landing: Path
    keep_landed: KeepLanded
    state: Path
    lock: Path
    """Locked by the one run that may write, beside the warehouse."""
    site: Path
    publications: tuple[Publication, ...]
    sources: tuple[SourceSettings, ...]
    """Those of costs."""
    run_sources: tuple[RunSource, ...]
    attribution: AttributionSettings
    prices: PriceSettings
    privacy: PrivacySettings | None
    currency: CurrencySettings | None
    """None where costs are shown in the currency that they are billed in, and in no other."""
    prepaid_capacities: tuple[PrepaidCapacity, ...]
    accelerators: tuple[Accelerator, ...]
    teams: tuple[Team, ...]
    owners: tuple[Owner, ...]
    splits: tuple[Split, ...]
    """In the order in which costs go through them."""
    alerts: AlertSettings
    waste: WasteSettings
    budgets: tuple[Budget, ...]
    warnings: tuple[Problem, ...]
    """What works but is hardly meant."""


def load_config(path: Path, environ: Mapping[str, str], overrides: Mapping[str, object] | None = None) -> Config:
    """Read the configuration at `path`; raises ConfigError with every problem that it has.

    `overrides` are options of the command line by dotted key, such as {"warehouse.memory_limit": "4GB"}; a value of
    None leaves the key alone.
    """
    from overrun.config_build import build_config
    from overrun.config_checks import check_document
    from overrun.config_document import read_document
    from overrun.config_layers import apply_layers

    text = _read_text(path)
    raw = _parse(text, path)
    findings = Findings(file=str(path), places=find_places(text), origins={})
    apply_layers(raw, environ, overrides or {}, findings)
    document = read_document(raw, findings)
    folder = path.absolute().parent
    check_document(document, folder, findings)
    findings.raise_problems()
    return build_config(document, path.absolute(), findings.ordered_warnings())


def _read_text(path: Path) -> str:
    """Return the text of the file with plain line ends."""
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise _file_error(path, "there is no such file", "run overrun init, or name a file with --config") from error
    except OSError as error:
        raise _file_error(path, f"cannot be read ({error.strerror})", "name a readable file with --config") from error
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _file_error(path, "is not UTF-8 text", "save the file as UTF-8", line=line) from error


def _parse(text: str, path: Path) -> dict[str, Any]:
    """Return the values of a TOML text."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place["line"]) if place else text.count("\n") + (not text.endswith("\n"))
        reason = _TOML_PLACE.sub("", str(error)).replace(" (at end of document)", " at the end of the file")
        column = f", column {place['column']}" if place else ""
        message = f"broken TOML{column}: {reason[:1].lower()}{reason[1:]}"
        raise _file_error(path, message, "texts need quotes, lists need [ ]; see https://toml.io", line=line) from error


def _file_error(path: Path, message: str, hint: str, *, line: int | None = None) -> ConfigError:
    place = f"{path}:{line}" if line else str(path)
    return ConfigError([Problem(place=place, key="", message=message, hint=hint)])
