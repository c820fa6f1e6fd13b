"""Whether all that a kernel reads, writes and copies is proved to lie inside of its refs."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.proved_bounds import is_inside
from kopt.dialects.pallas import CallOp
from test.named import only

HBM, ROWS, SEM = "!tile.ref<500 x 256 x f32, hbm>", "!tile.ref<8 x 256 x f32, vmem>", "!tile.ref<2 x i32, semaphore>"
SMEM, NUMBER = "!tile.ref<64 x i32, smem>", "!tile.tile<i32>"
#: A kernel that has a loaded number ``%n``, which is ``%at`` as an index.
TEXT = f"""
func.func @f(%ids: memref<64xi32>, %x: memref<500x256xf32>) -> memref<500x256xf32> {{{{
  %out = pallas.call @f(%ids, %x) {{windows}} semantics (arbitrary) aliases [-1] : (memref<64xi32>, memref<500x256xf32>) -> memref<500x256xf32> {{{{
  ^bb0(%n_ref: {SMEM}, %x_ref: {{ref}}, %out_ref: {HBM}, %rows: {ROWS}, %moved: {SEM}):
    tile.grid (%i: b0=8) in (64) {{{{
      %n = tile.get %n_ref[0] : {SMEM} -> {NUMBER}
      %at = tile.extract %n : {NUMBER} to index
      {{body}}
    }}}}
  }}}}
  func.return %out : memref<500x256xf32>
}}}}
"""  # noqa: E501
WINDOWS = "windows [<[64], (d0) -> (0), smem>, <[500, 256], (d0) -> (0, 0), hbm>, <[500, 256], (d0) -> (0, 0), hbm>]"


def inside(*body: str, windows: str = WINDOWS, ref: str = HBM) -> bool:
    return is_inside(only(parse(TEXT.format(body="\n".join(body), windows=windows, ref=ref)), CallOp))


def clamped(least: int, most: int, name: str = "row") -> str:
    """The loaded number, from ``least`` to ``most``."""
    return f"""%most_{name} = tile.full {most} : {NUMBER}
    %least_{name} = tile.full {least} : {NUMBER}
    %below_{name} = tile.minimum %n, %most_{name} : {NUMBER}
    %held_{name} = tile.maximum %below_{name}, %least_{name} : {NUMBER}
    %{name} = tile.extract %held_{name} : {NUMBER} to index"""


def get(at: str, name: str = "v") -> str:
    """A read of one element of the numbers."""
    return f"%{name} = tile.get %n_ref[{at}] : {SMEM} -> {NUMBER}"


def put(at: str) -> str:
    """A write of one row of the result."""
    return f"%z = tile.full 0.0 : !tile.tile<256 x f32>\ntile.put %z, %out_ref[{at}, :] : !tile.tile<256 x f32>, {HBM}"


def block(at: str, lanes: int, tag: str) -> str:
    """A read of some of the numbers."""
    return f"%v = tile.get %n_ref[{at}] : {SMEM} -> !tile.tile<{tag}={lanes} x i32>"


def copy(source: str = "%x_ref[0, :]", target: str = "%rows[0, :]", semaphore: str = "0", end: str = "start") -> str:
    """One end of a copy."""
    return f"pallas.dma_{end} {source} to {target} signal %moved[{semaphore}] : {HBM}, {ROWS}, {SEM}"


# Numbers of elements.


def test_a_kernel_that_names_nothing_by_number() -> None:
    whole = f"%v = tile.get %rows[:, :] : {ROWS} -> !tile.tile<8 x 256 x f32>"
    part = f"%w = tile.get %rows[0:8:2, 0:256] : {ROWS} -> !tile.tile<4 x 256 x f32>"
    assert inside() and inside(whole, part, get("63", "u"), put("499"), copy())


@pytest.mark.parametrize(
    ("least", "most", "found"),
    [(0, 63, True), (5, 7, True), (63, 63, True), (0, 64, False), (-1, 63, False), (64, 99, False)],
)
def test_a_loaded_number_is_inside_where_it_is_clamped_to(least: int, most: int, found: bool) -> None:
    assert inside(clamped(least, most), get("%row")) is found


@pytest.mark.parametrize(("least", "most", "found"), [(0, 499, True), (0, 500, False), (-1, 499, False)])
def test_so_is_one_that_is_written(least: int, most: int, found: bool) -> None:
    assert inside(clamped(least, most), put("%row")) is found


def test_a_loaded_number_alone_may_be_any() -> None:
    assert not inside(get("%at")) and not inside(put("%at")) and not inside(copy("%x_ref[%at, :]"))


def test_every_place_has_to_be_proved() -> None:
    good = [clamped(0, 63), get("%row"), copy("%x_ref[%row, :]")]
    assert inside(*good)
    for bad in (get("%at", "bad"), put("%at"), copy("%x_ref[%at, :]")):
        assert not inside(*good, bad) and not inside(bad, *good)


def test_of_several_entries_each_has_to_be_proved() -> None:
    """A row that there is, and a lane that there may not be."""
    one = "%v = tile.get %rows[{}, {}] : " + ROWS + " -> !tile.tile<f32>"
    both = [clamped(0, 7), clamped(0, 300, "lane")]
    assert inside(clamped(0, 7), one.format("%row", "%row"))
    assert not inside(*both, one.format("%row", "%lane")) and not inside(*both, one.format("%lane", "%row"))


def test_rows_by_numbers_are_not_looked_into() -> None:
    """Of gathers, lanes that are all known are no exception."""
    numbers = "%k = tile.full 3 : !tile.tile<8 x i32>"
    assert not inside(numbers, f"%v = tile.get %x_ref[%k, :] : {HBM} -> !tile.tile<8 x 256 x f32>")


# Copies.


@pytest.mark.parametrize("end", ["start", "wait"])
def test_both_ends_of_a_copy_and_its_semaphore(end: str) -> None:
    row, eight, two = clamped(0, 499), clamped(0, 7, "place"), clamped(0, 1, "which")
    assert inside(row, eight, two, copy("%x_ref[%row, :]", "%rows[%place, :]", "%which", end))
    assert not inside(copy("%x_ref[%at, :]", end=end))
    assert not inside(row, copy(target="%rows[%row, :]", end=end))
    assert not inside(eight, copy(semaphore="%place", end=end))


def test_blocks_as_values_are_accesses_too() -> None:
    """What is to be copied, before anyone has named a buffer."""
    fetch = f"%v = pallas.fetch %x_ref[%AT, :] : {HBM} -> !tile.tile<256 x f32>"
    send = (
        f"%z = tile.full 0.0 : !tile.tile<256 x f32>\npallas.send %z, %out_ref[%AT, :] : !tile.tile<256 x f32>, {HBM}"
    )
    for access in (fetch, send):
        assert inside(clamped(0, 499), access.replace("AT", "row"))
        assert not inside(clamped(0, 500), access.replace("AT", "row")) and not inside(access.replace("AT", "at"))


# Ranges.


def loop(body: str, size: int, bounds: str) -> str:
    return f"tile.for %k: b1={size} in ({bounds}) {{\n{body}\n}}"


@pytest.mark.parametrize(
    ("size", "bounds", "found"),
    [
        (1, "0, 64", True),
        (8, "0, 64", True),
        (64, "0, 64", True),
        (8, "56, 64", True),
        # The last block reaches beyond the array.
        (8, "0, 60", True),
        (24, "0, 64", False),
        (128, "0, 64", False),
        (8, "0, 65", False),
        (1, "0, 65", False),
        # Before it nothing is.
        (8, "-8, 64", False),
        # A loop that never runs names nothing.
        (8, "64, 64", True),
        (128, "0, 0", True),
    ],
)
def test_blocks_of_a_loop(size: int, bounds: str, found: bool) -> None:
    """What counts is the block's last lane, also if no number is asked for there."""
    assert inside(loop(block("%k", size, "b1"), size, bounds)) is found


@pytest.mark.parametrize(("bounds", "found"), [("0, %row", True), ("0, %at", False), ("%at, 64", False)])
def test_loops_whose_bounds_are_loaded(bounds: str, found: bool) -> None:
    assert inside(clamped(0, 64), loop(block("%k", 1, "b1"), 1, bounds)) is found


@pytest.mark.parametrize(("by", "found"), [("0", True), ("1", False), ("-1", False)])
def test_blocks_that_begin_elsewhere(by: str, found: bool) -> None:
    body = f"%c = arith.constant {by} : index\n%s = tile.shift %k by %c : !tile.range<b1=8>\n{block('%s', 8, 'b1')}"
    assert inside(loop(body, 8, "0, 64")) is found
    assert inside(loop(body, 8, "8, 56"))


def test_the_blocks_of_cells() -> None:
    """64 numbers are 8 blocks; a ref of one block has them only at its begin."""
    assert inside(block("%i", 8, "b0"))
    assert not inside(f"%v = tile.get %rows[%i, :] : {ROWS} -> !tile.tile<b0=8 x 256 x f32>")


# Conditions.


def branch(relation: str, than: int, yes: str, no: str = "") -> str:
    """What runs where the loaded number is so, and where it is not."""
    otherwise = f" else {{\n{no}\n}}" if no else ""
    return f"""%than_{relation} = arith.constant {than} : index
    %is_{relation} = arith.cmpi {relation}, %at, %than_{relation} : index
    scf.if %is_{relation} {{
      {yes}
    }}{otherwise}"""


def test_conditions_around_an_access_bound_its_numbers() -> None:
    both = branch("sge", 0, branch("slt", 64, get("%at")))
    assert inside(both) and inside(branch("slt", 64, branch("sge", 0, get("%at"))))
    assert not inside(branch("sge", 0, get("%at"))) and not inside(branch("slt", 64, get("%at")))
    assert not inside(branch("sge", 0, branch("slt", 65, get("%at"))))
    assert not inside(branch("sge", -1, branch("slt", 64, get("%at"))))


def test_the_other_arm_runs_where_a_condition_does_not_hold() -> None:
    nothing = "%q = tile.full 0 : " + NUMBER
    assert inside(branch("slt", 0, nothing, branch("sge", 64, nothing, get("%at"))))
    assert not inside(branch("slt", 0, get("%at"), branch("sge", 64, nothing, get("%at", "w"))))
    assert not inside(branch("sge", 0, nothing, branch("slt", 64, get("%at"))))


def test_conditions_hold_in_loops_inside_and_not_behind() -> None:
    access = loop(get("%at"), 8, "0, 64")
    assert inside(branch("sge", 0, branch("slt", 64, access)))
    assert not inside(branch("sge", 0, branch("slt", 64, get("%at"))), get("%at", "w"))


def test_other_conditions_tell_nothing() -> None:
    assert not inside(f"tile.when first(%i) {{\n{get('%at')}\n}}")
    assert inside(clamped(0, 63), f"tile.when first(%i) {{\n{get('%row')}\n}}")


# What is not looked into.


def test_windows_at_loaded_numbers() -> None:
    at = WINDOWS.replace(
        "<[500, 256], (d0) -> (0, 0), hbm>", "<[_, 256], (d0)[s0] -> (s0, 0), vmem, [<load 0, (d0) -> (d0)>]>", 1
    )
    assert inside(windows=WINDOWS)
    assert not inside(windows=f"prefetched 1 {at}", ref="!tile.ref<256 x f32, vmem>")


def test_pipelines_inside_of_the_kernel() -> None:
    pipeline = f"""%o = arith.constant 0 : index
    pallas.pipeline reads (%x_ref) at (%o) windows [<[4, 128], (d0)[s0] -> (s0, d0), vmem>] : {HBM} {{
    ^bb1(%part: !tile.ref<4 x 128 x f32, vmem>):
      tile.for %k: b1=128 in (0, 256) schedule emit_pipeline {{
      }}
    }}"""
    assert not inside(pipeline)


def test_copies_between_ranks_and_barriers() -> None:
    assert not inside('symm.barrier group "tp" ranks 4 : i32') and not inside('%me = symm.rank group "tp"')
