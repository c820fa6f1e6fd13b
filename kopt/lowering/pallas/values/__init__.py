"""How each value op of the ``tile`` dialect is spelt in jnp, legally for Mosaic: one table a family of ops.

``VALUES[type(op)](op, printing)`` is the expression of the op's only result; see `kopt.lowering.pallas.printing`.
"""

from __future__ import annotations

from xdsl.ir import Operation

from kopt.lowering.pallas.printing import ValuePrinter

#: The printer of each op class.
VALUES: dict[type[Operation], ValuePrinter] = {}
