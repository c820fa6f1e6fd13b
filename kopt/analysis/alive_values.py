"""What is alive at once in a block: the places after which something is no longer needed. Pure.

A value lives from its definition to its last use in its block, as `kopt.analysis.cell_footprint.temporaries` counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.cell_footprint import user_position

#: What is to be known of a value.
_Shape = TypeVar("_Shape")


def alive_values(
    block: Block, shape_of: Callable[[SSAValue], _Shape | None], inside: Callable[[Operation], Sequence[_Shape]]
) -> Iterator[tuple[_Shape, ...]]:
    """The values that are alive at such places, each by what ``shape_of`` gives of it, None where it does not count.

    ``inside`` gives what an op makes on its way, which lives there alone.
    """
    ops = list(block.ops)
    position = {op: number for number, op in enumerate(ops)}
    alive: dict[SSAValue, _Shape] = {}
    ends: list[list[SSAValue]] = [[] for _ in ops]
    grown = False
    for number, op in enumerate(ops):
        for result in op.results:
            if (shape := shape_of(result)) is not None:
                alive[result] = shape
                grown = True
                last = max((user_position(use.operation, position) for use in result.uses), default=number)
                ends[last].append(result)
        made = inside(op)
        if (grown or made) and (ends[number] or made):
            yield (*alive.values(), *made)
            grown = False
        for value in ends[number]:
            del alive[value]
