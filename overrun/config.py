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
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from overrun.config_places import find_places
from overrun.config_problems import ConfigError, Findings, Problem

if TYPE_CHECKING:
    from alerts.settings import AlertSettings
    from ingest.prices import PriceSettings
    from ingest.retention import KeepLanded
    from ingest.source import SourceSettings
    from sql.warehouse import WarehouseSettings

Dimension = Literal["project", "team"]
Basis = Literal["effective", "billed", "list"]

_TOML_PLACE = re.compile(r" \(at line (?P<line>\d+), column (?P<column>\d+)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication:
    """A further published copy that holds only the charges of `teams`."""

    path: Path
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition of a rule: any of `globs` over the whole value of a tag or of the account."""

    subject: Literal["tag", "account"]
    tag_key: str
    """Exact tag key; empty where the subject is the account."""
    globs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionRule:
    """What is set (`project`, `team` or both) where all `conditions` hold."""

    project: str | None
    team: str | None
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributionSettings:
    """Who a charge belongs to: rules in order, then tag keys left to right, then accounts."""

    rules: tuple[AttributionRule, ...]
    project_tags: tuple[str, ...]
    team_tags: tuple[str, ...]
    accounts: tuple[tuple[str, str], ...]
    """Pairs of (account, project)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team and the projects that it owns."""

    name: str
    projects: tuple[str, ...]


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
class PrepaidCapacity:
    """Capacity paid before it is used, and the time that it is reserved for [UTC, half-open]."""

    usage_type: str
    """Glob."""
    resource: str | None
    """Glob; None is any resource."""
    starts_at: datetime
    ends_at: datetime


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
    attribution: AttributionSettings
    prices: PriceSettings
    prepaid_capacities: tuple[PrepaidCapacity, ...]
    teams: tuple[Team, ...]
    alerts: AlertSettings
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
