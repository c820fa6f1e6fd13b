"""Noise in what torch computes: what differs from run to run does not depend on the kernel alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from test.property.composed import COMPOSED
from test.property.undefined import casts, divisible, free_zeros, undefined, unheld, unnumbered

_UNITS = {torch.float64: 2**-52, torch.float32: 2**-23, torch.bfloat16: 2**-8, torch.float16: 2**-11}
#: Smaller numbers are subnormal in f32 and bf16.
_SMALLEST = torch.finfo(torch.float32).smallest_normal
#: Whose results are some of the operands' elements, or do not round: all that is right is equal.
_EXACT = frozenset(
    """
    abs neg sign sgn maximum minimum max min amax amin aminmax fmax fmin relu relu6 hardtanh clamp clamp_min
    clamp_max floor ceil round trunc where to type type_as float double half bfloat16 copysign positive
    nan_to_num masked_fill reshape view view_as reshape_as unsqueeze squeeze permute transpose t expand
    broadcast_to expand_as flatten ravel broadcast_tensors unflatten select narrow split split_with_sizes
    chunk tensor_split unbind cat stack hstack vstack flip pad repeat tile repeat_interleave movedim sort topk
    kthvalue msort cummax cummin gather take_along_dim index_select zeros ones full empty tensor scalar_tensor
    zeros_like ones_like full_like empty_like new_zeros new_full new_ones new_tensor new_empty clone
    contiguous detach getitem setitem randn get __get__ invert pos as_subclass constant_pad_nd index_put copy new_empty
    item tolist
    """.split()
)
#: Which give a variance or its root, and a mean, which is a sum.
_MEANS = frozenset(("var_mean", "std_mean"))
#: That of a run in which only sums differ: they do not round until all terms are added. What is 0 but for rounding is 0
#: there, such as a variance of equal elements.
_WIDE = 4
#: Of these, which make much of it where a subnormal number counts as 0: they step there, or order it beside 0.
_STEPS = frozenset("sign sgn ceil floor to type type_as sort topk kthvalue max min cummax cummin".split())
#: Which add many terms: how far they may differ depends on the terms, not on the sum.
_SUMS = frozenset(
    "sum mean var std var_mean std_mean norm logsumexp softmax log_softmax normalize layer_norm cumsum cumprod prod "
    "logcumsumexp matmul mm bmm mv dot inner addmm baddbmm linear einsum".split()
)


class Noise(TorchFunctionMode):
    """Around a run on the target ``eager``: torch, with what it leaves open settled.

    With a generator every result that rounds is moved by an ulp or so, and what torch leaves undefined is a random
    number.
    """

    def __init__(self, noise: torch.Generator | None = None):
        super().__init__()
        self.noise = noise
        self._odd = noise is not None and noise.initial_seed() % 2 == 1

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", "").strip("_"), kwargs or {}
        func = func if _changes(func) else _EXACTLY.get(name, func)
        if self.noise is None:
            return func(*divisible(name, args, kwargs), **kwargs)
        if self.noise.initial_seed() == _WIDE:
            return _wide(func, divisible(name, args, kwargs), kwargs) if name in _SUMS else func(*args, **kwargs)
        if self._odd and (nan := unnumbered(name, args, kwargs)) is not None and nan.any():
            plain = func(*args, **kwargs)
            return torch.where(nan, math.nan, plain).to(plain.dtype)
        if self._odd and (name not in _EXACT or name in _STEPS) and not _changes(func):
            plain = func(*divisible(name, args, kwargs), **kwargs)
            if not isinstance(plain, torch.Tensor | tuple) or _is_view(plain, args):
                return plain
            args = _mapped(_flushed, args)
        if name in _SUMS:
            args = self._terms(args, kwargs.get("dtype"))
        result = func(*divisible(name, args, kwargs), **kwargs)
        if _is_view(result, args):
            return result
        if name in COMPOSED:
            return self._moved(COMPOSED[name](self._moved, *args, **kwargs).to(result.dtype))
        bad = undefined(name, args, kwargs, result)
        if name not in _EXACT:
            result = _mapped(self._moved, result if self._odd else _kept(result, *args[:1]))
        if bad is not None:
            return self._any(result, bad)
        if name in _MEANS:
            return result[0], self._signs(result[1])
        return _mapped(self._signs, result) if free_zeros(name) else result

    def _terms(self, args: Any, dtype: Any) -> Any:
        """What is added: moved, and if it is cast before, then cast."""
        if casts(args[0], dtype):
            args = (self._any(args[0].to(dtype), unheld(args[0], dtype)), *args[1:])
        elif dtype in _UNITS and isinstance(args[0], torch.Tensor) and args[0].dtype not in _UNITS:
            args = (args[0].to(dtype), *args[1:])  # what are added are floats, not the integers that they are cast from
        return _mapped(self._moved, args)

    def _signs(self, result: torch.Tensor) -> torch.Tensor:
        """Zeros of one sign in this run, and of the other in the next."""
        return signed(result, self._odd)

    def _moved(self, value: Any) -> Any:
        unit = _UNITS.get(value.dtype)
        if unit is None:
            return value
        steps = torch.randint(1, 3, value.shape, generator=self.noise)
        steps = steps * (torch.randint(0, 2, value.shape, generator=self.noise) * 2 - 1)
        value = _flushed(value) if self._odd else value
        return (value.double() * (1 + steps * unit)).to(value.dtype)

    def _any(self, result: torch.Tensor, bad: torch.Tensor) -> torch.Tensor:
        # In one of the runs 0, of which a quotient by itself is no number; in two others the ends of the dtype. What
        # follows from 0 may be undefined, too, and an end: in later runs each result is one of these by itself.
        seed = 0 if self.noise is None else self.noise.initial_seed()
        numbers = torch.randint(-98, 99, result.shape, generator=self.noise)
        if result.dtype.is_floating_point or result.dtype == torch.bool:
            return torch.where(bad, (0 * numbers if seed == 1 else numbers).to(result.dtype), result)
        limits = torch.iinfo(result.dtype)
        kinds = torch.tensor(seed) if seed <= _WIDE else torch.randint(4, (), generator=self.noise)
        for kind, number in ((1, 0), (2, limits.max), (3, limits.min)):
            numbers = torch.where(kinds == kind, number, numbers)
        return torch.where(bad, numbers.to(result.dtype), result)


def signed(result: torch.Tensor, negative: bool) -> torch.Tensor:
    """A result with zeros of one sign."""
    if not result.dtype.is_floating_point:
        return result
    return torch.where(result == 0, -0.0 if negative else 0.0, result).to(result.dtype)


def _wide(func: Any, args: Any, kwargs: Any) -> Any:
    """A function's results in the dtypes that they have, computed in 64 bits."""
    plain = func(*args, **kwargs)
    if kwargs.get("dtype", torch.float64) not in _UNITS:
        return plain
    rest = {key: value for key, value in kwargs.items() if key != "dtype"}
    wide = func(*_mapped(_doubled, args), **rest)
    if isinstance(plain, torch.Tensor):
        return wide.to(plain.dtype)
    return type(plain)(each.to(like.dtype) for each, like in zip(wide, plain, strict=True))


def _doubled(value: torch.Tensor) -> torch.Tensor:
    return value.double() if value.dtype in _UNITS else value


def _flushed(value: Any) -> Any:
    """As where subnormal numbers are 0."""
    if not isinstance(value, torch.Tensor) or value.dtype not in _UNITS:
        return value
    small = value.abs() < _SMALLEST
    return torch.where(small, 0 * value, value) if small.any() else value


def _kept(result: Any, operand: Any = None) -> Any:
    """As where no subnormal number counts as 0: torch's ``log1p`` of the smallest one is 0, and should be that one."""
    if not all(isinstance(each, torch.Tensor) and each.dtype in _UNITS for each in (result, operand)):
        return result
    if result.shape != operand.shape or not (small := (operand != 0) & (operand.abs() < _SMALLEST)).any():
        return result
    return torch.where(small & (result == 0), operand.to(result.dtype), result)


def _changes(func: Any) -> bool:
    """Whether a function writes to its first operand."""
    name = getattr(func, "__name__", "")
    return name.startswith("__i") or (name.endswith("_") and not name.endswith("__"))


def _is_view(result: Any, args: Any) -> bool:
    """Whether a result is memory of an operand: what is written to it is written to that."""
    if not isinstance(result, torch.Tensor) or not result.numel():
        return False
    memory = result.untyped_storage().data_ptr()
    return any(isinstance(arg, torch.Tensor) and arg.untyped_storage().data_ptr() == memory for arg in args)


def _layer_norm(x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    if not x.dtype.is_floating_point:
        raise TypeError
    return torch.nn.functional.layer_norm(x.double(), shape).to(x.dtype)


def _with_mean(spread: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """torch's own mean beside a variance is NaN where an element is infinite, and nowhere else is."""

    def both(x: torch.Tensor, dim: Any = None, *args: Any, keepdim: bool = False, **rest: Any) -> Any:
        return spread(x, dim, *args, keepdim=keepdim, **rest), torch.mean(x, dim, keepdim=keepdim)

    return both


def _element_by_element(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """torch's code of a function of two floats for one element: that for whole vectors takes contiguous ones alone."""

    def scalar(x: Any, y: Any, **rest: Any) -> Any:
        dtype = torch.result_type(x, y)
        if not dtype.is_floating_point:
            return function(x, y, **rest)
        return function(*(_strided(torch.as_tensor(each, dtype=dtype)) for each in (x, y)), **rest)

    return scalar


def _strided(x: torch.Tensor) -> torch.Tensor:
    return torch.stack([x, x], -1)[..., 0]


#: Rows of equal elements normalised are 0, not nearly 0. In torch's vectors a remainder is NaN where the quotient
#: overflows.
_EXACTLY: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("remainder", "mod"), _element_by_element(torch.remainder)),
    "rmod": lambda y, x: _element_by_element(torch.remainder)(x, y),
    "fmod": _element_by_element(torch.fmod),
    "layer_norm": _layer_norm,
    "var_mean": _with_mean(torch.var),
    "std_mean": _with_mean(torch.std),
}


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, tuple | list):
        parts = tuple(_mapped(function, item) for item in value)
        return type(value)(parts) if hasattr(value, "n_fields") else parts  # pyright: ignore[reportCallIssue]
    return value
