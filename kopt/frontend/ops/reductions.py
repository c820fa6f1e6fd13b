"""Reductions: over one, several or all dimensions; narrow floats are combined in f32."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import torch

from kopt.dialects import tile
from kopt.dialects.tile import DimAttr, neutral
from kopt.frontend.broadcasting import broadcast, cast, defined
from kopt.frontend.dtypes import compute_dtype, float_dtype
from kopt.frontend.lanes import LaneValue
from kopt.frontend.ops.rules import apply, truth
from kopt.frontend.ops.shapes import keep_dims, positive_dim, reshape_dims
from kopt.frontend.positions import lane_numbers_along, valid_count, valid_tile
from kopt.frontend.ragged import has_holes, is_hidden
from kopt.frontend.registry import OPERATIONS
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, as_tensor, known_lanes, scalar_tensor

Dim = int | Sequence[int] | None
ValuesIndices = namedtuple("ValuesIndices", ["values", "indices"])
MinMax = namedtuple("MinMax", ["min", "max"])


def dims_of(value: DeviceTensor, dim: Dim) -> list[int]:
    """Increasing positions of the dimensions that ``dim`` names; None and ``()`` name all."""
    if dim is None or (not isinstance(dim, int) and len(dim) == 0):
        return list(range(value.rank))
    listed = [dim] if isinstance(dim, int) else list(dim)
    return sorted({positive_dim(value, d) for d in listed})


def combine(kind: str, value: DeviceTensor, dims: Sequence[int], keepdim: bool = False) -> DeviceTensor:
    """One reduction in the value's own dtype."""
    if not dims:
        return value
    out = DeviceTensor(current().emit(tile.ReduceOp(kind, value.ssa, dims)))
    return keep_dims(out, value, dims) if keepdim else out


def _arguments(dim: Dim, kwargs: dict[str, Any]) -> tuple[Dim, bool]:
    dim = kwargs.pop("axis", dim)
    keepdim = kwargs.pop("keepdim", kwargs.pop("keepdims", False))
    if kwargs:
        unsupported(f"reductions do not take {', '.join(kwargs)}")
    return dim, keepdim


def _sum_like(kind: str) -> Callable[..., DeviceTensor]:
    """sum and prod: integers widen to int64, as torch's do."""

    def operation(
        input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, **kwargs: Any
    ) -> DeviceTensor:
        value = as_tensor(input)
        dim, keepdim = _arguments(dim, {"keepdim": keepdim, **kwargs})
        result = dtype or (value.dtype if value.dtype.is_floating_point else torch.int64)
        value = cast(value, compute_dtype(result))
        return cast(combine(kind, value, dims_of(value, dim), keepdim), result)

    return operation


def extreme(kind: str, input: Any, dim: Dim = None, keepdim: bool = False) -> DeviceTensor:
    """amax and amin: any dtype, unchanged."""
    value = as_tensor(input)
    dims = dims_of(value, dim)
    if value.dtype == torch.bool:
        return combine({"max": "or", "min": "and"}[kind], value, dims, keepdim)
    wide = cast(value, compute_dtype(value.dtype))
    return cast(combine(kind, wide, dims, keepdim), value.dtype)


def _extreme(kind: str) -> Callable[..., DeviceTensor]:
    def operation(input: Any, dim: Dim = None, keepdim: bool = False, **kwargs: Any) -> DeviceTensor:
        return extreme(kind, input, *_arguments(dim, {"keepdim": keepdim, **kwargs}))

    return operation


def _max_or_min(kind: str, binary: str) -> Callable[..., Any]:
    """max and min: of everything, along a dimension with positions, or of two tensors."""

    def operation(input: Any, dim: Any = None, keepdim: bool = False, **kwargs: Any) -> Any:
        other = kwargs.pop("other", None)
        if other is not None or (dim is not None and not isinstance(dim, int)):
            return OPERATIONS[binary](input, other if other is not None else dim)
        dim, keepdim = _arguments(dim, {"keepdim": keepdim, **kwargs})
        if dim is None:
            return extreme(kind, input)
        return ValuesIndices(extreme(kind, input, dim, keepdim), position(kind, input, dim, keepdim))

    return operation


def position(kind: str, input: Any, dim: int | None = None, keepdim: bool = False) -> DeviceTensor:
    """argmax and argmin, as int64."""
    value = as_tensor(input)
    value = cast(value, torch.int32 if value.dtype == torch.bool else compute_dtype(value.dtype))
    if dim is not None:
        return _place(kind, value, positive_dim(value, dim), keepdim)
    hidden = any(is_hidden(value.ssa, n) for n in range(value.rank))
    flat = defined(value, range(value.rank), neutral(kind, value.tile_type.element_type))
    flat = reshape_dims(flat, [DimAttr(math.prod(value.tile_type.shape))])
    out = DeviceTensor(current().emit(tile.ArgReduceOp(kind, flat.ssa, 0)))
    out = _ranked(out, reshape_dims(value, flat.dims), 0) if hidden else _among_valid(out, value.dims)
    out = cast(out, torch.int64)
    return keep_dims(out, value, range(value.rank)) if keepdim else out


def _place(kind: str, value: DeviceTensor, dim: int, keepdim: bool) -> DeviceTensor:
    """The place of the first extreme lane of a dimension."""
    out = DeviceTensor(current().emit(tile.ArgReduceOp(kind, value.ssa, dim)))
    out = cast(_ranked(out, value, dim), torch.int64)
    return keep_dims(out, value, [dim]) if keepdim else out


def _ranked(place: DeviceTensor, value: DeviceTensor, dim: int) -> DeviceTensor:
    """The number of valid lanes before a lane of a dimension: its place among them."""
    if not has_holes(value.ssa, dim):
        return place
    wide = broadcast(keep_dims(place, value, [dim]), value.dims)
    before = LaneValue(lane_numbers_along(value, dim).ssa) < LaneValue(wide.ssa)
    counted = cast(DeviceTensor((before & LaneValue(valid_tile(value).ssa)).ssa), torch.int32)
    return combine("add", counted, [dim])


def _among_valid(place: DeviceTensor, dims: Sequence[DimAttr]) -> DeviceTensor:
    """A place in whole blocks as one among their valid lanes alone."""
    valid = [known_lanes(dim.size.data, dim.tag.data) for dim in dims[1:]]
    if all(isinstance(number, int) for number in valid):
        return place
    sizes = [dim.size.data for dim in dims]
    out: Any = place // math.prod(sizes[1:])
    for at, number in enumerate(valid, start=1):
        out = out * number + place // math.prod(sizes[at + 1 :]) % sizes[at]
    return cast(out, place.dtype)


def _scalar_lane(number: Any, like: DeviceTensor) -> LaneValue:
    """A count in the dtype and over the dimensions of ``like``."""
    if isinstance(number, int):
        return LaneValue(like.ssa).constant(number)
    if isinstance(number, DeviceTensor):
        same = number if number.rank == like.rank else reshape_dims(number, like.dims)
        return LaneValue(broadcast(cast(same, like.dtype), like.dims).ssa)
    return LaneValue(broadcast(cast(scalar_tensor(number), like.dtype), like.dims).ssa)


def _mean(value: DeviceTensor, dims: Sequence[int], keepdim: bool) -> DeviceTensor:
    """The mean in the value's own dtype."""
    total = combine("add", value, dims, keepdim)
    return DeviceTensor((LaneValue(total.ssa) / _scalar_lane(valid_count(value, dims), total)).ssa)


def mean(input: Any, dim: Dim = None, keepdim: bool = False, *, dtype: torch.dtype | None = None, **kwargs: Any) -> Any:
    """The mean of the valid lanes."""
    value = as_tensor(input)
    dim, keepdim = _arguments(dim, {"keepdim": keepdim, **kwargs})
    result = dtype or value.dtype
    if not result.is_floating_point:
        unsupported(f"mean needs a floating-point dtype, found {result}", "use .to(torch.float32).mean(…)", id="dtype")
    value = cast(value, compute_dtype(result))
    return cast(_mean(value, dims_of(value, dim), keepdim), result)


def _moments(input: Any, dim: Dim, correction: float, keepdim: bool) -> tuple[DeviceTensor, DeviceTensor]:
    """Variance and mean, in the compute dtype."""
    value = as_tensor(input)
    value = cast(value, compute_dtype(float_dtype(value.dtype)))
    dims = dims_of(value, dim)
    centre = _mean(value, dims, keepdim=True)
    offset = LaneValue(value.ssa) - LaneValue(broadcast(centre, value.dims).ssa)
    total = combine("add", DeviceTensor((offset * offset).ssa), dims, keepdim)
    number = valid_count(value, dims)
    if isinstance(number, int):
        divisor = LaneValue(total.ssa).constant(max(number - correction, 0))
    else:
        divisor = (_scalar_lane(number, total) - correction).maximum(0)
    variance = DeviceTensor((LaneValue(total.ssa) / divisor).ssa)
    return variance, centre if keepdim else _mean(value, dims, keepdim=False)


def _variance(input: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[DeviceTensor, DeviceTensor]:
    """torch's two signatures: ``(dim, unbiased, keepdim)`` and ``(dim, correction=, keepdim=)``."""
    dim = kwargs.pop("dim", kwargs.pop("axis", None))
    flags = list(args)
    if flags and not isinstance(flags[0], bool):
        dim = flags.pop(0)
    unbiased = kwargs.pop("unbiased", flags[0] if flags else True)
    keepdim = kwargs.pop("keepdim", flags[1] if len(flags) > 1 else False)
    correction = kwargs.pop("correction", None)
    return _moments(input, dim, int(unbiased) if correction is None else correction, keepdim)


def var(input: Any, *args: Any, **kwargs: Any) -> DeviceTensor:
    """The variance."""
    return cast(_variance(input, args, kwargs)[0], as_tensor(input).dtype)


def std(input: Any, *args: Any, **kwargs: Any) -> DeviceTensor:
    """The standard deviation."""
    variance = _variance(input, args, kwargs)[0]
    return cast(DeviceTensor(LaneValue(variance.ssa).sqrt().ssa), as_tensor(input).dtype)


def var_mean(input: Any, *args: Any, **kwargs: Any) -> tuple[DeviceTensor, DeviceTensor]:
    """Variance and mean."""
    dtype = as_tensor(input).dtype
    variance, centre = _variance(input, args, kwargs)
    return cast(variance, dtype), cast(centre, dtype)


def std_mean(input: Any, *args: Any, **kwargs: Any) -> tuple[DeviceTensor, DeviceTensor]:
    """Standard deviation and mean."""
    dtype = as_tensor(input).dtype
    variance, centre = _variance(input, args, kwargs)
    return cast(DeviceTensor(LaneValue(variance.ssa).sqrt().ssa), dtype), cast(centre, dtype)


def _boolean(kind: str) -> Callable[..., DeviceTensor]:
    """any and all: booleans, but bytes of bytes."""

    def operation(input: Any, dim: Dim = None, keepdim: bool = False, **kwargs: Any) -> DeviceTensor:
        value = truth(input)
        dim, keepdim = _arguments(dim, {"keepdim": keepdim, **kwargs})
        out = combine(kind, value, dims_of(value, dim), keepdim)
        return cast(out, torch.uint8) if as_tensor(input).dtype == torch.uint8 else out

    return operation


def _shifted(value: DeviceTensor, dims: Sequence[int]) -> tuple[LaneValue, DeviceTensor]:
    """``x - max(x)`` and the maximum, kept."""
    top = combine("max", value, dims, keepdim=True)
    return LaneValue(value.ssa) - LaneValue(broadcast(top, value.dims).ssa), top


def logsumexp(input: Any, dim: Dim = None, keepdim: bool = False) -> DeviceTensor:
    """``log(sum(exp(x)))``, safe for large values."""
    source = as_tensor(input)
    value = cast(source, compute_dtype(float_dtype(source.dtype)))
    dims = dims_of(value, dim)
    top = combine("max", value, dims, keepdim=True)
    finite = LaneValue(top.ssa).abs().eq(math.inf).where(0.0, LaneValue(top.ssa))
    offset = LaneValue(value.ssa) - LaneValue(broadcast(DeviceTensor(finite.ssa), value.dims).ssa)
    total = combine("add", DeviceTensor(offset.exp().ssa), dims, keepdim=True)
    out = DeviceTensor((LaneValue(total.ssa).log() + finite).ssa)
    if not keepdim:
        out = reshape_dims(out, [d for n, d in enumerate(out.dims) if n not in dims])
    return cast(out, float_dtype(source.dtype))


def softmax(input: Any, dim: Any = None, *args: Any, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``softmax`` along a dimension."""
    source = as_tensor(input)
    value = cast(source, compute_dtype(dtype or source.dtype))
    dims = [positive_dim(value, dim)]
    power = _shifted(value, dims)[0].exp()
    total = combine("add", DeviceTensor(power.ssa), dims, keepdim=True)
    return cast(DeviceTensor((power / LaneValue(broadcast(total, value.dims).ssa)).ssa), dtype or source.dtype)


def log_softmax(input: Any, dim: Any = None, *args: Any, dtype: torch.dtype | None = None, **_: Any) -> DeviceTensor:
    """``log_softmax`` along a dimension."""
    source = as_tensor(input)
    value = cast(source, compute_dtype(dtype or source.dtype))
    dims = [positive_dim(value, dim)]
    offset = _shifted(value, dims)[0]
    total = combine("add", DeviceTensor(offset.exp().ssa), dims, keepdim=True)
    log = LaneValue(broadcast(DeviceTensor(LaneValue(total.ssa).log().ssa), value.dims).ssa)
    return cast(DeviceTensor((offset - log).ssa), dtype or source.dtype)


def norm(input: Any, p: Any = 2, dim: Dim = None, keepdim: bool = False, **kwargs: Any) -> DeviceTensor:
    """Vector norms."""
    source = as_tensor(input)
    p = kwargs.pop("ord", p)
    value = cast(source, compute_dtype(source.dtype))
    dims, lane = dims_of(value, dim), LaneValue(value.ssa)
    if p in (None, "fro", 2):
        total = combine("add", DeviceTensor((lane * lane).ssa), dims, keepdim)
        return cast(DeviceTensor(LaneValue(total.ssa).sqrt().ssa), source.dtype)
    if p == 0:
        return cast(count_nonzero(value, dims if dim is not None else None, keepdim), source.dtype)
    size = DeviceTensor(lane.abs().ssa)
    if p in (math.inf, -math.inf):
        return cast(combine("max" if p > 0 else "min", size, dims, keepdim), source.dtype)
    total = combine("add", size if p == 1 else DeviceTensor(LaneValue(size.ssa).pow(p).ssa), dims, keepdim)
    return cast(total if p == 1 else DeviceTensor(LaneValue(total.ssa).pow(1 / p).ssa), source.dtype)


def vector_norm(
    x: Any, ord: Any = 2, dim: Dim = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> DeviceTensor:
    """``torch.linalg.vector_norm``."""
    return norm(x if dtype is None else cast(as_tensor(x), dtype), ord, dim, keepdim)


def softmin(input: Any, dim: Any = None, *args: Any, **options: Any) -> DeviceTensor:
    """``softmin`` along a dimension."""
    return softmax(OPERATIONS["neg"](input), dim, *args, **options)


def glu(input: Any, dim: int = -1) -> DeviceTensor:
    """The first half of a dimension times the sigmoid of the second, in one step."""
    if input.shape[dim] % 2:
        unsupported(f"glu halves a dimension of {input.shape[dim]}", id="shapes")
    return apply("real", lambda x, gate: x * gate.sigmoid(), OPERATIONS["chunk"](input, 2, dim))


def count_nonzero(input: Any, dim: Dim = None, keepdim: bool = False) -> DeviceTensor:
    """How many lanes are not zero."""
    return TABLE["sum"](truth(input), dim, keepdim)


def normalize(input: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> DeviceTensor:
    """``x / max(norm(x), eps)``."""
    return OPERATIONS["div"](input, OPERATIONS["clamp"](norm(input, p, dim, True), min=eps))


def _last_dims(source: DeviceTensor, shape: Sequence[int]) -> list[int]:
    return list(range(source.rank - len(shape), source.rank))


def layer_norm(input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """``layer_norm`` over the last dimensions."""
    source = as_tensor(input)
    dims = _last_dims(source, normalized_shape)
    variance, centre = _moments(source, dims, 0, True)
    out = (cast(source, variance.dtype) - centre) * OPERATIONS["rsqrt"](variance + eps)
    out = out if weight is None else out * weight
    # torch always adds one, so that no result is -0.0.
    return cast(out + (0.0 if bias is None else bias), source.dtype)


def rms_norm(input: Any, normalized_shape: Any, weight: Any = None, eps: float | None = None) -> Any:
    """``rms_norm`` over the last dimensions."""
    source = as_tensor(input)
    dims = _last_dims(source, normalized_shape)
    wide = cast(source, compute_dtype(float_dtype(source.dtype)))
    least = torch.finfo(wide.dtype).eps if eps is None else eps
    out = wide * OPERATIONS["rsqrt"](mean(wide * wide, dims, True) + least)
    return cast(out if weight is None else out * weight, source.dtype)


TABLE: dict[str, Callable[..., Any]] = {
    "sum": _sum_like("add"),
    "prod": _sum_like("mul"),
    "amax": _extreme("max"),
    "amin": _extreme("min"),
    "max": _max_or_min("max", "maximum"),
    "min": _max_or_min("min", "minimum"),
    "argmax": lambda input, dim=None, keepdim=False: position("max", input, dim, keepdim),
    "argmin": lambda input, dim=None, keepdim=False: position("min", input, dim, keepdim),
    "aminmax": lambda input, *, dim=None, keepdim=False: MinMax(
        extreme("min", input, dim, keepdim),
        extreme("max", input, dim, keepdim),
    ),
    "mean": mean,
    "var": var,
    "std": std,
    "var_mean": var_mean,
    "std_mean": std_mean,
    "all": _boolean("and"),
    "any": _boolean("or"),
    "logsumexp": logsumexp,
    "softmax": softmax,
    "log_softmax": log_softmax,
    "softmin": softmin,
    "glu": glu,
    "norm": norm,
    "linalg_vector_norm": vector_norm,
    "count_nonzero": count_nonzero,
    "normalize": normalize,
    "layer_norm": layer_norm,
    "rms_norm": rms_norm,
}
