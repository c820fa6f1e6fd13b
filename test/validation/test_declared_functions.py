"""Functions that a module declares, and modules without any: every pass leaves them as they are."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.context import make_context
from kopt.pass_manager import parse_pipeline, run
from kopt.passes import PASSES

DECLARED = """
func.func private @declared(memref<8xf32>) -> memref<8xf32>
func.func @defined(%x: memref<8xf32>) -> memref<8xf32> {
  func.return %x : memref<8xf32>
}
"""
#: Options without which there is no such pass.
OPTIONS = {
    "balance-items": "{programs=2}",
    "set-blocks": '{sizes=""}',
    "set-dot-precision": "{precision=ieee}",
    "verify-host": "{family=torch}",
}


@pytest.mark.parametrize("name", PASSES)
def test_passes_leave_what_has_no_body(name: str) -> None:
    for text in (DECLARED, "builtin.module {}"):
        module = parse(text)
        run(module, make_context(), parse_pipeline(name + OPTIONS.get(name, "")))
        assert module.is_structurally_equivalent(parse(text))
