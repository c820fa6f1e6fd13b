"""Where the valid lanes of a value stand: what torch would number where the last block of a loop is shorter.

Each dimension is a product of `LaneAtom`s, of which some are ragged: as many of their lanes are valid as the last
block has. A dimension's valid lanes are its first ones where its outermost atom is the only ragged one; else there are
holes between them. Both the frontend's positions (slices, places of extremes, reshapes) and its counts ask here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from kopt.analysis.regrouping import groups
from kopt.dialects import tile
from kopt.dialects.atomic import CasOp, RmwOp
from kopt.dialects.jagged import ForOp as JaggedForOp
from kopt.dialects.tile import TileType, block_axes, is_gather
from kopt.dialects.tile.memory import memory_shape
from kopt.frontend.state import current


@dataclass(frozen=True)
class LaneAtom:
    """Lanes of a dimension: all of them valid; or as many of the first ones as ranges have, or (``holes``) of any.

    ``block`` is the tag of the range of which they are a block, no more and no less; ``joined`` are the lanes that they
    are, one after another. They may be one in ``parts`` of these.
    """

    size: int
    tags: frozenset[str] = frozenset()
    holes: bool = False
    block: str = ""
    joined: tuple[tuple[LaneAtom, ...], ...] = ()
    parts: int = 1

    @property
    def ragged(self) -> bool:
        """Whether some may be invalid."""
        return bool(self.tags)


#: The atoms of a dimension, the outermost first.
Lanes = tuple[LaneAtom, ...]
#: Those of a value's dimensions.
Form = tuple[Lanes, ...]
Rule = Callable[[Any, SSAValue], Form]


def form(value: SSAValue) -> Form:
    """What the dimensions of a value are made of."""
    known: dict[SSAValue, Form] = current().forms
    stack = [value]
    while stack:
        top = stack[-1]
        missing = [] if top in known else [each for each in _sources(top) if each not in known]
        if missing:
            stack += missing
            continue
        stack.pop()
        if top not in known:
            known[top] = _with_tags(top, _derived(top))
    return known[value]


def is_ragged(value: SSAValue, dim: int) -> bool:
    """Whether some lanes of a dimension may be invalid."""
    return any(atom.ragged for atom in form(value)[dim])


def is_hidden(value: SSAValue, dim: int) -> bool:
    """Whether that is so and the dimension has no tag that tells."""
    return not tile.tile_type(value).tags[dim] and is_ragged(value, dim)


def has_holes(value: SSAValue, dim: int) -> bool:
    """Whether valid lanes of a dimension may stand behind invalid ones."""
    return lanes_have_holes(form(value)[dim])


def lanes_have_holes(lanes: Lanes) -> bool:
    """As `has_holes`, of a dimension's atoms."""
    wide = [atom for atom in lanes if atom.size != 1]
    return any(atom.ragged and (number > 0 or atom.holes) for number, atom in enumerate(wide))


def first_lanes(lanes: Lanes) -> Lanes:
    """A dimension's atoms after its valid lanes were brought to its beginning."""
    return (_one([lanes], False, joined=(lanes,)),) if any(atom.ragged for atom in lanes) else lanes


def reshaped(value: SSAValue, sizes: Sequence[int]) -> tuple[Form, dict[int, int]] | None:
    """The form under other sizes, and where tags stay (new dimension to old); None where torch would put other lanes.

    torch reshapes the lanes that are there: 6 x 1 of 6 x 4 become 2 x 3 in ``reshape(2, -1)``, but ``reshape(-1, 3)``
    puts lanes beside each other that the whole block does not have there.
    """
    source, before = form(value), tile.tile_type(value).shape
    if 0 in before:
        return tuple((LaneAtom(size),) for size in sizes), _leading(before, sizes)
    out: list[Lanes] = [(LaneAtom(size),) for size in sizes]
    kept: dict[int, int] = {}
    for group in groups(before, sizes):
        if group.kept:
            kept[group.after[0]] = group.before[0]
        atoms = [atom for dim in group.before for atom in source[dim] if atom.size != 1]
        parts = [tuple(atoms)] if len(group.after) == 1 else _split(atoms, [sizes[dim] for dim in group.after])
        if parts is None:
            return None
        for dim, part in zip(group.after, parts, strict=True):
            out[dim] = part
    return tuple(out), kept


def _leading(before: Sequence[int], after: Sequence[int]) -> dict[int, int]:
    """The dimensions that two shapes begin with alike."""
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    return {n: n for n in range(same)}


def _split(atoms: Sequence[LaneAtom], sizes: Sequence[int]) -> list[Lanes] | None:
    """Atoms dealt out to several dimensions; None where one would be cut that is not the outermost."""
    ragged = [atom for atom in atoms if atom.ragged]
    if not ragged:
        return [(LaneAtom(size),) for size in sizes]
    if len(ragged) == 1 and atoms[0].ragged and not atoms[0].holes:
        return _split_outermost(atoms[0], sizes)
    left, parts = _merged(atoms), list[Lanes]()
    for size in reversed(sizes):
        part = _taken(left, size)
        if part is None:
            return None
        parts.insert(0, part)
    return parts


def _split_outermost(first: LaneAtom, sizes: Sequence[int]) -> list[Lanes]:
    """The first of several dimensions has as many lanes as are left, the others are full."""
    wide = next((n for n, size in enumerate(sizes) if size != 1), 0)
    return [_part_of(first, size) if n == wide else (LaneAtom(size),) for n, size in enumerate(sizes)]


def _part_of(first: LaneAtom, size: int) -> Lanes:
    """The outermost of dimensions that a block's lanes, and full ones behind them, are dealt out to."""
    if size % first.size == 0:
        return (first, LaneAtom(size // first.size)) if size != first.size else (first,)
    if first.size % size == 0:
        return (replace(first, size=size, parts=first.parts * (first.size // size)),)
    return (LaneAtom(size, first.tags),)


def _merged(atoms: Sequence[LaneAtom]) -> list[LaneAtom]:
    """Full atoms beside each other as one."""
    out: list[LaneAtom] = []
    for atom in atoms:
        if out and not atom.ragged and not out[-1].ragged:
            atom = LaneAtom(out.pop().size * atom.size)
        out.append(atom)
    return out


def _taken(left: list[LaneAtom], size: int) -> Lanes | None:
    """Takes the innermost atoms that make ``size`` lanes away; None where one does not divide."""
    part: list[LaneAtom] = []
    while size != 1:
        atom = left.pop()
        if size % atom.size == 0:
            part.insert(0, atom)
            size //= atom.size
        elif not atom.ragged and atom.size % size == 0:
            left.append(LaneAtom(atom.size // size))
            part.insert(0, LaneAtom(size))
            size = 1
        else:
            return None
    return tuple(part) or (LaneAtom(1),)


def _plain(value: SSAValue) -> list[Lanes]:
    return [(LaneAtom(size),) for size in tile.tile_type(value).shape]


def _with_tags(value: SSAValue, derived: Form) -> Form:
    """A dimension with a tag is the range's block."""
    return tuple(
        block_lanes(dim.size.data, dim.tag.data) if dim.tag.data else lanes
        for dim, lanes in zip(tile.tile_type(value).dims.data, derived, strict=True)
    )


def block_lanes(size: int, tag: str) -> Lanes:
    """The lanes of a range's block."""
    tracer = current()
    extent = tracer.extents.get(tag)
    full = size == 1 or (tag not in tracer.jagged and extent is not None and extent % size == 0)
    return (LaneAtom(size) if full else LaneAtom(size, frozenset([tag]), block=tag),)


def _rule(value: SSAValue) -> Rule | None:
    owner = value.owner
    if isinstance(owner, Block):
        return None
    return _same if isinstance(owner, tile.ElementwiseOp) else _RULES.get(type(owner))


def _derived(value: SSAValue) -> Form:
    rule = _rule(value)
    return tuple(_plain(value)) if rule is None else rule(value.owner, value)


def _sources(value: SSAValue) -> list[SSAValue]:
    owner = value.owner
    if _rule(value) is None or not isinstance(owner, Operation):
        return []
    values = _paths(owner, value) if isinstance(owner, _CARRIERS) else owner.operands
    return [each for each in values if isinstance(each.type, TileType)]


def _known(value: SSAValue) -> Form:
    return current().forms[value]


def met(forms: Sequence[Form]) -> Form:
    """Values whose lanes meet one by one: a lane is valid where it is in all."""
    return tuple(_meet(lanes) for lanes in zip(*forms, strict=True))


def _meet(several: Sequence[Lanes]) -> Lanes:
    ragged = list(dict.fromkeys(lanes for lanes in several if any(atom.ragged for atom in lanes)))
    if len(ragged) <= 1:
        return ragged[0] if ragged else several[0]
    return (_one(ragged, holes=any(map(lanes_have_holes, ragged))),)


def _one(several: Sequence[Lanes], holes: bool, size: int | None = None, joined: tuple[Lanes, ...] = ()) -> LaneAtom:
    tags = frozenset(tag for lanes in several for atom in lanes for tag in atom.tags)
    return LaneAtom(size or math.prod(atom.size for atom in several[0]), tags, holes, joined=joined)


def _same(op: Operation, value: SSAValue) -> Form:
    rank = tile.tile_type(value).rank
    forms = [_known(each) for each in op.operands if isinstance(each.type, TileType) and each.type.rank == rank]
    return met(forms) if forms else tuple(_plain(value))


def _reshape(op: tile.ReshapeOp, value: SSAValue) -> Form:
    found = reshaped(op.input, op.result_type.shape)
    if found is not None:
        return found[0]
    known = _known(op.input)
    return tuple((_one(known, True, size),) if size != 1 else (LaneAtom(1),) for size in op.result_type.shape)


def _broadcast(op: tile.BroadcastOp, value: SSAValue) -> Form:
    out = _plain(value)
    for lanes, place, size in zip(_known(op.input), op.mapping, op.input_type.shape, strict=True):
        if size == op.result_type.shape[place]:
            out[place] = lanes
    return tuple(out)


def _slice(op: tile.SliceOp, value: SSAValue) -> Form:
    out: list[Lanes] = []
    for lanes, (offset, size, step), whole in zip(_known(op.input), op.bounds, op.input_type.shape, strict=True):
        if (offset, size, step) == (0, whole, 1):
            out.append(lanes)
        elif (
            not any(atom.ragged for atom in lanes)
            or offset == 0
            and not lanes_have_holes(lanes)
            and (size == 1 or step == 1 and size <= _fewest(lanes))
        ):
            out.append((LaneAtom(size),))
        else:
            out.append((_one([lanes], lanes_have_holes(lanes), size),))
    return tuple(out)


def _fewest(lanes: Lanes) -> int:
    """A number of valid lanes that a dimension has at least: those of what was joined, whatever a block has."""
    return math.prod(_fewest_of_atom(atom) for atom in lanes)


def _fewest_of_atom(atom: LaneAtom) -> int:
    if not atom.ragged:
        return atom.size
    return sum(map(_fewest, atom.joined)) if atom.parts == 1 else 0


def _concat(op: tile.ConcatOp, value: SSAValue) -> Form:
    dim, forms = op.dim.data, [_known(each) for each in op.inputs]
    joined = list(met(forms)) if forms else []
    along = [each[dim] for each in forms]
    ragged = [n for n, lanes in enumerate(along) if any(atom.ragged for atom in lanes)]
    size = tile.tile_type(value).shape[dim]
    first = ragged == [len(along) - 1] and not lanes_have_holes(along[-1])
    joined[dim] = (_one([along[n] for n in ragged], not first, size, tuple(along)),) if ragged else (LaneAtom(size),)
    return tuple(joined)


def _take_along(op: tile.TakeAlongOp, value: SSAValue) -> Form:
    dim = op.dim.data
    indices, source = _known(op.indices), _known(op.input)
    out = [_meet(pair) for pair in zip(indices, source, strict=True)] if indices else []
    ragged = any(atom.ragged for atom in source[dim])
    size = tile.tile_type(value).shape[dim]
    out[dim] = (_one([source[dim], indices[dim]], True, size),) if ragged else indices[dim]
    return tuple(out)


def _mask(op: tile.MaskOp, value: SSAValue) -> Form:
    pairs = zip(_known(op.input), op.limits, strict=True)
    return tuple(
        lanes if limit is None else (LaneAtom(size),)
        for (lanes, limit), size in zip(pairs, tile.tile_type(value).shape, strict=True)
    )


def _dropped(op: Any, value: SSAValue) -> Form:
    gone = set(op.dimensions) if isinstance(op, tile.ReduceOp) else {op.dim.data}
    return tuple(lanes for n, lanes in enumerate(_known(op.operands[0])) if n not in gone)


def _dot(op: tile.DotOp, value: SSAValue) -> Form:
    left, right = _known(op.lhs), _known(op.rhs)
    product = (*left[:-1], right[-1])
    return product if op.accumulator is None else met([product, _known(op.accumulator)])


def _sort(op: tile.SortOp, value: SSAValue) -> Form:
    """The valid lanes come first."""
    out, dim = list(_known(op.input)), op.dim.data
    out[dim] = first_lanes(out[dim])
    return tuple(out)


def _access(op: tile.Access, value: SSAValue) -> Form:
    """Rows that are gathered have the form of their numbers."""
    axes = block_axes(op.entries, memory_shape(op.memory.type))
    out = _plain(value)
    gathers = [entry for entry in op.entries if is_gather(entry)]
    if gathers:
        rows = met([_known(entry) for entry in gathers if isinstance(entry, SSAValue)])
        first = next(n for n, axis in enumerate(axes) if axis.gather_dim is not None)
        out[first : first + len(rows)] = rows
    written = (op.value,) if isinstance(op, RmwOp) else (op.expected, op.desired) if isinstance(op, CasOp) else ()
    return met([tuple(out), *map(_known, written)])


def _paths(op: Any, value: SSAValue) -> list[SSAValue]:
    """What a result of a loop or branch may be: what its regions end with."""
    number = value.index  # pyright: ignore[reportAttributeAccessIssue]
    ends = [region.block.last_op for region in op.regions if region.blocks]
    return [end.operands[len(end.operands) - len(op.results) + number] for end in ends if end is not None]


def _carried(op: Any, value: SSAValue) -> Form:
    return met([_known(each) for each in _paths(op, value)])


_CARRIERS = (tile.ForOp, tile.WhileOp, JaggedForOp, scf.IfOp)
_SAME = (
    tile.SelectOp,
    tile.CastOp,
    tile.BitcastOp,
    tile.PhiloxOp,
    tile.ScanOp,
    tile.AssociativeScanOp,
    tile.ValidLanesOp,
)
_RULES: dict[type[Any], Rule] = {
    tile.ReshapeOp: _reshape,
    tile.BroadcastOp: _broadcast,
    tile.TransposeOp: lambda op, value: tuple(_known(op.input)[n] for n in op.order),
    tile.SliceOp: _slice,
    tile.ConcatOp: _concat,
    tile.TakeAlongOp: _take_along,
    tile.MaskOp: _mask,
    tile.ReduceOp: _dropped,
    tile.ArgReduceOp: _dropped,
    tile.AssociativeReduceOp: _dropped,
    tile.DotOp: _dot,
    tile.SortOp: _sort,
    tile.LoadOp: _access,
    RmwOp: _access,
    CasOp: _access,
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(_CARRIERS, _carried),
}
