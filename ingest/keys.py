"""Keys of NDJSON that nothing reads, wherever in a file they stand.

The columns of a file are learnt from its beginning, and what a dataset reads is bound by name; what nobody has
foreseen may begin with any row, on its own or within a nested column. Looking at every row costs about half as much as
writing the columns to a table, so of large files rows here and there are looked at: a column that a table grows is on
all rows from then on. It is done once per delivered file, when its months are learnt, and by a load only where they are
stated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.dataset import Described, FileGroup, field_names
from ingest.fields import folded
from ingest.formats import DeliveredColumn, json_lines
from ingest.unpack import scratch
from sql.files import make_directory, write_pieces
from sql.text import shortened, visible
from sql.warehouse import Warehouse, literal

_NAMED = 5
_LOOKED_THROUGH_BYTES = 64 << 20
"""A file that is no larger is looked at row by row."""
_PIECES = 64
_PIECE_BYTES = 64 << 10
_LONGEST_NAME = 60


def unread_keys(warehouse: Warehouse, described: Described) -> list[str]:
    """Return the keys of NDJSON files that no field takes and that do not count as unknown columns, in order of names.

    Members of nested columns have dotted names. Files of other formats have none.
    """
    dataset = described.dataset
    known = frozenset().union(*(field_names(item) for item in dataset.fields))
    found: set[str] = set()
    for group in described.groups:
        if group.shape.format == "ndjson":
            read = {column.name for column in group.shape.columns}
            found.update(
                name
                for name in _keys(warehouse, group)
                if name not in read and not ("." in name and folded(name) in known) and not dataset.is_expected(name)
            )
    return sorted(found)


def unread_note(file: str, names: Sequence[str]) -> str:
    """Return what people are told of a file with such keys; the first of them are named."""
    listed = ", ".join(shortened(visible(name), _LONGEST_NAME) for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{file} has columns that are not known and not loaded: {listed}{more}"


def _keys(warehouse: Warehouse, group: FileGroup) -> set[str]:
    """Return the keys of the objects of some files, and of the nested ones that are read member by member."""
    nested = [column for column in group.shape.columns if _is_record(column)]
    paths = ", ".join(["'$'", *(literal(f'$."{column.name}"') for column in nested)])
    found: set[str] = set()
    with scratch(warehouse, "sampled") as folder:
        for file in group.files:
            path = file.path
            if file.size > _LOOKED_THROUGH_BYTES and not group.shape.is_compressed:
                path = folder / "sample.ndjson"
                make_directory(folder)
                write_pieces(path, _pieces(file.path, file.size))
            rows = warehouse.rows(
                f"select any_value(keys) from (select json_keys(json, [{paths}]) as keys"
                f" from {json_lines(group.shape, [path])}) group by hash(keys)"
            )
            found.update(name for (keys,) in rows if isinstance(keys, list) for name in _dotted(keys, nested))
    return found


def _pieces(path: Path, size: int) -> Iterator[bytes]:
    """Yield whole lines from places all over a file, its end among them."""
    with path.open("rb") as stream:
        for number in range(_PIECES):
            stream.seek((size - _PIECE_BYTES) * number // (_PIECES - 1))
            stream.readline()
            yield stream.read(_PIECE_BYTES) + stream.readline()
            yield b"\n"


def _dotted(keys: Sequence[Sequence[str] | None], nested: Sequence[DeliveredColumn]) -> Iterator[str]:
    """Yield the keys of an object, and those of its nested ones after their name."""
    own, *members = keys
    yield from own or ()
    for column, names in zip(nested, members, strict=True):
        yield from (f"{column.name}.{name}" for name in names or ())


def _is_record(column: DeliveredColumn) -> bool:
    """Return whether a column is read member by member."""
    return column.type.startswith("STRUCT")
