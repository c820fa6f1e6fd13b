"""Kernels of the Helion language run by torch itself, block by block: the judge of what they mean.

Tiles are slices that end where the tensor does, so no lane is ever outside. Nothing of kopt is used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_UNITS = {torch.float64: 2**-52, torch.float32: 2**-23, torch.bfloat16: 2**-8, torch.float16: 2**-11}
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
    contiguous detach getitem setitem randn get __get__ invert pos
    """.split()
)
#: Which add many terms: how far they may differ depends on the terms, not on the sum.
_SUMS = frozenset(
    "sum mean var std var_mean std_mean norm logsumexp softmax log_softmax normalize layer_norm cumsum cumprod prod "
    "logcumsumexp matmul mm bmm mv dot inner addmm baddbmm linear einsum".split()
)
_SHIFTS = frozenset(("bitwise_left_shift", "bitwise_right_shift", "lshift", "rshift"))


class Tile:
    """One block of a loop."""

    def __init__(self, begin: int, end: int, block_size: int, id: int, count: int):
        self.begin, self.end, self.block_size, self.id, self.count = begin, end, block_size, id, count

    @property
    def index(self) -> torch.Tensor:
        """The numbers of its elements."""
        return torch.arange(self.begin, self.end, dtype=torch.int32)


class Eager(TorchFunctionMode):
    """Lets tensors be indexed by tiles.

    With ``noise`` every result that rounds is moved by an ulp or so, and what torch leaves undefined is a random
    number: what differs from run to run does not depend on the kernel alone.
    """

    def __init__(self, noise: torch.Generator | None = None):
        super().__init__()
        self.noise = noise

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", "").strip("_")
        if name == "getitem":
            return args[0][_plain(args[1])]
        if name == "setitem":
            args[0][_plain(args[1])] = args[2]
            return None
        func = _EXACTLY.get(name, func)
        if name == "arange" and not any(isinstance(each, float) for each in args):
            kwargs = {"dtype": torch.int32, **(kwargs or {})}  # like the numbers of tiles
        if self.noise is None:
            return func(*args, **(kwargs or {}))
        if name in _SUMS:
            args = _mapped(self._moved, args)
        result = func(*args, **(kwargs or {}))
        if undefined := _undefined(name, args, result):
            return undefined(self._any)
        return result if name in _EXACT else _mapped(self._moved, result)

    def _moved(self, value: Any) -> Any:
        unit = _UNITS.get(value.dtype)
        if unit is None:
            return value
        steps = torch.randint(-2, 3, value.shape, generator=self.noise)
        return (value.double() * (1 + steps * unit)).to(value.dtype)

    def _any(self, result: torch.Tensor, bad: torch.Tensor) -> torch.Tensor:
        return torch.where(bad, torch.randint(-99, 99, result.shape, generator=self.noise).to(result.dtype), result)


def _sort(x: torch.Tensor, dim: int = -1, descending: bool = False, stable: bool = True) -> Any:
    return torch.sort(x, dim=dim, descending=descending, stable=True)


def _topk(x: torch.Tensor, k: int, dim: int = -1) -> Any:
    return [part.narrow(dim, 0, k) for part in _sort(x, dim, True)]


def _kthvalue(x: torch.Tensor, k: int, dim: int = -1) -> Any:
    return [part.select(dim, k - 1) for part in _sort(x, dim)]


def _layer_norm(x: torch.Tensor, shape: Sequence[int]) -> torch.Tensor:
    if not x.dtype.is_floating_point:
        raise TypeError
    return torch.nn.functional.layer_norm(x.double(), shape).to(x.dtype)


#: What torch leaves open: of equal elements the first ones; and rows of equal elements normalised are 0, not nearly 0.
_EXACTLY: dict[str, Callable[..., Any]] = {
    "layer_norm": _layer_norm,
    "sort": _sort,
    "argsort": lambda x, dim=-1, descending=False, stable=True: _sort(x, dim, descending)[1],
    "topk": _topk,
    "kthvalue": _kthvalue,
}


def _undefined(name: str, args: Any, result: Any) -> Callable[..., torch.Tensor] | None:
    """Casts of floats that no integer holds, signs of what is no number, and shifts by more than there are bits."""
    if not isinstance(result, torch.Tensor) or not args or not isinstance(args[0], torch.Tensor):
        return None
    source = args[0]
    if name in _SHIFTS and result.dtype != torch.bool:
        amount = torch.as_tensor(args[1])
        return lambda any_of: any_of(result, (amount < 0) | (amount >= result.dtype.itemsize * 8))
    if name == "signbit":
        return lambda any_of: any_of(result, source.isnan())
    if source.dtype.is_floating_point and _is_integer(result.dtype) and source.shape == result.shape:
        limits, held = torch.iinfo(result.dtype), source.double().trunc()
        return lambda any_of: any_of(result, ~((held >= limits.min) & (held <= limits.max)))
    return None


def _is_integer(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and dtype != torch.bool


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return function(value)
    if isinstance(value, tuple | list):
        return tuple(_mapped(function, item) for item in value)
    return value


def _plain(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_plain, index))
    return slice(index.begin, index.end) if isinstance(index, Tile) else index


class Language:
    """``kopt.language`` for torch."""

    @staticmethod
    def tile(begin: Any, end: Any = None, block_size: Any = None) -> Iterator[Any]:
        """One dimension, or several at once."""
        if end is None:
            begin, end = ([0] * len(begin), begin) if isinstance(begin, Sequence) else (0, begin)
        if not isinstance(begin, Sequence):
            return _blocks(int(begin), int(end), block_size)
        return itertools.product(*(list(_blocks(*one)) for one in zip(begin, end, block_size, strict=True)))

    @staticmethod
    def grid(begin: Any, end: Any = None) -> Iterator[int]:
        """Element by element."""
        return iter(range(int(begin)) if end is None else range(int(begin), int(end)))

    static_range = staticmethod(range)

    @staticmethod
    def full(shape: Sequence[Any], value: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of one value."""
        sizes = [size.end - size.begin if isinstance(size, Tile) else size for size in shape]
        return torch.full(sizes, value).to(dtype)

    @staticmethod
    def zeros(shape: Sequence[Any], dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """A tensor of zeros."""
        return Language.full(shape, 0, dtype)

    @staticmethod
    def load(tensor: torch.Tensor, index: Sequence[Any], extra_mask: torch.Tensor | None = None) -> torch.Tensor:
        """Elements where the mask holds, 0 elsewhere."""
        value = tensor[tuple(index)]
        return value if extra_mask is None else torch.where(extra_mask, value, 0).to(value.dtype)

    @staticmethod
    def store(tensor: torch.Tensor, index: Sequence[Any], value: Any, extra_mask: torch.Tensor | None = None) -> None:
        """Elements where the mask holds."""
        value = torch.as_tensor(value).to(tensor.dtype)
        tensor[tuple(index)] = value if extra_mask is None else torch.where(extra_mask, value, tensor[tuple(index)])

    @staticmethod
    def atomic_add(tensor: torch.Tensor, index: Sequence[Any], value: Any) -> None:
        """Adds to elements."""
        tensor[tuple(index)] = tensor[tuple(index)] + torch.as_tensor(value).to(tensor.dtype)

    @staticmethod
    def cumsum(tensor: torch.Tensor, dim: int, reverse: bool = False) -> torch.Tensor:
        """Running sums, from the end too."""
        return tensor.flip(dim).cumsum(dim).flip(dim) if reverse else tensor.cumsum(dim)


def _blocks(begin: int, end: int, size: int) -> Iterator[Tile]:
    count = max(0, math.ceil((end - begin) / size))
    for id in range(count):
        yield Tile(begin + id * size, min(begin + (id + 1) * size, end), size, id, count)
