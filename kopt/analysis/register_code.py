"""The steps of a cell as vector registers see them, from IR: of a kernel for a TPU, or of tile ops before any plan.

A load, as a get, reads memory; a store, as a put, ends uses. Constants take no registers that wait.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, Operation, SSAValue

from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import (
    ArangeOp,
    ArgReduceOp,
    BroadcastOp,
    CastOp,
    DotOp,
    ForOp,
    FullOp,
    GetOp,
    GridOp,
    LoadOp,
    PutOp,
    RangeType,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SplatOp,
    StoreOp,
    TakeAlongOp,
    TileType,
    tile_type,
)
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.polynomial import Coefficient
from kopt.ir.ranges import visits
from kopt.ir.register_code import Kind, Nest, RegisterCode, RegisterShape, RegisterStep, Values, Visited, Within

#: Ops of the transcendental unit, whose results are kept: nothing computes them later, or again.
_SLOW = frozenset(("exp", "exp2", "log", "log2", "tanh", "div", "rsqrt", "sqrt", "sigmoid", "erf", "pow", "sin", "cos"))
_ONE = (1, 1)
#: What a dimension is known by, and its lanes.
_Dim = tuple[Hashable, Coefficient]


def register_code(grid: GridOp, analysis: IndexAnalysis | None = None, planned: bool = True) -> RegisterCode:
    """The steps of one cell; ``analysis`` tells how many lanes dimensions have.

    Unless it is ``planned``, how loops run is not looked at: plans are to say that.
    """
    reader = _Reader(analysis or IndexAnalysis(), planned)
    steps = reader.steps(grid.body.block.ops)
    return RegisterCode(steps, tuple(reader.shapes))


class _Reader:
    """Takes ops in their order."""

    def __init__(self, analysis: IndexAnalysis, planned: bool):
        self.shapes: list[RegisterShape] = []
        self._shapes: dict[Hashable, int] = {}
        self._analysis, self._planned = analysis, planned
        self._numbers: dict[SSAValue, int] = {}
        self._count = 0
        #: Memories, bounds and entries of index lists, each by its number; ranges of loops by theirs.
        self._known: dict[Hashable, int] = {}
        self._ranges: dict[SSAValue | Block, int] = {}
        self._steps: list[RegisterStep] = []

    def steps(self, ops: Iterable[Operation]) -> tuple[RegisterStep, ...]:
        """The steps of a block's operations."""
        around, self._steps = self._steps, []
        for op in ops:
            _HANDLERS.get(type(op), _Reader._region if op.regions else _Reader._compute)(self, op)
        found, self._steps = tuple(self._steps), around
        return found

    def _add(self, kind: Kind, results: Sequence[SSAValue], *operands: SSAValue, **more: Any) -> None:
        self._steps.append(RegisterStep(kind, tuple(map(self._named, results)), self._values(operands), **more))

    def _named(self, value: SSAValue) -> int:
        """The number of a value that is defined here."""
        self._numbers[value] = number = self._count
        self._count += 1
        return number

    def _values(self, values: Sequence[SSAValue]) -> Values:
        return tuple(self._numbers.get(value) for value in values)

    def _used(self, op: Operation) -> list[SSAValue]:
        return [value for value in op.operands if value in self._numbers]

    def _shape(self, *values: SSAValue) -> tuple[int, ...]:
        """The numbers of the shapes of tiles."""
        tiles = [(value, value.type) for value in values if isinstance(value.type, TileType)]
        return tuple(self._shape_of(self._dims(value), _bits(type)) for value, type in tiles)

    def _dims(self, value: SSAValue) -> list[_Dim]:
        """The dimensions of a tile: known by their tags, and not by what happens to be as large at some sizes."""
        found = []
        for number, dim in enumerate(tile_type(value).dims.data):
            lanes = self._analysis.lanes_along(value, number)
            found.append((dim.tag.data or lanes, lanes))
        return found

    def _shape_of(self, dims: Sequence[_Dim], bits: int = 32) -> int:
        """The number of a shape."""
        key = tuple(known for known, _ in dims), bits
        if key not in self._shapes:
            self._shapes[key] = len(self.shapes)
            self.shapes.append(RegisterShape(tuple(lanes for _, lanes in dims), bits))
        return self._shapes[key]

    def _number(self, known: Hashable) -> int:
        return self._known.setdefault(known, len(self._known))

    # Ops.

    def _nothing(self, op: Operation) -> None:
        """Constants take no registers that wait."""

    def _pass_on(self, op: BroadcastOp | ReshapeOp) -> None:
        """Lanes that are repeated are one register, and those that stand otherwise as many as before."""
        if op.input in self._numbers:
            self._numbers[op.result] = self._numbers[op.input]

    def _arange(self, op: ArangeOp) -> None:
        self._add("numbers", [op.result], shapes=self._shape(op.result))

    def _read(self, op: GetOp | LoadOp) -> None:
        (result,) = op.results
        memory = self._number(op.memory)
        used = [value for value in self._used(op) if isinstance(value.type, TileType)]
        place = (memory, *map(self._place, op.entries), *self._values(used))
        self._add("read", [result], *used, shapes=self._shape(result), key=place)

    def _place(self, entry: Any) -> Hashable:
        """An entry of an index list."""
        if isinstance(entry, SSAValue) and entry in self._ranges:
            loop = entry.owner.parent_op()  # pyright: ignore
            assert isinstance(loop, ForOp | JaggedForOp) and isinstance(entry.type, RangeType)
            bounds = loop.bounds if isinstance(loop, ForOp) else loop.lengths
            lanes = entry.type.tag, self._analysis.size(entry)
            return Visited(self._ranges[entry], self._number(bounds), self._shape_of([lanes]))
        if not isinstance(entry, SSAValue):
            return Within(self._number(entry), ())
        block = entry.owner if isinstance(entry.owner, Block) else entry.owner.parent
        around: list[int] = []
        while block is not None:
            around += [self._ranges[block]] if block in self._ranges else []
            block = block.parent_block()
        return Within(self._number(entry), tuple(around))

    def _write(self, op: PutOp | StoreOp) -> None:
        self._add("write", [], *self._used(op))

    def _cast(self, op: CastOp) -> None:
        if op.input in self._numbers:
            shapes = self._shape(op.result)
            self._add("cast", [op.result], op.input, shapes=shapes, key=(str(tile_type(op.result).element_type),))

    def _compute(self, op: Operation) -> None:
        """What is elementwise, or moves lanes."""
        if used := self._used(op):
            slow = op.name.partition(".")[2] in _SLOW
            shapes = self._shape(*op.results)
            self._add("compute", op.results, *used, shapes=shapes, flag=slow)

    def _reduce(self, op: ReduceOp | ArgReduceOp | ScanOp) -> None:
        """Of the last two dimensions the lanes are in registers: others are combined register by register."""
        type = tile_type(op.operands[0])
        dims = list(op.dims.get_values()) if isinstance(op, ReduceOp) else [op.dim.data]  # pyright: ignore
        if max(dims) < type.rank - 2:
            self._compute(op)
            return
        lost = () if isinstance(op, ScanOp) else dims
        found = enumerate(self._dims(op.operands[0]))
        kept = self._shape_of([_ONE if number in lost else dim for number, dim in found])
        self._add("combine", op.results[:1], *self._used(op), shapes=(kept,), flag=type.rank - 1 in dims)

    def _take_along(self, op: TakeAlongOp) -> None:
        taken = self._shape_of([self._dims(op.input)[op.dim.data]])
        self._add("take", [op.result], *self._used(op), shapes=(*self._shape(op.result), taken))

    def _dot(self, op: DotOp) -> None:
        shapes = self._shape(op.result, op.lhs, op.rhs)
        wide = op.precision is not None and op.precision.data == "ieee"
        self._add("product", [op.result], op.lhs, op.rhs, *op.acc, shapes=shapes, flag=wide)

    # Regions.

    def _for(self, op: ForOp | JaggedForOp) -> None:
        self._ranges[op.range] = self._ranges[op.body.block] = number = len(self._ranges)
        inits = self._values(op.inits)
        given = tuple(map(self._named, op.carried))
        schedule = op.schedule if self._planned and isinstance(op, ForOp) else None
        steps = self.steps(list(op.body.block.ops)[:-1])  # what is passed on stands apart
        nest = Nest(
            steps,
            given,
            tuple(self._shape(value) for value in op.carried),
            self._values(op.yielded),
            op.range.type.tag,  # pyright: ignore
            number,
            1 if schedule is None else schedule.data.unroll,
            visits(op.range) if self._planned else None,
        )
        self._steps.append(RegisterStep("loop", tuple(map(self._named, op.results)), inits, nest=nest))

    def _region(self, op: Operation) -> None:
        """Loops whose visits nothing tells, and what runs under a condition."""
        blocks = [block for region in op.regions for block in region.blocks]
        heads = [region.blocks[0] for region in op.regions if region.blocks]
        args = [arg for block in heads for arg in block.args if isinstance(arg.type, TileType)]
        given = tuple(map(self._named, args))
        steps = tuple(step for block in blocks for step in self.steps(block.ops))
        results = [value for value in op.results if isinstance(value.type, TileType)]
        nest = Nest(steps, given, tuple(self._shape(arg) for arg in args))
        self._add("region", results, shapes=self._shape(*results), nest=nest)


def _bits(type: TileType) -> int:
    element = type.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    return 32 if bits == 1 else min(bits, 32)


_HANDLERS: dict[type[Operation], Callable[[_Reader, Any], None]] = {
    ArangeOp: _Reader._arange,
    ArgReduceOp: _Reader._reduce,
    BroadcastOp: _Reader._pass_on,
    CastOp: _Reader._cast,
    DotOp: _Reader._dot,
    ForOp: _Reader._for,
    FullOp: _Reader._nothing,
    GetOp: _Reader._read,
    JaggedForOp: _Reader._for,
    LoadOp: _Reader._read,
    PutOp: _Reader._write,
    ReduceOp: _Reader._reduce,
    ReshapeOp: _Reader._pass_on,
    ScanOp: _Reader._reduce,
    SplatOp: _Reader._nothing,
    StoreOp: _Reader._write,
    TakeAlongOp: _Reader._take_along,
}
