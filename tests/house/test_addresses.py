"""Nothing that is committed names a package registry's host or a folder of the machine it was written on."""

from __future__ import annotations

import re

from tests.house.tree import ROOT, committed_files

# Put together here, so that this file does not find itself.
HOSTS = [".".join(parts) for parts in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("debian", "org"))]
FOLDERS = [f"/{name}/" for name in ("work", "root")]
# A folder counts where a path starts, not in the middle of one (`src/work/`).
FORBIDDEN = re.compile("|".join([*map(re.escape, HOSTS), *(rf"(?<![\w.}}>*-]){folder}" for folder in FOLDERS)]))


def test_no_committed_file_names_a_registry_or_this_machine() -> None:
    found = []
    for name in committed_files():
        text = (ROOT / name).read_text(encoding="utf-8", errors="ignore")
        found += [f"{name}: {match.group()}" for match in FORBIDDEN.finditer(text)]
    assert found == []
