"""Carried values in scratch memory: which of those that loops carry VMEM can hold. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, f16, i1
from xdsl.ir import Attribute

from kopt.dialects.tile import TileType

#: Element types that vector memory does not hold, or that later passes hold in others.
_UNHELD = (i1, f16, IntegerType(64))


def is_held(type: Attribute) -> bool:
    """Whether scratch memory can hold a carried value."""
    return isinstance(type, TileType) and type.element_type not in _UNHELD
