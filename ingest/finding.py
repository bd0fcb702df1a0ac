"""The answer of a provider to one question of `overrun doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """The answer to one question; the hint is there unless all is well."""

    level: Level
    message: str
    hint: str | None = None
