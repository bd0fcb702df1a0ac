"""Exit codes: which one speaks for several, and what each error means."""

from __future__ import annotations

import errno
import itertools
from pathlib import Path

import pytest

from alerts.errors import DeliveryFailed, RouteError
from ingest.errors import LoadRefused, SourceConflict, SourceUnreadable
from overrun import exits
from overrun.config_problems import ConfigError, Problem
from overrun.exits import CommandFailed, Exit, code_of, worst
from sql.errors import CheckFailed, DirectoryUnwritable, DiskFull, ModelError, StateError, WarehouseLocked
from sql.secret import SecretUnresolved


def test_codes_are_those_of_the_table_in_the_docstring() -> None:
    assert exits.__doc__ is not None
    rows = [line.split("|")[1].strip() for line in exits.__doc__.splitlines() if line.startswith("| ")]
    assert rows[1:] == [str(int(code)) for code in Exit]
    assert all(code.meaning for code in Exit)


@pytest.mark.parametrize(
    ("codes", "code"),
    [
        ([], 0),
        ([0, 0], 0),
        ([0, 1], 1),
        ([1, 6], 6),
        ([6, 3], 3),
        ([3, 4, 6], 4),
        ([4, 2], 2),
        ([4, 75, 3], 75),
    ],
)
def test_worst(codes: list[int], code: int) -> None:
    assert {worst(order) for order in itertools.permutations(codes)} == {code}


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError([Problem(place="f:1", key="k", message="m")]), 2),
        (DirectoryUnwritable("x"), 2),
        (StateError("x"), 2),
        (RouteError(None, "c"), 2),
        (SourceUnreadable("x"), 3),
        (SourceConflict("x"), 3),
        (LoadRefused("x"), 4),
        (DiskFull("x"), 4),
        (CheckFailed("m", "c", []), 4),
        (ModelError("m", "x"), 4),
        (DeliveryFailed("x", is_retryable=True), 6),
        (SecretUnresolved("x"), 6),
        (WarehouseLocked(Path("w"), 1), 75),
        (CommandFailed("x", code=Exit.LOCKED), 75),
        (OSError(errno.ENOSPC, "full"), 4),
        (PermissionError(errno.EACCES, "denied"), 2),
        (OSError(errno.EIO, "broken"), None),
        (ValueError("x"), None),
    ],
)
def test_code_of(error: Exception, code: int | None) -> None:
    assert code_of(error) == code
