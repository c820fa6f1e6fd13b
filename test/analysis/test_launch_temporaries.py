"""Arrays that only carry values from one part of a cell to a later one."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.analysis.launch_temporaries import is_temporary
from kopt.analysis.windows import windows
from kopt.dialects.host import LaunchOp
from kopt.dialects.tile import GridOp
from test.named import only

TEXT = """
func.func @f(%given: memref<64x128xf32>) -> memref<64x128xf32> {{
  {alloc}
  {before}
  %r:2 = host.launch @f (%x = %a, %o = %given) writes [{writes}]
      : (memref<64x128xf32>, memref<64x128xf32>) -> (memref<64x128xf32>, memref<64x128xf32>) {{
    tile.grid (%i: b0=8, %j: b1=64) in (64, 128) {order} {{
      %v = tile.full 1.0 : !tile.tile<{dims} x f32>
      tile.store %v, %x[%i, {at}] : !tile.tile<{dims} x f32>, memref<64x128xf32>
      %w = tile.load %x[%i, {at}] : memref<64x128xf32> -> !tile.tile<{dims} x f32>
      tile.store %w, %o[%i, {at}] : !tile.tile<{dims} x f32>, memref<64x128xf32>
    }}
  }}
  {after}
  func.return %r#1 : memref<64x128xf32>
}}
"""
ALLOC = "%a = host.alloc : memref<64x128xf32>"
VIEW = "%b = host.alloc : memref<8192xf32>\n  %a = host.reshape %b : memref<8192xf32> to memref<64x128xf32>"


def temporary(number: int = 0, **parts: str) -> bool:
    defaults = {
        "alloc": ALLOC,
        "before": "",
        "after": "",
        "writes": "0, 1",
        "order": "",
        "at": "%j",
        "dims": "b0=8 x b1=64",
    }
    module = parse(TEXT.format(**(defaults | parts)))
    launch, grid = only(module, LaunchOp), only(module, GridOp)
    args = launch.body.block.args
    return is_temporary(launch, number, windows(grid, args)[args[number]], grid)


@pytest.mark.parametrize("alloc", [ALLOC, VIEW])
def test_an_allocation_that_one_launch_uses(alloc: str) -> None:
    assert temporary(alloc=alloc)


@pytest.mark.parametrize(
    "parts",
    [
        {"alloc": ALLOC.replace("host.alloc", "host.alloc fill 0.0")},  # its first elements have a meaning
        {"before": "host.copy %given to %a : memref<64x128xf32>, memref<64x128xf32>"},
        {"after": "host.copy %a to %given : memref<64x128xf32>, memref<64x128xf32>"},
        {"after": "host.copy %r#0 to %given : memref<64x128xf32>, memref<64x128xf32>"},
        {"alloc": f"{VIEW}\n  %c = host.reshape %b : memref<8192xf32> to memref<128x64xf32>"},
    ],
)
def test_what_others_see_is_none(parts: dict[str, str]) -> None:
    assert not temporary(**parts)


def test_an_array_of_the_caller_is_none() -> None:
    assert not temporary(1)


@pytest.mark.parametrize("order", ["ordered [1]", "ordered [0]", "ordered [0, 1]"])
def test_windows_that_move_in_order_may_come_back(order: str) -> None:
    assert not temporary(order=order)


def test_a_window_that_stays_may_be_left_in_order() -> None:
    """With the other dimension it moves, and is another one."""
    assert temporary(order="ordered [1]", at="0:64", dims="b0=8 x 64")
