"""A second name for a file that nobody changes, or a copy where file systems differ."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from sql.errors import DirectoryUnwritable
from sql.files import link_file


def test_a_link_is_the_same_file(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"content")

    link_file(tmp_path / "a", tmp_path / "b")

    assert (tmp_path / "a").samefile(tmp_path / "b")


def test_another_file_system_gets_a_copy(tmp_path: Path) -> None:
    memory = Path("/dev/shm")  # noqa: S108 - a file system of its own, where there is one
    if not memory.is_dir() or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system")
    (tmp_path / "a").write_bytes(b"content" * 1000)
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        link_file(tmp_path / "a", Path(folder, "b"))
        assert Path(folder, "b").read_bytes() == b"content" * 1000


def test_a_name_that_is_taken_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    with pytest.raises(DirectoryUnwritable):
        link_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text(encoding="utf-8") == "b"
