"""What attribution rules and owners say against each other: contradictions, rules that never decide, shared projects.

A contradiction is a warning, since the first rule wins and no money is lost; two owners of a project in one month are
an error, since its charges would belong to either.
"""

from __future__ import annotations

from datetime import date

from overrun import config_schema as schema
from overrun import config_values as values
from overrun.config import AttributionRule
from overrun.config_build import conditions_of, rule_of
from overrun.config_document import Placed, ReadDocument
from overrun.config_places import KeyPath
from overrun.config_problems import Findings, shown_value

_FIRST, _LAST = date.min, date.max
_LIKE_A_PATTERN = (".*", "^", "$", "|", "[", "\\d", "\\w", "(?")
"""What stands in regular expressions, and hardly in the name of anything."""


def check_attribution(document: ReadDocument, findings: Findings) -> None:
    """Refuse owners that contradict each other; warn of rules that cannot do what they say."""
    _check_months(document, findings)
    _check_owners(document, findings)
    _warn_of_patterns(document, findings)
    _warn_of_contradictions(document, findings)


def _rule_path(index: int) -> KeyPath:
    return ("attribution", "rule", index)


def _check_months(document: ReadDocument, findings: Findings) -> None:
    """Refuse months that end before they begin."""
    tables: list[tuple[KeyPath, schema.RuleTable | schema.OwnerTable]] = [
        *((_rule_path(index), rule) for index, rule in enumerate(document.attribution.rule)),
        *((placed.path, placed.table) for placed in document.owners),
    ]
    for path, table in tables:
        start, end = _months(table)
        if not start < end:
            findings.refuse((*path, "until"), "must be later than from, since it is the first month left out")


def _months(table: schema.RuleTable | schema.OwnerTable) -> tuple[date, date]:
    """Return the months of a table, half-open."""
    start = values.parse_month(table.from_) if table.from_ else _FIRST
    return start, values.parse_month(table.until) if table.until else _LAST


def _check_owners(document: ReadDocument, findings: Findings) -> None:
    """Refuse a project with two owners in one month, or with another team than the one that lists it."""
    listed = {project: placed.table.name for placed in document.teams for project in placed.table.projects}
    seen: dict[str, list[Placed[schema.OwnerTable]]] = {}
    for placed in document.owners:
        for index, project in enumerate(placed.table.projects):
            path = (*placed.path, "projects", index)
            if any(_overlap(placed.table, earlier.table) for earlier in seen.setdefault(project, [])):
                message = f"project {shown_value(project)} has an owner in these months already"
                findings.refuse(path, message, "a project has one owner in a month; part them by from and until")
            seen[project].append(placed)
            team = listed.get(project, placed.table.team)
            is_always = placed.table.from_ is None and placed.table.until is None
            if is_always and placed.table.team is not None and team != placed.table.team:
                message = f"project {shown_value(project)} belongs to team {shown_value(team)} already"
                findings.refuse(path, message, "take it out of that [[team]], or give this owner from or until")


def _overlap(one: schema.OwnerTable, other: schema.OwnerTable) -> bool:
    (start, end), (other_start, other_end) = _months(one), _months(other)
    return start < other_end and other_start < end


def _warn_of_patterns(document: ReadDocument, findings: Findings) -> None:
    """Warn of globs that look like regular expressions, which they are not."""
    for index, rule in enumerate(document.attribution.rule):
        for condition in conditions_of(rule.match):
            for glob in condition.globs:
                if any(sign in glob for sign in _LIKE_A_PATTERN):
                    message = f"{shown_value(glob)} looks like a regular expression, but only * and ? are special"
                    findings.warn((*_rule_path(index), "match"), message, "write globs, several as a list")


def _warn_of_contradictions(document: ReadDocument, findings: Findings) -> None:
    """Warn of a rule that an earlier one leaves nothing to decide."""
    rules = [rule_of(table) for table in document.attribution.rule]
    for index, rule in enumerate(rules):
        for dimension, assigned in rule.sets:
            first = next(
                (
                    number
                    for number, earlier in enumerate(rules[:index])
                    if _decides(earlier, dimension) and _covers(earlier, rule)
                ),
                None,
            )
            if first is None:
                continue
            other = dict(rules[first].sets)[dimension]
            verb = "repeats" if other == assigned else "contradicts"
            message = f"{verb} rule {first + 1}, which comes first and takes all that this one matches"
            hint = f"change the order, or remove one: rule {first + 1} sets {dimension} to {shown_value(other.before)}"
            findings.warn((*_rule_path(index), dimension), message, hint)


def _decides(rule: AttributionRule, dimension: str) -> bool:
    """Return whether a rule sets a dimension wherever it matches: one that takes it from a tag may find none."""
    return any(name == dimension and assigned.key is None for name, assigned in rule.sets)


def _covers(earlier: AttributionRule, later: AttributionRule) -> bool:
    """Return whether the earlier rule surely matches all that the later one does."""
    is_earlier = (earlier.from_month or _FIRST) <= (later.from_month or _FIRST)
    if not is_earlier or (later.until_month or _LAST) > (earlier.until_month or _LAST):
        return False
    given = {(condition.subject, condition.tag_key): condition.globs for condition in later.conditions}
    return all(
        _is_within(given.get((condition.subject, condition.tag_key)), condition.globs)
        for condition in earlier.conditions
    )


def _is_within(globs: tuple[str, ...] | None, outer: tuple[str, ...]) -> bool:
    """Return whether each of `globs` surely matches nothing that `outer` does not; None is no condition at all."""
    return globs is not None and all(any(_contains(glob, other) for glob in outer) for other in globs)


def _contains(glob: str, other: str) -> bool:
    """Return whether `glob` matches all that the glob `other` matches.

    It does where it matches the text of `other` with a `*` of it taken by a `*` alone. After a `*` the first place
    that fits is as good as any later one, so that many stars take no longer than length times length.
    """
    place = at = 0
    star, star_at = -1, 0
    while at < len(other):
        wanted = glob[place] if place < len(glob) else ""
        if wanted == "*":
            star, star_at, place = place, at, place + 1
        elif wanted and (wanted == other[at] or (wanted == "?" and other[at] != "*")):
            place, at = place + 1, at + 1
        elif star >= 0:
            star_at += 1
            place, at = star + 1, star_at
        else:
            return False
    return not glob[place:].strip("*")
