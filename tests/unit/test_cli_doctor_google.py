"""`overrun doctor` on Google Cloud: what may be asked, which role is missing, and the commands that grant it."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ingest.gcp import probe
from ingest.gcp.policy import EXAMPLE, Needs, reader_commands
from overrun.cli import main
from overrun.exits import Exit
from tests.fakes.exports import gcp_row, write_gcp
from tests.fakes.google_billing import COMPUTE, SECRET, VERTEX, GoogleBilling, google_billing, sku

Captured = pytest.CaptureFixture[str]
ONE, TWO = "0A1B2C-3D4E5F-678901", "FFFFFF-000000-111111"
SOURCE = '[[source]]\nname = "gcp-main"\nkind = "gcp-export"\nlocation = "exports"\n'


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[GoogleBilling]:
    monkeypatch.setattr(probe, "RETRY_SECONDS", 0.2)
    with google_billing() as google:
        google.projects = {ONE: [("vision", True), ("nlp", True)]}
        google.skus = {COMPUTE: [sku("A", "a GPU", (1, 0))], VERTEX: [sku("B", "a TPU", (1, 0))]}
        yield google


def configured(folder: Path, google: GoogleBilling | None, *, prices: bool = False) -> Path:
    """Write a configuration that asks Google for projects, and for prices."""
    write_gcp(folder / "exports" / "rows.ndjson", [gcp_row(month="202610") | {"billing_account_id": ONE}])
    endpoint = "" if google is None else f'endpoint = "{google.endpoint}"\n'
    text = f"{SOURCE}projects = true\n" + (f"billing_{endpoint}" if endpoint else "")
    if prices:
        text += "[prices]\ngcp = true\n" + (f"gcp_{endpoint}" if endpoint else "")
    (folder / "overrun.toml").write_text(text, encoding="utf-8")
    return folder / "overrun.toml"


def checks(config: Path, capsys: Captured, *arguments: str) -> list[tuple[str, str, str, str | None]]:
    """Return name, level, message and hint of what is said about Google."""
    capsys.readouterr()
    assert main(["doctor", "--json", "--config", str(config), *arguments]) == Exit.DONE
    answer: Any = json.loads(capsys.readouterr().out)
    return [
        (check["name"], check["level"], check["message"], check["hint"])
        for check in answer["checks"]
        if check["name"] in {"source gcp-main", "prices"} and "can be read" not in check["message"]
    ]


def test_what_may_be_asked_is_well(google: GoogleBilling, tmp_path: Path, capsys: Captured) -> None:
    assert checks(configured(tmp_path, google, prices=True), capsys) == [
        ("source gcp-main", "ok", f"billing account {ONE} lists 2 projects", None),
        ("prices", "ok", f"the catalogue lists prices of service {COMPUTE}", None),
        ("prices", "ok", f"the catalogue lists prices of service {VERTEX}", None),
    ]


def test_nothing_is_asked_offline_or_unless_configured(google: GoogleBilling, tmp_path: Path, capsys: Captured) -> None:
    config = configured(tmp_path, google, prices=True)
    assert [check[1:3] for check in checks(config, capsys, "--offline")] == [
        ("ok", "Cloud Billing is not asked offline"),
        ("ok", "the Cloud Billing catalogue is not asked offline"),
    ]
    config.write_text(SOURCE, encoding="utf-8")
    assert checks(config, capsys) == []
    assert google.asked == []


def test_the_missing_role_is_named_with_the_account_that_is_loaded(
    google: GoogleBilling, tmp_path: Path, capsys: Captured
) -> None:
    config = configured(tmp_path, google)
    google.always_refuse("list_projects", "PERMISSION_DENIED", "IAM_PERMISSION_DENIED")
    assert main(["nightly", "--config", str(config), "--as-of", "2026-11-20"]) == Exit.DONE
    google.asked.clear()
    google.visible = [TWO]
    ((_, level, message, hint),) = checks(config, capsys)
    assert (level, message) == ("warn", f"access is denied: roles/billing.viewer on billing account {ONE} is missing")
    assert "overrun doctor --print-policy gcp" in str(hint)
    assert SECRET not in f"{message}{hint}"
    assert google.requests("list_accounts") == [], "what is loaded is known, and so need not be looked for"


def test_an_identity_that_sees_no_billing_account_lacks_the_role(
    google: GoogleBilling, tmp_path: Path, capsys: Captured
) -> None:
    google.visible = []
    ((_, level, message, _),) = checks(configured(tmp_path, google), capsys)
    assert level == "warn"
    assert "roles/billing.viewer on a billing account is missing" in message


def test_an_api_that_is_not_enabled_is_told_once(google: GoogleBilling, tmp_path: Path, capsys: Captured) -> None:
    google.always_refuse("list_accounts", "PERMISSION_DENIED", "SERVICE_DISABLED")
    google.always_refuse("list_skus", "PERMISSION_DENIED", "SERVICE_DISABLED")
    found = checks(configured(tmp_path, google, prices=True), capsys)
    assert [(name, level) for name, level, _, _ in found] == [("source gcp-main", "warn"), ("prices", "warn")]
    assert all("cloudbilling.googleapis.com" in message for _, _, message, _ in found)


def test_missing_credentials_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", str(tmp_path))
    ((_, level, message, hint),) = checks(configured(tmp_path, None), capsys)
    assert (level, message) == ("warn", "there are no Google Cloud credentials")
    assert "GOOGLE_APPLICATION_CREDENTIALS" in str(hint)


def printed(config: Path, capsys: Captured) -> str:
    capsys.readouterr()
    assert main(["doctor", "--print-policy", "gcp", "--config", str(config)]) == Exit.DONE
    return capsys.readouterr().out


ROLES = [
    "roles/bigquery.dataViewer", "roles/bigquery.jobUser", "roles/bigquery.readSessionUser",
    "roles/storage.objectViewer", "roles/billing.viewer",
]  # fmt: skip


def test_the_commands_have_placeholders_where_nothing_is_configured(tmp_path: Path, capsys: Captured) -> None:
    text = printed(tmp_path / "none.toml", capsys)
    assert text == reader_commands(EXAMPLE)
    commands = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [role for role in ROLES if sum(role in command for command in commands) != 1] == []


def test_the_commands_are_those_that_the_configuration_needs(tmp_path: Path, capsys: Captured) -> None:
    text = printed(configured(tmp_path, None, prices=True), capsys)
    assert [role for role in ROLES if role in text] == ["roles/billing.viewer"]
    assert "gcloud services enable cloudbilling.googleapis.com" in text


def test_the_commands_are_one_that_a_shell_reads_as_meant(tmp_path: Path) -> None:
    needs = Needs(
        datasets=(("acme-billing", "billing_eu"), ("acme-billing", "billing_eu")),
        job_projects=("acme-jobs",),
        buckets=("acme-export",),
        billing_accounts=(ONE,),
    )
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("bq", "gcloud"):
        (folder / name).write_text('#!/bin/sh\nprintf "%s|" "$0" "$@" | sed "s:.*/bin/::"\necho\n', encoding="utf-8")
        (folder / name).chmod(0o755)
    shell = shutil.which("sh")
    assert shell is not None
    ran = subprocess.run(
        [shell, "-eu"], input=reader_commands(needs), env={"PATH": f"{folder}:/usr/bin:/bin"}, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    member = "serviceAccount:overrun@EXAMPLE-PROJECT.iam.gserviceaccount.com"
    assert [line.split("|")[:-1] for line in ran.stdout.split("\n") if line] == [
        ["bq", "query", "--project_id=acme-jobs", "--use_legacy_sql=false",
         f'GRANT `roles/bigquery.dataViewer` ON SCHEMA `acme-billing`.`billing_eu` TO "{member}"'],
        ["gcloud", "projects", "add-iam-policy-binding", "acme-jobs", f"--member={member}",
         "--role=roles/bigquery.jobUser", "--condition=None"],
        ["gcloud", "projects", "add-iam-policy-binding", "acme-jobs", f"--member={member}",
         "--role=roles/bigquery.readSessionUser", "--condition=None"],
        ["gcloud", "storage", "buckets", "add-iam-policy-binding", "gs://acme-export", f"--member={member}",
         "--role=roles/storage.objectViewer"],
        ["gcloud", "billing", "accounts", "add-iam-policy-binding", ONE, f"--member={member}",
         "--role=roles/billing.viewer"],
        ["gcloud", "services", "enable", "cloudbilling.googleapis.com", "--project=EXAMPLE-PROJECT"],
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["a b", "x;rm", "$(x)", "'", "`", ""])
def test_a_name_that_a_shell_could_read_otherwise_is_refused(name: str) -> None:
    for needs in (Needs(datasets=(("p", name),)), Needs(job_projects=(name,)), Needs(buckets=(name,))):
        with pytest.raises(ValueError, match="no name of a resource"):
            reader_commands(needs)


def test_a_key_of_aws_has_no_place_beside_it(tmp_path: Path, capsys: Captured) -> None:
    arguments = ["doctor", "--print-policy", "gcp", "--kms-key", "arn:aws:kms:eu-west-1:123456789012:key/0aa1"]
    assert main([*arguments, "--config", str(tmp_path / "overrun.toml")]) == Exit.USAGE
    assert "--kms-key goes with --print-policy aws" in capsys.readouterr().err
