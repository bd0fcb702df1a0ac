"""`overrun doctor`: each check says ok, warn or fail, the worst failure is the exit code, and no secret is shown."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from alerts.outbox import read_outbox
from alerts.settings import SlackWebhookChannel
from overrun import doctor_reach, doctor_stores
from overrun.cli import main
from overrun.config import Config, load_config
from overrun.doctor_check import Check
from overrun.exits import Exit
from sql.lock import run_lock
from sql.secret import SecretReference
from sql.state import Run, StateStore
from tests.fakes.focus_house import write_house

Captured = pytest.CaptureFixture[str]
NOW = datetime(2026, 11, 20, 7, tzinfo=UTC)
ROUTE = '[[route]]\nchannels = ["it"]\n'
SLACK = '[[channel]]\nid = "it"\nkind = "slack-webhook"\nurl = "env:HOOK"\n' + ROUTE
SECRET = "T0/B0/sEcReT"


def mail(port: int) -> str:
    return (
        '[[channel]]\nid = "it"\nkind = "email"\nsmtp_host = "127.0.0.1"\nsecurity = "none"\n'
        f'smtp_port = {port}\nfrom = "a@example.com"\nto = ["b@example.com"]\n{ROUTE}'
    )


def doctor(config: Path, capsys: Captured, *arguments: str) -> tuple[int, dict[str, list[dict[str, Any]]]]:
    """Return the exit code, and the checks by name."""
    capsys.readouterr()
    code = main(["doctor", "--json", "--config", str(config), *arguments])
    answer = json.loads(capsys.readouterr().out)
    assert (answer["code"], answer["is_ok"]) == (code, code == 0)
    checks: dict[str, list[dict[str, Any]]] = {}
    for check in answer["checks"]:
        assert (check["hint"] is None) == (check["level"] == "ok")
        checks.setdefault(check["name"], []).append(check)
    return code, checks


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    file = write_house(tmp_path_factory.mktemp("house"))
    assert main(["nightly", "-q", "--config", str(file), "--as-of", "2026-11-05"]) == Exit.DONE
    yield file


@pytest.fixture
def loaded(config: Path) -> Config:
    return load_config(config, {})


def test_all_is_well(config: Path, capsys: Captured) -> None:
    code, checks = doctor(config, capsys)
    assert code == Exit.DONE
    assert {check["level"] for found in checks.values() for check in found if check["name"] != "channels"} == {"ok"}
    wanted = {
        "versions", "configuration", "warehouse folder", "disk", "lock", "warehouse", "readers", "clock", "last night",
        "copy", "schema", "source clouds",
    }  # fmt: skip
    assert wanted <= set(checks)


def test_lines_for_people(config: Path, capsys: Captured) -> None:
    assert main(["doctor", "--config", str(config)]) == Exit.DONE
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith(("ok    ", "warn  ", "      hint: ")) for line in lines)
    assert main(["doctor", "-q", "--config", str(config)]) == Exit.DONE
    assert [line[:4] for line in capsys.readouterr().out.splitlines()] == ["warn", "    "]


def test_before_the_first_night(tmp_path: Path, capsys: Captured) -> None:
    code, checks = doctor(write_house(tmp_path), capsys)
    assert code == Exit.DONE
    assert checks["last night"][0]["level"] == "warn"
    assert "is made by the first night" in checks["warehouse"][0]["message"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["exports", "overrun.toml"]


def test_a_wrong_configuration_is_told_problem_by_problem(tmp_path: Path, capsys: Captured) -> None:
    code, checks = doctor(write_house(tmp_path, "[warehouze]\n[raport]\n"), capsys)
    assert code == Exit.USAGE
    assert [check["level"] for check in checks["configuration"]] == ["fail", "fail"]


def test_no_configuration(tmp_path: Path, capsys: Captured) -> None:
    code, checks = doctor(tmp_path / "overrun.toml", capsys)
    assert code == Exit.USAGE
    assert "there is no such file" in checks["configuration"][0]["message"]


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path, '[warehouse]\nlanding = "overrun.toml/landing"\n')
    code, checks = doctor(config, capsys)
    assert (code, checks["landing folder"][0]["level"]) == (Exit.USAGE, "fail")


@pytest.mark.parametrize(
    ("location", "level", "code"), [("nowhere", "fail", 3), ("empty", "warn", 0), ("a.csv", "ok", 0)]
)
def test_sources(location: str, level: str, code: int, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.csv").touch()
    config = write_house(tmp_path, f'[[source]]\nname = "it"\nkind = "aws-export"\nlocation = "{location}"\n')
    found, checks = doctor(config, capsys)
    assert (found, checks["source it"][0]["level"]) == (code, level)


def test_no_source(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "overrun.toml").touch()
    code, checks = doctor(tmp_path / "overrun.toml", capsys)
    assert (code, checks["sources"][0]["level"]) == (Exit.DONE, "warn")


def test_a_secret_that_does_not_resolve(tmp_path: Path, capsys: Captured) -> None:
    code, checks = doctor(write_house(tmp_path, SLACK), capsys)
    assert (code, checks["channel it"][0]["level"]) == (Exit.UNDELIVERED, "fail")


@pytest.mark.parametrize("secret", [SECRET, f"https://hooks.slack.invalid/services/{SECRET}"])
def test_a_secret_is_never_shown(
    secret: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOK", secret)
    config = write_house(tmp_path, SLACK)
    assert main(["doctor", "--config", str(config)]) == Exit.UNDELIVERED
    assert main(["doctor", "--json", "--config", str(config)]) == Exit.UNDELIVERED
    captured = capsys.readouterr()
    assert SECRET not in captured.out + captured.err


def test_a_secret_file_that_others_can_read(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path, SLACK.replace("env:HOOK", "file:hook"))
    (tmp_path / "hook").write_text(f"https://hooks.slack.com/services/{SECRET}\n", encoding="utf-8")
    for mode, level in ((0o644, "warn"), (0o600, "ok")):
        (tmp_path / "hook").chmod(mode)
        code, checks = doctor(config, capsys, "--offline")
        assert (code, [check["level"] for check in checks["channel it"]]) == (Exit.DONE, [level])


def test_a_relay_is_connected_to_and_told_nothing(tmp_path: Path, capsys: Captured) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        config = write_house(tmp_path, mail(server.getsockname()[1]))
        code, checks = doctor(config, capsys)
        assert (code, checks["channel it"][0]["level"]) == (Exit.DONE, "ok")
        connection, _ = server.accept()
        with connection:
            assert connection.recv(100) == b""
    code, checks = doctor(config, capsys)
    assert (code, checks["channel it"][0]["level"]) == (Exit.UNDELIVERED, "fail")
    code, checks = doctor(config, capsys, "--offline")
    assert (code, checks.get("channel it")) == (Exit.DONE, None)


def test_a_name_that_takes_for_ever_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(*_: object, **__: object) -> None:
        import time

        time.sleep(1)
        raise OSError("too late")

    monkeypatch.setattr(socket, "create_connection", hang)
    assert doctor_reach.reach("example.com", 443, 0.05) == "no answer within 0 seconds"


def test_slack_is_reached_through_a_proxy_where_there_is_one() -> None:
    channel = SlackWebhookChannel(id="it", url=SecretReference("env", "HOOK"))
    there, here = "https://hooks.slack.com/services/x", "http://127.0.0.1:8080/x"
    assert doctor_reach.address_of(channel, there, {}, NOW) == ("hooks.slack.com", 443, "")
    proxied = {"HTTPS_PROXY": "proxy.example:3128"}
    assert doctor_reach.address_of(channel, there, proxied, NOW) == ("proxy.example", 3128, " (the proxy)")
    assert doctor_reach.address_of(channel, here, proxied, NOW) == ("127.0.0.1", 8080, "")


def test_a_run_under_way_is_no_failure(config: Path, capsys: Captured) -> None:
    with run_lock(config.parent / "warehouse.duckdb.lock"):
        code, checks = doctor(config, capsys)
    assert code == Exit.DONE
    assert "a run is under way (process" in checks["lock"][0]["message"]


HOLD = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1], read_only=sys.argv[2] == "read")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("mode", ["read", "write"])
def test_a_shell_on_the_warehouse_is_named(config: Path, mode: str, capsys: Captured) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(config.parent / "warehouse.duckdb"), mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        code, checks = doctor(config, capsys)
        shell.communicate("")
    assert code == Exit.LOCKED
    assert f"process {shell.pid}" in checks["warehouse"][0]["message"]


def test_a_warehouse_that_is_no_database(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    for content in (b"", b"x" * 5000):
        (tmp_path / "warehouse.duckdb").write_bytes(content)
        code, checks = doctor(config, capsys)
        assert (code, checks["warehouse"][0]["level"]) == (Exit.REFUSED, "fail")
        assert main(["nightly", "-q", "--config", str(config), "--as-of", "2026-11-05"]) == Exit.REFUSED


def test_logs_that_lie_about(config: Path, loaded: Config) -> None:
    logs = [config.parent / name for name in ("finance.duckdb.wal", "warehouse.duckdb.wal")]
    for log in logs:
        log.touch()
    checks = list(doctor_stores.check_logs(loaded))
    for log in logs:
        log.unlink()
    assert [check.level for check in checks] == ["warn", "warn"]
    assert list(doctor_stores.check_logs(loaded)) == []


@pytest.mark.parametrize(("free", "level", "code"), [(10, "fail", 4), (15, "warn", 0), (99, "ok", 0)])
def test_disk(free: int, level: str, code: int, loaded: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    size = loaded.warehouse.path.stat().st_size
    usage = type("Usage", (), {"free": size * free // 12})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    checks = list(doctor_stores.check_disk(loaded))
    assert [(check.level, check.code) for check in checks] == [(level, code)]


def test_the_clock_and_the_last_night(tmp_path: Path) -> None:
    config = load_config(write_house(tmp_path), {})
    with StateStore.open(config.state) as state:
        state.start_run("one", "nightly", date(2026, 11, 20), now=NOW)
    assert levels(config, NOW) == {"clock": "ok", "last night": "warn", "copy": "warn", "messages": "ok"}
    with StateStore.open(config.state) as state:
        state.finish_run("one", 0, now=NOW)
    assert levels(config, NOW)["last night"] == "ok"
    assert levels(config, NOW + timedelta(days=2))["last night"] == "warn"
    assert levels(config, NOW - timedelta(hours=1))["clock"] == "warn"
    with StateStore.open(config.state) as state:
        state.finish_run("one", 3, now=NOW)
    assert levels(config, NOW)["last night"] == "warn"


def levels(config: Config, now: datetime) -> dict[str, str]:
    return {check.name: check.level for check in doctor_stores.check_state(config, now)}


def test_a_state_store_that_is_none(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    (tmp_path / "state.sqlite").write_text("x" * 5000, encoding="utf-8")
    code, checks = doctor(config, capsys)
    assert (code, checks["state"][0]["level"]) == (Exit.USAGE, "fail")


@pytest.mark.parametrize("name", ["state.sqlite", "state.sqlite-wal"])
def test_a_state_store_that_cannot_be_written(
    name: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_house(tmp_path)
    StateStore.open(tmp_path / "state.sqlite").close()
    (tmp_path / name).touch()
    # The tests may run as root, for whom every file can be written.
    monkeypatch.setattr("os.access", lambda path, _: Path(path).name != name)
    code, checks = doctor(config, capsys)
    assert (code, checks["state"][0]["level"]) == (Exit.USAGE, "fail")
    assert checks["state"][0]["message"] == f"{tmp_path / name} cannot be written"


def test_messages_that_wait_with_an_error_or_were_given_up(tmp_path: Path) -> None:
    config = load_config(write_house(tmp_path, SLACK), {})
    assert main(["nightly", "-q", "--config", str(config.file), "--as-of", "2026-11-05"]) == Exit.UNDELIVERED
    with StateStore.open(config.state) as state:
        (message,) = read_outbox(state, "pending")
    (check,) = messages(config, message.expires_at)
    assert (check.name, check.level, check.code) == ("messages to it", "warn", Exit.DONE)
    assert check.message == "1 waiting: environment variable HOOK is not set"
    with StateStore.open(config.state) as state:
        state.execute("update outbox set status = 'dead', last_error = 'expired'")
    (check,) = messages(config, message.expires_at)
    assert (check.level, check.message) == ("warn", "1 given up: expired")
    (check,) = messages(config, message.expires_at + timedelta(days=31))
    assert (check.name, check.level) == ("messages", "ok")


def messages(config: Config, now: datetime) -> list[Check]:
    return [check for check in doctor_stores.check_state(config, now) if check.name.startswith("messages")]


def test_a_copy_that_is_none_or_of_another_version(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    (tmp_path / "finance.duckdb").write_text("x" * 5000, encoding="utf-8")
    code, checks = doctor(config, capsys)
    assert (code, checks["schema"][0]["level"]) == (Exit.USAGE, "fail")
    (tmp_path / "finance.duckdb").unlink()
    subprocess.run(
        [sys.executable, "-c", "import duckdb, sys; duckdb.connect(sys.argv[1])", str(tmp_path / "finance.duckdb")],
        check=True,
    )
    code, checks = doctor(config, capsys)
    assert (code, checks["schema"][0]["level"]) == (Exit.DONE, "warn")


def test_a_copy_that_was_touched_or_is_gone(tmp_path: Path, capsys: Captured) -> None:
    config = write_house(tmp_path)
    assert main(["nightly", "-q", "--config", str(config), "--as-of", "2026-11-05"]) == Exit.DONE
    copy = tmp_path / "finance.duckdb"
    copy.chmod(0o644)
    copy.touch()
    assert "was changed" in doctor(config, capsys)[1]["copy"][0]["message"]
    copy.unlink()
    assert "is gone" in doctor(config, capsys)[1]["copy"][0]["message"]


def test_runs_of_other_commands_are_no_night() -> None:
    run = Run(run_id="a", command="alert", as_of=NOW.date(), started_at=NOW, finished_at=NOW, exit_code=0)
    assert doctor_stores._check_last_night([run], NOW).level == "warn"
