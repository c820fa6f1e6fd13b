"""Where the lanes of an indexed block are in memory, which of them exist there, and which are inside their ranges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from kopt.dialects.tile import Access, AllAttr, Entry, SliceAttr, block_axes, is_gather, is_range
from kopt.errors import AccessError
from kopt.interpreter.machine import Machine
from kopt.interpreter.values import Bound, TileValue, Validity, both, mask_of, moved


@dataclass(frozen=True)
class IndexedBlock:
    """An index list, evaluated: ``array[index]`` are the lanes ``window`` of a block of ``shape``.

    ``valid`` are the lanes inside their ranges; ``outside`` those that the array does not have (None: it has all).
    """

    shape: tuple[int, ...]
    index: tuple[Any, ...]
    window: tuple[slice, ...]
    valid: Validity
    outside: np.ndarray | None

    def present(self, mask: np.ndarray | None) -> np.ndarray | None:
        """The lanes of an access that exist, where those that do not are left out."""
        return replace(self, outside=None).active(_both(mask, None if self.outside is None else ~self.outside))

    def active(self, mask: np.ndarray | None) -> np.ndarray | None:
        """The lanes that an access touches, a mask of its shape or None for all; raises where one does not exist."""
        inside = mask_of(self.valid, len(self.shape))
        wanted = inside if mask is None else mask if inside is None else mask & inside
        if self.outside is None:
            return None if wanted is None else np.broadcast_to(wanted, self.shape)
        bad = self.outside if wanted is None else self.outside & wanted
        if bad.any():
            lane = [int(n) for n in np.argwhere(np.broadcast_to(bad, self.shape))[0]]
            raise AccessError(f"{f'lane {lane} of the block' if lane else 'the element'} is outside the array")
        return np.broadcast_to(~self.outside if wanted is None else wanted & ~self.outside, self.shape)


def _both(one: np.ndarray | None, other: np.ndarray | None) -> np.ndarray | None:
    return other if one is None else one if other is None else one & other


def locate(m: Machine, op: Access, array: np.ndarray) -> IndexedBlock:
    """Evaluate the index list of an access to ``array``."""
    locate_lanes = _gathered if any(is_gather(entry) for entry in op.entries) else _sliced
    block = locate_lanes(m, op.entries, array.shape)
    owned = m.owned([axis.dim.tag.data for axis in block_axes(op.entries, array.shape)])
    return replace(block, valid=both(block.valid, owned)) if owned else block


def check(m: Machine, op: Access, block: IndexedBlock, array: np.ndarray, mask: np.ndarray | None) -> np.ndarray | None:
    """`IndexedBlock.active`, with the memory and the indices named where a lane is outside."""
    try:
        return block.active(mask)
    except AccessError as error:
        name = f"%{op.memory.name_hint}" if op.memory.name_hint else "the memory"
        found = "; ".join(_describe(m, n, entry, array.shape[n]) for n, entry in enumerate(op.entries))
        raise AccessError(f"'{op.name}' of {name}, shape {list(array.shape)}: {error.message} ({found})") from None


def _describe(m: Machine, number: int, entry: Entry, size: int) -> str:
    """One index in words: ``dimension 0 of 300: gathers from -1 to 299``."""
    held = m[entry] if isinstance(entry, SSAValue) else entry
    text = str(held)
    if not m.knows(entry):
        text = "not known"
    elif isinstance(held, Bound):
        text = f"{held.begin} to {held.end}"
    elif isinstance(held, TileValue):
        mask = mask_of(held.valid, held.data.ndim)
        rows = held.data if mask is None else held.data[np.broadcast_to(mask, held.data.shape)]
        text = f"gathers from {rows.min()} to {rows.max()}" if rows.size else "gathers nothing"
    elif isinstance(held, AllAttr):
        text = "all"
    return f"dimension {number} of {size}: {text}"


def _sequence(m: Machine, entry: Entry, size: int) -> tuple[int, int | None, int]:
    """First position, number of lanes (None: no dimension) and step of an entry that does not gather."""
    if isinstance(entry, AllAttr):
        return 0, size, 1
    if isinstance(entry, SliceAttr):
        return entry.start.data, entry.length, entry.step.data
    held = m[entry] if isinstance(entry, SSAValue) else entry
    return (held.begin, held.size, 1) if isinstance(held, Bound) else (int(held), None, 1)


def _sliced(m: Machine, entries: Sequence[Entry], sizes: Sequence[int]) -> IndexedBlock:
    """A block that NumPy's slices address: contiguous lanes, cut where the array ends."""
    shape, index, window = [], [], []
    valid: Validity = ()
    missing: list[tuple[int, np.ndarray]] = []
    absent = False
    for entry, size in zip(entries, sizes, strict=True):
        start, count, step = _sequence(m, entry, size)
        if count is None:
            absent |= not 0 <= start < size
            index.append(min(max(start, 0), max(size - 1, 0)))
            continue
        if isinstance(entry, SSAValue) and is_range(entry):
            valid = both(valid, m[entry].along(len(shape)))
        low, high = _present(start, count, step, size)
        if high - low != count:
            missing.append((len(shape), np.asarray([not low <= lane < high for lane in range(count)], dtype=bool)))
        index.append(slice(start + low * step, start + high * step, step) if high > low else slice(0, 0))
        window.append(slice(low, high))
        shape.append(count)
    if absent and 0 in sizes:
        index, window = [slice(0, 0) if isinstance(i, slice) else i for i in index], window
    return IndexedBlock(tuple(shape), tuple(index), tuple(window), valid, _outside(tuple(shape), missing, absent))


def _present(start: int, count: int, step: int, size: int) -> tuple[int, int]:
    """The lanes ``low … high`` whose positions are inside a dimension of ``size``."""
    low = min(count, max(0, -(start // step)) if start < 0 else 0)
    high = max(low, min(count, -((start - size) // step)))
    return low, high


def _outside(shape: tuple[int, ...], missing: list[tuple[int, np.ndarray]], absent: bool) -> np.ndarray | None:
    if absent:
        return np.ones(shape, bool)
    if not missing:
        return None
    outside = np.zeros(shape, bool)
    for dim, lanes in missing:
        outside |= lanes.reshape([-1 if n == dim else 1 for n in range(len(shape))])
    return outside


def _gathered(m: Machine, entries: Sequence[Entry], sizes: Sequence[int]) -> IndexedBlock:
    """A block that needs a position for each lane: some entry gathers rows by number."""
    axes = block_axes(entries, sizes)
    shape = tuple(axis.dim.size.data for axis in axes)
    first = next((n for n, axis in enumerate(axes) if axis.gather_dim is not None), 0)
    valid: Validity = ()
    index: list[np.ndarray] = []
    outside = np.zeros((1,) * len(shape), bool)
    for position, (entry, size) in enumerate(zip(entries, sizes, strict=True)):
        dims = [n for n, axis in enumerate(axes) if axis.position == position]
        if is_gather(entry):
            assert isa(entry, SSAValue)
            rows: TileValue = m[entry]
            valid = both(valid, moved(rows.valid, lambda dim: dim + first))
            dims, places = list(range(first, first + rows.data.ndim)), rows.data.astype(np.int64)
        else:
            start, count, step = _sequence(m, entry, size)
            places = np.asarray(start) if count is None else start + step * np.arange(count)
            if isinstance(entry, SSAValue) and is_range(entry):
                valid = both(valid, m[entry].along(dims[0]))
        spread = places.reshape([shape[n] if n in dims else 1 for n in range(len(shape))])
        outside = outside | (spread < 0) | (spread >= size)
        index.append(np.clip(spread, 0, max(size - 1, 0)))
    full = np.broadcast_to(outside, shape) if outside.any() else None
    return IndexedBlock(shape, tuple(np.broadcast_arrays(*index)), tuple(slice(0, n) for n in shape), valid, full)
