"""Lays environment and options over the file: option, `OVERRUN_*` variable, file, default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overrun.config_places import KeyPath
from overrun.config_problems import Findings, known_keys, nearest
from overrun.config_schema import Document

LAYERED_TABLES = ("warehouse", "report")
"""Tables whose keys can be set from outside the file."""
_WHOLE_NUMBERS = {("warehouse", "threads")}


def apply_layers(
    raw: dict[str, Any], environ: Mapping[str, str], overrides: Mapping[str, object], findings: Findings
) -> None:
    """Set in `raw` what the environment and the options say, and record where each value came from."""
    origins: dict[KeyPath, str] = {}
    for table in LAYERED_TABLES:
        for key in known_keys(Document, (table,)):
            variable = f"OVERRUN_{table}_{key}".upper()
            if environ.get(variable):
                _set(raw, (table, key), environ[variable], f"environment variable {variable}", origins)
    for dotted_key, value in overrides.items():
        table, _, key = dotted_key.partition(".")
        if value is not None:
            _set(raw, (table, key), value, f"option --{key.replace('_', '-')}", origins)
    findings.origins = origins
    _warn_of_unknown_variables(environ, findings)


def _set(raw: dict[str, Any], path: tuple[str, str], value: object, origin: str, origins: dict[KeyPath, str]) -> None:
    """Set one key, where the file does not hold something else than a table there."""
    table = raw.setdefault(path[0], {})
    if not isinstance(table, dict):
        return
    is_number = (
        path in _WHOLE_NUMBERS and isinstance(value, str) and value.strip().isascii() and value.strip().isdigit()
    )
    table[path[1]] = int(str(value)) if is_number else value
    origins[path] = origin


def _warn_of_unknown_variables(environ: Mapping[str, str], findings: Findings) -> None:
    """Warn of a misspelt variable; no error, since a cluster may set names of this form by itself."""
    known = {
        f"OVERRUN_{table}_{key}".upper(): None for table in LAYERED_TABLES for key in known_keys(Document, (table,))
    }
    for table in LAYERED_TABLES:
        prefix = f"OVERRUN_{table}_".upper()
        for variable in sorted(name for name in environ if name.startswith(prefix) and name not in known):
            near = nearest(variable, list(known))
            findings.origins = {**findings.origins, (variable,): "environment"}
            findings.warn((variable,), "is not a known setting", f"did you mean {near}?" if near else None)
