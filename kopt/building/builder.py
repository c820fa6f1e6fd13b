"""`OpBuilder`: where operations go, where they come from, and the regions that they fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, TypeVar

from xdsl.dialects import scf
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, MemRefType, ModuleOp, StringAttr
from xdsl.dialects.builtin import i1 as boolean
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from kopt import source_lines
from kopt.building.blocks import opened, provisional_size
from kopt.building.broadcasting import Dims, joined_dims, meeting_places, order_in
from kopt.building.handles import Array, IndexValue, Range, Value
from kopt.building.types import ElementLike, array_type, element_type
from kopt.diagnostics import to_location
from kopt.dialects import tile
from kopt.dialects.builder import Builder, as_hint
from kopt.dialects.definition import Op
from kopt.dialects.host import AllocOp
from kopt.dialects.tile import DimAttr, OpenBlock, RangeType, TileType, is_float, mark_open, tile_type
from kopt.dialects.tile.types import DimLike, as_dim
from kopt.errors import Location, VerifyError
from kopt.specs import TensorSpec

_Op = TypeVar("_Op", bound=Operation)
_Attr = TypeVar("_Attr", bound=Attribute)

#: Where a loop ends: a number of elements, or first element and end.
Bound = int | IndexValue
Extent = Bound | tuple[Bound, Bound]


class OpBuilder(Builder):
    """Builds a module: operations are inserted at the insertion point, with the location that is set.

    Functions and loops are context managers: inside, the insertion point is at the end of their body, and behind them
    it is where it was. What an exception leaves halfway is not inserted.
    """

    def __init__(self) -> None:
        self.module = ModuleOp([])
        super().__init__(InsertPoint.at_end(self.module.body.block), UNKNOWN_LOC)
        self._open: list[str] = []
        self._tags = 0

    # Insertion points and locations.

    @contextmanager
    def inserting(self, at: Block | InsertPoint) -> Iterator[None]:
        """Inside, operations are inserted there: at a point, or at the end of a block."""
        before = self.at
        self.at = InsertPoint.at_end(at) if isinstance(at, Block) else at
        try:
            yield
        finally:
            self.at = before

    @contextmanager
    def filling(self, op: Operation, block: Block) -> Iterator[None]:
        """Inside, the body of an operation is filled; behind it, the operation is inserted.

        A body that has no terminator ends in ``tile.yield`` then. The operation comes from where it was begun.
        """
        location = self.location
        with self.inserting(block):
            yield
            last = block.last_op
            if last is None or not last.has_trait(IsTerminator):
                self.insert(tile.YieldOp())
        self.insert(op).location = location

    @contextmanager
    def location_of(self, file: str, line: int, col: int = 1) -> Iterator[None]:
        """Inside, operations come from this place of the frontend's source: errors point there."""
        before = self._location
        self._location = FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(col))
        try:
            yield
        finally:
            self._location = before

    @staticmethod
    def source(file: str, text: str) -> None:
        """The text that locations in ``file`` point into, for the lines that errors show."""
        source_lines.register(file, text)

    @property
    def place(self) -> Location | None:
        """The location that is set, as errors have it."""
        return to_location(self.location)

    def refuse(self, message: str, *notes: str) -> NoReturn:
        """Raises `VerifyError` at the location that is set."""
        raise VerifyError(message, self.place, notes)

    def make_op(self, op: Callable[..., _Op], *args: Any) -> _Op:
        """Inserts an operation of a class, and verifies it: mistakes are errors at the location that is set."""
        try:
            made = self.insert(op(*args))
            if isinstance(made, Op):
                made.verify_own()
            return made
        except VerifyException as error:
            self.refuse(str(error))

    def make(self, op: Callable[..., Operation], *args: Any) -> SSAValue:
        """As `make_op`; gives the first result."""
        return self.make_op(op, *args).results[0]

    def make_attribute(self, attribute: Callable[..., _Attr], *args: Any) -> _Attr:
        """An attribute, whose refusal is an error at the location that is set."""
        try:
            return attribute(*args)
        except VerifyException as error:
            self.refuse(str(error))

    # Functions and arrays.

    @contextmanager
    def function(
        self, name: str, arguments: Mapping[str, TensorSpec | str | MemRefType]
    ) -> Iterator[tuple[Array, ...]]:
        """A kernel of arrays, by name; ``return_`` ends it. Inside, its arguments are given.

        Raises `VerifyError` for names that stand for several things.
        """
        if any(isinstance(op, FuncOp) and op.sym_name.data == name for op in self.module.ops):
            self.refuse(f"the module has a function '{name}' already")
        block, location, self._open = Block(arg_types=map(array_type, arguments.values())), self.location, []
        for argument, hint in zip(block.args, arguments, strict=True):
            argument.name_hint = as_hint(hint)
        with self.inserting(block):
            yield tuple(Array(argument, self) for argument in block.args)
        last = block.last_op
        func = self.add_function(name, block, list(last.operands) if isinstance(last, ReturnOp) else [])
        func.location = location
        mark_open(func, opened(func, self._open))

    def return_(self, *arrays: Array) -> None:
        """Ends the function with its results."""
        self.insert(ReturnOp(*(array.ssa for array in arrays)))

    def add_function(
        self, name: str, block: Block, results: Sequence[SSAValue], blocks: Sequence[OpenBlock] = ()
    ) -> FuncOp:
        """The function of a block, at the end of the module; ``blocks`` are those whose sizes are open."""
        if not isinstance(block.last_op, ReturnOp):
            block.add_op(ReturnOp(*results))
        types = [argument.type for argument in block.args], [result.type for result in results]
        func = FuncOp(name, types, Region(block))
        mark_open(func, blocks)
        return self.insert(func, InsertPoint.at_end(self.module.body.block))

    def alloc(self, spec: TensorSpec | str | MemRefType, fill: float | int | None = None) -> Array:
        """A new array, its elements unspecified or all ``fill``."""
        return Array(self.make(AllocOp, array_type(spec), fill), self)

    # Loops.

    @contextmanager
    def grid(self, *extents: int | tuple[int, int], sizes: Sequence[int] | None = None) -> Iterator[tuple[Range, ...]]:
        """The parallel loop that one launch runs, over ``extents``; inside, one block of each is given.

        ``sizes`` are the numbers of lanes; left out, kopt chooses them for each target.
        """
        bounds = [extent if isinstance(extent, tuple) else (0, extent) for extent in extents]
        op = tile.GridOp([high for _, high in bounds], self._ranges(bounds, sizes), [low for low, _ in bounds])
        with self.filling_grid(op) as ranges:
            yield tuple(Range(range, self) for range in ranges)

    @contextmanager
    def filling_grid(self, op: tile.GridOp) -> Iterator[tuple[SSAValue, ...]]:
        """As `filling`, for a grid; gives its ranges."""
        if (terminator := op.body.block.last_op) is not None:
            terminator.detach()
        with self.filling(op, op.body.block):
            yield op.ranges

    @contextmanager
    def loop(self, extent: Extent, carried: Sequence[Value] = (), size: int | None = None) -> Iterator[LoopBuilder]:
        """A loop in a cell of the grid, over blocks of one range in order, that carries values.

        Its body ends with ``yield_`` of the next values; ``results`` are there behind it.
        """
        low, high = (_ssa(bound) for bound in (extent if isinstance(extent, tuple) else (0, extent)))
        [type] = self._ranges([(low, high)], None if size is None else [size])
        op = tile.ForOp(low, high, [value.ssa for value in carried], type)
        loop = LoopBuilder(op, self)
        with self.filling(op, op.body.block):
            yield loop
        if carried and not loop.yielded:
            self.refuse(f"the loop carries {len(carried)} values and yields none", "end its body with loop.yield_(…)")

    @contextmanager
    def when(self, condition: Value) -> Iterator[None]:
        """Inside, operations run where a condition holds: a tile of one i1, without dimensions."""
        op = scf.IfOp(self.make(tile.ExtractOp, condition.ssa, boolean), [], Region(Block()), Region())
        with self.inserting(op.true_region.block):
            yield
            self.insert(scf.YieldOp())
        self.insert(op)

    def _ranges(self, bounds: Sequence[tuple[Any, Any]], sizes: Sequence[int] | None) -> list[RangeType]:
        """The types of a loop's ranges; those without sizes are open."""
        if sizes is not None and len(sizes) != len(bounds):
            self.refuse(f"the loop has {len(bounds)} ranges, found {len(sizes)} sizes")
        tags = [f"b{self._tags + number}" for number in range(len(bounds))]
        self._tags += len(bounds)
        if sizes is None:
            self._open += tags
            known = [high - low if isinstance(low, int) and isinstance(high, int) else None for low, high in bounds]
            sizes = [provisional_size(extent, axis, len(known)) for axis, extent in enumerate(known)]
        return [self.make_attribute(RangeType, tag, size) for tag, size in zip(tags, sizes, strict=True)]

    # Tiles.

    def fill(self, number: float | int, element: ElementLike, *dims: Range | DimLike) -> Value:
        """A tile of one number; without dimensions, a scalar."""
        wanted = [dim.dim if isinstance(dim, Range) else as_dim(dim) for dim in dims]
        return Value(self.make(tile.FullOp, number, TileType(wanted, element_type(element))), self)

    def arange(self, count: int, start: int = 0, step: int = 1) -> Value:
        """``start``, ``start + step``, …: a tile of i32."""
        return Value(self.make(tile.ArangeOp, start, step, TileType([count], element_type("i32"))), self)

    def block_type(self, array: SSAValue, entries: Sequence[tile.Entry]) -> TileType:
        """The type of the block that an index list addresses."""
        try:
            return tile.block_type(array.type, entries)
        except VerifyException as error:
            self.refuse(str(error))

    @staticmethod
    def sum_type(element: Attribute) -> Attribute:
        """What products of an element type are summed in."""
        wide = element_type("f64" if is_float(element) else "i64")
        return element if element == wide else element_type("f32" if is_float(element) else "i32")

    def together(self, values: Sequence[Value]) -> list[SSAValue]:
        """Values over the dimensions that they broadcast to."""
        first = values[0].dims
        if all(value.dims == first for value in values[1:]):
            return [value.ssa for value in values]
        if (dims := joined_dims(value.dims for value in values)) is None:
            types = " and ".join(str(value.type) for value in values)
            self.refuse(f"tiles do not broadcast: {types}", "say over which dimensions: value.over(rows, columns)")
        return [self._broadcast(value.ssa, dims) for value in values]

    def _broadcast(self, value: SSAValue, dims: Dims) -> SSAValue:
        places = meeting_places(tile_type(value).dims.data, dims)
        assert places is not None
        return self.spread(value, dims, places)

    def spread_over(self, value: SSAValue, dims: Sequence[DimAttr]) -> SSAValue:
        """A value with exactly some dimensions: its own in their order, repeated along the others."""
        places = order_in(tile_type(value).dims.data, dims)
        if places is None:
            shown = " x ".join(map(str, dims))
            self.refuse(f"{tile_type(value)} has a dimension that is not among [{shown}]", "reduce it first")
        order = sorted(range(len(places)), key=lambda n: places[n])
        return self.spread(self.transpose(value, order), dims, sorted(places))


class LoopBuilder:
    """A loop that is being built: its ``range``, the ``carried`` values of this visit, and the ``results``."""

    def __init__(self, op: tile.ForOp, builder: OpBuilder):
        self._op = op
        self._builder = builder
        first, *rest = op.body.block.args
        self.range = Range(first, builder)
        self.carried = tuple(Value(argument, builder) for argument in rest)
        self.results = tuple(Value(result, builder) for result in op.results)
        self.yielded = False

    def yield_(self, *values: Value) -> None:
        """Ends the body: what the next visit gets, of the types that are carried."""
        types = [value.type for value in self.carried]
        if [value.type for value in values] != types:
            found = ", ".join(str(value.type) for value in values)
            self._builder.refuse(f"the loop carries {', '.join(map(str, types))}, found {found}")
        self.yielded = True
        self._builder.insert(tile.YieldOp(*(value.ssa for value in values)))


def _ssa(bound: Bound) -> SSAValue | int:
    return bound.ssa if isinstance(bound, IndexValue) else bound
