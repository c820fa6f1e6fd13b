"""The pass ``name-accesses``: loads, stores and updates get ids, which survive what is made of them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from kopt.dialects.tile import GridOp
from kopt.dialects.tile.access_ids import ACCESS, access_ids
from kopt.walk import walk


@dataclass(frozen=True)
class NameAccessesPass(ModulePass):
    """Names accesses: each of a grid gets the id by which plans and reports speak of it, its operand and a number.

    Ids that are there stay. An id that follows from the order of the program is not printed.

        %a = tile.load %x[%i]     %b = tile.load %x[%j]
    becomes
        %a = tile.load %x[%i] access "x"     %b = tile.load %x[%j] access "x#1"

    It never refuses.
    """

    name = "name-accesses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for grid in walk(op, GridOp):
            for access, id in access_ids(grid).items():
                access.attributes[ACCESS] = StringAttr(id)
