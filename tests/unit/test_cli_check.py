"""`overrun check` and `overrun init`."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from overrun.cli import main
from overrun.commands.check import schema_text
from overrun.commands.init import TEMPLATE
from overrun.config import load_config
from overrun.config_problems import known_keys
from overrun.config_schema import Document
from overrun.exits import Exit

GOOD = '[[source]]\nname = "a"\nkind = "aws-export"\nlocation = "exports"\n'


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, name: str = "overrun.toml") -> Path:
    Path(name).write_text(text, encoding="utf-8")
    return Path(name)


def uncommented() -> str:
    """Return the template with every key in force."""
    return re.sub(r"(?m)^#(?! )", "", TEMPLATE)


def test_init_writes_a_file_that_check_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init"]) == Exit.DONE
    assert "overrun.toml" in capsys.readouterr().out
    assert main(["check"]) == Exit.DONE
    assert "ok: 0 sources, 0 teams, 0 channels, 0 routes, 0 budgets" in capsys.readouterr().out


def test_init_leaves_a_file_alone_unless_forced(capsys: pytest.CaptureFixture[str]) -> None:
    file = write("# mine\n")
    assert main(["init"]) == Exit.USAGE
    assert "hint: add --force" in capsys.readouterr().err
    assert file.read_text(encoding="utf-8") == "# mine\n"
    assert main(["init", "--force", "--json"]) == Exit.DONE
    assert json.loads(capsys.readouterr().out)["file"] == str(file.absolute())
    assert file.read_text(encoding="utf-8") == TEMPLATE


def test_init_makes_the_folder_of_the_file() -> None:
    assert main(["init", "--config", "new/folder/o.toml"]) == Exit.DONE
    assert Path("new/folder/o.toml").is_file()


def test_init_where_nothing_can_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    write("", "file")
    assert main(["init", "--config", "file/overrun.toml"]) == Exit.USAGE
    assert "cannot be written" in capsys.readouterr().err


def test_the_template_is_valid_with_every_key_in_force() -> None:
    file = write(uncommented())
    config = load_config(file, {})
    assert (len(config.sources), len(config.alerts.channels), len(config.budgets)) == (3, 2, 1)
    assert config.warnings == ()
    assert [split.method for split in config.splits] == ["cost", "cost", "weights", "usage"]


def test_the_template_shows_every_key() -> None:
    shown = tomllib.loads(uncommented())
    missing = [path for path in all_keys() if not is_shown(shown, path)]
    assert missing == []


def all_keys() -> list[tuple[str, ...]]:
    """Return every key that the file may have."""
    paths: list[tuple[str, ...]] = []
    open_paths: list[tuple[str, ...]] = [(key,) for key in known_keys(Document)]
    while open_paths:
        path = open_paths.pop()
        paths.append(path)
        open_paths += [(*path, key) for key in known_keys(Document, path)]
    assert ("channel", "smtp_host") in paths
    return paths


def is_shown(value: Any, path: tuple[str, ...]) -> bool:  # noqa: ANN401 - any TOML value
    if not path:
        return True
    if isinstance(value, list):
        return any(is_shown(element, path) for element in value)
    return isinstance(value, dict) and path[0] in value and is_shown(value[path[0]], path[1:])


def test_defaults_in_the_template_are_the_real_ones(tmp_path: Path) -> None:
    shown = load_config(write(uncommented()), {})
    plain = load_config(write(""), {})
    assert shown.attribution.tags == plain.attribution.tags
    assert (shown.publish, shown.landing, shown.state) == (plain.publish, plain.landing, plain.state)
    assert (shown.site, shown.lock, shown.warehouse.path) == (plain.site, plain.lock, plain.warehouse.path)
    assert shown.warehouse.memory_limit == plain.warehouse.memory_limit
    assert shown.warehouse.storage_version == plain.warehouse.storage_version
    assert shown.warehouse.temp_directory == tmp_path / "warehouse.duckdb.tmp"


def test_check_counts_and_warns(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD)
    assert main(["check"]) == Exit.DONE
    warning, counted = capsys.readouterr().out.splitlines()
    assert warning.startswith("warning: ")
    assert "there is nothing at" in warning
    assert counted == "ok: 1 source, 0 teams, 0 channels, 0 routes, 0 budgets"


def test_check_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    Path("exports").mkdir()
    write(GOOD)
    assert main(["check", "--json"]) == Exit.DONE
    answer = json.loads(capsys.readouterr().out)
    assert (answer["is_ok"], answer["sources"], answer["warnings"]) == (True, 1, [])


def test_check_tells_each_problem_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD + "currncy = 'USD'\nsettle_days = -1\n")
    assert main(["check"]) == Exit.USAGE
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "overrun.toml:5: source.currncy: unknown key (did you mean currency?)" in captured.err
    assert "overrun.toml:6: source.settle_days: " in captured.err


def test_check_tells_problems_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    write(GOOD + "currncy = 'USD'\n")
    assert main(["check", "--json"]) == Exit.USAGE
    answer = json.loads(capsys.readouterr().out)
    assert (answer["code"], answer["is_ok"]) == (2, False)
    assert [(problem["place"], problem["key"]) for problem in answer["problems"]] == [
        ("overrun.toml:5", "source.currncy")
    ]


def test_the_file_is_named_by_option_then_variable_then_default(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("x = 1", "by-variable.toml")
    write("x = 1", "by-option.toml")
    write("x = 1")
    main(["check"])
    assert "overrun.toml:1" in capsys.readouterr().err
    monkeypatch.setenv("OVERRUN_CONFIG", "by-variable.toml")
    main(["check"])
    assert "by-variable.toml:1" in capsys.readouterr().err
    main(["check", "--config", "by-option.toml"])
    assert "by-option.toml:1" in capsys.readouterr().err


def test_check_resolves_no_secret(capsys: pytest.CaptureFixture[str]) -> None:
    write('[[channel]]\nid = "s"\nkind = "slack-webhook"\nurl = "env:NOT_SET_ANYWHERE"\n[[route]]\nchannels = ["s"]\n')
    assert main(["check"]) == Exit.DONE
    assert "NOT_SET" not in capsys.readouterr().out


def test_the_published_schema_is_current(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    published = (repository / "docs/overrun.schema.json").read_text(encoding="utf-8")
    assert published == schema_text(), "run: overrun check --schema > docs/overrun.schema.json"
    assert main(["check", "--schema"]) == Exit.DONE
    assert capsys.readouterr().out == published


def test_the_schema_knows_every_key() -> None:
    schema = json.loads(schema_text())
    assert set(schema["properties"]) == set(known_keys(Document))
    assert set(schema["$defs"]["SourceTable"]["properties"]) == set(known_keys(Document, ("source",)))
    assert "from" in schema["$defs"]["EmailTable"]["required"]
