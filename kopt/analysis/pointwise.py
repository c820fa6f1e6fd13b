"""Host ops that compute each element of an array from the elements in the same place of others."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryEffectKind

from kopt.analysis.aliases import accessed, root
from kopt.analysis.effects import get_effects
from kopt.dialects.host import CallOutOp
from kopt.dialects.host.out_forms import OUT_FORMS
from kopt.dialects.tile import GridOp, LoadOp, StoreOp
from kopt.walk import walk


def pointwise_inputs(op: Operation, out: SSAValue) -> tuple[SSAValue, ...]:
    """The arrays of ``out``'s shape of which an op reads an element only to write the one in its place in ``out``.

    Such an array may be ``out`` itself. All of its accesses have to be of this kind, those through other views too, or
    it is not among them.
    """
    reads = accessed(op, MemoryEffectKind.READ)
    found = [value for value in reads if value is not out and _alike(value, out) and _computes(op, value, out)]
    return tuple(value for value in found if not any(_is_other_view(other, value) for other in reads))


def _computes(op: Operation, source: SSAValue, out: SSAValue) -> bool:
    if isinstance(op, CallOutOp):
        return op.out is out and OUT_FORMS[op.callee.data].pointwise
    return isinstance(op, GridOp) and _in_place(op, source, out)


def _is_other_view(other: SSAValue, value: SSAValue) -> bool:
    return other is not value and root(other) is root(value)


def _alike(a: SSAValue, b: SSAValue) -> bool:
    assert isinstance(a.type, MemRefType) and isinstance(b.type, MemRefType)
    return (a.type.get_shape(), a.type.element_type, a.type.layout) == (
        b.type.get_shape(), b.type.element_type, b.type.layout)  # fmt: skip


def _in_place(grid: GridOp, source: SSAValue, out: SSAValue) -> bool:
    """Whether all loads of one array and all stores of the other, which nothing else accesses, are of one block."""
    loads, stores = _accesses(grid, source), _accesses(grid, out)
    if not all(isinstance(op, LoadOp) for op in loads) or not all(isinstance(op, StoreOp) for op in stores):
        return False
    once = len(stores) == 1 and all(op.parent is stores[0].parent is grid.body.block for op in loads)
    blocks = {op.entries for op in (*loads, *stores) if isinstance(op, LoadOp | StoreOp)}
    bound = set(grid.body.block.args)
    return once and len(blocks) == 1 and bound <= {entry for entry in next(iter(blocks)) if isinstance(entry, SSAValue)}


def _accesses(grid: GridOp, memory: SSAValue) -> list[Operation]:
    return [op for op in walk(grid) if not op.regions
            and any(effect.value is memory for effect in get_effects(op) or ())]  # fmt: skip
