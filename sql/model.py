"""Models as files: one SELECT per `.sql` under `models/core` and `models/marts`, with a header that says what it gives.

    -- One sentence of purpose.
    -- grain: one row per ...
    -- key: source, billing_month, resource_id?      (`?`: null is a value; a long key takes several lines)
    -- materialized: full                            (else: built by month; view: by month, but nothing is stored)
    -- lookback: 2 months                            (only where a month reads earlier ones)
    -- repeated: core.start, once per row of settings.step   (what it gives takes the place of core.start, row by row)

References to other relations are found by a small scanner, since no night must pay for importing a parser: a test
proves of each text that the scanner sees what a parser sees.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from graphlib import CycleError, TopologicalSorter
from importlib.resources import files
from importlib.resources.abc import Traversable

from sql.contract import ANALYSIS_TABLES, OPS_TABLES, SETTINGS_TABLES, TEXT_COLUMNS, USAGE_TABLES
from sql.errors import ModelError
from sql.parts import PARTITIONED

LAYERS: Mapping[str, tuple[str, ...]] = {
    "core": ("focus", "usage", "settings", "ops", "core"),
    "marts": ("focus", "usage", "settings", "ops", "core", "analysis", "marts"),
}
"""Schemas that a model of each schema may read."""

TABLES = frozenset(table.full_name for table in (*OPS_TABLES, *SETTINGS_TABLES, *ANALYSIS_TABLES, *USAGE_TABLES))
"""Relations that Python writes and models may read."""

_SCAN = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|\bdistinct\s+from\b"""
    r"""|\b(?:from|join)\s+(?P<name>[a-z_]\w*\.[a-z_]\w*)""",
    re.IGNORECASE | re.DOTALL,
)
_WORD = re.compile(r"\w+")
_ALIASED = re.compile(r"\s+as\s", re.IGNORECASE)
_CLAUSE = re.compile(r"(and|or|on|where|group by|having|order by|union|select|from|qualify)\b", re.IGNORECASE)
_HEADER_KEY = re.compile(r"^(grain|key|materialized|lookback|repeated):\s*(.+)$")
_LOOKBACK = re.compile(r"^(\d+) months?$")
_REPEATED = re.compile(r"^(?P<start>[a-z_]+\.[a-z_]+), once per row of (?P<over>[a-z_]+\.[a-z_]+)$")
_COLUMN = re.compile(r"(?:\bas\s+|^\s*(?:\w+\.)?)(\w+)\s*,?\s*$", re.IGNORECASE)
_CHECK_START = re.compile(r"^-- (check|warn):\s*(.+)$", re.MULTILINE)
_NOT_COUNTED = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True, slots=True)
class Reference:
    """Where a text names a relation: `text[start:end]` is `name`."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One column of a key; `is_nullable` where null counts as a value."""

    name: str
    is_nullable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A SELECT and the relations that it reads."""

    text: str
    references: tuple[Reference, ...]

    def spliced(self, relations: Mapping[str, str]) -> str:
        """Return the text with each reference named in `relations` replaced by that SQL, aliased by its own name."""
        pieces, position = [], 0
        for reference in self.references:
            if reference.name not in relations:
                continue
            alias = "" if _ALIASED.match(self.text, reference.end) else f" as {reference.name.split('.')[1]}"
            pieces += [self.text[position : reference.start], relations[reference.name], alias]
            position = reference.end
        return "".join([*pieces, self.text[position:]])


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """A model that is run over its own result, which first is `start`, as many times as `over` has rows.

    That is how what happens in an order is said without recursion, which some engines lack or bound.
    """

    start: str
    over: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A query beside a model that must return no rows; `is_warning` where rows are only reported."""

    sentence: str
    is_warning: bool
    query: Query


@dataclass(frozen=True, kw_only=True)
class Model:
    """One parsed model file with its checks."""

    schema: str
    name: str
    purpose: str
    grain: str
    key: tuple[KeyColumn, ...]
    is_full: bool
    is_view: bool
    lookback_months: int
    repetition: Repetition | None
    query: Query
    checks: tuple[Check, ...]
    descriptions: Mapping[str, str]
    """Column -> the comment line above it."""

    @property
    def full_name(self) -> str:
        """Return `schema.name`."""
        return f"{self.schema}.{self.name}"

    @property
    def description(self) -> str:
        """Return what COMMENT ON says of the table: what it is for, and what one row is."""
        return f"{self.purpose}. Grain: {self.grain}"

    @cached_property
    def dependencies(self) -> frozenset[str]:
        """Return the relations that the model or its checks read, itself apart."""
        queries = (self.query, *(check.query for check in self.checks))
        return frozenset(ref.name for query in queries for ref in query.references) - {self.full_name}

    @cached_property
    def reads_texts(self) -> bool:
        """Return whether the model or its checks name a column that is made of the texts of tags."""
        texts = (self.query.text, *(check.query.text for check in self.checks))
        return any(not TEXT_COLUMNS.isdisjoint(_WORD.findall(text)) for text in texts)

    @cached_property
    def digest(self) -> str:
        """Return the hash of the texts: what a fingerprint knows about the model itself."""
        texts = [self.query.text, *(f"{check.is_warning}{check.sentence}{check.query.text}" for check in self.checks)]
        return digest_of(texts)


def digest_of(pieces: Iterable[str]) -> str:
    """Return one hash of several texts in order."""
    return hashlib.sha256("\0".join(pieces).encode()).hexdigest()


def load_models(root: Traversable | None = None) -> tuple[Model, ...]:
    """Return the models under `root` (ours where None) in an order in which they can be built.

    Raises ModelError for a broken header, an unknown relation, a cycle or a read across layers or months.
    """
    return _our_models() if root is None else _models_under(root)


@cache
def _our_models() -> tuple[Model, ...]:
    """Return the models of this package, which are read once: a night asks for them several times."""
    return _models_under(files("sql").joinpath("models"))


def _models_under(root: Traversable) -> tuple[Model, ...]:
    """Return the models under `root`, as `load_models` does."""
    models = {model.full_name: model for schema in LAYERS for model in _models_in(root.joinpath(schema), schema)}
    for model in models.values():
        _validate(model, models)
    graph = {name: sorted(model.dependencies & models.keys()) for name, model in sorted(models.items())}
    try:
        return tuple(models[name] for name in TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise ModelError(error.args[1][0], f"is part of a cycle: {' -> '.join(error.args[1])}") from error


def scan(text: str) -> Query:
    """Return `text` with its references `from schema.name` and `join schema.name`, comments and strings left out."""
    found = (match for match in _SCAN.finditer(text) if match["name"])
    return Query(
        text=text,
        references=tuple(Reference(match["name"], match.start("name"), match.end("name")) for match in found),
    )


def parse_model(schema: str, name: str, text: str, check_text: str = "") -> Model:
    """Return the model that a file and the check file beside it describe."""
    full_name = f"{schema}.{name}"
    header, body = _split_header(text)
    keys, purpose = _header_fields(header)
    missing = [wanted for wanted in ("grain", "key") if wanted not in keys]
    if missing or not purpose:
        raise ModelError(full_name, f"the header has no {missing[0] if missing else 'sentence of purpose'}")
    kind = keys.get("materialized")
    if kind not in (None, "full", "view"):
        raise ModelError(full_name, f"cannot be materialized {kind!r}; full and view are known")
    model = Model(
        schema=schema,
        name=name,
        purpose=purpose,
        grain=keys["grain"].rstrip("."),
        key=tuple(_key_columns(keys["key"])),
        is_full=kind == "full",
        is_view=kind == "view",
        lookback_months=_lookback(full_name, keys.get("lookback")),
        repetition=_repetition(full_name, keys.get("repeated")),
        query=scan(text.strip().rstrip(";")),
        checks=tuple(_checks(check_text)),
        descriptions=_descriptions(body),
    )
    if not model.is_full and KeyColumn("billing_month", is_nullable=False) not in model.key:
        raise ModelError(full_name, "is built by month, so its key must contain billing_month")
    return model


def _models_in(directory: Traversable, schema: str) -> Iterator[Model]:
    """Yield the models of one directory."""
    if not directory.is_dir():
        return
    texts = {
        entry.name: entry.read_text(encoding="utf-8") for entry in directory.iterdir() if entry.name.endswith(".sql")
    }
    for file, text in sorted(texts.items()):
        name = file.removesuffix(".sql")
        if not name.endswith(".check"):
            yield parse_model(schema, name, text, texts.get(f"{name}.check.sql", ""))
        elif f"{name.removesuffix('.check')}.sql" not in texts:
            raise ModelError(f"{schema}.{name}", "is a check file without a model beside it")


def _validate(model: Model, models: Mapping[str, Model]) -> None:
    """Refuse unknown relations, reads across layers and undeclared reads across months."""
    if model.repetition is not None and not {model.repetition.start, model.repetition.over} <= model.dependencies:
        raise ModelError(model.full_name, "is repeated over relations that it does not read")
    for name in sorted(model.dependencies):
        upstream = models.get(name)
        if name.split(".")[0] not in LAYERS[model.schema]:
            raise ModelError(model.full_name, f"may not read {name}: {model.schema} stands below it")
        if upstream is None and name not in TABLES and name not in PARTITIONED:
            raise ModelError(model.full_name, f"reads {name}, which does not exist")
        if upstream is not None and upstream.is_full and not model.is_full and not model.lookback_months:
            raise ModelError(
                model.full_name,
                f"is built by month and may not read {name}, which spans months",
                hint="declare `-- materialized: full` or `-- lookback: N months`",
            )


def _split_header(text: str) -> tuple[list[str], list[str]]:
    """Return the comment lines that open a file, without their dashes, and the lines after them."""
    lines = text.strip().splitlines()
    size = next((i for i, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return [line.removeprefix("--").strip() for line in lines[:size]], lines[size:]


def _header_fields(header: list[str]) -> tuple[dict[str, str], str]:
    """Return the `key: value` lines of a header and the sentences before them."""
    keys: dict[str, str] = {}
    purpose: list[str] = []
    for line in header:
        match = _HEADER_KEY.match(line)
        if match:
            keys[match[1]] = f"{keys[match[1]]} {match[2].strip()}" if match[1] in keys else match[2].strip()
        elif not keys:
            purpose.append(line)
    return keys, " ".join(purpose).strip().rstrip(".")


def _key_columns(text: str) -> Iterator[KeyColumn]:
    """Yield the columns of `a, b?`."""
    for piece in text.split(","):
        column = piece.strip()
        yield KeyColumn(column.rstrip("?"), is_nullable=column.endswith("?"))


def _lookback(model: str, text: str | None) -> int:
    """Return the months of `2 months`, 0 where the header has none."""
    if text is None:
        return 0
    match = _LOOKBACK.match(text)
    if match is None or int(match[1]) == 0:
        raise ModelError(model, f"lookback must read `N months`, not {text!r}")
    return int(match[1])


def _repetition(model: str, text: str | None) -> Repetition | None:
    """Return what `core.start, once per row of settings.step` says."""
    if text is None:
        return None
    match = _REPEATED.match(text)
    if match is None:
        raise ModelError(model, f"repeated must read `RELATION, once per row of TABLE`, not {text!r}")
    return Repetition(start=match["start"], over=match["over"])


def _checks(text: str) -> Iterator[Check]:
    """Yield the blocks of a check file."""
    starts = list(_CHECK_START.finditer(text))
    ends = [match.start() for match in starts[1:]] + [len(text)]
    for match, end in zip(starts, ends, strict=bool(starts)):
        body = text[match.end() : end].strip().rstrip(";")
        yield Check(sentence=match[2].strip(), is_warning=match[1] == "warn", query=scan(body))


def _descriptions(lines: list[str]) -> dict[str, str]:
    """Return column -> the comment lines directly above it; a later mention of a column wins.

    A comment inside `case ... end` or above a clause says why, and describes no column.
    """
    found: dict[str, str] = {}
    comment: list[str] = []
    expression = ""
    for line in (line.strip() for line in lines):
        if line.startswith("--") and _is_in_case(expression):
            continue
        if comment and not expression and _CLAUSE.match(line):
            comment = []
        if line.startswith("--"):
            comment = [line.removeprefix("--").strip()] if expression else [*comment, line.removeprefix("--").strip()]
            expression = ""
        elif comment:
            is_last = line.startswith("from ")
            expression = expression if is_last else f"{expression} {line}"
            if is_last or _is_whole(expression):
                column = _COLUMN.search(expression)
                found.update({column[1]: " ".join(comment)} if column else {})
                comment, expression = [], ""
    return found


def _is_whole(expression: str) -> bool:
    """Return whether an expression has ended: at a comma outside parentheses and `case ... end`."""
    text = _NOT_COUNTED.sub("", expression)
    return text.count("(") == text.count(")") and text.endswith(",") and not _is_in_case(expression)


def _is_in_case(expression: str) -> bool:
    """Return whether a `case` has not ended yet."""
    text = _NOT_COUNTED.sub("", expression).lower()
    return len(re.findall(r"\bcase\b", text)) != len(re.findall(r"\bend\b", text))
