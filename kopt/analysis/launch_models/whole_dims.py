"""Whole dimensions ``:`` whose lanes no op mixes but by reducing them: they may become ranges that are walked.

Dimensions of one class (`dim_classes`) are one. A class is left out where an op takes it apart or orders it: slices,
scans, sorts, combinations by functions.

    %v = tile.load %x[%i, :]     %m = tile.reduce max %v [1]     %e = tile.sub %v, …     tile.store %e, %out[%i, :]
becomes
    the axis ``x.1``, of %v, %e and the last dimensions of %x and %out; reduced
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from kopt.analysis.launch_models.dim_classes import DimClasses, Node, block_of, is_plain
from kopt.analysis.launch_models.program_points import Path, ProgramPoint
from kopt.dialects.tile import Access, AllAttr, TileType, block_axes
from kopt.dialects.tile.memory import memory_shape


@dataclass
class Whole:
    """A dimension of values: its axis's tag, its elements, the axes around what loads and stores it."""

    tag: str
    extent: int
    path: Path
    is_reduced: bool = False


class WholeDims(DimClasses):
    """The whole dimensions of one launch that may be walked; ``ids`` names its accesses."""

    def __init__(self, places: Sequence[ProgramPoint], ids: Mapping[Operation, str]):
        super().__init__()
        self._ids, self._path = ids, ()
        self._apart: list[Node] = []
        self._reduced: list[Node] = []
        self._loaded: list[tuple[Node, str, int, Path]] = []
        for place in places:
            self._path = place.path
            self.visit(place.op)
        apart, reduced = {self.top(node) for node in self._apart}, {self.top(node) for node in self._reduced}
        self._found: dict[Node, Whole] = {}
        for node, tag, extent, path in self._loaded:
            if (top := self.top(node)) in apart:
                continue
            if (known := self._found.get(top)) is None:
                self._found[top] = Whole(tag, extent, path, top in reduced)
            else:
                known.path = _common(known.path, path)

    @property
    def found(self) -> tuple[Whole, ...]:
        """The dimensions, in the order of the program."""
        return tuple(self._found.values())

    def tag(self, value: SSAValue, dim: int) -> str:
        """The axis of a plain dimension of a value; empty where it is none."""
        whole = self._found.get(self.top((value, dim))) if self._found else None
        return "" if whole is None else whole.tag

    def apart(self, value: SSAValue, *dims: int) -> None:
        """They have to stay in one piece."""
        if isinstance(value.type, TileType):
            wanted = dims or range(value.type.rank)
            self._apart += [(value, dim) for dim in wanted if is_plain(value, dim)]

    def reduced(self, value: SSAValue, dim: int) -> None:
        """A dimension is combined to one lane."""
        self._reduced.append((value, dim))

    def access(self, op: Access) -> None:
        """Dimensions ``:`` are those of the array; what slices and numbers of rows give stays in one piece."""
        super().access(op)
        value, shape = block_of(op), memory_shape(op.memory.type)
        for n, axis in enumerate(block_axes(op.entries, shape)):
            if not isinstance(op.entries[axis.position], AllAttr):
                self.apart(value, n)
            elif is_plain(value, n):
                tag = f"{self._ids[op]}.{axis.position}"
                self._loaded.append(((value, n), tag, shape[axis.position], self._path))
        for index in op.indices:
            self.apart(index)


def _common(first: Path, second: Path) -> Path:
    """The loops around both."""
    number = 0
    while number < min(len(first), len(second)) and first[number] == second[number]:
        number += 1
    return first[:number]
