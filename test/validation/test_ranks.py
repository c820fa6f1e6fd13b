"""Several ranks: collectives become kernels that copy between them, and a step that is missing is found."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from kopt.context import make_context
from kopt.dialects import symm
from kopt.errors import MeaningError
from kopt.parsing import parse_module
from kopt.pass_manager import parse_pipeline, run
from kopt.validation import Options, Validator
from kopt.walk import walk

COLLECTIVES = """
func.func @sum(%x: memref<24x5xf32>) -> memref<24x5xf32> {
  %s = symm.all_reduce add %x group "tp" : memref<24x5xf32> to memref<24x5xf32>
  func.return %s : memref<24x5xf32>
}
func.func @gather(%x: memref<8x16xf32>) -> memref<32x16xf32> {
  %s = symm.all_gather %x group "tp" : memref<8x16xf32> to memref<32x16xf32>
  func.return %s : memref<32x16xf32>
}
func.func @scatter(%x: memref<32x16xf32>) -> memref<8x16xf32> {
  %s = symm.reduce_scatter %x group "tp" : memref<32x16xf32> to memref<8x16xf32>
  func.return %s : memref<8x16xf32>
}
func.func @exchange(%x: memref<8x16xf32>) -> memref<8x16xf32> {
  %s = symm.all_to_all %x group "tp" : memref<8x16xf32> to memref<8x16xf32>
  func.return %s : memref<8x16xf32>
}
"""


@dataclass(frozen=True)
class Without(ModulePass):
    """The last operation of a kind is gone."""

    kind: type[Operation] = symm.WaitOp
    name = "without"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Rewriter.erase_op(walk(op, self.kind)[-1])


def validator(exact: bool = False) -> Validator:
    """Four ranks."""
    return Validator(Options(0, 1, exact, ranks=4))


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("kind", ["ring", "one-shot"])
def test_kernels_of_collectives_are_collectives(kind: str, exact: bool) -> None:
    """With exact numbers bit for bit, whatever the order in which a sum travels."""
    watch = validator(exact)
    passes = parse_pipeline(f"expand-collectives{{ranks=4 kind={kind}}}")
    run(parse_module(COLLECTIVES), make_context(), passes, instrumentation=[watch])
    assert watch.result.validated == ["expand-collectives"]


@pytest.mark.parametrize(
    "kind",
    [symm.WaitOp, symm.SignalOp, symm.RemoteCopyStartOp, symm.RemoteCopyWaitOp, symm.BarrierOp],
    ids=lambda k: k.name,
)
def test_a_missing_step_is_found(kind: type[Operation]) -> None:
    """Waits that hang, copies and signals that nothing waits for, and a kernel that begins before the others."""
    module = parse_module(COLLECTIVES.split("func.func @gather")[0])
    run(module, make_context(), parse_pipeline("expand-collectives{ranks=4 kind=ring}"))
    with pytest.raises(MeaningError, match="pass 'without' changed what 'sum' computes"):
        run(module, make_context(), [Without(kind)], instrumentation=[validator()])
