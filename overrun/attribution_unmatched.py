"""Attribution rules that have matched nothing in any loaded month, and the value that was probably meant.

Read from the copy for people by `overrun status`: only what is loaded can say that a glob matches nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from overrun.attribution_read import VALUE_SHOWN, glob_of, rule_texts
from overrun.published import has_relation
from sql.text import shortened
from sql.warehouse import Warehouse

_COLUMNS = {
    "account": "sub_account_id",
    "account_name": "sub_account_name",
    "provider": "provider",
    "billing_account": "billing_account_id",
    "region": "region_id",
    "service": "service_name",
    "charge_category": "charge_category",
    "resource": "resource_id",
}
"""Column of `core.combination` that each subject looks at, tags apart."""
_UNMATCHED = """
with loaded as (select min(billing_month) as first, max(billing_month) as last from core.attribution)
select distinct rules.rule_number
from settings.attribution_rule as rules cross join loaded
where rules.rule_number not in (select rule_number from core.rules_held)
    and (
        rules.rule_number in (
            select rule_number from settings.attribution_condition where subject in ('tag', 'resource')
        )
        or rules.rule_number not in (select rule_number from core.places_matched)
    )
    and loaded.last >= coalesce(rules.from_month, loaded.last)
    and (rules.until_month is null or loaded.first < rules.until_month)
order by rules.rule_number
"""
_UNMET = """
select subject, tag_key, list(pattern order by pattern)
from settings.attribution_condition as conditions
where rule_number = ? and not exists (
    select 1 from core.condition_met as met
    where met.rule_number = conditions.rule_number and met.condition_number = conditions.condition_number
)
group by condition_number, subject, tag_key
order by condition_number
limit 1
"""
_CLOSEST = """
select value from (select distinct {column} as value from {relation}) as found
where value is not null and length(value) between 1 and 256
order by levenshtein(lower(value), lower(?)), value limit 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedRule:
    """A rule that matches nothing that is loaded; `nearest` is what its condition was probably meant to find."""

    rule_number: int
    rule: str
    condition: str | None
    """The condition that no value meets; None where each is met, but never all at once."""
    nearest: str | None


def unmatched_rules(warehouse: Warehouse) -> tuple[UnmatchedRule, ...]:
    """Return the rules in force in some loaded month that match nothing there; none before a build."""
    if not has_relation(warehouse, "core.rules_held"):
        return ()
    numbers = [int(str(row[0])) for row in warehouse.rows(_UNMATCHED)]
    texts = rule_texts(warehouse) if numbers else {}
    return tuple(_unmatched(warehouse, number, texts[number]) for number in numbers)


def _unmatched(warehouse: Warehouse, number: int, text: str) -> UnmatchedRule:
    found = warehouse.row(_UNMET, [number])
    if found is None:
        return UnmatchedRule(rule_number=number, rule=text, condition=None, nearest=None)
    subject, key, patterns = str(found[0]), str(found[1]), found[2]
    glob = glob_of(str(patterns[0])) if isinstance(patterns, list) else ""
    shown = f'tag "{shortened(key, VALUE_SHOWN)}"' if subject == "tag" else subject
    return UnmatchedRule(
        rule_number=number,
        rule=text,
        condition=f'{shown} is "{shortened(glob, VALUE_SHOWN)}"',
        nearest=_nearest(warehouse, subject, key, glob),
    )


def _nearest(warehouse: Warehouse, subject: str, key: str, glob: str) -> str | None:
    """Return the value nearest to a glob, or where nothing has its tag key, the nearest key."""
    if subject != "tag":
        query = _CLOSEST.format(column=_COLUMNS[subject], relation="core.combination")
        return _text(warehouse.value(query, [glob]))
    tagged = _CLOSEST.format(column="tag_value", relation="core.tags_consulted where tag_key = ?")
    value = _text(warehouse.value(tagged, [key, glob]))
    if value is not None:
        return value
    return _text(warehouse.value(_CLOSEST.format(column="tag_key", relation="core.tag_set"), [key]))


def _text(value: object) -> str | None:
    return None if value is None else str(value)
