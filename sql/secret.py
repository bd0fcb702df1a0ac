"""References to secrets, `env:NAME` or `file:PATH`: a value never enters a table, a log, a message or an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


class SecretUnresolved(Exception):
    """A reference points at nothing; the text names the reference, never a value."""


@dataclass(frozen=True, slots=True)
class SecretReference:
    """Where a secret stands: `scheme` is env or file, `target` the variable's name or the file's path."""

    scheme: str
    target: str

    @classmethod
    def parse(cls, text: str, relative_to: Path) -> SecretReference:
        """Read `env:NAME` or `file:PATH`; raises ValueError for anything else, without repeating the text."""
        scheme, separator, target = text.partition(":")
        if not separator or scheme not in {"env", "file"} or not target:
            raise ValueError("must be a reference, env:NAME or file:PATH, so that no secret stands in the file")
        return cls(scheme, str(relative_to / target) if scheme == "file" else target)

    def resolve(self, environ: Mapping[str, str]) -> str:
        """Return the value without surrounding white space; raises SecretUnresolved."""
        if self.scheme == "env":
            value = environ.get(self.target, "").strip()
            if not value:
                raise SecretUnresolved(f"environment variable {self.target} is not set")
            return value
        try:
            value = Path(self.target).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise SecretUnresolved(f"secret file {self.target} cannot be read ({error.strerror})") from error
        if not value:
            raise SecretUnresolved(f"secret file {self.target} is empty")
        return value

    def __str__(self) -> str:
        """Return the reference as written."""
        return f"{self.scheme}:{self.target}"
