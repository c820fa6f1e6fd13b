"""Block sizes for the loops whose size a kernel leaves open: as large as pays, and fitting the chip.

On a TPU the sizes are those with which the best plan of each launch costs least (`kopt.planning.block_sizes`), among
whole tiles of memory and divisors of what is walked. On a GPU they start generous by what the axis is used for (lanes,
rows, matrix products), and the costliest is halved until the tiles fit registers; they are powers of two. The block of
a loop that walks another block is never the larger of the two, and one whose beginning names a row for all of its
lanes, as in ``scales[i.begin // 64]``, has no more lanes than share it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_roles import block_roles
from kopt.analysis.block_search import Sizes, capped, largest_tile, spread, tile_types
from kopt.analysis.gpu_blocks import choose_gpu, gpu_budget
from kopt.analysis.launch_models import open_models
from kopt.analysis.tpu_blocks import TpuSpace, tpu_cost, tpu_least, tpu_unit
from kopt.planning.block_sizes import cheapest
from kopt.targets.budget import Budget
from kopt.targets.chips import Chip, TpuChip
from kopt.targets.costs import tpu_costs

#: Candidates that may turn out to take too much, at most.
_TRIED = 64


def choose_sizes(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    given: Sequence[int],
    chip: Chip,
    loop_type: str = "auto",
    sized: Collection[str] = (),
    moved: ModuleOp | None = None,
    divides: bool = True,
) -> list[int]:
    """A size for each open block of an imported module: ``groups`` lists the tags that use it.

    ``given`` are the provisional sizes, kept for blocks that no loop uses; ``loop_type`` is the configuration's. Blocks
    of one element that were imported with more are of one whatever their size, as schedules of the target make them.
    Those of which only the first element or the number is used stand for one element each; but for the tags in
    ``sized``, whose size the kernel may count further elements with. ``moved`` is the module with computed rows as
    products and DMAs, where what those take has to be looked at; ``divides`` whether a TPU's sizes may be other than
    powers of two.
    """
    roles = block_roles(module)
    for group, size in zip(groups, given, strict=True):
        for tag in group:
            roles[tag].single = roles[tag].size == 1 < size or roles[tag].begun and tag not in sized
    used = [group for group in groups if group]
    if not used:
        return [*given]
    if not isinstance(chip, TpuChip):
        return _in_order(groups, given, choose_gpu(module, used, roles))
    space = TpuSpace(module, used, roles, chip)
    return _in_order(groups, given, _fitting(space, loop_type, moved, divides) or space.least)


def _fitting(space: TpuSpace, loop_type: str, moved: ModuleOp | None, divides: bool) -> Sizes | None:
    """The sizes with which a TPU takes least time, of those whose cells fit.

    What products and DMAs of computed rows take is seen in their own form of the module only: there the cheapest are
    tried one by one.
    """
    tags = [tag for group in space.groups for tag in group]
    lanes = [tag for tag in tags if 0 in space.roles[tag].places]
    models = open_models(space.module, tags, ordered=tpu_costs(space.chip).cores > 1)
    found = cheapest(models, space.candidates(divides), space.chip, loop_type, lanes)
    if moved is None:
        return next(found, None)
    taken, most = tpu_cost(moved, loop_type == "resident"), Budget(space.chip).cell_bytes()
    full: list[Sizes] = []
    for sizes in found:
        if len(full) == _TRIED:
            return None
        if any(all(sizes[tag] >= size for tag, size in other.items()) for other in full):
            continue  # larger blocks take no less
        if taken(sizes) <= most:
            return sizes
        full.append(sizes)
    return None


def fullness(module: ModuleOp, chip: Chip, resident: bool = False) -> float:
    """How much a cell of a module takes of what it should: above 1 its blocks are too large."""
    if isinstance(chip, TpuChip):
        return tpu_cost(module, resident)({}) / Budget(chip).cell_bytes()
    return int(largest_tile(tile_types(module), {})) / gpu_budget(module)


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
