"""Plain dimensions that are made of blocks: their lanes follow the sizes that are left open."""

from __future__ import annotations

from kopt import parse
from kopt.analysis.launch_models import launch_models
from kopt.analysis.launch_models.merged_dims import MergedDims
from kopt.dialects.tile import GridOp
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.polynomial import Coefficient, substituted
from test.named import named, only

BLOCK, PAIRS, FLAT = (f"!tile.tile<{dims} x f32>" for dims in ("b0=8 x b1=4", "b0=8 x 2 x b1=4", "16 x b1=4"))
TEXT = """
func.func @f(%x: memref<64x32xf32>, %y: memref<128x128xf32>, %z: memref<128x32xf32>) {{
  tile.grid (%i: b0=8, %j: b1=4) in (64, 32) {{
    %v = tile.load %x[%i, %j] : memref<64x32xf32> -> {BLOCK}
    {body}
  }}
  func.return
}}
"""


def lanes(body: str, **sizes: int) -> dict[str, tuple[Coefficient | None, ...]]:
    """What is said of each dimension of the tiles that have a name, at sizes of the open blocks."""
    module = parse(TEXT.format(BLOCK=BLOCK, body=body))
    merged = MergedDims(only(module, GridOp), list(sizes), IndexAnalysis(open_tags=list(sizes)).lanes_of)
    return {name: tuple(_at(merged.lanes(value, dim), sizes) for dim in range(value.type.rank))
            for name, value in named(module).items() if hasattr(value.type, "rank")}  # fmt: skip


def _at(found: Coefficient | None, sizes: dict[str, int]) -> Coefficient | None:
    return None if found is None else substituted(found, sizes)


MERGED = f"""%p = tile.broadcast %v dims [0, 2] : {BLOCK} to {PAIRS}
    %m = tile.reshape %p : {PAIRS} to {FLAT}"""


def test_dimensions_that_are_merged_are_a_product() -> None:
    found = lanes(MERGED, b0=32, b1=16)
    assert found["m"] == (64, None) and found["p"] == (None, None, None)


def test_what_is_lane_by_lane_the_same_has_as_many() -> None:
    """The other operand of a product, the numbers that it is loaded by, and what these are made of."""
    found = lanes(
        MERGED
        + f"""
    %n = tile.arange 0, 1 : !tile.tile<16 x i32>
    %l = tile.load %y[%i, %n] : memref<128x128xf32> -> !tile.tile<b0=8 x 16 x f32>
    %d = tile.dot %l, %m : !tile.tile<b0=8 x 16 x f32>, {FLAT} -> {BLOCK}""",
        b0=32,
    )
    assert found["n"] == (64,) and found["l"] == (None, 64) and found["d"] == (None, None)


def test_dimensions_that_are_joined_are_a_sum() -> None:
    joined = "!tile.tile<24 x b1=4 x f32>"
    found = lanes(f"{MERGED}\n%c = tile.concat %m, %v dim 0 : {FLAT}, {BLOCK} to {joined}", b0=32)
    assert found["c"] == (96, None)


def test_sizes_that_are_chosen_say_nothing() -> None:
    assert set(lanes(MERGED)["m"]) == {None}


def test_models_have_the_lanes_of_merged_dimensions() -> None:
    """The K of a product grows with the block that it is made of."""
    product = f"""{MERGED}
    %k = tile.load %y[%i, 0:16] : memref<128x128xf32> -> !tile.tile<b0=8 x 16 x f32>
    %d = tile.dot %k, %m : !tile.tile<b0=8 x 16 x f32>, {FLAT} -> {BLOCK}"""
    (model,) = launch_models(parse(TEXT.format(BLOCK=BLOCK, body=product)), ["b0", "b1"])
    (work,) = [one for one in model.work if one.unit == "product"]
    assert [_at(size, {"b0": 32, "b1": 16}) for _, size in work.dims] == [32, 64, 16]
