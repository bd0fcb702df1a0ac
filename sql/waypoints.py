"""Where a night can be interrupted: every SQL statement, file operation and send passes through `waypoint`.

The product never sets an observer. The crash tests set one that kills the process before or after the n-th
waypoint, so that "a crash at any instruction" is tested at every place where something outside memory changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Edge = Literal["before", "after"]
Kind = Literal["sql", "state", "file", "send"]
Observer = Callable[[Kind, str, Edge], None]

OBSERVER: ContextVar[Observer | None] = ContextVar("overrun_waypoint_observer", default=None)


@contextmanager
def waypoint(kind: Kind, detail: str) -> Iterator[None]:
    """Tell the observer, if there is one, before and after the operation inside the `with` block."""
    observer = OBSERVER.get()
    if observer is None:
        yield
        return
    observer(kind, detail, "before")
    yield
    observer(kind, detail, "after")
