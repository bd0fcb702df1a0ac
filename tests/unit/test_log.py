"""The log: JSON where nobody watches, quiet under cron, and never a secret."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from overrun.log import configure_log
from overrun.redaction import looks_secret


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def logged(verbosity: int, stream: io.StringIO | None = None) -> str:
    """Log one event of each level and return what was written."""
    stream = stream or io.StringIO()
    configure_log(verbosity, stream=stream, environ={})
    log = structlog.get_logger()
    log.debug("file_hashed")
    log.info("export_landed", source="aws-main")
    log.warning("source_failed")
    log.error("build_failed")
    return stream.getvalue()


@pytest.mark.parametrize(("verbosity", "events"), [(-1, 1), (0, 2), (1, 3), (2, 4)])
def test_verbosity_under_cron(verbosity: int, events: int) -> None:
    assert len(logged(verbosity).splitlines()) == events


def test_steps_are_told_on_a_terminal() -> None:
    text = logged(0, Terminal())
    assert "export_landed" in text
    assert "file_hashed" not in text


def test_lines_are_json_with_time_and_level() -> None:
    line = json.loads(logged(1).splitlines()[0])
    assert (line["event"], line["level"], line["source"]) == ("export_landed", "info", "aws-main")
    assert line["timestamp"].endswith("Z")


@pytest.mark.parametrize("stream", [io.StringIO(), Terminal()])
def test_secrets_are_masked_at_any_depth(stream: io.StringIO) -> None:
    configure_log(1, stream=stream, environ={})
    structlog.get_logger().info(
        "channel_used",
        url="https://hooks.slack.com/services/s3cr3t",
        smtp={"password": "s3cr3t", "options": [{"api_key": "s3cr3t"}]},
        reason="post to https://hooks.slack.com/services/s3cr3t and smtp://u:s3cr3t@host failed with xoxb-s3cr3t",
    )
    assert "channel_used" in stream.getvalue()
    assert "s3cr3t" not in stream.getvalue()


def test_a_traceback_is_masked_too() -> None:
    stream = io.StringIO()
    configure_log(0, stream=stream, environ={})
    try:
        raise ValueError("https://hooks.slack.com/services/s3cr3t")
    except ValueError:
        structlog.get_logger().exception("send_failed")
    assert "ValueError" in stream.getvalue()
    assert "s3cr3t" not in stream.getvalue()


def test_control_characters_do_not_reach_a_terminal() -> None:
    stream = Terminal()
    configure_log(1, stream=stream, environ={"NO_COLOR": "1"})
    structlog.get_logger().info("export_landed", file="a\x1b[2J\u202eb", count=3)
    assert "\x1b" not in stream.getvalue()
    assert "\u202e" not in stream.getvalue()


@pytest.mark.parametrize(
    "key", ["password", "smtp_password", "passwd", "url", "webhook_url", "api_key", "token", "SECRET"]
)
def test_secret_keys(key: str) -> None:
    assert looks_secret(key)


@pytest.mark.parametrize("key", ["tag_key", "project", "kind", "passed", "team", "path", "hourly"])
def test_other_keys(key: str) -> None:
    assert not looks_secret(key)
