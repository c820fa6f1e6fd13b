"""Block sizes for the loops whose size a kernel leaves open: as large as pays, and fitting the chip.

The sizes are those with which the best plan of each launch costs least (`kopt.planning.block_sizes`): on a TPU among
whole tiles of memory and divisors of what is walked, on a GPU among powers of two. The block of a loop that walks
another block is never the larger of the two, and one whose beginning names a row for all of its lanes, as in
``scales[i.begin // 64]``, has no more lanes than share it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from math import inf

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from kopt.analysis.block_roles import Role, block_roles
from kopt.analysis.block_search import (
    BlockSpace,
    Sizes,
    capped,
    largest_tile,
    made_in,
    nested_loops,
    spread,
    tile_shapes,
)
from kopt.analysis.cell_bytes import cell_bytes
from kopt.analysis.gpu_blocks import GpuSpace, gpu_budget
from kopt.analysis.launch_models import open_models
from kopt.analysis.tpu_blocks import TpuSpace, tpu_least, tpu_unit
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.launch_model import LaunchModel
from kopt.planning.block_sizes import SAME_GPU, Candidates, cheapest, least_memory, rooms
from kopt.planning.choice import CLEARLY
from kopt.targets.chips import Chip, TpuChip

#: Candidates that may turn out to take too much, at most.
_TRIED = 64
#: Candidates of which is asked what they take, at most. On a TPU computed rows are moved for each.
_ASKED_TPU, _ASKED_GPU = 4, 8


def choose_sizes(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    given: Sequence[int],
    chip: Chip,
    loop_type: str = "auto",
    sized: Collection[str] = (),
    moved: ModuleOp | None = None,
    divides: bool = True,
    seconds: Callable[[Sizes], float] | None = None,
    room: float = np.inf,
) -> list[int]:
    """A size for each open block of an imported module: ``groups`` lists the tags that use it.

    ``given`` are the provisional sizes, kept for blocks that no loop uses; ``loop_type`` is the configuration's. Blocks
    of one element that were imported with more are of one whatever their size, as schedules of the target make them.
    Those of which only the first element or the number is used stand for one element each; but for the tags in
    ``sized``, whose size the kernel may count further elements with. ``moved`` is the module with computed rows as
    products and DMAs, where what those take has to be looked at; ``divides`` whether a TPU's sizes may be other than
    powers of two. ``seconds`` tells what sizes take where models do not: of the first few candidates the best by that
    is chosen. ``room`` are the most bytes that a cell may take by its model.
    """
    chosen: Sizes = {}
    for search in searches(module, groups, given, chip, sized, moved, divides):
        own, lanes = search.models, search.lanes
        best = cheapest(own, search.sizes, chip, loop_type, lanes, room, search.space.large(search.sizes))
        asked = 1 if seconds is None else _ASKED_TPU if isinstance(chip, TpuChip) else _ASKED_GPU
        if search.moved is not None:
            assert isinstance(chip, TpuChip)
            known, tags = list(best), list(search.sizes)
            taken = cell_bytes(search.moved, chip, tags, loop_type)
            fitting = (islice(_fitting(known, taken, most), asked) for most in rooms(chip))
            best = iter(next(filter(None, map(list, fitting)), []))
            if seconds is not None:
                told = cell_bytes(search.moved, chip, tags, loop_type, told=True)
                larger = islice(_fitting(known, told, rooms(chip)[0]), asked)
                best = _unless_clearly_less(list(best), list(larger), seconds)
        if seconds is not None:
            best = _least(list(islice(best, asked)), seconds, 1.0 if isinstance(chip, TpuChip) else SAME_GPU)
        sizes = next(best, search.space.least)
        chosen |= {tag: sizes[tag] for group in search.groups for tag in group}
    return _in_order(groups, given, chosen)


@dataclass(frozen=True)
class Search:
    """What is looked at for ``groups`` whose sizes decide about one another: ``sizes`` of all tags, by candidate.

    ``models`` are the launches that they decide about, ``lanes`` the tags of rows; ``moved`` the module in which to
    look at what candidates take, where models do not tell.
    """

    groups: Sequence[Sequence[str]]
    models: Sequence[LaunchModel]
    space: BlockSpace
    sizes: Candidates
    lanes: Sequence[str]
    moved: ModuleOp | None = None


def searches(
    module: ModuleOp,
    groups: Sequence[Sequence[str]],
    given: Sequence[int],
    chip: Chip,
    sized: Collection[str] = (),
    moved: ModuleOp | None = None,
    divides: bool = True,
) -> Iterator[Search]:
    """The searches that `choose_sizes` makes, one after the other."""
    roles = used_roles(module, groups, given, sized)
    tags = {tag: size for group, size in zip(groups, given, strict=True) for tag in group}
    if not tags:
        return
    moved = moved if isinstance(chip, TpuChip) else None
    if not (models := open_models(module if moved is None else moved, list(tags), chip)):
        return
    used = [group for group in groups if group]
    for part, own in _parts(used, models) if moved is None else [(used, models)]:
        space = block_space(module, part, roles, chip, divides)
        found = space.candidates()
        count = len(next(iter(found.values())))
        others = {tag: np.full(count, size) for tag, size in tags.items() if tag not in found}
        lanes = [tag for tag in found if 0 in roles[tag].places]
        yield Search(part, own, space, {**others, **found}, lanes, moved)


def used_roles(
    module: ModuleOp, groups: Sequence[Sequence[str]], given: Sequence[int], sized: Collection[str] = ()
) -> dict[str, Role]:
    """What blocks are used for, by their tags; `choose_sizes` has the arguments."""
    roles = block_roles(module)
    for group, size in zip(groups, given, strict=True):
        for tag in group:
            roles[tag].single = roles[tag].size == 1 < size or roles[tag].begun and tag not in sized
    return roles


def block_space(
    module: ModuleOp, groups: Sequence[Sequence[str]], roles: dict[str, Role], chip: Chip, divides: bool = True
) -> BlockSpace:
    """The sizes that groups of blocks may have on a chip."""
    if isinstance(chip, TpuChip):
        return TpuSpace(module, groups, roles, chip, divides)
    return GpuSpace(module, groups, roles)


def _parts(
    groups: Sequence[Sequence[str]], models: Sequence[LaunchModel]
) -> list[tuple[Sequence[Sequence[str]], Sequence[LaunchModel]]]:
    """Groups whose sizes decide about one another, with the launches that they decide about: those of one launch."""
    parts: list[tuple[set[str], list[LaunchModel]]] = []
    for model in models:
        tags = {axis.tag for axis in model.axes}
        tags = tags.union(*(group for group in groups if not tags.isdisjoint(group)))
        near = [part for part in parts if not tags.isdisjoint(part[0])]
        parts = [part for part in parts if tags.isdisjoint(part[0])]
        parts.append((tags.union(*(part[0] for part in near)), [*(one for part in near for one in part[1]), model]))
    found = [([group for group in groups if not tags.isdisjoint(group)], own) for tags, own in parts]
    return [part for part in found if part[0]]


def _least(found: Sequence[Sizes], seconds: Callable[[Sizes], float], same: float) -> Iterator[Sizes]:
    """Of candidates, the best first, those that take the least, or hardly more: up to ``same`` times as much."""
    taken = list(map(seconds, found))
    return (sizes for sizes, own in zip(found, taken, strict=True) if own <= same * min(taken))


def _unless_clearly_less(usual: list[Sizes], others: list[Sizes], seconds: Callable[[Sizes], float]) -> Iterator[Sizes]:
    """The usual candidates, or those of others that take clearly less than all of these."""
    least = min(map(seconds, usual), default=inf)
    return iter([sizes for sizes in others if seconds(sizes) < CLEARLY * least] or usual)


def _fitting(found: Iterable[Sizes], taken: Callable[[Sizes], int], room: int) -> Iterator[Sizes]:
    """The sizes whose cells fit a TPU with the products and DMAs of computed rows, tried one by one, the best first."""
    full: list[Sizes] = []
    for sizes in found:
        if len(full) == _TRIED:
            return
        if any(all(sizes[tag] >= size for tag, size in other.items()) for other in full):
            continue  # larger blocks take no less
        if taken(sizes) <= room:
            yield sizes
        else:
            full.append(sizes)


def fullness(
    module: ModuleOp, chip: Chip, room: int, loop_type: str = "auto", gathers: bool = True, told: bool = False
) -> float:
    """How much a cell of a module takes of its room (`rooms`): above 1 its blocks are too large.

    Models tell all that cells of a TPU take, but what ``gathers`` take on their way; of these too, what is no
    temporary, where plans were looked at with these sizes (``told``).
    """
    if isinstance(chip, TpuChip):
        if gathers:
            return cell_bytes(module, chip, (), loop_type, told)({}) / room
        return max((least_memory(one, {}, chip, loop_type) for one in open_models(module, (), chip)), default=0) / room
    return int(largest_tile(tile_shapes(made_in(module), IndexAnalysis()), {})) / gpu_budget(module)


def halved(module: ModuleOp, groups: Sequence[Sequence[str]], sizes: Sequence[int], chip: Chip) -> list[int]:
    """Half of each of a module's block sizes, where the target has so small a block."""
    roles = block_roles(module)
    least = spread(groups, lambda tag: tpu_least(roles[tag], chip) if isinstance(chip, TpuChip) else 1)
    least = capped(groups, least, roles)
    pairs = [(tag, size) for group, size in zip(groups, sizes, strict=True) for tag in group]
    smaller = {tag: max(least[tag], size // 2 // least[tag] * least[tag]) for tag, size in pairs}
    return _in_order(groups, sizes, smaller)


def within_outer(module: ModuleOp, groups: Sequence[Sequence[str]], sizes: Sequence[int]) -> list[int]:
    """Sizes of which none is larger than that of a block that its loop walks."""
    found = {tag: size for group, size in zip(groups, sizes, strict=True) for tag in group}
    for inner, outer in nested_loops(module, block_roles(module)):
        if inner in found and outer in found:
            of_group = next(group for group in groups if inner in group)
            found.update(dict.fromkeys(of_group, min(found[inner], found[outer])))
    return _in_order(groups, sizes, found)


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
    return [sizes.get(group[0], size) if group else size for group, size in zip(groups, given, strict=True)]
