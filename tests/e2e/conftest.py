"""What whole nights need: the process that forks them, folders to run them in, and servers that take messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.crash import Forker
from tests.fakes.nights import House, house
from tests.fakes.servers import MailServer, SlackServer, mail_server, slack_server

MakeHouse = Callable[[str], House]


@pytest.fixture(scope="session")
def forker() -> Iterator[Forker]:
    """Return the process that forks runs."""
    with Forker() as started:
        yield started


@pytest.fixture
def home(tmp_path: Path, forker: Forker) -> House:
    """Return an empty house."""
    return house(tmp_path / "house", forker)


@pytest.fixture(scope="module")
def slack() -> Iterator[SlackServer]:
    """Return a webhook that takes everything."""
    with slack_server() as server:
        yield server


@pytest.fixture(scope="module")
def mail() -> Iterator[MailServer]:
    """Return a mail server that takes everything."""
    with mail_server() as server:
        yield server
