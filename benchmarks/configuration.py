"""The configuration of a measured night: attribution by tag, rule and account, a team, budgets; no channel."""

from __future__ import annotations

from pathlib import Path

_TEXT = """\
[warehouse]
path = "warehouse.duckdb"
threads = 2

[[source]]
name = "aws-main"
kind = "aws-export"
location = "export"

[attribution]
project_tags = ["project"]
team_tags = ["team"]
accounts = { "300000000000" = "vision" }

[[attribution.rule]]
project = "training"
match = { tag = { name = "trainer-*" } }

[[attribution.rule]]
team = "platform"
match = { account = ["30000*", "30001*"] }

[[team]]
name = "platform"
projects = ["training", "vision"]

[[budget]]
id = "everything"
measure = "cost"
limit = { amount = "30000000", currency = "USD" }
period = { every = "month" }
thresholds = ["80%", "100%"]

[[budget]]
id = "training"
measure = "cost"
limit = { amount = "5000000", currency = "USD" }
scope = { project = ["training", "project-1*"] }
period = { every = "month" }
thresholds = ["80%", "100%"]
"""


def write_configuration(folder: Path) -> Path:
    """Write `overrun.toml` into `folder`; its source is the folder `export` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "overrun.toml"
    path.write_text(_TEXT, encoding="utf-8")
    return path
