"""Which steps of an axis may overlap a copy that is started and waited for at once."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.copies import synchronous_copy
from kopt.analysis.overlapping import crosses, following_cells, is_of_cells, knows_first_block, why_not_overlapped
from kopt.dialects.pallas import CallOp, DmaStartOp
from kopt.targets.chips import TPU_CHIPS
from test.named import named, only

V6E, V5P = TPU_CHIPS["v6e"], TPU_CHIPS["v5p"]
HBM, BUFFER, SEM = "!tile.ref<64 x 512 x f32, hbm>", "!tile.ref<8 x 128 x f32, vmem>", "!tile.ref<1 x f32, semaphore>"
TEXT = f"""
func.func @f(%x: memref<64x512xf32>, %old: memref<64x512xf32>) -> memref<64x512xf32> {{{{
  %o = pallas.call @f(%x, %old) windows [<[64, 512], (d0) -> (0, 0), hbm>, <[64, 512], (d0) -> (0, 0), hbm>, <[64, 512], (d0) -> (0, 0), hbm>]
      semantics ({{semantics}}) aliases [1] : (memref<64x512xf32>, memref<64x512xf32>) -> memref<64x512xf32> {{{{
  ^bb0(%x_ref: {HBM}, %old_ref: {HBM}, %new_ref: {HBM}, %buffer: {BUFFER}, %sem: {SEM}, %n_ref: !tile.ref<1 x i32, smem>):
    tile.grid (%i: b0=8) in (64) {{{{
      {{body}}
    }}}}
  }}}}
  func.return %o : memref<64x512xf32>
}}}}
"""  # noqa: E501
ENDS = {"fetch": "%x_ref[%i, {at}] to %buffer[:, :]", "send": "%buffer[:, :] to %new_ref[%i, {at}]"}


def copy_of(kind: str, at: str, axis: str, array: str = "x_ref", depth: int = 2) -> str:
    """A copy at once, and the value that goes with it."""
    ends = ENDS[kind].format(at=at).replace("x_ref", array)
    types = f"{HBM}, {BUFFER}" if kind == "fetch" else f"{BUFFER}, {HBM}"
    both = [
        f"pallas.dma_{half} {ends} signal %sem[0] along %{axis} depth {depth} : {types}, {SEM}"
        for half in ("start", "wait")
    ]
    get = f"%v = tile.get %buffer[:, :] : {BUFFER} -> !tile.tile<8 x 128 x f32>"
    put = f"%v = tile.full 1.0 : !tile.tile<8 x 128 x f32>\ntile.put %v, %buffer[:, :] : !tile.tile<8 x 128 x f32>, {BUFFER}"  # noqa: E501
    return "\n".join([*both, get] if kind == "fetch" else [put, *both])


def loop(*body: str, bounds: str = "0, 512") -> str:
    return f"tile.for %k: b1=128 in ({bounds}) {{\n" + "\n".join(body) + "\n}"


def parsed(body: str, semantics: str = "arbitrary"):
    module = parse(TEXT.format(body=body, semantics=semantics))
    copy = synchronous_copy(only(module, DmaStartOp))
    assert copy is not None
    return copy, only(module, CallOp), named(module)


def why(body: str, semantics: str = "arbitrary", chip=V6E) -> str | None:
    copy, call, _ = parsed(body, semantics)
    return why_not_overlapped(copy, call, chip)


TOUCH = "%o = tile.get %new_ref[%i, %k] : " + HBM + " -> !tile.tile<b0=8 x b1=128 x f32>"


@pytest.mark.parametrize("kind", ["fetch", "send"])
def test_visits_of_a_loop_overlap(kind: str) -> None:
    assert why(loop(copy_of(kind, "%k", "k"))) is None


@pytest.mark.parametrize("kind", ["fetch", "send"])
def test_two_buffers_and_no_other_number(kind: str) -> None:
    assert why(loop(copy_of(kind, "%k", "k", depth=3))) == "copies have 2 buffers, not 3"


@pytest.mark.parametrize("kind", ["fetch", "send"])
def test_a_copy_of_some_visits_only(kind: str) -> None:
    body = f"tile.when first(%k) {{\n{copy_of(kind, '%k', 'k')}\n}}"
    assert why(loop(body)) == "it is in a loop, or under a condition, of its own"


def test_an_array_that_is_written_is_not_fetched_ahead() -> None:
    type = "!tile.tile<b0=8 x b1=128 x f32>"
    put = f"%p = tile.full 1.0 : {type}\ntile.put %p, %new_ref[%i, %k] : {type}, {HBM}"
    assert why(loop(copy_of("fetch", "%k", "k", "new_ref"), put)) == "the kernel writes the array"
    assert why(loop(copy_of("fetch", "%k", "k", "x_ref"), put)) is None


def test_a_block_does_not_leave_while_others_touch_the_array() -> None:
    assert why(loop(TOUCH, copy_of("send", "%k", "k"))) == "other accesses of the loop touch the array"


NUMBER = (
    "%q = tile.get %n_ref[0] : !tile.ref<1 x i32, smem> -> !tile.tile<i32>\n"
    "%e = tile.extract %q : !tile.tile<i32> to index\n"
)


def test_a_place_of_which_one_index_is_read_from_what_the_kernel_may_write() -> None:
    shift = NUMBER + "%s = tile.shift %k by %e : !tile.range<b1=128>"
    assert why(loop(shift, copy_of("fetch", "%s", "k"))) == "where the next block is, this visit cannot tell"
    copy, _, values = parsed(loop(shift, copy_of("fetch", "%s", "k")))
    assert not knows_first_block(copy) and not crosses(copy, values["i"])


def test_bounds_that_the_cell_before_cannot_tell() -> None:
    """A number that the cell reads says where the loop begins: in front of the loop it is known."""
    copy, _, values = parsed(NUMBER + loop(copy_of("fetch", "%k", "k"), bounds="%e, 512"))
    assert knows_first_block(copy)
    assert not knows_first_block(copy, values["i"]) and not crosses(copy, values["i"])


# Cells.


@pytest.mark.parametrize("array", ["new_ref", "x_ref"])
def test_an_array_that_is_written_is_not_fetched_a_cell_ahead(array: str) -> None:
    type = "!tile.tile<b0=8 x 128 x f32>"
    put = f"%p = tile.full 1.0 : {type}\ntile.put %p, %new_ref[%i, 0:128] : {type}, {HBM}\n"
    reason = "the kernel writes the array" if array == "new_ref" else None
    assert why(put + copy_of("fetch", "0:128", "i", array)) == reason


def test_a_place_that_the_cell_before_cannot_tell() -> None:
    whole = NUMBER + "%w = tile.whole 128 : !tile.range<w=128>\n%s = tile.shift %w by %e : !tile.range<w=128>\n"
    assert why(whole + copy_of("fetch", "%s", "i")) == "where the next cell's block is, this cell cannot tell"


def test_what_is_no_loop_computes_nothing_that_waits() -> None:
    """A put in front of the loop that fetches, outside of any loop."""
    put = "%p = tile.full 1 : !tile.tile<i32>\ntile.put %p, %n_ref[0] : !tile.tile<i32>, !tile.ref<1 x i32, smem>"
    copy, _, values = parsed(put + "\n" + loop(copy_of("fetch", "%k", "k")))
    assert crosses(copy, values["i"])


FIXED = "0:128"


@pytest.mark.parametrize(
    ("semantics", "chip", "reason"),
    [
        ("arbitrary", V6E, None),
        ("parallel", V6E, None),
        ("arbitrary", V5P, None),
        ("parallel", V5P, "cores share the cells"),
    ],
)
def test_cells_overlap_on_one_core(semantics: str, chip, reason: str | None) -> None:
    assert why(copy_of("fetch", FIXED, "i"), semantics, chip) == reason


def test_cells_do_not_along_an_axis_that_does_not_move_fastest() -> None:
    grid = TEXT.replace("(%i: b0=8) in (64)", "(%i: b0=8, %j: b8=128) in (64, 512)").replace("(d0) ->", "(d0, d1) ->")
    module = parse(grid.format(body=copy_of("fetch", FIXED, "i"), semantics="arbitrary, arbitrary"))
    copy = synchronous_copy(only(module, DmaStartOp))
    assert copy is not None
    assert why_not_overlapped(copy, only(module, CallOp), V6E) == "the next cell is along another axis"


def test_cells_do_not_where_a_loop_fetches() -> None:
    assert why(loop(copy_of("fetch", "%k", "i"))) == "it is in a loop, or under a condition"


def test_an_axis_is_of_cells_or_of_a_loop() -> None:
    copy, call, values = parsed(loop(copy_of("fetch", "%k", "k")))
    assert is_of_cells(values["i"]) and not is_of_cells(values["k"])
    assert following_cells(call, V6E) is values["i"]
    assert following_cells(parsed(copy_of("fetch", FIXED, "i"), "parallel")[1], V5P) is None


@pytest.mark.parametrize(("before", "wanted"), [("", True), (loop("%w = tile.index %k : !tile.range<b1=128>"), True)])
def test_the_first_block_of_a_loop_is_known_in_the_cell_before(before: str, wanted: bool) -> None:
    copy, _, values = parsed(before + "\n" + loop(copy_of("fetch", "%k", "k")).replace("b1", "b2"))
    assert knows_first_block(copy) and knows_first_block(copy, values["i"])
    assert crosses(copy, values["i"]) is wanted


def test_a_loop_behind_one_that_computes_does_not_cross() -> None:
    put = "%p = tile.full 1 : !tile.tile<i32>\ntile.put %p, %n_ref[0] : !tile.tile<i32>, !tile.ref<1 x i32, smem>"
    copy, _, values = parsed(loop(put) + "\n" + loop(copy_of("fetch", "%k", "k")).replace("b1", "b2"))
    assert not crosses(copy, values["i"])
