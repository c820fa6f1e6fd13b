"""Products that ``tl.dot`` does not take, at the ends of what it takes: what ``legalise-ops`` makes of each."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.context import make_context
from kopt.dialects.tile import (
    BroadcastOp,
    CastOp,
    DotOp,
    FullOp,
    LoadOp,
    ReduceOp,
    ReshapeOp,
    StoreOp,
    YieldOp,
    tile_type,
)
from kopt.pass_manager import parse_pipeline, run
from kopt.walk import walk

_PLAIN = LoadOp | StoreOp | FullOp | CastOp | BroadcastOp | YieldOp
TEXT = """
func.func @f(%x: memref<{a}>, %y: memref<{b}>, %z: memref<{c}>) {{
  tile.grid (%i: b0=1) in (1) {{
    %l = tile.load %x[{at}] : memref<{a}> -> !tile.tile<{left}>
    %r = tile.load %y[{at}] : memref<{b}> -> !tile.tile<{right}>
    %s = tile.load %z[{at}] : memref<{c}> -> !tile.tile<{sums}>
    %d = tile.dot %l, %r{acc}{precision} : !tile.tile<{left}>, !tile.tile<{right}> -> !tile.tile<{sums}>
    tile.store %d, %z[{at}] : !tile.tile<{sums}>, memref<{c}>
  }}
  func.return
}}
"""


def found(left: str, right: str, sums: str, acc: bool = False, precision: str = "", chip: str = "sm90") -> str:
    """The ops between loads and store; of products their operands, whether they are added to something, precision."""
    arrays = dict(zip("abc", (each.replace(" ", "") for each in (left, right, sums)), strict=True))
    at = ", ".join(":" for _ in left.split(" x ")[1:])
    options = {"acc": ", %s" if acc else "", "precision": f" precision {precision}" if precision else ""}
    module = parse(TEXT.format(**arrays, at=at, left=left, right=right, sums=sums, **options))
    run(module, make_context(), parse_pipeline(f"legalise-ops{{chip={chip}}}"))
    ops = [op for op in walk(module) if op.parent is walk(module, LoadOp)[0].parent]
    return ", ".join(shown(op) for op in ops if not isinstance(op, _PLAIN))


def shown(op) -> str:
    if isinstance(op, ReduceOp):
        return f"reduce {[*op.dimensions]}"
    if not isinstance(op, DotOp):
        return "reshape" if isinstance(op, ReshapeOp) else op.name.partition(".")[2]
    types = " @ ".join(" x ".join(map(str, [*tile_type(v).shape, tile_type(v).element_type])) for v in (op.lhs, op.rhs))
    return f"{types}{' + acc' if op.accumulator else ''}{f' {op.precision.data}' if op.precision else ''}"


@pytest.mark.parametrize(
    ("given", "ops"),
    [
        (("16 x 16 x f16", "16 x 16 x f16", "16 x 16 x f32"), "16 x 16 x f16 @ 16 x 16 x f16"),
        (("16 x 8 x f16", "8 x 16 x f16", "16 x 16 x f32"), "mul, reduce [1]"),
        (("16 x 8 x f16", "8 x 16 x f16", "16 x 16 x f32", True), "mul, reduce [1], add"),
        (("16 x 32 x i8", "32 x 16 x i8", "16 x 16 x i32"), "16 x 32 x i8 @ 32 x 16 x i8"),
        (("16 x 16 x i8", "16 x 16 x i8", "16 x 16 x i32"), "mul, reduce [1]"),
        (("16 x 32 x i16", "32 x 16 x i16", "16 x 16 x i32"), "mul, reduce [1]"),
        (("2 x 16 x 8 x f16", "2 x 8 x 16 x f16", "2 x 16 x 16 x f32"), "mul, reduce [2]"),
        (("1 x 32 x f32", "32 x 16 x f32", "1 x 16 x f32"), "mul, reduce [1]"),
        (("16 x 32 x f32", "32 x 1 x f32", "16 x 1 x f32"), "mul, reduce [1]"),
        (("1 x 32 x f32", "32 x 16 x f32", "1 x 16 x f32", False, "ieee"), "mul, reduce [1]"),
        (("1 x 32 x f32", "32 x 16 x f32", "1 x 16 x f32", False, "tf32"), "1 x 32 x f32 @ 32 x 16 x f32 tf32"),
        (("1 x 32 x f32", "32 x 16 x f32", "1 x 16 x f32", False, "bf16"), "1 x 32 x f32 @ 32 x 16 x f32 bf16"),
        (("1 x 32 x f16", "32 x 16 x f16", "1 x 16 x f32"), "1 x 32 x f16 @ 32 x 16 x f16"),
        (("1 x 16 x 32 x f32", "1 x 32 x 16 x f32", "1 x 16 x 16 x f32"), "1 x 16 x 32 x f32 @ 1 x 32 x 16 x f32"),
        (("16 x 32 x f32", "32 x 16 x f32", "16 x 16 x f32", False, "tf32x3"), "16 x 32 x f32 @ 32 x 16 x f32 tf32x3"),
        (
            ("16 x 32 x f32", "32 x 16 x f32", "16 x 16 x f32", False, "tf32", "gfx942"),
            "16 x 32 x f32 @ 32 x 16 x f32 tf32",
        ),
        (
            ("16 x 32 x f32", "32 x 16 x f32", "16 x 16 x f32", False, "tf32x3", "gfx942"),
            "16 x 32 x f32 @ 32 x 16 x f32 ieee",
        ),
        (
            ("16 x 32 x f16", "32 x 16 x f16", "16 x 16 x f32", False, "tf32x3", "gfx942"),
            "16 x 32 x f16 @ 32 x 16 x f16 tf32x3",
        ),
        (
            ("16 x 32 x f8E4M3FN", "32 x 16 x f8E4M3FN", "16 x 16 x f32", True, "", "sm90"),
            "16 x 32 x f8E4M3FN @ 32 x 16 x f8E4M3FN + acc",
        ),
        (
            ("16 x 32 x f8E4M3FN", "32 x 16 x f8E4M3FN", "16 x 16 x f32", True, "", "sm80"),
            "16 x 32 x f16 @ 32 x 16 x f16 + acc",
        ),
        (
            ("2 x 3 x 16 x 16 x f16", "2 x 3 x 16 x 16 x f16", "2 x 3 x 16 x 16 x f32", True),
            "reshape, reshape, reshape, 6 x 16 x 16 x f16 @ 6 x 16 x 16 x f16 + acc, reshape, retag",
        ),
        (
            ("16 x 32 x ui8", "32 x 16 x ui8", "16 x 16 x i32", True),
            "sub, sub, 16 x 32 x i8 @ 32 x 16 x i8 + acc, reduce [1], reduce [0], add, mul, add",
        ),
        (
            ("2 x 16 x 32 x ui8", "2 x 32 x 16 x ui8", "2 x 16 x 16 x i32"),
            "sub, sub, 2 x 16 x 32 x i8 @ 2 x 32 x 16 x i8, reduce [2], reduce [1], add, mul, add",
        ),
    ],
)
def test_products(given: tuple, ops: str) -> None:
    assert found(*given) == ops
