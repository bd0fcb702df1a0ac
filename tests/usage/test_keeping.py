"""Runs outlive what happens to their source and their warehouse; models that read them are built when they changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from ingest.landed import create_macros
from ingest.privacy import Privacy, PrivacySettings
from overrun.cli import main
from overrun.exits import Exit
from sql.runner import build
from sql.secret import SecretReference
from sql.usage import usage_digest, usage_hashes
from sql.warehouse import Row, Warehouse
from tests.fakes.parts import load_part
from tests.usage.loading import HEADER, Loading, job

CONFIG = """\
[[source]]
name = "{name}"
kind = "slurm"
location = "sacct"
{more}
"""


def configure(folder: Path, name: str = "hpc", more: str = "") -> None:
    (folder / "overrun.toml").write_text(CONFIG.format(name=name, more=more), encoding="utf-8")


def run(folder: Path, *words: str) -> int:
    return main([*words, "--config", str(folder / "overrun.toml"), "--as-of", "2026-11-20"])


def published(folder: Path, query: str) -> Sequence[Row]:
    with Warehouse.open_published(folder / "finance.duckdb") as copy:
        return copy.rows(query)


CHARGE = {
    "x_Source": "aws", "ProviderName": "AWS", "ChargeCategory": "Usage", "BillingCurrency": "USD",
    "ChargePeriodStart": "2026-10-05 08:00:00", "ChargePeriodEnd": "2026-10-05 09:00:00", "BilledCost": 0,
    "EffectiveCost": 0, "ListCost": 0, "ContractedCost": 0,
}  # fmt: skip
RUNS = "select source, run_id, state from usage.run order by all"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sacct").mkdir()
    (tmp_path / "sacct" / "a.log").write_text(f"{HEADER}\n{job('1')}\n", encoding="utf-8")
    configure(tmp_path)
    return tmp_path


def test_a_night_of_runs_alone_is_a_night_and_the_second_changes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, "nightly") == Exit.DONE
    assert published(folder, RUNS) == [("hpc", "1", "completed")]
    before = (folder / "finance.duckdb").stat().st_mtime_ns
    assert run(folder, "nightly") == Exit.DONE
    assert (folder / "finance.duckdb").stat().st_mtime_ns == before

    capsys.readouterr()
    assert run(folder, "status", "--json") == Exit.DONE
    [source] = json.loads(capsys.readouterr().out)["run_sources"]
    assert (source["source"], source["kind"], source["files"], source["attempts"]) == ("hpc", "slurm", 1, 1)


def test_words_for_states_that_nobody_knows_are_told_and_stay_unknown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = ["SOMETHING_NEW", "SOMETHING_NEW", "OTHER by 5", "", "UNKNOWN", "COMPLETED"]
    rows = [job(str(number), State=state) for number, state in enumerate(states)]
    (folder / "sacct" / "a.log").write_text("\n".join([HEADER, *rows]) + "\n", encoding="utf-8")
    assert run(folder, "nightly") == Exit.DONE
    words = "SOMETHING_NEW 2, (empty) 1, OTHER by 5 1"
    [warning] = [line for line in capsys.readouterr().err.splitlines() if "states_unknown" in line]
    assert "hpc" in warning
    assert words in warning

    assert run(folder, "status") == Exit.DONE
    assert f"4 rows of unknown state ({words})" in capsys.readouterr().out
    assert run(folder, "status", "--json") == Exit.DONE
    [source] = json.loads(capsys.readouterr().out)["run_sources"]
    assert source["unknown_states"] == {"SOMETHING_NEW": 2, "(empty)": 1, "OTHER by 5": 1}
    assert published(folder, "select count(*) from usage.run where state = 'unknown'") == [(5,)]


def test_a_bad_file_ends_the_night_with_its_code_and_what_was_loaded_stays(folder: Path) -> None:
    assert run(folder, "nightly") == Exit.DONE
    bad = folder / "sacct" / "b.log"
    bad.write_text(f"{HEADER}\n8|c1\n", encoding="utf-8")
    assert run(folder, "nightly") == Exit.REFUSED
    bad.unlink()
    (folder / "sacct" / "b.gz").write_bytes(b"no archive")
    assert run(folder, "nightly") == Exit.SOURCE
    assert published(folder, RUNS) == [("hpc", "1", "completed")]


def test_a_rebuild_keeps_runs_that_no_file_lists_any_more(folder: Path) -> None:
    assert run(folder, "nightly") == Exit.DONE
    (folder / "sacct" / "a.log").write_text(f"{HEADER}\n{job('2')}\n", encoding="utf-8")
    assert run(folder, "nightly") == Exit.DONE
    assert run(folder, "rebuild") == Exit.DONE
    assert run(folder, "nightly") == Exit.DONE
    assert published(folder, RUNS) == [("hpc", "1", "completed"), ("hpc", "2", "completed")]
    assert published(folder, "select count(*) from ops.usage_load") == [(2,)]


def test_a_renamed_source_takes_its_runs_along_and_a_dropped_one_loses_them(folder: Path) -> None:
    assert run(folder, "nightly") == Exit.DONE
    configure(folder, "cluster", 'was = "hpc"')
    assert run(folder, "nightly") == Exit.DONE
    assert published(folder, RUNS) == [("cluster", "1", "completed")]
    assert run(folder, "source", "drop", "cluster") == Exit.USAGE

    configure(folder, "other")
    assert run(folder, "source", "drop", "cluster") == Exit.DONE
    assert published(folder, RUNS) == []


def test_a_new_version_adds_columns_and_loses_nothing(folder: Path) -> None:
    assert run(folder, "nightly") == Exit.DONE
    import duckdb

    with duckdb.connect(str(folder / "warehouse.duckdb")) as earlier:
        earlier.execute("alter table usage.run drop column tokens_per_second")
        earlier.execute("update ops.meta set value = 'earlier' where key in ('view_hash', 'conversion_hash')")
    assert run(folder, "nightly") == Exit.DONE
    assert published(folder, f"select run_id, tokens_per_second from ({RUNS.replace('state', '*')})") == [("1", None)]


def test_names_are_hashed_and_those_loaded_before_on_the_way_into_a_new_warehouse(loading: Loading) -> None:
    from ingest.usage.kept import hide_in_runs

    loading.write(HEADER, job())
    loading.load()
    settings = PrivacySettings(
        key=SecretReference.parse("env:KEY", Path()), kinds=("user", "principal", "job-name"), tags=()
    )
    privacy = Privacy(settings=settings, key=b"a key of more than sixteen characters")
    create_macros(loading.warehouse, privacy)
    hide_in_runs(loading.warehouse)
    loading.write(HEADER, job("8"), name="b.log")
    loading.load()
    hide_in_runs(loading.warehouse)

    assert loading.rows("user_name, run_name") == [(privacy.hashed("ada"), privacy.hashed("train"))] * 2


def test_tonights_runs_look_at_charges_of_near_months_only(loading: Loading) -> None:
    for month in (date(2026, 1, 1), date(2026, 9, 1), date(2026, 10, 1)):
        load_part(loading.warehouse, source="aws", month=month, charges=[CHARGE | {"x_BillingMonth": month}])
    loading.build()
    loading.write(HEADER, job())
    loading.load()
    built = build(loading.warehouse).built

    assert [month for model, month in built if model == "core.run_charge"] == ["2026-09-01", "2026-10-01"]
    assert ("marts.run_costs", None) in built
    assert not [model for model, _ in built if model in {"core.charge_cube", "marts.monthly_cost"}]
    assert not build(loading.warehouse).changed
    loading.write(HEADER, job(), name="again.log")
    loading.load()
    assert not build(loading.warehouse).changed, "the same rows in another file are nothing new"


def test_a_run_without_an_end_is_of_every_month(loading: Loading) -> None:
    loading.write(HEADER, job(State="RUNNING", End="Unknown"))
    loading.load()
    hashes = usage_hashes(loading.warehouse)["usage.run"]

    assert list(hashes) == [""]
    assert usage_digest(hashes, "2027-05-01") != usage_digest({}, "2027-05-01")


def test_two_runs_on_one_machine_share_what_it_cost_and_the_rest_is_nobodys(loading: Loading) -> None:
    hour = CHARGE | {"x_BillingMonth": date(2026, 10, 1), "ResourceId": "i-1", "x_PromotionalCredit": -32}
    load_part(loading.warehouse, source="aws", month=date(2026, 10, 1), charges=[hour])
    half = {"NodeList": "i-1", "End": "2026-10-05T08:30:00"}
    loading.write(HEADER, job("1", AllocTRES="gres/gpu=2", **half), job("2", AllocTRES="gres/gpu=4", **half))
    loading.load()
    nodes = loading.source("capacity", name="own", cluster="c1", location=loading.folder / "nodes.csv")
    loading.write("node,gpu_count", "i-1,8", name="nodes.csv")
    loading.load(nodes)
    loading.build()

    # An hour of 8 accelerators is 32 dollars that a grant pays: 2 of 8 for half of it, 4 of 8, and 20 that nobody held.
    assert loading.rows("run_id, cost_method, cost_before_credits", "marts.run_costs") == [
        ("1", "machine", Decimal(4)),
        ("2", "machine", Decimal(8)),
    ]
    idle = loading.rows("cost_before_credits", "core.machine_cost where attempt_id is null")
    assert idle == [(Decimal(20),)]
