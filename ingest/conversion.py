"""The conversion: all that turns landed files into parts. Parts made by another one are made anew from landed files."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from ingest.privacy import Privacy
from sql.contract import SCHEMA_VERSION
from sql.meta import is_prepared, read_meta, write_meta
from sql.warehouse import Warehouse

_KEY = "conversion_hash"
_AND = "+"
_MODULES = ("dataset.py", "fields.py", "formats.py", "landed.py", "aws/cur.py", "focus/export.py", "gcp/export.py")
_LASTING_MACRO = re.compile(r"\bfocus\.(\w+)\(")


@cache
def conversion_hash() -> str:
    """Return a hash of the staging texts, the macros that they use, and the code that reads files and fields."""
    staging = [text for name, text in _texts("models", "staging") if not name.endswith(".view.sql")]
    temporary = [text for _, text in _texts("macros", "landed")]
    used = set(_LASTING_MACRO.findall("\n".join([*staging, *temporary])))
    lasting = [text for name, text in _texts("macros", "focus") if name.removesuffix(".sql") in used]
    code = [files("ingest").joinpath(*name.split("/")).read_text(encoding="utf-8") for name in _MODULES]
    pieces = [str(SCHEMA_VERSION), *staging, *lasting, *temporary, *code]
    return hashlib.sha256("\n".join(pieces).encode()).hexdigest()[:16]


def needs_rebuild(warehouse: Warehouse, privacy: Privacy | None = None) -> bool:
    """Return whether the parts were made by another conversion than this version's; a new file has none."""
    return is_prepared(warehouse) and read_meta(warehouse, _KEY) != _hash_with(privacy)


def is_hidden_alike(made_by: str, privacy: Privacy | None) -> bool:
    """Return whether a file that a conversion made hides what `privacy` does, under the same key."""
    return made_by.partition(_AND)[2] == _hash_with(privacy).partition(_AND)[2]


def version_of(made_by: str) -> str:
    """Return the conversion alone, whatever it hides."""
    return made_by.partition(_AND)[0]


def _hash_with(privacy: Privacy | None) -> str:
    """Return the conversion and what it hides."""
    return conversion_hash() if privacy is None else f"{conversion_hash()}{_AND}{privacy.digest}"


def mark_converted(warehouse: Warehouse, privacy: Privacy | None = None) -> None:
    """Note that the parts of a new file are made by this version's conversion."""
    if read_meta(warehouse, _KEY) is None:
        write_meta(warehouse, _KEY, _hash_with(privacy))


def _texts(*folder: str) -> list[tuple[str, str]]:
    """Return name and text of the SQL files of a folder, by name."""
    entries: list[Traversable] = [
        entry for entry in files("sql").joinpath(*folder).iterdir() if entry.name.endswith(".sql")
    ]
    return [(entry.name, entry.read_text(encoding="utf-8")) for entry in sorted(entries, key=lambda item: item.name)]
