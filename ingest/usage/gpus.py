"""How many accelerators a request of a scheduler is: whole ones, slices, shards. Pure functions.

Source: Slurm documentation, "Trackable resources", "Generic resource scheduling" (MPS, sharding); NVIDIA Multi-Instance
GPU user guide, "Supported MIG profiles".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

_TRES = re.compile(r"(?:^|,)gres/(?P<kind>gpu|shard|mps)(?::(?P<type>[^=,]+))?=(?P<count>\d+(?:\.\d+)?)")
_PROFILE = re.compile(r"(?P<slices>\d+)g\.(?P<memory>\d+)gb")
_SEVENTHS = ("a100", "h100", "h200", "b200")
_FOURTHS = ("a30", "rtx-pro-6000", "rtx_pro_6000", "rtxpro6000", "rtx pro 6000")
_BY_MEMORY = {
    **dict.fromkeys([5, 10, 18, 20, 23, 35, 40, 45, 71, 80, 90, 141, 180], 7),
    6: 4,
}
"""Memory of a profile [GB] -> slices of the whole, where it is of one kind of accelerator only."""
_PLACES = Decimal("0.000000001")


@dataclass(frozen=True, slots=True)
class Gpus:
    """Accelerators of a request; a count of None is unknown."""

    count: Decimal | None
    accelerator: str | None = None
    shards: Decimal | None = None
    """Shards, or hundredths of MPS, that stand for accelerators that only the node's configuration counts."""


def gpus_of_tres(text: str) -> Gpus:
    """Return the accelerators of `gres/gpu=4,gres/gpu:a100=4`: typed entries say what the untyped total is made of."""
    total = Decimal(0)
    is_total = False
    types: dict[str, Decimal] = {}
    shards = Decimal(0)
    for entry in _TRES.finditer(text):
        count = Decimal(entry["count"])
        if entry["kind"] != "gpu":
            shards += count if entry["type"] is None else 0
        elif entry["type"] is None:
            total, is_total = total + count, True
        else:
            types[entry["type"]] = types.get(entry["type"], Decimal(0)) + count
    named = "+".join(sorted(types)) or None
    if any(_PROFILE.search(name) for name in types):
        return Gpus(_sliced(types), named)
    whole = total if is_total else sum(types.values(), Decimal(0))
    if shards and not whole:
        return Gpus(None, named, shards)
    return Gpus(whole, named)


def _sliced(types: dict[str, Decimal]) -> Decimal | None:
    """Return typed accelerators as a sum in which a slice is its part of one; None where a profile is unknown."""
    parts = [(count, part_of_profile(name)) for name, count in types.items()]
    known = [count * part for count, part in parts if part is not None]
    return sum(known, Decimal(0)).quantize(_PLACES, ROUND_HALF_UP) if len(known) == len(parts) else None


def part_of_profile(name: str) -> Decimal | None:
    """Return the part of an accelerator that a type stands for: 1 without a profile, None for an unknown one."""
    profile = _PROFILE.search(name.lower())
    if profile is None:
        return Decimal(1)
    slices = _slices_of(name.lower(), int(profile["memory"]))
    if slices is None or not 0 < int(profile["slices"]) <= slices:
        return None
    return Decimal(profile["slices"]) / slices


def _slices_of(name: str, memory: int) -> int | None:
    """Return how many slices the accelerator has that a type names, or else one that has a profile of this memory."""
    if any(kind in name for kind in _FOURTHS):
        return 4
    if any(kind in name for kind in _SEVENTHS):
        return 7
    return _BY_MEMORY.get(memory)
