"""Values of the IR with operators: each makes operations where its builder stands.

Nothing is implicit but broadcasting: operands have one element type, and whoever mixes types writes a ``cast``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, SSAValue

from kopt import dtypes
from kopt.building.types import ElementLike, element_type
from kopt.dialects import atomic, tile
from kopt.dialects.builder import as_hint
from kopt.dialects.tile import ELEMENTWISE, DimAttr, TileType
from kopt.dialects.tile.elementwise import TABLE
from kopt.dialects.tile.types import DimLike, as_dim
from kopt.dtypes import DType
from kopt.specs import TensorSpec

if TYPE_CHECKING:
    from kopt.building.builder import OpBuilder

_RULES = {row.name: row.rule for row in TABLE}


_V = TypeVar("_V")


def _operator(name: str, swapped: bool = False) -> Callable[[_V, Any], _V]:
    def method(self: Any, other: Any) -> Any:
        return self.constant(other).op(name, self) if swapped else self.op(name, other)

    return method


class Handle:
    """A value of the IR, and the builder that makes what it is used in."""

    __slots__ = ("builder", "ssa")

    def __init__(self, ssa: SSAValue, builder: OpBuilder):
        self.ssa = ssa
        self.builder = builder

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.ssa.type})"

    def named(self, hint: str) -> Self:
        """The value, called so where it is printed."""
        self.ssa.name_hint = as_hint(hint)
        return self

    def _made(self, ssa: SSAValue) -> Self:
        """Another value of the same kind."""
        made = object.__new__(type(self))
        made.ssa, made.builder = ssa, self.builder
        return made


class Value(Handle):
    """A tile. Operators and the names of the elementwise table (``v.exp()``, ``a.maximum(b)``) compute lane by lane.

    Operands broadcast as NumPy's do; dimensions of one loop find each other. Numbers take the other operand's type.
    """

    __slots__ = ()

    __add__ = _operator("add")
    __radd__ = _operator("add", swapped=True)
    __sub__ = _operator("sub")
    __rsub__ = _operator("sub", swapped=True)
    __mul__ = _operator("mul")
    __rmul__ = _operator("mul", swapped=True)
    __truediv__ = _operator("div")
    __rtruediv__ = _operator("div", swapped=True)
    __floordiv__ = _operator("floordiv")
    __mod__ = _operator("mod")
    __pow__ = _operator("pow")
    __and__ = _operator("and")
    __rand__ = _operator("and", swapped=True)
    __or__ = _operator("or")
    __ror__ = _operator("or", swapped=True)
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")

    @property
    def type(self) -> TileType:
        """Its type in the IR."""
        return self.ssa.type  # pyright: ignore[reportReturnType]

    @property
    def dims(self) -> tuple[DimAttr, ...]:
        """Its dimensions."""
        return self.type.dims.data

    @property
    def element(self) -> Attribute:
        """The type of a lane."""
        return self.type.element_type

    @property
    def is_float(self) -> bool:
        """Whether its elements are floating-point numbers."""
        return tile.is_float(self.element)

    def constant(self, number: Any) -> Self:
        """A number in this value's type."""
        return self._made(self.builder.full(number, self.ssa))

    def op(self, name: str, *others: Any) -> Self:
        """An op of the elementwise table on this value and others."""
        operands = [self, *(self._operand(other) for other in others)]
        self._check(name, operands)
        return self._made(self.builder.compute(name, *self.builder.together(operands)))

    def _operand(self, other: Any) -> Value:
        return other if isinstance(other, Value) else self.constant(other)

    def _check(self, name: str, operands: Sequence[Value]) -> None:
        if any(value.element != self.element for value in operands):
            found = " and ".join(str(value.element) for value in operands)
            self.builder.refuse(f"tile.{name} needs one element type, found {found}", "convert one: value.cast('f32')")
        if not _RULES[name].accepts(self.element):
            self.builder.refuse(
                f"tile.{name} needs {_RULES[name].words}, found {self.element}", "convert it: value.cast('f32')"
            )

    def where(self, then: Any, otherwise: Any) -> Self:
        """``then`` where this condition holds."""
        like = then if isinstance(then, Value) else otherwise
        then, otherwise = like._operand(then), like._operand(otherwise)
        like._check("eq", [then, otherwise])
        return self._made(self.builder.select(*self.builder.together([self, then, otherwise])))

    def cast(self, element: ElementLike) -> Self:
        """The lanes in another element type, as torch's ``to`` converts them."""
        return self._made(self.builder.cast(self.ssa, element_type(element)))

    def reduce(self, kind: str, *over: Range | int) -> Self:
        """Combines the lanes of some dimensions, which disappear: ``add``, ``mul``, ``max``, ``min``, ``and``, …

        They are named by their ranges, or by number. Sums of narrow floats are those of f32: cast first.
        """
        places = sorted(self._place(dim) for dim in over)
        return self._made(self.builder.make(tile.ReduceOp, kind, self.ssa, places))

    def _place(self, dim: Range | int) -> int:
        tags = self.type.tags
        if isinstance(dim, int):
            return dim % max(len(tags), 1)
        if dim.tag not in tags:
            self.builder.refuse(f"{self.type} has no dimension of the range '{dim.tag}'")
        return tags.index(dim.tag)

    def over(self, *dims: Range | DimLike) -> Self:
        """The value with exactly these dimensions, in this order: its own are moved, the others repeat it."""
        wanted = [dim.dim if isinstance(dim, Range) else as_dim(dim) for dim in dims]
        return self._made(self.builder.spread_over(self.ssa, wanted))

    def reshape(self, *dims: Range | DimLike) -> Self:
        """The same lanes in row-major order under other dimensions."""
        wanted = [dim.dim if isinstance(dim, Range) else as_dim(dim) for dim in dims]
        return self._made(self.builder.make(tile.ReshapeOp, self.ssa, self.type.with_dims(wanted)))

    def transpose(self, *order: int) -> Self:
        """The dimensions in another order."""
        return self._made(self.builder.transpose(self.ssa, order))

    def dot(self, other: Value, acc: Value | None = None) -> Self:
        """The matrix product ``[…, M, K] x […, K, N]``, added to an accumulator if there is one: f32 of floats."""
        element = None if acc is not None else self.builder.sum_type(self.element)
        lhs, rhs = self.ssa, other.ssa
        return self._made(self.builder.make(tile.DotOp, lhs, rhs, acc.ssa if acc is not None else None, element))

    def __getattr__(self, name: str) -> Callable[..., Self]:
        if name not in ELEMENTWISE:
            raise AttributeError(f"{type(self).__name__} has no '{name}', and the elementwise table has none")
        return lambda *others: self.op(name, *others)

    def __neg__(self) -> Self:
        return self.op("neg")

    def __invert__(self) -> Self:
        return self.op("not")


class IndexValue(Handle):
    """An ``index``: what loops compute of their bounds."""

    __slots__ = ()

    def _op(self, op: Any, other: IndexValue | int) -> IndexValue:
        right = self.builder.index(other.ssa if isinstance(other, IndexValue) else other)
        return IndexValue(self.builder.add(op(self.ssa, right)), self.builder)

    def __add__(self, other: IndexValue | int) -> IndexValue:
        return self._op(arith.AddiOp, other)

    def __sub__(self, other: IndexValue | int) -> IndexValue:
        return self._op(arith.SubiOp, other)

    def __mul__(self, other: IndexValue | int) -> IndexValue:
        return self._op(arith.MuliOp, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def splat(self, element: ElementLike = "i32") -> Value:
        """The number as a tile without dimensions."""
        return Value(self.builder.make(tile.SplatOp, self.ssa, TileType([], element_type(element))), self.builder)


class Range(Handle):
    """One block of a loop: an index into arrays. ``range + n`` is the block moved by ``n`` elements."""

    __slots__ = ()

    @property
    def dim(self) -> DimAttr:
        """The dimension that it gives to what it indexes."""
        return tile.range_type(self.ssa).dim

    @property
    def tag(self) -> str:
        """The name of its loop in types."""
        return tile.tag_of(self.ssa)

    @property
    def index(self) -> Value:
        """The element number of each lane, as i32."""
        return Value(self.builder.add(tile.IndexOp(self.ssa)), self.builder)

    def _number(self, op: type[tile.BeginOp] | type[tile.EndOp] | type[tile.IdOp] | type[tile.CountOp]) -> IndexValue:
        return IndexValue(self.builder.add(op(self.ssa)), self.builder)

    @property
    def begin(self) -> IndexValue:
        """The first element of the block."""
        return self._number(tile.BeginOp)

    @property
    def end(self) -> IndexValue:
        """One past its last valid element."""
        return self._number(tile.EndOp)

    @property
    def id(self) -> IndexValue:
        """The number of the block in its loop."""
        return self._number(tile.IdOp)

    @property
    def count(self) -> IndexValue:
        """The number of blocks of the loop."""
        return self._number(tile.CountOp)

    def __add__(self, offset: IndexValue | int) -> Range:
        amount = self.builder.index(offset.ssa if isinstance(offset, IndexValue) else offset)
        return Range(self.builder.add(tile.ShiftOp(self.ssa, amount)), self.builder)


Index = Range | IndexValue | Value | slice | int


class Array(Handle):
    """An array of the host: ``x[rows, :]`` loads a block, ``out[rows, :] = value`` stores one.

    An index has one entry a dimension: a range, ``:``, a static slice, a number, or a tile of row numbers (a gather).
    """

    __slots__ = ()

    @property
    def type(self) -> MemRefType:
        """Its type in the IR."""
        return tile.array_type(self.ssa)

    @property
    def shape(self) -> tuple[int, ...]:
        """Its extents."""
        return self.type.get_shape()

    @property
    def dtype(self) -> DType:
        """Its dtype."""
        found = dtypes.from_ir(self.type.element_type)
        assert found is not None
        return found

    @property
    def spec(self) -> TensorSpec:
        """Its shape and dtype."""
        return TensorSpec(self.shape, self.dtype)

    def _entries(self, index: Index | tuple[Index, ...]) -> list[tile.Entry]:
        listed = index if isinstance(index, tuple) else (index,)
        if len(listed) != len(self.shape):
            self.builder.refuse(f"an array of {len(self.shape)} dimensions has as many indices, found {len(listed)}")
        return [self._entry(each, extent) for each, extent in zip(listed, self.shape, strict=True)]

    def _entry(self, index: Index, extent: int) -> tile.Entry:
        if isinstance(index, Handle):
            return index.ssa
        if not isinstance(index, slice):
            return index + extent if index < 0 else index
        start, stop, step = index.indices(extent)
        whole = (start, stop, step) == (0, extent, 1)
        return tile.ALL if whole else self.builder.make_attribute(tile.SliceAttr, start, max(start, stop), step)

    def load(self, *index: Index, mask: Value | None = None) -> Value:
        """The elements of a block; 0 where ``mask`` does not hold."""
        entries = self._entries(index)
        limits = None if mask is None else self._fitting(mask, entries, "i1")
        return Value(self.builder.make(tile.LoadOp, self.ssa, entries, limits), self.builder)

    def store(self, value: Value | float | int, *index: Index, mask: Value | None = None) -> None:
        """Writes a block, where ``mask`` holds."""
        entries = self._entries(index)
        limits = None if mask is None else self._fitting(mask, entries, "i1")
        self.builder.make_op(tile.StoreOp, self._fitting(value, entries), self.ssa, entries, limits)

    def atomic(self, kind: str, value: Value | float | int, *index: Index) -> None:
        """Combines a block with elements that other cells of the grid may combine too: ``add``, ``max``, ``min``, …"""
        entries = self._entries(index)
        self.builder.make_op(atomic.RmwOp, kind, self._fitting(value, entries), self.ssa, entries)

    def _fitting(
        self, value: Value | float | int, entries: Sequence[tile.Entry], element: ElementLike = ""
    ) -> SSAValue:
        """A value over the dimensions of a block, whose element type it has."""
        block = self.builder.block_type(self.ssa, entries)
        block = block.with_element(element_type(element)) if element else block
        if not isinstance(value, Value):
            return self.builder.make(tile.FullOp, value, block)
        if value.element != block.element_type:
            name = dtypes.from_ir(block.element_type)
            note = f"convert it: value.cast('{name.spec if name else 'f32'}')"
            self.builder.refuse(f"the block has elements of {block.element_type}, found {value.element}", note)
        return self.builder.spread_over(value.ssa, block.dims.data)

    def __getitem__(self, index: Index | tuple[Index, ...]) -> Value:
        return self.load(*(index if isinstance(index, tuple) else (index,)))

    def __setitem__(self, index: Index | tuple[Index, ...], value: Value | float | int) -> None:
        self.store(value, *(index if isinstance(index, tuple) else (index,)))
