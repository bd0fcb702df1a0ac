"""Proposes attribution rules for what is unattributed, by what already is: it proposes, people decide.

Three signs count, each only where nearly all of the attributed money behind it belongs to one project: the account's
other charges, other charges with the same tag, and other resources or accounts whose names begin alike. Read from the
copy for people; the result is valid TOML.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from overrun import config_values as values
from sql.text import shortened, visible
from sql.warehouse import Row, Warehouse

SHARE_NEEDED = Decimal("0.8")
"""Share of the attributed money that one project must have."""

_DOMINANT = """
, shares as (
    select thing, name, billing_currency, sum(effective_cost) as cost
    from known where name <> 'unattributed' group by all having sum(effective_cost) > 0
), dominant as (
    select thing, billing_currency, max_by(name, (cost, name)) as project,
        cast(max(cost) / sum(cost) as decimal(9, 6)) as share
    from shares group by all
), missing as (
    select thing, billing_currency, sum(effective_cost) as cost
    from known where name = 'unattributed' group by all having sum(effective_cost) > 0
)
select missing.thing, dominant.project, dominant.share, missing.cost, missing.billing_currency
from missing inner join dominant using (thing, billing_currency)
where dominant.share >= ? order by missing.cost desc, missing.thing, missing.billing_currency limit ?
"""
_COSTS = """
    select attribution.source, attribution.billing_month, attribution.project as name, attribution.sub_account_id,
        attribution.tag_set_id, costs.billing_currency, costs.effective_cost, costs.charge_rows
    from core.combination_cost as costs
    inner join core.attribution as attribution using (billing_month, combination_number)
    where billing_month = ?
"""
_BY_ACCOUNT = f"""
with known as (
    select sub_account_id as thing, name, billing_currency, effective_cost
    from ({_COSTS}) as costs where sub_account_id is not null
)"""
_BY_TAG = f"""
with known as (
    select {{'key': tags.tag_key, 'value': tags.tag_value}} as thing, name, billing_currency, effective_cost
    from ({_COSTS}) as costs inner join core.tag_set as tags using (source, billing_month, tag_set_id)
    where trim(tags.tag_value) <> '' and length(tags.tag_value) <= 256
        -- What a provider notes of the machine is nobody's sign.
        and not starts_with(tags.tag_key, 'goog-system/')
)"""
_BY_ACCOUNT_NAME = f"""
with known as (
    select regexp_extract(names.sub_account_name, '^[A-Za-z]{{3,}}[-_ ]') as thing, name,
        billing_currency, effective_cost
    from ({_COSTS}) as costs
    inner join (
        select source, billing_month, sub_account_id, max(sub_account_name) as sub_account_name
        from core.combination group by all
    ) as names using (source, billing_month, sub_account_id)
    where regexp_matches(names.sub_account_name, '^[A-Za-z]{{3,}}[-_ ]')
)"""
_BY_RESOURCE = """
with known as (
    select regexp_extract(resource_id, '^(?:.*[/:])?[A-Za-z]{3,}[-_]') as thing, project as name, billing_currency,
        effective_cost
    from core.charge_cube
    where billing_month = ? and regexp_matches(resource_id, '^(?:.*[/:])?[A-Za-z]{3,}[-_]')
        and not regexp_matches(resource_id, '(?:^|[/:])[a-z]+-[0-9a-f]{8,}$')
)"""
_LARGEST = f"""
select sub_account_id, sum(effective_cost) as cost, billing_currency, sum(charge_rows)::bigint
from ({_COSTS}) as costs where name = 'unattributed'
group by all order by cost desc, sub_account_id, billing_currency limit ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unattributed:
    """What an account has that no project pays for."""

    sub_account_id: str | None
    effective_cost: Decimal
    billing_currency: str
    charge_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A rule that would attribute `effective_cost`, and why."""

    sign: str
    """account, tag, account name or resource name."""
    project: str
    match: str
    """The value of `match`, as TOML."""
    effective_cost: Decimal
    billing_currency: str
    share: Decimal
    """What part of the attributed money with the same sign is the project's."""

    @property
    def toml(self) -> str:
        """Return the rule as it would stand in the configuration."""
        return f"[[attribution.rule]]\nproject = {quoted_toml(self.project)}\nmatch = {self.match}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """What is unattributed in a month, dearest first, and rules that would change that."""

    billing_month: date
    unattributed: tuple[Unattributed, ...]
    proposals: tuple[Proposal, ...]


def suggest(warehouse: Warehouse, month: date, limit: int) -> Suggestion:
    """Return the dearest unattributed accounts of a month, and proposals by the money that they would attribute."""
    found = [
        proposal
        for sign, query in (
            ("account", _BY_ACCOUNT),
            ("tag", _BY_TAG),
            ("account name", _BY_ACCOUNT_NAME),
            ("resource name", _BY_RESOURCE),
        )
        for row in warehouse.rows(query + _DOMINANT, [month, SHARE_NEEDED, limit])
        for proposal in _proposals(sign, row)
    ]
    found.sort(key=lambda proposal: (-proposal.effective_cost, proposal.sign, proposal.match))
    return Suggestion(
        billing_month=month,
        unattributed=tuple(
            Unattributed(
                sub_account_id=None if row[0] is None else str(row[0]),
                effective_cost=Decimal(str(row[1])),
                billing_currency=str(row[2]),
                charge_rows=int(str(row[3])),
            )
            for row in warehouse.rows(_LARGEST, [month, limit])
        ),
        proposals=tuple(_without_twins(found))[:limit],
    )


def _without_twins(found: Sequence[Proposal]) -> Iterator[Proposal]:
    """Yield the first proposal of those that would attribute the same money to the same project by tags."""
    seen = set()
    for proposal in found:
        key = (proposal.project, proposal.effective_cost, proposal.billing_currency)
        if proposal.sign != "tag" or key not in seen:
            yield proposal
        if proposal.sign == "tag":
            seen.add(key)


def _proposals(sign: str, row: Row) -> Iterator[Proposal]:
    """Yield the rule for one row, unless the configuration could not hold it."""
    thing, project, share, cost, currency = row
    try:
        match = _match(sign, thing)
        if values.parse_assigned(str(project)).key is not None:
            return
    except ValueError:
        return
    yield Proposal(
        sign=sign,
        project=str(project),
        match=match,
        effective_cost=Decimal(str(cost)),
        billing_currency=str(currency),
        share=Decimal(str(share)),
    )


def _match(sign: str, thing: object) -> str:
    """Return the condition as TOML; raises ValueError for what a glob cannot say exactly."""
    if isinstance(thing, dict):
        key, value = values.parse_tag_key(str(thing["key"])), _exact(str(thing["value"]))
        kind, name = _kind_of(key)
        return f"{{ {kind} = {{ {quoted_toml(name)} = {quoted_toml(value)} }} }}"
    text = _exact(str(thing).rstrip(" "))
    keys = {"account": "account", "account name": "account_name", "resource name": "resource"}
    return f"{{ {keys[sign]} = {quoted_toml(text if sign == 'account' else f'{text}*')} }}"


def _exact(text: str) -> str:
    if values.is_glob(text):
        raise ValueError("a value with * or ? would match more than itself")
    return values.parse_glob(text)


def _kind_of(key: str) -> tuple[str, str]:
    for prefix, kind in (("accountTag/", "account_tag"), ("costCategory/", "cost_category")):
        if key.startswith(prefix):
            return kind, key.removeprefix(prefix)
    return "tag", key


def quoted_toml(text: str) -> str:
    """Return a TOML string: JSON's escapes are among TOML's, but for DEL, which TOML wants escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def as_toml(suggestion: Suggestion) -> str:
    """Return the suggestion as TOML: the ranking as comments, each proposal as a rule with its reason above."""
    lines = [f"# Unattributed in {suggestion.billing_month:%Y-%m}, dearest accounts first (effective cost)"]
    lines += [
        f"# {one.effective_cost:.2f} {one.billing_currency}  {_shown(one.sub_account_id or 'no account')}"
        for one in suggestion.unattributed
    ] or ["# nothing"]
    lines += ["", "# Rules that would change that. Read them; those that hold go into overrun.toml."]
    for one in suggestion.proposals:
        reason = f"{one.share:.0%} of what is attributed with the same {one.sign} is {_shown(one.project)}"
        lines += ["", f"# {one.effective_cost:.2f} {one.billing_currency}: {reason}", one.toml.rstrip("\n")]
    if not suggestion.proposals:
        lines.append("# none: nothing that is attributed resembles it enough")
    return "\n".join(lines) + "\n"


def _shown(text: str) -> str:
    return shortened(visible(text), 80)
