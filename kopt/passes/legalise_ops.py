"""The pass ``legalise-ops``: ops that Triton has in another form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerType, ModuleOp, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from kopt.dialects import tile, triton
from kopt.walk import walk

#: The least contracted lanes that ``tl.dot`` takes, for operands of 16 bits or more and of 8 bits.
_LEAST_K = 16
_LEAST_K_BYTES = 32


@dataclass(frozen=True)
class LegaliseOpsPass(ModulePass):
    """Rewrites what Triton lacks: products that its matrix units do not take, several batches, exact powers.

    | op | becomes |
    |---|---|
    | `tile.dot` of fewer than 16 summed lanes, of wide integers, of one exact row | a sum of products |
    | `tile.dot` with several batch dimensions | one with their product |
    | `tile.pow` by 1, 2, 3, ±0.5, -1 | products, a root, a reciprocal: exactly what torch computes |

        %p = tile.pow %x, %two
    becomes
        %p = tile.mul %x, %x

    It never refuses. After masks: lanes that a block lacks are zeros by then.
    """

    name = "legalise-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for inner in walk(op):
            if isinstance(inner, tile.DotOp):
                _rewrite_dot(inner)
            elif isinstance(inner, tile.ElementwiseOp) and inner.ROW.name == "pow":
                _expand_power(inner)


def _insert(before: Operation, op: Operation) -> SSAValue:
    op.location = before.location
    Rewriter.insert_op(op, InsertPoint.before(before))
    return op.results[0]


def _rewrite_dot(op: tile.DotOp) -> None:
    type = _type(op.lhs)
    if _is_short(type) or _is_wide_integer(type.element_type) or _is_exact_vector(op):
        _expand_dot(op)
    elif type.rank > 3:
        _merge_batches(op)


def _type(value: SSAValue) -> tile.TileType:
    assert isinstance(value.type, tile.TileType)
    return value.type


def _is_short(type: tile.TileType) -> bool:
    width = getattr(type.element_type, "bitwidth", 32)
    return type.shape[-1] < (_LEAST_K_BYTES if width == 8 else _LEAST_K)


def _is_wide_integer(element: Attribute) -> bool:
    """Whether the matrix units have no such integers."""
    return isinstance(element, IntegerType) and element.width.data > 8


def _is_exact_vector(op: tile.DotOp) -> bool:
    """Whether a product has one row or column, of f32 that is not rounded: no matrix unit has it, which takes 16."""
    exact = op.precision is None or op.precision.data == "ieee"
    return exact and _type(op.lhs).element_type == f32 and 1 in _type(op.result).shape[-2:]


def _merge_batches(op: tile.DotOp) -> None:
    """``tl.dot`` takes one batch dimension: lanes keep their order, and masks are behind us, so tags may go."""
    result = _type(op.result)
    operands = [_insert(op, tile.ReshapeOp(value, _one_batch(_type(value)))) for value in op.operands]
    acc = operands[2] if op.accumulator is not None else None
    precision = op.precision.data if op.precision is not None else None
    product = _insert(op, tile.DotOp(operands[0], operands[1], acc, result.element_type, precision))
    plain = tile.TileType([*result.shape[:-2], *result.dims.data[-2:]], result.element_type)
    out = _insert(op, triton.RetagOp(_insert(op, tile.ReshapeOp(product, plain)), result))
    out.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [], [out])


def _one_batch(type: tile.TileType) -> tile.TileType:
    return tile.TileType([prod(type.shape[:-2]), *type.dims.data[-2:]], type.element_type)


def _expand_dot(op: tile.DotOp) -> None:
    """``dot %l, %r`` → the sum over K of ``%l[…, M, K, 1] * %r[…, 1, K, N]`` in the accumulator's type."""
    lhs, rhs, result = _type(op.lhs), _type(op.rhs), _type(op.result)
    rank = lhs.rank
    dims = [*lhs.dims.data, rhs.dims.data[-1]]
    whole = tile.TileType(dims, result.element_type)
    batch = list(range(rank - 2))
    left = _insert(op, tile.BroadcastOp(_widened(op, op.lhs, result), [*batch, rank - 2, rank - 1], whole))
    right = _insert(op, tile.BroadcastOp(_widened(op, op.rhs, result), [*batch, rank - 1, rank], whole))
    product = _insert(op, tile.ELEMENTWISE["mul"](left, right))
    total = _insert(op, tile.ReduceOp("add", product, [rank - 1]))
    if op.accumulator is not None:
        total = _insert(op, tile.ELEMENTWISE["add"](op.accumulator, total))
    total.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [], [total])


def _widened(op: tile.DotOp, value: SSAValue, result: tile.TileType) -> SSAValue:
    if _type(value).element_type == result.element_type:
        return value
    return _insert(op, tile.CastOp(value, result.element_type))


#: Exponent -> the factors and the function that give the power exactly as torch does.
_POWERS: dict[float, Callable[[tile.ElementwiseOp, SSAValue], SSAValue]] = {
    1.0: lambda op, x: x,
    2.0: lambda op, x: _product(op, [x, x]),
    3.0: lambda op, x: _product(op, [x, x, x]),
    0.5: lambda op, x: _insert(op, tile.ELEMENTWISE["sqrt"](x)),
    -0.5: lambda op, x: _insert(op, tile.ELEMENTWISE["rsqrt"](x)),
    -1.0: lambda op, x: _insert(op, tile.ELEMENTWISE["reciprocal"](x)),
}


def _product(op: Operation, factors: Sequence[SSAValue]) -> SSAValue:
    product = factors[0]
    for factor in factors[1:]:
        product = _insert(op, tile.ELEMENTWISE["mul"](product, factor))
    return product


def _expand_power(op: tile.ElementwiseOp) -> None:
    base, exponent = op.inputs
    constant = exponent.owner
    if not isinstance(constant, tile.FullOp) or not tile.is_float(op.result.type.element_type):  # pyright: ignore[reportAttributeAccessIssue]
        return
    make = _POWERS.get(float(constant.number))
    if make is None:
        return
    power = make(op, base)
    if power is not base:
        power.name_hint = op.result.name_hint
    Rewriter.replace_op(op, [], [power])
