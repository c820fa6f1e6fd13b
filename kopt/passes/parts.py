"""Parts of values along one dimension, computed visit by visit in a loop over it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.analysis.bottom_up import users_of
from kopt.analysis.splittable_dims import inputs, sources, taken_whole
from kopt.dialects.tile import (
    ELEMENTWISE,
    ArangeOp,
    CastOp,
    DimAttr,
    ForOp,
    FullOp,
    IndexOp,
    LoadOp,
    RangeType,
    TileType,
)
from kopt.dialects.tile.index_list import Entry
from kopt.passes.replacing import replacing


class Parts:
    """Computes parts of values in a loop: a visit's lanes of a dimension that was whole.

        %l = tile.load %x[%i, :]      %m = tile.exp %l
    becomes, in a loop over ``%k``,
        %l = tile.load %x[%i, %k]     %m = tile.exp %l
    """

    def __init__(self, loop: ForOp):
        self.loop = loop
        self._made: dict[tuple[SSAValue, int], SSAValue] = {}
        self._now: dict[SSAValue, SSAValue] = {}
        self._changing: set[SSAValue] = set()

    @property
    def dim(self) -> DimAttr:
        """The dimension of a part."""
        assert isinstance(self.loop.range.type, RangeType)
        return self.loop.range.type.dim

    def add(self, op: Operation, source: Operation) -> SSAValue:
        """As `run`; gives the op's first result."""
        self.run(op, source)
        return op.results[0]

    def run(self, op: Operation, source: Operation) -> None:
        """Puts an op at the end of the loop's body."""
        op.location = source.location
        Rewriter.insert_op(op, InsertPoint.at_end(self.loop.body.block))

    def of(self, value: SSAValue, dim: int) -> SSAValue:
        """The part of a value along one dimension that a visit needs."""
        todo = [(value, dim)]
        while todo:
            if missing := [part for part in inputs(*todo[-1]) if part not in self._made]:
                todo += reversed(missing)
            elif (part := todo.pop()) not in self._made:
                self._compute(*part)
        return self._made[value, dim]

    def changes(self, value: SSAValue, now: SSAValue) -> None:
        """From here on another value stands for one without such a dimension, and what depends on it is new too."""
        self._now[value] = now
        todo = [value]
        while todo:
            found = [user for user in users_of(todo.pop()) if user not in self._changing]
            self._changing.update(found)
            todo += found

    def now(self, value: SSAValue) -> SSAValue:
        """What stands for a value without such a dimension at a visit."""
        if value not in self._now:
            if value not in self._changing:
                return value
            assert isinstance(op := value.owner, Operation)
            self._copy(op, [self.now(operand) for operand in op.operands], [result.type for result in op.results])
            self._now.update(zip(op.results, self._last.results, strict=True))
        return self._now[value]

    def entries(self, entries: Iterable[Entry], position: int | None) -> list[Entry]:
        """An index list with the loop's block in one position."""
        return [self.loop.range if n == position else entry for n, entry in enumerate(entries)]

    def _compute(self, value: SSAValue, dim: int) -> None:
        op, found = value.owner, sources(value, dim) or {}
        assert isinstance(op, Operation)
        operands = [self._made[old, found[n]] if n in found else self.now(old) for n, old in enumerate(op.operands)]
        if isinstance(op, LoadOp):
            self._load(op, dim, operands)
        elif isinstance(op, ArangeOp):
            self._count(op)
        else:
            self._copy(op, operands, [self._type(result, dim) for result in op.results])
        self._made.update(((old, dim), new) for old, new in zip(op.results, self._last.results, strict=True))

    def _type(self, value: SSAValue, dim: int) -> TileType:
        """A value's type with a part of a dimension."""
        assert isinstance(value.type, TileType)
        return value.type.with_dims([self.dim if n == dim else old for n, old in enumerate(value.type.dims.data)])

    @property
    def _last(self) -> Operation:
        """The op that was added last."""
        assert (op := self.loop.body.block.last_op) is not None
        return op

    def _copy(self, op: Operation, operands: Sequence[SSAValue], types: Sequence[Attribute]) -> None:
        new = op.create(
            operands=operands, properties=dict(op.properties), attributes=dict(op.attributes), result_types=types
        )
        self._finish(new, op)

    def _load(self, op: LoadOp, dim: int, operands: Sequence[SSAValue]) -> None:
        new = dict(zip(op.operands, operands, strict=True))
        entries = [new[entry] if isinstance(entry, SSAValue) else entry for entry in op.entries]
        mask = None if op.mask is None else new[op.mask]
        entries = self.entries(entries, taken_whole(op, dim))
        self._finish(replacing(op, LoadOp(op.memory, entries, mask, op.other, op.pad, op.attributes)), op)

    def _count(self, op: ArangeOp) -> None:
        """Lane numbers go on from visit to visit: ``start + (begin + lane) * step``."""
        type = self._type(op.result, 0)
        number = self.add(IndexOp(self.loop.range), op)
        if number.type != type:
            number = self.add(CastOp(number, type.element_type), op)
        scaled = self.add(ELEMENTWISE["mul"](number, self.add(FullOp(op.step.data, type), op)), op)
        self._finish(ELEMENTWISE["add"](scaled, self.add(FullOp(op.start.data, type), op)), op)

    def _finish(self, new: Operation, op: Operation) -> None:
        self.run(new, op)
        for made, old in zip(new.results, op.results, strict=True):
            made.name_hint = old.name_hint
