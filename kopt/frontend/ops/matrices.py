"""Matrix products: f32 accumulation, rounded to torch's result dtype."""

from __future__ import annotations

import string
from collections.abc import Callable
from math import prod
from typing import Any

import torch

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr
from kopt.frontend.broadcasting import broadcast, cast, common_dims
from kopt.frontend.dtypes import element_type
from kopt.frontend.ops.joining import without_dim
from kopt.frontend.ops.rules import result_dtype
from kopt.frontend.ops.shapes import permute, regroup, reshape_dims, unsqueeze_at
from kopt.frontend.ops.slicing import plain_dim
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, describe

ONE = DimAttr(1)


def accumulate_dtype(dtype: torch.dtype) -> torch.dtype:
    """What a product of a dtype is summed in."""
    if dtype == torch.float64 or dtype == torch.int64:
        return dtype
    return torch.float32 if dtype.is_floating_point else torch.int32


def product(lhs: DeviceTensor, rhs: DeviceTensor, acc: DeviceTensor | None, dtype: torch.dtype) -> DeviceTensor:
    """One ``tile.dot`` of matrices with equal batch dimensions; ``dtype`` is what it sums in."""
    lhs, rhs = _alike(lhs, rhs)
    lhs, rhs = _contracted(lhs, rhs)
    tracer = current()
    precision = tracer.dot_precision if lhs.dtype == torch.float32 else None
    if acc is not None:
        acc = _accumulator(acc, (*lhs.dims[:-1], rhs.dims[-1]), dtype)
    ssa = acc.ssa if acc is not None else None
    return DeviceTensor(tracer.emit(tile.DotOp(lhs.ssa, rhs.ssa, ssa, element_type(dtype), precision)))


def _accumulator(acc: DeviceTensor, dims: Any, dtype: torch.dtype) -> DeviceTensor:
    return broadcast(cast(acc, dtype), dims)


def _alike(lhs: DeviceTensor, rhs: DeviceTensor) -> tuple[DeviceTensor, DeviceTensor]:
    """Operands of one dtype; booleans and mixed dtypes are promoted."""
    if lhs.dtype != rhs.dtype:
        dtype = torch.promote_types(lhs.dtype, rhs.dtype) if not _is_fp8(lhs, rhs) else torch.float32
        lhs, rhs = cast(lhs, dtype), cast(rhs, dtype)
    return lhs, rhs


def _is_fp8(*values: DeviceTensor) -> bool:
    return any(v.dtype.itemsize == 1 and v.dtype.is_floating_point for v in values)


def _contracted(lhs: DeviceTensor, rhs: DeviceTensor) -> tuple[DeviceTensor, DeviceTensor]:
    """Batch dimensions broadcast, the contracted dimension made one."""
    k, n = lhs.dims[-1], rhs.dims[-2]
    if k.size != n.size:
        unsupported(f"{describe(lhs)} and {describe(rhs)} cannot be multiplied: {k} is not {n}", id="shapes")
    if k != n:
        lhs, rhs = plain_dim(lhs, lhs.rank - 1), plain_dim(rhs, rhs.rank - 2)
    if lhs.dims[:-2] == rhs.dims[:-2]:
        return lhs, rhs
    batch = common_dims([_batch(lhs), _batch(rhs)])
    return tuple(broadcast(v, (*batch, *v.dims[-2:])) for v in (lhs, rhs))  # pyright: ignore[reportReturnType]


def _batch(value: DeviceTensor) -> DeviceTensor:
    """The value without rows and columns: what remains to broadcast are its batch dimensions."""
    return without_dim(without_dim(value, value.rank - 1), value.rank - 2)


def matmul(input: Any, other: Any, out_dtype: torch.dtype | None = None) -> DeviceTensor:
    """``@``: vectors, matrices, batches; the result has ``out_dtype``, else the operands' promoted dtype."""
    lhs, rhs = as_tensor(input), as_tensor(other)
    if not lhs.rank or not rhs.rank:
        unsupported("a matrix product needs operands of rank 1 or more", id="operand")
    rows, columns = lhs.rank == 1, rhs.rank == 1
    lhs = unsqueeze_at(lhs, 0) if rows else lhs
    rhs = unsqueeze_at(rhs, 1) if columns else rhs
    dtype = result_dtype((lhs, rhs))
    out = cast(product(lhs, rhs, None, accumulate_dtype(dtype)), out_dtype or dtype)
    dims = list(out.dims)
    if columns:
        del dims[-1]
    if rows:
        del dims[-1 if columns else -2]
    return reshape_dims(out, dims)


def addmm(input: Any, mat1: Any, mat2: Any, *, beta: float = 1, alpha: float = 1) -> DeviceTensor:
    """``beta * input + alpha * (mat1 @ mat2)``: an f32 ``input`` is the accumulator itself."""
    acc, lhs, rhs = as_tensor(input), as_tensor(mat1), as_tensor(mat2)
    wide = accumulate_dtype(result_dtype((lhs, rhs)))
    if not wide.is_floating_point:  # torch's factors of integers are integers
        beta, alpha = int(beta), int(alpha)
    base = cast(acc, wide) if beta == 1 else cast(acc, wide) * beta
    if alpha == 1:
        return cast(product(lhs, rhs, base, wide), acc.dtype)
    return cast(base + product(lhs, rhs, None, wide) * alpha, acc.dtype)


def dot(mat1: Any, mat2: Any, acc: Any = None, out_dtype: torch.dtype | None = None) -> DeviceTensor:
    """``hl.dot``: the result has the accumulator's dtype, else ``out_dtype``, else f32 or int32."""
    lhs, rhs = as_tensor(mat1), as_tensor(mat2)
    wide = accumulate_dtype(result_dtype((lhs, rhs)) if not _is_fp8(lhs, rhs) else torch.float32)
    if acc is None:
        return cast(product(lhs, rhs, None, wide), out_dtype or wide)
    base = as_tensor(acc)
    if out_dtype is not None and out_dtype != wide:
        return base + cast(cast(product(lhs, rhs, None, wide), out_dtype), base.dtype)
    return cast(product(lhs, rhs, cast(base, wide), wide), base.dtype)


def linear(input: Any, weight: Any, bias: Any = None) -> DeviceTensor:
    """``x @ weight.T + bias``."""
    columns = as_tensor(weight)
    out = matmul(input, permute(columns, 1, 0) if columns.rank == 2 else columns)
    return out if bias is None else out + bias


def outer(input: Any, vec2: Any) -> DeviceTensor:
    """``outer``."""
    return unsqueeze_at(as_tensor(input), 1) * unsqueeze_at(as_tensor(vec2), 0)


def inner(input: Any, other: Any) -> DeviceTensor:
    """``inner``: the last dimensions contracted."""
    lhs, rhs = as_tensor(input), as_tensor(other)
    if not lhs.rank or not rhs.rank:
        return lhs * rhs
    if lhs.rank > 2 or rhs.rank > 2:
        letters = string.ascii_lowercase
        rows, columns = letters[1 : lhs.rank], letters[lhs.rank : lhs.rank + rhs.rank - 1]
        return einsum(f"{rows}a,{columns}a->{rows}{columns}", lhs, rhs)
    return matmul(lhs, permute(rhs, 1, 0) if rhs.rank == 2 else rhs)


def einsum(equation: str, *operands: Any) -> DeviceTensor:
    """``einsum`` without repeated letters in one operand; operands meet from the left."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    values = [as_tensor(v) for v in (operands[0] if isinstance(operands[0], list | tuple) else operands)]
    if (
        "." in equation
        or len(terms) != len(values)
        or any(len(set(x)) < len(x) or len(x) != v.rank for x, v in zip(terms, values, strict=True))
    ):
        unsupported(f"einsum '{equation}' is not supported", "use matmul, permute and sum", id="shapes")
    if not arrow:
        right = "".join(sorted(c for c in set(left) if left.count(c) == 1 and c != ","))
    wide = {c for v, term in zip(values, terms, strict=True) for c, d in zip(term, v.dims, strict=True) if d != ONE}
    pairs = [_without_ones(v, term, wide) for v, term in zip(values, terms, strict=True)]
    value, letters = pairs[0]
    for number, (other, term) in enumerate(pairs[1:], start=2):
        wanted = set(right).union(*(later for _, later in pairs[number:]))
        kept = "".join(c for c in dict.fromkeys(letters + term) if c in wanted)
        value, letters = _einsum_two((value, other), (letters, term), kept), kept
    return _arrange(value, letters, right)


def _without_ones(value: DeviceTensor, letters: str, wide: set[str]) -> tuple[DeviceTensor, str]:
    """An operand without the dimensions of one element that another operand has more of."""
    kept = [n for n, c in enumerate(letters) if value.dims[n] != ONE or c not in wide]
    return reshape_dims(value, [value.dims[n] for n in kept]), "".join(letters[n] for n in kept)


def _arrange(value: DeviceTensor, letters: str, wanted: str) -> DeviceTensor:
    """Sums over letters that are not wanted, and orders the rest."""
    gone = [n for n, c in enumerate(letters) if c not in wanted]
    if gone:
        value = value.sum(gone)
        letters = "".join(c for c in letters if c in wanted)
    return permute(value, [letters.index(c) for c in wanted])


def _einsum_two(values: tuple[DeviceTensor, DeviceTensor], terms: tuple[str, str], wanted: str) -> DeviceTensor:
    """Batch letters, rows, columns and sums as one batched product; without sums, as a product of lanes."""
    a, b = terms
    batch = [c for c in a if c in b and c in wanted]
    summed = [c for c in a if c in b and c not in wanted]
    rows, columns = ([c for c in x if c not in y and c in wanted] for x, y in ((a, b), (b, a)))
    lhs = _arrange(values[0], a, "".join([*batch, *rows, *summed]))
    rhs = _arrange(values[1], b, "".join([*batch, *summed, *columns]))
    sizes = [*lhs.tile_type.shape[: len(batch) + len(rows)], *rhs.tile_type.shape[len(batch) + len(summed) :]]
    if summed:
        lhs = _merged(lhs, len(batch), len(batch) + len(rows))
        rhs = _merged(rhs, len(batch), len(batch) + len(summed))
        out = regroup(matmul(lhs, rhs), sizes)
    else:
        lhs = reshape_dims(lhs, [*lhs.dims, *[ONE] * len(columns)])
        rhs = reshape_dims(rhs, [*rhs.dims[: len(batch)], *[ONE] * len(rows), *rhs.dims[len(batch) :]])
        out = lhs * rhs
    return _arrange(out, "".join([*batch, *rows, *columns]), wanted)


def _merged(value: DeviceTensor, first: int, second: int) -> DeviceTensor:
    """A batch of matrices: dimensions from ``first`` up to ``second`` are its rows, those from there its columns."""
    sizes = value.tile_type.shape
    return regroup(value, [*sizes[:first], prod(sizes[first:second]), prod(sizes[second:])])


TABLE: dict[str, Callable[..., Any]] = {
    "matmul": matmul,
    "mm": matmul,
    "bmm": matmul,
    "mv": matmul,
    "dot": matmul,
    "inner": inner,
    "addmm": addmm,
    "baddbmm": addmm,
    "linear": linear,
    "outer": outer,
    "ger": outer,
    "einsum": einsum,
}
