"""The aligned, larger block of memory around a block that begins anywhere."""

from __future__ import annotations

import math

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from kopt.dialects.builder import Builder
from kopt.dialects.tile import BeginOp, Entry, RangeType, ShiftOp
from kopt.ir.division import mod
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.to_ssa import IndexWriter
from kopt.ir.value_range import ValueRange
from kopt.passes.normalising.indices import index_of
from kopt.passes.retyping import all_lanes


def aligned_size(entry: Entry, unit: int, analysis: IndexAnalysis) -> int:
    """The lanes of the smallest block between multiples of ``unit`` that holds an entry's, wherever that begins."""
    reach = unit - math.gcd(analysis.first(_numbered(entry)).divisor, unit) + own_size(entry)
    return -(-reach // unit) * unit


def stands_at_multiples(entry: Entry, unit: int, analysis: IndexAnalysis) -> bool:
    """Whether an entry's block begins at a multiple of its own lanes in the larger block, wherever that begins."""
    own = own_size(entry)
    return unit % own == 0 and analysis.first(_numbered(entry)).divisor % own == 0


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
    entry: Entry, begins: SSAValue, unit: int, size: int, extent: int, build: Builder, analysis: IndexAnalysis
) -> tuple[SSAValue, SSAValue]:
    """The aligned block of a ``size`` around an entry's, inside the array, and where in it the entry's own begins."""
    offset = _known_offset(entry, unit, extent - size, analysis)
    if offset is not None:
        first = index_of(analysis.first(_numbered(entry)) - offset, build, analysis)
    else:
        known, last = analysis.first(_numbered(entry)).range, (extent - size) // unit
        unsigned = begins if known.is_natural else build.add(arith.MaxSIOp(begins, build.index(0)))
        which = build.add(arith.ShRSIOp(unsigned, build.index(unit.bit_length() - 1)))
        if known.high is None or known.high // unit > last:
            which = build.add(arith.MinSIOp(which, build.index(last)))
        first = build.add(arith.MuliOp(which, build.index(unit)))
    hint = entry.name_hint if isinstance(entry, SSAValue) else None
    first.name_hint = first.name_hint or f"{hint or 'block'}_aligned"
    larger = build.add(ShiftOp(build.add(all_lanes(size, build.op)), first))
    return larger, build.add(arith.SubiOp(begins, first)) if offset is None else build.index(offset)


def _known_offset(entry: Entry, unit: int, last: int, analysis: IndexAnalysis) -> int | None:
    """How far behind a multiple an entry always begins, where all these multiples are from 0 to ``last``."""
    first = analysis.first(_numbered(entry))
    offset = mod(first, unit).number
    if offset is None or not IndexWriter.can_write(first) or not ValueRange(0, last).covers((first - offset).range):
        return None
    return offset
