"""Names and tags of accounts, as AWS Organizations lists them: ListAccounts, and ListTagsForResource per account.

Source: AWS Organizations API Reference. Both are answered to the management account and to delegated administrators.
An answer of ListAccounts has e-mail addresses, too; they are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ingest.aws.errors import Request, aws_errors
from ingest.errors import SourceUnreadable
from ingest.source import SourceSettings

if TYPE_CHECKING:
    from mypy_boto3_organizations import OrganizationsClient

REQUESTS_AT_ONCE = 4
"""Organizations answers few requests a second, whatever the account; the client waits and tries again when refused."""
_HINT = "check `endpoint_url` and `profile` of the [[source]]"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTag:
    """One tag of one account."""

    account_id: str
    key: str
    value: str


def list_accounts(settings: SourceSettings) -> dict[str, str | None]:
    """Return the name of each account of the organisation by id, closed ones too; raises SourceUnreadable.

    The management account is always one of them, so that none is no answer.
    """
    with _asking(settings, "organizations:ListAccounts"):
        pages = _client(settings).get_paginator("list_accounts").paginate()
        names = {account["Id"]: account.get("Name") or None for page in pages for account in page["Accounts"]}
        if not names:
            raise SourceUnreadable("AWS Organizations lists no account at all", hint=_HINT)
        return names


def list_account_tags(settings: SourceSettings, account_ids: Sequence[str]) -> list[AccountTag]:
    """Return the tags of `account_ids`, a few accounts at once; raises SourceUnreadable where one is refused."""
    with _asking(settings, "organizations:ListTagsForResource"):
        client = _client(settings)
        with ThreadPoolExecutor(max_workers=REQUESTS_AT_ONCE) as executor:
            listed = executor.map(lambda account_id: list(_tags(client, account_id)), account_ids)
            try:
                return [tag for tags in listed for tag in tags]
            except BaseException:
                executor.shutdown(cancel_futures=True)
                raise


def _tags(client: OrganizationsClient, account_id: str) -> Iterator[AccountTag]:
    """Yield the tags of one account."""
    for page in client.get_paginator("list_tags_for_resource").paginate(ResourceId=account_id):
        for tag in page["Tags"]:
            yield AccountTag(account_id=account_id, key=tag["Key"], value=tag["Value"])


def _client(settings: SourceSettings) -> OrganizationsClient:
    from ingest.aws.session import client

    return client(settings, "organizations")


@contextmanager
def _asking(settings: SourceSettings, permission: str) -> Iterator[None]:
    """Turn what goes wrong inside the `with` block into SourceUnreadable."""
    with aws_errors(Request(access=settings.access, permission=permission, resource="*")):
        try:
            yield
        except KeyError as error:
            raise SourceUnreadable(
                "AWS Organizations' answer has another form than is documented", hint=_HINT
            ) from error
