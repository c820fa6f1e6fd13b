"""What a pass may do to the values that a module computes: it says so in its class attribute ``meaning``."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.passes import ModulePass


@dataclass(frozen=True)
class Meaning:
    """How far results may be from those before a pass.

    ``exact``: not at all, bit for bit. ``reassociates``: sums and products in another order, so that in exact
    arithmetic nothing changes. ``approximates``: other functions of nearly the same values, ``ulps`` off in f32 where
    they are computed.
    """

    kind: str
    ulps: int = 0

    def __str__(self) -> str:
        return f"{self.kind} ({self.ulps} ulps)" if self.ulps else self.kind


EXACT = Meaning("exact")
REASSOCIATES = Meaning("reassociates")


def approximates(ulps: int) -> Meaning:
    """Other functions of nearly the same values, so many ulps of f32 off."""
    return Meaning("approximates", ulps)


def meaning_of(pass_: ModulePass) -> Meaning:
    """What a pass says of itself; nothing: that it is exact."""
    return getattr(pass_, "meaning", EXACT)
