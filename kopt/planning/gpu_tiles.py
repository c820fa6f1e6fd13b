"""The tiles of one program of a GPU's launch at given sizes: lanes, words, and where products stand. Pure.

Sizes are numbers, or arrays with one number for each candidate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod

import numpy as np

from kopt.cached_property import cached_property
from kopt.ir.launch_model import Factor, LaunchModel, Live, ModelAccess, Work
from kopt.ir.polynomial import Coefficient
from kopt.planning.launch_options import power
from kopt.planning.trips import Number, Sizes, max_of, value
from kopt.targets.budget import Budget
from kopt.targets.chips import GpuChip

#: The tags and sizes of a value's dimensions.
Dims = Sequence[tuple[str, Coefficient]]


class GpuTiles:
    """What a model says of the tiles of a program, at given sizes."""

    def __init__(self, model: LaunchModel, sizes: Sizes, chip: GpuChip):
        self._model, self._sizes, self._budget = model, sizes, Budget(chip)
        self._products = [work for work in model.work if work.unit == "product"]
        self._loops = {axis.tag for axis in model.axes if axis.form == "loop"}
        self._lanes_of: dict[tuple[Coefficient, ...], Number] = {}

    @property
    def _paths(self) -> Collection[tuple[str, ...]]:
        """Where products stand."""
        return dict.fromkeys(work.path for work in self._products)

    def is_pipelined(self, path: Sequence[str]) -> bool:
        """Whether loads of a body come ahead of its visits: it feeds products, and a loop is around it."""
        return path in self._paths and not self._loops.isdisjoint(path)

    @cached_property
    def largest_tile(self) -> Number:
        """Lanes of its largest value."""
        shapes = {shape for live in self._model.live for shape, _ in live.values}
        return max_of(self._lanes(shape) for shape in shapes)

    def _factors(self, path: Sequence[str]) -> list[Factor]:
        return [one for one in self._model.factors if one.path == path]

    def _loads(self, path: Sequence[str]) -> list[ModelAccess]:
        return [one for one in self._model.accesses if one.path == path and one.mode == "load"]

    def _narrow(self, path: Sequence[str]) -> list[Work]:
        return [work for work in self._products if work.path == path and work.dtype not in ("f32", "f64")]

    def _words(self, live: Live, passes: bool = False) -> Number:
        """Registers of the values of a place; an op of each lane by itself puts its result where an operand was.

        Beside the sums of products, what ``passes`` by takes none: it is computed a few lanes at a time.
        """
        words = [self._lanes(shape) * max(16, bits) / 32 for shape, bits in live.values]
        if passes and live.passing:
            return sum(words) - sum(self._lanes(shape) * max(16, bits) / 32 for shape, bits in live.passing)
        return sum(words) - (max_of(words) if len(words) > 1 else 0)

    def _carried(self, path: Sequence[str]) -> Number:
        found = (work for work in self._model.work if work.unit == "carry" and work.path == path)
        return sum(work.count * self._size(work.dims) for work in found)

    def _bytes(self, load: ModelAccess) -> Number:
        return self._lanes(load.relation.lanes) * self._model.operand(load.operand).bits // 8

    def _lanes(self, shape: Sequence[Coefficient]) -> Number:
        """Lanes of a tile, each dimension rounded up to a power of two; of one that is walked, those of a visit."""
        lanes = self._rounded(shape)
        return np.where(lanes > self._budget.HELD_LANES, self._budget.TILE_LANES, lanes) if may_walk(shape) else lanes

    def computed(self, shape: Sequence[Coefficient]) -> Number:
        """Lanes of a tile that threads compute: dimensions are rounded up, but where one is walked in short blocks."""
        rounded = self._rounded(shape)
        return np.where(rounded > self._budget.HELD_LANES, prod(map(self._value, shape)), rounded)

    def _rounded(self, shape: Sequence[Coefficient]) -> Number:
        key = tuple(shape)
        if key not in self._lanes_of:
            self._lanes_of[key] = prod(power(self._value(size)) for size in key)
        return self._lanes_of[key]

    def _size(self, dims: Dims) -> Number:
        return self._lanes([size for _, size in dims])

    def _value(self, size: Coefficient) -> Number:
        return value(size, self._sizes)


def operand_bits(model: LaunchModel, product: Work) -> int:
    """The bits of an element of a product's operands."""
    return next((operand.bits for operand in model.operands if operand.dtype == product.dtype), 16)


def may_walk(shape: Iterable[Coefficient]) -> bool:
    """Whether a tile has a whole dimension that may be walked, as none of its blocks are."""
    return any(isinstance(size, int) and size > Budget.LEAST_WALKED for size in shape)
