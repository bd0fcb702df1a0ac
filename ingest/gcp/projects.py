"""Projects of billing accounts, as Cloud Billing lists them.

Source: Cloud Billing API reference, billingAccounts.projects.list (permission billing.resourceAssociations.list), and
billingAccounts.list. A project is listed by its id; the API has no display name of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ingest.errors import SourceUnreadable
from ingest.gcp.billing_clients import billing_client, bounded, call_options
from ingest.gcp.billing_errors import Request, billing_errors
from ingest.source import BillingAccess

ROLE = "roles/billing.viewer"
ACCOUNT_ID = re.compile(r"[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}")
"""Source: Cloud Billing documentation, "Find your billing account ID"."""
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedProject:
    """One project that is linked to a billing account."""

    project_id: str
    is_enabled: bool
    """Whether usage can be charged."""


def list_projects(access: BillingAccess, account_id: str) -> list[ListedProject]:
    """Return the projects of a billing account, none being right for a new one; raises SourceUnreadable."""
    request = Request(
        access=access,
        role=ROLE,
        permission="billing.resourceAssociations.list",
        resource=f"billing account {account_id}",
    )
    if not ACCOUNT_ID.fullmatch(account_id):
        raise SourceUnreadable(
            f"{account_id!r} is not the id of a billing account, so that its projects are not asked for",
            hint="look at billing_account_id in the export",
        )
    with billing_errors(request), billing_client(access) as client:
        pager = client.list_project_billing_info(
            request={"name": f"billingAccounts/{account_id}", "page_size": _PAGE}, **call_options(access)
        )
        listed = [item for page in bounded(pager.pages) for item in page.project_billing_info]
    found = {item.project_id: item.billing_enabled for item in listed if item.project_id}
    return [ListedProject(project_id=name, is_enabled=is_enabled) for name, is_enabled in sorted(found.items())]


def list_accounts(access: BillingAccess) -> list[str]:
    """Return the ids of the billing accounts that may be seen; none where no role on any is there."""
    request = Request(access=access, role=ROLE, permission="billing.accounts.list", resource="a billing account")
    with billing_errors(request), billing_client(access) as client:
        pager = client.list_billing_accounts(request={"page_size": 100}, **call_options(access))
        names = [account.name for page in bounded(pager.pages) for account in page.billing_accounts]
    return [name.removeprefix("billingAccounts/") for name in names]
