"""The pass ``verify-triton``: every op of a launch is one that Triton code is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import Float8E4M3FNType, NoneAttr, StridedLayoutAttr
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

from kopt import dtypes
from kopt.analysis.scaled_products import scaled_operands
from kopt.diagnostics import Problem
from kopt.dialects import tile, triton
from kopt.dialects.tile import array_type
from kopt.dialects.tile.index_list import AllAttr, SliceAttr
from kopt.dialects.tile.values import literal_value
from kopt.ir.widths import is_power_of_two
from kopt.lowering.printer import FLOAT_PREDICATES
from kopt.lowering.triton.module import HANDLERS
from kopt.passes.verifying.printable import VerifyPrintablePass
from kopt.passes.verifying.removed_by import formless
from kopt.walk import walk

#: What is said of ops that have no form, where it is more than that.
_FORMLESS: dict[type[Operation], str] = {
    tile.WhenOp: "Triton programs run in no order: '{}' has no meaning",
}
_CASTS = "cast to float16 or float32 first"
_WIDENS = "run pad-to-power-of-two before convert-tile-to-triton"


@dataclass(frozen=True)
class VerifyTritonPass(VerifyPrintablePass):
    """Checks that Triton has a form for what a launch computes. The printer takes its word for it.

    It refuses, at the op:

    * ops that no Triton code is made of, such as `tile.concat`, and comparisons of floats that Triton lacks;
    * element types that Triton lacks;
    * loads with a mask and a ``pad``;
    * accesses of whole dimensions and slices that are no power of two, or of arrays whose strides are not known;
    * products with several batch dimensions;
    * arithmetic on float8_e4m3fn, and literals of it but 0, on chips that lack it: bytes stand for its numbers there.

        error: 'tile.concat' has no Triton form: run convert-slices-to-gathers first

    The module stays as it is.
    """

    name = "verify-triton"

    def problems(self, top: Operation) -> Iterator[Problem]:
        for launch in walk(top, triton.LaunchOp):
            for op in walk(launch.body):
                if type(op) not in HANDLERS:
                    yield formless(op, "triton", _FORMLESS.get(type(op), "'{}' has no Triton form").format(op.name))
                found = [*_problems(op), *(_of_bytes(op) if launch.e4m3_bytes else ())]
                yield from (Problem(op, message, tuple(notes), id="no-form") for message, *notes in found)


def _problems(op: Operation) -> Iterator[tuple[str, ...]]:
    """What is wrong with an op, and what may be done instead."""
    for kind, check in _CHECKS.items():
        if isinstance(op, kind):
            yield from check(op)
    yield from () if isinstance(op, tile.FullOp) else _of_elements(op)


def _of_elements(op: Operation) -> Iterator[tuple[str, ...]]:
    """Literals take the type of what they are used with."""
    for value in op.results:
        if isinstance(value.type, tile.TileType) and dtypes.from_ir(value.type.element_type) is None:
            yield (f"Triton has no element type {value.type.element_type}",)


def _of_bytes(op: Operation) -> Iterator[tuple[str, ...]]:
    """What moves bytes that stand for numbers keeps them; nothing else does."""
    if isinstance(op, _MOVING) or op.regions or op.has_trait(IsTerminator):
        return
    types = [value.type for value in (*op.operands, *op.results) if isinstance(value.type, tile.TileType)]
    if any(isinstance(type.element_type, Float8E4M3FNType) for type in types):
        if not (isinstance(op, tile.FullOp) and literal_value(op.value) == 0):
            yield (f"the chip lacks float8_e4m3fn, and '{op.name}' computes with it", _CASTS)


def _of_access(op: tile.Access) -> Iterator[tuple[str, ...]]:
    type = array_type(op.memory)
    layout = type.layout
    if isinstance(layout, StridedLayoutAttr):
        if any(isinstance(stride, NoneAttr) for stride in layout.strides.data):
            yield (f"{type} has strides that are not known",)
    elif not isinstance(layout, NoneAttr):
        yield (f"{type} has no strides",)
    for entry, extent in zip(op.entries, type.get_shape(), strict=True):
        size = extent if isinstance(entry, AllAttr) else entry.length if isinstance(entry, SliceAttr) else 1
        if not is_power_of_two(size):
            yield (f"Triton blocks are powers of two, found a dimension of {size}", _WIDENS)


def _of_load(op: tile.LoadOp) -> Iterator[tuple[str, ...]]:
    if op.mask is not None and op.pad is not None:
        yield ("a load of Triton has one fill, found a mask and 'pad'", "run convert-tile-to-triton")


def _of_dot(op: tile.DotOp) -> Iterator[tuple[str, ...]]:
    type = tile.tile_type(op.lhs)
    if type.rank > 3:
        yield (f"Triton's dot takes one batch dimension, found {type}",)


def _of_scaling(op: tile.ScalingExtfOp) -> Iterator[tuple[str, ...]]:
    users = (use.operation for use in op.result.uses)
    if not all(isinstance(user, tile.DotOp) and scaled_operands(user) is not None for user in users):
        yield (f"'{op.name}' is an operand of a product of two such operands", "run expand-scaling")


def _of_comparison(op: arith.CmpfOp) -> Iterator[tuple[str, ...]]:
    code = op.predicate.value.data
    if code not in FLOAT_PREDICATES:
        yield (f"'{op.name}' has no Triton form with predicate {code}",)


#: Ops that put numbers elsewhere, or make others of them by a conversion.
_MOVING = (
    *(tile.LoadOp, tile.StoreOp, tile.CastOp, tile.BitcastOp, tile.SelectOp, tile.MaskOp, tile.BroadcastOp),
    *(tile.ReshapeOp, tile.TransposeOp, tile.ConcatOp, tile.SliceOp, tile.TakeAlongOp, tile.SplatOp, tile.ExtractOp),
)
_CHECKS: dict[type[Operation], Callable[[Any], Iterator[tuple[str, ...]]]] = {
    tile.Access: _of_access,
    tile.LoadOp: _of_load,
    tile.DotOp: _of_dot,
    tile.ScalingExtfOp: _of_scaling,
    arith.CmpfOp: _of_comparison,
}
