"""What `overrun nightly` says of a night."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from overrun.cli import main
from overrun.exits import Exit
from tests.fakes.exports import gcp_row, write_gcp

if TYPE_CHECKING:
    import pytest


def test_a_copy_that_is_passed_over_is_of_no_other_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    configuration = tmp_path / "overrun.toml"
    configuration.write_text('[[source]]\nname = "gcp"\nkind = "gcp-export"\nlocation = "exports"\n', encoding="utf-8")
    for name in ("a.ndjson", "b.ndjson"):
        write_gcp(tmp_path / "exports" / name, [gcp_row()])

    assert main(["nightly", "--config", str(configuration), "--as-of", "2026-11-08", "-v"]) == Exit.DONE

    told = capsys.readouterr().out
    assert "gcp: 1 files passed over (b.ndjson (same content as another))" in told
