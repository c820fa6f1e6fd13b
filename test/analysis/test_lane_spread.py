"""How far the lanes of an index tile are apart: against every number that they can be."""

from __future__ import annotations

import pytest

from kopt.analysis.lane_spread import Spread, spread
from kopt.dialects.tile import StoreOp
from kopt.parsing import parse_module

#: An index of the rows ``%r`` of blocks of 16, or of the picked ``%p``, in IR; as Python; and its spread.
CASES = {
    "rows": ("%v = tile.add %r, %zero", lambda r, p: r, Spread(16, 0, 15)),
    "in groups": ("%v = tile.shr %r, %six", lambda r, p: r >> 6, Spread(1, 0, 0)),
    "in smaller groups": ("%v = tile.shr %r, %two", lambda r, p: r >> 2, Spread(4, 0, 3)),
    "of a group": ("%v = tile.and %r, %mask", lambda r, p: r & 31, Spread(16, 0, 15)),
    "of smaller groups": ("%v = tile.mod %r, %three", lambda r, p: r % 3, Spread(0, 0, 2)),
    "in groups anywhere": (
        "%s = tile.add %r, %three\n%v = tile.shr %s, %two",
        lambda r, p: (r + 3) >> 2,
        Spread(1, 0, 4),
    ),
    "backwards": ("%v = tile.sub %zero, %r", lambda r, p: -r, Spread(16, -15, 0)),
    "scaled": ("%v = tile.mul %three, %r", lambda r, p: 3 * r, Spread(48, 0, 45)),
    "of a group before the first": (
        "%s = tile.sub %r, %fourth\n%v = tile.and %s, %mask",
        lambda r, p: (r - 64) & 31,
        Spread(16, 0, 15),
    ),
    "by a picked mask": ("%v = tile.and %r, %p", lambda r, p: r & p, None),
    "picked": ("%v = tile.add %r, %p", lambda r, p: r + p, None),
}


def _tile(steps: str) -> StoreOp:
    numbers = {"zero": 0, "two": 2, "three": 3, "six": 6, "mask": 31, "fourth": 64}
    type = "!tile.tile<b0=16 x i32>"
    full = "\n".join(f"%{name} = tile.full {number} : {type}" for name, number in numbers.items())
    steps = "\n".join(f"{line} : {type}" for line in steps.splitlines())
    text = f"""
      func.func @f(%x: memref<160xi32>, %out: memref<160xi32>) {{
        tile.grid (%i: b0=16) in (160) {{
          {full}
          %r = tile.index %i : !tile.range<b0=16>
          %p = tile.load %x[%i] : memref<160xi32> -> {type}
          {steps}
          tile.store %v, %out[%i] : {type}, memref<160xi32>
        }}
        func.return
      }}"""
    module = parse_module(text)
    return next(op for op in module.walk() if isinstance(op, StoreOp))


@pytest.mark.parametrize(("steps", "function", "wanted"), CASES.values(), ids=CASES)
def test_spread(steps, function, wanted):
    """As the table says, and true of the lanes of every block."""
    found = spread(_tile(steps).value)
    assert found == wanted
    for begin in range(0, 160, 16) if found else ():
        lanes = [function(row, 0) for row in range(begin, begin + 16)]
        near = 0 if found.divisor == 0 else lanes[0]
        assert found.divisor == 0 or near % found.divisor == 0
        assert near + found.low <= min(lanes) and max(lanes) <= near + found.high
