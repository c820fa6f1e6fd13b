"""The spelling of ``arith`` on scalars: ``index`` and integer arithmetic, predicates, a few floats.

Operands are Python numbers or 32-bit scalars, so every spelling works for both.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, i1
from xdsl.ir import Operation

from kopt.lowering.pallas.printing import Printing, ValuePrinter
from kopt.lowering.pallas.values.division import guarded
from kopt.lowering.pallas.values.helpers import with_helpers

#: Template by op name without the dialect.
TEMPLATES: dict[str, str] = {
    "addi": "{0} + {1}",
    "subi": "{0} - {1}",
    "muli": "{0} * {1}",
    "divsi": "jax.lax.div({0}, {1})",
    "divui": "{0} // {1}",
    "floordivsi": "{0} // {1}",
    "ceildivsi": "-(-{0} // {1})",
    "ceildivui": "-(-{0} // {1})",
    "remsi": "jax.lax.rem({0}, {1})",
    "remui": "{0} % {1}",
    "minsi": "jnp.minimum({0}, {1})",
    "maxsi": "jnp.maximum({0}, {1})",
    "minui": "jnp.minimum({0}, {1})",
    "maxui": "jnp.maximum({0}, {1})",
    "andi": "{0} & {1}",
    "ori": "{0} | {1}",
    "xori": "{0} ^ {1}",
    "shli": "{0} << {1}",
    "shrsi": "{0} >> {1}",
    "shrui": "{0} >> {1}",
    "select": "jnp.where({0}, {1}, {2})",
    "index_cast": "{0}",
    "index_castui": "{0}",
    "addf": "{0} + {1}",
    "subf": "{0} - {1}",
    "mulf": "{0} * {1}",
    "divf": "{0} / {1}",
    "negf": "-{0}",
    "maximumf": "jnp.maximum({0}, {1})",
    "minimumf": "jnp.minimum({0}, {1})",
}

#: Operators of ``arith.cmpi`` and ``arith.cmpf`` by predicate number. Indices are never negative.
_CMPI = ("==", "!=", "<", "<=", ">", ">=", "<", "<=", ">", ">=")
CMPF = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
_CASTS = ("extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui", "extf", "truncf")


def _template(op: Operation, printing: Printing) -> str:
    template = guarded(TEMPLATES[op.name.removeprefix("arith.")], op, printing)
    return with_helpers(template.format(*(printing.name(value) for value in op.operands)), printing)


def _constant(op: Operation, printing: Printing) -> str:
    assert isinstance(op, arith.ConstantOp)
    return printing.literal(op.value)


def _compare_integers(op: Operation, printing: Printing) -> str:
    assert isinstance(op, arith.CmpiOp)
    return _compare(op, _CMPI[op.predicate.value.data], printing)


def _compare_floats(op: Operation, printing: Printing) -> str:
    assert isinstance(op, arith.CmpfOp)
    return _compare(op, CMPF[op.predicate.value.data], printing)


def _compare(op: Operation, operator: str, printing: Printing) -> str:
    left, right = (printing.name(value) for value in op.operands)
    return f"{left} {operator} {right}"


def _cast(op: Operation, printing: Printing) -> str:
    target, name = op.results[0].type, printing.name(op.operands[0])
    if target == i1:
        return f"({name} & 1) != 0"
    if isinstance(target, IntegerType) or target.name != "index":
        return f"jnp.asarray({name}, {printing.dtype(target)})"
    return name


_SPECIAL: dict[type[Operation], ValuePrinter] = {
    arith.ConstantOp: _constant,
    arith.CmpiOp: _compare_integers,
    arith.CmpfOp: _compare_floats,
}
_OPS = {op.name.removeprefix("arith."): op for op in arith.Arith.operations}

PRINTERS: dict[type[Operation], ValuePrinter] = {
    **{_OPS[name]: _template for name in TEMPLATES if name in _OPS},
    **{_OPS[name]: _cast for name in _CASTS if name in _OPS},
    **_SPECIAL,
}
