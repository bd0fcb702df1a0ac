"""Zip and avro files: unpacked for as long as they are read, since DuckDB reads neither.

A legacy report may be delivered as `REPORT-00001.csv.zip`. The zip as delivered is what lands and what makes the
version; its members, each a CSV file, are chunks in the order of their names. They are unpacked beside the warehouse
and removed afterwards; what a killed run left goes at the beginning of the next (`remove_unpacked`). An avro file
is written there as parquet (`ingest.avro`).

A zip comes from outside and may lie about itself, so nothing that it says decides what is written where: members get
names of ours, and each must come to as many bytes as it declares.

Source: AWS CUR user guide, "Report versioning" and "Compression type"; PKWARE, APPNOTE.TXT, 4.3.
"""

from __future__ import annotations

import re
import shutil
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp
from typing import Literal

from ingest.avro import is_avro, write_parquet
from ingest.delivery import DeliveredFile
from ingest.errors import SourceUnreadable
from sql.files import TEMPORARY_MARK, make_directory, remove_tree, write_pieces
from sql.text import shortened, visible
from sql.warehouse import Warehouse

Purpose = Literal["unpacked", "parsed", "sampled"]
_PURPOSES: tuple[Purpose, ...] = ("unpacked", "parsed", "sampled")
MAX_MEMBERS = 1_000
MAX_RATIO = 200
"""Bytes unpacked per byte of the zip: reports come to 10 to 40; what DEFLATE can at most is 1,032."""
RATIO_FREE_BYTES = 64 * 1024 * 1024
"""Below this size any ratio is fine: a short report of equal rows packs well."""
_PIECE_BYTES = 1 << 20
_IS_ENCRYPTED = 0x1
_METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_IS_ABSOLUTE = re.compile(r"/|[A-Za-z]:")
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME = 120
_BROKEN = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, ValueError, LookupError, OverflowError, RuntimeError)
"""What the standard library raises over zips that are truncated or wrong."""


def is_zip(name: str) -> bool:
    """Return whether the name of a file stands for a zip."""
    return name.lower().endswith(".zip")


@contextmanager
def unpacked(warehouse: Warehouse, files: Sequence[DeliveredFile]) -> Iterator[tuple[DeliveredFile, ...]]:
    """Give the files to read in place of `files`: a zip's members or an avro file's parquet, every other as it is.

    Raises SourceUnreadable, naming file and member, where one is broken, hostile, or larger than the disk has room.
    """
    if not any(is_zip(file.name) or is_avro(file.name) for file in files):
        yield tuple(files)
        return
    with scratch(warehouse, "unpacked") as folder:
        make_directory(folder)
        yield tuple(
            member
            for position, file in enumerate(files, start=1)
            for member in _readable(file, folder / f"{position:05d}")
        )


@contextmanager
def scratch(warehouse: Warehouse, purpose: Purpose) -> Iterator[Path]:
    """Give a folder that is made where it is needed, and is gone afterwards."""
    folder = _folder(warehouse, purpose)
    remove_tree(folder)
    try:
        yield folder
    finally:
        remove_tree(folder)


def remove_unpacked(warehouse: Warehouse) -> None:
    """Remove what a killed run had unpacked, parsed or sampled."""
    if warehouse.path is not None:
        for purpose in _PURPOSES:
            remove_tree(_folder(warehouse, purpose))


def _folder(warehouse: Warehouse, purpose: Purpose) -> Path:
    """Return where such files are written: beside the warehouse; for one in memory, where the system has such files."""
    if warehouse.path is None:
        return Path(mkdtemp(prefix="overrun-"))
    name = warehouse.path.name.removeprefix(".").removesuffix(TEMPORARY_MARK)
    return warehouse.path.with_name(f".{name}.{purpose}{TEMPORARY_MARK}")


def _readable(file: DeliveredFile, folder: Path) -> list[DeliveredFile]:
    """Return what is read in place of one file; what is written for it goes into `folder`."""
    if is_zip(file.name):
        return _unpack(file, folder)
    return [_as_parquet(file, folder)] if is_avro(file.name) else [file]


def _as_parquet(file: DeliveredFile, folder: Path) -> DeliveredFile:
    """Return an avro file as parquet."""
    if file.size == 0:
        raise SourceUnreadable("the file is empty (0 bytes)", file=file.name, hint="deliver it again")
    make_directory(folder)
    target = folder / f"{_UNSAFE.sub('_', file.name)[-_LONGEST_NAME:].lstrip('.')}.parquet"
    write_parquet(file.path, file.name, target)
    return DeliveredFile(name=f"{file.name}:{target.name}", path=target, size=target.stat().st_size, sha256=file.sha256)


def _unpack(file: DeliveredFile, folder: Path) -> list[DeliveredFile]:
    """Unpack the members of one zip into `folder` and return them, by name."""
    if file.size == 0:
        raise SourceUnreadable("the file is empty (0 bytes)", file=file.name, hint="deliver it again")
    make_directory(folder)
    try:
        archive = zipfile.ZipFile(file.path)
    except (*_BROKEN, OSError) as error:
        raise _refused(file, None, "the file is truncated or no zip", hint="deliver it again") from error
    with archive:
        members = _members(file, archive)
        _refuse_too_large(file, members, shutil.disk_usage(folder).free)
        return [
            _unpack_member(file, archive, member, folder / f"{at:04d}")
            for at, member in enumerate(_distinct(members), 1)
        ]


def _distinct(members: Sequence[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the members without copies of an earlier one, which must not count twice, like those of loose files."""
    first = {(member.CRC, member.file_size): member for member in reversed(members)}
    return [member for member in members if first[member.CRC, member.file_size] is member]


def _refuse_too_large(file: DeliveredFile, members: Sequence[zipfile.ZipInfo], free_bytes: int) -> None:
    """Refuse a zip whose members come to more than is likely or than there is room for, by the sizes it declares.

    `_pieces` sees to it that no member comes to more than it declares.
    """
    size = 0
    for member in members:
        size += member.file_size
        if size > max(RATIO_FREE_BYTES, MAX_RATIO * file.size):
            raise _refused(
                file,
                member.filename,
                f"the zip unpacks to more than {MAX_RATIO} times its size",
                hint="no report packs so well: see where the file comes from, or deliver it as csv.gz",
            )
        if size > free_bytes:
            raise _refused(
                file,
                member.filename,
                f"the disk has no room to unpack it ({free_bytes >> 20} MiB are free)",
                hint="free some space beside the warehouse and run again; nothing was changed",
            )


def _members(file: DeliveredFile, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the members that are files, by name; raises SourceUnreadable where there is none, or one is not right."""
    listed = archive.infolist()
    members = sorted((item for item in listed if not item.filename.endswith("/")), key=lambda item: item.filename)
    if not members:
        raise _refused(file, None, "the zip has no file in it", hint="deliver it again")
    if len(members) > MAX_MEMBERS:
        raise _refused(file, None, f"the zip has {len(members)} members; {MAX_MEMBERS} are read at most")
    for member in members:
        problem = _problem(member)
        if problem is not None:
            raise _refused(file, member.orig_filename, problem)
    for member, following in pairwise(members):
        if member.filename == following.filename:
            raise _refused(file, member.filename, "two members have this name")
    return members


def _problem(member: zipfile.ZipInfo) -> str | None:
    """Return why a member is not unpacked, or None."""
    name = member.orig_filename
    parts = PurePosixPath(name).parts
    if visible(name) != name or "\\" in name or _IS_ABSOLUTE.match(name) or ".." in parts:
        return "the name is not that of a file in a folder"
    if not name.lower().endswith(".csv"):
        return "it is no .csv file"
    if member.flag_bits & _IS_ENCRYPTED:
        return "it is encrypted"
    if member.compress_type not in _METHODS:
        return f"it is packed by method {member.compress_type}, which is not read"
    return None


def _unpack_member(
    file: DeliveredFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo, folder: Path
) -> DeliveredFile:
    """Unpack one member into a folder of its own, since two may have one base name."""
    target = folder / (_UNSAFE.sub("_", PurePosixPath(member.filename).name)[-_LONGEST_NAME:].lstrip(".") or "csv")
    make_directory(folder)
    write_pieces(target, _pieces(file, archive, member))
    name = f"{file.name}:{_shown(member.filename)}"
    return DeliveredFile(name=name, path=target, size=target.stat().st_size, sha256=file.sha256)


def _pieces(file: DeliveredFile, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    """Yield the content of a member, counted; raises SourceUnreadable where it is not what the zip says."""
    # The library stops where the declared size is reached; asked for a byte more, it shows whether more lies behind.
    asked = copy(member)
    asked.file_size += 1
    left = member.file_size
    try:
        with archive.open(asked) as stream:
            while piece := stream.read(_PIECE_BYTES):
                left -= len(piece)
                yield piece
    except (*_BROKEN, OSError) as error:
        raise _refused(file, member.filename, "it is truncated or damaged", hint="deliver the file again") from error
    if left:
        raise _refused(file, member.filename, "it is not as long as the zip says", hint="deliver the file again")


def _refused(
    file: DeliveredFile, member: str | None, problem: str, *, hint: str = "a zip of a report holds .csv files only"
) -> SourceUnreadable:
    """Return the refusal of a zip, naming the member where it is about one."""
    return SourceUnreadable(
        problem if member is None else f"member {_shown(member)}: {problem}", file=file.name, hint=hint
    )


def _shown(name: str) -> str:
    """Return the name of a member, fit to be shown."""
    return shortened(visible(name), _LONGEST_NAME)
