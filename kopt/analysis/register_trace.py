"""A trace of a TPU's kernel: each op of each visit that is written out, at the phase at which it can run."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Block, Operation, SSAValue

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
    PutOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SplatOp,
    TakeAlongOp,
    TileType,
    tile_type,
)
from kopt.ir.ranges import binding, visits
from kopt.targets.chips import TpuChip
from kopt.targets.tiling import LANES, REGISTER, register_bytes

#: Ops of the transcendental unit, whose results are kept: nothing computes them later, or again.
_SLOW = frozenset(("exp", "exp2", "log", "log2", "tanh", "div", "rsqrt", "sqrt", "sigmoid", "erf", "pow", "sin", "cos"))
#: Lanes of the sums that a product keeps in registers while it takes the other parts of what it sums over.
_SUMMED = 256
#: Times that a product of 32-bit floats keeps its rows, in narrow pieces, for more columns than it takes at once.
_PASSES = 4
#: Parts of its sums that a product takes without keeping any.
_PARTS = 2


@dataclass(eq=False)
class TracedOp:
    """An op at one visit: the registers of its value, and the phase ``at`` which it runs.

    Its value is ``there`` at once, or one phase later (``ends`` a phase). A ``lazy`` op can wait until it is asked
    for: it reads memory, or computes cheaply with what does. What ``reads`` memory may do so again. ``widens`` marks
    casts from narrow elements, ``shared`` what is the same for many rows, ``together`` what comes out all at once.
    """

    size: int
    at: int
    operands: tuple[TracedOp, ...] = ()
    ends: bool = False
    lazy: bool = False
    reads: bool = False
    widens: bool = False
    shared: bool = False
    together: bool = False
    users: list[TracedOp] = field(default_factory=list, init=False)

    @property
    def there(self) -> int:
        """The phase at which its value is there."""
        return self.at + self.ends


@dataclass
class Trace:
    """The ``ops``, and what products keep ``inside``: from which phase to which, and how many registers."""

    ops: list[TracedOp] = field(default_factory=list)
    inside: list[tuple[int, int, int]] = field(default_factory=list)


def trace(grid: GridOp, chip: TpuChip) -> Trace:
    """The ops of one cell."""
    tracer = _Tracer(chip.mxu_size)
    tracer.block(grid.body.block)
    return tracer.found


def registers(type: TileType) -> int:
    """The registers that a value takes."""
    element = type.element_type
    bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 32
    return _registers(type.shape, 32 if bits == 1 else min(bits, 32))


def _registers(shape: Sequence[int], bits: int = 32) -> int:
    return -(-register_bytes(shape, bits) // REGISTER) if shape else 0


class _Tracer:
    """Takes ops in their order. No op is before the ``fence``: the last loop or condition that stays one."""

    def __init__(self, mxu: int):
        self.found = Trace()
        self._mxu = mxu
        self._of: dict[SSAValue, TracedOp] = {}
        #: What was computed before: loads of the same place since the last store, casts of the same value.
        self._known: dict[Hashable, TracedOp] = {}
        self._stores = 0
        #: Where the visit that is traced is, by its range, and by the block that is its body.
        self._visit: dict[SSAValue | Block, Hashable] = {}
        self._fence = self._last = self._product = 0

    def block(self, block: Block) -> None:
        """The ops of a block."""
        for op in block.ops:
            handler = _HANDLERS.get(type(op), _Tracer._apart if op.regions else _Tracer._compute)
            handler(self, op)

    def _add(self, size: int, operands: Sequence[TracedOp] = (), **kind: bool) -> TracedOp:
        traced = TracedOp(size, max((one.there for one in operands), default=0), tuple(operands), **kind)
        traced.at = max(traced.at, self._fence)
        for one in operands:
            one.users.append(traced)
        self._last = max(self._last, traced.there)
        self.found.ops.append(traced)
        return traced

    def _operands(self, op: Operation) -> list[TracedOp]:
        return [self._of[value] for value in op.operands if value in self._of]

    def _set(self, value: SSAValue, traced: TracedOp | None) -> None:
        if traced is None:
            self._of.pop(value, None)
        else:
            self._of[value] = traced

    # Ops.

    def _nothing(self, op: Operation) -> None:
        """Constants take no registers that wait."""

    def _pass_on(self, op: BroadcastOp | ReshapeOp) -> None:
        """Lanes that are repeated are one register, and those that stand otherwise as many as before."""
        self._set(op.result, self._of.get(op.input))

    def _numbers(self, op: ArangeOp) -> None:
        self._of[op.result] = self._add(registers(tile_type(op.result)), lazy=True, shared=True)

    def _get(self, op: GetOp) -> None:
        (result,) = op.results
        key = (op.memory, self._stores, tuple(map(self._place, op.entries)))
        if key not in self._known:
            self._known[key] = self._add(registers(tile_type(result)), lazy=True, reads=True)
        self._of[result] = self._known[key]

    def _place(self, entry: Any) -> Hashable:
        """An entry of an index list at this visit."""
        if not isinstance(entry, SSAValue) or entry in self._visit:
            return self._visit.get(entry, entry)
        block = entry.owner if isinstance(entry.owner, Block) else entry.owner.parent
        visits: list[Hashable] = [entry]
        while block is not None:
            visits.append(self._visit.get(block))
            block = block.parent_block()
        return tuple(visits)

    def _put(self, op: PutOp) -> None:
        self._add(0, self._operands(op))
        self._stores += 1

    def _cast(self, op: CastOp) -> None:
        source, size = self._of.get(op.input), registers(tile_type(op.result))
        key = ("cast", source, tile_type(op.result).element_type)
        if source is not None and key not in self._known:
            self._known[key] = self._add(size, [source], lazy=source.lazy, widens=source.size < size)
        self._set(op.result, self._known.get(key))

    def _compute(self, op: Operation) -> None:
        """What is elementwise, or moves lanes."""
        operands = self._operands(op)
        size = max((registers(one.type) for one in op.results if isinstance(one.type, TileType)), default=0)
        if operands:
            slow = op.name.partition(".")[2] in _SLOW
            traced = self._add(
                size, operands, lazy=not slow and all(one.lazy for one in operands if 2 * one.size >= size)
            )
            for result in op.results:
                self._of[result] = traced

    def _reduce(self, op: ReduceOp | ArgReduceOp | ScanOp) -> None:
        """Of the last two dimensions the lanes are in registers: others are combined register by register."""
        type = tile_type(op.operands[0])
        dims = list(op.dims.get_values()) if isinstance(op, ReduceOp) else [op.dim.data]  # pyright: ignore
        if max(dims) < type.rank - 2:
            self._compute(op)
            return
        kept = [1 if number in dims else size for number, size in enumerate(type.shape)]
        size = _registers(type.shape if isinstance(op, ScanOp) else kept)
        traced = self._add(size, self._operands(op), ends=True, together=type.rank - 1 in dims)
        self._set(op.results[0], traced)

    def _take_along(self, op: TakeAlongOp) -> None:
        """The numbers of all lanes are compared with those that are asked for."""
        traced = self._add(registers(tile_type(op.result)), self._operands(op), ends=True, together=True)
        self.found.inside.append((traced.at, traced.at + 1, -(-tile_type(op.input).shape[op.dim.data] // LANES)))
        self._of[op.result] = traced

    def _dot(self, op: DotOp) -> None:
        """Products come one after the other."""
        operands = [self._of[value] for value in (op.lhs, op.rhs) if value in self._of]
        traced = self._add(registers(tile_type(op.result)), operands, ends=True)
        traced.at = max(traced.at, self._product)
        self._product = traced.there
        self._last = max(self._last, traced.there)
        self.found.inside.append((traced.at, traced.there, self._kept(op)))
        sums = [self._of[value] for value in op.acc if value in self._of]
        self._of[op.result] = self._add(traced.size, [traced, *sums]) if sums else traced

    def _kept(self, op: DotOp) -> int:
        """Registers that a product keeps: sums between its parts, and operands that each of these asks for again."""
        rows, summed, columns = *tile_type(op.lhs).shape[-2:], tile_type(op.rhs).shape[-1]
        parts, wide = -(-summed // self._mxu), columns >= 2 * self._mxu
        if op.precision is not None and op.precision.data == "ieee":
            return _registers((rows, min(columns, _SUMMED))) + registers(tile_type(op.lhs)) * (_PASSES if wide else 1)
        again = parts > _PARTS and wide and (self._mxu < _SUMMED or parts % 4 == 0)
        kept = _registers((rows, min(columns, _SUMMED))) if parts > _PARTS else 0
        for value in (op.lhs, op.rhs):
            computed = value in self._of and not self._of[value].lazy
            if (computed and parts > 1) or (again and value is op.lhs):
                kept += registers(tile_type(value))
        return kept

    # Regions.

    def _for(self, op: ForOp) -> None:
        """A loop that is written out as a whole is no loop; of others as many visits as are written out."""
        unroll, trips = 1 if op.schedule is None else op.schedule.data.unroll, visits(op.range)
        if trips is not None and unroll >= trips:
            for carried, init in zip(op.carried, op.inits, strict=True):
                self._set(carried, self._of.get(init))
            self._visits(op, trips)
            return
        with_loop = self._begin_region(op)
        self._visits(op, unroll)
        self._end_region(with_loop, [self._of[value] for value in op.yielded if value in self._of])

    def _visits(self, op: ForOp, count: int) -> None:
        """Visits one after the other, and what the last one passes on."""
        for number in range(count):
            self._visit[op.range] = (op.bounds, binding(op.range).size, number)
            self._visit[op.body.block] = number
            self.block(op.body.block)
            passed = [self._of.get(value) for value in op.yielded]
            for carried, traced in zip(op.carried, passed, strict=True):
                self._set(carried, traced)
        for result, carried in zip(op.results, op.carried, strict=True):
            self._set(result, self._of.get(carried))

    def _apart(self, op: Operation) -> None:
        """Loops whose visits nothing tells, and what runs under a condition."""
        before = self._begin_region(op)
        for region in op.regions:
            for block in region.blocks:
                self.block(block)
        self._end_region(before, [])
        for result in op.results:
            if isinstance(result.type, TileType):
                self._of[result] = self._add(registers(result.type))

    def _begin_region(self, op: Operation) -> int:
        """Code of its own, with what it is given; how many ops were before it."""
        self._fence = self._last + 1
        self._stores += 1
        before = len(self.found.ops)
        for region in op.regions:
            for argument in region.blocks[0].args if region.blocks else ():
                if isinstance(argument.type, TileType):
                    self._of[argument] = self._add(registers(argument.type))
        return before

    def _end_region(self, before: int, passed: Sequence[TracedOp]) -> None:
        """What a region takes from outside lives to its end, for it may run again."""
        inside = dict.fromkeys(self.found.ops[before:])
        outer = dict.fromkeys(one for traced in inside for one in traced.operands if one not in inside)
        last = self._add(0, [*outer, *passed])
        last.at = self._last
        self._fence = self._last + 1
        self._stores += 1


_HANDLERS: dict[type[Operation], Callable[[_Tracer, Any], None]] = {
    ArangeOp: _Tracer._numbers,
    ArgReduceOp: _Tracer._reduce,
    BroadcastOp: _Tracer._pass_on,
    CastOp: _Tracer._cast,
    DotOp: _Tracer._dot,
    ForOp: _Tracer._for,
    FullOp: _Tracer._nothing,
    GetOp: _Tracer._get,
    PutOp: _Tracer._put,
    ReduceOp: _Tracer._reduce,
    ReshapeOp: _Tracer._pass_on,
    ScanOp: _Tracer._reduce,
    SplatOp: _Tracer._nothing,
    TakeAlongOp: _Tracer._take_along,
}
