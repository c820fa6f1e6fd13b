"""``hl.atomic_*``: updates of host tensors, lane after lane, each giving what was there before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from kopt.eager.blocks import Block, block
from kopt.eager.indexing import fitted
from kopt.eager.places import Places, as_block, places_of
from kopt.eager.state import current, refuse
from kopt.eager.storage import addresses, bits, flat

_ORDERINGS = ("relaxed", "acquire", "release", "acq_rel")
_UPDATES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": torch.add,
    "and": torch.bitwise_and,
    "or": torch.bitwise_or,
    "xor": torch.bitwise_xor,
    "max": torch.maximum,
    "min": torch.minimum,
    "xchg": lambda old, new: new,
}


def _rmw(kind: str, target: Any, index: Any, value: Any, sem: str = "relaxed") -> Block:
    places = _checked(f"hl.atomic_{kind}", target, index, sem)
    if kind in ("and", "or", "xor") and target.dtype.is_floating_point:
        refuse(f"hl.atomic_{kind} needs a target of integers or booleans, found {target.dtype}", id="atomic")
    if kind in ("add", "max", "min") and target.dtype == torch.bool:
        refuse(
            f"hl.atomic_{kind} needs a target of numbers, found {target.dtype}",
            "use atomic_or or atomic_and",
            id="atomic",
        )
    return _updated(target, places, [value], _UPDATES[kind], sums=kind == "add")


def _cas(target: Any, index: Any, expected: Any, value: Any, sem: str = "relaxed") -> Block:
    """``hl.atomic_cas`` compares bits."""
    places = _checked("hl.atomic_cas", target, index, sem)
    return _updated(target, places, [expected, value], lambda old, it, new: torch.where(_same(old, it), new, old))


def _same(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    if not one.dtype.is_floating_point:
        return one == other
    whole = {4: torch.int32, 8: torch.int64}[one.dtype.itemsize]
    return one.view(whole) == other.view(whole)


def _checked(name: str, target: Any, index: Any, sem: Any) -> Places:
    if not isinstance(target, torch.Tensor) or isinstance(target, Block):
        refuse(f"{name} needs a host tensor", "values in registers need no atomics", id="operand")
    if not current().on_device:
        refuse(f"{name} works inside device loops", id="outside-device-loop")
    if sem not in _ORDERINGS:
        refuse(f"{name} knows the orderings {', '.join(_ORDERINGS)}, found {sem!r}", id="atomic")
    if target.dtype.is_complex:
        refuse(f"{name} needs a target of real numbers, found {target.dtype}", id="atomic")
    return places_of(target, index)


def _updated(
    target: torch.Tensor, places: Places, values: list[Any], update: Callable[..., torch.Tensor], sums: bool = False
) -> Block:
    """Updates in turns, in none of which an element occurs twice."""
    parts = [fitted(as_block(value, target), places).to(target.dtype) for value in values]
    shape = torch.broadcast_shapes(places.shape, *(part.shape for part in parts))
    active = places.active(None)
    current().conflicts.update(target, places.index, active)
    wanted = active.expand(shape).reshape(-1)
    previous = torch.zeros_like(wanted, dtype=bits(target).dtype)
    lanes = wanted.nonzero().reshape(-1)
    if target.numel() and len(lanes):
        index = [each.expand(shape).reshape(-1)[lanes] for each in places.index] or [torch.zeros_like(lanes)]
        where = addresses(target if target.ndim else target.unsqueeze(0), index)
        memory = _Memory(flat(target), sums)
        flats = [bits(part.expand(shape).contiguous()).reshape(-1)[lanes] for part in parts]
        for turn in _turns(where):
            previous[lanes[turn]] = memory.bits[where[turn]]
            new = update(memory.numbers(where[turn]), *(memory.wide(each[turn]) for each in flats))
            memory.put(where[turn], new)
    axes = places.axes if tuple(shape) == places.shape else None
    return block(previous.view(target.dtype).reshape(shape), axes)


class _Memory:
    """Flat memory, and its elements as numbers; ``sums`` keeps those of narrow floats in f32."""

    def __init__(self, memory: torch.Tensor, sums: bool):
        self.memory, self.bits = memory, bits(memory)
        self.dtype = memory.dtype
        narrow = self.dtype.is_floating_point and self.dtype.itemsize < 4
        self.sums = self._sums() if sums and narrow else None

    def _sums(self) -> torch.Tensor:
        key = self.memory.data_ptr(), len(self.memory), self.dtype
        kept = current().sums
        if key not in kept:
            kept[key] = self.memory.float()
        return kept[key]

    def wide(self, elements: torch.Tensor) -> torch.Tensor:
        """Elements, given by their bits, as numbers."""
        value = elements.view(self.dtype)
        if self.dtype.is_floating_point and self.dtype.itemsize < 4:
            return value.float()
        return value.to(torch.int64) if self.dtype in (torch.uint16, torch.uint32) else elements

    def numbers(self, where: torch.Tensor) -> torch.Tensor:
        """What is there: of sums what they were before they were rounded, unless someone else wrote since."""
        there = self.wide(self.bits[where])
        if self.sums is None:
            return there
        same = self.sums[where].to(self.dtype).float() == there
        return torch.where(same, self.sums[where], there)

    def put(self, where: torch.Tensor, new: torch.Tensor) -> None:
        """Writes elements."""
        if self.sums is not None:
            self.sums[where] = new
        own = new if new.dtype == self.bits.dtype else new.to(self.dtype)
        self.bits[where] = bits(own) if own.dtype == self.dtype else own


def _turns(where: torch.Tensor) -> Iterator[torch.Tensor]:
    """The numbers of lanes in turns: in none an element twice, and the lanes of an element in order."""
    order = torch.argsort(where, stable=True)
    _, counts = torch.unique_consecutive(where[order], return_counts=True)
    starts = torch.repeat_interleave(counts.cumsum(0) - counts, counts)
    rank = torch.arange(len(order), device=order.device) - starts
    for turn in range(int(counts.max())):
        yield order[rank == turn]


ATOMICS: dict[str, Callable[..., Any]] = {
    **{f"atomic_{kind}": partial(_rmw, kind) for kind in _UPDATES},
    "atomic_cas": _cas,
}
