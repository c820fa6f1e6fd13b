"""Passes that are pipelines: instrumentation sees the passes that run, errors name them, and others do not run."""

import pytest

import kopt
from kopt.context import make_context
from kopt.parsing import parse_module
from kopt.pass_manager import Instrumentation, parse_pipeline, run

ROWS = """
func.func @rows(%x: memref<999x64xf32>, %lens: memref<100xi64>, %starts: memref<100xi64>) {
  tile.grid (%i: b0=8) in (100) {
    %n = tile.load %lens[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    %s = tile.load %starts[%i] : memref<100xi64> -> !tile.tile<b0=8 x i64>
    jagged.for %k: b1=16 in %n {
      %rows = jagged.rows %k from %s : !tile.range<b1=16>, !tile.tile<b0=8 x i64>
      %v = tile.load %x[%rows, :] : memref<999x64xf32> -> !tile.tile<b0=8 x b1=16 x 64 x f32>
      tile.store %v, %x[%rows, :] : !tile.tile<b0=8 x b1=16 x 64 x f32>, memref<999x64xf32>
    }
  }
  func.return
}
"""
PLAIN = """
func.func @plain(%x: memref<64xf32>) {
  tile.grid (%i: b0=8) in (64) {
    %v = tile.load %x[%i] : memref<64xf32> -> !tile.tile<b0=8 x f32>
    tile.store %v, %x[%i] : !tile.tile<b0=8 x f32>, memref<64xf32>
  }
  func.return
}
"""


class Seen(Instrumentation):
    def __init__(self):
        self.names = []

    def after(self, pass_, module):
        self.names.append(pass_.name)


@pytest.mark.parametrize(
    "text, names", [(ROWS, "raise-jagged dce schedule-jagged lower-jagged canonicalize cse dce"), (PLAIN, "dce")]
)
def test_instrumentation_sees_the_passes_that_run(text, names):
    seen = Seen()
    passes = parse_pipeline("builtin.module(convert-jagged-to-tile,dce)")
    run(parse_module(text), make_context(), passes, verify_each=True, instrumentation=[seen])
    assert seen.names == names.split()


def test_programs_are_refused_where_there_is_nothing_to_share():
    with pytest.raises(kopt.KoptError, match="programs cannot share"):
        kopt.run_pipeline(parse_module(PLAIN), "builtin.module(convert-jagged-to-tile{programs=4})")
