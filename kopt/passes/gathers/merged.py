"""Index lists of which several dimensions of lanes count one dimension of the array: ``x[g.index[:, None] * 64 + k]``.

Lanes of a run are elements that follow one another, so they are one block, and the tile is a reshape of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from kopt.analysis.lane_sums import Placed, lane_sum
from kopt.analysis.ranges import binding
from kopt.dialects.tile import (
    Access,
    ArangeOp,
    BeginOp,
    DimAttr,
    RangeType,
    ShiftOp,
    is_gather,
)
from kopt.passes.gathers.indices import as_index
from kopt.passes.mosaic.building import Builder, type_of
from kopt.passes.retyping import all_lanes


@dataclass(frozen=True)
class Run:
    """One index: ``size`` elements from ``const`` plus the ``terms`` on, along ``dims`` of the tile, in order.

    Terms are ranges, which count by their begin, and single numbers, each with a factor.
    """

    dims: tuple[int, ...]
    size: int
    const: int
    terms: tuple[tuple[SSAValue, int], ...]

    def entry(self, access: Operation, build: Builder) -> SSAValue:
        """The entry of the block, or of the one element."""
        (value, _), *others = self.terms or ((None, 1),)
        if len(self.dims) == 1 and value is not None and isinstance(value.type, RangeType):
            further = replace(self, terms=tuple(others))
            return build.add(ShiftOp(value, further.first(build))) if others or self.const else value
        if self.size == 1:
            return _block_of_one(self) or self.first(build)
        whole = build.add(all_lanes(self.size, access))
        return build.add(ShiftOp(whole, self.first(build)))

    def first(self, build: Builder) -> SSAValue:
        """The number of the first element."""
        parts = [_times(value, factor, build) for value, factor in self.terms if not is_at_zero(value)]
        if self.const or not parts:
            parts.insert(0, build.index(self.const))
        total = parts.pop(0)
        for part in parts:
            total = build.add(arith.AddiOp(total, part))
        return total


def runs(access: Access) -> dict[int, Run]:
    """The run of each gathering index, by position; nothing where some are no runs.

    Together they have the tile's dimensions in order, each those of its own.
    """
    positions = [position for position, entry in enumerate(access.entries) if is_gather(entry)]
    if not positions or positions != list(range(positions[0], positions[-1] + 1)):
        return {}
    found = {position: run_of(access.entries[position]) for position in positions}  # pyright: ignore[reportArgumentType]
    known = {position: run for position, run in found.items() if run is not None}
    first = type_of(access.entries[positions[0]])  # pyright: ignore[reportArgumentType]
    wide = [n for n, dim in enumerate(first.dims.data) if dim != DimAttr(1)]
    together = [dim for run in known.values() for dim in run.dims]
    return known if len(known) == len(found) and together == wide else {}


def run_of(index: SSAValue) -> Run | None:
    """An index whose lanes, all dimensions of them together, count by ones; None where they do not."""
    form, shape = lane_sum(index), type_of(index).shape
    lanes = sorted((placed for placed in form.terms if placed[1]), key=lambda placed: placed[1])
    size = 1
    for atom, dims in reversed(lanes):
        if not counts_by_ones(atom) or form.terms[atom, dims] != size:
            return None
        size *= shape[dims[0]]
    dims = tuple(dim for _, (dim, *_) in lanes)
    if len(set(dims)) < len(dims):
        return None
    placed: list[Placed] = [*lanes, *(placed for placed in form.terms if not placed[1])]
    const, terms = form.const, []
    for atom, at in placed:
        factor = form.terms[atom, at]
        if isinstance(atom.owner, ArangeOp):
            const += atom.owner.start.data * factor
        else:
            terms.append((atom, factor))
    return Run(dims, size, const, tuple(terms))


def counts_by_ones(atom: SSAValue) -> bool:
    """Whether an atom's lanes count by ones along its one dimension."""
    op = atom.owner
    return isinstance(atom.type, RangeType) or isinstance(op, ArangeOp) and op.step.data == 1


def _block_of_one(run: Run) -> SSAValue | None:
    """The range whose only lane a number is the begin of."""
    if run.const or len(run.terms) != 1:
        return None
    ((value, factor),) = run.terms
    op = value.owner
    if factor != 1 or not isinstance(op, BeginOp) or op.range.type.size != 1:  # pyright: ignore
        return None
    return op.range


def is_at_zero(value: SSAValue) -> bool:
    """Whether a range has one block, which begins at 0."""
    bound = binding(value) if isinstance(value.type, RangeType) else None
    return bound is not None and bound.lower == 0 and bound.trips in (0, 1)


def _times(value: SSAValue, factor: int, build: Builder) -> SSAValue:
    value = as_index(value, build)
    return value if factor == 1 else build.add(arith.MuliOp(value, build.index(factor)))
