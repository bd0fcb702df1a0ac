"""A dataset: what a kind of export holds, whatever file format it comes in.

A dataset names the fields that its staging SELECT reads and recognises an export by its columns. `describe_files`
groups the files of a delivery by shape and settles which dataset they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.delivery import DeliveredFile
from ingest.errors import SourceUnreadable
from ingest.fields import Field, folded
from ingest.formats import DeliveredColumn, FileShape, is_without_rows, ndjson_column, shape_of
from sql.warehouse import Warehouse, quoted, struct_fields

Derivation = Callable[[Sequence[DeliveredColumn]], Mapping[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """One kind of content. SQL stands in `sql/models/staging/<staging>.sql`, `.scan.sql` and `.view.sql`."""

    staging: str
    fields: tuple[Field, ...]
    month: str
    """Expression over `landed` for an instant in the billing month of a row, for loose files."""
    recognise: Callable[[frozenset[str]], str | None]
    """Given the folded column names, the export kind for the ledger, or None where it is not this dataset."""
    derive: Derivation = field(default=lambda _: {})
    """Expressions for fields that are not one column, such as tags spread over many."""
    nested: Mapping[str, str] = field(default_factory=dict)
    """DuckDB types that nested NDJSON columns are declared with."""
    is_ndjson_bound: bool = False
    """Whether NDJSON is read by the names of `fields` and `nested`, whether or not a file begins with them."""
    null_text: str | None = None
    """A word that stands for null in text columns."""
    is_amortised: bool = False
    """Whether EffectiveCost is worked out here, by `<staging>.unused.sql` and `<staging>.commitments.sql`."""
    spreads_fees: bool = False
    """Whether fees are spread over the usage that they cover here, too, by `<staging>.spread.sql`."""
    keeps_tags_apart: bool = False
    """Whether texts of tags stand beside a part, once per combination, and rows have the id of theirs alone."""
    label_columns: Callable[[Sequence[DeliveredColumn]], Sequence[str]] | None = None
    """Given the columns, those that a row's tags are made of where they tell its combination cheaply, else none of
    them; None where `<staging>.labels.sql` works out the combinations."""
    effective_cost_state: str = "unproven"
    """What is known of EffectiveCost where it is not worked out here: unproven or as delivered."""
    is_expected: Callable[[str], bool] = field(default=lambda _: False)
    """Whether a delivered column that no field takes is part of the format, so that it does not count as unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileGroup:
    """Files of one shape, in delivery order."""

    shape: FileShape
    files: tuple[DeliveredFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """What the files of a delivery turned out to be."""

    dataset: Dataset
    export_kind: str
    groups: tuple[FileGroup, ...]

    def columns(self) -> Iterator[DeliveredColumn]:
        """Yield the flattened columns of every group."""
        for group in self.groups:
            yield from flattened(group.shape.columns)


def flattened(columns: Iterable[DeliveredColumn]) -> Iterator[DeliveredColumn]:
    """Yield columns with the members of structs under dotted names: `project` becomes `project.id`, ..."""
    for column in columns:
        members = (
            struct_fields(column.type) if column.type.startswith("STRUCT") and not column.type.endswith("]") else []
        )
        if members:
            nested = (
                DeliveredColumn(f"{column.name}.{name}", f"{column.reference}.{quoted(name)}", kind)
                for name, kind in members
            )
            yield from flattened(nested)
        else:
            yield column


def describe_files(files: Sequence[DeliveredFile], datasets: Sequence[Dataset], warehouse: Warehouse) -> Described:
    """Read the columns of `files` and return the dataset that all of them are.

    Raises SourceUnreadable where a file is none of `datasets`, or where they are not all the same kind.
    """
    nested = {name: kind for dataset in datasets for name, kind in dataset.nested.items()}
    found: list[_Found] = []
    for file in [file for file in files if not is_without_rows(file)] or files:
        shape = shape_of(file, warehouse, nested)
        found.append(_Found(file, shape, *_recognised(file, shape, datasets)))
    shapes: dict[FileShape, list[DeliveredFile]] = {}
    kinds: dict[str, _Found] = {}
    for one in _joined(found):
        kinds.setdefault(one.kind, one)
        shapes.setdefault(one.shape, []).append(one.file)
    if len(kinds) > 1:
        listed = ", ".join(f"{kind} ({one.file.name})" for kind, one in kinds.items())
        raise SourceUnreadable(
            f"the files are of several kinds: {listed}", hint="point `location` of one [[source]] at each kind"
        )
    [(kind, first)] = kinds.items()
    groups = tuple(FileGroup(shape=shape, files=tuple(members)) for shape, members in shapes.items())
    return Described(dataset=first.dataset, export_kind=kind, groups=groups)


@dataclass(frozen=True, slots=True)
class _Found:
    """A file, and what it turned out to be."""

    file: DeliveredFile
    shape: FileShape
    dataset: Dataset
    kind: str


def _joined(found: Sequence[_Found]) -> list[_Found]:
    """Return the files, those of NDJSON of one dataset with the same columns.

    A row of NDJSON leaves out what is null, so that no file shows every column: what one has is read in all, and what
    the dataset reads besides is bound by its name.
    """
    columns: dict[str, dict[DeliveredColumn, None]] = {}
    for one in found:
        if one.shape.format == "ndjson":
            columns.setdefault(one.dataset.staging, {}).update(dict.fromkeys(one.shape.columns))
    joined: list[_Found] = []
    for one in found:
        if one.shape.format == "ndjson":
            seen = tuple(columns[one.dataset.staging])
            kind = one.dataset.recognise(_names(seen)) or one.kind
            shape = replace(one.shape, columns=(*seen, *_unseen(seen, one.dataset)))
            joined.append(replace(one, shape=shape, kind=kind))
        else:
            joined.append(one)
    return joined


def _unseen(seen: Sequence[DeliveredColumn], dataset: Dataset) -> Iterator[DeliveredColumn]:
    """Yield the columns that a dataset reads from NDJSON and that no file begins with, under whatever spelling."""
    if not dataset.is_ndjson_bound:
        return
    known = [name.partition(".")[0] for item in dataset.fields for name in (item.name, *item.aliases)]
    spelt = {folded(column.name) for column in seen}
    for name in dict.fromkeys(known):
        if folded(name) not in spelt:
            yield ndjson_column(name, dataset.nested)


def _names(columns: Iterable[DeliveredColumn]) -> frozenset[str]:
    """Return the folded names of columns and of members of structs."""
    return frozenset(folded(column.name) for column in flattened(columns))


def _recognised(file: DeliveredFile, shape: FileShape, datasets: Sequence[Dataset]) -> tuple[Dataset, str]:
    """Return the dataset whose required columns are all there."""
    names = _names(shape.columns)
    for dataset in datasets:
        try:
            kind = dataset.recognise(names)
        except SourceUnreadable as error:
            error.file = file.name
            raise
        if kind is not None:
            return dataset, kind
    missing = _missing(datasets[0], names)
    raise SourceUnreadable(
        f"not an export of this kind of source: no column {', '.join(missing) or '(none recognised)'}",
        file=file.name,
        hint="check `kind` of the [[source]], and that the export was not cut down to a few columns",
    )


def _missing(dataset: Dataset, names: frozenset[str]) -> list[str]:
    """Return the required fields of `dataset` that no column gives."""
    return [item.name for item in dataset.fields if item.is_required and not names & field_names(item)]


def field_names(item: Field) -> frozenset[str]:
    """Return the folded names under which a field is delivered."""
    return frozenset(folded(name) for name in (item.name, *item.aliases))
