"""The pass ``widen-atomics``: GPUs update 32 and 64 bits; narrower targets get a wider array for the launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp, Signedness, StridedLayoutAttr, f32, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt import dtypes
from kopt.analysis.aliases import effects_on_memory, root
from kopt.analysis.updates_per_element import updates_of_an_element
from kopt.diagnostics import location_of, remark
from kopt.dialects import host, tile
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.tile.values import is_float
from kopt.errors import LoweringError
from kopt.passes.accesses_in_type import AccessOp, retype_access
from kopt.targets.chips import GPU_CHIPS, chip_option
from kopt.walk import walk

_Update = RmwOp | CasOp
#: Additions that a 16-bit float takes natively: n roundings of half a unit are about sqrt(n) / 2 units off, and two
#: units are what results may differ by.
_MOST_ROUNDINGS = 16


@dataclass(frozen=True)
class WidenAtomicsPass(ModulePass):
    """Widens atomic updates: targets of less than 32 bits get an array of 32-bit elements for the launch, if needed.

    Floats are summed in f32 and rounded once. A term is not cast to the narrow type first. Integers wrap when they are
    narrow again. 16-bit floats are added to as they are where ``chip`` can, and where at most 16 updates meet in one
    element. What is widened is a remark.

        tile.grid … { atomic.rmw add %v, %out[%i] : !tile.tile<b0=128 x bf16>, memref<64xbf16> }
    becomes
        %wide = host.alloc : memref<64xf32>
        host.copy %out to %wide : memref<64xbf16>, memref<64xf32>
        tile.grid … { %w = tile.cast %v … atomic.rmw add %w, %wide[%i] : !tile.tile<b0=128 x f32>, memref<64xf32> }
        host.copy %wide to %out : memref<64xf32>, memref<64xbf16>

    Refuses, with the place, narrow targets that the launch also accesses through another view or that repeat elements,
    additions beside a comparison of the same narrow integers, and beside a compare-and-swap of the same narrow floats.
    """

    name = "widen-atomics"

    chip: str = chip_option(GPU_CHIPS, "sm90")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, tile.GridOp):
            for memory, updates in _targets(grid).items():
                if self._must_widen(memory, updates):
                    _check(grid, memory, updates)
                    _widen(grid, memory)

    def _must_widen(self, memory: SSAValue, updates: Sequence[_Update]) -> bool:
        dtype = dtypes.from_ir(_element(memory))
        if dtype is None or dtype.bits >= 32:
            return False
        adds = all(isinstance(op, RmwOp) and op.kind.data == "add" for op in updates)
        if not adds or dtype.spec not in GPU_CHIPS[self.chip].atomic_adds:
            return True
        meeting = [updates_of_an_element(op) for op in updates]
        return any(number is None for number in meeting) or sum(filter(None, meeting)) > _MOST_ROUNDINGS


def _targets(grid: tile.GridOp) -> dict[SSAValue, list[_Update]]:
    """The updates of each memref that a grid updates."""
    found: dict[SSAValue, list[_Update]] = {}
    for op in walk(grid):
        if isinstance(op, RmwOp | CasOp):
            found.setdefault(op.memory, []).append(op)
    return found


def _element(memory: SSAValue) -> Attribute:
    return tile.array_type(memory).element_type


def _check(grid: tile.GridOp, memory: SSAValue, updates: Sequence[_Update]) -> None:
    """Refuses what an array beside the target would get wrong."""
    name, element = memory.name_hint or "the target", _element(memory)
    if any(other is not memory and root(other) is root(memory) for _, other in effects_on_memory(grid)):
        raise LoweringError(
            f"atomic updates of {element} elements of '{name}', which the loop also accesses through another view",
            location_of(updates[0]),
            notes=["access one view of it, or use a 32-bit target"],
            id="update",
        )
    layout = tile.array_type(memory).layout
    if isinstance(layout, StridedLayoutAttr) and 0 in (getattr(stride, "data", None) for stride in layout.strides):
        raise LoweringError(
            f"atomic updates of {element} elements of '{name}', a view that repeats them",
            location_of(updates[0]),
            notes=["update the view's source, or use a 32-bit target"],
            id="update",
        )
    kinds = {op.kind.data if isinstance(op, RmwOp) else "cas" for op in updates}
    clash = kinds & ({"cas"} if is_float(element) else {"cas", "max", "min"})
    if "add" in kinds and clash:
        raise LoweringError(
            f"atomic add and {min(clash)} of the same {element} elements of '{name}' in one loop",
            location_of(updates[0]),
            notes=["use a 32-bit target"],
        )


def _wide(element: Attribute) -> Attribute:
    """The type of 32 bits for a narrower one."""
    if is_float(element):
        return f32
    assert isinstance(element, IntegerType)
    unsigned = element != i1 and element.signedness.data is Signedness.UNSIGNED
    return IntegerType(32, Signedness.UNSIGNED) if unsigned else i32


def _widen(grid: tile.GridOp, memory: SSAValue) -> None:
    """Puts an array of the wider type in a target's place, filled before the grid and copied back behind it."""
    wide = _wide(_element(memory))
    remark(grid, f"'{memory.name_hint}' is updated in {wide}, in an array beside it, for its elements are narrow")
    array = host.AllocOp(MemRefType(wide, tile.array_type(memory).get_shape()))
    array.result.name_hint = f"{memory.name_hint or 'target'}_wide"
    before = [array, host.CopyOp(memory, array.result)]
    after = host.CopyOp(array.result, memory)
    for op in (*before, after):
        op.location = grid.location
    Rewriter.insert_op(before, InsertPoint.before(grid))
    Rewriter.insert_op(after, InsertPoint.after(grid))
    for op in [op for op in walk(grid) if isinstance(op, AccessOp) and op.memory is memory]:
        retype_access(op, array.result, wide)
    for number, operand in enumerate(grid.operands):
        if operand is memory:
            grid.operands[number] = array.result  # the plan's buffers are of the array that is accessed
