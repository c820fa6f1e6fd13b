"""Which accesses of a GPU's launch go by tensor descriptors: the copy engine moves blocks of products.

A descriptor knows an array's extents and strides and the shape of a block. One instruction brings the block that
begins at some numbers, in the layout that a product wants, and zeros where the array ends. Another one writes a block,
but for what is beyond the array. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt import dtypes
from kopt.analysis.aliases import accessed, root
from kopt.analysis.ragged import ragged_ranges
from kopt.dialects import tile, triton
from kopt.dialects.host import AllocOp
from kopt.dialects.tile.index_list import AllAttr, SliceAttr, block_axes
from kopt.dialects.tile.values import is_same_number
from kopt.ir.ranges import binding, unshifted
from kopt.ir.widths import is_power_of_two
from kopt.open_extents import is_open
from kopt.specs import contiguous_strides
from kopt.targets.chips import GpuChip
from kopt.walk import walk

#: What may go by a descriptor.
DescribedAccess = tile.LoadOp | tile.StoreOp


@dataclass(frozen=True)
class Descriptor:
    """A descriptor of a launch's argument ``memory``, for accesses of one shape of block."""

    memory: SSAValue
    block: tuple[int, ...]

    @staticmethod
    def of(access: DescribedAccess) -> Descriptor:
        """The one that an access goes by."""
        block = block_shape(access)
        assert block is not None, "verify-plan"
        return Descriptor(access.memory, block)

    @property
    def is_written(self) -> bool:
        """Whether blocks are stored by it: nothing else is, then."""
        return any(isinstance(use.operation, tile.StoreOp) for use in self.memory.uses)


def descriptors(launch: triton.LaunchOp) -> list[Descriptor]:
    """The descriptors of a launch, in the order of its arguments and accesses."""
    accesses = walk(launch, tile.LoadOp, tile.StoreOp)
    found = dict.fromkeys(Descriptor.of(access) for access in accesses if is_described(access))
    args = [*launch.body.block.args]
    return sorted(found, key=lambda one: args.index(one.memory))  # pyright: ignore[reportArgumentType]


def pointers(launch: triton.LaunchOp) -> list[int]:
    """The numbers of the arguments that are passed themselves: those that not descriptors alone use."""
    args = launch.body.block.args
    return [n for n, arg in enumerate(args) if not arg.uses or not all(is_described(use.operation) for use in arg.uses)]


def is_described(op: Operation) -> bool:
    """Whether an access goes by a tensor descriptor, which begins at numbers and needs no lanes."""
    return isinstance(op, DescribedAccess) and op.descriptor is not None


#: Bytes to which an array's beginning and its strides are aligned, and the fewest of a block's rows.
ALIGNED = 16
#: Lanes of a block's dimension, at most.
_MOST_LANES = 256
#: Rows of a matrix unit's results: of blocks with fewer rows, few of a program's threads hold any lanes.
_UNIT_ROWS = 16
#: Dimensions of an array, at most.
_MOST_DIMS = 5


def takes_descriptor(access: tile.Access, chip: GpuChip) -> bool:
    """Whether an access goes by a descriptor: the chip has them, the block is a product's, and all facts allow it."""
    if not chip.descriptors or not isinstance(access, DescribedAccess):
        return False
    of_product = _is_factor(access) if isinstance(access, tile.LoadOp) else _is_product(access)
    if not of_product or why_no_descriptor(access) is not None:
        return False
    return isinstance(access, tile.StoreOp) or not any(map(_is_repacked, _beside(access)))


def _is_factor(load: tile.LoadOp) -> bool:
    return any(isinstance(op, tile.DotOp) for op, _ in _takers(load.result))


def _beside(load: tile.LoadOp) -> list[tile.LoadOp]:
    """The loads of operands that come with a load: two kinds of copies are waited for one after the other."""
    block = load.parent_block()
    return [] if block is None else [op for op in block.ops if isinstance(op, tile.LoadOp) and _is_factor(op)]


def _is_repacked(load: tile.LoadOp) -> bool:
    """Whether a right operand of 8 bits has columns that follow one another: threads read it, and pack it row by row.

    They take what a thread has copied by itself, but not what a descriptor brings, which the matrix unit reads.
    """
    type = tile.tile_type(load.result)
    if getattr(type.element_type, "bitwidth", 0) != 8:
        return False
    takers = [op for op, moved in _takers(load.result) if isinstance(op, tile.DotOp) and not moved]
    return any(tile.tile_type(op.rhs) == type for op in takers)


def _is_product(store: tile.StoreOp) -> bool:
    """Whether what is stored was summed by products of the same launch, in rows that fill a matrix unit."""
    grid, shape = _launched(store), tile.tile_type(store.value).shape
    return grid is not None and bool(walk(grid, tile.DotOp)) and len(shape) > 1 and shape[-2] >= _UNIT_ROWS


def why_no_descriptor(access: DescribedAccess) -> str | None:
    """Why no descriptor describes the block of an access, None where one does."""
    if (reason := _why_no_block(access)) is not None:
        return reason
    return _why_not_loaded(access) if isinstance(access, tile.LoadOp) else _why_not_stored(access)


def _why_not_loaded(load: tile.LoadOp) -> str | None:
    if load.mask is not None or not _fills_zeros(load):
        return "lanes that are not there are zeros"
    if load.eviction is not None or _is_written(load):
        return "caches have no say, and nothing in the launch writes the array"
    return None


def _why_not_stored(store: tile.StoreOp) -> str | None:
    if store.mask is not None or not _ends_with_array(store):
        return "all lanes are stored that are inside of the array"
    if not isinstance(store.memory.owner, AllocOp) or not _is_alone(store):
        return "the function makes the array, and nothing else in the launch accesses it"
    return None


def _why_no_block(load: DescribedAccess) -> str | None:
    type = load.memory.type
    assert isinstance(type, MemRefType)
    if any(map(is_open, type.get_shape())):
        return "its shape differs from call to call"
    shape, strides, found = type.get_shape(), _strides(type), dtypes.from_ir(type.element_type)
    size = 0 if found is None or found.kind == "bool" else found.bytes  # Triton counts a boolean as one bit there
    block = block_shape(load)
    if strides is None or block is None:
        return "its place is not one block of a plain array"
    if not 1 <= len(shape) <= _MOST_DIMS or size not in (1, 2, 4) or max(shape) >= 1 << 31:
        return f"an array has at most {_MOST_DIMS} dimensions, of elements of 8, 16 or 32 bits"
    if strides[-1] != 1 or any(step * size % ALIGNED or not step for step in strides[:-1]):
        return f"rows begin at multiples of {ALIGNED} bytes, and their elements follow one another"
    if any(lanes > _MOST_LANES or not is_power_of_two(lanes) for lanes in block) or block[-1] * size < ALIGNED:
        return f"a block has powers of two up to {_MOST_LANES} lanes, and rows of {ALIGNED} bytes"
    return None


def block_shape(load: DescribedAccess) -> tuple[int, ...] | None:
    """The block of an access in the dimensions of its array, 1 where a number picks; None where it is no plain one."""
    shape = load.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    found = []
    for entry, extent in zip(load.entries, shape, strict=True):
        if isinstance(entry, AllAttr):
            found.append(extent)
        elif isinstance(entry, SliceAttr):
            if entry.step.data != 1:
                return None
            found.append(entry.length)
        elif isinstance(entry, SSAValue) and isinstance(entry.type, tile.RangeType):
            if unshifted(entry) is not entry:
                return None
            found.append(entry.type.size)
        elif tile.is_gather(entry):
            return None
        else:
            found.append(1)
    return tuple(found)


def _strides(type: MemRefType) -> tuple[int, ...] | None:
    """The strides of an array; None where they are not known."""
    if not isinstance(type.layout, StridedLayoutAttr):
        return contiguous_strides(tuple(type.get_shape()))
    strides = type.get_strides()
    return None if strides is None or any(step is None for step in strides) else tuple(map(int, strides))  # pyright: ignore


def _fills_zeros(load: tile.LoadOp) -> bool:
    """Whether what a descriptor fills in serves: 0 beyond the array, where a range ends with it."""
    if load.pad is None:
        return True
    return is_same_number(load.pad, 0.0) and _ends_with_array(load)


def _ends_with_array(access: DescribedAccess) -> bool:
    """Whether ranges that have lanes outside end where the array does."""
    shape = access.memory.type.get_shape()  # pyright: ignore[reportAttributeAccessIssue]
    axes = block_axes(access.entries, shape)
    limits = zip(axes, ragged_ranges(access), strict=True)
    return all(range is None or _ends_at(range, shape[axis.position]) for axis, range in limits)


def _ends_at(range: SSAValue, extent: int) -> bool:
    """Whether a range ends where a dimension does."""
    return binding(range).upper == extent


def _is_written(load: tile.LoadOp) -> bool:
    """Whether the launch of a load writes its array."""
    grid = _launched(load)
    return grid is None or root(load.memory) in set(map(root, accessed(grid, MemoryEffectKind.WRITE)))


def _is_alone(store: tile.StoreOp) -> bool:
    """Whether nothing else in a launch has to do with the array that a store writes."""
    grid, array = _launched(store), root(store.memory)
    if grid is None:
        return False
    others = (op for op in walk(grid) if op is not store and not isinstance(op, tile.GridOp))
    return not any(
        isinstance(value.type, MemRefType) and root(value) == array for op in others for value in op.operands
    )


def _launched(op: Operation) -> Operation | None:
    """The outermost grid around an operation."""
    grid = op.parent_op()
    while grid is not None and not (isinstance(grid, tile.GridOp) and not isinstance(grid.parent_op(), tile.GridOp)):
        grid = grid.parent_op()
    return grid


def _takers(value: SSAValue) -> Iterator[tuple[Operation, bool]]:
    """What takes a block behind casts and what only puts its lanes elsewhere; and whether some transpose it."""
    for use in value.uses:
        op = use.operation
        if isinstance(op, tile.TransposeOp | tile.ReshapeOp | tile.CastOp):
            yield from ((taker, moved or isinstance(op, tile.TransposeOp)) for taker, moved in _takers(op.result))
        elif isinstance(op, tile.ScalingExtfOp) and use.index == 0:
            yield from _takers(op.result)
        else:
            yield op, False
