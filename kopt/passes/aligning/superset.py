"""The aligned, larger block of memory around a block that begins anywhere."""

from __future__ import annotations

import math

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import BeginOp, Entry, RangeType, ShiftOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.passes.retyping import all_lanes


def aligned_size(entry: Entry, unit: int, analysis: IndexAnalysis) -> int:
    """The lanes of the smallest block between multiples of ``unit`` that holds an entry's, wherever that begins."""
    reach = unit - math.gcd(analysis.first(_numbered(entry)).divisor, unit) + own_size(entry)
    return -(-reach // unit) * unit


def _numbered(entry: Entry) -> SSAValue | int:
    assert isinstance(entry, SSAValue | int)
    return entry


def own_size(entry: Entry) -> int:
    """The lanes of an entry's block; one for a number."""
    return entry.type.size if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) else 1


def start(entry: Entry, build: Builder) -> SSAValue:
    """Where an entry's block begins."""
    if isinstance(entry, int):
        return build.index(entry)
    assert isinstance(entry, SSAValue)
    return build.add(BeginOp(entry)) if isinstance(entry.type, RangeType) else entry


def aligned_block(
    entry: Entry, begins: SSAValue, unit: int, size: int, extent: int, build: Builder
) -> tuple[SSAValue, SSAValue]:
    """The aligned block of a ``size`` around an entry's, inside the array, and where in it the entry's own begins."""
    unsigned = build.add(arith.MaxSIOp(begins, build.index(0)))
    which = build.add(arith.ShRSIOp(unsigned, build.index(unit.bit_length() - 1)))
    which = build.add(arith.MinSIOp(which, build.index((extent - size) // unit)))
    first = build.add(arith.MuliOp(which, build.index(unit)))
    hint = entry.name_hint if isinstance(entry, SSAValue) else None
    first.name_hint = f"{hint or 'block'}_aligned"
    larger = build.add(ShiftOp(build.add(all_lanes(size, build.op)), first))
    return larger, build.add(arith.SubiOp(begins, first))
