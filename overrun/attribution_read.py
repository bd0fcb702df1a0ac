"""What the copy for people says of attribution: which setting decided, and what the configured rules look at.

Read by `overrun explain` and `overrun status`. What a user names stands in the SQL as a quoted literal, so that the
text that is shown is the one that ran, and runs again with `overrun query`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from overrun.config_values import DIMENSIONS, TAG_PREFIXES
from overrun.exits import CommandFailed, Exit
from overrun.published import has_relation
from overrun.shared_read import SharedPart, last_shared_month, shared_parts, shared_query
from sql.text import shortened
from sql.warehouse import Row, Warehouse, literal

_ROW = re.compile(r"(?P<load>[0-9a-f]{8,64})/(?P<row>-?\d{1,18})")
_WILDCARDS = re.compile(r"\\(?P<literal>.)|(?P<any>%)|(?P<one>_)", re.DOTALL)
_MASKED = {
    "provider": ("uses_provider", "ProviderName"),
    "billing_account_id": ("uses_payer", "BillingAccountId"),
    "region_id": ("uses_region", "RegionId"),
    "service_name": ("uses_service", "ServiceName"),
    "charge_category": ("uses_category", "ChargeCategory"),
    "resource_id": ("uses_resource", "ResourceId"),
}
VALUE_SHOWN = 80
_MONTHS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What one dimension of some charges is, and what decided it."""

    dimension: str
    name: str
    named_by: str
    """`rule N`, `tag KEY`, `account` and so on, or `unattributed`."""
    rule: str | None
    """The rule as the configuration has it, where one decided."""
    effective_cost: object
    billing_currency: str
    charge_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why the charges of a resource, a project or one row are whose they are."""

    kind: str
    name: str
    billing_month: date
    decisions: tuple[Decision, ...]
    sql: str
    """The query behind it, for `overrun query`."""
    shared: tuple[SharedPart, ...] = ()
    """Of a project: what splits give to it and take from it, which the decisions leave out."""
    shared_sql: str | None = None
    """The query behind that; None where splits move nothing."""


def require_attribution(warehouse: Warehouse) -> None:
    """Raise CommandFailed for a copy that a version before rules on every input wrote."""
    if not has_relation(warehouse, "core.inputs_used"):
        raise CommandFailed(
            "the copy is of an earlier version", code=Exit.USAGE, hint="run overrun build, then overrun publish"
        )


def explain(warehouse: Warehouse, thing: str, month: date | None) -> Explanation:
    """Return which setting decided each dimension of `thing`: a row LOAD/NUMBER, a resource, or else a project.

    Without `month`, the last month in which it has charges. Raises CommandFailed where there is no such thing.
    """
    require_attribution(warehouse)
    for kind, condition in _conditions(thing):
        chosen = month or _last_month(warehouse, kind, condition)
        if chosen is None and kind == "project":
            chosen = last_shared_month(warehouse, thing)
        if chosen is None:
            continue
        explanation = _explanation(warehouse, kind, thing, condition, chosen)
        if explanation.decisions or explanation.shared:
            return explanation
    raise CommandFailed(_absent(thing, month), code=Exit.USAGE, hint=_nearest_hint(warehouse, thing))


def _explanation(warehouse: Warehouse, kind: str, thing: str, condition: str, month: date) -> Explanation:
    sql = _query(kind, condition, month)
    rows = warehouse.rows(sql)
    rules = rule_texts(warehouse) if rows else {}
    shared = shared_parts(warehouse, thing, month) if kind == "project" else ()
    return Explanation(
        kind=kind,
        name=thing,
        billing_month=month,
        decisions=tuple(_decision(row, rules) for row in rows),
        sql=sql,
        shared=shared,
        shared_sql=shared_query(thing, month) if shared else None,
    )


def _absent(thing: str, month: date | None) -> str:
    when = f" in {month:%Y-%m}" if month else ""
    return f'no resource, project or row "{shortened(thing, VALUE_SHOWN)}" has charges{when}'


def _conditions(thing: str) -> list[tuple[str, str]]:
    """Return the kinds of thing that a text may name, and the condition on charges for each."""
    row = _ROW.fullmatch(thing)
    found = [] if row is None else [("row", f'"x_LoadId" = {literal(row["load"])} and "x_RowNumber" = {row["row"]}')]
    named = literal(thing)
    return [*found, ("resource", f"resource_id = {named}"), ("project", f"project = {named}")]


def _last_month(warehouse: Warehouse, kind: str, condition: str) -> date | None:
    relation, column = (
        ("focus.cost_and_usage", '"x_BillingMonth"') if kind == "row" else ("core.charge_cube", "billing_month")
    )
    found = warehouse.value(f"select max({column}) from {relation} where {condition}")
    return found if isinstance(found, date) else None


def _query(kind: str, condition: str, month: date) -> str:
    """Return the query that lists each dimension's names, what named them, and the money under each."""
    charged = _charge_query(condition, month) if kind == "row" else _cube_query(condition, month)
    unions = "\nunion all\n".join(
        f"select '{dimension}' as dimension, {dimension} as name, {dimension}_rule as named_by,\n"
        "    sum(effective_cost) as effective_cost, billing_currency, cast(sum(charge_rows) as bigint) as charge_rows\n"
        f"from charged group by {dimension}, {dimension}_rule, billing_currency"
        for dimension in DIMENSIONS
    )
    order = " ".join(f"when '{dimension}' then {place}" for place, dimension in enumerate(DIMENSIONS))
    return (
        f"with charged as (\n{charged}\n)\nselect * from (\n{unions}\n) as decided\n"
        f"order by case dimension {order} end, effective_cost desc, name, named_by, billing_currency"
    )


def _cube_query(condition: str, month: date) -> str:
    columns = ", ".join(f"attribution.{dimension}_rule" for dimension in DIMENSIONS)
    return (
        f"    select charges.*, {columns}\n    from core.charge_cube as charges\n"
        "    inner join core.attribution as attribution using (billing_month, combination_number)\n"
        f"    where charges.{condition} and charges.billing_month = date '{month}'"
    )


def _charge_query(condition: str, month: date) -> str:
    masks = "".join(
        f'\n        and attribution.{key} is not distinct from case when used.{flag} then charges."{column}" end'
        for key, (flag, column) in _MASKED.items()
    )
    return (
        '    select attribution.*, charges."BillingCurrency" as billing_currency,'
        ' charges."EffectiveCost" as effective_cost, 1 as charge_rows\n'
        "    from focus.cost_and_usage as charges\n"
        '    inner join core.inputs_used as used on charges."x_BillingMonth" = used.billing_month\n'
        "    inner join core.attribution as attribution\n"
        '        on charges."x_Source" = attribution.source and charges."x_BillingMonth" = attribution.billing_month\n'
        '        and charges."x_TagSetId" is not distinct from attribution.tag_set_id\n'
        f'        and charges."SubAccountId" is not distinct from attribution.sub_account_id{masks}\n'
        f"    where {condition} and charges.\"x_BillingMonth\" = date '{month}'"
    )


def _decision(row: Row, rules: dict[int, str]) -> Decision:
    dimension, name, named_by, cost, currency, charges = row
    number = str(named_by).removeprefix("rule ")
    return Decision(
        dimension=str(dimension),
        name=str(name),
        named_by=str(named_by),
        rule=rules.get(int(number)) if number.isdigit() and str(named_by).startswith("rule ") else None,
        effective_cost=cost,
        billing_currency=str(currency),
        charge_rows=int(str(charges)),
    )


def _nearest_hint(warehouse: Warehouse, thing: str) -> str:
    """Return in which months it has charges, or else what was probably meant."""
    named = literal(thing)
    months = warehouse.rows(
        "select distinct billing_month from core.charge_cube"
        f" where resource_id = {named} or project = {named} order by billing_month desc limit {_MONTHS_SHOWN}"
    )
    if months:
        return "it has charges in " + ", ".join(f"{month:%Y-%m}" for (month,) in reversed(months) if month)
    found = warehouse.row(
        "select name from (select distinct project as name from core.attribution union"
        " select distinct resource_id from core.charge_cube where resource_id is not null) as names"
        " where abs(length(name) - length($1)) <= 3 and length(name) <= 256"
        " and levenshtein(lower(name), lower($1)) <= greatest(2, length($1) // 3)"
        " order by levenshtein(lower(name), lower($1)), name limit 1",
        [thing],
    )
    if found is None or len(thing) > 256:
        return 'overrun query "select distinct project from core.attribution" lists the projects'
    return f'did you mean "{found[0]}"?'


def rule_texts(warehouse: Warehouse) -> dict[int, str]:
    """Return each configured rule as one line, by its number."""
    sets: dict[int, list[str]] = {}
    for number, dimension, value, key, case, after in warehouse.rows(
        "select rule_number, dimension, value, value_key, value_case, value_after from settings.attribution_rule"
        " order by rule_number, dimension"
    ):
        kind, name = _written_key(str(key))
        taken = "" if key is None else f"{{{kind}:{name}{f'|{case}' if case else ''}}}{after or ''}"
        sets.setdefault(int(str(number)), []).append(f'{dimension} = "{value}{taken}"')
    conditions: dict[int, dict[int, list[str]]] = {}
    subjects: dict[tuple[int, int], str] = {}
    for number, condition, subject, key, pattern in warehouse.rows(
        "select rule_number, condition_number, subject, tag_key, pattern from settings.attribution_condition"
        " order by rule_number, condition_number, pattern"
    ):
        place = (int(str(number)), int(str(condition)))
        kind, name = _written_key(str(key))
        subjects[place] = f'{kind} "{name}"' if subject == "tag" else str(subject)
        conditions.setdefault(place[0], {}).setdefault(place[1], []).append(glob_of(str(pattern)))
    return {
        number: f"{', '.join(texts)} where "
        + " and ".join(
            f"{subjects[number, condition]} is {_listed(globs)}"
            for condition, globs in conditions.get(number, {}).items()
        )
        for number, texts in sets.items()
    }


def _written_key(key: str) -> tuple[str, str]:
    """Return the kind of a tag key and its name, as the configuration has them."""
    for kind, prefix in TAG_PREFIXES.items():
        if prefix and key.startswith(prefix):
            return kind, key.removeprefix(prefix)
    return "tag", key


def _listed(globs: Sequence[str]) -> str:
    return " or ".join(f'"{shortened(glob, VALUE_SHOWN)}"' for glob in globs)


def glob_of(pattern: str) -> str:
    """Return the glob that a LIKE pattern, escaped with a backslash, was made from."""
    return _WILDCARDS.sub(lambda found: found["literal"] or ("*" if found["any"] else "?"), pattern)
