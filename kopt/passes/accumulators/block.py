"""The scratch block of one target: its memory, how it is filled first and committed last."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import root
from kopt.analysis.atomic_targets import AtomicTarget
from kopt.analysis.effects import is_side_effect_free
from kopt.analysis.storage import wide
from kopt.analysis.windows import Dim, Window
from kopt.dialects.host import AllocOp, LaunchOp
from kopt.dialects.pallas import ScratchOp
from kopt.dialects.tile import (
    ALL,
    CastOp,
    FullOp,
    GetOp,
    GridOp,
    LoadOp,
    PutOp,
    RangeType,
    RefType,
    SliceAttr,
    StoreOp,
    WhenOp,
    array_type,
    literal,
    literal_value,
)
from kopt.dialects.tile.index_list import Entry
from kopt.dialects.tile.memory import block_type
from kopt.ir.ranges import unshifted
from kopt.passes.replacing import replacing


class Phases:
    """What a grid does before and after everything else: on the first and last visits of some ranges."""

    def __init__(self, grid: GridOp):
        self.grid = grid
        self._whens: dict[tuple[str, tuple[SSAValue, ...]], WhenOp] = {}

    def add(self, visit: str, ranges: tuple[SSAValue, ...], ops: Sequence[Operation]) -> None:
        """Adds ops to those of a visit of some ranges; with none they run on every visit."""
        if ranges:
            self._when(visit, ranges, ops[0]).body.block.add_ops(ops)
        else:
            self._insert(visit, ops)

    def _when(self, visit: str, ranges: tuple[SSAValue, ...], op: Operation) -> WhenOp:
        if (visit, ranges) not in self._whens:
            when = self._whens[visit, ranges] = WhenOp(visit, ranges)
            when.location = op.location
            self._insert(visit, [when])
        return self._whens[visit, ranges]

    def _insert(self, visit: str, ops: Sequence[Operation]) -> None:
        body = self.grid.body.block
        at = body.first_op if visit == "first" else body.last_op
        assert at is not None
        Rewriter.insert_op(ops, InsertPoint.before(at))


class AccumulatorBlock:
    """Scratch memory for the block of a target that the grid's current cells update.

    %out_acc = pallas.scratch
    tile.when first(%k) { %v = tile.load %out[%i, %j]   put cast(%v), %out_acc }
    … updates of %out_acc …
    tile.when last(%k) { %v = get %out_acc   tile.store cast(%v), %out[%i, %j] }
    """

    def __init__(self, launch: LaunchOp, phases: Phases, target: AtomicTarget, window: Window):
        self.launch, self.phases, self.target, self.window = launch, phases, target, window
        self.outside = array_type(target.memory).element_type
        self.element = wide(self.outside)
        self.ref = self._scratch()

    def fill_and_commit(self) -> None:
        """Puts what the block starts as at the begin of the grid's body, and the commit at its end."""
        ranges = self.phases.grid.ranges
        revisiting = tuple(range for n, range in enumerate(ranges) if n not in self.window.grid_dims)
        for visit, ops in (("first", self._fill()), ("last", self._commit())):
            for op in ops:
                op.location = self.target.accesses[0].location
            self.phases.add(visit, revisiting, ops)

    def _scratch(self) -> SSAValue:
        shape = [dim.size for dim in self.window.dims if dim.kind != "point"]
        op = ScratchOp(RefType(shape or (1, 1), self.element, "vmem"))
        op.location = self.target.accesses[0].location
        op.result.name_hint = f"{self.target.memory.name_hint or 'array'}_acc"
        Rewriter.insert_op(op, InsertPoint.before(self.phases.grid))
        return op.result

    def _fill(self) -> list[Operation]:
        """The block as it is in memory; a constant where the array was just allocated with it, or with nothing."""
        memory = self.target.memory
        copies, entries = self._block_entries()
        number = self._known_fill()
        if number is not None:
            type = block_type(memory.type, entries).with_element(self.element)
            full = FullOp(literal(number, self.element), type)
            return [full, PutOp(full.result, self.ref, self._ref_entries())]
        load = replacing(self.target.accesses[0], LoadOp(memory, entries))
        load.result.name_hint = "old"
        ops, value = self._cast(load.result, self.element)
        return [*copies, load, *ops, PutOp(value, self.ref, self._ref_entries())]

    def _commit(self) -> list[Operation]:
        memory = self.target.memory
        copies, entries = self._block_entries()
        get = GetOp(self.ref, self._ref_entries(), block_type(memory.type, entries).with_element(self.element))
        get.result.name_hint = memory.name_hint
        ops, value = self._cast(get.result, self.outside)
        return [get, *ops, *copies, replacing(self.target.accesses[0], StoreOp(value, memory, entries))]

    def _cast(self, value: SSAValue, element: Attribute) -> tuple[list[Operation], SSAValue]:
        if self.element == self.outside:
            return [], value
        cast = CastOp(value, element)
        cast.result.name_hint = value.name_hint
        return [cast], cast.result

    def _known_fill(self) -> float | int | None:
        """The number that the target is filled with before the launch; 0 where its elements have no meaning yet."""
        argument = self.launch.body.block.args.index(self.target.memory)
        if argument >= len(self.launch.inputs) or argument in self.launch.donated:
            return 0
        alloc = root(self.launch.inputs[argument]).owner
        if not isinstance(alloc, AllocOp):
            return None
        return literal_value(alloc.fill) if alloc.fill is not None else 0

    # The whole block as index lists of the array and of the scratch memory.

    def _ref_entries(self) -> list[Entry]:
        seen = [
            (dim, extent)
            for dim, extent in zip(self.window.dims, self.window.type.get_shape(), strict=True)
            if dim.kind != "point"
        ]
        if not seen:
            return [0, 0]
        return [SliceAttr(0, n) if dim.kind == "whole" and dim.size != n else ALL for dim, n in seen]

    def _block_entries(self) -> tuple[list[Operation], list[Entry]]:
        """The index list of the window's block, and copies of the ops that compute what stands in it."""
        copies: dict[SSAValue, SSAValue] = {}
        ops: list[Operation] = []
        columns = zip(*(access.entries for access in self.target.accesses), strict=True)
        entries = [self._block_entry(dim, list(column)) for dim, column in zip(self.window.dims, columns, strict=True)]
        return ops, [self._copied(e, copies, ops) if isinstance(e, SSAValue) else e for e in entries]

    def _block_entry(self, dim: Dim, column: Sequence[Entry]) -> Entry:
        if dim.kind == "whole":
            return ALL
        if dim.kind == "point":
            return column[0]
        assert dim.range is not None
        for entry in column:
            if isinstance(entry, SSAValue) and isinstance(entry.type, RangeType) and unshifted(entry) is dim.range:
                return entry
        return dim.range

    def _copied(self, value: SSAValue, copies: dict[SSAValue, SSAValue], ops: list[Operation]) -> SSAValue:
        """A value computed anew from the grid's ranges: its own op may stand further down."""
        if value in copies or not isinstance(value.owner, Operation):
            return copies.get(value, value)
        assert is_side_effect_free(value.owner)
        inner = [self._copied(operand, copies, ops) for operand in value.owner.operands]
        copy = value.owner.clone()
        copy.operands = inner
        ops.append(copy)
        copies[value] = copy.results[0]
        copy.results[0].name_hint = value.name_hint
        return copies[value]
