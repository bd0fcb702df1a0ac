"""What splits of shared costs say against themselves and each other: keys of another way, circles, a wrong order.

A project brings its team and cost centre along, so that it can be in a circle by those, too, as far as the
configuration says whose it is. A glob gives nothing back: names whose costs an earlier split took are no candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from fnmatch import fnmatchcase

from overrun import config_schema as schema
from overrun import config_values as values
from overrun.config_document import Placed, ReadDocument
from overrun.config_problems import Findings, shown_value

_KEYS_OF = {"of": ("cost",), "weights": ("weights",), "usage": ("usage",), "to": ("cost", "even", "usage")}
"""Ways that a key belongs to."""
_UNATTRIBUTED = "unattributed"


def check_splits(document: ReadDocument, findings: Findings) -> None:
    """Refuse splits that cannot work or go round in a circle; warn of those that come too late."""
    names = _Names(document)
    for placed in document.splits:
        _check_keys(placed, findings)
        _check_months(placed, findings)
        _check_recipients(placed, names, findings)
    _check_order(document.splits, names, findings)


def _check_keys(placed: Placed[schema.SplitTable], findings: Findings) -> None:
    """Refuse keys of another way of sharing, and the lack of those that the way needs."""
    table = placed.table
    for key, ways in _KEYS_OF.items():
        if getattr(table, key) is not None and table.by not in ways:
            allowed = " or ".join(f'by = "{way}"' for way in ways)
            findings.refuse((*placed.path, key), f"is for {allowed}")
    for key in ("weights", "usage"):
        if table.by == key and getattr(table, key) is None:
            findings.refuse((*placed.path, "by"), f"needs {key} beside it")
    if table.over == "day" and table.by in {"even", "weights"}:
        findings.refuse((*placed.path, "over"), 'is for by = "cost" and by = "usage": these weights have no days')


def _check_months(placed: Placed[schema.SplitTable], findings: Findings) -> None:
    start, end = _months(placed.table)
    if not start < end:
        findings.refuse((*placed.path, "until"), "must be later than from, since it is the first month left out")


def _months(table: schema.SplitTable) -> tuple[date, date]:
    """Return the months of a split, half-open."""
    start = values.parse_month(table.from_) if table.from_ else date.min
    return start, values.parse_month(table.until) if table.until else date.max


class _Names:
    """What a recipient is called in each dimension that sharing changes, as far as the configuration says."""

    def __init__(self, document: ReadDocument) -> None:
        self._teams = {project: one.table.name for one in document.teams for project in one.table.projects}
        self._centres: dict[str, str] = {}
        for owner in (one.table for one in document.owners):
            for project in owner.projects:
                if owner.team is not None:
                    self._teams.setdefault(project, owner.team)
                if owner.cost_centre is not None:
                    self._centres.setdefault(project, owner.cost_centre)

    def of(self, dimension: str, name: str) -> dict[str, str]:
        """Return the names by dimension; a team has no other, since projects and cost centres stay."""
        known = {dimension: name}
        if dimension == "project":
            known |= {"team": self._teams[name]} if name in self._teams else {}
            known |= {"cost_centre": self._centres[name]} if name in self._centres else {}
        return known


def _check_recipients(placed: Placed[schema.SplitTable], names: _Names, findings: Findings) -> None:
    """Refuse a split that gives to nobody, or to a name that it takes from."""
    each = placed.table.each
    for key, name in _recipients(placed.table):
        if name == _UNATTRIBUTED:
            hint = "costs that no rule knows an owner for bear nothing for others; name who does"
            findings.refuse((*placed.path, key), f'"{_UNATTRIBUTED}" is no {each}', hint)
        taken = _taken(placed.table, names.of(each, name))
        if taken is not None:
            dimension, value = taken
            of = "" if dimension == each else f", of {dimension.replace('_', ' ')} {shown_value(value)}"
            findings.refuse(
                (*placed.path, key),
                f"gives to {each} {shown_value(name)}{of}, which it takes from",
                "leave that name out; what it should keep needs no split",
            )


def _check_order(splits: Sequence[Placed[schema.SplitTable]], names: _Names, findings: Findings) -> None:
    """Refuse circles; warn of a split that gives to one that has had its turn."""
    gives = [[number for number, other in enumerate(splits) if _gives_to(one, other, names)] for one in splits]
    for number, placed in enumerate(splits):
        for earlier in (other for other in gives[number] if other < number):
            first = splits[earlier].table.name
            if number in _reached(earlier, dict(enumerate(gives))):
                message = f"gives back to what split {shown_value(first)} takes, so that costs would go in a circle"
                findings.refuse(placed.path, message, "let one of them give to those who bear the cost in the end")
            else:
                message = f"gives to what split {shown_value(first)} takes, which has had its turn: it stays there"
                findings.warn(placed.path, message, "put this split before that one")


def _reached(start: int, gives: Mapping[int, Sequence[int]]) -> set[int]:
    """Return the splits that costs of one come to, over any number of others."""
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        new = set(gives[waiting.pop()]) - seen
        seen |= new
        waiting += new
    return seen


def _gives_to(one: Placed[schema.SplitTable], other: Placed[schema.SplitTable], names: _Names) -> bool:
    """Return whether one split names a recipient that another takes from, in a month of both."""
    (start, end), (other_start, other_end) = _months(one.table), _months(other.table)
    if one is other or not (start < other_end and other_start < end):
        return False
    each = one.table.each
    return _may_meet(one.table, other.table) and any(
        _taken(other.table, names.of(each, name)) is not None for _, name in _recipients(one.table)
    )


def _recipients(table: schema.SplitTable) -> Iterator[tuple[str, str]]:
    """Yield each recipient that is named in full, and the key that names it."""
    for glob in table.to or ():
        if not values.is_glob(glob):
            yield "to", glob
    for name in table.weights or ():
        yield "weights", name


def _taken(table: schema.SplitTable, names: Mapping[str, str]) -> tuple[str, str] | None:
    """Return the first of a recipient's names that a split takes from; None where a name is not among those it takes.

    Conditions on names that are not known may be met.
    """
    asked = {dimension: globs for dimension in names if (globs := getattr(table.share, dimension)) is not None}
    if not all(any(_matches(names[dimension], glob) for glob in globs) for dimension, globs in asked.items()):
        return None
    return next(((dimension, names[dimension]) for dimension in asked), None)


def _may_meet(one: schema.SplitTable, other: schema.SplitTable) -> bool:
    """Return whether what sharing leaves as it is may meet the conditions of both; two globs always may."""
    for key in ("environment", "workload", "provider", "billing_account", "service", "service_category"):
        first, second = getattr(one.share, key), getattr(other.share, key)
        if first is not None and second is not None and not _overlap(first, second):
            return False
    return True


def _overlap(first: Sequence[str], second: Sequence[str]) -> bool:
    return any(
        (values.is_glob(one) and values.is_glob(other)) or _matches(one, other) or _matches(other, one)
        for one in first
        for other in second
    )


def _matches(name: str, glob: str) -> bool:
    """Return whether a glob, in which only * and ? are special, matches a name."""
    return fnmatchcase(name, glob.replace("[", "[[]"))
