"""The pass ``legalise-element-types``: element types that Mosaic takes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from kopt.dialects.host import LaunchOp
from kopt.passes.launches import drop_if_idle
from kopt.passes.legalising.elements import legalise_elements
from kopt.walk import walk


@dataclass(frozen=True)
class LegaliseElementTypesPass(ModulePass):
    """Legalises element types: memrefs and tiles of each launch get types that Mosaic loads and computes with.

    Types that it has no loads for are cast on the host: bool to i8, f16 to f32, i64 to i32. i64 becomes i32 only
    where every use in the kernel shows that this changes nothing. Where that holds only for arguments within an
    interval, the attribute ``kopt.interval`` of the argument says so, and calls check it. Rounding to f16 inside is
    done on the bits of f32. Narrow arrays without dimensions are cast to 32 bits, which scalars have.

        %new = host.launch @f (%a = %x) … { … %v = tile.load %a[%i, :] : memref<64x128xi1> -> … }
    becomes
        %b = host.call "prims.convert_element_type.default"(%x) args [unit, "i8"]
        %new = host.launch @f (%a = %b) … { … %n = tile.load %a[%i, :] : memref<64x128xi8> -> …   %v = tile.cast %n … }

    Refuses, with the access's place, f64, 64-bit integer arithmetic that may not fit 32 bits, and arithmetic in f16
    (the frontend computes in f32). Launches of no cells disappear.
    """

    name = "legalise-element-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for launch in walk(op, LaunchOp):
            if not drop_if_idle(launch):
                legalise_elements(launch)
