"""The jnp spelling of the elementwise table.

A row is a template over its operands, or one a kind of arithmetic; a name with an underscore is a function of
`kopt.lowering.emitted.mosaic`, written into the emitted module when used. What Mosaic lacks (jax 0.10, checked by the
slow tests): ``expm1 asin acos atan sinh cosh asinh acosh atanh``, maxima of unsigned integers, and arithmetic below
32 bits, which the pass ``expand-for-mosaic`` widens.
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from kopt.dialects.tile import ELEMENTWISE, ElementwiseOp, FullOp, SelectOp
from kopt.lowering.expr import template
from kopt.lowering.pallas.printing import PallasPrinter
from kopt.lowering.pallas.values.division import guarded
from kopt.lowering.pallas.values.operands import spelt, spelt_as_number
from kopt.lowering.printer import Handler, template_of

#: Template by row name; ``name.kind`` wins over ``name``.
TEMPLATES: dict[str, str] = {
    # arithmetic
    "neg": "-{0}",
    "abs": "jnp.abs({0})",
    "abs.uint": "{0}",
    "sign": "jnp.sign({0})",
    "sign.float": "_sign({0})",
    "add": "{0} + {1}",
    "sub": "{0} - {1}",
    "mul": "{0} * {1}",
    "div": "{0} / {1}",
    "floordiv": "{0} // {1}",
    "floordiv.float": "_floordiv({0}, {1})",
    "truncdiv": "jax.lax.div({0}, {1})",
    "truncdiv.float": "jnp.trunc({0} / {1})",
    "mod": "{0} % {1}",
    "mod.float": "jnp.mod({0}, {1})",
    "rem": "jax.lax.rem({0}, {1})",
    "pow": "_int_power({0}, {1})",
    "pow.float": "_power({0}, {1})",
    "maximum": "jnp.maximum({0}, {1})",
    "maximum.uint": "jnp.where({0} < {1}, {1}, {0})",
    "minimum": "jnp.minimum({0}, {1})",
    "minimum.uint": "jnp.where({1} < {0}, {1}, {0})",
    "fmax": "jnp.fmax({0}, {1})",
    "fmin": "jnp.fmin({0}, {1})",
    "atan2": "jnp.arctan2({0}, {1})",
    "copysign": "jnp.copysign({0}, {1})",
    "fma": "{0} * {1} + {2}",
    # transcendental functions
    "exp": "jnp.exp({0})",
    "exp2": "jnp.exp2({0})",
    "expm1": "_expm1({0})",
    "log": "jnp.log({0})",
    "log2": "jnp.log2({0})",
    "log10": "jnp.log10({0})",
    "log1p": "jnp.log1p({0})",
    "sqrt": "jnp.sqrt({0})",
    "rsqrt": "jax.lax.rsqrt({0})",
    "reciprocal": "1.0 / {0}",
    "sin": "jnp.sin({0})",
    "cos": "jnp.cos({0})",
    "tan": "jnp.tan({0})",
    "asin": "_asin({0})",
    "acos": "_acos({0})",
    "atan": "jnp.arctan2({0}, jnp.ones_like({0}))",
    "sinh": "_sinh({0})",
    "cosh": "_cosh({0})",
    "tanh": "jnp.tanh({0})",
    "asinh": "_asinh({0})",
    "acosh": "_acosh({0})",
    "atanh": "_atanh({0})",
    "erf": "jax.lax.erf({0})",
    "sigmoid": "jax.nn.sigmoid({0})",
    # rounding
    "floor": "jnp.floor({0})",
    "ceil": "jnp.ceil({0})",
    "round": "jnp.round({0})",
    "trunc": "jnp.trunc({0})",
    # bits and logic
    "not": "~{0}",
    "and": "{0} & {1}",
    "or": "{0} | {1}",
    "xor": "{0} ^ {1}",
    "shl": "{0} << {1}",
    "shr": "{0} >> {1}",
    # comparisons
    "eq": "{0} == {1}",
    "ne": "{0} != {1}",
    "lt": "{0} < {1}",
    "le": "{0} <= {1}",
    "gt": "{0} > {1}",
    "ge": "{0} >= {1}",
    "eq.bool": "~({0} ^ {1})",
    "ne.bool": "{0} ^ {1}",
    "lt.bool": "~{0} & {1}",
    "le.bool": "~{0} | {1}",
    "gt.bool": "{0} & ~{1}",
    "ge.bool": "{0} | ~{1}",
    "isnan": "jnp.isnan({0})",
    "isinf": "jnp.isinf({0})",
}


def _print(printing: PallasPrinter, op: ElementwiseOp) -> None:
    text = template_of(TEMPLATES, op)
    operands = spelt(printing, op.operands) if _takes_numbers(text) else [printing[value] for value in op.operands]
    repeated = template(text).is_repeated
    operands = [
        printing.named(value) if repeated(number) and operand.literal is None else operand
        for number, (value, operand) in enumerate(zip(op.operands, operands, strict=True))
    ]
    printing.define(op.results[0], printing.spelt(guarded(text, op, printing), *operands))


def _takes_numbers(template: str) -> bool:
    """Whether operands may be Python numbers: not in functions that ask for a dtype or rank."""
    return not template.startswith(("_", "jax.lax."))


def is_number_only(op: Operation) -> bool:
    """Whether an op is a constant that every user spells as a number: no array need be made of it."""
    return isinstance(op, FullOp) and all(_spells_number(use.operation, op.result) for use in op.result.uses)


def _spells_number(user: Operation, value: SSAValue) -> bool:
    if isinstance(user, SelectOp):
        return spelt_as_number(value, (user.on_true, user.on_false))
    takes = isinstance(user, ElementwiseOp) and _takes_numbers(template_of(TEMPLATES, user))
    return takes and spelt_as_number(value, user.operands)


HANDLERS: dict[type[Operation], Handler] = dict.fromkeys(ELEMENTWISE.values(), _print)
