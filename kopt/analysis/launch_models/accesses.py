"""The accesses of a launch: which elements, with which axes they move, what guards them.

    scf.if %c { %v = tile.load %x[%n, %j] : memref<100x512xf32> -> !tile.tile<b1=128 x f32> }      // %n is loaded
becomes
    x: load, block, tags (b1), moves with b1 and what %n moves with, address n, condition value(7)
"""

from __future__ import annotations

from os.path import basename

from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation

from kopt.analysis.launch_models.launch import Launch
from kopt.analysis.launch_models.program_points import ProgramPoint
from kopt.analysis.streaming import SPACE
from kopt.diagnostics import location_of
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile import Access, LoadOp, StoreOp, WhenOp
from kopt.ir.condition import Condition, Named, conjunction
from kopt.ir.from_access import relation_of, unguarded
from kopt.ir.launch_model import Mode, ModelAccess


def accesses(launch: Launch) -> tuple[ModelAccess, ...]:
    """The accesses of arrays in the order of the program, without what follows from the names in their indices.

    Of a launch that is costed, blocks are moved as they are, and nothing says what guards them.
    """
    return tuple(_access(launch, place) for place in launch.places if _is_access(place.op))


def _is_access(op: Operation) -> bool:
    return isinstance(op, Access) and isinstance(op.memory.type, MemRefType)


def _access(launch: Launch, place: ProgramPoint) -> ModelAccess:
    op = place.op
    assert isinstance(op, Access)
    value = op.operands[0] if isinstance(op, StoreOp | RmwOp) else op.operands[1] if isinstance(op, CasOp) else None
    return ModelAccess(
        launch.ids[op],
        launch.operands[op.memory],
        _mode(op),
        unguarded(op, launch.analysis) if launch.costed else relation_of(op, launch.analysis),
        tuple(tag for tag, _ in launch.dims(op.results[0] if value is None else value)),
        place.path,
        frozenset(),
        condition=None if launch.costed else _condition(launch, op),
        update=op.kind.data if isinstance(op, RmwOp) else "cas" if isinstance(op, CasOp) else "",
        returns=not isinstance(op, LoadOp) and any(result.first_use is not None for result in op.results),
        line=_line(op),
        hbm=SPACE in op.attributes,
        unlikely=place.unlikely,
    )


def _mode(op: Access) -> Mode:
    return "load" if isinstance(op, LoadOp) else "store" if isinstance(op, StoreOp) else "atomic"


def _line(op: Operation) -> str:
    location = location_of(op)
    return f"{basename(location.file)}:{location.line}" if location is not None else ""


def _condition(launch: Launch, op: Operation) -> Condition | None:
    """The conditions of the branches around an operation."""
    found: list[Condition] = []
    inner, parent = op, op.parent_op()
    while parent is not None and parent is not launch.grid:
        if isinstance(parent, scf.IfOp):
            holds = launch.analysis.condition(parent.cond)
            found.append(holds if inner.parent is parent.true_region.block else holds.negated())
        elif isinstance(parent, WhenOp):
            found += [Named(launch.names(range, parent.visit.data)) for range in parent.ranges]
        inner, parent = parent, parent.parent_op()
    return conjunction(reversed(found)) if found else None
