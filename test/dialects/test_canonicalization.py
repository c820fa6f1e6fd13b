"""Canonicalisation changes no result: folded numbers are the interpreter's, and whole functions compute the same."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, f32, f64, i1
from xdsl.dialects.builtin import i32 as ir_i32

from kopt.context import make_context
from kopt.dialects.canonicalization.elementwise import _FOLD, _NEUTRAL, RULES, holds, widens
from kopt.dialects.tile import ELEMENTWISE, CastOp, FullOp, TileType
from kopt.dtypes import DTYPES, to_ir
from kopt.interpreter import run
from kopt.interpreter.elementwise import compute
from kopt.interpreter.rounding import cast, numpy_type, rounded
from kopt.parsing import parse_module, verify
from kopt.passes import PASSES
from kopt.registry import load

FILE = Path(__file__).resolve().parents[1] / "lit" / "dialects" / "tile-canonicalize.mlir"
NUMBERS = {
    f32: [0.0, -0.0, 1.0, -1.5, 3.0, 0.1, 1e30, 1e-30, float("inf"), float("-inf"), float("nan")],
    ir_i32: [0, 1, -1, 2, 7, 8, -7, 2**31 - 1, -(2**31)],
    i1: [0, 1],
}
NUMBERS[f64] = NUMBERS[f32]


FOLDED = [
    (name, element)
    for name, element in itertools.product(sorted({*_FOLD, *_NEUTRAL}), NUMBERS)
    if ELEMENTWISE[name].ROW.rule.accepts(element)
]


@pytest.mark.parametrize("name,element", FOLDED, ids=str)
def test_folded_numbers_are_those_of_the_interpreter(name: str, element) -> None:
    """Bit for bit, the sign of zero included."""
    op_type = ELEMENTWISE[name]
    for numbers in itertools.product(NUMBERS[element], repeat=op_type.ROW.arity):
        op = op_type(*(FullOp(number, TileType([], element)).result for number in numbers))
        for rule in RULES[op_type]:
            found = rule(op)
            if found is None:
                continue
            constant = found if isinstance(found, FullOp) else found.owner
            arrays = [np.asarray(value.owner.number, numpy_type(element)) for value in op.inputs]
            expected = rounded(compute(name, *arrays), op.result.type.element_type)
            assert_same(np.asarray(constant.number, expected.dtype), expected)


def is_left_to_the_device(name: str, element, numbers: tuple[float, ...]) -> bool:
    """Divisions by 0, quotients and remainders of floats, which zero is the larger, large shifts, what overflows."""
    by = numbers[-1]
    match name:
        case "div" | "mul" if element == f32 and numbers in ((1e30, 1e-30), (1e30, 1e30)):
            return numbers[1] == (1e-30 if name == "div" else 1e30)
        case "div" | "floordiv" | "mod":
            return by == 0 or (name != "div" and element in (f32, f64))
        case "maximum" | "minimum":
            return numbers[0] == by == 0 and np.signbit(numbers[0]) != np.signbit(by) and element != ir_i32
        case "shl":
            return not 0 <= by < 8
        case "shr":
            return by != 0
    return False


@pytest.mark.parametrize("name,element", FOLDED, ids=str)
def test_what_is_folded(name: str, element) -> None:
    """All but what is left to the device."""
    op_type = ELEMENTWISE[name]
    for numbers in itertools.product(NUMBERS[element], repeat=op_type.ROW.arity):
        op = op_type(*(FullOp(number, TileType([], element)).result for number in numbers))
        left = all(rule(op) is None for rule in RULES[op_type])
        assert left == is_left_to_the_device(name, element, numbers), numbers


def assert_same(found: np.ndarray, expected: np.ndarray) -> None:
    """Equal, NaN equal to NaN, 0.0 not equal to -0.0."""
    np.testing.assert_array_equal(found, expected)
    if not np.isnan(expected):
        assert np.signbit(found.astype(float)) == np.signbit(expected.astype(float))


def test_what_widens_comes_back() -> None:
    """Every pair of types: where the first widens to the second, there and back is the identity."""
    random = np.random.default_rng(0)
    for before, after in itertools.product(DTYPES, DTYPES):
        source, target = to_ir(before), to_ir(after)
        if before == after or not widens(source, target):
            continue
        values = cast(random.integers(-(2**62), 2**62, 500) * 2.0 ** random.integers(-80, 20, 500), f64, source)
        np.testing.assert_array_equal(cast(cast(values, source, target), target, source), values, f"{before} {after}")


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.spec)
def test_a_constant_that_a_type_holds_is_not_rounded(dtype) -> None:
    """What ``holds`` says agrees with the cast."""
    for number in (0, 1, -1, 0.5, 127, 128, 255, 256, 257, 65504, 65505, 2**24 + 1, 1e-8, 3.4e38, 2.0**-133):
        if holds(to_ir(dtype), number):
            exact = cast(np.asarray(number, np.float64), f64, to_ir(dtype))
            assert dtype.kind == "bool" or float(exact) == number


def test_no_rule_makes_another_type() -> None:
    """A replaced cast has the type that it had."""
    value = FullOp(1.0, TileType([4], f32))
    back = CastOp(CastOp(value, f64), f32)
    (found,) = [rule(back) for rule in RULES[CastOp] if rule(back) is not None]
    assert found == value.result


def functions(module: ModuleOp) -> list[str]:
    """The functions that the interpreter can run."""
    return [
        op.sym_name.data
        for op in module.walk()
        if op.name == "func.func" and not any(inner.name.startswith("test.") for inner in op.walk())
    ]


def test_functions_compute_the_same() -> None:
    """The lit test's functions, before and after."""
    before = parse_module(FILE.read_text(), str(FILE))
    after = parse_module(FILE.read_text(), str(FILE))
    load(PASSES["canonicalize"])().apply(make_context(), after)
    verify(after)
    assert len(functions(before)) >= 4
    for name in functions(before):
        results = [written(module, name) for module in (before, after)]
        for one, other in zip(*results, strict=True):
            np.testing.assert_array_equal(one, other)


def written(module: ModuleOp, name: str) -> list[np.ndarray]:
    """The arguments of a function after it ran on numbers of a fixed seed."""
    function = next(op for op in module.walk() if op.name == "func.func" and op.sym_name.data == name)
    random = np.random.default_rng(0)
    types = function.function_type.inputs.data
    args = [cast(random.integers(-3, 4, type.get_shape()), ir_i32, type.element_type) for type in types]
    run(module, name, args)
    return args
