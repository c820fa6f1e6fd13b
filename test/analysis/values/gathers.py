"""Loads by computed tiles of 8 by 32 places, in a kernel around them, and what their indices are in NumPy."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from kopt import parse
from kopt.dialects.tile import LoadOp
from kopt.ir.evaluation import evaluate
from kopt.ir.index_expr import IndexExpr
from test.named import named

SHAPE = (8, 32)
TILE = "!tile.tile<b0=8 x 32 x i32>"
HEAD = """
func.func @f(%x: memref<{array}>, %starts: memref<64xi32>, %out: memref<64x32x{element}>) {{
  tile.grid (%i: b0=8) in (64) {{
    %s = tile.load %starts[%i] : memref<64xi32> -> !tile.tile<b0=8 x i32>
    %r = tile.broadcast %s dims [0] : !tile.tile<b0=8 x i32> to {tile}
    %n0 = tile.index %i : !tile.range<b0=8>
    %n = tile.broadcast %n0 dims [0] : !tile.tile<b0=8 x i32> to {tile}
    %j0 = tile.arange 0, 1 : !tile.tile<32 x i32>
    %j = tile.broadcast %j0 dims [1] : !tile.tile<32 x i32> to {tile}
    {lines}
    %v = tile.load %x[{entries}]{mask} : memref<{array}> -> !tile.tile<b0=8 x 32 x {element}>
    tile.store %v, %out[%i, :] : !tile.tile<b0=8 x 32 x {element}>, memref<64x32x{element}>
  }}
  func.return
}}
"""


class Gather:
    """``%v = tile.load %x[entries]``: of starts ``%r``, row numbers ``%n``, columns ``%j``. Ops: ``name = op a, b``."""

    def __init__(self, array: str, entries: str, *ops: str, mask: str = ""):
        lines: list[str] = []
        for number, op in enumerate(ops):
            name, _, rest = op.partition(" = ")
            mnemonic, *operands = rest.replace(",", "").split()
            for n, operand in enumerate(operands):
                if not operand.isidentifier():
                    lines.append(f"%c{number}_{n} = tile.full {operand} : {TILE}")
                    operands[n] = f"c{number}_{n}"
            lines.append(f"%{name} = tile.{mnemonic} {', '.join(f'%{one}' for one in operands)} : {TILE}")
        text = HEAD.format(
            array=array,
            entries=entries,
            lines="\n    ".join(lines),
            element=array.split("x")[-1],
            mask=mask and f" mask %{mask}",
            tile=TILE,
        )
        self.module = parse(text)
        self.values = named(self.module)
        load = self.values["v"].owner
        assert isinstance(load, LoadOp)
        self.load = load

    def index(self, position: int = -1) -> SSAValue:
        """One of the index tiles."""
        return self.load.indices[position]

    def numbers(self, expr: IndexExpr, starts: np.ndarray, block: int = 0) -> np.ndarray:
        """An expression for the lanes of one block."""
        held: dict[Hashable, Any] = {self.values["s"]: starts, self.values["i"]: block}
        held[self.values["r"]] = np.broadcast_to(starts[:, None], SHAPE)
        return np.broadcast_to(evaluate(expr, held, SHAPE), SHAPE)
