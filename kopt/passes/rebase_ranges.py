"""The pass ``rebase-ranges``: arrays walked from an unaligned element are sliced there, so that blocks are aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.aliases import users
from kopt.diagnostics import remark
from kopt.dialects.formats.integers import int_array, ints_of
from kopt.dialects.host import InsertOp, LaunchOp, SliceOp
from kopt.dialects.tile import (
    Access,
    CountOp,
    GridOp,
    IdOp,
    ShiftOp,
    ValidOp,
    array_type,
    is_range,
    range_type,
)
from kopt.dialects.tile.index_list import split_entries
from kopt.ir.ranges import Binding, binding
from kopt.passes.launches import initial_value
from kopt.walk import walk

#: Ops whose result is the same for a range and for the shifted one.
_SHIFT_BLIND = (IdOp, CountOp, ValidOp)


@dataclass(frozen=True)
class RebaseRangesPass(ModulePass):
    """Rebases iteration spaces: a grid range that begins at an element which no block starts at walks from 0.

    Blocks of a TPU's windows begin at multiples of the block. The range's uses see it shifted. Then arrays are sliced:
    a dimension that all accesses index by one grid range under one constant shift is cut to what the range walks, and
    results are inserted back. An array that is only read, under several shifts (``offsets[i]`` and
    ``offsets[i + 1]``), has an operand for each. Each slice is a remark.

        %n = host.launch @f (%a = %x) writes [0] { tile.grid (%i: b0=8) in (5 to 30) { … %a[%i] … tile.index %i } }
    becomes
        %s = host.slice %x [5] [25] [1]
        %t = host.launch @f (%a = %s) writes [0] {
          tile.grid (%i: b0=8) in (25) { %j = tile.shift %i by 5 … %a[%i] … tile.index %j } }
        %n = host.insert %t into %x [5] [25] [1]

    It never refuses: what reaches outside the array, or is indexed in several ways, stays as it is.
    """

    name = "rebase-ranges"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            for grid in [inner for inner in launch.body.block.ops if isinstance(inner, GridOp)]:
                _start_at_zero(grid)
            _split_operands(launch)
            slices = [_slices(arg) for arg in launch.body.block.args]
            if any(slices):
                _slice_launch(launch, slices)


@dataclass(frozen=True)
class Slice:
    """One dimension's elements ``start`` to ``stop``, walked by the unshifted ``range``."""

    dim: int
    start: int
    stop: int
    range: SSAValue


def _start_at_zero(grid: GridOp) -> None:
    """Lets the ranges that start inside a block walk from 0; their uses see them shifted back."""
    lower, upper = [*ints_of(grid.lower)], [*ints_of(grid.upper)]
    for position, value in enumerate(grid.ranges):
        if (first := lower[position]) % range_type(value).size:  # a limit that is a value is walked to from 0
            lower[position], upper[position] = 0, upper[position] - first
            _shift_uses(grid, value, first)
    grid.lower, grid.upper = int_array(lower), int_array(upper)


def _shift_uses(grid: GridOp, value: SSAValue, lower: int) -> None:
    uses = [use for use in value.uses if not isinstance(use.operation, _SHIFT_BLIND)]
    offset = ConstantOp(IntegerAttr(lower, IndexType()))
    shift = ShiftOp(value, offset)
    shift.result.name_hint = value.name_hint
    for op in (shift, offset):
        op.location = grid.location
        Rewriter.insert_op(op, InsertPoint.at_start(grid.body.block))
    for use in uses:
        use.operation.operands[use.index] = shift.result


def _split_operands(launch: LaunchOp) -> None:
    """Gives reads of one array under several shifts an operand each."""
    for number, memory in enumerate(launch.body.block.args[: len(launch.inputs)]):
        accesses = users(memory)
        if number in launch.written or not all(isinstance(access, Access) for access in accesses):
            continue
        groups: dict[tuple[Slice | None, ...], list[Operation]] = {}
        for access in accesses:
            groups.setdefault(_wanted(access), []).append(access)  # pyright: ignore[reportArgumentType]
        own = sorted(groups, key=lambda parts: sum(part is not None for part in parts))[1:]
        for parts in own:
            _give_operand(launch, number, groups[parts])


def _wanted(access: Access) -> tuple[Slice | None, ...]:
    """The slices that one access alone asks for."""
    shape = array_type(access.memory).get_shape()
    return tuple(_common([entry], dim, shape[dim]) for dim, entry in enumerate(access.entries))


def _give_operand(launch: LaunchOp, number: int, accesses: Sequence[Operation]) -> None:
    """Lets some accesses read the same array by way of one more operand."""
    memory, source = launch.body.block.args[number], launch.inputs[number]
    block = launch.body.block
    copy = block.insert_arg(source.type, len(launch.inputs))
    copy.name_hint = memory.name_hint
    launch.operands = [*launch.operands, source]
    for access in accesses:
        access.operands = [copy if operand is memory else operand for operand in access.operands]


def _slices(memory: BlockArgument) -> tuple[Slice, ...]:
    """The dimensions of a memref to slice: those that every access indexes in the same shifted way."""
    accesses = users(memory)
    if not accesses or not all(isinstance(access, Access) for access in accesses):
        return ()
    found = [_common([access.entries[dim] for access in accesses], dim, extent)  # pyright: ignore
             for dim, extent in enumerate(array_type(memory).get_shape())]  # fmt: skip
    return tuple(part for part in found if part is not None)


def _common(entries: Sequence[object], dim: int, extent: int) -> Slice | None:
    """The slice that all entries of one dimension walk, where there is one and it is not aligned."""
    walked = {_walked(entry) for entry in entries}
    if len(walked) != 1 or (one := walked.pop()) is None:
        return None
    bound, offset = one
    assert isinstance(bound.lower, int)
    start = bound.lower + offset
    if start % bound.size == 0 or start < 0 or not isinstance(bound.upper, int):
        return None
    stop = bound.upper + offset
    return None if stop > extent else Slice(dim, start, stop, bound.value)


def _walked(entry: object) -> tuple[Binding, int] | None:
    """The grid's binding of a range and its constant shift, or None for any other entry."""
    if not isinstance(entry, SSAValue) or not is_range(entry):
        return None
    bound, offset = binding(entry), 0
    while isinstance(entry.owner, ShiftOp):
        constant = entry.owner.offset.owner
        if not isinstance(constant, ConstantOp) or not isinstance(constant.value, IntegerAttr):
            return None
        offset += constant.value.value.data
        entry = entry.owner.range
    return (bound, offset) if isinstance(bound.owner, GridOp) and bound.lower == 0 else None


def _slice_launch(launch: LaunchOp, slices: Sequence[tuple[Slice, ...]]) -> None:
    """Replaces the launch by one on slices of its operands, whose results are inserted into the whole arrays."""
    given = len(launch.inputs)
    inputs = [_sliced(launch, number, parts) for number, parts in enumerate(slices[:given])]
    new = [_sliced_type(arg.type, parts) for arg, parts in zip(launch.yielded, slices[given:], strict=True)]
    for memory, parts in zip(launch.body.block.args, slices, strict=True):
        _index_unshifted(memory, parts)
    bases = [initial_value(launch, number) if slices[number] else None for number in launch.written]
    parts = [slices[number] for number in launch.written]
    body = Rewriter.move_region_contents_to_new_regions(launch.body)
    for arg, type in zip(body.block.args, [*(value.type for value in inputs), *new], strict=True):
        if arg.type != type:
            Rewriter.replace_value_with_new_type(arg, type)
    writes = ints_of(launch.writes)
    replacement = LaunchOp(launch.sym_name.data, inputs, writes, body, launch.attributes, donates=launch.donated)
    replacement.location = launch.location
    Rewriter.insert_op(replacement, InsertPoint.before(launch))
    results = [
        _inserted(launch, base, result, slice) if base is not None else result
        for base, result, slice in zip(bases, replacement.outputs, parts, strict=True)
    ]
    Rewriter.replace_op(launch, [], results)


def _index_unshifted(memory: BlockArgument, parts: Sequence[Slice]) -> None:
    """Lets every access of a sliced memref index the sliced dimensions by the range as the grid binds it."""
    by_dim = {part.dim: part.range for part in parts}
    for access in users(memory):
        assert isinstance(access, Access)
        entries = [by_dim.get(dim, entry) for dim, entry in enumerate(access.entries)]
        operands, _ = split_entries(entries)
        first = list(access.operands).index(memory) + 1
        for place, operand in enumerate(operands):
            access.operands[first + place] = operand


def _bounds(type: MemRefType, parts: Sequence[Slice]) -> tuple[list[int], list[int], list[int]]:
    """Offsets, sizes and strides of the slice of a whole array."""
    offsets, sizes = [0] * len(type.get_shape()), list(type.get_shape())
    for part in parts:
        offsets[part.dim], sizes[part.dim] = part.start, part.stop - part.start
    return offsets, sizes, [1] * len(sizes)


def _sliced_type(type: Attribute, parts: Sequence[Slice]) -> Attribute:
    assert isinstance(type, MemRefType)
    return MemRefType(type.element_type, _bounds(type, parts)[1]) if parts else type


def _sliced(launch: LaunchOp, number: int, parts: Sequence[Slice]) -> SSAValue:
    value = launch.inputs[number]
    if not parts:
        return value
    offsets, sizes, strides = _bounds(array_type(value), parts)
    op = SliceOp(value, offsets, sizes, strides, MemRefType(array_type(value).element_type, sizes))
    op.location = launch.location
    op.result.name_hint = value.name_hint
    Rewriter.insert_op(op, InsertPoint.before(launch))
    where = ", ".join(f"[{part.start}:{part.stop}] in dimension {part.dim}" for part in parts)
    remark(launch, f"'{value.name_hint}' is sliced to {where}: no block starts there")
    return op.result


def _inserted(launch: LaunchOp, base: SSAValue, result: SSAValue, parts: Sequence[Slice]) -> SSAValue:
    op = InsertOp(result, base, *_bounds(array_type(base), parts))
    op.location = launch.location
    op.result.name_hint = base.name_hint
    Rewriter.insert_op(op, InsertPoint.before(launch))
    return op.result
