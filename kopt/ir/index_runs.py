"""Index lists in normal form: which indices count lanes of the block that no other index differs along.

x[m.index[None, :], 3 + k.index[:, None]]        a box: the first index counts dimension 1, the second dimension 0
x[rows[:, None], n + arange(128)]                 the second index is a run along dimension 1, the first is gathered
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kopt.ir.index_expr import IndexExpr
from kopt.ir.runs import contiguous, strided


@dataclass(frozen=True)
class IndexRun:
    """``size`` elements in steps of ``step``, from ``first`` on, counted by ``dims`` of the lanes in row-major order.

    A number that is the same in all lanes is a run of one element, along no dimension.
    """

    first: IndexExpr
    size: int
    dims: tuple[int, ...] = ()
    step: int = 1


@dataclass(frozen=True)
class IndexList:
    """Indices over the lanes of a block of a shape. ``runs`` has the run of each, None for one that is gathered."""

    indices: tuple[IndexExpr, ...]
    shape: tuple[int, ...]
    runs: tuple[IndexRun | None, ...]

    @classmethod
    def of(cls, indices: Sequence[IndexExpr], shape: Sequence[int]) -> IndexList:
        """The normal form of some indices: all are runs that can be."""
        runs = [index_run(index, shape) for index in indices]
        for n, run in enumerate(runs):
            others = frozenset[int]().union(*(index.along for m, index in enumerate(indices) if m != n))
            if run is not None and others & {*run.dims}:
                runs[n] = None
        return cls(tuple(indices), tuple(shape), tuple(runs))

    def gathering(self, number: int) -> IndexList:
        """The list with one index gathered, though it may be a run."""
        return replace(self, runs=tuple(None if n == number else run for n, run in enumerate(self.runs)))

    @property
    def is_box(self) -> bool:
        """Whether all lanes are those of a block: each index counts by ones, and each dimension is counted."""
        return all(run is not None and run.step == 1 for run in self.runs) and not self.gathered

    @property
    def repeats(self) -> bool:
        """Whether all indices are runs, of lanes that some dimension repeats."""
        return None not in self.runs and bool(self.gathered)

    @property
    def gathered(self) -> tuple[int, ...]:
        """The dimensions of more than one lane that no run counts: in the order of the indices where each has one."""
        counted = {dim for run in self.runs if run is not None for dim in run.dims}
        dims = tuple(dim for dim, size in enumerate(self.shape) if size != 1 and dim not in counted)
        along = [tuple(index.along) for index, run in zip(self.indices, self.runs, strict=True) if run is None]
        ordered = tuple(dim for own in along for dim in own)
        return ordered if len(along) == len(ordered) and sorted(ordered) == [*dims] else dims

    @property
    def order(self) -> tuple[int, ...]:
        """The dimensions of more than one lane as an index list has them.

        A run's own stand where it does, the gathered ones where the first gathered index does.
        """
        found, left = list[int](), self.gathered
        for run in self.runs:
            found += left if run is None else run.dims
            left = left if run is not None else ()
        return tuple(found)


def index_run(index: IndexExpr, shape: Sequence[int]) -> IndexRun | None:
    """The run that an index over lanes of a shape is: of several dimensions by ones, or of one by any step.

    None where it counts backwards, or some lanes do not count.
    """
    run = contiguous(index)
    dims = tuple(peeled.dim for peeled in reversed(run.dims))
    if not run.start.along:
        assert isinstance(run.length, int)
        ascends = list(dims) == sorted(dims) and not any(peeled.backward for peeled in run.dims)
        return IndexRun(run.start, run.length, dims) if ascends else None
    if len(index.along) > 1:
        return None
    (dim,) = index.along
    found = strided(index, dim)
    if found is None or not isinstance(found.step, int) or found.step < 1:
        return None
    return IndexRun(found.start, shape[dim], (dim,), found.step)
