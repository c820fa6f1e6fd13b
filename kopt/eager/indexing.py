"""Loads and stores of host tensors in device loops, and subscripts of blocks."""

from __future__ import annotations

from typing import Any

import torch

from kopt.eager.blocks import Block, LoopAxis, axes_of, block
from kopt.eager.broadcasting import places_by_axis
from kopt.eager.places import Places, as_block, places_of, written_out
from kopt.eager.put_back import lanes_put_back, note_load
from kopt.eager.state import current, refuse
from kopt.eager.storage import bits, read, write
from kopt.eager.tiles import Tile, slice_bound
from kopt.eager.values import Number
from kopt.errors import AccessError


def load(tensor: Any, index: Any, extra_mask: Any = None) -> Block:
    """``tensor[index]`` where the mask holds, 0 elsewhere: a copy."""
    _check(tensor, "hl.load")
    places = places_of(tensor, index)
    active = places.active(None if extra_mask is None else _mask(extra_mask, places))
    current().conflicts.read(tensor, places.index, active)
    value = read(tensor, places.index, places.shape)
    if not active.all():
        zero = torch.zeros((), dtype=value.dtype, device=value.device)
        value = torch.where(active, bits(value), bits(zero)).view(value.dtype)
    found = block(value, places.axes)
    return note_load(found, tensor, places.index) if extra_mask is None else found


def store(tensor: Any, index: Any, value: Any, extra_mask: Any = None) -> None:
    """``tensor[index] = value`` where the mask holds; the value is converted and broadcast."""
    _check(tensor, "hl.store")
    index, value, chosen = _by_mask(tensor, index, value)
    places = places_of(tensor, index)
    active = places.active(None if extra_mask is None else _mask(extra_mask, places))
    if chosen is not None:
        active = active & chosen
    for dim in places.repeated:  # one element for all lanes: the first one's
        first = torch.arange(places.shape[dim], device=tensor.device) == 0
        active = active & first.reshape([-1 if n == dim else 1 for n in range(len(places.shape))])
    if _gathers(index) and (kept := lanes_put_back(value, tensor, places.index)) is not None:
        active = active & ~fitted(kept, places)
    source = fitted(as_block(value, tensor), places).to(tensor.dtype).expand(places.shape)
    changed = bits(read(tensor, places.index, places.shape)) != bits(source.contiguous())
    current().conflicts.write(tensor, places.index, active, changed, _gathers(index))
    write(tensor, places.index, active, source)


def _gathers(index: Any) -> bool:
    """Whether an index list names rows by a tensor of numbers, other than those of elements in order."""
    items = index if isinstance(index, tuple | list) else [index]
    tensors = [item for item in items if isinstance(item, torch.Tensor) and item.ndim > 0]
    return any(getattr(item, "lanes", None) is None for item in tensors)


def _check(array: Any, what: str) -> None:
    if not isinstance(array, torch.Tensor) or isinstance(array, Block):
        refuse(f"{what} needs a host tensor", id="operand")
    if not current().on_device:
        refuse(f"{what} works inside device loops", id="outside-device-loop")


def fitted(value: torch.Tensor, places: Places) -> torch.Tensor:
    """A value over the block that an index list addresses: by its loops, without leading ones and padding."""
    shape, axes = places.shape, places.axes
    if value.ndim < len(shape):
        high = list(zip(axes, shape, strict=True))
        found = places_by_axis(list(zip(axes_of(value), value.shape, strict=True)), high)
        if found is not None:
            index = tuple(slice(None) if n in found else None for n in range(len(shape)))
            value = value.as_subclass(torch.Tensor)[index]
    value = value.as_subclass(torch.Tensor)
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    for position in range(1, min(value.ndim, len(shape)) + 1):
        axis, size, wanted = axes[-position], value.shape[-position], shape[-position]
        whole = axis is not None and size == axis.block_size > axis.size == wanted
        if whole or (wanted, size) in current().powers_of_two:
            value = value.narrow(-position, 0, wanted)
    return value


def _mask(mask: Any, places: Places) -> torch.Tensor:
    value = as_block(mask, places.outside)
    return fitted(value if value.dtype == torch.bool else block(value != 0, axes_of(value)), places)


def _by_mask(array: torch.Tensor, index: Any, value: Any) -> tuple[Any, Any, torch.Tensor | None]:
    """A store by a mask as one of the whole dimensions that it covers, to the elements where it is true."""
    given = list(index) if isinstance(index, tuple | list) else [index]
    where = next((i for i in given if isinstance(i, torch.Tensor) and i.dtype == torch.bool and i.ndim), None)
    if where is None:
        return index, value, None
    items = written_out(array.shape, [p for i in given for p in ([slice(None)] * i.ndim if i is where else [i])])
    first = next(n for n, item in enumerate(given) if item is where)
    if any(item is Ellipsis for item in given[:first]):
        first += len(items) - (len(given) - 1 + where.ndim)
    others = [item for n, item in enumerate(items) if not first <= n < first + where.ndim]
    if any(isinstance(item, torch.Tensor) and item.ndim for item in others):
        refuse("a mask beside another mask or an index tensor", "use hl.store with extra_mask", id="mask-index")
    after = sum(item is None or isinstance(item, slice | Tile) for item in items[first + where.ndim :])
    mask = where.as_subclass(torch.Tensor)
    return items, _spread(value, after, where.ndim), mask.reshape(*mask.shape, *[1] * after)


def _spread(value: Any, after: int, covered: int) -> Any:
    """The value of a store by a mask, which is the same for all elements that the mask selects."""
    if not isinstance(value, torch.Tensor) or value.ndim - 1 - after < 0:
        return value
    position = value.ndim - 1 - after
    if value.shape[position] != 1:
        refuse(
            "a store by a mask writes one value to all elements that the mask selects",
            "use x[:] = torch.where(mask[:], value, x[:])",
            id="mask-index",
        )
    shape = [*value.shape[:position], *[1] * covered, *value.shape[position + 1 :]]
    return value.as_subclass(torch.Tensor).reshape(shape)


def subscript(tensor: Any, index: Any) -> Block:
    """``tensor[index]`` of a device value: one vector of numbers, and whatever has no length of its own."""
    if not isinstance(tensor, Block):
        refuse("hl.subscript takes a device value", "index the host tensor", id="index")
    items = written_out(tensor.shape, index)
    if (taken := sum(item is not None for item in items)) > tensor.ndim:
        refuse(f"{taken} index(es) for a device value of {tensor.ndim} dimensions", id="index")
    if sum(isinstance(item, torch.Tensor) and item.ndim > 0 for item in items) > 1:
        refuse("a device value takes one vector of whole numbers as an index", "use torch.gather", id="index")
    position, axes = 0, list(tensor.axes)
    result: torch.Tensor = tensor.as_subclass(torch.Tensor)
    for item in items:
        if item is None:
            result = result.unsqueeze(position)
            axes.insert(position, None)
        elif isinstance(item, int | torch.Tensor) and not getattr(item, "ndim", 0):
            result = result.select(position, int(item))
            del axes[position]
            continue
        else:
            result, axes[position] = _picked(result, position, item, axes[position])
        position += 1
    return block(result, axes)


def _picked(value: torch.Tensor, dim: int, item: Any, axis: LoopAxis | None) -> tuple[torch.Tensor, LoopAxis | None]:
    """Some lanes of one dimension."""
    if isinstance(item, slice) and item == slice(None):
        return value, axis
    if isinstance(item, Tile) and item.axis is axis and not item.shift:
        return value, axis
    if isinstance(item, slice):
        return _sliced(value, dim, item), None
    if not isinstance(item, Tile | torch.Tensor) or item.dtype == torch.bool or item.dtype.is_floating_point:
        refuse(
            f"{type(item).__name__} cannot index a device value", "use None, slices, numbers and one vector", id="index"
        )
    numbers: Any = item.index if isinstance(item, Tile) else item
    return _selected(value, dim, numbers.as_subclass(torch.Tensor), axis), axes_of(numbers)[0]


def _selected(value: torch.Tensor, dim: int, numbers: torch.Tensor, axis: LoopAxis | None = None) -> torch.Tensor:
    """Lanes by number; those that only a whole block has are 0."""
    size = value.shape[dim]
    if axis is None or size >= axis.block_size or bool((numbers < size).all()):
        return value.index_select(dim, numbers)
    if bool((numbers >= axis.block_size).any()):
        raise AccessError(f"lane {int(numbers.max())} is outside a block of {axis.block_size} lanes", id="index")
    return _present(value, dim, numbers)


def _present(value: torch.Tensor, dim: int, numbers: torch.Tensor) -> torch.Tensor:
    """Lanes by number, 0 beyond the last one."""
    size = value.shape[dim]
    inside = (numbers < size).reshape([-1 if n == dim else 1 for n in range(value.ndim)])
    taken = value.index_select(dim, numbers.clamp(max=size - 1))
    return torch.where(inside, taken, torch.zeros((), dtype=value.dtype, device=value.device))


def _sliced(value: torch.Tensor, dim: int, item: slice) -> torch.Tensor:
    """A slice; lanes beyond the block of one that loops bound are 0."""
    computed = any(isinstance(bound, Number | torch.Tensor) for bound in (item.start, item.stop))
    start, stop, step = (slice_bound(bound) for bound in (item.start, item.stop, item.step))
    if not computed:
        return value[(slice(None),) * dim + (slice(start, stop, step),)]
    size = value.shape[dim]
    numbers = torch.arange(start or 0, size if stop is None else stop, step or 1, device=value.device)
    return _present(value, dim, numbers)
