"""Tiles without lanes: what is combined of none, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from kopt.errors import UnsupportedError
from test.interpreter.support import run_text

TEXT = """
func.func @f(%out: memref<4xf32>) {{
  tile.grid (%i: b0=4) in (4) {{
    %v = tile.full 2.0 : !tile.tile<0 x f32>
    {line}
    tile.store %r, %out[:] : !tile.tile<4 x f32>, memref<4xf32>
  }}
  func.return
}}
"""
FUNCTION = """{{
    ^bb0(%a: !tile.tile<f32>, %b: !tile.tile<f32>):
      %c = tile.mul %a, %b : !tile.tile<f32>
      tile.yield %c : !tile.tile<f32>
    }}"""
WIDE = "tile.broadcast %{0} dims [] : !tile.tile<{1}> to !tile.tile<4 x {1}>"
JOINED = (
    "%o = tile.full 3.0 : !tile.tile<4 x f32>\n%r = tile.concat %s, %o dim 0 : !tile.tile<0 x f32>, !tile.tile<4 x f32>"
)


def run(line: str) -> list[float]:
    out = np.zeros(4, np.float32)
    run_text(TEXT.format(line=line), out)
    return out.tolist()


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (f"%s = tile.reduce add %v [0] : !tile.tile<0 x f32>\n%r = {WIDE.format('s', 'f32')}", 0.0),
        (f"%s = tile.reduce mul %v [0] : !tile.tile<0 x f32>\n%r = {WIDE.format('s', 'f32')}", 1.0),
        (f"%s = tile.reduce max %v [0] : !tile.tile<0 x f32>\n%r = {WIDE.format('s', 'f32')}", -np.inf),
        (f"%s = tile.scan add %v dim 0 : !tile.tile<0 x f32>\n{JOINED} to !tile.tile<4 x f32>", 3.0),
        (f"%s = tile.associative_scan %v dim 0 : !tile.tile<0 x f32> {FUNCTION.format()}\n"
         f"{JOINED} to !tile.tile<4 x f32>", 3.0),
    ],
)  # fmt: skip
def test_results(line: str, wanted: float) -> None:
    assert run(line) == [wanted] * 4


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%s = tile.argreduce max %v dim 0 : !tile.tile<0 x f32>\n", "there is no argmax of no lanes"),
        ("%s = tile.argreduce min %v dim 0 : !tile.tile<0 x f32>\n", "there is no argmin of no lanes"),
        (f"%s = tile.associative_reduce %v dim 0 : !tile.tile<0 x f32> {FUNCTION.format()}\n",
         "nothing comes of a combination of no lanes"),
    ],
)  # fmt: skip
def test_refusals(line: str, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message) as error:
        run(f"{line}%r = tile.full 0.0 : !tile.tile<4 x f32>")
    assert error.value.location is not None and error.value.location.line == 5
