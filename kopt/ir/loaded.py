"""Integer tiles that are loaded at computed places: numbers that are the same where their index lists are."""

from __future__ import annotations

from collections.abc import Sequence

from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import LoadOp, tile_type
from kopt.ir.atoms import Element, Extremum, Select, Symbol
from kopt.ir.division import FloorDiv, Mod
from kopt.ir.forms import Forms, gathering, is_number, wide_dims
from kopt.ir.index_expr import IndexExpr, lane
from kopt.ir.index_lists import indices
from kopt.ir.ranges import ranges_in_scope
from kopt.ir.rewriting import element

#: Numbers that are loaded by longer index lists keep their name alone: chains of loads stay cheap.
_LONG = 16
#: What may be the same for several lanes.
_REPEATING = (FloorDiv, Mod, Extremum, Select, Element)


def loaded(m: Forms, op: LoadOp) -> IndexExpr | None:
    """A tile that is loaded by an index which may repeat, as elements by that index; None of others.

    None too where some lanes inside their ranges are not loaded: by a mask, or a length of their own.
    """
    if m.keeps_names or op.mask is not None or op.pad is not None or not gathering(op) or not is_number(op.result.type):
        return None
    by, dims, name = indices(op, m), wide_dims(op.result.type), m.named(op.result)
    symbol = name.atom if isinstance(name, IndexExpr) else None
    if not isinstance(symbol, Symbol) or not _may_repeat(by, dims) or _is_jagged(m, op):
        return None
    return element(symbol.name, [lane(dim, m.lanes_along(op.result, dim)) for dim in dims], symbol.range, by)


def _may_repeat(by: Sequence[IndexExpr], dims: Sequence[int]) -> bool:
    if sum(part.weight for part in by) > _LONG:
        return False
    along = frozenset[int]().union(*(part.along for part in by))
    return not along >= {*dims} or any(isinstance(atom, _REPEATING) for part in by for atom in part.atoms())


def _is_jagged(m: Forms, op: LoadOp) -> bool:
    """Whether the valid lanes of one dimension differ along others: the first lane may be none of them."""
    scope = ranges_in_scope(op)
    tags = [tag for tag in tile_type(op.result).tags if tag in scope]
    return any(isinstance(m.binding(scope[tag]).owner, JaggedForOp) for tag in tags)
