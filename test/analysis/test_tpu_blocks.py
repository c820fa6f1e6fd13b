"""The block sizes that are looked at on a TPU: whole tiles of memory, powers of two times those, and divisors."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.block_roles import Role, block_roles
from kopt.analysis.tpu_blocks import TpuSpace, tpu_least, tpu_unit
from kopt.targets.budget import Budget
from kopt.targets.chips import TPU_CHIPS

V5E = TPU_CHIPS["v5e"]


def role(extent: int | None = 4096, places: set[int] | None = None, bits: int = 32, **more) -> Role:
    more.setdefault("vector", False)
    return Role(extent, True, {0} if places is None else places, {bits}, **more)


@pytest.mark.parametrize(
    ("found", "least"),
    [
        (role(), 128),
        (role(places={0, 1}), 128),
        (role(places={1}), 8),
        (role(places={1}, bits=16), 16),
        (role(places={1}, bits=8), 32),
        (role(places={2}), 1),
        (role(places=set()), 1),
        (role(places=set(), dot={"m"}), 8),
        (role(places=set(), dot={"k"}), 128),
        (role(places={1}, dot={"n"}), 128),
        (role(single=True), 1),
        # No more than there is; but lanes alone fill their tiles anyway.
        (role(3, {1}), 4),
        (role(3), 128),
        (role(3, steps=True), 4),
        (role(3, {0, 1}), 4),
        (role(1, {1}), 1),
        (role(None, {1}), 8),
        (role(None, {0, 1}, steps=True), 128),
        # Vectors that go with rows of other arrays are cut like rows.
        (role(4096, {0, 1}, vector=True), 8),
        (role(None, {0, 1}, vector=True), 128),
        (Role(4096, True, {1}), 8),  # of no known width
    ],
)
def test_the_smallest_block_is_a_tile_of_memory_or_all(found: Role, least: int) -> None:
    assert tpu_least(found, V5E) == least


@pytest.mark.parametrize(("extent", "size", "unit"), [(100, 100, 1), (100, 128, 1), (100, 99, 8), (None, 1000, 8)])
def test_a_block_of_all_needs_no_whole_tiles(extent: int | None, size: int, unit: int) -> None:
    assert tpu_unit(role(extent, {1}), size, V5E) == unit


ROWS = """
func.func @f(%x: memref<{rows}x{lanes}xf32>, %y: memref<{rows}x{lanes}xf32>) {{
  tile.grid (%i: b0=8, %j: b1=128) in ({rows}, {lanes}) {{
    %v = tile.load %x[%i, %j] : memref<{rows}x{lanes}xf32> -> !tile.tile<b0=8 x b1=128 x f32>
    {body}
    tile.store %v, %y[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<{rows}x{lanes}xf32>
  }}
  func.return
}}
"""


def space(rows: int, lanes: int, groups=(("b0",), ("b1",)), body: str = "", divides=True) -> TpuSpace:
    module = parse(ROWS.format(rows=rows, lanes=lanes, body=body))
    return TpuSpace(module, groups, block_roles(module), V5E, divides)


def pairs(found) -> set[tuple[int, ...]]:
    return {tuple(map(int, each)) for each in zip(*found.values(), strict=True)}


def sizes(found, tag: str) -> list[int]:
    return sorted({int(size) for size in found[tag]})


def test_all_powers_of_two_from_a_tile_up_to_the_extent() -> None:
    found = space(64, 512, divides=False).candidates()
    assert pairs(found) == {(8 << n, 128 << m) for n in range(4) for m in range(3)}
    assert [*found] == ["b0", "b1"] and len({len(column) for column in found.values()}) == 1


def test_the_last_power_holds_the_whole_extent() -> None:
    found = space(100, 300, divides=False).candidates()
    assert sizes(found, "b0") == [8, 16, 32, 64, 128] and sizes(found, "b1") == [128, 256, 512]


def test_divisors_are_whole_tiles() -> None:
    """1536 lanes are 2, 3, 4, 6 or 12 blocks of whole registers; 100 rows are none of 8 rows but all."""
    found = space(96, 1536).candidates()
    assert sizes(found, "b1") == [128, 256, 384, 512, 768, 1024, 1536, 2048]
    assert all(size % 8 == 0 and (96 % size == 0 or size & (size - 1) == 0) for size in sizes(found, "b0"))
    assert {24, 48, 96} <= {*sizes(found, "b0")}
    assert sizes(space(100, 1536).candidates(), "b0") == [8, 16, 32, 64, 128]


PRODUCT = """
func.func @product(%x: memref<512x256xbf16>, %y: memref<256x768xbf16>, %o: memref<512x768xf32>) {
  tile.grid (%i: b0=16, %j: b1=128) in (512, 768) {
    %v = tile.load %x[%i, :] : memref<512x256xbf16> -> !tile.tile<b0=16 x 256 x bf16>
    %w = tile.load %y[:, %j] : memref<256x768xbf16> -> !tile.tile<256 x b1=128 x bf16>
    %n = tile.dot %v, %w : !tile.tile<b0=16 x 256 x bf16>, !tile.tile<256 x b1=128 x bf16>
      -> !tile.tile<b0=16 x b1=128 x f32>
    tile.store %n, %o[%i, %j] : !tile.tile<b0=16 x b1=128 x f32>, memref<512x768xf32>
  }
  func.return
}
"""


def test_divisors_of_narrow_lanes_are_whole_words_but_where_the_matrix_unit_takes_them() -> None:
    """Of 768 lanes of bf16, 384 are three registers of words and no whole number of pairs; a product takes them."""
    rows = ROWS.format(rows=64, lanes=768, body="").replace("f32", "bf16")
    for text, taken in ((PRODUCT, True), (rows, False)):
        module = parse(text)
        found = TpuSpace(module, (("b0",), ("b1",)), block_roles(module), V5E).candidates()
        assert (384 in sizes(found, "b1")) == taken and {128, 256, 768} <= {*sizes(found, "b1")}


def test_what_goes_by_halves_has_powers_of_two() -> None:
    """A running sum of rows is products of whole blocks of lanes; of columns it goes by halves, as a maximum does."""
    tile = "!tile.tile<b0=8 x b1=128 x f32>"
    for scan, halved in (("add, 1", False), ("max, 1", True), ("add, 0", True)):
        kind, dim = scan.split(", ")
        body = f"%s = tile.scan {kind} %v dim {dim} : {tile}"
        found = space(96, 1536, body=body).candidates()
        assert (768 in found["b1"]) != halved and (96 in found["b0"]) != halved


def test_extents_of_nothing_and_one() -> None:
    for extent in (0, 1):
        found = space(extent, 128).candidates()
        assert sizes(found, "b0") == [1] and sizes(found, "b1") == [128]


def test_the_tags_of_one_group_have_one_size() -> None:
    found = space(4096, 4096, groups=(("b0", "b1"),)).candidates()
    assert pairs(found) == {(size, size) for size, _ in pairs(found)}
    assert min(found["b0"]) == 128  # the larger of the two least


def test_no_block_has_more_lanes_than_libtpu_compiles_in_a_while() -> None:
    """Blocks are larger where few ops are done with them, and none multiplies them or lays them out anew."""
    tile = "!tile.tile<b0=8 x b1=128 x f32>"
    steps = [f"%v{n + 1} = tile.add %v{n or ''}, %v : {tile}" for n in range(12)]
    for body, most in (
        ("", Budget.LARGE_BLOCK_LANES),
        ("\n".join(steps[:11]), Budget.LARGE_BLOCK_LANES),
        ("\n".join(steps), Budget.BLOCK_LANES),
        ("tile.for %k: b2=128 in (0, 512) {\n}", Budget.LARGE_BLOCK_LANES),
        (f"%t = tile.transpose %v [1, 0] : {tile}", Budget.BLOCK_LANES),
    ):
        one = space(8192, 8192, body=body)
        found = one.candidates()
        lanes = [a * b for a, b in pairs(found)]
        assert max(lanes) == most and any(one.large(found)) == (most > Budget.BLOCK_LANES)


def test_few_lanes_are_sorted_at_once() -> None:
    body = """%seed = arith.constant 3 : i32
    %c = tile.index %j : !tile.range<b1=128>
    %s = tile.broadcast %c dims [1] : !tile.tile<b1=128 x i32> to !tile.tile<b0=8 x b1=128 x i32>
    %t, %at = tile.sort %s dim 1 : !tile.tile<b0=8 x b1=128 x i32>"""
    found = space(4096, 4096, body=body).candidates()
    assert max(a * b for a, b in pairs(found)) == Budget.UNROLLED_LANES
    assert all(size & (size - 1) == 0 for size in sizes(found, "b1"))  # halves of halves


def test_the_least_is_what_is_left_where_all_is_too_much() -> None:
    body = """%s = tile.full 1.0 : !tile.tile<b0=8 x b1=128 x 128 x f32>
    %t, %at = tile.sort %s dim 2 : !tile.tile<b0=8 x b1=128 x 128 x f32>"""
    found = space(4096, 4096, body=body).candidates()
    assert pairs(found) == {(8, 128)}


LEFT, RIGHT = "!tile.tile<b0=16 x b1=128 x bf16>", "!tile.tile<b1=128 x 1024 x bf16>"
SUM, MEMORY = "!tile.tile<b0=16 x 1024 x f32>", "memref<4096x4096xbf16>"


def products(bounds: str, computed: str, right: str) -> str:
    """Products in a loop of ``bounds``, whose factors are loaded; ``right`` is the second one."""
    return f"""
func.func @f(%x: {MEMORY}, %w: {MEMORY}, %y: memref<4096x4096xf32>, %n: index) {{
  tile.grid (%g: b3=1) in (8) {{
    tile.for %i: b0=16 in {bounds} {{
      %none = tile.full 0.0 : {SUM}
      %sum = tile.for %k: b1=128 in (0, 4096) iter(%acc = %none) -> ({SUM}) {{
        %l = tile.load %x[%i, %k] : {MEMORY} -> {LEFT}
        %r = tile.load %w[%k, 0:1024] : {MEMORY} -> {RIGHT}
        {computed}
        %s = tile.dot %l, {right}, %acc : {LEFT}, {RIGHT} -> {SUM}
        tile.yield %s : {SUM}
      }}
      tile.store %sum, %y[%i, 0:1024] : {SUM}, memref<4096x4096xf32>
    }}
  }}
  func.return
}}"""


WIDE = RIGHT.replace("bf16", "f32")
COMPUTED = f"%wide = tile.cast %r : {RIGHT} to {WIDE}\n%m = tile.cast %wide : {WIDE} to {RIGHT}"


@pytest.mark.parametrize(
    ("bounds", "computed", "most"),
    [
        ("(0, %n)", "", 4096),  # the loop of products begins anew at each visit: one block of all
        ("(0, 4096)", "", 4096),  # a dimension of the grid
        ("(0, %n)", COMPUTED, 1024),  # what is computed with is unrolled
        ("(0, 4096)", COMPUTED, 1024),
    ],
)
def test_operands_that_are_streamed_are_as_large_as_products_allow(bounds: str, computed: str, most: int) -> None:
    module = parse(products(bounds, computed, "%m" if computed else "%r"))
    found = TpuSpace(module, (("b0",), ("b1",)), block_roles(module), V5E).candidates()
    assert max(found["b1"]) == most
    if "%n" in bounds:
        assert max(a * 1024 * b for a, b in pairs(found)) <= Budget.MULTIPLY_ADDS


NESTED = """
func.func @f(%x: memref<4096x128xf32>) {
  tile.grid (%i: b0=64) in (4096) {
    %b = tile.begin %i : !tile.range<b0=64>
    %e = tile.end %i : !tile.range<b0=64>
    tile.for %k: b1=8 in (%b, %e) {
      %v = tile.load %x[%k, :] : memref<4096x128xf32> -> !tile.tile<b1=8 x 128 x f32>
      tile.store %v, %x[%k, :] : !tile.tile<b1=8 x 128 x f32>, memref<4096x128xf32>
    }
  }
  func.return
}
"""


def test_a_loop_has_no_larger_blocks_than_it_walks() -> None:
    module = parse(NESTED)
    found = TpuSpace(module, (("b0",), ("b1",)), block_roles(module), V5E).candidates()
    assert all(inner <= outer for outer, inner in pairs(found))
    assert {(8, 8), (4096, 4096)} <= pairs(found)
    # Powers of two alone: each divides what is around it.
    assert all(size & (size - 1) == 0 for tag in found for size in sizes(found, tag))


def test_single_elements_stay_single() -> None:
    module = parse(ROWS.format(rows=64, lanes=512, body=""))
    roles = block_roles(module)
    roles["b0"].single = True
    found = TpuSpace(module, (("b0",), ("b1",)), roles, V5E, divides=False).candidates()
    assert pairs(found) == {(1, 128), (1, 256), (1, 512)}


def test_no_more_lanes_than_share_a_row() -> None:
    module = parse(ROWS.format(rows=64, lanes=512, body=""))
    roles = block_roles(module)
    roles["b1"].most = 128
    assert sizes(TpuSpace(module, (("b0",), ("b1",)), roles, V5E).candidates(), "b1") == [128]
