"""One line of `overrun doctor`: what was looked at, whether it is well, and what to do where it is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from overrun.exits import Exit

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """The outcome of one check; no text in it holds a secret."""

    name: str
    level: Level
    message: str
    hint: str | None = None
    code: Exit = Exit.DONE
    """What a night would end with because of it; DONE unless the level is fail."""


def well(name: str, message: str) -> Check:
    """Return that all is well."""
    return Check(name=name, level="ok", message=message)


def doubt(name: str, message: str, hint: str) -> Check:
    """Return something that a night would survive."""
    return Check(name=name, level="warn", message=message, hint=hint)


def failure(name: str, message: str, hint: str, code: Exit) -> Check:
    """Return something that a night would fail of, and its exit code."""
    return Check(name=name, level="fail", message=message, hint=hint, code=code)
