"""What validation has found: each bug with the module that shows it."""

from __future__ import annotations

import pytest

from kopt.context import make_context
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.validation import Options, Validator

POWER = """
func.func @power(%x: memref<64x32xf32>) -> memref<64x32xf32> {{
  %out = host.alloc : memref<64x32xf32>
  tile.grid (%i: b0=8) in (64) {{
    %v = tile.load %x[%i, :] : memref<64x32xf32> -> !tile.tile<b0=8 x 32 x f32>
    %n = tile.full {exponent} : !tile.tile<b0=8 x 32 x f32>
    %p = tile.pow %v, %n : !tile.tile<b0=8 x 32 x f32>
    tile.store %p, %out[%i, :] : !tile.tile<b0=8 x 32 x f32>, memref<64x32xf32>
  }}
  func.return %out : memref<64x32xf32>
}}
"""


@pytest.mark.parametrize("exponent", ["0.5", "-0.5", "-1.0", "2.0", "3.0"])
def test_a_root_is_no_power(exponent: str) -> None:
    """The root of -0.0 is -0.0 and that of minus infinity NaN; their powers are 0 and infinity."""
    validator = Validator(Options(0, 4))
    module = parse_module(POWER.format(exponent=exponent))
    run(module, make_context(), parse_pipeline("legalise-ops"), instrumentation=[validator])
    assert validator.result.validated == ["legalise-ops"]
