"""The log: what a run tells about itself on stderr, while stdout is the result.

JSON lines where stderr is not a terminal, so that they can be searched; short lines for people where it is. Under cron
only warnings and worse are told, so that a good night is silent. Events are `noun_past_verb` with bound values; a value
whose key looks secret never leaves this module.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any, TextIO

import structlog

from overrun.redaction import MASK, looks_secret, without_secrets
from overrun.terminal import is_decorated
from sql.text import visible

Event = MutableMapping[str, Any]


def configure_log(
    verbosity: int = 0, *, stream: TextIO | None = None, environ: Mapping[str, str] | None = None
) -> None:
    """Set up structlog for this process; `verbosity` is -1 for errors only, 1 for each step, 2 for everything."""
    stream = stream or sys.stderr
    environ = os.environ if environ is None else environ
    is_terminal = stream.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            redact,
            *_renderers(stream, environ, is_terminal=is_terminal),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(log_level(verbosity, is_terminal=is_terminal)),
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=False,
    )


def log_level(verbosity: int, *, is_terminal: bool) -> int:
    """Return the lowest level that is told: warnings under cron, steps where somebody watches."""
    if verbosity < 0:
        return logging.ERROR
    if verbosity >= 2:
        return logging.DEBUG
    return logging.INFO if verbosity == 1 or is_terminal else logging.WARNING


def redact(_: object, __: str, event: Event) -> Event:
    """Mask values under keys that look secret, at any depth, and secrets that stand inside texts."""
    return {key: _redacted(key, value) for key, value in event.items()}


def _redacted(key: str, value: object) -> object:
    if looks_secret(key) and value is not None:
        return MASK
    if isinstance(value, Mapping):
        return {inner: _redacted(str(inner), held) for inner, held in value.items()}
    if isinstance(value, list | tuple):
        return [_redacted(key, held) for held in value]
    return without_secrets(value) if isinstance(value, str) else value


def _renderers(stream: TextIO, environ: Mapping[str, str], *, is_terminal: bool) -> list[Any]:
    if not is_terminal:
        return [structlog.processors.JSONRenderer(default=str)]
    return [_escape_controls, structlog.dev.ConsoleRenderer(colors=is_decorated(stream, environ))]


def _escape_controls(_: object, __: str, event: Event) -> Event:
    """Make every text safe for a terminal; a traceback, which is ours, keeps its lines."""
    return {key: _safe(value, has_lines=key == "exception") for key, value in event.items()}


def _safe(value: object, *, has_lines: bool) -> object:
    if isinstance(value, int | float | bool) or value is None:
        return value
    text = str(value)
    return "\n".join(map(visible, text.split("\n"))) if has_lines else visible(text)
