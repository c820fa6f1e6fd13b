"""How each value op of the ``tile`` dialect is spelt in jnp, legally for Mosaic: one table a family of ops.

``VALUES[type(op)](op, printing)`` is the expression of the op's result, a tuple where it has several; see
`kopt.lowering.pallas.printing`.
Tiles of every rank are printed as arrays of that rank, scalars included: Mosaic lays them out itself.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.lowering.pallas.printing import ValuePrinter
from kopt.lowering.pallas.values import casts, dot, elementwise, masks, random, ranges, reductions, scalars, shape

#: The printer of each op class.
VALUES: dict[type[Operation], ValuePrinter] = {
    **elementwise.PRINTERS,
    **casts.PRINTERS,
    **random.PRINTERS,
    **shape.PRINTERS,
    **reductions.PRINTERS,
    **masks.PRINTERS,
    **ranges.PRINTERS,
    **dot.PRINTERS,
    **scalars.PRINTERS,
}
