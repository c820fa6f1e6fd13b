"""Running sums that a TPU has as products with a triangle of ones: which, and in how many products. Pure."""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import SSAValue

from kopt.analysis.bottom_up import bottom_up
from kopt.analysis.exact_numbers import ExactNumbers
from kopt.analysis.wide_facts import MOVES
from kopt.dialects.tile import CastOp, MaskOp, ReduceOp, ScanOp, TileType, element_of, tile_type

#: Below, doubling steps are as good; above, a product for each block of lanes is too much text.
_LEAST, _MOST = 16, 4096
_FLOATS = (f32, bf16, f16)
#: Binary digits of bf16.
_DIGITS = 8


def is_product(op: ScanOp) -> bool:
    """Whether a scan adds floats along the lanes of a matrix, of which a product with ones adds blocks."""
    type = tile_type(op.input)
    along_lanes = type.rank == 2 and op.dim.data == 1 and _LEAST <= type.shape[1] <= _MOST
    return along_lanes and op.kind.data == "add" and type.element_type in _FLOATS


def totals_of(op: ScanOp) -> list[ReduceOp]:
    """The sums of all lanes of what a running sum scans, beside it in its block, in the order of the program."""
    assert op.parent is not None
    sums = [one for one in op.parent.ops if isinstance(one, ReduceOp) and one.input is op.input]
    return [one for one in sums if one.kind.data == op.kind.data and one.dimensions == (op.dim.data,)]


def is_total(op: ReduceOp) -> bool:
    """Whether an op sums all lanes of what a product scans beside it."""
    scans = {use.operation for use in op.input.uses}
    return any(isinstance(scan, ScanOp) and is_product(scan) and op in totals_of(scan) for scan in scans)


class Bf16Numbers:
    """Whether the lanes of tiles are numbers of bf16, whatever their type is. It remembers what it was asked for."""

    def __init__(self) -> None:
        self._exact = ExactNumbers()
        self._known: dict[SSAValue, bool] = {}

    @bottom_up()
    def has(self, value: SSAValue) -> bool:
        """Whether casting a tile to bf16 keeps all of its lanes."""
        if value not in self._known:
            self._known[value] = self._found(value)
        return self._known[value]

    def _found(self, value: SSAValue) -> bool:
        op, multiples = value.owner, self._exact.of(value)
        if element_of(value) == bf16 or multiples is not None and multiples.fits(_DIGITS, 2.0**-100, 2.0**100):
            return True
        if isinstance(op, CastOp):
            return element_of(op.input) in _FLOATS and self.has(op.input)
        if isinstance(op, MaskOp) and op.fill_number != 0:
            return False
        moved = [one for one in getattr(op, "operands", ()) if isinstance(one.type, TileType)]
        same = [one for one in moved if element_of(one) == element_of(value)]
        return isinstance(op, MOVES) and all(map(self.has, same))
