"""What Cloud Billing lets a night do, asked one thing after the other by `overrun doctor`; else what is missing.

Nothing is written, and nothing that costs is asked. A night does without names and prices, so what is missing of them
is a doubt and no failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ingest.errors import SourceUnreadable
from ingest.finding import Finding
from ingest.gcp.catalogue import ask_for_one
from ingest.gcp.projects import ROLE, list_accounts, list_projects
from ingest.source import BillingAccess

RETRY_SECONDS = 8.0


def probe_projects(access: BillingAccess, loaded: Sequence[str]) -> list[Finding]:
    """Return whether projects of the `loaded` billing accounts are listed; without any, of those that may be seen."""
    hasty = replace(access, retry_seconds=min(RETRY_SECONDS, access.retry_seconds))
    findings: list[Finding] = []
    try:
        accounts = list(loaded) or list_accounts(hasty)
    except SourceUnreadable as error:
        return [_refused(error)]
    if not accounts:
        return [
            Finding(
                level="warn",
                message=f"access is denied: {ROLE} on a billing account is missing, since none may be seen",
                hint=f"grant {ROLE} on the billing account to who runs the night: overrun doctor --print-policy gcp"
                " prints the command",
            )
        ]
    for account_id in accounts:
        try:
            count = len(list_projects(hasty, account_id))
        except SourceUnreadable as error:
            findings.append(_refused(error))
        else:
            noun = "project" if count == 1 else "projects"
            findings.append(Finding(level="ok", message=f"billing account {account_id} lists {count} {noun}"))
    return list(dict.fromkeys(findings))


def probe_prices(access: BillingAccess, services: Sequence[str]) -> list[Finding]:
    """Return whether the catalogue answers for each service."""
    hasty = replace(access, retry_seconds=min(RETRY_SECONDS, access.retry_seconds))
    findings: list[Finding] = []
    for service_id in services:
        try:
            ask_for_one(hasty, service_id)
        except SourceUnreadable as error:
            findings.append(_refused(error))
        else:
            findings.append(Finding(level="ok", message=f"the catalogue lists prices of service {service_id}"))
    return list(dict.fromkeys(findings))


def _refused(error: SourceUnreadable) -> Finding:
    return Finding(level="warn", message=str(error), hint=error.hint)
