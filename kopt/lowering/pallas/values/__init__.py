"""How each value op of the ``tile`` dialect is spelt in jnp, legally for Mosaic: one table a family of ops.

Tiles of every rank are printed as arrays of that rank, scalars included: Mosaic lays them out itself.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.lowering.pallas.values import casts, dot, elementwise, masks, random, ranges, reductions, scalars, shape
from kopt.lowering.printer import Handler

#: The printer of each op class.
VALUES: dict[type[Operation], Handler] = {
    **elementwise.HANDLERS,
    **casts.HANDLERS,
    **random.HANDLERS,
    **shape.HANDLERS,
    **reductions.HANDLERS,
    **masks.HANDLERS,
    **ranges.HANDLERS,
    **dot.HANDLERS,
    **scalars.HANDLERS,
}
