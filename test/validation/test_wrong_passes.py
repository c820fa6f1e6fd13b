"""Passes that are wrong are named, with the input, the place and a module that shows it again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from xdsl.passes import ModulePass

import kopt
from kopt.context import make_context
from kopt.errors import MeaningError
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.passes.meaning import EXACT, REASSOCIATES
from kopt.passes.pipelines import pipeline
from kopt.validation import Options, Validator

from . import wrong_passes as wrong

SOFTMAX = """
func.func @softmax(%x: memref<11x21xf32>) -> memref<11x21xf32> {
  %out = host.alloc : memref<11x21xf32>
  tile.grid (%i: b0=8) in (11) {
    %w = tile.whole 21 : !tile.range<w21=32>
    %v = tile.load %x[%i, %w] : memref<11x21xf32> -> !tile.tile<b0=8 x w21=32 x f32>
    %m = tile.reduce max %v [1] : !tile.tile<b0=8 x w21=32 x f32>
    %n = tile.broadcast %m dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x w21=32 x f32>
    %d = tile.sub %v, %n : !tile.tile<b0=8 x w21=32 x f32>
    %e = tile.exp %d : !tile.tile<b0=8 x w21=32 x f32>
    %s = tile.reduce add %e [1] : !tile.tile<b0=8 x w21=32 x f32>
    %t = tile.broadcast %s dims [0] : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x w21=32 x f32>
    %q = tile.div %e, %t : !tile.tile<b0=8 x w21=32 x f32>
    tile.store %q, %out[%i, %w] : !tile.tile<b0=8 x w21=32 x f32>, memref<11x21xf32>
  }
  func.return %out : memref<11x21xf32>
}
"""

MATMUL = """
func.func @matmul(%x: memref<16x256xf32>, %y: memref<256x128xf32>) -> memref<16x128xf32> {
  %out = host.alloc : memref<16x128xf32>
  tile.grid (%i: b0=8, %j: b1=128) in (16, 128) {
    %z = tile.full 0.0 : !tile.tile<b0=8 x b1=128 x f32>
    %a = tile.for %k: b2=128 in (0, 256) iter(%c = %z) -> (!tile.tile<b0=8 x b1=128 x f32>) {
      %l = tile.load %x[%i, %k] : memref<16x256xf32> -> !tile.tile<b0=8 x b2=128 x f32>
      %r = tile.load %y[%k, %j] : memref<256x128xf32> -> !tile.tile<b2=128 x b1=128 x f32>
      %d = tile.dot %l, %r, %c : !tile.tile<b0=8 x b2=128 x f32>, !tile.tile<b2=128 x b1=128 x f32>
        -> !tile.tile<b0=8 x b1=128 x f32>
      tile.yield %d : !tile.tile<b0=8 x b1=128 x f32>
    }
    tile.store %a, %out[%i, %j] : !tile.tile<b0=8 x b1=128 x f32>, memref<16x128xf32>
  }
  func.return %out : memref<16x128xf32>
}
"""


def validated(text: str, passes: list[ModulePass], **options: Any) -> Validator:
    """Runs passes over a text with everything checked."""
    validator = Validator(Options(**options))
    run(parse_module(text, "input.mlir"), make_context(), passes, instrumentation=[validator])
    return validator


@pytest.mark.parametrize(
    ("before", "pass_"),
    [
        ("insert-masks", wrong.WrongMask()),
        ("", wrong.DroppedStore()),
        ("", wrong.OffByOne()),
        ("canonicalize", wrong.SwappedOperands()),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_wrong_pass_is_named(before: str, pass_: ModulePass) -> None:
    """The error names the pass and the store, and its module shows the change again."""
    with pytest.raises(MeaningError) as caught:
        validated(SOFTMAX, [*parse_pipeline(before), pass_, *parse_pipeline("canonicalize,dce")])
    assert caught.value.pass_name == pass_.name
    assert f"pass '{pass_.name}' changed what 'softmax' computes: result 0[" in caught.value.message
    assert caught.value.location is not None and caught.value.location.line == 14
    small = parse_module(caught.value.reproducer)
    assert len(str(small)) < len(SOFTMAX)
    with pytest.raises(MeaningError):
        validated(caught.value.reproducer, [pass_], masked=bool(before == "insert-masks"))


@pytest.mark.parametrize("pass_", [wrong.LateWait(), wrong.MissingWait(), wrong.WrongWindow()], ids=lambda p: p.name)
def test_a_wrong_kernel_of_a_tpu_is_named(pass_: ModulePass) -> None:
    """Copies that nothing waits for in time, and windows that stand still."""
    kind = "auto" if pass_.name == "wrong-window" else "fori"
    low = kopt.lower_module(parse_module(MATMUL), target="pallas:v6e", config={"loop_type": kind})
    module = parse_module(MATMUL)
    run(module, make_context(), pipeline(low.target, replace(low.config, loop_type=kind)))
    with pytest.raises(MeaningError) as caught:
        run(module, make_context(), [pass_], instrumentation=[Validator(Options(0, 1))])
    assert caught.value.pass_name == pass_.name


def test_right_passes_pass() -> None:
    """The whole pipelines, with what each pass states; one that does nothing is known by its text."""
    for target in ("pallas:v6e", "triton:sm90"):
        result = kopt.lower_module(parse_module(SOFTMAX), target=target).verify()
        assert not result.not_run
        assert {verdict.state for verdict in result.verdicts} == {"same", "validated"}
        assert "insert-masks" in result.validated


def test_what_a_pass_states_counts() -> None:
    """A sum in another order is a change of bits: only a pass that says so may make one."""
    from kopt.passes.gpu.pad_to_power_of_two import PadToPowerOfTwoPass

    assert PadToPowerOfTwoPass.meaning is REASSOCIATES
    text = (Path(__file__).parent / "row_sum.mlir").read_text()

    @wrong.dataclass(frozen=True)
    class Silent(PadToPowerOfTwoPass):
        """The same pass, which says nothing."""

        meaning = EXACT

    validated(text, [PadToPowerOfTwoPass()])
    with pytest.raises(MeaningError, match="states that it keeps every bit|keeps every bit"):
        validated(text, [Silent()])
