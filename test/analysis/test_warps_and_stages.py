"""Warps and stages of a GPU launch: by what its cells compute and what its loops load."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from kopt import parse
from kopt.analysis.block_search import tile_types
from kopt.analysis.launch_models import fixed_model
from kopt.analysis.plans import GridNames
from kopt.analysis.warps_and_stages import (
    cheapest_num_warps,
    default_max_registers,
    default_num_stages,
    default_num_warps,
)
from kopt.dialects.tile import GridOp
from kopt.planning.candidates import gpu_candidate
from kopt.planning.cost import cost
from kopt.targets.budget import Budget
from kopt.targets.chips import GPU_CHIPS
from test.named import only

SM90 = GPU_CHIPS["sm90"]
CHIP = Budget(SM90)


def grid(body: str, programs: int = 4096) -> GridOp:
    text = f"""
func.func @f(%x: memref<4096x4096xf16>, %y: memref<4096x4096xf16>, %n: index) {{
  tile.grid (%i: b0=1) in ({programs}) {{
    {body}
  }}
  func.return
}}"""
    return only(parse(text), GridOp)


def block(lanes: int) -> str:
    return f"%v = tile.full 1.0 : !tile.tile<{lanes} x f32>"


@pytest.mark.parametrize(
    ("lanes", "wanted"),
    [(1, 1), (128, 1), (129, 2), (512, 4), (4096, 4), (4097, 8), (8192, 8), (8193, 16), (1 << 17, 16)],
)
def test_a_larger_block_has_more_warps(lanes: int, wanted: int) -> None:
    assert default_num_warps(grid(block(lanes)), CHIP) == wanted


@pytest.mark.parametrize(("programs", "wanted"), [(1, 16), (132, 16), (133, 8)])
def test_a_program_that_is_alone_on_its_multiprocessor_has_twice_as_many_warps(programs: int, wanted: int) -> None:
    assert default_num_warps(grid(block(8192), programs), CHIP) == wanted


@pytest.mark.parametrize(
    ("chip", "warps", "wanted"), [("sm80", 4, 255), ("sm120", 4, 255), ("sm103", 16, 128), ("sm90", 4, None)]
)
def test_loops_of_products_say_how_many_registers_a_thread_may_have(chip: str, warps: int, wanted: int | None) -> None:
    assert default_max_registers(grid(loop(product(64, 64, 64))), GPU_CHIPS[chip], warps) == wanted
    assert default_max_registers(grid(product(64, 64, 64)), GPU_CHIPS[chip], warps) is None


def test_a_cell_of_no_tiles_has_one() -> None:
    assert default_num_warps(grid("%c = arith.constant 1 : index"), CHIP) == 1


def product(m: int, k: int, n: int, name: str = "d") -> str:
    return f"""%l{name} = tile.load %x[0:{m}, 0:{k}] : memref<4096x4096xf16> -> !tile.tile<{m} x {k} x f16>
    %r{name} = tile.load %y[0:{k}, 0:{n}] : memref<4096x4096xf16> -> !tile.tile<{k} x {n} x f16>
    %{name} = tile.dot %l{name}, %r{name}
      : !tile.tile<{m} x {k} x f16>, !tile.tile<{k} x {n} x f16> -> !tile.tile<{m} x {n} x f32>"""


def loop(body: str, upper: str = "64") -> str:
    return f"tile.for %k: b1=1 in (0, {upper}) {{\n{body}\n}}"


def test_products_of_one_block_count_together_and_have_at_most_eight() -> None:
    one, other = product(128, 16, 64), product(128, 16, 64, "e")
    apart = f"{loop(one)}\n{loop(other).replace('b1', 'b2')}"
    assert [default_num_warps(grid(body), CHIP) for body in (one, f"{one}\n{other}", apart)] == [4, 8, 4]
    assert default_num_warps(grid(product(256, 16, 256)), CHIP) == 8


def test_a_product_of_few_rows_has_a_warp_for_sixteen() -> None:
    assert [default_num_warps(grid(product(rows, 16, 1024)), CHIP) for rows in (16, 64, 128)] == [4, 4, 8]


def test_products_of_other_rows_have_the_warps_of_those_that_they_are_padded_to() -> None:
    assert [default_num_warps(grid(product(rows, 16, 1024)), CHIP) for rows in (24, 64, 65, 100, 300)] == [
        4,
        4,
        8,
        8,
        8,
    ]


def test_amd_has_a_warp_for_each_unit_of_a_multiprocessor() -> None:
    assert default_num_warps(grid(product(128, 16, 256)), Budget(GPU_CHIPS["gfx942"])) == 4


def test_values_that_are_alive_at_once_have_more_warps() -> None:
    """Six of 2,048 lanes each are more than 80 registers of each thread of four warps."""
    type = "!tile.tile<2048 x f32>"

    def sums(count: int) -> str:
        loads = [f"%v{n} = tile.load %x[{n}, 0:2048] : memref<4096x4096xf16> -> !tile.tile<2048 x f16>\n"
                 f"%w{n} = tile.cast %v{n} : !tile.tile<2048 x f16> to {type}" for n in range(count)]  # fmt: skip
        adds = [f"%s{n + 1} = tile.add %{f's{n}' if n else 'w0'}, %w{n + 1} : {type}" for n in range(count - 1)]
        return "\n".join((*loads, *adds))

    assert [default_num_warps(grid(sums(count)), CHIP) for count in (3, 5, 6)] == [4, 4, 8]


def copied(rows: int) -> GridOp:
    """2,048 programs that each copy some rows of 4,096 columns."""
    type = f"!tile.tile<{rows} x 4096 x f16>"
    memory = "memref<4096x4096xf16>"
    body = f"%v = tile.load %x[0:{rows}, 0:4096] : {memory} -> {type}\n"
    return grid(f"{body}tile.store %v, %y[0:{rows}, 0:4096] : {type}, {memory}", 2048)


@pytest.mark.parametrize("usual", [1, 2, 4, 8, 16])
def test_other_warps_have_to_take_clearly_less(usual: int) -> None:
    """By the model, a twentieth; products keep what they have."""
    top = copied(1)
    known = GridNames.of(top)
    model = fixed_model(top, known)

    def seconds(count: int) -> float:
        plan = replace(gpu_candidate(model), options=(("warps", count),))
        found = cost(model, {}, plan, SM90)
        return float(found.seconds) if found.fits or count == usual else inf

    every = {count: seconds(count) for count in (1, 2, 4, 8, 16)}
    best = min(every, key=every.__getitem__)
    found = cheapest_num_warps(top, known, SM90, usual)
    assert found == usual if every[best] >= 0.95 * every[usual] else every[found] == every[best]
    multiplied = grid(product(16, 4096, 16))
    assert cheapest_num_warps(multiplied, GridNames.of(multiplied), SM90, usual) == usual


def test_fewer_warps_may_leave_room_for_more_programs() -> None:
    top = copied(1)
    assert cheapest_num_warps(top, GridNames.of(top), SM90, 16) < 16


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (block(64), 1),
        (loop(block(64)), 2),
        # Products outside of loops are not pipelined.
        (product(64, 64, 64), 1),
        (f"{loop(block(64))}\n{product(64, 64, 64)}", 2),
        (loop(product(64, 64, 64)), 4),
        (loop(product(128, 64, 256)), 4),
        # The hungriest loop decides.
        (
            f"{loop(product(64, 64, 64))}\n{loop(product(128, 64, 256, 'e')).replace('b1', 'b2')}",
            4,
        ),
    ],
)
def test_as_many_loads_are_in_flight_as_shared_memory_holds(body: str, wanted: int) -> None:
    assert default_num_stages(grid(body), SM90, 4) == wanted
    assert 1 <= wanted <= 4


def test_a_block_larger_than_shared_memory_has_one_stage() -> None:
    assert default_num_stages(grid(loop(product(512, 512, 512))), SM90, 4) == 1


def test_tiles_that_are_made_are_all_found_once() -> None:
    types = tile_types(
        grid(f"{block(64)}\n%w = tile.exp %v : !tile.tile<64 x f32>\n{loop(block(8).replace('%v', '%u'))}")
    )
    assert sorted(type.shape for type in types) == [(8,), (64,)]
