"""Which keys hold secrets: the one list that error messages and the log share."""

from __future__ import annotations

import re

MASK = "[secret]"

_SECRET_WORD = re.compile(
    r"pass(word|wd|phrase)?$|passw|secret|token|webhook|credential|authori[sz]ation|cookie|signature|(^|[_-])(url|dsn|api[_-]?key)s?$",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(
    r"(?<=hooks\.slack\.com/)[^\s\"']+"
    r"|xox[a-z]-[A-Za-z0-9-]+"
    r"|(?<=://)[^\s/@:\"']+:[^\s/@\"']+(?=@)",
)


def looks_secret(key: str) -> bool:
    """Return whether a value under `key` must never be shown; errs on the side of hiding."""
    return _SECRET_WORD.search(key) is not None


def without_secrets(text: str) -> str:
    """Return `text` with Slack hook paths, Slack tokens and the user part of URLs masked."""
    return _SECRET_VALUE.sub(MASK, text)
