"""[privacy]: names of people and jobs are hashed while a month is loaded, so that no table ever holds them.

At load and not at publish, because a published copy is a plain copy of the warehouse: what is hidden there must be
hidden here, down to the ids of tag sets, which are hashes of the tags. It stays plain in the landed files, which
nobody but the night reads, and at the provider. The hash is HMAC-SHA-256 under a secret key: the same value gives the
same hash in every night and source, and nobody without the key finds a name by trying. Another key, or other things to
hide, is another conversion (`ingest.conversion`): the warehouse is made anew from landed files, so that not even a free
block of the file holds what is hidden.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from ingest.errors import SourceUnreadable
from sql.secret import SecretReference, SecretUnresolved
from sql.warehouse import Warehouse

SHORTEST_KEY = 16
"""Characters that a key has at least: a shorter one could be tried out."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "user": (
        "user", "user?name", "username", "user?id", "userid", "*owner", "owner?*", "creator", "created?by", "createdby",
        "*email*", "*e-mail*",
    ),
    "principal": ("*principal*", "iamprincipal/*", "*session?name", "*assumed?role*"),
    "job-name": ("job", "job?name", "jobname", "*?job?name", "run?name", "runname", "workflow?name"),
}  # fmt: skip
"""Globs over tag keys, in lower case, whose values are names of a kind."""
_PREFIX = r"(?:.*[/:]|user_|aws_)?"
"""What exports put before a key: user:, aws:, resource_tags/user_, tag/NAMESPACE/, k8s-label/ and so on."""
_USERS = r"^(.*?(?::user/|:assumed-role/[^/]+/))(.+)()$"
_JOBS = r"^(.*?[:/-]jobs?/)([^/:]+)(.*)$"
_DIGITS = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivacySettings:
    """What is hidden, and where the key stands."""

    key: SecretReference
    kinds: tuple[str, ...]
    tags: tuple[str, ...]
    """Globs over further tag keys, case aside."""

    @property
    def pattern(self) -> str:
        """Return the regular expression of the tag keys whose values are hidden."""
        globs = [glob for kind in self.kinds for glob in KINDS[kind]] + list(self.tags)
        words = "|".join(_expression(glob) for glob in dict.fromkeys(globs))
        return rf"(?is)^{_PREFIX}(?:{words})$"

    def hides(self, tag_key: str) -> bool:
        """Return whether values of a tag are hidden."""
        return re.match(self.pattern, tag_key) is not None


@dataclass(frozen=True, kw_only=True)
class Privacy:
    """What is hidden, with the key itself; never to be shown or logged."""

    settings: PrivacySettings
    key: bytes

    def __repr__(self) -> str:
        """Return the settings without the key."""
        return f"Privacy({self.settings!r})"

    @cached_property
    def digest(self) -> str:
        """Return what tells one key and choice from another, and gives neither away."""
        chosen = f"overrun {sorted(self.settings.kinds)} {self.settings.pattern} {_USERS} {_JOBS}"
        return hmac.new(self.key, chosen.encode(), hashlib.sha256).hexdigest()[:16]

    def hashed(self, value: str) -> str:
        """Return the hash of a value, as `private_hash` has it."""
        return f"h-{hmac.new(self.key, value.encode(), hashlib.sha256).hexdigest()[:_DIGITS]}"

    def tag_value(self, tag_key: str, tag_value: str) -> str:
        """Return the value of a tag, hashed where its key says so."""
        return self.hashed(tag_value) if self.settings.hides(tag_key) else tag_value


def resolve_privacy(settings: PrivacySettings | None, environ: Mapping[str, str]) -> Privacy | None:
    """Return what is hidden, with its key; raises SourceUnreadable without one, so that nothing is loaded plain."""
    if settings is None:
        return None
    try:
        key = settings.key.resolve(environ)
    except SecretUnresolved as error:
        raise _unusable(str(error), settings) from error
    if len(key) < SHORTEST_KEY:
        raise _unusable(f"it has fewer than {SHORTEST_KEY} characters", settings)
    return Privacy(settings=settings, key=key.encode())


def set_privacy(warehouse: Warehouse, privacy: Privacy | None) -> None:
    """Set the variables that the macros of `private.sql` read, for this session."""
    if privacy is None:
        return
    block = hashlib.sha256(privacy.key).digest() if len(privacy.key) > 64 else privacy.key
    padded = block.ljust(64, b"\0")
    kinds, pattern = privacy.settings.kinds, privacy.settings.pattern
    in_text = pattern.replace("(?is)^", '(?is)"').removesuffix("$") + '":'
    for name, value in (
        ("private_inner", bytes(byte ^ 0x36 for byte in padded).hex()),
        ("private_outer", bytes(byte ^ 0x5C for byte in padded).hex()),
        ("private_tags", pattern),
        ("private_tags_text", in_text),
        ("private_users", _USERS if {"user", "principal"} & set(kinds) else None),
        ("private_jobs", _JOBS if "job-name" in kinds else None),
    ):
        if value is not None:
            warehouse.execute(f"set variable {name} = ?", [value])


def _expression(glob: str) -> str:
    """Return the regular expression of a glob."""
    return "".join({"*": ".*", "?": "."}.get(letter, re.escape(letter)) for letter in glob)


def _unusable(reason: str, settings: PrivacySettings) -> SourceUnreadable:
    return SourceUnreadable(
        f"the key of [privacy], {settings.key}, cannot be used: {reason}",
        hint="set it where the night runs; nothing is loaded or published without it, and the last copy stands",
    )
