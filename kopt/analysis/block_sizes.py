"""Block sizes for the loops whose size a kernel leaves open: as large as pays, and fitting the chip.

Sizes start generous by what the axis is used for (lanes, sublanes, rows, matrix products) and the costliest is halved
until a cell fits: half of the chip's VMEM on a TPU, a register budget on a GPU. Where the last block would be ragged on
a TPU, a divisor of the extent is taken, up to twice as large; a GPU's are powers of two. The block of a loop that walks
another block is never the larger of the two, and one whose beginning names a row for all of its lanes, as in
``scales[i.begin // 64]``, has no more lanes than share it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_roles import block_roles
from kopt.analysis.block_search import Sizes, capped, largest_tile, spread
from kopt.analysis.gpu_blocks import choose_gpu, gpu_budget, tile_types
from kopt.analysis.tpu_blocks import choose_tpu, tpu_cost, tpu_least, tpu_unit
from kopt.targets.budget import Budget
from kopt.targets.chips import Chip, TpuChip


def choose_sizes(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    given: Sequence[int],
    chip: Chip,
    resident: bool = False,
    sized: Collection[str] = (),
    moved: ModuleOp | None = None,
) -> list[int]:
    """A size for each open block of an imported module: ``groups`` lists the tags that use it.

    ``given`` are the provisional sizes, kept for blocks that no loop uses; ``resident`` whether all that loops walk
    must be in VMEM, not only a block of it where they can be dimensions of their grids. Blocks of one element that
    were imported with more are of one whatever their size, as schedules of the target make them. Those of which
    only the first element or the number is used stand for one element each; but for the tags in ``sized``, whose
    size the kernel may count further elements with. ``moved`` is the module with computed rows as products and DMAs,
    which tells what those take.
    """
    roles = block_roles(module)
    for group, size in zip(groups, given, strict=True):
        for tag in group:
            roles[tag].single = roles[tag].size == 1 < size or roles[tag].begun and tag not in sized
    used = [group for group in groups if group]
    if isinstance(chip, TpuChip):
        sizes = choose_tpu(module, used, roles, chip, tpu_cost(moved or module, resident), moved in (None, module))
    else:
        sizes = choose_gpu(module, used, roles)
    return _in_order(groups, given, sizes)


def fullness(module: ModuleOp, chip: Chip, resident: bool = False) -> float:
    """How much a cell of a module takes of what it should: above 1 its blocks are too large."""
    if isinstance(chip, TpuChip):
        return tpu_cost(module, resident)({}) / Budget(chip).cell_bytes()
    return largest_tile(tile_types(module), {}) / gpu_budget(module)


def halved(module: ModuleOp, groups: Sequence[Sequence[str]], sizes: Sequence[int], chip: Chip) -> list[int]:
    """Half of each of a module's block sizes, where the target has so small a block."""
    roles = block_roles(module)
    least = spread(groups, lambda tag: tpu_least(roles[tag], chip) if isinstance(chip, TpuChip) else 1)
    least = capped(groups, least, roles)
    pairs = [(tag, size) for group, size in zip(groups, sizes, strict=True) for tag in group]
    smaller = {tag: max(least[tag], size // 2 // least[tag] * least[tag]) for tag, size in pairs}
    return _in_order(groups, sizes, smaller)


def legal_sizes(module: ModuleOp, groups: Sequence[Sequence[str]], given: Sequence[int], chip: TpuChip) -> list[int]:
    """The sizes that a config names, rounded up to multiples of what the chip's tiles of memory want.

    Not beyond what lanes share a row that their block names, where the config has kept within that.
    """
    roles = block_roles(module)
    sizes: Sizes = {}
    for group, size in zip(groups, given, strict=True):
        unit = max((tpu_unit(roles[tag], size, chip) for tag in group), default=1)
        rounded = capped([group], dict.fromkeys(group, -(-size // unit) * unit), roles)
        sizes.update({tag: max(size, lanes) for tag, lanes in rounded.items()})
    return _in_order(groups, given, sizes)


def _in_order(groups: Sequence[Sequence[str]], given: Sequence[int], sizes: Sizes) -> list[int]:
    return [sizes[group[0]] if group else size for group, size in zip(groups, given, strict=True)]
