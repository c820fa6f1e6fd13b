"""Which quotients, functions and products become others where a cast to 16 bits hides what they lose: both sides of
each limit."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.context import make_context
from kopt.dialects import triton
from kopt.dialects.canonicalization.elementwise import constant
from kopt.dialects.tile import ElementwiseOp
from kopt.pass_manager import parse_pipeline, run
from kopt.walk import walk

TEXT = """
func.func @f(%x: memref<8xf32>, %w: memref<8xf32>, %o: memref<8x{stored}>) {{
  tile.grid (%i: b0=8) in (8) {{
    %a = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    %b = tile.load %w[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
    {ops}
    tile.store %o1, %o[%i] : !tile.tile<b0=8 x {stored}>, memref<8x{stored}>
  }}
  func.return
}}
"""


def ops(text: str) -> str:
    """``r = div a 3.0`` as operations, whose results are f32."""
    lines = []
    for n, line in enumerate(text.split("; ")):
        name, op, *operands = line.replace(" =", "").split()
        values = [operand if operand[0].isalpha() else f"c{n}{k}" for k, operand in enumerate(operands)]
        for value, operand in zip(values, operands, strict=True):
            lines += [] if value == operand else [f"%{value} = tile.full {operand} : !tile.tile<b0=8 x f32>"]
        lines.append(f"%{name} = tile.{op} {', '.join(f'%{value}' for value in values)} : !tile.tile<b0=8 x f32>")
    return "\n".join(lines)


def found(text: str, hidden: bool) -> str:
    """What a chain becomes: each op with the constants that it takes; ``~`` is an approximate one."""
    last = text.split("; ")[-1].split()[0]
    end = f"%o1 = tile.cast %{last} : !tile.tile<b0=8 x f32> to !tile.tile<b0=8 x bf16>"
    body = ops(text) + "\n" + end if hidden else ops(text).replace(f"%{last} =", "%o1 =")
    module = parse(TEXT.format(stored="bf16" if hidden else "f32", ops=body))
    run(module, make_context(), parse_pipeline("approximate-functions"))
    return ", ".join(map(shown, walk(module, ElementwiseOp)))


def shown(op: ElementwiseOp) -> str:
    numbers = [f" {number:g}" for value in op.inputs if (number := constant(value)) is not None]
    return ("~" if triton.APPROXIMATE in op.attributes else "") + op.ROW.name + "".join(numbers)


@pytest.mark.parametrize(
    ("text", "hidden", "seen"),
    [
        ("r = div a b", "~div", "div"),
        ("r = div a 3.0", "mul 0.333333", "div 3"),
        ("r = div a 4.0", "mul 0.25", "mul 0.25"),
        ("r = div a -4.0", "mul -0.25", "mul -0.25"),
        ("r = div a 0.0", "~div 0", "div 0"),
        ("r = div a 8.507059e37", "mul 1.17549e-38", "mul 1.17549e-38"),
        ("r = div a 1.7014118e38", "~div 1.70141e+38", "div 1.70141e+38"),
        ("r = div a 1.17549435e-38", "mul 8.50706e+37", "mul 8.50706e+37"),
        ("r = div a 5.877e-39", "~div 5.877e-39", "div 5.877e-39"),
        ("r = div 3.0 a", "~div 3", "div 3"),
        ("r = sigmoid a", "~sigmoid", "sigmoid"),
        ("r = tanh a", "~tanh", "tanh"),
        ("r = exp a", "exp", "exp"),
        ("r = pow a 3.0", "~pow 3", "pow 3"),
        ("r = pow a 16.0", "~pow 16", "pow 16"),
        ("r = pow a -16.0", "~pow -16", "pow -16"),
        ("r = pow a 16.5", "pow 16.5", "pow 16.5"),
        ("r = pow a -17.0", "pow -17", "pow -17"),
        ("r = pow a b", "pow", "pow"),
        ("r = pow 2.0 a", "pow 2", "pow 2"),
        ("q = div a 3.0; r = rsqrt q", "mul 0.333333, rsqrt", "mul 0.333333, rsqrt"),
        ("q = div a b; r = rsqrt q", "~div, rsqrt", "div, rsqrt"),
        ("q = div a 3.0; p = add q 1.0; r = rsqrt p", "mul 0.333333, add 1, rsqrt", "mul 0.333333, add 1, rsqrt"),
        ("q = div a 3.0; p = add 1.0 q; r = rsqrt p", "mul 0.333333, add 1, rsqrt", "mul 0.333333, add 1, rsqrt"),
        ("q = div a 3.0; p = add q 0.0; r = rsqrt p", "mul 0.333333, add 0, rsqrt", "div 3, add 0, rsqrt"),
        ("q = div a 3.0; p = add q -1.0; r = rsqrt p", "mul 0.333333, add -1, rsqrt", "div 3, add -1, rsqrt"),
        ("q = div a 3.0; p = add q b; r = rsqrt p", "mul 0.333333, add, rsqrt", "div 3, add, rsqrt"),
        ("q = div a 3.0; p = mul q 2.0; r = rsqrt p", "mul 0.666667, rsqrt", "div 3, mul 2, rsqrt"),
        ("q = div a 3.0; p = rsqrt q; r = mul p q", "mul 0.333333, rsqrt, mul", "div 3, rsqrt, mul"),
        ("q = div a 3.0; r = sqrt q", "mul 0.333333, sqrt", "div 3, sqrt"),
        ("t = tanh a; r = add t 1.0", "mul 2, ~sigmoid, mul 2", "tanh, add 1"),
        ("t = tanh a; r = add 1.0 t", "mul 2, ~sigmoid, mul 2", "tanh, add 1"),
        ("t = tanh a; r = add t 2.0", "~tanh, add 2", "tanh, add 2"),
        ("t = tanh a; s = add t 1.0; r = mul s t", "~tanh, add 1, mul", "tanh, add 1, mul"),
        ("t = exp a; r = add t 1.0", "exp, add 1", "exp, add 1"),
    ],
)
def test_quotients_and_functions(text: str, hidden: str, seen: str) -> None:
    assert (found(text, True), found(text, False)) == (hidden, seen)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("p = mul a 0.5; r = mul p 2.0", "~"),
        ("p = mul a 0.5; r = mul p 3.0", "mul 1.5"),
        ("p = mul 0.5 a; r = mul 3.0 p", "mul 1.5"),
        ("p = mul a 5.0; r = mul p 3.0", "mul 5, mul 3"),
        ("p = mul a b; r = mul p 3.0", "mul, mul 3"),
        ("p = mul a 0.5; r = mul p b", "mul 0.5, mul"),
        ("p = mul a 0.5; q = mul b 2.0; r = mul p q", "mul"),
        ("p = mul a 0.5; q = mul b 8.0; r = mul p q", "mul, mul 4"),
        ("p = mul a 1.0; q = mul b 16.0; r = mul p q", "mul, mul 16"),
        ("p = mul a 2.0; q = mul b 16.0; r = mul p q", "mul 2, mul 16, mul"),
        ("p = mul a 0.5; q = mul b 1.0; r = mul p q", "mul 0.5, mul 1, mul"),
        ("p = mul a 0.5; q = mul b -4.0; r = mul p q", "mul, mul -2"),
        ("p = mul a 0.5; q = mul p 2.0; r = add q p", "mul 0.5, mul 2, add"),
        ("p = mul a 1.17549435e-38; r = mul p 0.5", "mul 1.17549e-38, mul 0.5"),
        ("p = mul a 8.507059e37; r = mul p 2.0", "mul 8.50706e+37, mul 2"),
        ("p = mul a 8.507059e37; r = mul p 1.0", "mul 8.50706e+37"),
        ("p = mul a 1.17549435e-38; r = mul p 1.0", "mul 1.17549e-38"),
    ],
)
def test_constant_factors_of_products(text: str, hidden: str) -> None:
    """Not where they are seen."""
    assert found(text, True) == hidden.removeprefix("~")
    before = parse(TEXT.format(stored="f32", ops=_named(text)))
    assert found(text, False) == ", ".join(map(shown, walk(before, ElementwiseOp)))


def _named(text: str) -> str:
    return ops(text).replace("%r =", "%o1 =")
