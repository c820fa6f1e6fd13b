"""Host ops in jnp: the text of each form of a call, what has none, and views."""

from __future__ import annotations

import pytest

from kopt import parse
from kopt.dialects.host import CallOp
from kopt.lowering.host.jax_calls import is_spelt
from kopt.lowering.jax.module import print_module
from kopt.walk import walk
from test.lowering.host_ops import ARRAYS, CALLS, VIEWS, body, call, given


@pytest.mark.parametrize(
    ("name", "inputs", "arguments", "types", "text"), [(*row[:4], row[-2]) for row in CALLS if row[-2] is not None]
)
def test_calls(name: str, inputs: str, arguments: str, types: str, text: str) -> None:
    assert body(print_module, *call(name, inputs, arguments, types)) == text


@pytest.mark.parametrize(("op", "text"), [(row[0], row[-2]) for row in VIEWS if row[-2] is not None])
def test_arrays_and_views(op: str, text: str) -> None:
    assert body(print_module, *given(op)) == text


@pytest.mark.parametrize(
    ("name", "inputs", "arguments", "spelt"),
    [
        ("index_add.default", "x n w", "unit, 0 : i64, unit, unit", True),
        ("index_add.default", "x n w", "unit, 0 : i64, unit, unit, 2 : i64", False),
        ("index_add.default", "x n w", "unit, none, unit, unit", False),
        ("index_put.default", "x n", "unit, [unit]", False),
        ("index_put.default", "x n w", "unit, unit, unit", False),
        ("index_put.default", "x m s", "unit, [unit], unit", True),
        ("index_put.default", "x m x", "unit, [unit], unit", False),
        ("index_put.default", "x r x", "unit, [unit], unit", False),
        ("index_put.default", "x r s", "unit, [none, unit], unit", True),
        ("index_put.default", "x r s", "unit, [unit, none], unit", False),
        ("index_put.default", "x r r s", "unit, [unit, unit], unit", False),
        ("index_put.default", "x m n s", "unit, [unit, unit], unit", False),
        ("constant_pad_nd.default", "x", "unit, [1 : i64, 2 : i64]", True),
        ("constant_pad_nd.default", "x", "unit, [1 : i64]", False),
        ("constant_pad_nd.default", "x", "unit, [1.0 : f64, 2 : i64]", False),
        ("constant_pad_nd.default", "x", "unit, 1 : i64", False),
        ("constant_pad_nd.default", "x", "unit", False),
        ("cat.default", "x y", "unit, unit", False),
        ("cat.default", "", "", False),
        ("index.Tensor", "x n", "unit, [unit]", True),
        ("index.Tensor", "x n", "unit, unit", False),
        ("index.Tensor", "x", "unit", False),
        ("pow.Scalar", "x", "2 : i64, unit", True),
        ("pow.Tensor_Tensor", "x", "unit", False),
        ("pow.Scalar", "", "2 : i64, 2 : i64", False),
        ("sign.default", "x", "unit", True),
        ("sign.default", "x y", "unit, unit", False),
        ("sign.default", "", "1.0 : f64", False),
        ("gather.default", "x i", "unit, 0 : i64, unit", True),
        ("gather.default", "x i", "unit, none, unit", False),
        ("gather.default", "x", "unit, 0 : i64", False),
        ("scatter.src", "x i y", "unit, 0 : i64, unit, unit", True),
        ("scatter.src", "x i y", "unit, none, unit, unit", False),
        ("scatter.src", "x i", "unit, 0 : i64, unit", False),
        ("scatter.reduce", "x i y", 'unit, 0 : i64, unit, unit, "add"', False),
        ("floor_divide.default", "x y", "unit, unit", True),
        ("floor_divide.default", "x", "unit", False),
        ("div.Tensor_mode", "x y", 'unit, unit, "floor"', True),
        ("div.Tensor_mode", "x y", 'unit, unit, "ceil"', False),
    ],
)
def test_what_jnp_has_an_expression_for(name: str, inputs: str, arguments: str, spelt: bool) -> None:
    taken = ", ".join(f"%{each}: memref<{ARRAYS[each]}>" for each in dict.fromkeys(inputs.split()))
    module = parse(f"func.func @f({taken}) {{\n{call(name, inputs, arguments, '6x8xf32')[0]}\nfunc.return\n}}")
    assert is_spelt(walk(module, CallOp)[0]) == spelt
