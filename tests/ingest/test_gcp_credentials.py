"""Who asks Google Cloud: found alike for BigQuery, Cloud Storage and Cloud Billing, and wrong in the same words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.errors import NoIdentity
from ingest.gcp.billing_clients import billing_client
from ingest.gcp.bq_errors import data_request
from ingest.gcp.bq_session import asked, query_client, read_client
from ingest.gcp.gcs import GcsBucket
from ingest.gcp.gcs_session import storage_client
from ingest.gcp.projects import list_projects
from ingest.source import BigQueryLocation, BigQueryTable, BillingAccess, GcsLocation
from overrun.config import load_config
from sql.secret import SecretReference
from tests.fakes.google_tokens import EMAIL, SECRET, GoogleTokens, google_tokens

ONE = "0A1B2C-3D4E5F-678901"
HALF_A_KEY = '{"type": "service_account", "private_key": "s3cret", "client_email": "a", "token_uri": "b"}'
TABLE = BigQueryTable.parse("acme-billing.billing.gcp_billing_export_v1_0A1B2C")
Reference = SecretReference | None


def in_bigquery(reference: Reference) -> BigQueryLocation:
    return BigQueryLocation(tables=(TABLE,), credentials=reference)


def in_gcs(reference: Reference) -> GcsLocation:
    return GcsLocation(bucket="acme-billing", prefix="", credentials=reference)


def ask_bigquery(reference: Reference) -> None:
    location = in_bigquery(reference)
    client = query_client(location)
    asked(location, data_request("d"), lambda: client.get_table(str(TABLE), retry=None, timeout=5))  # type: ignore[arg-type]


def ask_storage(reference: Reference) -> None:
    list(GcsBucket(in_gcs(reference)).below(""))


def ask_billing(reference: Reference) -> None:
    list_projects(BillingAccess(credentials=reference, retry_seconds=5), ONE)


SERVICES = {
    "bigquery": (ask_bigquery, "https://www.googleapis.com/auth/bigquery"),
    "storage": (ask_storage, "https://www.googleapis.com/auth/devstorage.read_only"),
    "billing": (ask_billing, "https://www.googleapis.com/auth/cloud-billing.readonly"),
}
each_service = pytest.mark.parametrize(("ask", "scope"), SERVICES.values(), ids=SERVICES.keys())


@pytest.fixture
def tokens() -> Iterator[GoogleTokens]:
    with google_tokens() as tokens:
        yield tokens


@pytest.fixture
def key(tokens: GoogleTokens, tmp_path: Path) -> Path:
    path = tmp_path / "key.json"
    path.write_text(tokens.key(), encoding="utf-8")
    return path


@pytest.fixture
def references(key: Path, monkeypatch: pytest.MonkeyPatch) -> list[SecretReference]:
    """Return each way to name one key."""
    monkeypatch.setenv("KEY_CONTENT", key.read_text(encoding="utf-8"))
    monkeypatch.setenv("KEY_PATH", str(key))
    return [
        SecretReference("file", str(key)),
        SecretReference("env", "KEY_CONTENT"),
        SecretReference("env", "KEY_PATH"),
    ]


def test_each_client_asks_as_the_service_account_that_is_named(references: list[SecretReference]) -> None:
    for reference in references:
        reading = read_client(in_bigquery(reference))
        assert reading is not None
        with reading, billing_client(BillingAccess(credentials=reference)) as billing:
            clients = query_client(in_bigquery(reference)), storage_client(in_gcs(reference))
            found: list[Any] = [client._credentials for client in (*clients, reading.transport, billing.transport)]
            assert [credentials.service_account_email for credentials in found] == [EMAIL] * 4
        for client in clients:
            client.close()


@each_service
def test_a_renewal_that_is_refused_is_said(
    tokens: GoogleTokens, key: Path, ask: Callable[[Reference], None], scope: str
) -> None:
    tokens.refuses = True

    with pytest.raises(NoIdentity) as refused:
        ask(SecretReference("file", str(key)))

    assert str(refused.value) == "the Google Cloud credentials cannot be renewed"
    assert SECRET not in f"{refused.value} {refused.value.hint}"
    assert [(claim["iss"], claim["scope"]) for claim in tokens.claims] == [(EMAIL, scope)]


@each_service
def test_no_credentials_at_all_are_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ask: Callable[[Reference], None], scope: str
) -> None:
    assert scope
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))

    with pytest.raises(NoIdentity, match="there are no Google Cloud credentials") as refused:
        ask(None)

    assert "GOOGLE_APPLICATION_CREDENTIALS" in str(refused.value.hint)


@each_service
@pytest.mark.parametrize("content", ["s3cret", HALF_A_KEY, '{"private_key": "s3cret"}', '["s3cret"]', "s3cret" * 1000])
def test_a_key_that_is_none_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ask: Callable[[Reference], None], scope: str, content: str
) -> None:
    assert scope
    monkeypatch.setenv("KEY", content)
    (tmp_path / "key.json").write_text(content, encoding="utf-8")

    for reference in (SecretReference("env", "KEY"), SecretReference("file", str(tmp_path / "key.json"))):
        with pytest.raises(NoIdentity) as refused:
            ask(reference)

        assert str(refused.value) == f"{reference} is no key of a service account"
        assert "`credentials`" in str(refused.value.hint)
        assert "s3cret" not in f"{refused.value.hint}{refused.value.__cause__}"


@each_service
def test_a_reference_to_nothing_is_said(ask: Callable[[Reference], None], scope: str) -> None:
    assert scope
    with pytest.raises(NoIdentity, match="environment variable NO_SUCH_KEY is not set"):
        ask(SecretReference("env", "NO_SUCH_KEY"))


def test_plain_http_on_this_machine_gets_no_credentials() -> None:
    unset = SecretReference("env", "NO_SUCH_KEY")
    here = "http://127.0.0.1:9"
    storage = storage_client(GcsLocation(bucket="b", prefix="", credentials=unset, endpoint_url=here))
    queries = query_client(BigQueryLocation(tables=(TABLE,), credentials=unset, endpoint_url=here))
    assert [type(client._credentials).__name__ for client in (storage, queries)] == ["AnonymousCredentials"] * 2
    storage.close()


@pytest.mark.parametrize(
    "place",
    [
        'kind = "gcp-export"\nlocation = "exports"',
        'kind = "gcp-export"\nlocation = "gs://acme-billing"',
        f'kind = "gcp-bigquery"\ntable = "{TABLE}"',
    ],
)
def test_projects_are_asked_for_as_the_source_is(tmp_path: Path, place: str) -> None:
    file = tmp_path / "overrun.toml"
    file.write_text(
        f'[[source]]\nname = "g"\n{place}\nprojects = true\ncredentials = "file:key.json"\n', encoding="utf-8"
    )

    (source,) = load_config(file, {}).sources

    assert source.billing.credentials == SecretReference("file", str(tmp_path / "key.json"))
