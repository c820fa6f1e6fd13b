"""Device values as the kernel's Python sees them.

`DeviceTensor` is a block being computed, `Index` a number of the loops' (``tile.begin``), `TileRange` what ``hl.tile``
gives, `BlockSize` a block's size, known at import. They are plain classes: a device value has no truth, no length and
no Python number, and says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, i1, i32
from xdsl.ir import SSAValue

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, TileType
from kopt.frontend.block_size import BlockSize, Shape
from kopt.frontend.device_value import DeviceValue, call_torch
from kopt.frontend.dtypes import element_type, torch_dtype
from kopt.frontend.lane_counts import lanes_of_block, length, open_tag
from kopt.frontend.ragged import is_ragged
from kopt.frontend.registry import method
from kopt.frontend.run_time_scalars import OpenNumber
from kopt.frontend.state import current, unsupported
from kopt.frontend.tracer import BlockInfo
from kopt.frontend.undefined import Undefined
from kopt.open_extents import OpenExtent

INDEX = IndexType()


@dataclass(frozen=True)
class LaneNumbers:
    """What a tensor of lane numbers numbers: lane ``n`` of dimension ``axis`` of ``rank`` is element ``start + n``.

    ``range`` is the loop's block, or None for a plain ``start : start + step * size : step``.
    """

    axis: int
    rank: int
    size: int
    range: TileRange | None = None
    start: int = 0
    step: int = 1
    tagged: bool = False


class DeviceTensor(DeviceValue):
    """A block being computed. Rank 0 is a scalar. ``lanes`` tells tensors that only number elements."""

    __slots__ = ("dtype", "lanes", "ssa")

    def __init__(self, ssa: SSAValue, lanes: LaneNumbers | None = None):
        self.ssa = ssa
        self.lanes = lanes
        self.dtype = torch_dtype(ssa.type.element_type)  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def tile_type(self) -> TileType:
        """The value's type in the IR."""
        return self.ssa.type  # pyright: ignore[reportReturnType]

    @property
    def dims(self) -> tuple[DimAttr, ...]:
        """Its dimensions."""
        return self.ssa.type.dims.data  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def ndim(self) -> int:
        return len(self.dims)

    @property
    def shape(self) -> Shape:
        """Sizes, which remember their loops."""
        return Shape(size_of(self.ssa, dim) for dim in range(self.rank))

    @property
    def device(self) -> torch.device:
        return torch.device("meta")

    @property
    def T(self) -> Any:
        return self.t() if self.rank <= 2 else unsupported("T needs a matrix", "use permute or mT", id="shapes")

    @property
    def mT(self) -> Any:
        return self.transpose(-2, -1)

    def __len__(self) -> int:
        return int(size_of(self.ssa, 0))

    def __repr__(self) -> str:
        return f"DeviceTensor({self.tile_type})"

    def __getattr__(self, name: str) -> Any:
        return method(self, name)

    def __getitem__(self, index: Any) -> Any:
        return call_torch(torch.Tensor.__getitem__, (self, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        unsupported(
            "a device value cannot be written in place",
            "write `acc = …` with a new value, for example torch.where(mask, value, acc)",
            id="in-place",
        )


def _of_tensor(tensor: DeviceTensor, name: str, owner: Any) -> Any:
    """An attribute of the tensor that a number, or a tile, is where one is needed."""
    return getattr(tensor, name) if hasattr(DeviceTensor, name) else method(tensor, name, owner)


def size_of(value: SSAValue, dim: int) -> int:
    """The size of a dimension as the kernel sees it."""
    attr: DimAttr = value.type.dims.data[dim]  # pyright: ignore[reportAttributeAccessIssue]
    size, tag, ragged = attr.size.data, attr.tag.data, is_ragged(value, dim)
    if not tag and not ragged:
        return size
    count = partial(valid_lanes, size, tag) if tag else partial(_hidden_lanes, value, dim)
    return BlockSize(size, tag, current().range_blocks.get(tag), count, ragged, lambda: length(value, dim))


def _hidden_lanes(value: SSAValue, dim: int) -> DeviceTensor:
    """How many lanes of a dimension that merged blocks are valid."""
    lanes = current().emit(tile.ValidLanesOp(value))
    ones = DeviceTensor(current().emit(tile.CastOp(lanes, i32)))
    along = current().emit(tile.ReduceOp("add", ones.ssa, [dim]))
    return DeviceTensor(current().emit(tile.ReduceOp("max", along, list(range(ones.rank - 1)))))


def valid_lanes(size: int, tag: str) -> Any:
    """How many lanes of a dimension are inside its range: of a loop's block a device number, for any size of it."""
    tracer = current()
    if tag in tracer.jagged:
        unsupported(
            "the number of lanes of a jagged tile differs from item to item",
            "divide sums by the lengths: x.sum(1) / lengths",
            id="jagged",
        )
    if not tag or tag not in tracer.ranges or size == 1:
        return int(size)
    return Index(current().emit(tile.ValidCountOp(tracer.ranges[tag])), natural=True)


def known_lanes(size: int, tag: str) -> Any:
    """As `valid_lanes`, but a number where every block is full: what is made of it holds for this size alone."""
    tracer = current()
    extent, block = tracer.extents.get(tag), tracer.range_blocks.get(tag)
    if extent is None or extent % size:
        return valid_lanes(size, tag)
    if block is not None:
        block.read = True
    return int(size)


def counted(value: Any) -> Any:
    """An operand of device arithmetic; the size of a loaded block is its number of valid lanes."""
    if isinstance(value, OpenExtent):
        return Index(current().open_extents[value.stand_in][1], natural=True)
    return value.counted() if isinstance(value, BlockSize) and value.count is not None else sized(value)


def sized(value: Any) -> Any:
    """An operand of a loop's arithmetic: a block's size is the one that is chosen, while a loop has such blocks."""
    if isinstance(value, BlockSize) and value.count is None and (tag := open_tag(value)):
        return Index(current().emit(tile.BlockSizeOp(current().ranges[tag])), natural=True)
    return int(value) if isinstance(value, BlockSize) else value


class Index(DeviceValue):
    """A number that loops compute (an ``index`` in the IR). Arithmetic with integers stays a number."""

    __slots__ = ("natural", "ssa")

    def __init__(self, ssa: SSAValue, natural: bool = False):
        self.ssa = ssa
        self.natural = natural

    @property
    def shape(self) -> Shape:
        return Shape()

    @property
    def dtype(self) -> torch.dtype:
        return torch.int64

    ndim = 0

    def __repr__(self) -> str:
        return "Index(device)"

    def __getattr__(self, name: str) -> Any:
        return _of_tensor(scalar_tensor(self), name, self)


def _observe(block: BlockInfo | None, sized: bool) -> None:
    """Notes that what the kernel computes may depend on a block's size, be it in numbers or by how many blocks are."""
    if block is not None:
        block.observed = True
        block.sized |= sized


class TileRange(DeviceValue):
    """One block of a loop, as ``hl.tile`` gives it; ``tile + n`` is the block moved by ``n`` elements."""

    __slots__ = ("block", "ssa", "tag")

    def __init__(self, ssa: SSAValue, tag: str, block: BlockInfo | None):
        self.ssa = ssa
        self.tag = tag
        self.block = block

    @property
    def dim(self) -> DimAttr:
        """The dimension that it gives to what it indexes."""
        return self.ssa.type.dim  # pyright: ignore[reportAttributeAccessIssue]

    @property
    def block_size(self) -> BlockSize:
        _observe(self.block, sized=True)
        size = self.dim.size.data
        return BlockSize(size, self.tag, self.block, length=lambda: lanes_of_block(self.tag, size))

    @property
    def index(self) -> DeviceTensor:
        lanes = LaneNumbers(0, 1, self.dim.size.data, self)
        return DeviceTensor(current().emit(tile.IndexOp(self.ssa)), lanes)

    @property
    def begin(self) -> Index:
        return Index(current().emit(tile.BeginOp(self.ssa)), natural=True)

    @property
    def end(self) -> Index:
        return Index(current().emit(tile.EndOp(self.ssa)), natural=True)

    @property
    def id(self) -> Index:
        _observe(self.block, sized=False)
        return Index(current().emit(tile.IdOp(self.ssa)), natural=True)

    @property
    def count(self) -> Index | int:
        _observe(self.block, sized=True)
        if (extent := current().extents.get(self.tag)) is not None:
            return -(-extent // self.block_size)
        return Index(current().emit(tile.CountOp(self.ssa)), natural=True)

    @property
    def shape(self) -> Shape:
        return Shape([self.block_size])

    @property
    def dtype(self) -> torch.dtype:
        return torch.int32

    ndim = 1

    def __repr__(self) -> str:
        return f"TileRange({self.tag})"

    def __getattr__(self, name: str) -> Any:
        return _of_tensor(self.index, name, self)

    def shifted(self, offset: Any) -> TileRange:
        """The same lanes, ``offset`` elements further."""
        amount = index_ssa(offset)
        return TileRange(current().emit(tile.ShiftOp(self.ssa, amount)), self.tag, self.block)


def is_device(value: Any) -> bool:
    """Whether a value lives in a device loop."""
    return isinstance(value, DeviceValue)


def has_device(value: Any) -> bool:
    """Whether a value lives in a device loop, or a list or tuple holds one that does."""
    if isinstance(value, DeviceValue):
        return True
    if value.__class__ in (tuple, list):
        return any(has_device(item) for item in value)
    return False


def is_integer(value: Any) -> bool:
    """Whether a value is an integer: of Python, but no flag, or the kernel's."""
    return isinstance(value, Index) or (isinstance(value, int) and not isinstance(value, bool))


def is_number(value: Any) -> bool:
    """Whether a value is a Python number."""
    return isinstance(value, bool | int | float)


def constant_index(number: int) -> SSAValue:
    """An ``index`` constant."""
    return current().emit(arith.ConstantOp(IntegerAttr(number, INDEX)))


def index_ssa(value: Any) -> SSAValue:
    """A number as an ``index`` value of the IR: a Python integer, an `Index`, an integer of rank 0."""
    if isinstance(value, Index):
        return value.ssa
    if isinstance(value, OpenExtent):
        return current().open_extents[value.stand_in][1]
    if isinstance(value, int):
        return constant_index(int(value))
    if isinstance(value, torch.Tensor):
        value = current().host.load_scalar(value)
    if isinstance(value, DeviceTensor) and value.rank and all(d.size.data == 1 for d in value.dims):
        value = value.reshape(())
    if not isinstance(value, DeviceTensor) or value.rank or value.dtype.is_floating_point:
        unsupported(f"expected an integer, found {describe(value)}", id="operand")
    owner = value.ssa.owner
    if isinstance(owner, tile.SplatOp) and owner.scalar.type == INDEX:
        return owner.scalar
    return current().emit(tile.ExtractOp(value.ssa, INDEX))


def condition_ssa(value: Any) -> SSAValue:
    """A condition as an ``i1`` of the IR."""
    tensor = as_tensor(value)
    if tensor.rank and all(d.size.data == 1 for d in tensor.dims):
        for dim in tensor.dims:
            _observe(current().range_blocks.get(dim.tag.data), sized=False)
        tensor = tensor.reshape(())
    if tensor.rank:
        unsupported(
            f"a condition is one value, found {describe(value)}",
            "use torch.where for a choice in each lane",
            id="condition",
        )
    if tensor.dtype != torch.bool:
        tensor = tensor != 0
    owner = tensor.ssa.owner
    if isinstance(owner, tile.SplatOp):
        return owner.scalar
    return current().emit(tile.ExtractOp(tensor.ssa, i1))


def scalar_tensor(value: Index, dtype: torch.dtype = torch.int32) -> DeviceTensor:
    """A loop's number as a tensor of rank 0."""
    return DeviceTensor(current().emit(tile.SplatOp(value.ssa, TileType([], element_type(dtype)))))


def as_tensor(value: Any) -> DeviceTensor:
    """Any value of a kernel as a device tensor: numbers become scalars, blocks their element numbers."""
    if isinstance(value, DeviceTensor):
        return value
    if isinstance(value, TileRange):
        return value.index
    value = counted(value)
    if isinstance(value, Index):
        return scalar_tensor(value)
    if is_number(value):
        return full_tensor(value, (), _number_dtype(value))
    if isinstance(value, torch.Tensor):
        return current().host.load_scalar(value)
    unsupported(f"expected a tensor or a number, found {describe(value)}", id="operand")


def _number_dtype(value: Any) -> torch.dtype:
    return torch.bool if isinstance(value, bool) else torch.int32 if isinstance(value, int) else torch.float32


def full_tensor(value: float | int | bool, dims: tuple[DimAttr, ...], dtype: torch.dtype) -> DeviceTensor:
    """Every lane one number."""
    if type(value) is OpenNumber:
        return current().host.full(value.argument(dtype), TileType(dims, element_type(dtype)))
    number = bool(value) if dtype == torch.bool else value
    return DeviceTensor(current().emit(tile.FullOp(number, TileType(dims, element_type(dtype)))))


def describe(value: Any) -> str:
    """A value in words, for errors; of a name without a value the error is that it has none."""
    if isinstance(value, Undefined):
        value.refuse()
    if isinstance(value, DeviceTensor):
        return f"a device tensor [{' x '.join(map(str, value.dims))}] of {value.dtype}"
    if isinstance(value, TileRange):
        return "a tile"
    if isinstance(value, Index):
        return "a device number"
    if isinstance(value, torch.Tensor):
        return f"a host tensor {list(value.shape)} of {value.dtype}"
    if isinstance(value, BlockSize):
        return f"the size of a block of {value.lanes} lanes"
    if type(value) is OpenNumber:
        return f"{'an int' if value.kind is int else 'a float'} that each call gives"
    is_short = is_number(value) or isinstance(value, str)
    return f"{type(value).__name__} {value!r}" if is_short else type(value).__name__
