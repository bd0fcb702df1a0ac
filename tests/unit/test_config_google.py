"""Keys that say what Cloud Billing and its catalogue are asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingest.prices import PriceSettings
from ingest.source import BillingAccess
from overrun.config import load_config
from overrun.config_problems import ConfigError


def written(folder: Path, kind: str, keys: str, more: str = "") -> Path:
    """Write a configuration of one source."""
    file = folder / "overrun.toml"
    file.write_text(
        f'[[source]]\nname = "main"\nkind = "{kind}"\nlocation = "exports"\n{keys}\n{more}', encoding="utf-8"
    )
    return file


@pytest.mark.parametrize(("keys", "asks"), [("", False), ("projects = true", True)])
def test_projects_are_asked_for_where_the_file_says_so(tmp_path: Path, keys: str, asks: bool) -> None:
    (source,) = load_config(written(tmp_path, "gcp-export", keys), {}).sources
    assert source.projects is asks
    assert source.billing == BillingAccess()


@pytest.mark.parametrize("kind", ["aws-export", "focus-export"])
def test_projects_are_for_kinds_of_gcp_only(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ConfigError, match=r"source\.projects: is for kinds of GCP only"):
        load_config(written(tmp_path, kind, "projects = true"), {})


def test_an_endpoint_is_of_this_machine(tmp_path: Path) -> None:
    for place in ("127.0.0.1:9070", "localhost:1", "[::1]:65535"):
        (source,) = load_config(
            written(tmp_path, "gcp-export", f'projects = true\nbilling_endpoint = "{place}"'), {}
        ).sources
        assert source.billing.endpoint == place


@pytest.mark.parametrize(
    "place",
    [
        "cloudbilling.googleapis.com:443", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:65536", "http://127.0.0.1:80", ":80",
        "10.0.0.1:80", "127.0.0.1:\uff18\uff10", "127.0.0.1.example.com:80",
    ],
)  # fmt: skip
def test_an_endpoint_elsewhere_is_refused(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigError, match="of this machine"):
        load_config(written(tmp_path, "gcp-export", f'projects = true\nbilling_endpoint = "{place}"'), {})
    with pytest.raises(ConfigError, match="of this machine"):
        load_config(written(tmp_path, "gcp-export", "", f'[prices]\ngcp_endpoint = "{place}"'), {})


def test_prices_are_asked_for_where_the_file_says_so(tmp_path: Path) -> None:
    assert load_config(written(tmp_path, "gcp-export", "", "[prices]"), {}).prices == PriceSettings()
    assert load_config(written(tmp_path, "gcp-export", "", "[prices]\ngcp = true"), {}).prices == PriceSettings(
        services=("6F81-5844-456A", "C7E2-9256-1C43")
    )
    some = '[prices]\ngcp = true\ngcp_services = ["C7E2-9256-1C43", "C7E2-9256-1C43"]\ncurrency = "EUR"\n'
    some += 'gcp_endpoint = "127.0.0.1:9"'
    assert load_config(written(tmp_path, "gcp-export", "", some), {}).prices == PriceSettings(
        services=("C7E2-9256-1C43",), currency="EUR", access=BillingAccess(endpoint="127.0.0.1:9")
    )


@pytest.mark.parametrize("service", ["", "compute", "6f81-5844-456a", "6F81-5844-456A/skus", "6F81-5844-456A\\n"])
def test_what_is_no_id_of_a_service_is_refused(tmp_path: Path, service: str) -> None:
    with pytest.raises(ConfigError, match="must be the id of a service"):
        load_config(written(tmp_path, "gcp-export", "", f'[prices]\ngcp_services = ["{service}"]'), {})


def test_no_service_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="gcp_services"):
        load_config(written(tmp_path, "gcp-export", "", "[prices]\ngcp_services = []"), {})
