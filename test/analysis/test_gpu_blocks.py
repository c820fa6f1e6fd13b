"""The block sizes that a kernel may have on a GPU."""

from __future__ import annotations

from kopt import parse
from kopt.analysis.block_roles import block_roles
from kopt.analysis.gpu_blocks import GpuSpace, gpu_budget
from kopt.targets.budget import Budget

ROWS = """
func.func @rows(%x: memref<{rows}x{columns}xf32>, %out: memref<{rows}x{columns}xf32>) {{
  tile.grid (%i: b0=8, %j: b1=128) in ({rows}, {columns}) {{
    %v = tile.load %x[%i, %j] : memref<{rows}x{columns}xf32> -> !tile.tile<b0=8 x b1=128 x f32>
    tile.store %v, %out[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<{rows}x{columns}xf32>
  }}
  func.return
}}"""
PRODUCT = """
func.func @product(%x: memref<1024x1024x{type}>, %y: memref<1024x1024x{type}>, %out: memref<1024x1024xf32>) {{
  tile.grid (%i: b0=64, %j: b1=64) in (1024, 1024) {{
    %zero = tile.full 0.0 : !tile.tile<b0=64 x b1=64 x f32>
    %sum = tile.for %k: b2=32 in (0, 1024) iter(%acc = %zero) -> (!tile.tile<b0=64 x b1=64 x f32>) {{
      %l = tile.load %x[%i, %k] : memref<1024x1024x{type}> -> !tile.tile<b0=64 x b2=32 x {type}>
      %r = tile.load %y[%k, %j] : memref<1024x1024x{type}> -> !tile.tile<b2=32 x b1=64 x {type}>
      %d = tile.dot %l, %r, %acc : !tile.tile<b0=64 x b2=32 x {type}>, !tile.tile<b2=32 x b1=64 x {type}>
        -> !tile.tile<b0=64 x b1=64 x f32>
      tile.yield %d : !tile.tile<b0=64 x b1=64 x f32>
    }}
    tile.store %sum, %out[%i, %j] : !tile.tile<b0=64 x b1=64 x f32>, memref<1024x1024xf32>
  }}
  func.return
}}"""
WALKED = """
func.func @walked(%x: memref<1024xf32>, %out: memref<1024xf32>) {
  tile.grid (%i: b0=256) in (1024) {
    %b = tile.begin %i : !tile.range<b0=256>
    %e = tile.end %i : !tile.range<b0=256>
    tile.for %k: b1=64 in (%b, %e) {
      %v = tile.load %x[%k] : memref<1024xf32> -> !tile.tile<b1=64 x f32>
      tile.store %v, %out[%k] : !tile.tile<b1=64 x f32>, memref<1024xf32>
    }
  }
  func.return
}"""


def space(text: str, *groups: list[str]) -> GpuSpace:
    module = parse(text)
    return GpuSpace(module, groups, block_roles(module))


def choices(space: GpuSpace) -> dict[str, set[int]]:
    return {tag: set(map(int, sizes)) for tag, sizes in space.candidates().items()}


def test_lanes_are_a_sector_at_least_and_rows_any() -> None:
    found = choices(space(ROWS.format(rows=4096, columns=4096), ["b0"], ["b1"]))
    assert found == {"b0": {1 << n for n in range(8)}, "b1": {1 << n for n in range(4, 13)}}


def test_no_block_is_larger_than_what_it_walks_rounded_up() -> None:
    assert choices(space(ROWS.format(rows=3, columns=100), ["b0"], ["b1"])) == {
        "b0": {1, 2, 4},
        "b1": {16, 32, 64, 128},
    }
    assert choices(space(ROWS.format(rows=1, columns=7), ["b0"], ["b1"])) == {"b0": {1}, "b1": {8}}


def test_products_have_rows_and_columns_of_matrix_units() -> None:
    found = choices(space(PRODUCT.format(type="bf16"), ["b0"], ["b1"], ["b2"]))
    assert found == {"b0": {16, 32, 64, 128, 256}, "b1": {16, 32, 64, 128, 256}, "b2": {32, 64, 128}}


def test_wide_operands_are_summed_in_few_lanes() -> None:
    assert choices(space(PRODUCT.format(type="f32"), ["b0"], ["b1"], ["b2"]))["b2"] == {16, 32}


def test_blocks_of_one_group_are_of_one_size() -> None:
    found = space(PRODUCT.format(type="bf16"), ["b0", "b1"], ["b2"]).candidates()
    assert found["b0"].tolist() == found["b1"].tolist() and len(found["b0"]) == 5 * 3


def test_no_loop_has_larger_blocks_than_it_walks() -> None:
    found = space(WALKED, ["b0"], ["b1"]).candidates()
    assert (found["b1"] <= found["b0"]).all() and len(set(found["b0"].tolist())) > 3


def test_the_smallest() -> None:
    assert space(PRODUCT.format(type="bf16"), ["b0"], ["b1"], ["b2"]).least == {"b0": 16, "b1": 16, "b2": 32}


def test_elements_of_the_largest_tile() -> None:
    texts = ROWS.format(rows=8, columns=8), PRODUCT.format(type="bf16"), PRODUCT.format(type="f32")
    limits = [Budget.TILE_LANES, Budget.PRODUCT_TILE_LANES, Budget.WIDE_TILE_LANES]
    assert [gpu_budget(parse(text)) for text in texts] == limits
