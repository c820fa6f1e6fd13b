"""What the cells of a grid take of VMEM: two buffers of each block, and the values that registers do not hold."""

from __future__ import annotations

import pytest

from kopt.analysis.cell_footprint import GridMemory, first_user, temporaries, user_position
from kopt.dialects.tile import StoreOp
from kopt.walk import walk
from test.analysis.one_launch import OneLaunch, one_launch

#: Bytes of a block of 8 rows of 128 lanes.
TILE = 4096
SUMS = """%z = tile.full 0.0 : !tile.tile<b0=8 x f32>
      %s = tile.for %k: b1=256 in ({bounds}) iter(%a = %z) -> (!tile.tile<b0=8 x f32>) {schedule} {{
        %v = tile.load %x[%i, %k] : memref<64x4096xf32> -> !tile.tile<b0=8 x b1=256 x f32>
        %r = tile.reduce add %v [1] : !tile.tile<b0=8 x b1=256 x f32>
        %n = tile.add %a, %r : !tile.tile<b0=8 x f32>
        tile.yield %n : !tile.tile<b0=8 x f32>
      }}
      tile.store %s, %out[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>"""
#: The buffer of eight sums: a row of 128 words.
FEW = 512


def sums(bounds: str = "0, 4096", schedule: str = "") -> OneLaunch:
    return one_launch(SUMS.format(bounds=bounds, schedule=schedule), "(%i: b0=8) in (64)", "out",
                      x="64x4096xf32", out="64xf32")  # fmt: skip


def test_windows_hold_what_loops_walk_as_a_whole() -> None:
    found = sums()
    memory, (loop,) = GridMemory(found.grid), found.loops
    assert memory.of_windows() == 2 * (32 * TILE + FEW)
    # As a dimension of the grid, a loop has one block of it at a time; so it has where it copies them by DMAs.
    assert memory.of_windows([loop.range]) == 2 * (2 * TILE + FEW)
    assert memory.scheduled({loop: "prefetch"}.get) == 2 * (2 * TILE + FEW)
    assert memory.scheduled({loop: "resident"}.get) == memory.of_windows()


def test_accesses_have_blocks_of_their_own() -> None:
    found = sums()
    (store,) = walk(found.grid, StoreOp)
    assert GridMemory(found.grid).of_blocks() == 2 * (2 * TILE + FEW)
    assert GridMemory(found.grid).of_blocks([store]) == 2 * 2 * TILE


def test_of_a_small_array_the_window_is_less_than_the_blocks() -> None:
    """Two accesses of all of it have one buffer."""
    load = "%{} = tile.load %x[:, :] : memref<8x128xf32> -> !tile.tile<8 x 128 x f32>"
    found = one_launch(load.format("a") + "\n" + load.format("b"), "(%i: b0=8) in (64)", x="8x128xf32")
    assert GridMemory(found.grid).of_blocks() == GridMemory(found.grid).of_windows() == 2 * TILE


@pytest.mark.parametrize(("element", "bits"), [("f32", 32), ("bf16", 16), ("i8", 8)])
def test_updates_are_summed_in_32_bits(element: str, bits: int) -> None:
    number = "1" if element == "i8" else "1.0"
    body = f"""%w = tile.full {number} : !tile.tile<32 x 128 x {element}>
      atomic.rmw add %w, %x[:, :] : !tile.tile<32 x 128 x {element}>, memref<32x128x{element}>"""
    found = one_launch(body, "(%i: b0=8) in (64)", "x", x=f"32x128x{element}")
    assert GridMemory(found.grid).of_windows() == 2 * 4 * TILE * bits // 32 + 4 * TILE


@pytest.mark.parametrize(
    ("entries", "dims", "element", "size"),
    [
        # A row for each number, of whole tiles of memory; of 16 bits eight rows come at once.
        ("%n, :", "b0=16 x 256", "f32", 16 * 256 * 4),
        ("%n, 0:128", "b0=16 x 128", "f32", 16 * 256 * 4),
        ("%n, %j", "b0=16 x b1=128", "f32", 16 * 128 * 4),
        ("%n, :", "b0=16 x 256", "bf16", 16 * 8 * 256 * 2),
        ("%n, %n", "b0=16", "f32", 16 * 128 * 4),
    ],
)
def test_rows_that_dmas_move(entries: str, dims: str, element: str, size: int) -> None:
    body = f"""%n = tile.load %n_of[%i] : memref<64xi32> -> !tile.tile<b0=16 x i32>
      %v = tile.load %x[{entries}] : memref<1000x256x{element}> -> !tile.tile<{dims} x {element}>"""
    found = one_launch(body, "(%i: b0=16, %j: b1=128) in (64, 256)", x=f"1000x256x{element}", n_of="64xi32")
    memory = GridMemory(found.grid)
    assert memory.of_windows() - 2 * FEW == size


LARGE = "!tile.tile<256 x 128 x f32>"  # 128 KiB: more than registers hold
SIZE = 32 * TILE


def test_values_count_from_where_they_are_made_to_their_last_use() -> None:
    body = f"""%a = tile.load %x[:, :] : memref<256x128xf32> -> {LARGE}
      {{}}
      tile.store %{{}}, %x[:, :] : {LARGE}, memref<256x128xf32>"""

    def of(lines: str, last: str) -> int:
        return temporaries(one_launch(body.format(lines, last), "(%i: b0=8) in (8)", "x", x="256x128xf32").grid)

    assert of("", "a") == SIZE
    assert of(f"%b = tile.neg %a : {LARGE}\n%c = tile.neg %b : {LARGE}", "c") == 2 * SIZE
    assert of(f"%b = tile.neg %a : {LARGE}\n%c = tile.add %a, %b : {LARGE}", "c") == 3 * SIZE
    # What is small stands in registers.
    assert (
        of("%s = tile.full 1.0 : !tile.tile<8 x 128 x f32>\n%t = tile.neg %s : !tile.tile<8 x 128 x f32>", "a") == SIZE
    )
    # A value that nothing uses is there while it is made.
    assert of(f"%b = tile.neg %a : {LARGE}", "a") == 2 * SIZE


def test_repeated_lanes_count_where_they_are_asked_for() -> None:
    body = f"""%a = tile.load %x[0, :] : memref<256x128xf32> -> !tile.tile<128 x f32>
      %b = tile.broadcast %a dims [1] : !tile.tile<128 x f32> to {LARGE}
      tile.store %b, %x[:, :] : {LARGE}, memref<256x128xf32>"""
    grid = one_launch(body, "(%i: b0=8) in (8)", "x", x="256x128xf32").grid
    assert (temporaries(grid), temporaries(grid, repeated=False)) == (SIZE, 0)


def test_blocks_of_other_sizes() -> None:
    body = """%a = tile.load %x[%i, :] : memref<4096x128xf32> -> !tile.tile<b0=256 x 128 x f32>
      tile.store %a, %x[%i, :] : !tile.tile<b0=256 x 128 x f32>, memref<4096x128xf32>"""
    grid = one_launch(body, "(%i: b0=256) in (4096)", "x", x="4096x128xf32").grid
    assert [temporaries(grid, {"b0": size}) for size in (256, 512, 8)] == [SIZE, 2 * SIZE, 0]
    assert temporaries(grid, {"b1": 512}) == temporaries(grid) == SIZE


@pytest.mark.parametrize(("schedule", "copies"), [("", 2), ("schedule resident", 2), ("schedule resident unroll 2", 3)])
def test_of_visits_that_are_unrolled_the_next_ones_largest_value_is_there(schedule: str, copies: int) -> None:
    body = f"""tile.for %k: b1=1 in (0, 8) {schedule} {{
        %a = tile.load %x[:, :] : memref<256x128xf32> -> {LARGE}
        %b = tile.neg %a : {LARGE}
        tile.store %b, %x[:, :] : {LARGE}, memref<256x128xf32>
      }}"""
    assert temporaries(one_launch(body, "(%i: b0=8) in (8)", "x", x="256x128xf32").grid) == copies * SIZE


def test_where_values_are_used() -> None:
    """Inside of another op of the block, too; of what is used elsewhere the first place counts."""
    found = sums()
    ops = list(found.grid.body.block.ops)
    position = {op: number for number, op in enumerate(ops)}
    (loop,) = found.loops
    (store,) = walk(found.grid, StoreOp)
    assert user_position(found["v"], position) == position[loop] == position[store] - 1
    assert user_position(store, position) == position[store] and user_position(None, position) == 0
    assert first_user(found.values["z"].uses, position) is loop
    assert first_user(found.grid.ranges[0].uses, position) is loop
