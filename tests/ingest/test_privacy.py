"""[privacy]: names of people and jobs are in no file that is published, and the same from night to night."""

from __future__ import annotations

import hashlib
import hmac
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.landed import create_macros
from ingest.privacy import KINDS, Privacy, PrivacySettings, resolve_privacy
from overrun.cli import main
from overrun.config import load_config
from overrun.config_problems import ConfigError
from overrun.exits import Exit
from sql.secret import SecretReference
from sql.warehouse import Row, Warehouse
from tests.fakes.exports import cur_line, deliver_export, gcp_row, write_gcp
from tests.fakes.parts import make_warehouse

KEY = "correct horse battery staple"
CONFIG = """\
[[source]]
name = "aws"
kind = "aws-export"
location = "exports/aws"
[[source]]
name = "gcp"
kind = "gcp-export"
location = "exports/gcp"
"""
PRIVACY = """
[privacy]
key = "env:OVERRUN_PRIVACY_KEY"
tags = ["desk*"]
"""
PLAIN = (b"bob@example", b"bert-finetune", b"desk-17", b"alice")


def privacy(**chosen: tuple[str, ...]) -> Privacy:
    settings = PrivacySettings(
        key=SecretReference("env", "K"), kinds=chosen.get("kinds", tuple(KINDS)), tags=chosen.get("tags", ())
    )
    return Privacy(settings=settings, key=KEY.encode())


def hashed(value: str, key: str = KEY) -> str:
    return f"h-{hmac.new(key.encode(), value.encode(), hashlib.sha256).hexdigest()[:24]}"


@pytest.fixture
def session() -> Iterator[Warehouse]:
    with make_warehouse() as warehouse:
        create_macros(warehouse, privacy(tags=("desk*",)))
        yield warehouse


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"owner":"bob","project":"x"}', f'{{"owner":"{hashed("bob")}","project":"x"}}'),
        ('{"user:Owner":"bob"}', f'{{"user:Owner":"{hashed("bob")}"}}'),
        ('{"tag/123/desk-id":"ü\\"\\n"}', f'{{"tag/123/desk-id":"{hashed(chr(252) + chr(34) + chr(10))}"}}'),
        ('{"project":"owner"}', '{"project":"owner"}'),
        ('{"ownership":"x"}', f'{{"ownership":"{hashed("x")}"}}'),
        ('{"user_project":"x","jobs":"3"}', '{"user_project":"x","jobs":"3"}'),
        ("{}", "{}"),
        (None, None),
    ],
)
def test_values_of_hidden_tags_are_hashed(session: Warehouse, given: str | None, expected: str | None) -> None:
    assert session.value("select private_tags(?::varchar)", [given]) == expected


def test_a_key_that_stands_twice_hides_all(session: Warehouse) -> None:
    tags = '{"owner":"bob","owner":"alice"}'
    assert session.value("select private_tags(?)", [tags]) == f'{{"hidden":"{hashed(tags)}"}}'


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("arn:aws:sagemaker:r:1:training-job/bert-1", f"arn:aws:sagemaker:r:1:training-job/{hashed('bert-1')}"),
        ("arn:aws:glue:r:1:job/load", f"arn:aws:glue:r:1:job/{hashed('load')}"),
        ("arn:aws:quicksight:r:1:user/default/b@x", f"arn:aws:quicksight:r:1:user/{hashed('default/b@x')}"),
        ("i-0abc", "i-0abc"),
        ("arn:aws:sagemaker:r:1:endpoint/live", "arn:aws:sagemaker:r:1:endpoint/live"),
        (None, None),
    ],
)
def test_names_in_ids_are_hashed(session: Warehouse, given: str | None, expected: str | None) -> None:
    assert session.value("select private_resource(?::varchar)", [given]) == expected


def test_the_name_of_a_hidden_resource_is_hashed_too(session: Warehouse) -> None:
    name = "select private_name('x', ?)"
    assert session.value(name, ["a:job/x"]) == hashed("x")
    assert session.value(name, ["i-1"]) == "x"


def test_without_privacy_nothing_changes() -> None:
    with make_warehouse() as warehouse:
        create_macros(warehouse)
        tags_given = """private_tags('{"owner":"b"}')"""
        row = warehouse.row(f"select {tags_given}, private_resource('a:job/x'), private_name('n', 'a:job/x')")
    assert row == ('{"owner":"b"}', "a:job/x", "n")


def test_python_hashes_as_sql_does(session: Warehouse) -> None:
    assert privacy().hashed("bob") == session.value("select private_hash('bob')") == hashed("bob")
    assert privacy().tag_value("Owner", "bob") == hashed("bob")
    assert privacy().tag_value("project", "bob") == "bob"
    assert KEY not in repr(privacy())


def test_a_choice_has_a_digest_of_its_own() -> None:
    digests = {privacy().digest, privacy(kinds=("user",)).digest, privacy(tags=("x",)).digest}
    assert len(digests) == 3


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OVERRUN_PRIVACY_KEY", KEY)
    line = cur_line(
        line_item_resource_id="arn:aws:sagemaker:us-east-1:1:training-job/bert-finetune",
        resource_tags={"user_owner": "bob@example", "user_project": "det"},
    )
    deliver_export(tmp_path / "exports/aws", "2026-10", [[line]])
    labels = [{"key": "created_by", "value": "alice"}, {"key": "desk_no", "value": "desk-17"}]
    write_gcp(tmp_path / "exports/gcp/a.json", [gcp_row(labels=labels)])
    for path in (tmp_path / "exports").rglob("*"):
        os.utime(path, (1_790_000_000, 1_790_000_000))
    (tmp_path / "overrun.toml").write_text(CONFIG + PRIVACY, encoding="utf-8")
    return tmp_path


def night(house: Path) -> int:
    return main(["nightly", "--config", str(house / "overrun.toml"), "--as-of", "2026-11-20", "-q"])


def tags(house: Path) -> list[Row]:
    with Warehouse.open_published(house / "finance.duckdb") as finance:
        return finance.rows("select tag_key, tag_value from core.tag_set order by all")


def plain(house: Path) -> list[bytes]:
    content = b"".join((house / name).read_bytes() for name in ("finance.duckdb", "warehouse.duckdb", "state.sqlite"))
    return [name for name in (*PLAIN, KEY.encode()) if name in content]


def test_no_published_byte_holds_a_name(house: Path) -> None:
    assert night(house) == Exit.DONE
    assert plain(house) == []
    found = {str(value) for _, value in tags(house)}
    assert {hashed(name.decode()) for name in PLAIN if name != b"bert-finetune"} <= found
    with Warehouse.open_published(house / "finance.duckdb") as finance:
        resources = {row[0] for row in finance.rows('select "ResourceId" from focus.cost_and_usage')}
        assert f"arn:aws:sagemaker:us-east-1:1:training-job/{hashed('bert-finetune')}" in resources
        assert finance.value("select bool_and(ties) from marts.reconciliation")


def test_hashes_are_those_of_the_night_before(house: Path) -> None:
    assert night(house) == Exit.DONE
    before = (house / "finance.duckdb").stat().st_mtime_ns
    assert night(house) == Exit.DONE
    assert (house / "finance.duckdb").stat().st_mtime_ns == before


def test_another_key_makes_all_anew(house: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert night(house) == Exit.DONE
    other = "another key, long enough"
    monkeypatch.setenv("OVERRUN_PRIVACY_KEY", other)
    assert night(house) == Exit.DONE
    content = (house / "finance.duckdb").read_bytes()
    assert hashed("bob@example", other).encode() in content
    assert hashed("bob@example").encode() not in content
    assert plain(house) == []


def test_privacy_that_comes_later_leaves_no_trace(house: Path) -> None:
    (house / "overrun.toml").write_text(CONFIG, encoding="utf-8")
    assert night(house) == Exit.DONE
    assert set(plain(house)) == set(PLAIN)
    (house / "overrun.toml").write_text(CONFIG + PRIVACY, encoding="utf-8")
    assert night(house) == Exit.DONE
    assert plain(house) == []


@pytest.mark.parametrize(("key", "said"), [("", "is not set"), ("short", "fewer than 16 characters")])
def test_without_a_usable_key_nothing_is_published(
    house: Path, key: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OVERRUN_PRIVACY_KEY", key)
    assert night(house) == Exit.SOURCE
    assert said in capsys.readouterr().err
    assert not (house / "finance.duckdb").exists()


def test_a_month_without_files_is_not_copied_plain(house: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (house / "overrun.toml").write_text(CONFIG, encoding="utf-8")
    assert night(house) == Exit.DONE
    shutil.rmtree(house / "landing/aws")
    (house / "overrun.toml").write_text(CONFIG + PRIVACY, encoding="utf-8")
    assert night(house) == Exit.REFUSED
    assert "loaded with another [privacy]" in capsys.readouterr().err


def test_no_privacy_needs_no_key() -> None:
    assert resolve_privacy(None, {}) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[privacy]\ntags = ["x"]', "needs a key"),
        ('[privacy]\nkey = "plain text"', "must be a reference"),
        ('[privacy]\nkey = "env:K"\nhash = ["users"]', "hash"),
        ('[privacy]\nkey = "env:K"\ntags = ["TEAM"]', "is hashed by [privacy]"),
        ('[privacy]\nkey = "env:K"\n[[attribution.rule]]\nproject = "x"\nmatch = { tag = { owner = "b" } }', '"owner"'),
    ],
)
def test_a_configuration_that_cannot_work_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "overrun.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load_config(tmp_path / "overrun.toml", {})
    assert said in str(raised.value)


def test_doctor_says_whether_the_key_is_there(
    house: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ask = ["doctor", "--offline", "--config", str(house / "overrun.toml")]
    assert main(ask) == Exit.DONE
    assert "env:OVERRUN_PRIVACY_KEY is set" in capsys.readouterr().out
    monkeypatch.delenv("OVERRUN_PRIVACY_KEY")
    assert main(ask) == Exit.SOURCE
    captured = capsys.readouterr()
    assert "the key of [privacy], env:OVERRUN_PRIVACY_KEY, cannot be used" in captured.out + captured.err
