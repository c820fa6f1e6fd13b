"""Where row numbers of updates come from: arrays that nothing else reads, as they are."""

from __future__ import annotations

import pytest
from xdsl.ir import SSAValue

import kopt
from kopt.analysis.values.origin import Origin, origin, origin_of
from kopt.dialects.atomic import RmwOp

TEXT = """
func.func @f(%x: memref<500x64xf32>, %n: memref<{numbers}>) {{
  tile.grid (%i: b0={size}) in ({lower} to {upper}) {{
    %three = tile.full 3 : !tile.tile<b0={size} x i32>
    %index = tile.load %n[{entry}] : memref<{numbers}> -> !tile.tile<b0={size} x {element}>
    {extra}
    %v = tile.full 1.0 : !tile.tile<b0={size} x 64 x f32>
    atomic.rmw add %v, %x[{rows}, :]{mask} : !tile.tile<b0={size} x 64 x f32>, memref<500x64xf32>
  }}
  func.return
}}
"""
PLAIN = {
    "numbers": "100xi32",
    "element": "i32",
    "entry": "%i",
    "extra": "",
    "rows": "%index",
    "mask": "",
    "size": 16,
    "lower": 0,
    "upper": 100,
}


def found(**changed: object) -> tuple[RmwOp, Origin | None]:
    module = kopt.parse(TEXT.format(**PLAIN | changed))
    (op,) = [op for op in module.walk() if isinstance(op, RmwOp)]
    return op, origin_of(op)


def test_numbers_as_they_are() -> None:
    op, one = found()
    index = op.entries[0]
    assert one is not None and isinstance(index, SSAValue) and one.load is index.owner
    assert one.extent == 500 and one.range.name_hint == "i"
    assert origin(op, index, 7) == Origin(one.load, 7)


@pytest.mark.parametrize(
    "changed",
    [
        {"numbers": "100xi64", "element": "i64"},
        {"numbers": "131073xi32"},
        {"entry": "%three"},
        {"extra": "%other = tile.add %index, %three : !tile.tile<b0=16 x i32>"},
        {"extra": "%other = tile.load %n[%i] : memref<100xi32> -> !tile.tile<b0=16 x i32>"},
        {
            "extra": "%other = tile.add %three, %three : !tile.tile<b0=16 x i32>",
            "rows": "%other",
        },
    ],
    ids=["64 bits", "too many", "at computed places", "used besides", "read besides", "computed"],
)
def test_others_have_none(changed: dict[str, str]) -> None:
    assert found(**changed)[1] is None


def test_scalar_memory_holds_so_many() -> None:
    """512 KiB: 131,072 words."""
    assert found(numbers="131072xi32")[1] is not None


@pytest.mark.parametrize(
    ("size", "lower", "upper", "most"),
    [(16, 0, 100, 16), (128, 0, 100, 100), (128, 20, 100, 80), (128, 0, 128, 128), (128, 0, 129, 128)],
)
def test_most_lanes_that_have_numbers(size: int, lower: int, upper: int, most: int) -> None:
    """Of the only block those that the range has; of several, all of one."""
    _, one = found(numbers="200xi32", size=size, lower=lower, upper=upper)
    assert one is not None and one.most == most


MASKED = """%p = tile.lt %three, %three : !tile.tile<b0=16 x i32>
    %q = tile.broadcast %p dims [0] : !tile.tile<b0=16 x i1> to !tile.tile<b0=16 x 64 x i1>
    %l0 = tile.arange 0, 1 : !tile.tile<64 x i32>
    %l = tile.broadcast %l0 dims [1] : !tile.tile<64 x i32> to !tile.tile<b0=16 x 64 x i32>
    %t = tile.full 5 : !tile.tile<b0=16 x 64 x i32>
    %e = tile.lt %l, %t : !tile.tile<b0=16 x 64 x i32>"""


@pytest.mark.parametrize(("mask", "wanted"), [(" mask %q", False), (" mask %e", True)])
def test_masks_of_rows(mask: str, wanted: bool) -> None:
    """A predicate of each row leaves rows out, and is no number; one of each column leaves none out."""
    assert (found(extra=MASKED, mask=mask)[1] is not None) is wanted
