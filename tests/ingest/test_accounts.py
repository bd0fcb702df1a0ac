"""Names and tags of accounts from AWS Organizations: listed, replaced where they changed, kept where AWS refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.accounts import refresh_accounts
from ingest.aws.organizations import REQUESTS_AT_ONCE
from ingest.privacy import Privacy, PrivacySettings
from ingest.source import AwsAccess, SourceSettings
from sql.secret import SecretReference
from sql.warehouse import Row, Warehouse
from tests.fakes.aws import KEYS, Aws
from tests.fakes.cost_explorer import Answer, JsonServer, json_server, refusal
from tests.fakes.parts import make_warehouse

DENIED = refusal("AccessDeniedException", "User: arn:aws:iam::1:user/secret-name is not authorized")
BUSY = refusal("TooManyRequestsException", "too many", status=400)


def source(endpoint: str, name: str = "main", *, organizations: bool = True) -> SourceSettings:
    access = AwsAccess(endpoint_url=endpoint)
    return SourceSettings(
        name=name, kind="aws-export", location=Path("/exports"), access=access, organizations=organizations
    )


def accounts(warehouse: Warehouse) -> list[Row]:
    return warehouse.rows("select source, sub_account_id, sub_account_name from ops.account order by all")


def tags(warehouse: Warehouse) -> list[Row]:
    return warehouse.rows("select source, sub_account_id, tag_key, tag_value from ops.account_tag order by all")


def listed(*names: str, token: str | None = None) -> tuple[int, dict[str, Any]]:
    """Return a page of ListAccounts."""
    rows = [
        {"Id": f"{number:012d}", "Name": name, "Email": f"{name}@acme.example"} for number, name in enumerate(names)
    ]
    return 200, {"Accounts": rows, **({} if token is None else {"NextToken": token})}


def tagged(**pairs: str) -> tuple[int, dict[str, Any]]:
    """Return a page of ListTagsForResource."""
    return 200, {"Tags": [{"Key": key, "Value": value} for key, value in pairs.items()]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[JsonServer]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "no-config"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "no-credentials"))
    with json_server() as server:
        yield server


@pytest.fixture
def warehouse() -> Iterator[Warehouse]:
    with make_warehouse() as warehouse:
        yield warehouse


def test_an_organisation_is_listed_with_its_tags(aws: Aws, warehouse: Warehouse) -> None:
    organizations = aws.client("organizations")
    organizations.create_organization(FeatureSet="ALL")
    created = organizations.create_account(AccountName="vision-prod", Email="vision@acme.example")
    vision = created["CreateAccountStatus"]["AccountId"]
    organizations.tag_resource(
        ResourceId=vision, Tags=[{"Key": "team", "Value": "vision"}, {"Key": "Team", "Value": "other"}]
    )

    assert refresh_accounts(warehouse, [source(aws.endpoint)]) == []

    assert ("main", vision, "vision-prod") in accounts(warehouse)
    assert len(accounts(warehouse)) == 2, "the management account is one of them"
    assert tags(warehouse) == [("main", vision, "Team", "other"), ("main", vision, "team", "vision")]
    kept = warehouse.rows("from ops.account") + warehouse.rows("from ops.account_tag")
    assert not any("@" in str(value) for row in kept for value in row), "addresses are nobody's business"


def test_every_page_is_read_and_a_busy_service_asked_again(server: JsonServer, warehouse: Warehouse) -> None:
    names = [f"account-{number}" for number in range(30)]
    server.answers = [BUSY, listed(*names, token="more"), BUSY, listed(*names), tagged(team="vision")]
    assert refresh_accounts(warehouse, [source(server.endpoint)]) == []
    assert len(accounts(warehouse)) == len(tags(warehouse)) == 30
    assert [asked for asked in server.asked if asked.get("NextToken")] == [{"NextToken": "more"}] * 2
    assert sum("ResourceId" in asked for asked in server.asked) == 30


def test_tags_are_asked_for_a_few_accounts_at_once(server: JsonServer, warehouse: Warehouse) -> None:
    server.answers = [listed(*map(str, range(20))), tagged()]
    barrier = threading.Barrier(REQUESTS_AT_ONCE, timeout=30)
    waiting = iter(range(REQUESTS_AT_ONCE))
    server.before = lambda body: barrier.wait() if "ResourceId" in body and next(waiting, None) is not None else None
    assert refresh_accounts(warehouse, [source(server.endpoint)]) == []
    assert server.most_at_once == REQUESTS_AT_ONCE


def test_rows_are_written_only_where_something_changed(
    server: JsonServer, warehouse: Warehouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answers = [listed("a", "b"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)])
    statements: list[str] = []
    execute = Warehouse.execute

    def noting(self: Warehouse, statement: str, parameters: Any = ()) -> Any:  # noqa: ANN401 - as the original
        statements.append(statement.split(maxsplit=1)[0])
        return execute(self, statement, parameters)

    monkeypatch.setattr(Warehouse, "execute", noting)
    server.answers = [listed("a", "b"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)])
    assert set(statements) == {"select"}
    server.answers = [listed("a", "renamed"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)])
    assert (statements.count("begin"), statements.count("delete"), statements.count("commit")) == (1, 1, 1)
    monkeypatch.undo()
    assert accounts(warehouse) == [("main", "000000000000", "a"), ("main", "000000000001", "renamed")]


def test_tags_of_accounts_are_hidden_as_those_of_charges(server: JsonServer, warehouse: Warehouse) -> None:
    settings = PrivacySettings(key=SecretReference("env", "K"), kinds=("user",), tags=())
    privacy = Privacy(settings=settings, key=b"correct horse battery staple")
    server.answers = [listed("a"), tagged(owner="bob@acme.example", team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)], privacy=privacy)
    assert tags(warehouse) == [
        ("main", "000000000000", "owner", privacy.hashed("bob@acme.example")),
        ("main", "000000000000", "team", "vision"),
    ]


def test_a_refusal_is_noted_and_what_was_listed_last_stays(server: JsonServer, warehouse: Warehouse) -> None:
    server.answers = [listed("a"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)])
    before = accounts(warehouse), tags(warehouse)
    server.answers = [DENIED]
    (refused,) = refresh_accounts(warehouse, [source(server.endpoint)])
    assert (accounts(warehouse), tags(warehouse)) == before
    assert refused.source == "main"
    assert "organizations:ListAccounts" in str(refused)
    assert "secret-name" not in f"{refused} {refused.hint}"


def test_names_are_taken_where_only_tags_are_refused(server: JsonServer, warehouse: Warehouse) -> None:
    server.answers = [listed("a"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)])
    server.answers = [listed("renamed"), DENIED]
    (refused,) = refresh_accounts(warehouse, [source(server.endpoint)])
    assert accounts(warehouse) == [("main", "000000000000", "renamed")]
    assert tags(warehouse) == [("main", "000000000000", "team", "vision")]
    assert "organizations:ListTagsForResource" in str(refused)


def test_one_source_that_is_refused_does_not_stop_another(server: JsonServer, warehouse: Warehouse) -> None:
    server.answers = [listed("a"), tagged()]
    sources = [source("http://127.0.0.1:1", "unreachable"), source(server.endpoint, "main")]
    (refused,) = refresh_accounts(warehouse, sources)
    assert refused.source == "unreachable"
    assert [row[0] for row in accounts(warehouse)] == ["main"]


def test_only_a_source_that_asks_for_them_has_accounts(server: JsonServer, warehouse: Warehouse) -> None:
    server.answers = [listed("a"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint), source(server.endpoint, "quiet", organizations=False)])
    assert [row[0] for row in accounts(warehouse)] == ["main"]
    asked = len(server.asked)
    assert refresh_accounts(warehouse, []) == []
    assert len(accounts(warehouse)) == 1, "a source that is configured no more keeps them with its charges"
    assert refresh_accounts(warehouse, [source(server.endpoint, organizations=False)]) == []
    assert (accounts(warehouse), tags(warehouse)) == ([], [])
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([(200, {"Accounts": []})], "lists no account at all"),
        ([(200, {})], "another form"),
        ([(200, {"Accounts": [{"Name": "a"}]})], "another form"),
        ([listed("a"), (200, {})], "another form"),
        ([listed("a"), (200, {"Tags": [{"Key": "team"}]})], "another form"),
    ],
)
def test_an_answer_that_is_none_is_noted(
    server: JsonServer, warehouse: Warehouse, answers: list[Answer], message: str
) -> None:
    server.answers = [listed("a"), tagged(team="vision")]
    refresh_accounts(warehouse, [source(server.endpoint)])
    server.answers = answers
    (refused,) = refresh_accounts(warehouse, [source(server.endpoint)])
    assert message in str(refused)
    assert (len(accounts(warehouse)), len(tags(warehouse))) == (1, 1)


def test_an_account_without_a_name_has_none(server: JsonServer, warehouse: Warehouse) -> None:
    server.answers = [(200, {"Accounts": [{"Id": "000000000007", "Name": ""}, {"Id": "000000000008"}]}), tagged()]
    refresh_accounts(warehouse, [source(server.endpoint)])
    assert accounts(warehouse) == [("main", "000000000007", None), ("main", "000000000008", None)]
