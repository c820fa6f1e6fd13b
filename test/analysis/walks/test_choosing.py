"""Which dimensions are walked: reduced ones that a cell does not hold, in parts of powers of two."""

from __future__ import annotations

import pytest

import kopt
from kopt.analysis.walks.choosing import Remarks, chosen_walks
from kopt.dialects.tile import GridOp
from kopt.plans.plan import Walk
from kopt.targets.chips import CHIPS, GPU_CHIPS

SUMS = """
func.func @sums(%x: memref<64x{n}xf32>, %out: memref<64xf32>) {{
  tile.grid (%i: b0={rows}) in (64) {{
    %v = tile.load %x[%i, :] : memref<64x{n}xf32> -> !tile.tile<b0={rows} x {n} x f32>
    {line}
    %s = tile.reduce add %{of} [1] : !tile.tile<b0={rows} x {n} x f32>
    tile.store %s, %out[%i] : !tile.tile<b0={rows} x f32>, memref<64xf32>
  }}
  func.return
}}
"""
SOFTMAX = """%m = tile.reduce max %v [1] : !tile.tile<b0={rows} x {n} x f32>
    %b = tile.broadcast %m dims [0] : !tile.tile<b0={rows} x f32> to !tile.tile<b0={rows} x {n} x f32>
    %d = tile.sub %v, %b : !tile.tile<b0={rows} x {n} x f32>
    %e = tile.exp %d : !tile.tile<b0={rows} x {n} x f32>"""
SCAN = "%e = tile.scan add %v dim 1 : !tile.tile<b0={rows} x {n} x f32>"


def found(chip: str, rows: int, n: int, line: str = "", of: str = "v") -> tuple[list[Walk], Remarks]:
    module = kopt.parse(SUMS.format(rows=rows, n=n, line=line.format(rows=rows, n=n), of=of))
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    x, out = module.body.block.first_op.body.block.args  # pyright: ignore
    return chosen_walks(grid, CHIPS[chip], {x: "x", out: "out"}, iter(("b7", "b8")))


@pytest.mark.parametrize(
    ("chip", "rows", "n", "size"),
    [
        ("sm90", 1, 32768, None),  # registers hold it
        ("sm90", 1, 32769, 8192),  # as 65,536 lanes, which they do not
        ("sm90", 4, 8192, None),
        ("sm90", 4, 16384, 2048),  # 8192 lanes of four rows
        ("sm90", 64, 4096, 128),
        ("sm90", 64, 512, None),
        ("v6e", 1, 131072, None),  # VMEM holds it
        ("v6e", 8, 4000000, 32768),  # 262,144 words of eight rows
        ("v6e", 64, 4000000, 4096),
    ],
)
def test_sums(chip: str, rows: int, n: int, size: int | None) -> None:
    """A walk has a tag of its own; its sums depend on no other."""
    walks, remarks = found(chip, rows, n)
    assert walks == ([] if size is None else [Walk("x", 1, "b7", size, "passes")]) and not remarks


@pytest.mark.parametrize(("line", "how"), [("", "passes"), (SOFTMAX, "online")])
def test_how(line: str, how: str) -> None:
    """Sums of exponentials can be rescaled: they share the walk of the maximum."""
    walks, _ = found("sm90", 1, 131072, line, "e" if line else "v")
    assert [walk.how for walk in walks] == [how]


def test_what_is_taken_in_one_piece_is_said() -> None:
    walks, remarks = found("sm90", 1, 131072, SCAN, "e")
    ((op, text),) = remarks
    assert not walks and op.name == "tile.scan"
    assert text == "dimension 1 of 'x' is not walked: tile.scan takes it in one piece"


def test_nothing_is_said_of_what_is_held() -> None:
    assert found("sm90", 1, 1024, SCAN, "e") == ([], [])


TWO = """
func.func @two(%x: memref<64x131072xf32>, %y: memref<64x131072xf32>, %out: memref<64xf32>) {
  tile.grid (%i: b0=1) in (64) {
    %v = tile.load %x[%i, :] : memref<64x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    %w = tile.load %y[%i, :] : memref<64x131072xf32> -> !tile.tile<b0=1 x 131072 x f32>
    %p = tile.mul %v, %w : !tile.tile<b0=1 x 131072 x f32>
    %s = tile.reduce add %p [1] : !tile.tile<b0=1 x 131072 x f32>
    tile.store %s, %out[%i] : !tile.tile<b0=1 x f32>, memref<64xf32>
  }
  func.return
}
"""


def test_arrays_that_are_walked_together_have_one_walk() -> None:
    """The other's lanes are the same parts then, and are held."""
    module = kopt.parse(TWO)
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    names = dict(zip(module.body.block.first_op.body.block.args, ("x", "y", "out"), strict=True))  # pyright: ignore
    walks, remarks = chosen_walks(grid, GPU_CHIPS["sm90"], names, iter(("b7", "b8")))
    assert walks == [Walk("x", 1, "b7", 8192, "passes")] and not remarks


PRODUCT = """
func.func @product(%x: memref<64x65536xbf16>, %y: memref<65536x64xbf16>, %out: memref<64x64xf32>) {
  tile.grid (%i: b0=16) in (64) {
    %v = tile.load %x[%i, :] : memref<64x65536xbf16> -> !tile.tile<b0=16 x 65536 x bf16>
    %w = tile.load %y[:, :] : memref<65536x64xbf16> -> !tile.tile<65536 x 64 x bf16>
    %p = tile.dot %v, %w : !tile.tile<b0=16 x 65536 x bf16>, !tile.tile<65536 x 64 x bf16> -> !tile.tile<b0=16 x 64 x f32>
    tile.store %p, %out[%i, :] : !tile.tile<b0=16 x 64 x f32>, memref<64x64xf32>
  }
  func.return
}
"""  # noqa: E501


def test_products_alone_are_split_by_another_pass() -> None:
    module = kopt.parse(PRODUCT)
    (grid,) = [op for op in module.walk() if isinstance(op, GridOp)]
    names = dict(zip(module.body.block.first_op.body.block.args, ("x", "y", "out"), strict=True))  # pyright: ignore
    assert chosen_walks(grid, GPU_CHIPS["sm90"], names, iter(("b7", "b8"))) == ([], [])
