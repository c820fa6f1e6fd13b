"""A kernel of as many lines as one asks for, explained."""

from __future__ import annotations

from functools import cache
from typing import Any

from kopt.api import lower_module, parse
from kopt.explain import Asked, Compile, explanation


@cache
def long_explanation(lines: int) -> dict[str, Any]:
    """Of a chain of so many operations on one block; each is used by the next one, and the first by all."""
    ops = "\n".join(
        f"    %v{n + 1} = tile.{('add', 'mul', 'maximum')[n % 3]} %v{n}, %v0 : !tile.tile<b0=8 x 128 x f32>"
        for n in range(lines)
    )
    text = f"""func.func @long(%x: memref<64x128xf32>, %out: memref<64x128xf32>) {{
  tile.grid (%i: b0=8) in (64) {{
    %v0 = tile.load %x[%i, :] : memref<64x128xf32> -> !tile.tile<b0=8 x 128 x f32>
{ops}
    tile.store %v{lines}, %out[%i, :] : !tile.tile<b0=8 x 128 x f32>, memref<64x128xf32>
  }}
  func.return
}}
"""
    lowered = lower_module(parse(text, "long.mlir"), target="pallas:v6e")
    return explanation(Compile.of(lowered), Asked(values=False))
