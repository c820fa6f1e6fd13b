"""What the functions of the kernel language do while a kernel is imported, and how they are recognised.

They are found by object identity: those of `kopt.language`, and those of ``helion.language`` where it is loaded.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, NoReturn

import torch

from kopt import language
from kopt.building.blocks import PROVISIONAL, provisional_size
from kopt.dialects.tile import EVICTIONS
from kopt.errors import ConfigError
from kopt.frontend import atomics, inline_code, packed_numbers, remote_copies, scaled_products
from kopt.frontend.block_size import BlockSize
from kopt.frontend.builtin_calls import cdiv, next_power_of_2
from kopt.frontend.combining import associative_scan, reduce_call, torch_functions
from kopt.frontend.indexing import load, store
from kopt.frontend.lane_counts import lanes_of_registered
from kopt.frontend.loops.device import LoopDim, LoopSpec
from kopt.frontend.open_shapes import multiple_of
from kopt.frontend.ops.creation import arange as torch_arange
from kopt.frontend.ops.creation import full, lane_numbers
from kopt.frontend.ops.joining import stack
from kopt.frontend.ops.matrices import dot
from kopt.frontend.ops.scalars import with_scalars
from kopt.frontend.ops.scans import scan
from kopt.frontend.ops.slicing import select
from kopt.frontend.random_calls import FUNCTIONS as RANDOM
from kopt.frontend.stacks import StackTensor, stacktensor_like
from kopt.frontend.state import current, unsupported
from kopt.frontend.subscripts import subscript
from kopt.frontend.tracer import BlockInfo
from kopt.frontend.values import DeviceTensor, TileRange, as_tensor, describe, is_device
from kopt.ir.widths import next_power_of_two
from kopt.language.unsupported import UNSUPPORTED
from kopt.open_extents import check_known, is_open

#: How many programs a kernel that asks for the number of processors is told to start.
CORES = 8
#: What torch says of a device: the number of processors, by the names of its kinds.
DEVICE = SimpleNamespace(multi_processor_count=CORES, gpu_subslice_count=CORES)


def tile(begin_or_end: Any, end_or_none: Any = None, /, block_size: Any = None) -> LoopSpec:
    """``hl.tile``."""
    walks, unpack = _walks(begin_or_end, end_or_none, block_size, "block_size")
    rank = len(walks)
    on_grid = not current().on_device
    spec = [
        LoopDim(lower, upper, *_block(lower, upper, size, axis, rank, on_grid))
        for axis, (lower, upper, size) in enumerate(walks)
    ]
    return LoopSpec(spec, unpack)


def _walks(begin_or_end: Any, end: Any, sizes: Any, what: str) -> tuple[list[tuple[Any, Any, Any]], bool]:
    """Lower and upper bound and block size (or step) of each dimension; whether it was one number."""
    begin, end = (None, begin_or_end) if end is None else (begin_or_end, end)
    unpack = not isinstance(end, list | tuple | torch.Size)
    ends = [end] if unpack else list(end)
    begins = [0] * len(ends) if begin is None else [begin] if unpack else list(begin)
    each = [sizes] if unpack and not isinstance(sizes, list | tuple) else list(sizes or [None] * len(ends))
    if unpack and len(ends) != 1 or not len(begins) == len(each) == len(ends):
        unsupported(
            f"begin, end and {what} need as many entries, found {len(begins)}, {len(ends)}, {len(each)}", id="shapes"
        )
    for bound in (*begins, *ends):
        if isinstance(bound, TileRange):
            unsupported("a tile is no bound of a loop", "use tile.begin and tile.end", id="loop-bounds")
        if isinstance(bound, float):
            unsupported(f"loop bounds are integers, found {bound}", id="loop-bounds")
    return [(*_forwards(*bounds), size) for *bounds, size in zip(begins, ends, each, strict=True)], unpack


def _forwards(begin: Any, end: Any) -> tuple[Any, Any]:
    """The bounds of a loop; those of one that ends before it begins are of one that visits nothing, as in Python."""
    check_known([begin])
    if is_open(end):
        return (begin, end) if isinstance(begin, int) and begin == 0 else end.needed()
    backwards = isinstance(begin, int) and isinstance(end, int) and int(end) < int(begin)
    return (0, 0) if backwards else (begin, end)


def _block(lower: Any, upper: Any, size: Any, axis: int, rank: int, on_grid: bool) -> tuple[int, BlockInfo | None]:
    """The block size of one dimension, and what registered it."""
    known = isinstance(lower, int) and isinstance(upper, int) and not is_open(upper)
    extent = int(upper) - int(lower) if known else None
    if size is None:
        default = lambda: provisional_size(extent, axis, rank)  # noqa: E731
        info = current().new_block(default, extent=extent, axis=axis, rank=rank, on_grid=on_grid)
        return info.size, info
    if isinstance(size, TileRange):
        size = size.block_size
    if isinstance(size, BlockSize) and size.block is not None:
        if size.block.extent is None:
            size.block.extent = extent
        return size.lanes, size.block
    if not isinstance(size, int) or size < 1:
        unsupported("a block size is a positive number known while the kernel is imported", id="not-known-at-import")
    return int(size), None


def grid(begin_or_end: Any, end_or_none: Any = None, /, step: Any = None) -> LoopSpec:
    """``hl.grid``: blocks of one element (of ``step`` elements), seen as their first number."""
    walks, unpack = _walks(_value(begin_or_end), _value(end_or_none), step, "step")
    spec = [LoopDim(lower, upper, int(size or 1), None, scalar=True) for lower, upper, size in walks]
    return LoopSpec(spec, unpack)


def _value(value: Any) -> Any:
    return value.value if type(value).__name__ in ("ConstExpr", "constexpr") else value


def jagged_tile(parent: Any, /, block_size: Any = None) -> LoopSpec:
    """``hl.jagged_tile``: a block of a range whose end each lane of ``parent`` tells."""
    advice = "load the lengths of a tile of items: hl.jagged_tile(lengths[tile])"
    if not isinstance(parent, DeviceTensor):
        unsupported(
            f"hl.jagged_tile needs the lengths of items in a device loop, found {describe(parent)}", advice, id="jagged"
        )
    if parent.dtype.is_floating_point or parent.dtype == torch.bool:
        unsupported(f"lengths are integers, found {describe(parent)}", id="jagged")
    if not parent.rank:
        unsupported("hl.jagged_tile needs a tile of lengths, found one number", "use hl.tile(0, length)", id="jagged")
    if not all(dim.tag.data in current().ranges for dim in parent.dims):
        unsupported(
            f"every dimension of the lengths must be a tile of a loop around, found {describe(parent)}",
            advice,
            id="jagged",
        )
    return LoopSpec([LoopDim(0, None, *_block(0, None, block_size, 0, 1, False), lengths=parent)], True)


def static_range(begin_or_end: Any, end_or_none: Any = None, /, step: Any = 1) -> range:
    """``hl.static_range``: Python's range."""
    bounds = (0, begin_or_end) if end_or_none is None else (begin_or_end, end_or_none)
    if any(is_device(b) for b in (*bounds, step)):
        unsupported(
            "hl.static_range needs bounds that are known while the kernel is imported",
            "use hl.grid",
            id="not-known-at-import",
        )
    return range(int(bounds[0]), int(bounds[1]), int(step or 1))


def register_block_size(min_or_max: int, max_or_none: int | None = None, /) -> BlockSize:
    """``hl.register_block_size``."""
    low, high = (1, min_or_max) if max_or_none is None else (min_or_max, max_or_none)
    default = lambda: max(int(low), min(next_power_of_two(max(1, int(high))), PROVISIONAL))  # noqa: E731
    high = next_power_of_two(max(1, int(high)))
    info = current().new_block(default, low=int(low), high=high, extent=None, observed=True, sized=True)
    size = BlockSize(info.size, "", info)
    size.length = partial(lanes_of_registered, size)
    return size


def register_tunable(name: str, fragment: Any) -> Any:
    """``hl.register_tunable``: the configuration's value, else the fragment's default."""
    tracer = current()
    if is_device(fragment):
        raise ConfigError(f"the tunable '{name}' must be a plain value", id="config-value")
    if name in tracer.given_tunables:
        value = tracer.given_tunables[name]
    else:
        default = getattr(fragment, "default", fragment)
        value = default() if callable(default) else default
    tracer.tunables[name] = value
    tracer.choices[name] = _choices(fragment)
    return value


#: Values of a tunable that are looked at, at most.
_MOST_CHOICES = 16


def _choices(fragment: Any) -> list[Any]:
    """What a fragment lets a tunable be, Helion's or one of its shape; nothing where it says nothing of that."""
    search = getattr(fragment, "search_values", None)
    found: Any = search(_MOST_CHOICES) if callable(search) else getattr(fragment, "choices", None)
    if found is None and isinstance(low := getattr(fragment, "low", None), int):
        sizes = [low << n for n in range(_MOST_CHOICES)] if low > 0 else []
        found = [size for size in sizes if size <= getattr(fragment, "high", low)]
    return list(found or ())


def specialize(value: Any) -> Any:
    """``hl.specialize``: the value itself; extents that differ from call to call are compiled each."""
    check_known(value if isinstance(value, tuple | list) else [value])
    return tuple(value) if isinstance(value, torch.Size) else value


def constexpr(value: Any) -> Any:
    """``hl.constexpr(value)`` in a kernel is the value."""
    return value


def zeros(shape: Any, dtype: torch.dtype = torch.float32, device: Any = None) -> DeviceTensor:
    """``hl.zeros``."""
    return full(shape, 0, dtype)


def filled(shape: Any, value: Any, dtype: torch.dtype = torch.float32, device: Any = None) -> DeviceTensor:
    """``hl.full``."""
    return full(shape, value, dtype)


def arange(*bounds: Any, dtype: torch.dtype | None = None, device: Any = None, **kwargs: Any) -> DeviceTensor:
    """``hl.arange``: of a tile or block size too, and from device numbers."""
    bounds = (*bounds, *(kwargs[name] for name in ("start", "end", "step") if name in kwargs))
    if len(bounds) == 1:
        size = bounds[0].block_size if isinstance(bounds[0], TileRange) else bounds[0]
        if is_device(size):
            unsupported("hl.arange has a length that is known while the kernel is imported", id="not-known-at-import")
        return lane_numbers(range(size.lanes if isinstance(size, BlockSize) else int(size)), size, dtype)
    return torch_arange(*bounds, dtype=dtype or torch.int32)


def load_call(tensor: Any, index: Any, extra_mask: Any = None, eviction_policy: str | None = None) -> DeviceTensor:
    """``hl.load``."""
    if eviction_policy not in (None, "", *EVICTIONS):
        unsupported(f"eviction_policy is one of {', '.join(EVICTIONS)}, found {eviction_policy!r}", id="dtype")
    if isinstance(tensor, StackTensor):
        return tensor.load(index, extra_mask, eviction_policy)
    return load(_array(tensor, "hl.load"), index, extra_mask, eviction_policy)


def store_call(tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
    """``hl.store``."""
    if isinstance(tensor, StackTensor):
        return tensor.store(index, value, extra_mask)
    store(_array(tensor, "hl.store"), index, value, extra_mask)


def _array(tensor: Any, what: str) -> torch.Tensor:
    if not isinstance(tensor, torch.Tensor):
        unsupported(f"{what} needs a host tensor", id="operand")
    if not current().on_device:
        unsupported(f"{what} works inside device loops", id="outside-device-loop")
    return current().host.meta(tensor)


def cumsum(input_tensor: Any, dim: int, reverse: bool = False) -> DeviceTensor:
    """``hl.cumsum``: in the input's dtype."""
    value = as_tensor(input_tensor)
    return scan("add", value, dim, value.dtype, reverse)


def cumprod(input_tensor: Any, dim: int, reverse: bool = False) -> DeviceTensor:
    """``hl.cumprod``: in the input's dtype."""
    value = as_tensor(input_tensor)
    return scan("mul", value, dim, value.dtype, reverse)


def split(tensor: Any) -> tuple[DeviceTensor, DeviceTensor]:
    """``hl.split``."""
    value = as_tensor(tensor)
    if value.tile_type.shape[-1:] != (2,):
        unsupported("hl.split needs a last dimension of 2", id="shapes")
    return select(value, -1, 0), select(value, -1, 1)


def join(tensor0: Any, tensor1: Any) -> DeviceTensor:
    """``hl.join``."""
    return stack([as_tensor(tensor0), as_tensor(tensor1)], -1)


def device_print(prefix: str, *values: Any) -> None:
    """``hl.device_print`` prints nothing on these targets."""


def barrier() -> None:
    """``hl.barrier`` between top-level loops: they are launched in order anyway."""
    if current().on_device:
        unsupported("hl.barrier inside a device loop is not supported", "put it between top-level loops")


def _attribute(name: str) -> Callable[[Any], Any]:
    def read(tile: Any) -> Any:
        if not isinstance(tile, TileRange):
            unsupported(f"hl.tile_{name} needs a tile", id="operand")
        return getattr(tile, name)

    return read


def _later(name: str, advice: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        unsupported(f"hl.{name} is not supported yet", advice)

    return refuse


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "tile": tile,
    "grid": grid,
    "jagged_tile": jagged_tile,
    "static_range": static_range,
    "register_block_size": register_block_size,
    "register_tunable": register_tunable,
    "specialize": specialize,
    "constexpr": constexpr,
    "zeros": zeros,
    "full": filled,
    "arange": arange,
    "load": load_call,
    "store": store_call,
    "dot": dot,
    "reduce": reduce_call,
    "associative_scan": associative_scan,
    **with_scalars({"cumsum": cumsum, "cumprod": cumprod}),
    "subscript": subscript,
    "split": split,
    "join": join,
    "stacktensor_like": stacktensor_like,
    "device_print": device_print,
    "barrier": barrier,
    "cdiv": cdiv,
    "multiple_of": multiple_of,
    "next_power_of_2": next_power_of_2,
    **atomics.FUNCTIONS,
    **inline_code.FUNCTIONS,
    **packed_numbers.FUNCTIONS,
    **scaled_products.FUNCTIONS,
    **remote_copies.FUNCTIONS,
    **RANDOM,
    **{f"tile_{name}": _attribute(name) for name in ("index", "begin", "end", "block_size", "id", "count")},
    **{name: _later(name, advice) for name, advice in UNSUPPORTED.items()},
}


def table() -> dict[Any, Callable[..., Any]]:
    """By function object of `kopt.language`, and of torch where the language has a function of torch's."""
    own = {getattr(language, name): f for name, f in _FUNCTIONS.items() if hasattr(language, name)}
    devices = {module.get_device_properties: lambda *_, **__: DEVICE for module in (torch.cuda, torch.xpu)}
    return own | torch_functions() | devices


def helion_table() -> dict[Any, Callable[..., Any]]:
    """By function object of ``helion.language`` and ``helion``, which are loaded."""
    theirs = sys.modules["helion.language"]
    found = {getattr(theirs, name): f for name, f in _FUNCTIONS.items() if hasattr(theirs, name)}
    package: Any = sys.modules["helion"]
    found |= {getattr(package, n): _FUNCTIONS[n] for n in ("cdiv", "next_power_of_2") if hasattr(package, n)}
    cores = getattr(package.runtime, "get_num_sm", None)
    return found if cores is None else found | {cores: lambda *_, **__: CORES}
