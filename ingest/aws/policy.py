"""The policy that lets a night read what is configured, and nothing else: one statement for each need.

Exactly what the code asks AWS for: ListObjectsV2, GetObject and HeadObject of S3, GetCostAndUsage of Cost Explorer,
ListAccounts and ListTagsForResource of Organizations; a test holds the two together. GetCallerIdentity needs no
permission, and AssumeRole belongs to whoever assumes the role that this policy is attached to.

Source: AWS Service Authorization Reference; Amazon S3 user guide, "Required permissions for Amazon S3 API operations".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from ingest.formats import format_of
from ingest.source import AwsAccess, S3Location, SourceSettings

KMS_KEY = re.compile(r"arn:(?P<partition>aws[a-z-]*):kms:(?P<region>[a-z0-9-]+):\d{12}:key/[\w-]{1,128}")
EXAMPLE = S3Location(bucket="EXAMPLE-BUCKET", prefix="EXAMPLE-PREFIX")
"""Stands for what is not configured yet."""
_PARTITIONS = {"cn-": "aws-cn", "us-gov-": "aws-us-gov"}
_Statement = dict[str, object]


def reader_policy(sources: Sequence[SourceSettings], kms_keys: Sequence[str] = ()) -> dict[str, object]:
    """Return the policy, as IAM takes it, for all sources; without one in S3, for a bucket that is a placeholder.

    `kms_keys` are the ARNs of the keys that encrypt buckets, if any: the configuration does not know them.
    """
    places = [(_partition(source.access), source.location) for source in sources]
    stored = [(partition, place) for partition, place in places if isinstance(place, S3Location)]
    statements = [*_in_s3(stored or [("aws", EXAMPLE)]), *_keys(kms_keys)]
    if not sources or any(source.kind == "aws-export" for source in sources):
        statements.append(_allowed("AskCostExplorer", ["ce:GetCostAndUsage"], ["*"]))
    if any(source.organizations for source in sources):
        actions = ["organizations:ListAccounts", "organizations:ListTagsForResource"]
        statements.append(_allowed("ListAccounts", actions, ["*"]))
    return {"Version": "2012-10-17", "Statement": statements}


def _in_s3(places: Sequence[tuple[str, S3Location]]) -> list[_Statement]:
    """Return the statement for reading, and one per bucket for listing, since prefixes belong to a bucket."""
    objects: dict[str, None] = {}
    prefixes: dict[str, dict[str, None]] = {}
    for partition, place in places:
        bucket = f"arn:{partition}:s3:::{place.bucket}"
        objects |= dict.fromkeys(f"{bucket}/{pattern}" for pattern in _keys_of(place))
        prefixes.setdefault(bucket, {}).update(dict.fromkeys(_prefixes_of(place)))
    listing: list[_Statement] = []
    for number, (bucket, patterns) in enumerate(prefixes.items(), 1):
        sid = f"ListExportFolders{number if len(prefixes) > 1 else ''}"
        condition = None if "*" in patterns else {"StringLike": {"s3:prefix": [*patterns]}}
        listing.append(_allowed(sid, ["s3:ListBucket"], [bucket], condition))
    return [_allowed("ReadExportObjects", ["s3:GetObject"], [*objects]), *listing]


def _keys_of(place: S3Location) -> list[str]:
    """Return patterns of the keys that are read: below the prefix, as it is written and without empty names."""
    if place.prefix and format_of(PurePosixPath(place.prefix)) is not None:
        return [_literal(place.prefix)]
    return [f"{_literal(prefix)}*" for prefix in dict.fromkeys(_folders_of(place))]


def _prefixes_of(place: S3Location) -> list[str]:
    """Return patterns of the prefixes that are listed.

    A location without anything is looked for with a slash in front, and as the name of one file: were that refused,
    nothing yet would look like a missing permission.
    """
    plain = _plain(place)
    folders = [*_folders_of(place), *([f"/{plain}/"] if plain else [])]
    named = [place.prefix] if place.prefix and not place.prefix.endswith("/") else []
    return [*map(_literal, named), *(f"{_literal(prefix)}*" for prefix in dict.fromkeys(folders))]


def _folders_of(place: S3Location) -> list[str]:
    """Return the folder that a location is, as it is written and without empty names."""
    plain = _plain(place)
    written = f"{place.prefix.removesuffix('/')}/" if place.prefix else ""
    return [written, *([f"{plain}/"] if plain else [])]


def _plain(place: S3Location) -> str:
    return "/".join(piece for piece in place.prefix.split("/") if piece)


def _keys(arns: Sequence[str]) -> list[_Statement]:
    """Return one statement per region for keys, which may be used by S3 there and in no other way."""
    regions: dict[tuple[str, str], list[str]] = {}
    for arn in arns:
        found = KMS_KEY.fullmatch(arn)
        if found is None:
            raise ValueError(f"{arn!r} is not the ARN of a KMS key")
        regions.setdefault((found["partition"], found["region"]), []).append(arn)
    statements: list[_Statement] = []
    for number, ((partition, region), keys) in enumerate(regions.items(), 1):
        service = f"s3.{region}.amazonaws.com"
        services = [service, f"{service}.cn"] if partition == "aws-cn" else [service]
        sid = f"DecryptExports{number if len(regions) > 1 else ''}"
        statements.append(_allowed(sid, ["kms:Decrypt"], keys, {"StringEquals": {"kms:ViaService": services}}))
    return statements


def _allowed(
    sid: str, actions: Sequence[str], resources: Sequence[str], condition: Mapping[str, object] | None = None
) -> _Statement:
    """Return one statement."""
    statement: _Statement = {"Sid": sid, "Effect": "Allow", "Action": [*actions], "Resource": [*resources]}
    return statement if condition is None else {**statement, "Condition": condition}


def _partition(access: AwsAccess) -> str:
    """Return the partition that a source is in, by its region, else by its role."""
    for start, partition in _PARTITIONS.items():
        if (access.region or "").startswith(start):
            return partition
    return access.role_arn.split(":")[1] if access.role_arn and access.region is None else "aws"


def _literal(text: str) -> str:
    """Return text as it stands in a policy, where three characters would mean something else.

    Source: IAM user guide, "IAM policy elements: Variables and tags", of special characters.
    """
    return re.sub(r"[*?$]", lambda found: f"${{{found[0]}}}", text)
