"""Projects of billing accounts from Cloud Billing: listed, replaced where they changed, kept where Google refuses."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from ingest.errors import SourceUnreadable
from ingest.gcp import billing_clients
from ingest.gcp.projects import list_accounts, list_projects
from ingest.projects import refresh_projects
from ingest.source import BillingAccess, SourceSettings
from sql.contract import LOAD_TOTAL
from sql.warehouse import Row, Warehouse
from tests.fakes.google_billing import SECRET, GoogleBilling, google_billing
from tests.fakes.parts import insert_rows, load_part, make_warehouse

ONE, TWO = "0A1B2C-3D4E5F-678901", "FFFFFF-000000-111111"
MONTH = date(2026, 10, 1)


def access(endpoint: str, seconds: float = 0.3) -> BillingAccess:
    return BillingAccess(endpoint=endpoint, retry_seconds=seconds, first_wait_seconds=0.01)


def source(endpoint: str, name: str = "gcp-main", *, projects: bool = True) -> SourceSettings:
    return SourceSettings(
        name=name, kind="gcp-export", location=Path("/exports"), billing=access(endpoint), projects=projects
    )


def listed(warehouse: Warehouse) -> list[Row]:
    return warehouse.rows("select * exclude (source) from ops.project order by all")


def load(warehouse: Warehouse, *accounts: str, name: str = "gcp-main") -> None:
    """Load a month of these billing accounts."""
    load_id = load_part(warehouse, source=name, month=MONTH, charges=[])
    warehouse.execute("delete from ops.load_total where load_id = ?", [load_id])
    insert_rows(warehouse, LOAD_TOTAL, [{"load_id": load_id, "billing_account_id": account} for account in accounts])


@pytest.fixture
def google() -> Iterator[GoogleBilling]:
    with google_billing() as google:
        google.projects = {ONE: [("vision-prod", True), ("old-trial", False)], TWO: [("nlp", True)]}
        yield google


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with make_warehouse() as warehouse:
        yield warehouse


def test_the_projects_of_the_loaded_billing_accounts_are_listed(google: GoogleBilling, warehouse: Warehouse) -> None:
    load(warehouse, ONE)
    assert refresh_projects(warehouse, [source(google.endpoint)]) == []
    assert listed(warehouse) == [
        (ONE, "old-trial", "old-trial", False),
        (ONE, "vision-prod", "vision-prod", True),
    ]
    assert [request.name for request in google.requests("list_projects")] == [f"billingAccounts/{ONE}"]


def test_every_page_is_read(google: GoogleBilling, warehouse: Warehouse) -> None:
    google.projects = {ONE: [(f"project-{number:03}", True) for number in range(25)]}
    google.page_size = 10
    load(warehouse, ONE)
    assert refresh_projects(warehouse, [source(google.endpoint)]) == []
    assert len(listed(warehouse)) == 25
    assert [request.page_token for request in google.requests("list_projects")] == ["", "10", "20"]


@pytest.mark.parametrize("status", ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED"])
def test_a_busy_or_absent_service_is_asked_again(google: GoogleBilling, status: str) -> None:
    google.refuse("list_projects", (status, ""), (status, ""))
    assert len(list_projects(access(google.endpoint, 10), ONE)) == 2
    assert len(google.requests("list_projects")) == 3


@pytest.mark.parametrize(
    ("status", "reason", "message", "is_tried_again"),
    [
        ("PERMISSION_DENIED", "", f"access is denied: roles/billing.viewer on billing account {ONE} is missing", False),
        ("PERMISSION_DENIED", "IAM_PERMISSION_DENIED", "roles/billing.viewer", False),
        ("PERMISSION_DENIED", "SERVICE_DISABLED", "(cloudbilling.googleapis.com) is not enabled", False),
        ("PERMISSION_DENIED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "scopes", False),
        ("UNAUTHENTICATED", "", "does not take the credentials", False),
        ("NOT_FOUND", "", f"there is no billing account {ONE}", False),
        ("INVALID_ARGUMENT", "", "billing.resourceAssociations.list with INVALID_ARGUMENT", False),
        ("INTERNAL", "", "with INTERNAL", False),
        ("RESOURCE_EXHAUSTED", "", "asks for fewer requests", True),
        ("UNAVAILABLE", "", "cannot be reached", True),
    ],
)
def test_each_refusal_has_its_own_text_and_repeats_nothing_of_google(
    google: GoogleBilling, status: str, reason: str, message: str, is_tried_again: bool
) -> None:
    google.always_refuse("list_projects", status, reason)
    with pytest.raises(SourceUnreadable) as refused:
        list_projects(access(google.endpoint), ONE)
    assert message in str(refused.value)
    assert refused.value.hint
    assert SECRET not in f"{refused.value} {refused.value.hint}"
    assert (len(google.requests("list_projects")) > 1) is is_tried_again


def test_nobody_who_answers_is_said_within_the_time() -> None:
    with pytest.raises(SourceUnreadable, match=r"127\.0\.0\.1:1 cannot be reached"):
        list_projects(access("127.0.0.1:1"), ONE)


def test_a_refused_account_keeps_its_rows_and_the_others_are_replaced(
    google: GoogleBilling, warehouse: Warehouse
) -> None:
    load(warehouse, ONE, TWO)
    refresh_projects(warehouse, [source(google.endpoint)])
    google.projects = {ONE: [], TWO: [("nlp", False), ("new", True)]}
    google.always_refuse(f"list_projects {ONE}", "PERMISSION_DENIED")
    (refused,) = refresh_projects(warehouse, [source(google.endpoint)])
    assert refused.source == "gcp-main"
    assert ONE in str(refused)
    assert TWO not in str(refused)
    assert [row[1:] for row in listed(warehouse)] == [
        ("old-trial", "old-trial", False),
        ("vision-prod", "vision-prod", True),
        ("new", "new", True),
        ("nlp", "nlp", False),
    ]
    google.refusals.clear()
    assert refresh_projects(warehouse, [source(google.endpoint)]) == []
    assert [row[1] for row in listed(warehouse)] == ["new", "nlp"], "an account without projects has none"


def test_an_account_that_is_loaded_no_more_leaves(google: GoogleBilling, warehouse: Warehouse) -> None:
    load(warehouse, ONE, TWO)
    refresh_projects(warehouse, [source(google.endpoint)])
    load(warehouse, TWO)
    refresh_projects(warehouse, [source(google.endpoint)])
    assert [row[0] for row in listed(warehouse)] == [TWO]


def test_only_a_source_that_asks_for_them_has_projects(google: GoogleBilling, warehouse: Warehouse) -> None:
    load(warehouse, ONE)
    load(warehouse, TWO, name="quiet")
    refresh_projects(warehouse, [source(google.endpoint), source(google.endpoint, "quiet", projects=False)])
    assert {row[0] for row in listed(warehouse)} == {ONE}
    asked = len(google.asked)
    assert refresh_projects(warehouse, []) == []
    assert len(listed(warehouse)) == 2, "a source that is configured no more keeps them with its charges"
    assert refresh_projects(warehouse, [source(google.endpoint, projects=False)]) == []
    assert listed(warehouse) == []
    assert len(google.asked) == asked


@pytest.mark.parametrize("account", ["", "projects/x", f"{ONE}/../{TWO}", "0a1b2c-3d4e5f-678901\n", "01234567"])
def test_what_is_no_billing_account_is_not_asked_for(google: GoogleBilling, warehouse: Warehouse, account: str) -> None:
    load(warehouse, account)
    (refused,) = refresh_projects(warehouse, [source(google.endpoint)])
    assert "is not the id of a billing account" in str(refused)
    assert google.asked == []


def test_an_answer_without_an_end_is_refused(google: GoogleBilling, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(billing_clients, "MOST_PAGES", 3)
    google.projects = {ONE: [(str(number), True) for number in range(4)]}
    google.page_size = 1
    with pytest.raises(SourceUnreadable, match="more than 3 pages"):
        list_projects(access(google.endpoint), ONE)


def test_the_accounts_that_may_be_seen_are_listed(google: GoogleBilling) -> None:
    google.page_size = 1
    assert list_accounts(access(google.endpoint)) == [ONE, TWO]
    google.visible = []
    assert list_accounts(access(google.endpoint)) == []
