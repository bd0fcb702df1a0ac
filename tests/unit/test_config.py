"""Loading a configuration: what each key becomes, where values come from, and how whole files fail."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from importlib.metadata import version as distribution_version
from pathlib import Path

import pytest

from alerts.settings import EmailChannel, Route, SlackWebhookChannel
from overrun.config import Config, load_config
from overrun.config_problems import ConfigError
from overrun.config_values import Assigned, parse_storage_version
from sql.secret import SecretReference

Load = Callable[..., Config]

FULL = """
[warehouse]
path = "w/warehouse.duckdb"
memory_limit = "2GB"
threads = 2
temp_directory = "spill"
[report]
path = "pages"
[[publish]]
path = "finance-vision.duckdb"
team = ["vision"]
[[source]]
name = "aws-main"
kind = "aws-export"
location = "exports/aws"
period = "2026-10"
currency = "USD"
was = "aws"
from = "2026-01"
until = "2027-01"
[[source]]
name = "gcp-main"
kind = "gcp-export"
location = "/srv/gcp"
settle_days = 0
replaces = "gcp-old"
[attribution]
project_tags = ["proj"]
accounts = { "1" = "vision" }
[[attribution.rule]]
project = "vision"
match = { tag = { project = "vision*", env = ["prod", "live"] }, account = "2222*" }
[[attribution.rule]]
team = "platform"
match = { account = ["3", "4"] }
[[team]]
name = "vision"
projects = ["vision", "detector"]
[[team]]
name = "platform"
[[channel]]
id = "vision-slack"
kind = "slack-webhook"
url = "env:VISION_SLACK_URL"
[[channel]]
id = "mail"
kind = "email"
smtp_host = "smtp.example.com"
username = "overrun"
password = "file:secrets/smtp"
from = "overrun@example.com"
to = ["a@example.com", "b@example.com"]
[[route]]
team = "vision"
channels = ["vision-slack"]
[[route]]
channels = ["mail"]
[[budget]]
id = "vision-monthly"
limit = { amount = "180000.50", currency = "USD" }
include = ["credits"]
scope = { project = ["vision", "detector"] }
thresholds = ["100%", "150000 USD", "12.5%"]
[[budget]]
id = "all"
limit = { amount = 200000, currency = "EUR" }
"""


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """Return a loader of a text as `overrun.toml`."""

    def load_text(
        text: str, environ: Mapping[str, str] | None = None, overrides: Mapping[str, object] | None = None
    ) -> Config:
        file = tmp_path / "overrun.toml"
        file.write_text(text, encoding="utf-8")
        return load_config(file, environ or {}, overrides)

    return load_text


def test_every_default_is_relative_to_the_file(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    config = load("")
    assert config.file == tmp_path / "overrun.toml"
    assert config.warehouse.path == tmp_path / "warehouse.duckdb"
    assert config.lock == tmp_path / "warehouse.duckdb.lock"
    assert config.publish == tmp_path / "finance.duckdb"
    assert config.landing == tmp_path / "landing"
    assert config.state == tmp_path / "state.sqlite"
    assert config.site == tmp_path / "site"
    assert (config.warehouse.memory_limit, config.warehouse.threads) == ("1GB", None)
    assert config.warehouse.storage_version == "v1.2.0"
    assert (config.sources, config.teams, config.budgets, config.publications) == ((), (), (), ())
    assert dict(config.attribution.tags)["project"] == ("project", "Project")
    assert dict(config.attribution.tags)["team"] == ("team",)


def test_a_relative_file_gives_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("overrun.toml").write_text("", encoding="utf-8")
    config = load_config(Path("overrun.toml"), {})
    assert config.landing == tmp_path / "landing"


def test_warehouse_report_and_publish(load: Load, tmp_path: Path) -> None:
    config = load(FULL)
    assert config.warehouse.path == tmp_path / "w/warehouse.duckdb"
    assert config.lock == tmp_path / "w/warehouse.duckdb.lock"
    assert config.warehouse.temp_directory == tmp_path / "spill"
    assert config.site == tmp_path / "pages"
    assert [(copy.path, copy.teams) for copy in config.publications] == [
        (tmp_path / "finance-vision.duckdb", ("vision",))
    ]


def test_sources(load: Load, tmp_path: Path) -> None:
    aws, gcp = load(FULL).sources
    assert (aws.name, aws.kind, aws.location) == ("aws-main", "aws-export", tmp_path / "exports/aws")
    assert (aws.period, aws.currency, aws.settle_days, aws.was) == ("2026-10", "USD", 1, "aws")
    assert (aws.from_month, aws.until_month) == (date(2026, 1, 1), date(2027, 1, 1))
    assert (gcp.location, gcp.period, gcp.settle_days) == (Path("/srv/gcp"), "from-rows", 0)
    assert (gcp.replaces, gcp.from_month, gcp.until_month) == ("gcp-old", None, None)


@pytest.mark.parametrize(
    ("kind", "period", "settle_days"),
    [("aws-export", None, 1), ("gcp-export", "from-rows", 2), ("focus-export", "from-rows", 2)],
)
def test_source_defaults_by_kind(load: Load, kind: str, period: str | None, settle_days: int) -> None:
    (source,) = load(f'[[source]]\nname = "a"\nkind = "{kind}"\nlocation = "x"\n').sources
    assert (source.period, source.settle_days) == (period, settle_days)


def test_attribution_and_teams(load: Load) -> None:
    config = load(FULL)
    first, second = config.attribution.rules
    assert first.sets == (("project", Assigned(before="vision")),)
    assert [(one.subject, one.tag_key, one.globs) for one in first.conditions] == [
        ("tag", "project", ("vision*",)),
        ("tag", "env", ("prod", "live")),
        ("account", "", ("2222*",)),
    ]
    assert second.sets == (("team", Assigned(before="platform")),)
    assert dict(config.attribution.tags)["project"] == ("proj",)
    assert config.attribution.accounts == (("1", "vision"),)
    assert [(team.name, team.projects) for team in config.teams] == [
        ("vision", ("vision", "detector")),
        ("platform", ()),
    ]


def test_channels_and_routes(load: Load, tmp_path: Path) -> None:
    alerts = load(FULL).alerts
    assert alerts.channels == (
        SlackWebhookChannel(id="vision-slack", url=SecretReference("env", "VISION_SLACK_URL")),
        EmailChannel(
            id="mail",
            smtp_host="smtp.example.com",
            username="overrun",
            password=SecretReference("file", str(tmp_path / "secrets/smtp")),
            sender="overrun@example.com",
            recipients=("a@example.com", "b@example.com"),
        ),
    )
    assert alerts.routes == (Route(team="vision", channels=("vision-slack",)), Route(team=None, channels=("mail",)))


def test_budgets(load: Load) -> None:
    vision, everything = load(FULL).budgets
    assert (vision.limit_amount, vision.currency, vision.basis) == (Decimal("180000.50"), "USD", "effective")
    assert (vision.includes_credits, vision.includes_tax, vision.includes_refunds) == (True, False, False)
    assert [(one.text, one.amount) for one in vision.thresholds] == [
        ("12.5%", Decimal("22500.0625")),
        ("150000 USD", Decimal(150000)),
        ("100%", Decimal("180000.50")),
    ]
    assert [(scope.dimension, scope.globs) for scope in vision.scopes] == [("project", ("vision", "detector"))]
    assert (everything.limit_amount, everything.scopes, everything.team) == (Decimal(200000), (), None)
    assert [one.text for one in everything.thresholds] == ["80%", "100%"]


@pytest.mark.parametrize(
    ("scope", "team"),
    [
        ('{ team = ["vision"] }', "vision"),
        ('{ team = "vision", project = "x" }', "vision"),
        ('{ team = "vis*" }', None),
        ('{ team = ["vision", "platform"] }', None),
        ('{ project = ["vision", "detector"] }', "vision"),
        ('{ project = ["vision", "ops"] }', None),
        ('{ project = "vision*" }', None),
        ('{ project = ["vision", "nobodys"] }', None),
        ('{ project = "nobodys" }', None),
    ],
)
def test_team_that_is_told_about_a_budget(load: Load, scope: str, team: str | None) -> None:
    text = f"""
[[team]]
name = "vision"
projects = ["vision", "detector"]
[[team]]
name = "platform"
projects = ["ops"]
[[budget]]
id = "b"
limit = {{ amount = "1", currency = "USD" }}
scope = {scope}
"""
    assert load(text).budgets[0].team == team


def test_precedence_is_option_environment_file_default(load: Load, tmp_path: Path) -> None:
    text = '[warehouse]\nmemory_limit = "2GB"\n'
    environ = {"OVERRUN_WAREHOUSE_MEMORY_LIMIT": "3GB", "OVERRUN_WAREHOUSE_THREADS": "4", "OVERRUN_REPORT_PATH": "www"}
    assert load("").warehouse.memory_limit == "1GB"
    assert load(text).warehouse.memory_limit == "2GB"
    config = load(text, environ)
    assert (config.warehouse.memory_limit, config.warehouse.threads, config.site) == ("3GB", 4, tmp_path / "www")
    config = load(text, environ, {"warehouse.memory_limit": "4GB", "warehouse.threads": None})
    assert (config.warehouse.memory_limit, config.warehouse.threads) == ("4GB", 4)


def test_a_variable_does_not_hide_that_the_file_is_wrong(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"written \[warehouse\]"):
        load("warehouse = 3", {"OVERRUN_WAREHOUSE_THREADS": "4"})


def test_an_empty_variable_counts_as_unset(load: Load) -> None:
    assert load("", {"OVERRUN_WAREHOUSE_PATH": ""}).warehouse.path.name == "warehouse.duckdb"


def test_a_bad_value_from_outside_names_where_it_came_from(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"environment variable OVERRUN_WAREHOUSE_THREADS: warehouse\.threads: "):
        load("[warehouse]\nthreads = 2", {"OVERRUN_WAREHOUSE_THREADS": "many"})
    with pytest.raises(ConfigError, match=r"option --memory-limit: warehouse\.memory_limit: must be a size"):
        load("", overrides={"warehouse.memory_limit": "lots"})


def test_a_misspelt_variable_is_a_warning(load: Load) -> None:
    (warning, _) = load("", {"OVERRUN_WAREHOUSE_THREDS": "2", "OVERRUN_OTHER": "x"}).warnings
    assert warning.key == "OVERRUN_WAREHOUSE_THREDS"
    assert warning.hint == "did you mean OVERRUN_WAREHOUSE_THREADS?"


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b'[warehouse]\npath = "x\n', 2, "broken TOML"),
        (b"[warehouse]\nthreads = [", 2, "broken TOML"),
        (b"[warehouse]\nthreads = 1\nthreads = 2\n", 3, "broken TOML"),
        (b"[warehouse]\r\n\r\nthreads = = 1\r\n", 3, "broken TOML"),
        (b"[[team]]\nname = 'a'\n[team]\n", 3, "broken TOML"),
        (b'# a\n# b\npath = "\xff"\n', 3, "is not UTF-8 text"),
    ],
)
def test_a_file_that_is_no_toml_is_one_error_with_its_line(
    tmp_path: Path, content: bytes, line: int, words: str
) -> None:
    file = tmp_path / "overrun.toml"
    file.write_bytes(content)
    with pytest.raises(ConfigError) as raised:
        load_config(file, {})
    (problem,) = raised.value.problems
    assert problem.place == f"{file}:{line}"
    assert problem.message.startswith(words)
    assert raised.value.hint


def test_deep_nesting_is_broken_toml(load: Load) -> None:
    with pytest.raises(ConfigError, match="broken TOML"):
        load("x = " + "[" * 100_000)


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    file = tmp_path / "overrun.toml"
    file.write_bytes(b'\xef\xbb\xbf[warehouse]\r\nmemory_limit = "2GB"\r\n')
    assert load_config(file, {}).warehouse.memory_limit == "2GB"


def test_a_missing_file_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no such file") as raised:
        load_config(tmp_path / "overrun.toml", {})
    assert raised.value.hint is not None
    assert "overrun init" in raised.value.hint


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path, {})


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file(tmp_path: Path) -> None:
    file = tmp_path / "overrun.toml"
    file.touch(mode=0)
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(file, {})


def test_the_version_in_use_is_a_storage_version() -> None:
    version = f"v{distribution_version('duckdb')}"
    assert parse_storage_version(version) == version


def test_the_configuration_is_frozen(load: Load) -> None:
    with pytest.raises(AttributeError):
        load("").lock = Path("/")  # type: ignore[misc]
