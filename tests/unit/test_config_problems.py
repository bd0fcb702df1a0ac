"""Every problem of a file is told with its line, its key and what to write instead; secrets never are."""

from __future__ import annotations

from pathlib import Path

import pytest

from overrun.config import load_config
from overrun.config_problems import ConfigError, Problem

SOURCE = '[[source]]\nname = "a"\nkind = "aws-export"\nlocation = "x"\n'
BUDGET = '[[budget]]\nid = "b"\nlimit = { amount = "100", currency = "USD" }\n'
EMAIL = '[[channel]]\nid = "m"\nkind = "email"\nsmtp_host = "h"\nfrom = "a@b.c"\nto = ["a@b.c"]\n'
SLACK = '[[channel]]\nid = "s"\nkind = "slack-webhook"\nurl = "env:URL"\n'


def problems_of(text: str, folder: Path) -> list[Problem]:
    """Return what is refused, with lines alone as places."""
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    try:
        load_config(file, {})
    except ConfigError as error:
        return list(error.problems)
    return []


def warnings_of(text: str, folder: Path) -> list[Problem]:
    file = folder / "overrun.toml"
    file.write_text(text, encoding="utf-8")
    return list(load_config(file, {}).warnings)


@pytest.mark.parametrize(
    ("text", "line", "key", "hint"),
    [
        ("\n[warehouse]\nmemry_limit = 1", 3, "warehouse.memry_limit", "did you mean memory_limit?"),
        ("[warehouse]\nmemory-limit = 1", 2, "warehouse.memory-limit", "did you mean memory_limit?"),
        ("[[sources]]\nname = 'a'", 1, "sources", "did you mean [[source]]?"),
        ("[wherehouse]", 1, "wherehouse", "did you mean [warehouse]?"),
        ("memory_limit = '1GB'", 1, "memory_limit", "it belongs in [warehouse]"),
        (SOURCE + "locaton = 'x'", 5, "source.locaton", "did you mean location?"),
        (SLACK + "ulr = 'x'", 5, "channel.ulr", "did you mean url?"),
        (EMAIL + "smtp_prot = 3", 7, "channel.smtp_prot", "did you mean smtp_port?"),
        (BUDGET + "[budget.scope]\nprojects = 'x'", 5, "budget.scope.projects", "did you mean project?"),
        (
            "[[attribution.rule]]\nproject='x'\nmatch = { acount = '1' }",
            3,
            "attribution.rule.match.acount",
            "did you mean account?",
        ),
    ],
)
def test_an_unknown_key_names_the_nearest(tmp_path: Path, text: str, line: int, key: str, hint: str) -> None:
    found = [problem for problem in problems_of(text, tmp_path) if problem.message == "unknown key"]
    assert [(problem.place, problem.key, problem.hint) for problem in found] == [
        (f"{tmp_path / 'overrun.toml'}:{line}", key, hint)
    ]


def test_a_key_near_to_nothing_lists_what_is_known(tmp_path: Path) -> None:
    (problem,) = problems_of("[report]\nzzz = 1", tmp_path)
    assert problem.hint == "known keys: path"


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("[warehouse]\nthreads = 0", "warehouse.threads", "greater than or equal to 1"),
        ("[warehouse]\nthreads = '2'", "warehouse.threads", "must be a whole number"),
        ("[warehouse]\nthreads = true", "warehouse.threads", "must be a whole number"),
        ("[warehouse]\nmemory_limit = '0GB'", "warehouse.memory_limit", "must be a size"),
        ("[warehouse]\nmemory_limit = '100'", "warehouse.memory_limit", "must be a size"),
        ("[warehouse]\nstorage_version = 'v9'", "warehouse.storage_version", "DuckDB version"),
        ("[warehouse]\npath = 3", "warehouse.path", "must be a text in quotes"),
        ("[warehouse]\npath = ''", "warehouse.path", "must be a path"),
        ("[warehouse]\npath = '~/w.duckdb'", "warehouse.path", "~ is not expanded"),
        ("[warehouse]\npath = 'same'\nstate = './same'", "warehouse.state", "is the same path as warehouse.path"),
        ("[[publish]]\npath = 'finance.duckdb'\nteam = ['x']", "publish.path", "same path as warehouse.publish"),
        ("[[publish]]\npath = 'x.duckdb'\nteam = []", "publish.team", "must not be empty"),
        ("[[warehouse]]\npath = 'x'", "warehouse", "written [warehouse]"),
        ("[source]\nname = 'x'", "source", "each written [[source]]"),
        ("source = ['x']", "source", "must be a table"),
        (SOURCE.replace("aws-export", "azure-export"), "source.kind", '"azure-export" is not known'),
        (SOURCE.replace('"aws-export"', "3"), "source.kind", "must be"),
        (SOURCE.replace('"x"', '"s3://KEY:SECRET@bucket"'), "source.location", "must be s3://BUCKET or s3://BUCKET/"),
        (SOURCE.replace('"x"', '"gs://bucket"'), "source.location", "begins with gs://"),
        (SOURCE.replace('"x"', '"landing/aws"'), "source.location", "overlaps with the landing folder"),
        (SOURCE.replace('"x"', '"."'), "source.location", "overlaps with the landing folder"),
        (SOURCE.replace('"a"', '"A"'), "source.name", "lower-case"),
        (SOURCE.replace('"a"', '"../x"'), "source.name", "lower-case"),
        (SOURCE.replace('"a"', '"a\\n"'), "source.name", "lower-case"),
        (SOURCE + SOURCE, "source.name", '"a" is used twice'),
        (SOURCE + "period = '2026-13'", "source.period", "must be a month"),
        (SOURCE + "period = 'rows'", "source.period", "from-rows"),
        (SOURCE + "currency = 'usd '", "source.currency", 'did you mean "USD"?'),
        (SOURCE + "settle_days = -1", "source.settle_days", "greater than or equal to 0"),
        (SOURCE + "from = '2026-02'\nuntil = '2026-02'", "source.until", "must be later than from"),
        (SOURCE + "from = 2026-02-01", "source.from", "must be a text"),
        (SOURCE + "replaces = 'a'", "source.replaces", "cannot replace itself"),
        (SOURCE + "was = 'a'", "source.was", "is still the name of a source"),
        ("[[source]]\nname = 'a'\nkind = 'aws-export'", "source.location", "is missing"),
        (EMAIL.replace('"h"', '"[::1]"'), "channel.smtp_host", "host name"),
        (SLACK.replace('"slack-webhook"', '["email"]'), "channel.kind", "is not known"),
        (f"[[team]]\nname = '{'a' * 257}'", "team.name", "256 characters at most"),
        (BUDGET.replace("100", "0.000000000001") + "thresholds = ['1%']", "budget.thresholds", "more than zero"),
        ("[[team]]\nname = 'a '", "team.name", "printable name"),
        ("[[team]]\nname = 'a'\n[[team]]\nname = 'a'", "team.name", "used twice"),
        ("[[team]]\nname = 'a'\nprojects = ['p*']", "team.projects", "exact name"),
        ("[[team]]\nname = 'a'\nprojects = ['p', 'p']", "team.projects", "listed twice"),
        (
            "[[attribution.rule]]\nmatch = { account = 'x' }",
            "attribution.rule",
            "must set at least one of project",
        ),
        ("[[attribution.rule]]\nteam = 'x'\nmatch = {}", "attribution.rule.match", "at least one condition"),
        ("[[attribution.rule]]\nteam = 'x'\nmatch = {tag = {}}", "attribution.rule.match", "at least one condition"),
        (
            "[[attribution.rule]]\nteam = 'x'\nmatch = {tag = {a = []}}",
            "attribution.rule.match.tag.a",
            "text or a list",
        ),
        ("[[attribution.rule]]\nteam = 'x'\nmatch = {tag = {a = ['']}}", "attribution.rule.match.tag.a", "printable"),
        (SLACK.replace("slack-webhook", "slack-bot"), "channel.kind", '"slack-bot" is not known'),
        (SLACK.replace('kind = "slack-webhook"\n', ""), "channel.kind", "is missing"),
        (SLACK + SLACK, "channel.id", "used twice"),
        (EMAIL + "username = 'u'", "channel.username", "needs password"),
        (EMAIL + "password = 'env:P'", "channel.password", "needs username"),
        (EMAIL + "security = 'none'", "channel.security", "this machine only"),
        (EMAIL + "smtp_port = 70000", "channel.smtp_port", "less than or equal to 65535"),
        (EMAIL.replace('"h"', '"smtp://u:p@h"'), "channel.smtp_host", "host name"),
        (EMAIL.replace('["a@b.c"]', '["a@b.c", "a@b.c"]'), "channel.to", "listed twice"),
        (EMAIL.replace('["a@b.c"]', "[]"), "channel.to", "must not be empty"),
        (EMAIL.replace('["a@b.c"]', '"a@b.c"'), "channel.to", "must be a list"),
        ("[[route]]\nchannels = ['x']", "route.channels", 'there is no channel "x"'),
        (SLACK + "[[route]]\nchannels = ['s', 's']", "route.channels", "listed twice"),
        (SLACK + "[[route]]\nchannels = ['s']\n[[route]]\nchannels = ['s']", "route.team", "no other route takes"),
        (
            SLACK + "[[route]]\nteam='v'\nchannels=['s']\n[[route]]\nteam='v'\nchannels=['s']",
            "route.team",
            '"v" already',
        ),
        (BUDGET + BUDGET, "budget.id", "used twice"),
        (BUDGET + "measure = 'gpu-hours'", "budget.measure", '"gpu-hours" is not known'),
        (BUDGET + "basis = 'gross'", "budget.basis", '"gross" is not known'),
        (BUDGET + "include = ['credit']", "budget.include", '"credit" is not known'),
        (BUDGET + "include = ['tax', 'tax']", "budget.include", "listed twice"),
        (BUDGET + "period = { every = 'week' }", "budget.period.every", '"week" is not known'),
        (BUDGET + "scope = {}", "budget.scope", "is empty"),
        (BUDGET + "thresholds = []", "budget.thresholds", "must not be empty"),
        (BUDGET + "thresholds = ['80']", "budget.thresholds", "a share or an amount"),
        (BUDGET + "thresholds = ['0%']", "budget.thresholds", "more than zero"),
        (BUDGET + "thresholds = ['80%', '80 %']", "budget.thresholds", 'same amount as "80%"'),
        (BUDGET + "thresholds = ['80%', '80 USD']", "budget.thresholds", 'same amount as "80%"'),
        (BUDGET + "thresholds = ['80%', '80%']", "budget.thresholds", "listed twice"),
        (BUDGET.replace('"100"', "100.5"), "budget.limit.amount", "must be in quotes"),
        (BUDGET.replace('"100"', "true"), "budget.limit.amount", "decimal number"),
        (BUDGET.replace('"100"', "0"), "budget.limit.amount", "more than zero"),
        (BUDGET.replace('"100"', "inf"), "budget.limit.amount", "must be in quotes"),
        (BUDGET.replace('"100"', '"NaN"'), "budget.limit.amount", "decimal number"),
        (BUDGET.replace('"100"', '"1e5"'), "budget.limit.amount", "decimal number"),
        (BUDGET.replace('"100"', '"1_000"'), "budget.limit.amount", "decimal number"),
        (BUDGET.replace('"100"', '"٣"'), "budget.limit.amount", "decimal number"),
        (BUDGET.replace('"100"', '"-5"'), "budget.limit.amount", "decimal number"),
        (BUDGET.replace("USD", "dollar"), "budget.limit.currency", "three capital letters"),
    ],
)
def test_a_bad_value_is_refused_with_its_reason(tmp_path: Path, text: str, key: str, words: str) -> None:
    found = problems_of(text, tmp_path)
    assert any(problem.key == key and words in problem.message for problem in found), found


def test_a_project_in_two_teams_names_both(tmp_path: Path) -> None:
    text = '[[team]]\nname = "v"\nprojects = ["p"]\n[[team]]\nname = "w"\nprojects = [\n "q",\n "p"\n]\n'
    (problem,) = problems_of(text, tmp_path)
    assert problem.place.endswith("overrun.toml:8")
    assert '"p"' in problem.message
    assert '"v"' in problem.message


def test_a_threshold_in_another_currency_names_both(tmp_path: Path) -> None:
    (problem,) = problems_of(BUDGET + 'thresholds = [\n  "80%",\n  "50 EUR",\n]', tmp_path)
    assert problem.place.endswith("overrun.toml:6")
    assert "EUR" in problem.message
    assert "USD" in problem.message


def test_kinds_that_exist_are_listed(tmp_path: Path) -> None:
    (source,) = problems_of(SOURCE.replace("aws-export", "azure-export"), tmp_path)
    assert source.hint == (
        'did you mean "aws-export"? known: aws-export, gcp-export, gcp-bigquery, focus-export,'
        " slurm, runs-files, kubernetes, mlflow, capacity"
    )
    (channel,) = problems_of(SLACK.replace("slack-webhook", "webhook"), tmp_path)
    assert channel.hint == 'did you mean "slack-webhook"? known: slack-webhook, email'


def test_all_problems_are_told_together_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = f"{SOURCE}x = 1\n{SLACK}[[route]]\nchannels = ['nope']\n[[channel]]\nid = 'other'\nkind = 'email'\n"
    found = problems_of(text, tmp_path)
    lines = [int(problem.place.rpartition(":")[2]) for problem in found]
    assert lines == sorted(lines)
    assert {problem.key for problem in found} == {
        "source.x", "route.channels", "channel.smtp_host", "channel.from", "channel.to",
    }  # fmt: skip
    message = str(ConfigError(found))
    assert all(f"{problem.place}: {problem.key}: {problem.message}" in message for problem in found)


def test_a_channel_with_a_problem_is_still_a_channel(tmp_path: Path) -> None:
    text = SLACK.replace("env:URL", "oops") + "[[route]]\nchannels = ['s']"
    assert [problem.key for problem in problems_of(text, tmp_path)] == ["channel.url"]


@pytest.mark.parametrize(
    "text",
    [
        SLACK.replace("env:URL", "https://hooks.slack.com/services/T0/B0/s3cr3t"),
        SLACK.replace("env:URL", "env:https://hooks.slack.com/s3cr3t"),
        SLACK.replace("env:URL", "s3cr3t"),
        SLACK.replace('"env:URL"', '["s3cr3t"]'),
        SLACK + "token = 's3cr3t'",
        SLACK.replace('kind = "slack-webhook"', 'kind = "slak"').replace("env:URL", "s3cr3t"),
        EMAIL + "username = 'u'\npassword = 's3cr3t'",
        EMAIL + "passwrd = 's3cr3t'",
        EMAIL.replace('"h"', '"smtp://u:s3cr3t@h"'),
        SOURCE.replace('"x"', '"https://u:s3cr3t@host/x"'),
        SLACK.replace('url = "env:URL"', 'url = "s3cr3t'),
    ],
)
def test_a_secret_is_never_repeated(tmp_path: Path, text: str) -> None:
    found = problems_of(text, tmp_path)
    assert found
    assert "s3cr3t" not in repr(found)
    assert "s3cr3t" not in str(ConfigError(found))


@pytest.mark.parametrize(
    "address",
    [
        "a@b.c, d@e.f", "a@b.c;d@e.f", "a", "@b.c", "a@", "a@b@c", " a@b.c", "A <a@b.c>", "a@b.c (x)", "x: a@b.c;",
        "a@b.c\\r\\nBcc: d@e.f", "a@b.c\\n", "a\\u0000@b.c", "a b@c.d", "",
    ],
)  # fmt: skip
def test_an_entry_is_exactly_one_address(tmp_path: Path, address: str) -> None:
    (problem,) = problems_of(EMAIL.replace('["a@b.c"]', f'["{address}"]'), tmp_path)
    assert problem.key == "channel.to"


@pytest.mark.parametrize("address", ["root@localhost", "first.last+tag@sub.example.com", "jörg@münchen.de"])
def test_plain_addresses_are_taken(tmp_path: Path, address: str) -> None:
    assert problems_of(EMAIL.replace('["a@b.c"]', f'["{address}"]'), tmp_path) == []


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.8.8", "::1", "LOCALHOST"])
def test_plain_mail_to_this_machine_is_taken(tmp_path: Path, host: str) -> None:
    assert problems_of(EMAIL.replace('"h"', f'"{host}"') + "security = 'none'", tmp_path) == []


@pytest.mark.parametrize("host", ["smtp.example.com", "10.0.0.1", "localhost.example.com", "0.0.0.0"])  # noqa: S104
def test_plain_mail_elsewhere_is_refused(tmp_path: Path, host: str) -> None:
    (problem,) = problems_of(EMAIL.replace('"h"', f'"{host}"') + "security = 'none'", tmp_path)
    assert problem.key == "channel.security"


def test_control_characters_of_a_value_are_shown_escaped(tmp_path: Path) -> None:
    (problem,) = problems_of(BUDGET + 'basis = "\\u001b[2J\\u202e"', tmp_path)
    assert "\x1b" not in str(problem)
    assert "\\u001B[2J\\u202E" in problem.message


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        ("", "", "no [[source]]"),
        (SOURCE.replace("aws", "gcp") + "currency = 'USD'", "source.currency", "aws-export only"),
        (BUDGET + "scope = { project = ['visoin', 'v*'] }\n[[team]]\nname='t'\nprojects=['vision']",
         "budget.scope.project", '"visoin"'),
        (SOURCE + SOURCE.replace('"a"', '"b"'), "source.location", 'also the location of source "a"'),
        (BUDGET + "scope = { team = 'ghost' }", "budget.scope.team", '"ghost"'),
        (SLACK, "channel", "no route leads to channel"),
        (SLACK + "[[team]]\nname='t'\n[[route]]\nteam='x'\nchannels=['s']", "team", '"t" has no route'),
        (SLACK + "[[route]]\nteam='x'\nchannels=['s']", "route.team", 'team "x" stands in no'),
        ("[[publish]]\npath='x.duckdb'\nteam=['ghost']", "publish.team", 'team "ghost" stands in no'),
    ],
)  # fmt: skip
def test_what_is_hardly_meant_is_a_warning(tmp_path: Path, text: str, key: str, words: str) -> None:
    found = warnings_of(text, tmp_path)
    assert any(warning.key == key and words in warning.message for warning in found), found


@pytest.mark.parametrize(
    "definition",
    [
        "[[team]]\nname='t'\nprojects=['p']",
        "[attribution]\naccounts = { '1' = 'p' }",
        "[[attribution.rule]]\nproject='p'\nmatch={account='1'}",
    ],
)
def test_a_scope_that_something_defines_is_no_warning(tmp_path: Path, definition: str) -> None:
    text = f"{SOURCE}{BUDGET}scope = {{ project = 'p' }}\n{definition}"
    assert warnings_of(text, tmp_path) == []
