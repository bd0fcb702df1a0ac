"""What `overrun check` says of attribution rules and owners: problems with their lines, contradictions as warnings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from overrun.config import Config, load_config
from overrun.config_problems import ConfigError
from overrun.config_values import Assigned, parse_assigned

Load = Callable[[str], Config]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def read(text: str) -> Config:
        file = tmp_path / "overrun.toml"
        file.write_text("[[source]]\nname = 's'\nkind = 'aws-export'\nlocation = 'x'\n" + text, encoding="utf-8")
        return load_config(file, {})

    return read


def rule(sets: str, match: str, more: str = "") -> str:
    return f"[[attribution.rule]]\n{sets}\n{more}\nmatch = {{ {match} }}\n"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("vision", Assigned(before="vision")),
        ("{tag:project}", Assigned(before="", key="project")),
        ("{tag:a b:c|d|lower}", Assigned(before="", key="a b:c|d", case="lower")),
        ("ml-{account_tag:Unit|upper}-x", Assigned(before="ml-", key="accountTag/Unit", case="upper", after="-x")),
        ('{cost_category:O\'Neil, "x"}', Assigned(before="", key='costCategory/O\'Neil, "x"')),
        ("{tag:🐍\n}", Assigned(before="", key="🐍\n")),
    ],
)
def test_what_a_rule_sets(text: str, wanted: Assigned) -> None:
    assert parse_assigned(text) == wanted


@pytest.mark.parametrize(
    ("text", "key", "said"),
    [
        (rule("project = '{tag}'", "account = '1'"), "attribution.rule.project", "take one value from a tag"),
        (rule("project = '{tag:a}{tag:b}'", "account = '1'"), "attribution.rule.project", "take one value from a tag"),
        (rule("project = '{label:a}'", "account = '1'"), "attribution.rule.project", "take one value from a tag"),
        (rule("project = 'a*{tag:b}'", "account = '1'"), "attribution.rule.project", "exact name"),
        (rule("project = 'p*'", "account = '1'"), "attribution.rule.project", "exact name"),
        (rule("workload = 'trainign'", "account = '1'"), "attribution.rule.workload", "one of training, inference"),
        (rule("workload = 'x-{tag:w}'", "account = '1'"), "attribution.rule.workload", "nothing around it"),
        (rule("team = 't'", "acount = '1'"), "attribution.rule.match.acount", "unknown key"),
        (rule("team = 't'", "region = []"), "attribution.rule.match.region", "a text or a list of texts"),
        (rule("team = 't'", "tag = { ' ' = 'x' }"), "attribution.rule.match.tag", "tag key of 1 to 1024"),
        (rule("team = 't'", "account = '1'", "from = '2026-13'"), "attribution.rule.from", "YYYY-MM"),
        (
            rule("team = 't'", "account = '1'", "from = '2026-10'\nuntil = '2026-10'"),
            "attribution.rule.until",
            "later than from",
        ),
        ("[[owner]]\nprojects = ['a']", "owner", "at least one of team, cost_centre and gl_account"),
        ("[[owner]]\nteam = 'a'", "owner.projects", "is missing"),
        ("[[owner]]\nprojects = ['a']\nteam = 't'\nfrom = '2026-10'\nuntil = '2026-09'", "owner.until", "later than"),
        (
            "[[owner]]\nprojects = ['a']\nteam = 't'\n[[owner]]\nprojects = ['b', 'a']\nteam = 'u'\nfrom = '2026-10'",
            "owner.projects",
            "has an owner in these months already",
        ),
        (
            "[[team]]\nname = 't'\nprojects = ['a']\n[[owner]]\nprojects = ['a']\nteam = 'u'",
            "owner.projects",
            "belongs to team",
        ),
    ],
)
def test_a_problem_is_told_with_its_line_and_key(load: Load, text: str, key: str, said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(text)
    problem = caught.value.problems[0]
    assert problem.key.startswith(key)
    assert said in problem.message
    assert problem.place.rpartition(":")[2].isdigit()


def warnings(config: Config) -> list[tuple[str, str]]:
    return [(problem.key, problem.message) for problem in config.warnings]


@pytest.mark.parametrize(
    ("first", "second", "verb"),
    [
        (rule("project = 'a'", "account = '1*'"), rule("project = 'b'", "account = '1*'"), "contradicts"),
        (rule("project = 'a'", "account = '1*'"), rule("project = 'a'", "account = '12'"), "repeats"),
        (rule("team = 'a'", "tag = { k = '*' }"), rule("team = 'b'", "tag = { k = ['x', 'y*'] }"), "contradicts"),
        (rule("team = 'a'", "region = 'eu-*'"), rule("team = 'b'", "region = 'eu-1', service = 's'"), "contradicts"),
        (rule("team = 'a'", "resource = '*-gpu-*'"), rule("team = 'b'", "resource = 'x-gpu-?*'"), "contradicts"),
        (rule("team = 'a'", "resource = 'a?c'"), rule("team = 'b'", "resource = 'abc'"), "contradicts"),
        (rule("team = 'a'", "resource = '*a*b'"), rule("team = 'b'", "resource = 'cab*ab'"), "contradicts"),
    ],
)
def test_a_rule_that_is_left_nothing_is_warned_of(load: Load, first: str, second: str, verb: str) -> None:
    (told,) = warnings(load(first + second))
    assert told[0].startswith("attribution.rule.")
    assert told[1] == f"{verb} rule 1, which comes first and takes all that this one matches"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (rule("project = 'a'", "account = '1*'"), rule("team = 'b'", "account = '1*'")),
        (rule("project = 'a'", "account = '1*'"), rule("project = 'b'", "account = '?*'")),
        (rule("project = 'a'", "account = '1*'", "until = '2026-10'"), rule("project = 'b'", "account = '1'")),
        (rule("project = '{tag:p}'", "account = '1*'"), rule("project = 'b'", "account = '1'")),
        (rule("project = 'a'", "account = '1', region = 'x'"), rule("project = 'b'", "account = '1'")),
        (rule("project = 'a'", "region = '*'"), rule("project = 'b'", "account = '1'")),
        (rule("project = 'a'", "resource = 'a?c'"), rule("project = 'b'", "resource = 'a*c'")),
        (rule("project = 'a'", "resource = '*a*b'"), rule("project = 'b'", "resource = 'ab*'")),
        (rule("project = 'a'", f"resource = '{'*a' * 40}b'"), rule("project = 'b'", f"resource = '{'a' * 200}'")),
    ],
)
def test_a_rule_that_may_still_decide_is_not(load: Load, first: str, second: str) -> None:
    assert warnings(load(first + second)) == []


def test_a_regular_expression_is_taken_for_a_glob_and_warned_of(load: Load) -> None:
    config = load(rule("team = 't'", "resource = '^(a+)+$'"))
    assert warnings(config) == [
        ("attribution.rule.match", '"^(a+)+$" looks like a regular expression, but only * and ? are special')
    ]


def test_owners_that_take_turns_are_fine(load: Load) -> None:
    config = load(
        "[[team]]\nname = 't'\nprojects = ['a']\n"
        "[[owner]]\nprojects = ['a']\ncost_centre = '1'\nuntil = '2026-10'\n"
        "[[owner]]\nprojects = ['a']\nteam = 'u'\nfrom = '2026-10'\n"
    )
    assert [owner.team for owner in config.owners] == [None, "u"]
