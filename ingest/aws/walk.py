"""The way from a location in S3 to manifests, and from their keys to objects, by listing folders one by one.

Nothing lists the bucket as a whole: data folders are passed by, and then only those that a newest manifest names are
listed, since the size and ETag of each of its files are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ingest.aws.manifest import MANIFEST_SUFFIX, Manifest, bare_key, missing, refuse_repeated
from ingest.aws.s3 import Bucket, Folder, S3Object
from ingest.errors import SourceDenied, SourceUnreadable

_PERIOD = re.compile(r"(?:\d{8}-\d{8}|billing_period=\d{4}-\d{2})", re.IGNORECASE)
"""Folder of one month: what it holds besides its own manifest are the runs of the export."""


@dataclass(slots=True)
class Tree:
    """What is known of a bucket below the location: the folders that were listed, by prefix."""

    bucket: Bucket
    root: Folder
    listed: dict[str, Folder] = field(default_factory=dict)

    def manifests(self) -> list[S3Object]:
        """Walk to every manifest, but into no data folder that has metadata beside it, and no run of a month.

        Raises SourceUnreadable where a folder cannot be listed, or too many would have to be.
        """
        found: list[S3Object] = []
        level = [self.root]
        while level:
            wanted: list[str] = []
            for folder in level:
                own = [item for item in folder.objects.values() if item.name.endswith(MANIFEST_SUFFIX)]
                found += [item for item in own if not item.name.startswith(".")]
                wanted += _below(folder, has_manifest=bool(own))
            level = self.list_folders(wanted)
        return found

    def list_folders(self, prefixes: Sequence[str]) -> list[Folder]:
        """List folders, each once."""
        new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in self.listed]
        self.listed |= {folder.prefix: folder for folder in self.bucket.folders(new)}
        return [self.listed[prefix] for prefix in prefixes]

    def resolve(self, manifests: Sequence[Manifest]) -> dict[Manifest, list[S3Object] | SourceUnreadable]:
        """Return the objects that each manifest names, in its order, or what is wrong with it.

        A key names the object of its longest suffix that exists below the location; the bucket that it names is
        ignored, so that a replicated bucket is read like the one that the export writes to.
        """
        searches: dict[Manifest, list[_Search]] = {}
        found: dict[Manifest, list[S3Object] | SourceUnreadable] = {}
        for manifest in manifests:
            try:
                searches[manifest] = [_Search(key, self._candidates(key, manifest)) for key in manifest.keys]
            except SourceUnreadable as error:
                found[manifest] = error
        open_searches = [search for group in searches.values() for search in group]
        while open_searches:
            self.list_folders([_parent(search.candidate) for search in open_searches if self._can_be(search)])
            open_searches = [search for search in open_searches if not self._settle(search)]
        return found | {manifest: _found(manifest, group) for manifest, group in searches.items()}

    def _candidates(self, key: str, manifest: Manifest) -> Iterator[str]:
        """Return the keys that a key of a manifest may stand for, longest first: as spelt, then without empty names.

        Some tools write keys that begin with a slash and leave it out of the manifest, or the other way round.
        """
        pieces = bare_key(key, manifest).split("/")
        prefix = self.root.prefix
        candidates: dict[str, None] = {}
        for start in range(len(pieces)):
            suffix = pieces[start:]
            plain = "/".join(piece for piece in suffix if piece)
            candidates |= dict.fromkeys([f"{prefix}{'/'.join(suffix)}", f"{prefix}{plain}", f"{prefix}/{plain}"])
        return iter([candidate for candidate in candidates if not candidate.endswith("/")])

    def _can_be(self, search: _Search) -> bool:
        """Return whether no folder that is listed already says that the candidate's folder does not exist."""
        prefix = _parent(search.candidate)
        while len(prefix) > len(self.root.prefix):
            above = _parent(prefix.removesuffix("/"))
            known = self.listed.get(above)
            if known is not None:
                return prefix in known.folders
            prefix = above
        return True

    def _settle(self, search: _Search) -> bool:
        """Take the candidate where it exists, else go on to the next; return whether the search is over."""
        folder = self.listed.get(_parent(search.candidate))
        search.found = folder.objects.get(search.candidate) if folder is not None else None
        return search.found is not None or not search.advance()


@dataclass(slots=True)
class _Search:
    """The search for the object that one key names."""

    key: str
    candidates: Iterator[str]
    candidate: str = ""
    found: S3Object | None = None

    def __post_init__(self) -> None:
        self.advance()

    def advance(self) -> bool:
        """Go on to the next candidate; return whether there is one."""
        following = next(self.candidates, None)
        self.candidate = following or self.candidate
        return following is not None


def open_tree(bucket: Bucket) -> Tree:
    """Return the tree below the location of a source; what does not exist is an empty folder.

    A prefix is tried as it is written, then without empty names, then beginning with a slash. A role may be allowed to
    list the first of them only, which is no fault where that one is empty. Raises SourceUnreadable.
    """
    written = bucket.location.prefix
    plain = "/".join(piece for piece in written.split("/") if piece)
    spelt = [f"{written.removesuffix('/')}/" if written else "", f"{plain}/" if plain else ""]
    spelt += [f"/{plain}/"] if plain else []
    root = Folder(prefix=spelt[0], objects={}, folders=frozenset())
    denied: SourceDenied | None = None
    for prefix in dict.fromkeys(spelt):
        try:
            folder = bucket.folder(prefix)
        except SourceDenied as error:
            denied = error if prefix == spelt[0] else denied
            continue
        if folder.objects or folder.folders:
            root, denied = folder, None
            break
    if denied is not None:
        raise denied
    return Tree(bucket=bucket, root=root, listed={root.prefix: root})


def is_hidden(key: str, root: str) -> bool:
    """Return whether a file or a folder on its way from the root begins with a dot."""
    return any(piece.startswith(".") for piece in key.removeprefix(root).split("/"))


def _below(folder: Folder, *, has_manifest: bool) -> list[str]:
    """Return the folders that may lead to further manifests."""
    if has_manifest and _PERIOD.fullmatch(_last(folder.prefix)):
        return []
    names = {_last(prefix): prefix for prefix in sorted(folder.folders)}
    passed = {"data"} if "metadata" in names else set()
    return [prefix for name, prefix in names.items() if name not in passed and not name.startswith(".")]


def _found(manifest: Manifest, searches: Sequence[_Search]) -> list[S3Object] | SourceUnreadable:
    """Return the objects of a manifest, or what is wrong with it."""
    objects = [search.found for search in searches if search.found is not None]
    if len(objects) < len(searches):
        return missing(next(search.key for search in searches if search.found is None), manifest)
    try:
        refuse_repeated(objects, manifest)
    except SourceUnreadable as error:
        return error
    return objects


def _parent(key: str) -> str:
    """Return the prefix of the folder that a key or a folder without its last slash stands in."""
    return key[: key.rfind("/") + 1]


def _last(prefix: str) -> str:
    """Return the name of a folder."""
    return prefix.removesuffix("/").rpartition("/")[2]
