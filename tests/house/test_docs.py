"""What people read keeps up with what the program does: commands, configuration keys, exit codes, marts, links."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from tests.house.tree import ROOT, committed_files, package_files

FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
INLINE_CODE = re.compile(r"`[^`\n]+`")
LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)#\s]+)")
SCHEMA = ROOT / "docs" / "overrun.schema.json"


def pages() -> list[Path]:
    """Return README and the pages of docs/, relative to the root."""
    return [name for name in committed_files() if name.suffix == ".md" and name.parts[0] in {"README.md", "docs"}]


def documented_code() -> str:
    """Return all that stands in backticks or fences in the pages."""
    texts = [(ROOT / name).read_text(encoding="utf-8") for name in pages()]
    return "\n".join(
        code for text in texts for code in [*FENCE.findall(text), *INLINE_CODE.findall(FENCE.sub("", text))]
    )


def schema_keys(schema: object) -> Iterator[str]:
    """Yield each property name in a JSON Schema, at any depth."""
    if isinstance(schema, list):
        for entry in schema:
            yield from schema_keys(entry)
    if isinstance(schema, dict):
        for key, value in schema.items():
            if key == "properties":
                yield from value
                for entry in value.values():
                    yield from schema_keys(entry)
            else:
                yield from schema_keys(value)


def test_every_command_is_documented() -> None:
    from overrun.cli import COMMANDS

    code = documented_code()
    assert COMMANDS
    assert [name for name, _, _ in COMMANDS if not re.search(rf"\boverrun {re.escape(name)}\b", code)] == []


def test_every_configuration_key_is_documented() -> None:
    code = documented_code()
    keys = set(schema_keys(json.loads(SCHEMA.read_text(encoding="utf-8"))))
    assert {"source", "location", "thresholds"} <= keys
    assert sorted(key for key in keys if not re.search(rf"(?<![\w-]){re.escape(key)}(?![\w-])", code)) == []


def test_every_exit_code_stands_in_the_deployment_table() -> None:
    from overrun.exits import Exit

    rows = re.findall(r"^\| (\d+) \|", (ROOT / "docs/deploy.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [int(row) for row in rows] == sorted(Exit)


def test_every_mart_is_documented() -> None:
    code = documented_code()
    marts = [name.stem for name in package_files(".sql") if name.parts[:3] == ("sql", "models", "marts")]
    models = [name for name in marts if not name.endswith(".check")]
    assert models
    assert [name for name in models if not re.search(rf"\b{name}\b", code)] == []


def test_links_lead_somewhere() -> None:
    targets = [
        (page, link)
        for page in pages()
        for link in LINK.findall((ROOT / page).read_text(encoding="utf-8"))
        if not (ROOT / page.parent / link).exists()
    ]
    assert targets == []
