"""Traces of kernels: the phases at which ops run, what visits share, what products keep; what waits in registers."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.spills import pressure, spilled_bytes, spills, traced
from kopt.dialects.tile import GridOp
from kopt.planning.register_trace import Trace
from kopt.targets.chips import TPU_CHIPS
from kopt.walk import walk

V6E = TPU_CHIPS["v6e"]
ROWS, ROW = "!tile.tile<256 x 1024 x f32>", "!tile.tile<256 x 1 x f32>"
READ = "tile.get %x[:, :] : !tile.ref<256 x 1024 x {0}, vmem> -> !tile.tile<256 x 1024 x {0}>"


def grid(body: str, element: str = "f32") -> GridOp:
    """A cell of scratch memory alone."""
    text = f"""
    func.func @f() {{
      %x = pallas.scratch : !tile.ref<256 x 1024 x {element}, vmem>
      %o = pallas.scratch : !tile.ref<256 x 1024 x {element}, vmem>
      tile.grid () in () {{
        {body}
      }}
      func.return
    }}"""
    return walk(parse(text), GridOp)[0]


def summed(value: str) -> str:
    """The sum of each row, as wide as the rows."""
    return f"""%s{value} = tile.reduce add %{value} [1] : {ROWS}
        %r{value} = tile.reshape %s{value} : !tile.tile<256 x f32> to {ROW}
        %b{value} = tile.broadcast %r{value} dims [0, 1] : {ROW} to {ROWS}"""


def put(value: str, element: str = "f32") -> str:
    type = f"256 x 1024 x {element}"
    return f"tile.put %{value}, %o[:, :] : !tile.tile<{type}>, !tile.ref<{type}, vmem>"


def sizes(found: Trace) -> list[tuple[int, int, int]]:
    return [(op.at, op.there, op.size) for op in found.ops]


def test_a_sum_ends_a_phase() -> None:
    """What is divided by the sum of its rows is there before, and used after; the sum has a lane for each row."""
    found = traced(grid(f"%v = {READ.format('f32')}\n{summed('v')}\n%d = tile.div %v, %bv : {ROWS}\n{put('d')}"), V6E)
    assert sizes(found) == [(0, 0, 256), (0, 1, 32), (1, 1, 256), (1, 1, 0)]


def test_what_waits_beyond_registers_is_in_memory() -> None:
    """Exponentials of 256 registers, and a sum of 32, of which 42 have one."""
    body = f"""%v = {READ.format("f32")}
        {summed("v")}
        %w = tile.exp %v : {ROWS}
        %d = tile.div %w, %bv : {ROWS}
        {put("d")}"""
    cell = grid(body)
    assert spills(cell, V6E) == [(0, (288 - 42) * 4096), (1, 0)] and spilled_bytes(cell, V6E) == 246 * 4096


def test_what_is_read_twice_is_one_value_until_something_is_stored() -> None:
    read = READ.format("f32")
    body = f"%v = {read}\n%w = {read}\n%a = tile.add %v, %w : {ROWS}\n{put('a')}\n%u = {read}\n{put('u')}"
    assert [op.size for op in traced(grid(body), V6E).ops] == [256, 256, 0, 256, 0]


@pytest.mark.parametrize(("slow", "wanted"), [("exp", 256), ("neg", 32)])
def test_what_waits_for_a_sum(slow: str, wanted: int) -> None:
    """Exponentials that are divided by a sum of others wait for it; what is cheap is computed then."""
    body = f"""%v = {READ.format("f32")}
        {summed("v")}
        %w = tile.{slow} %v : {ROWS}
        %d = tile.div %w, %bv : {ROWS}
        {put("d")}"""
    assert pressure(grid(body), V6E) == wanted + (32 if wanted > 32 else 0)


@pytest.mark.parametrize(("later", "wanted"), [("neg %v", 128), ("sub %v, %v", 256)])
def test_narrow_blocks_stay_packed_for_few_uses(later: str, wanted: int) -> None:
    """Half of the registers, where they are widened no more than twice; a sum comes beside."""
    body = f"""%n = {READ.format("bf16")}
        %v = tile.cast %n : !tile.tile<256 x 1024 x bf16> to {ROWS}
        {summed("v")}
        %d = tile.{later} : {ROWS}
        %e = tile.mul %d, %bv : {ROWS}
        %r = tile.cast %e : {ROWS} to !tile.tile<256 x 1024 x bf16>
        {put("r", "bf16")}"""
    assert pressure(grid(body, "bf16"), V6E) == wanted + 32


def loop(schedule: str) -> GridOp:
    """A sum of the sums of blocks of lanes."""
    block = "!tile.tile<256 x b0=256 x f32>"
    return grid(f"""%z = tile.full 0.0 : {ROW}
        %t = tile.for %k: b0=256 in (0, 1024) iter(%a = %z) -> ({ROW}) schedule {schedule} {{
          %v = tile.get %x[:, %k] : !tile.ref<256 x 1024 x f32, vmem> -> {block}
          %s = tile.reduce add %v [1] : {block}
          %r = tile.reshape %s : !tile.tile<256 x f32> to {ROW}
          %n = tile.add %a, %r : {ROW}
          tile.yield %n : {ROW}
        }}
        %b = tile.broadcast %t dims [0, 1] : {ROW} to {ROWS}
        {put("b")}""")


@pytest.mark.parametrize(("schedule", "blocks"), [("resident", 1), ("resident unroll 2", 2), ("resident unroll 4", 4)])
def test_visits_that_are_written_out_are_ops_each(schedule: str, blocks: int) -> None:
    found = traced(loop(schedule), V6E)
    assert sum(op.reads for op in found.ops) == blocks
    # All of them are one piece of code: the sums come together.
    assert (max(op.at for op in found.ops) == 1) == (blocks == 4)


def product(rows: int, summed: int, columns: int, precision: str = "", element: str = "bf16") -> int:
    """The registers that a product keeps."""
    left, right, out = (
        f"{rows} x {summed} x {element}",
        f"{summed} x {columns} x {element}",
        f"{rows} x {columns} x f32",
    )
    found = traced(
        grid(f"""%p = pallas.scratch : !tile.ref<{left}, vmem>
        %q = pallas.scratch : !tile.ref<{right}, vmem>
        %l = tile.get %p[:, :] : !tile.ref<{left}, vmem> -> !tile.tile<{left}>
        %r = tile.get %q[:, :] : !tile.ref<{right}, vmem> -> !tile.tile<{right}>
        %d = tile.dot %l, %r {precision} : !tile.tile<{left}>, !tile.tile<{right}> -> !tile.tile<{out}>"""),
        V6E,
    )
    ((_, _, kept),) = found.inside
    return kept


@pytest.mark.parametrize(
    ("shape", "libtpu"),
    [
        ((512, 256, 512), 0),
        ((512, 512, 512), 0),
        ((1024, 768, 1024), 219),
        ((512, 1024, 256), 89),
        ((512, 1024, 768), 336),
        ((1024, 4096, 1024), 2267),
    ],
)
def test_what_products_keep_is_near_what_libtpu_spills(shape: tuple[int, int, int], libtpu: int) -> None:
    assert max(0, product(*shape) - 42) == pytest.approx(libtpu, rel=0.1, abs=8)


def test_products_of_wide_operands_keep_more() -> None:
    wide = product(512, 1024, 512, "precision ieee", "f32")
    assert wide == 4 * 512 + 128 and product(512, 1024, 128, "precision ieee", "f32") == 512 + 64
