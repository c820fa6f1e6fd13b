"""The pass ``legalise-layout``: element types and shapes that Mosaic takes, each change reported."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.passes import ModulePass

from kopt.diagnostics import remark
from kopt.dialects.host import LaunchOp
from kopt.passes.binding.operands import plan_operands
from kopt.passes.launches import drop_if_idle
from kopt.passes.legalising.elements import legalise_elements
from kopt.walk import walk


@dataclass(frozen=True)
class LegaliseLayoutPass(ModulePass):
    """Makes the memrefs of each launch ones whose blocks Mosaic can move and compute with.

    Element types that it has no loads for are cast on the host: bool to i8, f16 to f32, and i64 to i32 where every
    use in the kernel shows that this changes nothing, if need be for numbers of arguments that are in an interval:
    ``kopt.interval``, which calls check. Rounding to f16 inside is done on the bits of f32. Narrow arrays without
    dimensions are cast to 32 bits, which scalars have. Windows that are not whole or not multiples of a tile get a
    physical layout (a pad, a split, a transposition), which ``bind-buffers`` applies; the launch's attribute
    ``layouts`` lists them, and each is a remark:

        remark: 'out' is laid out as 16 x 1 x 64 for the kernel: blocks of 64 lanes of dimension 0

    Refuses, with the access's place, f64, 64-bit integer arithmetic that may not fit 32 bits, arithmetic in f16 (the
    frontend computes in f32), and windows that no layout makes legal. Launches of no cells disappear.
    """

    name = "legalise-layout"

    chip: str = "tpu7x"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            if drop_if_idle(launch):
                continue
            legalise_elements(launch)
            _report_layouts(launch)


def _report_layouts(launch: LaunchOp) -> None:
    notes: list[str] = []
    for operand in plan_operands(launch):
        layout = operand.layout
        if layout.plain:
            continue
        name = launch.body.block.args[operand.number].name_hint or f"operand {operand.number}"
        shape = " x ".join(map(str, layout.shape))
        notes.append(f"'{name}' is laid out as {shape} for the kernel: {layout.reason}")
    for note in notes:
        remark(launch, note)
    if notes:
        launch.attributes["layouts"] = ArrayAttr([StringAttr(note) for note in notes])
