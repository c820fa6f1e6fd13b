"""How accesses of Python kernels are classified, each with the elements that the interpreter touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dialects.tile import Access, LoadOp
from kopt.ir.access_relation import KINDS, AccessRelation, Kind
from kopt.ir.condition import TRUE, compare
from kopt.ir.division import mod
from kopt.ir.from_access import relation_of
from kopt.ir.index_expr import block_number, lane, number, symbol
from kopt.ir.polynomial import parameter
from kopt.ir.value_range import ValueRange
from test.frontend.support import imported
from test.ir.kernels import Visit, run
from test.ir.test_access_relation import check

FLAT, MATRIX = torch.arange(600.0), torch.arange(1280.0).view(64, 20)
NUMBERS = torch.randint(0, 30, (32,), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
FLAGS = NUMBERS > 10


def groups(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [(i.index[:, None] // 4) * 8 + j.index[None, :] % 8])


def chosen_once(out, x, flags):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        first = torch.where(flags[3], 5, 80)
        out[i, j] = hl.load(x, [first + i.index[:, None] * 16 + j.index[None, :]])


def chosen_by_row(out, x, flags):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        first = torch.where(flags[i], 5, 200)
        out[i, j] = hl.load(x, [first[:, None] + j.index[None, :]])


def chosen_by_lane(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        column = torch.where(j.index > 3, 5, 9)
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + column[None, :]])


def chosen_pitch(out, x, flags):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        first = torch.where(flags[i], i.index * 2, i.index * 16)
        out[i, j] = hl.load(x, [first[:, None] + j.index[None, :]])


def chosen_by_block(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        first = torch.where(i.index > 15, 5, 80)
        out[i, j] = hl.load(x, [first[:, None] + j.index[None, :]])


def moved_lanes(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        column = torch.where(j.index > 3, j.index + 9, j.index)
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + column[None, :]])


def moved_in_ring(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        column = torch.where(j.index > 3, j.index + 8, j.index) % 16
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + column[None, :]])


def clamped(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = torch.clamp(i.index, max=20)
        out[i, j] = hl.load(x, [row[:, None], j.index[None, :]])


def ring(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [(i.index[:, None] * 3 + j.index[None, :]) % 37])


def ring_of_pairs(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [(i.index[:, None] * 10 + j.index[None, :]) % 64])


def reversed_ring(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + (19 - j.index[None, :]) % 16])


def rows(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = numbers[i]
        out[i, j] = hl.load(x, [row[:, None] * 16 + j.index[None, :]])


def rows_of_rows(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = numbers[numbers[i]]
        out[i, j] = x[row, j]


def rows_of_groups(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = hl.load(numbers, [i.index // 4])
        out[i, j] = hl.load(x, [row[:, None] * 16 + j.index[None, :]])


def rows_of_pairs_of_groups(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = hl.load(numbers, [hl.load(numbers, [i.index // 4]) % 8])
        out[i, j] = hl.load(x, [(row + i.index // 2)[:, None], j.index[None, :]])


def row_of_block(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = hl.load(numbers, [i.index // 16])
        out[i, j] = hl.load(x, [row[:, None], j.index[None, :]])


def row_where_it_is_loaded(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = hl.load(numbers, [i.index // 16], extra_mask=i.index % 3 > 0)
        out[i, j] = hl.load(x, [row[:, None], j.index[None, :]])


def ring_of_loaded_rows(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        row = hl.load(numbers, [i.index // 2])
        out[i, j] = hl.load(x, [(row[:, None] * 64 + j.index[None, :] + 2) % 500])


def ring_in_ring(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        lanes = (j.index // 8 * 4 + j.index % 8) % 8
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + lanes[None, :]])


def reversed_rows(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [63 - i.index[:, None], j.index[None, :]])


def reversed_elements(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + (15 - j.index[None, :])])


def overlapping(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [i.index[:, None] + j.index[None, :]])


def transposed(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [j.index[None, :], i.index[:, None] % 16])


def flat_block(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [i.index[:, None] * 16 + j.index[None, :]])


def two_levels(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        element = i.index[:, None] * 16 + j.index[None, :]
        out[i, j] = hl.load(x, [(element // 64) * 64 + element % 64 // 2 * 2 + element % 2])


def point(out, x, numbers):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = x[numbers[3], 4] + hl.zeros([i, j])


def whole(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = x[:, :].sum() + hl.zeros([i, j])


def strided(out, x):
    for i, j in hl.tile([32, 16], block_size=[16, 16]):
        out[i, j] = hl.load(x, [i.index[:, None] * 2, j.index[None, :]])


@dataclass(frozen=True)
class Case:
    """What the last load of a kernel is: its class, the length of its runs and their number, its cases."""

    kernel: Callable
    arrays: tuple[torch.Tensor, ...]
    kind: Kind
    length: int
    runs: int
    pieces: int = 1


CASES = [
    Case(groups, (FLAT,), "runs", 8, 4),
    Case(chosen_once, (FLAT, FLAGS), "runs", 256, 1, 2),
    Case(chosen_by_row, (FLAT, FLAGS), "runs", 16, 1, 2),
    Case(chosen_by_lane, (FLAT,), "elements", 1, 16, 2),
    Case(chosen_pitch, (FLAT, FLAGS), "runs", 256, 1, 2),
    Case(chosen_by_block, (FLAT,), "block", 16, 1, 2),
    Case(moved_lanes, (FLAT,), "runs", 256, 1, 2),
    Case(moved_in_ring, (FLAT,), "runs", 256, 1, 2),
    Case(clamped, (MATRIX,), "runs", 16, 16),
    Case(ring, (FLAT,), "elements", 1, 256),
    Case(ring_of_pairs, (FLAT,), "runs", 2, 128),
    Case(reversed_ring, (FLAT,), "runs", 4, 64),
    Case(rows, (FLAT, NUMBERS), "runs", 16, 16),
    Case(rows_of_rows, (MATRIX, NUMBERS), "runs", 16, 16),
    Case(rows_of_groups, (FLAT, NUMBERS), "runs", 16, 4),
    Case(rows_of_pairs_of_groups, (MATRIX, NUMBERS), "runs", 16, 8),
    Case(row_of_block, (MATRIX, NUMBERS), "block", 16, 1),
    Case(row_where_it_is_loaded, (MATRIX, NUMBERS), "runs", 16, 16),
    Case(ring_of_loaded_rows, (FLAT, NUMBERS), "runs", 2, 64),
    Case(ring_in_ring, (FLAT,), "runs", 4, 64),
    Case(reversed_rows, (MATRIX,), "block", 16, 16),
    Case(reversed_elements, (FLAT,), "runs", 256, 1),
    Case(overlapping, (FLAT,), "runs", 16, 16),
    Case(transposed, (MATRIX,), "block", 16, 16),
    Case(flat_block, (FLAT,), "runs", 256, 1),
    Case(two_levels, (FLAT,), "runs", 256, 1),
    Case(point, (MATRIX, NUMBERS), "point", 1, 1),
    Case(whole, (MATRIX,), "whole", 1280, 1),
    Case(strided, (MATRIX,), "block", 16, 16),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.kernel.__name__)
def test_classes(case: Case) -> None:
    module = imported(case.kernel, torch.empty(32, 16), *case.arrays).module
    loads = [op for op in module.walk() if isinstance(op, LoadOp)]
    visits: list[Access] = []

    def look(op: Access, visit: Visit) -> None:
        check(op, visit)
        visits.append(op)

    run(module, [array.numpy().copy() for array in (torch.empty(32, 16), *case.arrays)], look)
    relation = relation_of(loads[-1])
    assert set(loads) <= set(visits)
    assert (relation.kind, len(relation.pieces)) == (case.kind, case.pieces), str(relation)
    piece = relation.pieces[0][1]
    assert (piece.run.length, piece.runs) == (case.length, case.runs), str(relation)


TEXT = """
func.func @f(%x: memref<32x32xf32>, %y: memref<16x4x8xf32>, %z: memref<16xf32>, %e: memref<20x0xf32>,
                  %at: memref<4xi32>) {
  tile.grid (%i: b0=8) in (20) {
    %lanes = tile.index %i : !tile.range<b0=8>
    %diagonal = tile.load %x[%lanes, %lanes] : memref<32x32xf32> -> !tile.tile<b0=8 x f32>
    %three = arith.constant 3 : index
    %shifted = tile.shift %i by %three : !tile.range<b0=8>
    %rows = tile.load %x[%shifted, 1:9:2] : memref<32x32xf32> -> !tile.tile<b0=8 x 4 x f32>
    %planes = tile.load %y[0:16, :, :] : memref<16x4x8xf32> -> !tile.tile<16 x 4 x 8 x f32>
    %nothing = tile.load %e[%i, :] : memref<20x0xf32> -> !tile.tile<b0=8 x 0 x f32>
    %first = tile.load %at[0:1] : memref<4xi32> -> !tile.tile<1 x i32>
    %single = tile.load %z[%first] : memref<16xf32> -> !tile.tile<1 x f32>
    tile.for %k: b1=4 in (0, 0) {
      %never = tile.load %z[%k] : memref<16xf32> -> !tile.tile<b1=4 x f32>
    }
    %one = tile.load %z[3] : memref<16xf32> -> !tile.tile<f32>
  }
  func.return
}
"""


@pytest.mark.parametrize(
    ("name", "kind", "in_bounds"),
    [
        ("diagonal", "elements", True),
        ("rows", "block", True),
        ("planes", "whole", True),
        ("never", "block", True),
        ("one", "point", True),
        ("nothing", "block", True),
        ("single", "point", False),
    ],
)
def test_index_lists(name: str, kind: Kind, in_bounds: bool) -> None:
    module, found = kopt.parse(TEXT), {}

    def look(op: Access, visit: Visit) -> None:
        check(op, visit)
        found[op.results[0].name_hint] = visit.relation

    arrays = [np.zeros(shape, np.float32) for shape in ((32, 32), (16, 4, 8), (16,), (20, 0))]
    run(module, [*arrays, np.arange(4, dtype=np.int32)], look)
    relation = next(relation_of(op) for op in module.walk() if op.results and op.results[0].name_hint == name)
    assert (name == "never") == (name not in found)
    assert (relation.kind, relation.in_bounds) == (kind, in_bounds), str(relation)


ACCESSES = """
func.func @f(%x: memref<32x32xf32>, %ref: !tile.ref<32 x 32 x f32, vmem>) {
  tile.grid (%i: b0=8) in (20) {
    %m = tile.valid %i : !tile.range<b0=8>
    %v = tile.load %x[%i, 3] mask %m : memref<32x32xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %x[%i, 3] mask %m : !tile.tile<b0=8 x f32>, memref<32x32xf32>
    atomic.rmw add %v, %x[%i, 3] mask %m : !tile.tile<b0=8 x f32>, memref<32x32xf32>
    %o = atomic.cas %v, %v, %x[%i, 3] mask %m : !tile.tile<b0=8 x f32>, memref<32x32xf32>
    %g = tile.get %ref[%i, 3] : !tile.ref<32 x 32 x f32, vmem> -> !tile.tile<b0=8 x f32>
    tile.put %g, %ref[%i, 3] : !tile.tile<b0=8 x f32>, !tile.ref<32 x 32 x f32, vmem>
  }
  func.return
}
"""


def test_every_operation_that_accesses_memory_has_a_relation() -> None:
    """A mask that says what ranges say adds nothing, so all six are one."""
    relations = [relation_of(op) for op in kopt.parse(ACCESSES).walk() if isinstance(op, Access)]
    assert len(relations) == 6 and {str(one) for one in relations} == {str(relations[0])}
    assert all(one.kind == "block" and one.in_bounds for one in relations)


N, WIDTH, BLOCK = parameter("n"), parameter("width"), parameter("b")
#: The block's lanes below an extent, and a loop's block of columns.
ROW = block_number("i", BLOCK, ValueRange(0, None)) * BLOCK + lane(0, BLOCK)
INSIDE = compare("lt", ROW, number(N))


@pytest.mark.parametrize(
    ("shape", "lanes", "indices", "kind", "in_bounds"),
    {
        "rows of an open extent": ((N, 64), (BLOCK, 64), (ROW, lane(1, 64)), "block", True),
        "rows beyond it": ((N, 64), (BLOCK, 64), (ROW + 1, lane(1, 64)), "block", False),
        "all of an open array": ((N, WIDTH), (N, WIDTH), (lane(0, N), lane(1, WIDTH)), "whole", True),
        "transposed": ((N, WIDTH), (WIDTH, N), (lane(1, N), lane(0, WIDTH)), "block", True),
        "whole open rows by number": (
            (N, WIDTH),
            (BLOCK, WIDTH),
            (symbol("at", [0], ValueRange(0, None)), lane(1, WIDTH)),
            "runs",
            False,
        ),
        "its diagonal": ((N, N), (BLOCK,), (ROW, ROW), "elements", True),
        "flat": ((N * WIDTH,), (BLOCK, WIDTH), (ROW * WIDTH + lane(1, WIDTH),), "runs", False),
        "in a ring": ((N,), (BLOCK,), (mod(ROW, N),), "elements", True),
    }.values(),
)
def test_open_extents(shape: tuple, lanes: tuple, indices: tuple, kind: Kind, in_bounds: bool) -> None:
    """One relation serves all extents: chosen later, it is classified as it was, or better."""
    relation = AccessRelation(shape, lanes, indices, INSIDE if ROW in indices or in_bounds is False else TRUE)
    assert (relation.kind, relation.in_bounds) == (kind, in_bounds), str(relation)
    chosen = relation.at({"n": 96, "width": 64, "b": 32})
    assert KINDS.index(chosen.kind) <= KINDS.index(kind) and chosen.in_bounds >= in_bounds
    assert all(isinstance(size, int) for size in (*chosen.shape, *chosen.lanes))
