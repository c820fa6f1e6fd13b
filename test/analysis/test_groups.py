"""The groups of ranks that a function names, and their numbers of ranks."""

from __future__ import annotations

import pytest
from xdsl.dialects.func import FuncOp

from kopt import parse
from kopt.analysis.groups import groups_of, ranks_of
from kopt.errors import LoweringError
from test.named import only

V = "memref<8x4xf32>"
S = 'memref<8x4xf32, #symm.space<"{}">>'


def func(lines: str) -> FuncOp:
    """A function of these lines."""
    arguments = f"%x: {V}, %a: {S.format('a')}, %y: memref<2x4xf32>, %none: memref<0x4xf32>, %n: index"
    return only(parse(f"func.func @f({arguments}) {{\n{lines}\nfunc.return\n}}"), FuncOp)


GATHER = '%g{0} = symm.all_gather %y group "{1}" : memref<2x4xf32> to memref<{2}x4xf32>\n'
SCATTER = '%s{0} = symm.reduce_scatter %x group "{1}" : memref<8x4xf32> to memref<{2}x4xf32>\n'
REDUCE = f'%r = symm.all_reduce add %x group "tp" : {V} to {V}\n'
BARRIER = 'symm.barrier group "{0}" ranks {1} : i32\n'


@pytest.mark.parametrize(
    "lines, groups",
    [
        ("", ()),
        (f"host.copy %x to %x : {V}, {V}\n", ()),
        (REDUCE, ("tp",)),
        ('symm.barrier group "dp"\n' + REDUCE + 'symm.barrier group "dp"\n', ("dp", "tp")),
        (f"%v = host.alloc : {S.format('made')}\n", ("made",)),
        (f"host.copy %x to %a : {V}, {S.format('a')}\n" + REDUCE, ("a", "tp")),
        (
            "tile.grid (%i: b0=4) in (8) {\n"
            f"%v = tile.load %a[%i, :] : {S.format('a')} -> !tile.tile<b0=4 x 4 x f32>\n"
            '%me = symm.rank group "inside"\n}\n' + REDUCE,
            ("a", "inside", "tp"),
        ),
        (f"host.partition capture {{\n{REDUCE}\n}}", ("tp",)),
    ],
)
def test_groups_in_order_of_appearance(lines: str, groups: tuple[str, ...]) -> None:
    assert groups_of(func(lines)) == groups


@pytest.mark.parametrize(
    "lines, ranks",
    [
        ("", {}),
        (REDUCE, {}),
        ('symm.barrier group "tp"\n', {}),
        (GATHER.format(0, "tp", 8), {"tp": 4}),
        (GATHER.format(0, "tp", 2), {"tp": 1}),
        (SCATTER.format(0, "tp", 4), {"tp": 2}),
        (BARRIER.format("tp", 3), {"tp": 3}),
        (GATHER.format(0, "tp", 6) + SCATTER.format(0, "dp", 1), {"tp": 3, "dp": 8}),
        (GATHER.format(0, "tp", 8) + SCATTER.format(0, "tp", 2) + BARRIER.format("tp", 4), {"tp": 4}),
        ('%g = symm.all_gather %none group "tp" : memref<0x4xf32> to memref<0x4xf32>\n', {}),
    ],
)
def test_ranks_that_shapes_and_barriers_tell(lines: str, ranks: dict[str, int]) -> None:
    assert ranks_of(func(lines)) == ranks


@pytest.mark.parametrize(
    "lines, message",
    [
        (
            GATHER.format(0, "tp", 8) + BARRIER.format("dp", 2) + SCATTER.format(0, "tp", 4),
            'symm.reduce_scatter is of 2 ranks of group "tp", others of 4',
        ),
        (BARRIER.format("tp", 3) + BARRIER.format("tp", 5), 'symm.barrier is of 5 ranks of group "tp", others of 3'),
    ],
)
def test_numbers_that_differ_are_refused_where_they_do(lines: str, message: str) -> None:
    with pytest.raises(LoweringError, match=message) as found:
        ranks_of(func(lines))
    assert found.value.location is not None and found.value.location.line == lines.count("\n") + 1
