"""``hl.atomic_*``: updates of host tensors that cells may make at the same time.

The value is converted to the target's dtype and broadcast to the block that the index list addresses. A block over a
dimension of 1 updates its one element once a lane; so do the dimensions that a value has more than that block, or wider
ones, whose lanes are combined first.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from xdsl.ir import Operation, SSAValue

from kopt.dialects import atomic, tile
from kopt.dialects.tile.reductions import COMBINERS
from kopt.frontend.dtypes import element_type
from kopt.frontend.indexing import Address, drop_ones, resolve, stored, to_address, to_user, wide_block, without_moving
from kopt.frontend.ops.reductions import combine
from kopt.frontend.ops.rules import convert, truth
from kopt.frontend.run_time_scalars import OpenNumber
from kopt.frontend.state import current, unsupported
from kopt.frontend.values import DeviceTensor, Undefined, describe, full_tensor, is_number

#: The kinds that combine bits, and those that need an order or a sum.
_BITS = ("and", "or", "xor")
_ARITHMETIC = ("add", "max", "min")


def _rmw(kind: str, target: Any, index: Any, value: Any, sem: str = "relaxed") -> Any:
    """``hl.atomic_add`` and the like; gives the previous elements."""
    update = _Update(f"hl.atomic_{kind}", target, index, sem)
    dtype = update.array.dtype
    if kind in _BITS and dtype.is_floating_point:
        unsupported(f"hl.atomic_{kind} needs a target of integers or booleans, found {dtype}", id="atomic")
    if kind in _ARITHMETIC and dtype == torch.bool:
        unsupported(
            f"hl.atomic_{kind} needs a target of numbers, found {dtype}", "use atomic_or or atomic_and", id="atomic"
        )
    make = partial(atomic.RmwOp, kind, ordering=sem, returns_previous=True)
    together = update.combined(kind, value)
    previous = update.emit(make, together)
    if together is value:
        return previous
    return Undefined(f"the result of hl.atomic_{kind}", "several lanes update one element: store the lanes one by one")


def _cas(target: Any, index: Any, expected: Any, value: Any, sem: str = "relaxed") -> DeviceTensor:
    """``hl.atomic_cas``: gives the previous elements."""
    update = _Update("hl.atomic_cas", target, index, sem)
    return update.emit(partial(atomic.CasOp, ordering=sem), expected, value)


class _Update:
    """One call: its target and the block that it addresses."""

    def __init__(self, name: str, target: Any, index: Any, sem: Any):
        self.name = name
        if not isinstance(target, torch.Tensor):
            unsupported(
                f"{name} needs a host tensor, found {describe(target)}",
                "values in registers need no atomics",
                id="operand",
            )
        if not current().on_device:
            unsupported(f"{name} works inside device loops", id="outside-device-loop")
        if sem not in atomic.ORDERINGS:
            unsupported(f"{name} knows the orderings {', '.join(atomic.ORDERINGS)}, found {sem!r}", id="atomic")
        self.array = current().host.meta(target)
        shape = tuple(self.array.shape)
        items, self.mask = without_moving(shape, index)
        self.address: Address = resolve(shape, _every_lane(items, shape))

    def emit(self, make: Callable[..., Operation], *values: Any) -> DeviceTensor:
        """The op that ``make`` gives for operands, memory and index list; its result as the kernel sees it."""
        memory = current().host.written(self.array)
        operands = [self._operand(value) for value in values]
        mask = None if self.mask is None else to_address(truth(self.mask), self.address)
        previous = current().emit(make(*operands, memory, self.address.entries, mask))
        return to_user(DeviceTensor(previous), self.address)

    def combined(self, kind: str, value: Any) -> Any:
        """A value without the lanes that the addressed block does not have: all of them update one element."""
        dims = self.address.user_dims()
        if is_number(value) or kind not in COMBINERS:
            return value
        tensor = drop_ones(convert(stored(value), self.array.dtype), len(dims))
        met = combine(kind, tensor, range(tensor.rank - len(dims)))
        pairs = zip(met.dims, dims[len(dims) - met.rank :], strict=True)
        narrow = [n for n, (mine, its) in enumerate(pairs) if mine.size.data > its.size.data == 1]
        met = combine(kind, met, narrow, keepdim=True)
        return value if met is tensor else met

    def _operand(self, value: Any) -> SSAValue:
        """A number or tensor over the addressed block, in the target's dtype."""
        dtype = self.array.dtype
        if is_number(value):
            return full_tensor(_number(value, dtype), self.address.dims, dtype).ssa
        tensor = drop_ones(convert(stored(value), dtype), len(self.address.user_dims()))
        return to_address(tensor, self.address)


def _number(value: Any, dtype: torch.dtype) -> Any:
    """A Python number as torch converts it to a dtype."""
    if type(value) is OpenNumber and (dtype.is_floating_point or value.kind is int):
        return value
    if dtype == torch.bool:
        return bool(value)
    return float(value) if dtype.is_floating_point else int(value)


def _every_lane(items: list[Any], shape: tuple[int, ...]) -> list[Any]:
    """Blocks over dimensions of 1 as element 0 for each lane: loads repeat such an element, updates meet in it."""
    sizes = iter(shape)
    out: list[Any] = []
    for item in items:
        block = None if item is None else wide_block(item, next(sizes, 0))
        if block is not None:
            item = DeviceTensor(current().emit(tile.FullOp(0, tile.TileType([block.dim], element_type(torch.int32)))))
        out.append(item)
    return out


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"atomic_{kind}": partial(_rmw, kind) for kind in atomic.KINDS},
    "atomic_cas": _cas,
}
