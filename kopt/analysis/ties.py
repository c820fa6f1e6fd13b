"""Values that have something in common because ops hand it on: a layout, or a factor. Pure.

Loops and branches hand on what they carry. Which other ops do, and between which operands and their result, a caller
says; a constant hands on nothing, since each op may have its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue, Use

from kopt.dialects.tile import ForOp, FullOp, TileType, WhileOp, YieldOp

#: Ops whose n-th result is the n-th value that their regions yield.
HANDING = (ForOp, WhileOp, scf.IfOp)
_YIELDS = (YieldOp, scf.YieldOp)
LOOPS = (ForOp, WhileOp)


@dataclass(frozen=True)
class Ties:
    """``operands`` gives those of an op that are tied to its first result."""

    operands: Callable[[Operation], Sequence[SSAValue]]

    def component(self, first: SSAValue) -> tuple[SSAValue, ...]:
        """All tiles that are tied to one, itself the first."""
        found, left = {first: None}, [first]
        while left:
            for value in self._tied(left.pop()):
                if value not in found and isinstance(value.type, TileType):
                    found[value] = None
                    left.append(value)
        return tuple(found)

    def result(self, use: Use) -> SSAValue | None:
        """The result that a use ties its value to, if any."""
        op, number = use.operation, use.index - len(use.operation.operands)
        if isinstance(op, _YIELDS):
            op = op.parent_op()
        elif not isinstance(op, LOOPS):
            return op.results[0] if op.operands[use.index] in self.operands(op) else None
        return op.results[number] if isinstance(op, HANDING) and -number <= len(op.results) else None

    def makes(self, value: SSAValue) -> bool:
        """Whether a value is made of others that it is tied to."""
        owner = value.owner
        if isinstance(owner, Block):
            return bool(carrying(value))
        return isinstance(owner, HANDING) or bool(self.operands(owner))

    def _tied(self, value: SSAValue) -> Iterator[SSAValue]:
        if isinstance(value.owner, FullOp):
            return
        results = [] if isinstance(value.owner, Block) else [value]
        results += [loop.results[loop.carried.index(value)] for loop in carrying(value)]
        results += [result for use in value.uses if (result := self.result(use)) is not None]
        for result in results:
            yield from self._group(result)

    def _group(self, result: SSAValue) -> Sequence[SSAValue]:
        """The values that an op ties to one of its results: operands, or what regions take and yield."""
        op = result.owner
        assert isinstance(op, Operation)
        if not isinstance(op, HANDING):
            return *self.operands(op), result
        number = op.results.index(result)  # pyright: ignore[reportArgumentType]
        if isinstance(op, scf.IfOp):
            lasts = [region.block.last_op for region in op.regions]
            return result, *(last.operands[number] for last in lasts if last is not None)
        return op.inits[number], op.carried[number], op.yielded[number], result


def carrying(value: SSAValue) -> list[ForOp | WhileOp]:
    """The loop that carries a value, if it is an argument of one."""
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return [loop] if isinstance(loop, LOOPS) and value in loop.carried else []


def in_loop(op: Operation) -> bool:
    """Whether an op runs at each visit of some loop."""
    while (parent := op.parent_op()) is not None:
        if isinstance(parent, LOOPS):
            return True
        op = parent
    return False
