"""How long ranges are assumed to be whose bounds only a launch tells: what choosing block sizes goes by.

Such a range walks a dimension of an array. Where the array has a dimension for the items too, as in ``x[i, j]`` with
``j < n[i]``, each item may have all of it; where the items lie one after another, as in ``x[start[i] + j]``, they share
it alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

from kopt.ir.atoms import Atom, BlockNumber, Symbol
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import Axis, LaunchModel, ModelAccess
from kopt.ir.polynomial import Coefficient
from kopt.open_extents import called_shape
from kopt.planning.extents import is_known, told_extent

#: The elements of a range that walks no dimension.
_UNSEEN = 128


def assumed_lengths(model: LaunchModel) -> Mapping[str, list[int]]:
    """A length for each axis whose bounds only a launch tells, by its tag."""
    return {axis.tag: [_length(axis, model)] for axis in model.axes if not is_known(told_extent(axis))}


def _length(axis: Axis, model: LaunchModel) -> int:
    extents = [extent for access in model.accesses for extent in _extents(axis, access, model)]
    return max(1, min(extents, default=_UNSEEN))


def _extents(axis: Axis, access: ModelAccess, model: LaunchModel) -> Iterator[int]:
    """What one execution of a loop has of each dimension of an access that its axis walks, in elements of the axis."""
    for index, extent in zip(access.relation.indices, access.relation.shape, strict=True):
        if isinstance(extent, int):
            for factor in (factor for atom, factor in index.terms.items() if _counts(atom, axis.tag)):
                yield _elements(called_shape([extent])[0], factor, axis.size) // _sharing(index, access, model)


def _counts(atom: Atom, tag: str) -> bool:
    return isinstance(atom, BlockNumber) and str(atom.name) == tag


def _elements(extent: int, factor: Coefficient, size: Coefficient) -> int:
    """The elements of an axis that walk a dimension: a dimension of its blocks, ``table[i, tile.id]``, has fewer."""
    return extent * size // factor if isinstance(size, int) and isinstance(factor, int) and factor > 0 else extent


def _sharing(index: IndexExpr, access: ModelAccess, model: LaunchModel) -> int:
    """How many items lie one after another in a dimension: those of the axes that its loaded begin moves with.

    Not of those that have another dimension of the array.
    """
    names = {atom.name for atom in index.terms if isinstance(atom, Symbol)}
    moving = frozenset[str]().union(*(source.moves for source in model.sources if source.name in names))
    others = [atom for other in access.relation.indices if other is not index for atom in other.atoms()]
    own = {str(atom.name) for atom in others if isinstance(atom, BlockNumber)}
    extents = [axis.extent for axis in model.axes if axis.tag in moving - own]
    return prod(extent.number or 1 for extent in extents)
