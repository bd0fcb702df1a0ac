"""What can go wrong in the judgements.

AnalysisError   root; every judgement that cannot be made
"""

from __future__ import annotations


class AnalysisError(Exception):
    """Root of the errors that `analysis` raises; `hint` says what to do about it."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint
