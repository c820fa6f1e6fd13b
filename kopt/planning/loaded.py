"""Where loaded numbers tell which block an access has: at which turns of an axis it is another one.

What arrays of numbers hold comes in by the operand's name: ``{"groups": [0, 0, 1, 2], "tiles": [0, 1, 1, 2]}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from kopt.ir.atoms import BlockNumber, Symbol
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import IndexExpr
from kopt.ir.launch_model import LaunchModel, ModelAccess, Name
from kopt.ir.rewriting import Rewriting
from kopt.planning.trips import Sizes

#: What one-dimensional operands hold, by their names.
Contents = Mapping[str, Sequence[int]]


def listed_changes(
    model: LaunchModel, accesses: Iterable[ModelAccess], tag: str, count: int, contents: Contents, sizes: Sizes
) -> np.ndarray | None:
    """Of each turn of an axis with ``count`` blocks, whether any of the accesses has another block after it.

    The last one is the axis's beginning anew.

    None where numbers that are not known tell, or where these depend on other axes too.
    """
    known = [_places(model, access, tag, count, contents, sizes) for access in accesses if access.address]
    if not known or any(places is None for places in known):
        return None
    changed = [(places != np.roll(places, -1, axis=0)).any(-1) for places in known if places is not None]
    return np.any(changed, axis=0)


def _places(
    model: LaunchModel, access: ModelAccess, tag: str, count: int, contents: Contents, sizes: Sizes
) -> np.ndarray | None:
    """What the numbers of an access are at each block of an axis, a row a block."""
    columns = []
    for index in access.relation.indices:
        for atom in index.terms:
            if isinstance(atom, Symbol):
                column = _loaded(model, atom, tag, count, contents, sizes)
                if column is None:
                    return None
                columns.append(column)
            elif isinstance(atom, BlockNumber) and str(atom.name) == tag:
                columns.append(np.arange(count))
    return np.stack(columns, -1) if columns else None


def _loaded(
    model: LaunchModel, atom: Symbol, tag: str, count: int, contents: Contents, sizes: Sizes
) -> np.ndarray | None:
    """The numbers that a symbol stands for, at each block of an axis."""
    name: Any = atom.name
    if not isinstance(name, Name) or name.kind != "loaded":
        return None
    source = model.access(name.of)
    if source.operand not in contents or source.moves != {tag}:
        return None
    (index, *others) = source.relation.indices
    held = np.asarray(contents[source.operand])
    places = _numbers(index, tag, count, sizes)
    return None if others or places is None or not np.all((0 <= places) & (places < len(held))) else held[places]


def _numbers(index: IndexExpr, tag: str, count: int, sizes: Sizes) -> np.ndarray | None:
    """An index made of the numbers of an axis's blocks, at sizes that are numbers."""
    chosen = {name: int(size) for name, size in sizes.items() if np.ndim(size) == 0}
    settled = Rewriting(lambda atom: None, chosen).expr(index)  # a tag names its sizes and its blocks
    atoms = [atom for atom in settled.terms if isinstance(atom, BlockNumber) and str(atom.name) == tag]
    numbers = [settled.const, *settled.terms.values()]
    if len(atoms) != len(settled.terms) or not all(isinstance(number, int) for number in numbers):
        return None
    return np.broadcast_to(evaluate(settled, {atom.name: np.arange(count) for atom in atoms}), count)
