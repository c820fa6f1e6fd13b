"""What each loop's block is used for: where its axis stands in memory, how far it walks, what combines it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Operation, SSAValue

from kopt.analysis.block_divisibility import most_lanes
from kopt.analysis.flattened import flattened_rows
from kopt.dialects.tile import (
    Access,
    AssociativeOp,
    BeginOp,
    CarryingLoop,
    DotOp,
    ForOp,
    GridOp,
    IdOp,
    RangeType,
    ScanOp,
    SortOp,
    TileType,
    is_gather,
    range_type,
    tag_of,
    tile_type,
)
from kopt.dialects.tile.index_list import Entry
from kopt.dtypes import from_ir
from kopt.ir.atoms import Element, Lane, Symbol, Wrap
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr
from kopt.ir.ranges import binding, walked_range
from kopt.walk import walk

_MOVES = (ScanOp, SortOp, AssociativeOp)


@dataclass
class Role:
    """The uses of one tag.

    ``extent`` elements are walked in all (None where that is only known when running), and the smallest dimension of an
    array that the axis indexes has ``within`` elements; where ``extent`` follows from the numbers of outer blocks, one
    loop walks ``reach`` elements at the most; ``places`` are the axis's distances from the last dimension in
    the memrefs that it indexes (0: lanes, 1: sublanes), ``vector`` whether those whose lanes it indexes have no other
    dimension; ``bits`` the widths of their elements; ``parallel`` whether a grid binds it; ``dot`` its places in matrix
    products, ``m``, ``n``, ``k``, ``wide_dot`` whether one of those has operands of 32 bits or more; ``size`` the lanes
    of a block as the module has them, ``single`` whether it is 1 whatever is asked for; ``begun`` whether nothing but
    where its blocks begin, or their numbers, is ever used; ``flat`` whether all that is computed along it is lane by
    lane and has one row; ``rows`` the least block of whole rows of flattened arrays (`kopt.analysis.flattened`);
    ``steps`` whether its lane numbers are multiplied to index an array; ``most`` the lanes that share a row which the
    beginning of their block names.
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
    reach: int | None = None
    flat: bool = True
    vector: bool = True
    steps: bool = False
    most: int | None = None
    rows: int | None = None


def block_roles(module: ModuleOp) -> dict[str, Role]:
    """The role of every tag that a loop binds, in order of appearance."""
    roles: dict[str, Role] = {}
    analysis = IndexAnalysis(open_tags=frozenset(map(tag_of, _ranges(module))))
    noted: set[tuple[int, bool]] = set()
    for op in walk(module):
        if isinstance(op, GridOp):
            for range in op.ranges:
                _bind(roles, range, parallel=True)
        elif isinstance(op, CarryingLoop):
            _bind(roles, op.range, parallel=False)
        elif isinstance(op, Access):
            _note_access(roles, op, analysis)
        elif isinstance(op, DotOp):
            _note_dot(roles, op)
        _note_dims(roles, op, noted)
    for tag, most in most_lanes(module, analysis).items():
        if tag in roles:
            roles[tag].most = most
    return roles


def _ranges(module: ModuleOp) -> Iterator[SSAValue]:
    """The ranges of all loops."""
    for op in walk(module, GridOp, CarryingLoop):
        yield from op.ranges if isinstance(op, GridOp) else [op.range]


def _bind(roles: dict[str, Role], range: SSAValue, parallel: bool) -> None:
    users = {type(use.operation) for use in range.uses}
    begun = bool(users) and users <= {BeginOp, IdOp}
    rows = flattened_rows(range) if parallel else None
    roles[tag_of(range)] = Role(
        _extent(range),
        parallel,
        size=range_type(range).size,
        begun=begun,
        reach=_reach(range),
        rows=rows and rows.least,
    )


def _reach(range: SSAValue) -> int | None:
    """The most elements that a loop walks whose bounds are made of the numbers of outer blocks."""
    bound = binding(range)
    if not isinstance(bound.owner, ForOp) or bound.trips is not None:
        return None
    analysis = IndexAnalysis()
    walked = analysis.expr(bound.upper) - analysis.expr(bound.lower)
    loaded = any(isinstance(atom, Symbol | Element) for atom in walked.atoms())
    return None if loaded or walked.along else walked.range.high


def _extent(range: SSAValue) -> int | None:
    bound = binding(range)
    if isinstance(bound.lower, int) and isinstance(bound.upper, int):
        return bound.upper - bound.lower
    outer = walked_range(bound)
    return _extent(outer) if outer is not None else None


def _note_access(roles: dict[str, Role], op: Access, analysis: IndexAnalysis) -> None:
    type = op.memory.type
    if not isinstance(type, MemRefType):
        return
    dtype = from_ir(type.element_type)
    entries = op.entries
    for position, entry in enumerate(entries):
        if (tag := _numbering(entry, analysis)) in roles:
            role = roles[tag]
            role.within = min(role.within or type.get_shape()[position], type.get_shape()[position])
            role.places.add(len(entries) - 1 - position)
            role.vector &= position < len(entries) - 1 or position == 0
            role.bits.add(dtype.bits if dtype else 32)
        if is_gather(entry):
            _note_steps(roles, entry, analysis)


def _numbering(entry: Entry, analysis: IndexAnalysis) -> str:
    """The tag whose lanes number a dimension of an array: a range's, or that of lane numbers and what all of them add.

    Empty where there is none.
    """
    if not isinstance(entry, SSAValue):
        return ""
    if isinstance(type := entry.type, RangeType):
        return type.tag
    if not isinstance(type, TileType):
        return ""
    lanes = [(atom, factor) for atom, factor in _sum(entry, analysis).terms.items() if atom.along]
    atom, factor = lanes[0] if len(lanes) == 1 else (None, 0)
    return type.tags[atom.dim] if isinstance(atom, Lane) and factor == 1 else ""


def _sum(index: SSAValue, analysis: IndexAnalysis) -> IndexExpr:
    """The sum that an index is where it fits its type: whether it does depends on sizes that are not chosen yet."""
    found = analysis.expr(index)
    return found.atom.inner if isinstance(found.atom, Wrap) else found


def _note_steps(roles: dict[str, Role], index: SSAValue, analysis: IndexAnalysis) -> None:
    for atom, factor in _sum(index, analysis).terms.items():
        if isinstance(atom, Lane) and (role := roles.get(tile_type(index).tags[atom.dim])) is not None:
            role.steps |= factor not in (1, -1)


def _note_dims(roles: dict[str, Role], op: Operation, noted: set[tuple[int, bool]]) -> None:
    """Axes of tiles have lanes; those of rows and columns are not flat, nor where an op moves lanes or finds places.

    Each type is ``noted`` once for ops that move lanes, once for others.
    """
    moves = isinstance(op, _MOVES) or (isinstance(op, Access) and op.gathers)
    for value in (*op.operands, *op.results):
        type = value.type
        if not isinstance(type, TileType) or (id(type), moves) in noted:
            continue
        noted.add((id(type), moves))
        flat = not moves and sum(size > 1 for size in type.shape) <= 1
        for role in [roles[tag] for tag in type.tags if tag in roles]:
            role.begun = False
            role.flat &= flat


def _note_dot(roles: dict[str, Role], op: DotOp) -> None:
    for place, tag in zip("mkn", _multiplied(op), strict=True):
        if tag in roles:
            roles[tag].dot.add(place)
            roles[tag].wide_dot |= _is_wide(op)


def has_wide_dot(module: ModuleOp) -> bool:
    """Whether a block of some loop is multiplied whose elements have 32 bits or more."""
    tags = frozenset(map(tag_of, _ranges(module)))
    return any(_is_wide(op) and not tags.isdisjoint(_multiplied(op)) for op in walk(module, DotOp))


def _multiplied(op: DotOp) -> tuple[str, str, str]:
    """The tags of the dimensions ``m``, ``k`` and ``n`` of a product."""
    lhs, rhs = tile_type(op.lhs), tile_type(op.rhs)
    return lhs.tags[-2], lhs.tags[-1], rhs.tags[-1]


def _is_wide(op: DotOp) -> bool:
    dtype = from_ir(tile_type(op.lhs).element_type)
    return dtype is not None and dtype.bits >= 32
