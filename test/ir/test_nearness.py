"""What the lanes of an index tile are near: against every number that they can be, and written as an ``index``."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import kopt
from kopt.dialects.builder import Builder
from kopt.dialects.tile import SplatOp, StoreOp
from kopt.interpreter import run
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.nearness import near
from kopt.ir.to_ssa import IndexWriter
from kopt.passes.normalising.indices import as_index

#: An index of the rows ``%r`` of blocks of 16, or of the picked ``%p``, in IR; as Python; and how far its lanes
#: are from what they are near.
CASES = {
    "rows": ("%v = tile.add %r, %zero", lambda r, p: r, (0, 15)),
    "in groups": ("%v = tile.shr %r, %six", lambda r, p: r >> 6, (0, 0)),
    "in smaller groups": ("%v = tile.shr %r, %two", lambda r, p: r >> 2, (0, 3)),
    "of a group": ("%v = tile.and %r, %mask", lambda r, p: r & 31, (0, 15)),
    "in groups of no size": ("%v = tile.floordiv %r, %three", lambda r, p: r // 3, (0, 5)),
    "far on": ("%v = tile.add %r, %begin", lambda r, p: 2 * r - r % 16, (0, 15)),
    "of smaller groups": ("%v = tile.mod %r, %three", lambda r, p: r % 3, (0, 2)),
    "in groups anywhere": (
        "%s = tile.add %r, %three\n%v = tile.shr %s, %two",
        lambda r, p: (r + 3) >> 2,
        (0, 4),
    ),
    "backwards": ("%v = tile.sub %zero, %r", lambda r, p: -r, (-15, 0)),
    "scaled": ("%v = tile.mul %three, %r", lambda r, p: 3 * r, (0, 45)),
    "of a group before the first": (
        "%s = tile.sub %r, %fourth\n%v = tile.and %s, %mask",
        lambda r, p: (r - 64) & 31,
        (0, 15),
    ),
    "by a picked mask": ("%v = tile.and %r, %p", lambda r, p: r & p, None),
    "picked": ("%v = tile.add %r, %p", lambda r, p: r + p, None),
}


def module(steps: str) -> ModuleOp:
    """A kernel that stores the index tile."""
    numbers = {"zero": 0, "two": 2, "three": 3, "six": 6, "mask": 31, "fourth": 64}
    type = "!tile.tile<b0=16 x i32>"
    full = "\n".join(f"%{name} = tile.full {number} : {type}" for name, number in numbers.items())
    steps = "\n".join(f"{line} : {type}" for line in steps.splitlines())
    return kopt.parse(f"""
      func.func @f(%x: memref<160xi32>, %out: memref<160xi32>) {{
        tile.grid (%i: b0=16) in (160) {{
          {full}
          %r = tile.index %i : !tile.range<b0=16>
          %n = tile.begin %i : !tile.range<b0=16>
          %begin = tile.splat %n : index to {type}
          %p = tile.load %x[%i] : memref<160xi32> -> {type}
          {steps}
          tile.store %v, %out[%i] : {type}, memref<160xi32>
        }}
        func.return
      }}""")


@pytest.mark.parametrize(("steps", "function", "wanted"), CASES.values(), ids=CASES)
def test_near(steps, function, wanted):
    """As the table says, and true of the lanes of every block, also where what they are near is computed by ops."""
    kernel = module(steps)
    store = next(op for op in kernel.walk() if isinstance(op, StoreOp))
    found = near(IndexAnalysis().expr(store.value))
    assert (None if found is None else (found.distance.low, found.distance.high)) == wanted
    if found is None:
        return
    assert IndexWriter.can_write(found.base)
    build, rows = Builder(store), np.arange(160)
    base = IndexWriter(build.add, lambda value: as_index(value, build), IndexAnalysis().begin).value(found.base)
    store.operands[0] = build.add(SplatOp(base, store.value.type))  # pyright: ignore[reportArgumentType]
    written = np.zeros(160, np.int32)
    run(kernel, "f", [np.zeros(160, np.int32), written])
    distance = function(rows, np.zeros(160, np.int64)) - written
    assert ((distance >= found.distance.low) & (distance <= found.distance.high)).all()
