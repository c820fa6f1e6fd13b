"""A module as it was before ``choose-block-sizes``: its functions' sizes and marks, to be put back on a copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from kopt.dialects.tile import OpenBlock, mark_open, open_blocks
from kopt.passes.retyping import tag_sizes
from kopt.passes.set_blocks import resize
from kopt.walk import walk


@dataclass(frozen=True)
class Opened:
    """By the names of functions, the sizes of their tags and the blocks whose sizes were open."""

    sizes: Mapping[str, Mapping[str, int]]
    blocks: Mapping[str, Sequence[OpenBlock]]

    @staticmethod
    def of(module: ModuleOp) -> Opened:
        """What a choice may change of a module."""
        funcs = {func.sym_name.data: func for func in walk(module, FuncOp)}
        return Opened(
            {name: tag_sizes(func) for name, func in funcs.items()},
            {name: open_blocks(func) for name, func in funcs.items()},
        )

    def put_back(self, module: ModuleOp) -> ModuleOp:
        """A copy of the module as it was then."""
        copy = module.clone()
        for func in walk(copy, FuncOp):
            resize(func, self.sizes[func.sym_name.data])
            mark_open(func, self.blocks[func.sym_name.data])
        return copy
