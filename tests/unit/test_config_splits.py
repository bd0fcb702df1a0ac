"""Splits of shared costs in the configuration: what is refused, warned of and understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from overrun.config import Config, load_config
from overrun.config_problems import ConfigError


def load(folder: Path, text: str) -> Config:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return load_config(file, {})


def split(name: str, share: str, rest: str = "") -> str:
    return f'[[split]]\nname = "{name}"\nshare = {{ {share} }}\n{rest}\n'


def test_a_split_is_read(tmp_path: Path) -> None:
    config = load(tmp_path, split("support", 'service = "*Support*", provider = ["AWS"]', 'of = { provider = "AWS" }'))

    (read,) = config.splits
    assert (read.name, read.method, read.each, read.is_daily, read.recipients) == (
        "support", "cost", "project", False, (),
    )  # fmt: skip
    assert [(one.subject, one.globs) for one in read.share] == [("provider", ("AWS",)), ("service", ("*Support*",))]
    assert [(one.subject, one.globs) for one in read.of] == [("provider", ("AWS",))]


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ('by = "weights"', "needs weights beside it"),
        ('by = "usage"', "needs usage beside it"),
        ('weights = { vision = "1" }', 'is for by = "weights"'),
        ('usage = "q.csv"', 'is for by = "usage"'),
        ('by = "even"\nof = { provider = "AWS" }', 'is for by = "cost"'),
        ('by = "even"\nover = "day"', "these weights have no days"),
        ('by = "weights"\nweights = { vision = "1" }\nto = "nlp"', 'is for by = "cost" or by = "even"'),
        ('by = "weights"\nweights = { vision = "0" }', "must be more than zero"),
        ('by = "weights"\nweights = { "vis*" = "1" }', "must be an exact name"),
        ('by = "weights"\nweights = { vision = 0.5 }', "must be in quotes"),
        ("of = {}", "must have at least one condition"),
        ('from = "2026-10"\nuntil = "2026-10"', "must be later than from"),
        ('too = "vision"', "unknown key"),
    ],
)
def test_what_cannot_work_is_refused(tmp_path: Path, rest: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem) as raised:
        load(tmp_path, split("s", 'service = "x"', rest))

    assert ":4" in str(raised.value) or ":5" in str(raised.value) or ":6" in str(raised.value)


def test_names_are_unique(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is used twice"):
        load(tmp_path, split("s", 'service = "x"') + split("s", 'service = "y"'))


@pytest.mark.parametrize(
    "rest", ['to = ["nlp", "platform"]', 'by = "weights"\nweights = { nlp = "1", platform = "3" }']
)
def test_a_split_that_gives_to_whom_it_takes_from_is_refused(tmp_path: Path, rest: str) -> None:
    with pytest.raises(ConfigError, match='gives to project "platform", which it takes from'):
        load(tmp_path, split("s", 'project = "plat*"', rest))


TEAMS = """
[[team]]
name = "ops"
projects = ["tools"]

[[owner]]
projects = ["wiki"]
team = "ops"
cost_centre = "cc-1"
"""


@pytest.mark.parametrize(
    ("share", "to", "problem"),
    [
        ('team = "ops"', "tools", 'gives to project "tools", of team "ops", which it takes from'),
        ('team = "o*"', "wiki", 'gives to project "wiki", of team "ops", which it takes from'),
        ('cost_centre = "cc-1"', "wiki", 'gives to project "wiki", of cost centre "cc-1", which it takes from'),
        ('team = "ops", project = "*"', "tools", 'gives to project "tools", which it takes from'),
    ],
)
def test_a_project_whose_team_or_cost_centre_is_taken_from_is_refused(
    tmp_path: Path, share: str, to: str, problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        load(tmp_path, TEAMS + split("s", share, f'to = "{to}"'))


@pytest.mark.parametrize(
    ("share", "to"),
    [
        ('team = "ops", project = "wiki"', "tools"),
        ('team = "research"', "tools"),
        ('cost_centre = "cc-1"', "tools"),
        ('team = "ops"', "vision"),
    ],
)
def test_a_project_of_a_team_may_get_what_is_not_taken_from_it(tmp_path: Path, share: str, to: str) -> None:
    assert len(load(tmp_path, TEAMS + split("s", share, f'to = "{to}"')).splits) == 1


def test_a_circle_by_the_team_of_a_project_is_refused(tmp_path: Path) -> None:
    first = split("one", 'team = "ops"', 'to = "a"')
    second = split("two", 'project = "a"', 'to = "tools"')

    with pytest.raises(ConfigError, match='gives back to what split "one" takes'):
        load(tmp_path, TEAMS + first + second)


@pytest.mark.parametrize(
    ("rest", "each"),
    [
        ('to = ["nlp", "unattributed"]', "project"),
        ('by = "weights"\nweights = { unattributed = "1" }\neach = "team"', "team"),
    ],
)
def test_nobody_is_no_recipient(tmp_path: Path, rest: str, each: str) -> None:
    with pytest.raises(ConfigError, match=f'"unattributed" is no {each}'):
        load(tmp_path, split("s", 'service = "x"', rest))


def test_a_circle_is_refused_over_any_number_of_splits(tmp_path: Path) -> None:
    first = split("one", 'project = "a"', 'to = "b"')
    second = split("two", 'project = "b"', 'by = "weights"\nweights = { c = "1", vision = "2" }')
    third = split("three", 'project = "c"', 'to = ["a"]')

    with pytest.raises(ConfigError, match='gives back to what split "one" takes'):
        load(tmp_path, first + second + third)
    assert len(load(tmp_path, first + second).splits) == 2


def test_brackets_in_names_are_no_pattern(tmp_path: Path) -> None:
    assert load(tmp_path, split("s", 'project = "[ab]"', 'to = "a"')).warnings[0].message.startswith("no [[source]]")
    with pytest.raises(ConfigError, match="which it takes from"):
        load(tmp_path, split("s", 'project = "[ab]*"', 'to = "[ab]"'))


def test_a_split_that_comes_too_late_is_warned_of(tmp_path: Path) -> None:
    late = split("network", 'service = "NAT"', 'to = "platform"')
    early = split("platform", 'project = "platform"')

    warnings = [one.message for one in load(tmp_path, early + late).warnings]
    assert 'gives to what split "platform" takes, which has had its turn: it stays there' in warnings
    assert "its turn" not in str(load(tmp_path, late + early).warnings)


def test_conditions_that_never_meet_make_no_circle(tmp_path: Path) -> None:
    first = split("one", 'project = "a", service = "NAT"', 'to = "b"')
    second = split("two", 'project = "b", service = "Support"', 'to = "a"')

    assert "circle" not in str(load(tmp_path, first + second).warnings)
    with pytest.raises(ConfigError, match="circle"):
        load(tmp_path, first + second.replace('"Support"', '"N*"'))


def test_months_that_never_meet_make_no_circle(tmp_path: Path) -> None:
    first = split("one", 'project = "a"', 'to = "b"\nuntil = "2026-10"')
    second = split("two", 'project = "b"', 'to = "a"\nfrom = "2026-10"')

    assert len(load(tmp_path, first + second).splits) == 2
