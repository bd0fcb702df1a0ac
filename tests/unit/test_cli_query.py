"""`overrun query`: formats, what is escaped and guarded, and what a query cannot reach."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from overrun.cli import main
from overrun.commands import query
from overrun.exits import Exit
from overrun.query_formats import CELL_LIMIT, guarded, json_value, write_csv, write_json, write_table
from sql.warehouse import Warehouse, literal
from tests.fakes.focus_house import write_house

Captured = pytest.CaptureFixture[str]


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = write_house(tmp_path_factory.mktemp("house"))
    assert main(["nightly", "--config", str(file), "--as-of", "2026-11-20", "-q"]) == Exit.DONE
    yield file


def ask(config: Path, *arguments: str) -> int:
    return main(["query", "--config", str(config), *arguments])


def test_a_table(config: Path, capsys: Captured) -> None:
    assert ask(config, "select project, billed_cost from marts.monthly_cost order by project desc") == Exit.DONE
    header, detector, hostile = capsys.readouterr().out.splitlines()
    assert header.split() == ["project", "billed_cost"]
    assert detector.split() == ["detector", "37.50"]
    assert "\x1b" not in hostile
    assert "\\u001B" in hostile


def test_marts_and_focus_need_no_schema(config: Path, capsys: Captured) -> None:
    sql = "select count(*) from monthly_cost union all select count(*) from cost_and_usage"
    assert ask(config, sql, "--format", "csv") == Exit.DONE
    assert capsys.readouterr().out.splitlines() == ["count_star()", "2", "6"]


def test_csv_guards_text_and_leaves_numbers(config: Path, capsys: Captured) -> None:
    sql = (
        "select '=1+1' as a, -12.5::decimal(9,2) as b, -2 as c, '-x' as d, null as e, '' as f, 'a\"b,c' as g, true as h"
    )
    assert ask(config, sql, "--format", "csv") == Exit.DONE
    assert capsys.readouterr().out == 'a,b,c,d,e,f,g,h\n\'=1+1,-12.50,-2,\'-x,,"","a""b,c",true\n'


@pytest.mark.parametrize("text", ["=1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "＝1", "  =1"])  # noqa: RUF001 - full width
def test_formulas_are_guarded(text: str) -> None:
    assert guarded(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "1-1", "ärger", " x"])
def test_other_text_is_left_alone(text: str) -> None:
    assert guarded(text) == text


def test_json_keeps_every_digit(config: Path, capsys: Captured) -> None:
    sql = "select 0.1::decimal(38,12) as cost, date '2026-11-01' as day, 2 as cost, [1.5] as list, 'nan'::double as n"
    assert ask(config, sql, "--json") == Exit.DONE
    assert json.loads(capsys.readouterr().out) == [
        {"cost": "0.100000000000", "day": "2026-11-01", "cost_1": 2, "list": ["1.5"], "n": "nan"}
    ]


def test_json_of_no_rows(config: Path, capsys: Captured) -> None:
    assert ask(config, "select 1 as x where false", "--format", "json") == Exit.DONE
    assert json.loads(capsys.readouterr().out) == []


def test_values_that_json_has_no_form_for() -> None:
    assert json_value({1: (b"\x01", datetime(2026, 1, 2, 3))}) == {"1": ["01", "2026-01-02T03:00:00"]}  # noqa: DTZ001
    assert json_value(date(2026, 1, 2)) == "2026-01-02"


def test_nothing_unseen_reaches_a_terminal() -> None:
    for writer in (write_csv, write_json, write_table):
        stream = Terminal()
        writer(["a\x1b"], iter([["b\x1b[2J\u202e"]]), stream)
        lines = stream.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
        assert "\x1b" not in lines
        assert "\u202e" not in lines


def test_a_table_trims_zeros_that_all_of_a_column_have() -> None:
    stream = io.StringIO()
    write_table(["a", "b"], iter([[Decimal("1.100000"), Decimal("7")], [Decimal("1.125000"), None]]), stream)
    assert stream.getvalue().split() == ["a", "b", "1.100", "7", "1.125", "-"]


def test_long_cells_of_a_table_are_cut_and_of_nothing_else(config: Path, tmp_path: Path, capsys: Captured) -> None:
    sql = "select repeat('x', 100) as a, repeat('\x1b', 100) as b, ['" + "y" * 100 + "'] as c, 1 as " + "n" * 100
    assert ask(config, sql) == Exit.DONE
    header, row = capsys.readouterr().out.splitlines()
    assert header.split() == ["a", "b", "c", "n" * 79 + "…"]
    a, b, c, number = row.split()
    assert (a, number) == ("x" * 79 + "…", "1")
    assert (b, len(c)) == ("\\u001B" * 13 + "\\…", 80)
    target = tmp_path / "a.txt"
    assert ask(config, sql, "--output", str(target)) == Exit.DONE
    assert "x" * 100 in target.read_text(encoding="utf-8")
    for whole in ("csv", "json"):
        assert ask(config, sql, "--format", whole) == Exit.DONE
        assert "x" * 100 in capsys.readouterr().out


def test_help_says_that_cells_are_cut(capsys: Captured) -> None:
    assert main(["query", "--help"]) == Exit.DONE
    assert f"cuts cells at {CELL_LIMIT} characters" in " ".join(capsys.readouterr().out.split())


def test_what_a_table_holds_is_listed_whole(config: Path, capsys: Captured) -> None:
    assert ask(config, "--tables") == Exit.DONE
    assert "…" not in capsys.readouterr().out


def test_a_long_table_is_cut_on_a_terminal_and_says_so(
    config: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "ROWS_ON_TERMINAL", 3)
    shown = Terminal()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", shown)
        assert ask(config, "from range(5)") == Exit.DONE
    assert len(shown.getvalue().splitlines()) == 4
    assert "only the first 3 rows are shown" in capsys.readouterr().err
    assert ask(config, "from range(5)") == Exit.DONE
    assert len(capsys.readouterr().out.splitlines()) == 6


def test_a_limit(config: Path, capsys: Captured) -> None:
    assert ask(config, "from range(5)", "--limit", "2", "--format", "csv") == Exit.DONE
    assert capsys.readouterr().out == "range\n0\n1\n"


def test_parquet_goes_to_a_file_in_order(config: Path, tmp_path: Path) -> None:
    target = tmp_path / "it's.parquet"
    sql = "select 1.5::decimal(38,12) as cost, i from range(5) as r(i) order by i desc; -- done"
    assert ask(config, sql, "--output", str(target), "--limit", "2") == Exit.DONE
    with Warehouse.in_memory() as reader:
        rows = reader.rows(f"select cost, i from read_parquet({literal(str(target))})")
    assert rows == [(Decimal("1.5"), 4), (Decimal("1.5"), 3)]
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


def test_parquet_is_not_for_a_terminal(config: Path, capsys: Captured) -> None:
    assert ask(config, "select 1", "--format", "parquet") == Exit.USAGE
    assert "hint: add --output FILE" in capsys.readouterr().err


def test_the_format_follows_the_ending_of_the_file(config: Path, tmp_path: Path) -> None:
    for name, content in (("a.csv", "x\n1\n"), ("a.json", '[\n{"x": 1}\n]\n'), ("a.txt", "x\n1\n")):
        assert ask(config, "select 1 as x", "--output", str(tmp_path / name)) == Exit.DONE
        assert (tmp_path / name).read_text(encoding="utf-8") == content


def test_a_failing_query_leaves_the_file_as_it_was(config: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("mine", encoding="utf-8")
    assert ask(config, "select 'x'::int", "--output", str(tmp_path / "a.csv")) == Exit.USAGE
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("a.csv", "mine")]


@pytest.mark.parametrize(
    "name", ["finance.duckdb", "warehouse.duckdb", "state.sqlite", "overrun.toml", "landing/x.csv"]
)
def test_what_overrun_lives_by_is_not_written(config: Path, name: str, capsys: Captured) -> None:
    assert ask(config, "select 1", "--output", str(config.parent / name)) == Exit.USAGE
    assert "belongs to Overrun itself" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "said"), [("/dev/stdout", "is not a file"), ("nowhere/x.csv", "there is no folder")])
def test_output_that_is_no_file(config: Path, name: str, said: str, capsys: Captured) -> None:
    assert ask(config, "select 1", "--output", name) == Exit.USAGE
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sql", "said", "hint"),
    [
        (
            "select * from projct_daily_cost",
            "table with name projct_daily_cost",
            "did you mean marts.project_daily_cost?",
        ),
        ("select * from zzz", "table with name zzz", "overrun query --tables"),
        ("select nope from marts.monthly_cost", 'column "nope" not found', '"invoice_id"'),
        ("selec 1", 'syntax error at or near "selec"', "--help has examples"),
        ("select", "error: SELECT clause without selection list", "--help has examples"),
        ("select 'x'::int", "could not convert string", "overrun query --tables"),
        ("select 1; select 2", "2 statements", "one SELECT"),
        ("/* nothing */", "there is no SQL", "overrun query"),
        ("drop table marts.monthly_cost", "drop statements are not run", "--output FILE"),
        ("copy (select 1) to '/tmp/x'", "copy statements are not run", "one SELECT"),
        ("attach '/tmp/x'", "attach statements are not run", "one SELECT"),
        ("install httpfs", "load statements are not run", "one SELECT"),
        ("set enable_external_access = true", "set statements are not run", "one SELECT"),
        ("explain analyze copy (select 1) to '/tmp/x'", "explain statements are not run", "one SELECT"),
        ("from read_text('/etc/passwd')", "cannot access file", "out of its reach"),
        ("from read_csv('https://example.com/x.csv')", "", "out of its reach"),
        ("from glob('/etc/*')", "cannot access file", "out of its reach"),
        ("from '/etc/passwd'", "table with name /etc/passwd", "overrun query --tables"),
        ("from config", "table with name config", "overrun query --tables"),
        ("from sqlite_scan('state.sqlite', 'run')", "", "out of its reach"),
    ],
)
def test_a_wrong_query_is_one_clear_error(config: Path, sql: str, said: str, hint: str, capsys: Captured) -> None:
    assert ask(config, sql) == Exit.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    error, _, hinted = captured.err.partition("\n\nhint: ")
    assert error.startswith("error: ")
    assert said in error
    assert hint in hinted
    assert "LINE" not in captured.err
    assert len(captured.err.splitlines()) == 3


@pytest.mark.parametrize("text", ["select '\udcff'", "select 1\0"])
def test_what_is_no_text_is_refused(config: Path, text: str, capsys: Captured) -> None:
    assert ask(config, text) == Exit.USAGE
    assert "not UTF-8 text" in capsys.readouterr().err


INTERRUPT = """
import os, signal, sys, threading
from overrun.cli import main
from sql.waypoints import OBSERVER

def press_ctrl_c(kind, detail, edge):
    if detail.startswith("select count(*)") and edge == "before":
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()

# A test run in the background hands on that it ignores the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
OBSERVER.set(press_ctrl_c)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) from range(10000000000) as a, range(100000) as b",
        "select count(*), i from range(9000000) as r(i) group by i",
    ],
    ids=["while it computes", "while it is written"],
)
def test_an_interrupted_query_is_no_fault(sql: str, config: Path, repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT, "query", "--config", str(config), "--format", "csv", sql],
        cwd=repository,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == Exit.INTERRUPTED
    assert done.stderr.strip().startswith("error: interrupted")


def test_sql_from_stdin(config: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("select 42 as x;\n"))
    assert ask(config, "-") == Exit.DONE
    assert capsys.readouterr().out.split() == ["x", "42"]


@pytest.mark.parametrize("arguments", [[], ["select 1", "--tables"], ["--json", "--format", "csv", "select 1"]])
def test_options_that_do_not_fit(config: Path, arguments: list[str]) -> None:
    assert ask(config, *arguments) == Exit.USAGE


def test_tables_and_columns_say_what_they_hold(config: Path, capsys: Captured) -> None:
    assert ask(config, "--tables", "--json") == Exit.DONE
    tables = {row["table"]: row["holds"] for row in json.loads(capsys.readouterr().out)}
    assert {"focus.cost_and_usage", "marts.monthly_cost"} <= set(tables)
    assert all(tables.values())
    for name in ("marts.monthly_cost", "Monthly_Cost"):
        assert ask(config, "--columns", name, "--json") == Exit.DONE
        columns = json.loads(capsys.readouterr().out)
        assert columns[0] == {"column": "source", "type": "VARCHAR", "holds": columns[0]["holds"]}
        assert all(column["holds"] for column in columns)
    assert ask(config, "--columns", "monthly_costs") == Exit.USAGE
    assert "did you mean marts.monthly_cost?" in capsys.readouterr().err


def test_no_copy_yet(tmp_path: Path, capsys: Captured) -> None:
    assert ask(write_house(tmp_path), "select 1") == Exit.USAGE
    assert "hint: run overrun nightly once" in capsys.readouterr().err


def test_a_copy_that_is_no_database(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    (tmp_path / "finance.duckdb").write_text("x" * 5000, encoding="utf-8")
    assert ask(config, "select 1") == Exit.USAGE
    assert "overrun publish --force" in capsys.readouterr().err


HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("held", flush=True)
sys.stdin.read()
"""


def test_a_copy_that_somebody_has_open_for_writing_names_the_pid(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "finance.duckdb")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        assert ask(config, "select 1") == Exit.LOCKED
        assert main(["status", "--config", str(config)]) == Exit.LOCKED
        captured = capsys.readouterr()
        assert captured.err.count(f"process {holder.pid}") == 2
        assert captured.err.count("open it read-only") == 2
        assert main(["doctor", "--offline", "--config", str(config)]) == Exit.DONE
        assert f"open for writing in process {holder.pid}" in capsys.readouterr().out
        holder.communicate("")


def test_a_reader_that_goes_away_is_no_error(config: Path, repository: Path) -> None:
    line = f"{sys.executable} -m overrun query --config {config} 'from range(1000000)' --format csv | head -n 2"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], cwd=repository, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "range\n0\n", "")
