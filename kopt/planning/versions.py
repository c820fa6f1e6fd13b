"""What the code of a TPU's launch knows of the numbers of blocks at given sizes, and what libtpu leaves out for it.

Of an axis with one block the number is known, and so are those of a loop that is unrolled. Versions of a grid's body
(`kopt.passes.version_cells`) have loops of known trips, in runs of visits in which the same masks are decided. Runs of
one or two visits are straight code, in which a version of a single cell knows the numbers of all blocks. Where they are
known masks are constants: libtpu makes those registers of them that hold in some lanes and not in others, and leaves
out what is in registers of no lane.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from kopt.ir.atoms import Atom, BlockNumber, Lane
from kopt.ir.evaluation import Evaluation, evaluate
from kopt.ir.index_expr import IndexExpr, of_atom
from kopt.ir.launch_model import Axis, LaneMask, LaunchModel
from kopt.ir.polynomial import Coefficient
from kopt.ir.rewriting import Rewriting
from kopt.ir.value_range import ANY
from kopt.planning.blocks import WINDOWS
from kopt.planning.trips import Number, Sizes, Trips, by_choice, parameters_of, value
from kopt.plans.plan import Plan
from kopt.targets.tiling import LANES, SUBLANES

#: As many versions of a body, at most; libtpu compiles each of them.
MOST_VERSIONS = 8
#: As many visits of a run are written out in one, where there are that many.
WRITTEN_VISITS = 2
#: Loops of more visits are not split by what masks are in each of them.
MOST_VISITS = 64
_Known = Mapping[Hashable, int]


class MaskShares(NamedTuple):
    """Shares of the vector registers of a block: which ``count``, and in which the mask is ``made``."""

    count: Number
    made: Number


#: Of masks of which code knows nothing.
ALL = MaskShares(1.0, 1.0)


def constant_shares(
    mask: LaneMask, sizes: Sizes, trips: Mapping[str, Trips], unrolled: Mapping[str, int]
) -> MaskShares:
    """Those of a mask of axes that have one block, or loops all of whose visits are ``unrolled``; elsewhere `ALL`."""
    atoms = (atom for part in mask.condition.parts for atom in part.atoms())
    tags = sorted({str(atom.name) for atom in atoms if isinstance(atom, BlockNumber)})
    if not {*tags} <= trips.keys():
        return ALL
    around = sorted(frozenset[str]().union(*(trips[tag].inside for tag in tags)))
    names = _names([mask], ())

    def at(row: Sequence[Number]) -> Sequence[Number]:
        counts, outer, chosen = np.split(np.asarray(row), [len(tags), len(tags) + len(around)])
        if (outer > 1).any() or any(n > 1 and unrolled.get(tag, 1) % n for tag, n in zip(tags, counts, strict=True)):
            return ALL
        axes = np.meshgrid(*(np.arange(max(1, int(count))) for count in counts))
        numbers: dict[Hashable, np.ndarray] = dict(zip(tags, axes, strict=True))
        some, whole = _registers(mask, numbers, dict(zip(names, map(int, chosen), strict=True)))
        return some.mean(), (some - whole).mean()

    columns = [*(trips[tag].mean for tag in (*tags, *around)), *(sizes[name] for name in names)]
    return MaskShares(*by_choice(columns, at)) if columns else MaskShares(*at(()))


def has_versions(model: LaunchModel, plan: Plan) -> bool:
    """Whether cells may have versions: they compute on blocks of windows, and nothing else."""
    kinds = (buffer.kind in WINDOWS for buffer in plan.buffers)
    loops = (loop.kind == "resident" for loop in plan.loops.values())
    accesses = (one.mode != "atomic" and one.condition is None for one in model.accesses)
    return all(kinds) and all(loops) and all(accesses)


class LoopVersions:
    """The versions of one loop, whose bounds the numbers of the blocks of an axis, ``outer``, decide.

    ``straight`` is the share of the loop's visits that are straight code, ``shares`` are those of masks in it.
    """

    def __init__(self, model: LaunchModel, loop: Axis, outer: str, sizes: Sizes, trips: Mapping[str, Trips]):
        self._loop, self._outer = loop, outer
        self._masks = tuple(dict.fromkeys(one.mask for one in model.work if one.mask and loop.tag in one.path))
        names = _names(self._masks, [loop.extent], [loop.size])
        columns = [trips[outer].mean, *(sizes[name] for name in names)]
        found = by_choice(columns, lambda row: self._at(int(row[0]), dict(zip(names, map(int, row[1:]), strict=True))))
        self.straight = found[0]
        self.shares = {mask: MaskShares(*found[2 * n + 1 : 2 * n + 3]) for n, mask in enumerate(self._masks)}

    def _at(self, blocks: int, sizes: _Known) -> Sequence[float]:
        """The share of visits that are straight code, then those of each mask."""
        numbers, size = np.arange(blocks), int(value(self._loop.size, sizes))
        extent = Rewriting(lambda atom: None, sizes).expr(self._loop.extent)
        walked = np.maximum(np.broadcast_to(evaluate(extent, {self._outer: numbers}), numbers.shape), 0)
        versions = [range(first, last) for first, last in alike(walked.tolist())]
        total = (-(-walked // size)).sum()
        if not 1 < len(versions) <= MOST_VERSIONS or not total:
            return [0.0, *ALL * len(self._masks)]
        parts = [self._version(cells, -(-int(walked[cells[0]]) // size), sizes) for cells in versions]
        return (sum(parts) / total).tolist()

    def _version(self, cells: Sequence[int], visits: int, sizes: _Known) -> np.ndarray:
        """Visits of some cells that are straight code, and for each mask those that count and that make it."""
        numbers: dict[Hashable, np.ndarray] = {self._outer: np.array(cells)[:, None]}
        numbers[self._loop.tag] = np.arange(visits)[None]
        held = [np.broadcast_to(_registers(mask, numbers, sizes), (2, len(cells), visits)) for mask in self._masks]
        total = np.zeros(1 + 2 * len(held))
        for first, last in _runs(held, visits):
            written = last - first <= WRITTEN_VISITS
            shares = [_shares(one[:, :, first:last], written and len(cells) == 1) for one in held]
            total += [written * len(cells) * (last - first), *(each for one in shares for each in one)]
        return total


def alike(values: Iterable[object]) -> list[tuple[int, int]]:
    """Runs of equal neighbours: the number of the first one, and that behind the last."""
    runs = [[number for number, _ in run] for _, run in groupby(enumerate(values), lambda pair: pair[1])]
    return [(run[0], run[-1] + 1) for run in runs]


def _runs(held: Sequence[np.ndarray], visits: int) -> list[tuple[int, int]]:
    """Runs of visits in which the same masks are decided."""
    if not 0 < visits <= MOST_VISITS:
        return [(0, visits)] if visits else []
    return alike([[(_always(one[:, :, n]), _never(one[:, :, n])) for one in held] for n in range(visits)])


def _shares(held: np.ndarray, known: bool) -> MaskShares:
    """The visits of a run that count and that make a mask, in registers of one block."""
    some, whole = held.sum((1, 2))
    if known:
        return MaskShares(some, some - whole)
    visits = 0.0 if _never(held) else float(held[0].size)
    return MaskShares(visits, 0.0 if _always(held) else visits)


def _always(held: np.ndarray) -> bool:
    return bool((held[1] == 1).all())


def _never(held: np.ndarray) -> bool:
    return bool((held[0] == 0).all())


def _registers(mask: LaneMask, numbers: Mapping[Hashable, np.ndarray], sizes: _Known) -> tuple[np.ndarray, np.ndarray]:
    """The shares of a block's registers in which a mask holds in some lane, and in all: by their corners."""
    rank, shape = len(mask.dims), [int(value(size, sizes)) for _, size in mask.dims]
    arrays: dict[Hashable, np.ndarray] = {name: array[..., None, None, None] for name, array in numbers.items()}
    arrays |= {_LaneName(dim): np.zeros((1, 1, 1), int) for dim in range(rank)}
    if rank > 1:
        arrays[_LaneName(rank - 2)] = _ends(shape[-2], SUBLANES)[[0, 0, 1, 1], :, None]
    arrays[_LaneName(rank - 1)] = _ends(shape[-1], LANES)[[0, 1, 0, 1], None, :]

    def named(atom: Atom) -> IndexExpr | None:
        return of_atom(BlockNumber(_LaneName(atom.dim), 1, ANY)) if isinstance(atom, Lane) else None

    held = Evaluation(arrays).condition(Rewriting(named, sizes).condition(mask.condition))
    held = np.broadcast_to(held, np.broadcast_shapes(held.shape, *(one.shape for one in arrays.values())))
    return held.any(-3).mean((-1, -2)), held.all(-3).mean((-1, -2))


def _ends(lanes: int, step: int) -> np.ndarray:
    """The first and the last lane of each register along a dimension."""
    first = np.arange(0, lanes, step)
    return np.stack([first, np.minimum(first + step, lanes) - 1])


class _LaneName(int):
    """What the number of a lane is called along a dimension."""

    def __repr__(self) -> str:
        return f"lane({int(self)})"


def _names(masks: Iterable[LaneMask], exprs: Iterable[IndexExpr], sizes: Iterable[Coefficient] = ()) -> list[Hashable]:
    """The names of the block sizes that masks and expressions depend on."""
    parts = [part for mask in masks for part in mask.condition.parts]
    return parameters_of([*exprs, *parts], [*sizes, *(size for mask in masks for _, size in mask.dims)])
