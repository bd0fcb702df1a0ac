"""The conversion: all that turns landed files into parts. Parts made by another one are made anew from landed files."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from sql.contract import SCHEMA_VERSION
from sql.meta import is_prepared, read_meta, write_meta
from sql.warehouse import Warehouse

_KEY = "conversion_hash"
_MODULES = ("dataset.py", "fields.py", "formats.py", "landed.py", "aws/cur.py", "focus/export.py", "gcp/export.py")
_LASTING_MACRO = re.compile(r"\bfocus\.(\w+)\(")


@cache
def conversion_hash() -> str:
    """Return a hash of the staging texts, the macros that they use, and the code that reads files and fields."""
    staging = [text for name, text in _texts("models", "staging") if not name.endswith(".view.sql")]
    used = set(_LASTING_MACRO.findall("\n".join(staging)))
    lasting = [text for name, text in _texts("macros", "focus") if name.removesuffix(".sql") in used]
    temporary = [text for _, text in _texts("macros", "landed")]
    code = [files("ingest").joinpath(*name.split("/")).read_text(encoding="utf-8") for name in _MODULES]
    pieces = [str(SCHEMA_VERSION), *staging, *lasting, *temporary, *code]
    return hashlib.sha256("\n".join(pieces).encode()).hexdigest()[:16]


def needs_rebuild(warehouse: Warehouse) -> bool:
    """Return whether the parts were made by another conversion than this version's; a new file has none."""
    return is_prepared(warehouse) and read_meta(warehouse, _KEY) != conversion_hash()


def mark_converted(warehouse: Warehouse) -> None:
    """Note that the parts of a new file are made by this version's conversion."""
    if read_meta(warehouse, _KEY) is None:
        write_meta(warehouse, _KEY, conversion_hash())


def _texts(*folder: str) -> list[tuple[str, str]]:
    """Return name and text of the SQL files of a folder, by name."""
    entries: list[Traversable] = [
        entry for entry in files("sql").joinpath(*folder).iterdir() if entry.name.endswith(".sql")
    ]
    return [(entry.name, entry.read_text(encoding="utf-8")) for entry in sorted(entries, key=lambda item: item.name)]
