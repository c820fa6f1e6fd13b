"""What each loop's block is used for: where its axis stands in memory, how far it walks, what combines it."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.lane_sums import lane_sum
from kopt.analysis.quotients import most_lanes
from kopt.analysis.ranges import binding, walked_range
from kopt.dialects.tile import (
    Access,
    AssociativeOp,
    BeginOp,
    CarryingLoop,
    DotOp,
    GridOp,
    IdOp,
    RangeType,
    ScanOp,
    SortOp,
    TileType,
    is_gather,
)
from kopt.dialects.tile.index_list import Entry
from kopt.dtypes import from_ir

_MOVES = (ScanOp, SortOp, AssociativeOp)


@dataclass
class Role:
    """The uses of one tag.

    ``extent`` elements are walked in all (None where that is only known when running), and the smallest dimension of an
    array that the axis indexes has ``within`` elements; ``places`` are the axis's distances from the last dimension in
    the memrefs that it indexes (0: lanes, 1: sublanes), ``vector`` whether those whose lanes it indexes have no other
    dimension; ``bits`` the widths of their elements; ``parallel`` whether a grid binds it; ``dot`` its places in matrix
    products, ``m``, ``n``, ``k``, ``wide_dot`` whether one of those has operands of 32 bits or more; ``size`` the lanes
    of a block as the module has them, ``single`` whether it is 1 whatever is asked for; ``begun`` whether nothing but
    where its blocks begin, or their numbers, is ever used; ``flat`` whether all that is computed along it is lane by
    lane and has one row; ``steps`` whether its lane numbers are multiplied to index an array; ``most`` the lanes that
    share a row which the beginning of their block names.
    """

    extent: int | None
    parallel: bool
    places: set[int] = field(default_factory=set)
    bits: set[int] = field(default_factory=set)
    dot: set[str] = field(default_factory=set)
    wide_dot: bool = False
    size: int = 0
    single: bool = False
    begun: bool = False
    within: int | None = None
    flat: bool = True
    vector: bool = True
    steps: bool = False
    most: int | None = None


def block_roles(module: ModuleOp) -> dict[str, Role]:
    """The role of every tag that a loop binds, in order of appearance."""
    roles: dict[str, Role] = {}
    for op in module.walk():
        if isinstance(op, GridOp):
            for range in op.ranges:
                _bind(roles, range, parallel=True)
        elif isinstance(op, CarryingLoop):
            _bind(roles, op.range, parallel=False)
        elif isinstance(op, Access):
            _note_access(roles, op)
        elif isinstance(op, DotOp):
            _note_dot(roles, op)
        _note_dims(roles, op)
    for tag, most in most_lanes(module).items():
        if tag in roles:
            roles[tag].most = most
    return roles


def _bind(roles: dict[str, Role], range: SSAValue, parallel: bool) -> None:
    assert isinstance(range.type, RangeType)
    users = {type(use.operation) for use in range.uses}
    begun = bool(users) and users <= {BeginOp, IdOp}
    roles[range.type.tag] = Role(_extent(range), parallel, size=range.type.size, begun=begun)


def _extent(range: SSAValue) -> int | None:
    bound = binding(range)
    if isinstance(bound.lower, int) and isinstance(bound.upper, int):
        return bound.upper - bound.lower
    outer = walked_range(bound)
    return _extent(outer) if outer is not None else None


def _note_access(roles: dict[str, Role], op: Access) -> None:
    type = op.memory.type
    if not isinstance(type, MemRefType):
        return
    dtype = from_ir(type.element_type)
    entries = op.entries
    for position, entry in enumerate(entries):
        if (tag := _numbering(entry)) in roles:
            role = roles[tag]
            role.within = min(role.within or type.get_shape()[position], type.get_shape()[position])
            role.places.add(len(entries) - 1 - position)
            role.vector &= position < len(entries) - 1 or position == 0
            role.bits.add(dtype.bits if dtype else 32)
        if is_gather(entry) and isinstance(entry, SSAValue):
            _note_steps(roles, entry)


def _numbering(entry: Entry) -> str:
    """The tag whose lanes number a dimension of an array: a range's, or that of lane numbers and what all of them add.

    Empty where there is none.
    """
    if not isinstance(entry, SSAValue):
        return ""
    if isinstance(entry.type, RangeType):
        return entry.type.tag
    terms = lane_sum(entry).terms if is_gather(entry) else {}
    ranges = [(atom.type, factor) for (atom, dims), factor in terms.items() if dims]
    (type, factor), *others = ranges or [(None, 0)]
    return type.tag if isinstance(type, RangeType) and factor == 1 and not others else ""


def _note_steps(roles: dict[str, Role], index: SSAValue) -> None:
    for (atom, _), factor in lane_sum(index).terms.items():
        if isinstance(atom.type, RangeType) and atom.type.tag in roles:
            roles[atom.type.tag].steps |= abs(factor) > 1


def _note_dims(roles: dict[str, Role], op: Operation) -> None:
    """Axes of tiles have lanes; those of rows and columns are not flat, nor where an op moves lanes or finds places."""
    moves = isinstance(op, _MOVES) or (isinstance(op, Access) and any(map(is_gather, op.entries)))
    for value in (*op.operands, *op.results):
        type = value.type
        if not isinstance(type, TileType):
            continue
        flat = not moves and sum(size > 1 for size in type.shape) <= 1
        for role in [roles[tag] for tag in type.tags if tag in roles]:
            role.begun = False
            role.flat &= flat


def _note_dot(roles: dict[str, Role], op: DotOp) -> None:
    lhs, rhs = op.lhs.type, op.rhs.type
    assert isinstance(lhs, TileType) and isinstance(rhs, TileType)
    dtype = from_ir(lhs.element_type)
    for place, tag in (("m", lhs.tags[-2]), ("k", lhs.tags[-1]), ("n", rhs.tags[-1])):
        if tag in roles:
            roles[tag].dot.add(place)
            roles[tag].wide_dot |= dtype is not None and dtype.bits >= 32
