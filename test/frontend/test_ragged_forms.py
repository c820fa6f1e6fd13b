"""Where valid lanes of values stand, by their forms: as masks that go the way of the lanes."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from xdsl.dialects.builtin import f32
from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import (
    ELEMENTWISE,
    BroadcastOp,
    ConcatOp,
    FullOp,
    ReduceOp,
    ReshapeOp,
    SliceOp,
    SortOp,
    TileType,
    TransposeOp,
)
from kopt.frontend import ragged
from kopt.frontend.ragged import Form, LaneAtom, Lanes, has_holes, is_ragged

B, C = LaneAtom(4, frozenset(["b"]), block="b"), LaneAtom(3, frozenset(["c"]), block="c")
TWO, THREE, ONE = LaneAtom(2), LaneAtom(3), LaneAtom(1)
#: How many lanes the last blocks of ranges may have.
COUNTS = [{"b": b, "c": c} for b, c in itertools.product(range(1, 5), range(1, 4))]
#: Dimensions of 12 lanes, of 4 and of 6.
TWELVE: tuple[Lanes, ...] = (
    *((LaneAtom(12),), (B, THREE), (THREE, B), (B, C), (C, B), (TWO, TWO, THREE)),
    *((LaneAtom(4), C), (TWO, C, TWO), (C, TWO, TWO), (TWO, THREE, TWO), (ONE, B, THREE)),
)
FOUR: tuple[Lanes, ...] = ((LaneAtom(4),), (B,), (TWO, TWO), (ONE, B))
SIX: tuple[Lanes, ...] = ((LaneAtom(6),), (C, TWO), (TWO, C), (TWO, THREE))
Mask = np.ndarray


@pytest.fixture(autouse=True)
def forms(monkeypatch) -> dict[SSAValue, Form]:
    tracer = SimpleNamespace(forms={}, extents={}, jagged=set())
    monkeypatch.setattr(ragged, "current", lambda: tracer)
    return tracer.forms


def size_of(lanes: Lanes) -> int:
    return int(np.prod([atom.size for atom in lanes]))


def mask_of(lanes: Lanes, counts: dict[str, int]) -> Mask:
    """The outermost atom's lanes vary slowest."""
    mask = np.ones(1, bool)
    for atom in lanes:
        (count,) = [counts[tag] for tag in atom.tags] or [atom.size]
        mask = np.kron(mask, np.arange(atom.size) < count)
    return mask.astype(bool)


def value_of(forms: dict[SSAValue, Form], *form: Lanes, element=f32) -> SSAValue:
    """A value of plain dimensions that have a form."""
    result = FullOp(0, TileType([size_of(lanes) for lanes in form], element)).result
    forms[result] = form
    return result


def masks(form: Form) -> list[Mask]:
    """The valid lanes of a value, for all last blocks that there may be."""
    found = []
    for counts in COUNTS:
        whole = np.ones((), bool)
        for lanes in form:
            whole = np.logical_and.outer(whole, mask_of(lanes, counts))
        found.append(whole)
    return found


def check(op: Operation, wanted: list[Mask], exactly: bool = True) -> None:
    """A dimension is ragged where some block lacks lanes of it, and has holes where those are not its last ones."""
    for result in op.results:
        for dim in range(wanted[0].ndim):
            others = tuple(n for n in range(wanted[0].ndim) if n != dim)
            lines = [mask.any(axis=others) for mask in wanted]
            lacking = any(not line.all() for line in lines)
            holes = any((np.diff(line.astype(int)) > 0).any() for line in lines)
            assert is_ragged(result, dim) >= lacking and has_holes(result, dim) >= holes
            if exactly:
                assert is_ragged(result, dim) == lacking and has_holes(result, dim) == holes


@pytest.mark.parametrize("lanes", [*TWELVE, *FOUR, *SIX])
def test_the_model(lanes: Lanes, forms) -> None:
    """Forms of what is not made of others, and of both orders of two dimensions."""
    value = value_of(forms, lanes, (TWO,))
    check(value.owner, masks((lanes, (TWO,))))  # pyright: ignore
    check(TransposeOp(value, [1, 0]), [mask.T for mask in masks((lanes, (TWO,)))])
    check(
        BroadcastOp(value, [2, 0], TileType([2, 5, size_of(lanes)], f32)),
        [np.broadcast_to(mask.T[:, None], (2, 5, size_of(lanes))) for mask in masks((lanes, (TWO,)))],
    )
    check(ReduceOp("add", value, [1]), masks((lanes,)))
    check(SortOp(value, 0), [np.sort(mask, 0)[::-1] for mask in masks((lanes, (TWO,)))])


@pytest.mark.parametrize("size", [2, 5])
def test_what_is_repeated_is_all_there(size: int, forms) -> None:
    """A dimension of 1 is one lane, whatever block it is."""
    single = LaneAtom(1, frozenset(["b"]), block="b")
    value = value_of(forms, (single,), (B,))
    op = BroadcastOp(value, [0, 1], TileType([size, 4], f32))
    check(op, [np.broadcast_to(mask, (size, 4)) for mask in masks(((ONE,), (B,)))])


@pytest.mark.parametrize("pair", list(itertools.combinations_with_replacement(TWELVE, 2)))
def test_lanes_that_meet(pair: tuple[Lanes, Lanes], forms) -> None:
    """A lane is there where it is in both."""
    values = [value_of(forms, lanes) for lanes in pair]
    wanted = [left & right for left, right in zip(*(masks((lanes,)) for lanes in pair), strict=True)]
    exactly = len({lanes for lanes in pair if any(atom.ragged for atom in lanes)}) < 2
    check(ELEMENTWISE["add"](*values), wanted, exactly)


@pytest.mark.parametrize("pair", list(itertools.product(FOUR, SIX)))
@pytest.mark.parametrize("swapped", [False, True])
def test_lanes_one_after_another(pair: tuple[Lanes, Lanes], swapped: bool, forms) -> None:
    parts = pair[::-1] if swapped else pair
    wanted = [np.concatenate(each) for each in zip(*(masks((lanes,)) for lanes in parts), strict=True)]
    check(ConcatOp([value_of(forms, lanes) for lanes in parts], 0), wanted)


@pytest.mark.parametrize("lanes", TWELVE)
@pytest.mark.parametrize(("first", "size", "step"), [(0, 12, 1), (0, 1, 1), (0, 2, 1), (0, 4, 3), (3, 9, 1), (1, 2, 5)])
def test_slices(lanes: Lanes, first: int, size: int, step: int, forms) -> None:
    """Lanes that are taken may be ragged where the source is; those that every block has are not."""
    op = SliceOp(value_of(forms, lanes), [first], [size], [step])
    check(op, [mask[first : first + (size - 1) * step + 1 : step] for mask in masks((lanes,))], exactly=False)
    if not any(atom.ragged for atom in lanes) or size == 1 and first == 0 and not ragged.lanes_have_holes(lanes):
        assert not is_ragged(op.result, 0)


def test_the_first_lanes_of_what_was_joined_are_there(forms) -> None:
    """As many as the full parts have, and one of each block."""
    joined = ConcatOp([value_of(forms, (LaneAtom(4),)), value_of(forms, (B,))], 0)
    for size, missing in ((1, False), (4, False), (6, True), (8, True)):
        assert is_ragged(SliceOp(joined, [0], [size], [1]).result, 0) is missing


@pytest.mark.parametrize(
    "sizes", [(12,), (3, 4), (4, 3), (2, 6), (6, 2), (2, 2, 3), (3, 2, 2), (2, 3, 2), (1, 12), (4, 1, 3)]
)
@pytest.mark.parametrize("lanes", TWELVE)
def test_dimensions_that_are_split(lanes: Lanes, sizes: tuple[int, ...], forms) -> None:
    """Where torch puts the lanes that are there elsewhere, there is no such form; else it is that of the same lanes."""
    value = value_of(forms, lanes)
    found = ragged.reshaped(value, sizes)
    wide = [atom for atom in lanes if atom.size != 1]
    outermost = sum(atom.ragged for atom in wide) == 1 and wide[0].ragged
    wanted = [mask.reshape(sizes) for mask in masks((lanes,))]
    separable = all(_is_product(mask) for mask in wanted)
    if outermost:
        assert found is not None
        return
    assert (found is not None) == separable
    if found is not None:
        assert all(np.array_equal(*each) for each in zip(masks(found[0]), wanted, strict=True))


def _is_product(mask: Mask) -> bool:
    """Whether a lane is there where it is in each dimension."""
    lines = [mask.any(axis=tuple(n for n in range(mask.ndim) if n != dim)) for dim in range(mask.ndim)]
    whole = np.ones((), bool)
    for line in lines:
        whole = np.logical_and.outer(whole, line)
    return bool(np.array_equal(whole, mask))


@pytest.mark.parametrize("inner", [(2,), (3,), (1,)])
def test_the_outermost_block_is_dealt_out(inner: tuple[int, ...], forms) -> None:
    """As torch has it: the first dimension that is wide has as many lanes as are left."""
    value = value_of(forms, (B, THREE))
    found = ragged.reshaped(value, (12 // inner[0], *inner))
    assert found is not None
    form, _ = found
    assert [any(atom.ragged for atom in lanes) for lanes in form] == [True, False]
    assert [size_of(lanes) for lanes in form] == [12 // inner[0], *inner]


def test_dimensions_that_are_merged(forms) -> None:
    for first, second in itertools.product(FOUR, SIX):
        value = value_of(forms, first, second)
        op = ReshapeOp(value, TileType([24], f32))
        check(op, [mask.reshape(24) for mask in masks((first, second))])
        whole = ReshapeOp(value, TileType([4, 6, 1], f32))
        check(whole, [mask[:, :, None] for mask in masks((first, second))])


SIXES = LaneAtom(6)


@pytest.mark.parametrize(
    ("atoms", "wanted"),
    [
        ([TWO, THREE], [SIXES]),
        ([TWO, B, THREE, TWO], [TWO, B, SIXES]),
        ([B, TWO], [B, TWO]),
        ([B, C], [B, C]),
        ([TWO, TWO, TWO], [LaneAtom(8)]),
        ([], []),
    ],
)
def test_full_lanes_beside_each_other(atoms: list[LaneAtom], wanted: list[LaneAtom]) -> None:
    assert ragged._merged(atoms) == wanted


@pytest.mark.parametrize(
    ("left", "size", "part", "rest"),
    [
        ([B, SIXES], 6, (SIXES,), [B]),
        ([B, SIXES], 3, (THREE,), [B, TWO]),
        ([B, SIXES], 2, (TWO,), [B, THREE]),
        ([B, SIXES], 24, (B, SIXES), []),
        ([TWO, B], 8, (TWO, B), []),
        ([B, C], 3, (C,), [B]),
        ([B, SIXES], 1, (ONE,), [B, SIXES]),
        ([B, SIXES], 4, None, None),  # neither divides the other
        ([SIXES, B], 2, None, None),  # a short block is not cut
        ([B, TWO], 4, None, None),  # nor is one that two lanes stand behind
        ([LaneAtom(4), TWO], 4, (TWO, TWO), [TWO]),
    ],
)
def test_innermost_lanes(left: list[LaneAtom], size: int, part: Lanes | None, rest: list[LaneAtom] | None) -> None:
    remaining = [*left]
    assert ragged._taken(remaining, size) == part
    if rest is not None:
        assert remaining == rest


def test_lanes_that_nobody_can_tell(forms) -> None:
    """Cut across: any of those of a dimension may be invalid, and stand behind others."""
    value = value_of(forms, (THREE, B))
    op = ReshapeOp(value, TileType([2, 6, 1], f32))
    assert ragged.reshaped(value, (2, 6, 1)) is None
    assert ragged.form(op.results[0]) == (
        (LaneAtom(2, frozenset(["b"]), True),),
        (LaneAtom(6, frozenset(["b"]), True),),
        (ONE,),
    )
