"""A copy is the same bytes whatever the size, and whichever way the file system allows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from sql import copying
from sql.copying import copy_whole

if TYPE_CHECKING:
    from pathlib import Path

_CHUNK = 8 << 20
_SIZES = (0, 1, 4095, 4096, 4097, _CHUNK - 1, _CHUNK, _CHUNK + 1, 2 * _CHUNK + 5000)


@pytest.mark.parametrize("size", _SIZES)
def test_a_copy_is_the_same_bytes(tmp_path: Path, size: int) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(size))
    copy_whole(source, target)
    assert target.read_bytes() == source.read_bytes()


def test_an_older_and_longer_file_is_replaced_whole(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    target.write_bytes(os.urandom(3 * _CHUNK))
    source.write_bytes(os.urandom(5000))
    copy_whole(source, target)
    assert target.read_bytes() == source.read_bytes()


def test_without_direct_access_the_plain_way_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "_is_copied_directly", lambda _source, _target: False)
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(os.urandom(10_000))
    copy_whole(source, target)
    assert target.read_bytes() == source.read_bytes()
