"""What AWS lets a source do, asked one thing after the other by `overrun doctor`; where refused, what is missing.

Nothing is written, and nothing that costs more than LIST and GET requests is asked: Cost Explorer is not. A question is
put even where an earlier one was refused, unless the answer would be the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from ingest.aws.errors import Request, aws_errors
from ingest.aws.manifest import parse_manifest
from ingest.aws.s3 import Bucket, S3Object
from ingest.aws.session import assume_role, client
from ingest.aws.walk import Tree, is_hidden, open_tree
from ingest.errors import NoIdentity, SourceChanged, SourceUnreadable
from ingest.fetching import Broken
from ingest.finding import Finding, Level
from ingest.source import HASTE, AwsAccess, S3Location, SourceSettings

_ACCOUNT = re.compile(r"\d{12}")
_MONTH = re.compile(
    r"/(?:billing_period=(\d{4})-(\d{2})|(\d{4})(\d{2})\d{2}-\d{8}|year=(\d{4})/month=(\d{1,2}))/", re.I
)
"""Folder of one month in the layouts of AWS."""


def probe_source(source: SourceSettings) -> list[Finding]:
    """Return what a source may do of what a night does: credentials, role, listing, reading, what is there, accounts.

    Sends a handful of requests, and one LIST for each folder on the way to the manifests. Raises nothing of AWS.
    """
    hasty = replace(source, access=replace(source.access, patience=HASTE))
    probe = _Probe(source=hasty)
    if probe.has_identity():
        if isinstance(source.location, S3Location):
            probe.look_into(source.location)
        if source.organizations:
            probe.ask_for_accounts()
    return probe.findings


@dataclass(slots=True, kw_only=True)
class _Probe:
    """The findings so far, and who is asking."""

    source: SourceSettings
    findings: list[Finding] = field(default_factory=list)
    asker: str = "who runs the night"
    """Whom a permission is missing for."""
    account: str | None = None
    """Account of the asker, where it is known."""

    @property
    def access(self) -> AwsAccess:
        """Return how AWS is reached."""
        return self.source.access

    def has_identity(self) -> bool:
        """Find out whose credentials there are, and whether they may assume the role; return whether to go on.

        Without a role the other questions can be put even if STS does not answer.
        """
        self._identify()
        role = self.access.role_arn
        if role is None:
            return True
        with self._question("sts:AssumeRole"):
            assume_role(self.source)
            self.asker, self.account = role, role.split(":")[4]
            self._well(f"the role {role} can be assumed")
        return self.asker == role

    def _identify(self) -> None:
        """Ask STS whose the credentials are. A night does without the answer, but not without credentials."""
        own = replace(self.access, role_arn=None, external_id=None)
        try:
            with aws_errors(Request(access=own, permission="sts:GetCallerIdentity", resource="*")):
                account = client(replace(self.source, access=own), "sts").get_caller_identity()["Account"]
        except NoIdentity as error:
            self._refused("fail", error)
        except SourceUnreadable as error:
            self._told(
                "warn", f"whose credentials these are is not known: {error}", f"{error.hint}; a night needs no answer"
            )
        else:
            self.account = account if _ACCOUNT.fullmatch(account) else None
            self.asker = f"account {self.account or 'unknown'}"
            self._well(f"credentials of {self.asker} are there")

    def look_into(self, location: S3Location) -> None:
        """List the bucket below the prefix, read a manifest and one byte of its first file, and say what is there."""
        tree, manifests, files = None, list[S3Object](), list[S3Object]()
        with self._question("s3:ListBucket"):
            tree = open_tree(Bucket(self.source, location))
            files = _files(tree)
            manifests = tree.manifests() if self.source.kind == "aws-export" else []
            self._well(f"{location} can be listed")
            self._count(manifests, files)
        readable = [item for item in manifests or files if item.size > 0]
        if tree is None or not readable:
            return
        newest = max(readable, key=lambda item: item.modified_ns)
        if manifests:
            self._read_by_manifest(tree, newest)
        else:
            self._read_byte(tree, newest)

    def _read_by_manifest(self, tree: Tree, item: S3Object) -> None:
        """Read a manifest, and one byte of the first file that it names, which another rule may guard."""
        manifest = None
        with self._question("s3:GetObject", about=tree.bucket.url(item.key)):
            manifest = parse_manifest(item.path, tree.bucket.read(item), item.modified_ns)
            self._well(f"{tree.bucket.url(item.key)} can be read")
        if manifest is None or not manifest.keys:
            return
        with self._question("s3:ListBucket"):
            first = replace(manifest, keys=manifest.keys[:1])
            found = tree.resolve([first])[first]
            if isinstance(found, SourceUnreadable):
                self._refused("warn", found)
            elif found[0].size > 0:
                self._read_byte(tree, found[0])

    def _read_byte(self, tree: Tree, item: S3Object) -> None:
        """Read the first byte of an object."""
        place = tree.bucket.url(item.key)
        with self._question("s3:GetObject", about=place):
            try:
                for _ in tree.bucket.stream(item, 0, 1).chunks:
                    pass
            except Broken as error:
                raise SourceUnreadable("the connection broke", file=item.name, hint="run again") from error
            self._well(f"{place} can be read")

    def _count(self, manifests: list[S3Object], files: list[S3Object]) -> None:
        """Say what a night would find."""
        months = sorted({month for item in manifests if (month := _month(item)) is not None})
        if months:
            span = months[0] if len(months) == 1 else f"{months[0]} to {months[-1]}"
            self._well(f"{len(months)} month{'' if len(months) == 1 else 's'} by manifest ({span})")
        elif manifests:
            self._well(f"{len(manifests)} manifest{'' if len(manifests) == 1 else 's'}")
        elif files:
            self._well("files without a manifest")
        else:
            self._told(
                "warn",
                f"nothing yet at {self.source.location}",
                "a new export takes a day; if it is older, compare `location` with the export's bucket and prefix",
            )

    def ask_for_accounts(self) -> None:
        """Ask Organizations for one account and for the tags of one; a night does without where it is refused."""
        with self._question("organizations:ListAccounts", level="warn"):
            page = client(self.source, "organizations").list_accounts(MaxResults=1)
            listed = [account["Id"] for account in page["Accounts"] if "Id" in account]
            self.account = next(iter(listed), self.account)
            if not listed:
                raise SourceUnreadable("AWS Organizations lists no account", hint="check `endpoint_url` and `profile`")
            self._well("AWS Organizations lists accounts")
        if self.account is None:
            return
        with self._question("organizations:ListTagsForResource", level="warn"):
            client(self.source, "organizations").list_tags_for_resource(ResourceId=self.account)
            self._well("AWS Organizations lists tags of accounts")

    @contextmanager
    def _question(self, permission: str, *, level: Level = "fail", about: str | None = None) -> Iterator[None]:
        """Note what AWS refuses inside the `with` block as a finding, and go on behind it.

        What was replaced while it was asked for is a delivery that is under way.
        """
        try:
            with aws_errors(Request(access=self.access, permission=permission, resource="*")):
                yield
        except SourceUnreadable as error:
            self._refused("warn" if isinstance(error, SourceChanged) else level, error, about)

    def _refused(self, level: Level, error: SourceUnreadable, about: str | None = None) -> None:
        """Note what AWS refused, and to whom."""
        asked = f"asked as {self.asker}{f', for {about}' if about else ''}"
        self._told(level, str(error), f"{error.hint or 'run again'} ({asked})")

    def _well(self, message: str) -> None:
        self._told("ok", message)

    def _told(self, level: Level, message: str, hint: str | None = None) -> None:
        """Note a finding; one cause, such as that there are no credentials, is told once."""
        if message not in {finding.message for finding in self.findings}:
            self.findings.append(Finding(level=level, message=message, hint=hint))


def _files(tree: Tree) -> list[S3Object]:
    """Return some of the files at a location, or the one that it names."""
    prefix, named = tree.root.prefix, tree.bucket.location.prefix
    if not tree.root.objects and not tree.root.folders:
        return [item for item in tree.bucket.folder(named).objects.values() if item.key == named]
    return [item for item in tree.bucket.first_below(prefix) if not is_hidden(item.key, prefix)]


def _month(manifest: S3Object) -> str | None:
    """Return the month that the folders of a manifest name, YYYY-MM."""
    found = _MONTH.search(f"/{manifest.key}")
    if found is None:
        return None
    year, month = (piece for piece in found.groups() if piece is not None)
    return f"{year}-{month:>02}"
