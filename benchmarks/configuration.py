"""The configuration of a measured night: attribution by tag, rule and account, a team, budgets; no channel."""

from __future__ import annotations

from collections.abc import Iterator
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


def write_configuration(folder: Path, *, tables: str = "") -> Path:
    """Write `overrun.toml` into `folder`, `tables` at its end; its source is the folder `export` beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "overrun.toml"
    path.write_text(f"{_TEXT}\n{tables}", encoding="utf-8")
    return path


def attribution_rules(count: int, *, last_team: str = "last") -> str:
    """Return tables for `count` rules more, on tags, accounts, services and regions, exact and by pattern.

    The last of them names `last_team`, so that a rule can be changed.
    """
    bodies = [body for number, body in zip(range(count - 1), _rules(), strict=False)]
    bodies.append(f'team = "{last_team}"\nmatch = {{ tag = {{ name = "loader-77*" }} }}')
    return "\n\n".join(f"[[attribution.rule]]\n{body}" for body in bodies)


def _rules() -> Iterator[str]:
    """Yield rules without end, six kinds in turn."""
    for number in range(10_000):
        project, team = f"project-{number % 60}", f"team-{number % 12}"
        yield f'project = "p{number}"\nmatch = {{ tag = {{ project = "{project}", team = "{team}" }} }}'
        yield f'team = "t{number}"\nmatch = {{ tag = {{ name = ["worker-{number}*", "web-{number}*"] }} }}'
        yield f'cost_centre = "c{number}"\nmatch = {{ account = "3000{number % 100:02}*", service = "Amazon *" }}'
        tags = f'environment = "prod*", cost_centre = "CC-1{number:03}"'
        yield f'environment = "e{number}"\nmatch = {{ tag = {{ {tags} }} }}'
        yield f'workload = "training"\nmatch = {{ region = "us-*", tag = {{ name = "*-{number:03}" }} }}'
        yield f'project = "q{number}"\nmatch = {{ tag = {{ team = "*-{number % 12}" }}, account = "*{number:03}" }}'


def shared_costs(count: int) -> str:
    """Return tables for `count` splits, five kinds in turn; what some of them give is taken again by later ones."""
    bodies = (f'name = "split-{number}"\n{body}' for number, body in zip(range(count), _splits(), strict=False))
    return "\n\n".join(f"[[split]]\n{body}" for body in bodies)


def _splits() -> Iterator[str]:
    """Yield splits without end."""
    weights = 'weights = { project-1 = "1", project-3 = "2", project-5 = "3" }'
    for number in range(1_000):
        service = ("Support", "Config", "Trail", "Inspector")[number % 4]
        yield f'share = {{ service = "*{service}*" }}'
        compute = 'of = { service_category = "Compute" }'
        yield f'share = {{ charge_category = "Tax", billing_account = "*{number}" }}\n{compute}'
        yield f'share = {{ project = "project-{10 + number}" }}\nby = "weights"\n{weights}'
        yield f'share = {{ team = "team-{number % 12}", service = "*Elastic Load*" }}\nby = "even"'
        yield f'share = {{ project = "project-{30 + number}", service_category = "Networking" }}\neach = "team"'
