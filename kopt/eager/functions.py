"""What the functions of the language do while a kernel runs as Python: one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch

from kopt.eager import tiles
from kopt.eager.atomics import ATOMICS
from kopt.eager.blocks import Block, axes_of, block
from kopt.eager.broadcasting import together
from kopt.eager.combining import COMBINING
from kopt.eager.creation import arange, hl_full, hl_zeros
from kopt.eager.indexing import load, store, subscript
from kopt.eager.packed import PACKED
from kopt.eager.products import dot, dot_scaled
from kopt.eager.random import RANDOM
from kopt.eager.stacks import StackTensor, stacktensor_like
from kopt.eager.state import WithoutMeaning, current, refuse
from kopt.eager.tiles import Tile
from kopt.language.unsupported import PALLAS_ONLY, TRITON_ONLY, UNSUPPORTED


def register_tunable(name: str, fragment: Any) -> Any:
    """``hl.register_tunable``: the configuration's value, else the fragment's default."""
    default = getattr(fragment, "default", fragment)
    return current().tunable(name, default() if callable(default) else default)


def specialize(value: Any) -> Any:
    """``hl.specialize``: the value itself."""
    return tuple(value) if isinstance(value, torch.Size) else value


def load_call(tensor: Any, index: Any, extra_mask: Any = None, eviction_policy: Any = None) -> Block:
    """``hl.load``."""
    return tensor.load(index, extra_mask) if isinstance(tensor, StackTensor) else load(tensor, index, extra_mask)


def store_call(tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
    """``hl.store``."""
    if isinstance(tensor, StackTensor):
        return tensor.store(index, value, extra_mask)
    store(tensor, index, value, extra_mask)


def split(tensor: Any) -> tuple[Block, Block]:
    """``hl.split``."""
    if tensor.shape[-1:] != (2,):
        refuse("hl.split needs a last dimension of 2", id="shapes")
    axes = axes_of(tensor)[:-1]
    return block(tensor.select(-1, 0), axes), block(tensor.select(-1, 1), axes)


def join(tensor0: Any, tensor1: Any) -> Block:
    """``hl.join``."""
    values = [value.index if isinstance(value, Tile) else value for value in (tensor0, tensor1)]
    placed, axes = together(values)
    return block(torch.stack(torch.broadcast_tensors(*placed), -1), [*axes, None])


def barrier() -> None:
    """``hl.barrier`` between top-level loops, which run in order anyway."""
    if current().on_device:
        refuse("hl.barrier inside a device loop is not supported", "put it between top-level loops")


def device_print(prefix: str, *values: Any) -> None:
    """``hl.device_print`` prints nothing, as on the other targets of this machine."""


def _attribute(name: str) -> Callable[[Any], Any]:
    def read(tile: Any) -> Any:
        if not isinstance(tile, Tile):
            refuse(f"hl.tile_{name} needs a tile", id="operand")
        return getattr(tile, name)

    return read


def _refused(name: str, why: str) -> Callable[..., NoReturn]:
    def function(*_: Any, **__: Any) -> NoReturn:
        raise WithoutMeaning(f"the target 'eager' has no hl.{name}: {why}")

    return function


#: The functions that have no meaning in Python, and why.
REFUSED = {
    **dict.fromkeys(TRITON_ONLY, "its code runs on a GPU only"),
    **dict.fromkeys(PALLAS_ONLY, "one process cannot be several ranks"),
    **{name: f"no target has it; {advice}" for name, advice in UNSUPPORTED.items()},
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(tiles, name) for name in ("tile", "grid", "jagged_tile", "static_range", "register_block_size")},
    **{f"tile_{name}": _attribute(name) for name in ("index", "begin", "end", "block_size", "id", "count")},
    "register_tunable": register_tunable,
    "specialize": specialize,
    "zeros": hl_zeros,
    "full": hl_full,
    "arange": arange,
    "load": load_call,
    "store": store_call,
    "dot": dot,
    "dot_scaled": dot_scaled,
    "subscript": subscript,
    "split": split,
    "join": join,
    "stacktensor_like": stacktensor_like,
    "device_print": device_print,
    "barrier": barrier,
    **ATOMICS,
    **COMBINING,
    **PACKED,
    **RANDOM,
    **{name: _refused(name, why) for name, why in REFUSED.items()},
}
