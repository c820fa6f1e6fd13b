"""Loops over tiles, what a tile says of itself, and what the configuration chooses."""

from __future__ import annotations

from typing import Any

from kopt.language.running import inside_kernels


@inside_kernels
def tile(begin_or_end: Any, end_or_none: Any = None, /, block_size: Any = None) -> Any:
    """Walks a range, or the product of several, in blocks: ``for t in hl.tile(n)``, ``for i, j in hl.tile([m, n])``.

    Args: the end, or begin and end, each a number or a list; ``block_size`` fixes sizes (numbers, or what
    `register_block_size` gave); what it leaves open the configuration chooses. At the top of a kernel it is the
    launch's grid, inside it is a loop whose bounds may be device numbers.
    """


@inside_kernels
def grid(begin_or_end: Any, end_or_none: Any = None, /, step: Any = None) -> Any:
    """Walks a range, or the product of several, element by element; gives numbers."""


@inside_kernels
def static_range(begin_or_end: int, end_or_none: int | None = None, /, step: int = 1) -> Any:
    """A range of static bounds that is unrolled while the kernel is imported."""


@inside_kernels
def jagged_tile(parent: Any, /, block_size: Any = None) -> Any:
    """Walks, for a tile of items at once, a range whose end differs from item to item.

    ``parent`` has the end of each item, one number for each lane of the tiles around: ``ends[tile_b]``, or of several
    dimensions, ``ends[tile_b, tile_h]``. Blocks go from 0 to the largest. What has both the items' dimensions and the
    jagged one has only the lanes that the items have: others are not read, not written, and not summed.

        for b in hl.tile(lengths.size(0)):
            acc = hl.zeros([b])
            for k in hl.jagged_tile(lengths[b]):
                acc = acc + x[starts[b][:, None] + k.index[None, :]].sum(1)
    """


@inside_kernels
def register_block_size(min_or_max: int, max_or_none: int | None = None, /) -> Any:
    """A block size for the configuration to choose, to be shared by loops and shapes."""


@inside_kernels
def register_tunable(name: str, fragment: Any) -> Any:
    """A value of the configuration, by name; ``fragment`` has its default."""


@inside_kernels
def specialize(value: Any) -> Any:
    """The value itself, as a constant: the kernel is compiled for each extent."""


@inside_kernels
def tile_index(tile: Any) -> Any:
    """``tile.index``."""


@inside_kernels
def tile_begin(tile: Any) -> Any:
    """``tile.begin``."""


@inside_kernels
def tile_end(tile: Any) -> Any:
    """``tile.end``."""


@inside_kernels
def tile_block_size(tile: Any) -> Any:
    """``tile.block_size``."""


@inside_kernels
def tile_id(tile: Any) -> Any:
    """``tile.id``."""


@inside_kernels
def tile_count(tile: Any) -> Any:
    """``tile.count``."""
