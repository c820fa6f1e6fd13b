"""Host ops in jnp: the text of each form of a call, what has none, and views."""

from __future__ import annotations

import re

import pytest

from kopt import parse
from kopt.dialects.host import CallOp
from kopt.lowering.host.jax_calls import is_spelt
from kopt.lowering.jax.module import print_module
from kopt.walk import walk
from test.lowering.host_ops import ARRAYS, body, call


@pytest.mark.parametrize(
    ("name", "inputs", "arguments", "types", "text"),
    [
        ("constant_pad_nd.default", "x", "unit, [1 : i64, 2 : i64]", "6x11xf32", "o0 = jnp.pad(x, [(0, 0), (1, 2)])"),
        (
            "constant_pad_nd.default",
            "x",
            "unit, [0 : i64, 0 : i64, 1 : i64, 2 : i64], 2.0 : f64",
            "9x8xf32",
            "o0 = jnp.pad(x, [(1, 2), (0, 0)], constant_values=2.0)",
        ),
        (
            "constant_pad_nd.default",
            "x",
            "unit, [0 : i64, 1 : i64], 0.0 : f64",
            "6x9xf32",
            "o0 = jnp.pad(x, [(0, 0), (0, 1)])",
        ),
        (
            "constant_pad_nd.default",
            "x",
            "unit, [-1 : i64, 2 : i64], 1.0 : f64",
            "6x9xf32",
            "o0 = jax.lax.pad(x, jnp.asarray(1.0, x.dtype), [(0, 0, 0), (-1, 2, 0)])",
        ),
        (
            "constant_pad_nd.default",
            "m",
            "unit, [0 : i64, 1 : i64], false",
            "6x9xi1",
            "o0 = jnp.pad(m, [(0, 0), (0, 1)])",
        ),
        ("cat.default", "x y", "[unit, unit]", "12x8xf32", "o0 = jnp.concatenate([x, y], axis=0)"),
        ("cat.default", "x y", "[unit, unit], 1 : i64", "6x16xf32", "o0 = jnp.concatenate([x, y], axis=1)"),
        ("index.Tensor", "x n", "unit, [unit]", "4x8xf32", "return x[n]"),
        ("index.Tensor", "x n", "unit, [none, unit]", "6x4xf32", "return x[:, n]"),
        ("index_put.default", "x n w", "unit, [unit], unit", "6x8xf32", "o0 = x.at[n].set(w)"),
        ("index_put.default", "x n w", "unit, [unit], unit, true", "6x8xf32", "o0 = x.at[n].add(w)"),
        ("index_put.default", "x n w", "unit, [unit], unit, false", "6x8xf32", "o0 = x.at[n].set(w)"),
        ("index_put.default", "x m s", "unit, [unit], unit", "6x8xf32", "o0 = jnp.where(m, s, x)"),
        ("index_put.default", "x m one", "unit, [unit], unit", "6x8xf32", "o0 = jnp.where(m, one.reshape(()), x)"),
        ("index_put.default", "x m s", "unit, [unit], unit, true", "6x8xf32", "o0 = jnp.where(m, x + s, x)"),
        ("index_put.default", "x r s", "unit, [unit], unit", "6x8xf32", "o0 = jnp.where(r[..., None], s, x)"),
        ("index_add.default", "x n w", "unit, 0 : i64, unit, unit", "6x8xf32", "o0 = x.at[n].add(w)"),
        ("index_add.default", "x n b", "unit, -1 : i64, unit, unit", "6x8xf32", "o0 = x.at[:, n].add(b)"),
        ("index_add.default", "s n w", "unit, 0 : i64, unit, unit", "f32", "o0 = s.at[...].add(w)"),
        ("gather.default", "x i", "unit, 1 : i64, unit", "6x8xi32", "o0 = jnp.take_along_axis(x, i, axis=1)"),
        ("gather.default", "x k", "unit, 1 : i64, unit", "2x3xf32", "o0 = jnp.take_along_axis(x[:2, :], k, axis=1)"),
        ("gather.default", "x k", "unit, 0 : i64, unit", "2x3xf32", "o0 = jnp.take_along_axis(x[:, :3], k, axis=0)"),
        (
            "scatter.src",
            "x k q",
            "unit, 0 : i64, unit, unit",
            "6x8xf32",
            "o0 = x.at[:, :3].set(jnp.put_along_axis(x[:, :3], k, q, axis=0, inplace=False))",
        ),
        (
            "scatter.src",
            "x k y",
            "unit, 1 : i64, unit, unit",
            "6x8xf32",
            "o0 = x.at[:2, :].set(jnp.put_along_axis(x[:2, :], k, y[:2, :3], axis=1, inplace=False))",
        ),
        (
            "scatter.src",
            "x i y",
            "unit, 1 : i64, unit, unit",
            "6x8xf32",
            "o0 = jnp.put_along_axis(x, i, y, axis=1, inplace=False)",
        ),
        (
            "scatter.value",
            "x i",
            "unit, 1 : i64, unit, 2.0 : f64",
            "6x8xf32",
            "o0 = jnp.put_along_axis(x, i, 2.0, axis=1, inplace=False)",
        ),
        ("pow.Tensor_Scalar", "x", "unit, 2 : i64", "6x8xf32", "o0 = (x ** 2).astype(jnp.float32)"),
        (
            "pow.Tensor_Tensor",
            "i i",
            "unit, unit",
            "6x8xi32",
            "o0 = _int_power(jnp.asarray(i, jnp.int32), jnp.asarray(i, jnp.int32))",
        ),
        ("pow.Tensor_Scalar", "i", "unit, 2 : i64", "6x8xi32", "o0 = (i ** 2).astype(jnp.int32)"),
        ("pow.Tensor_Tensor", "x i", "unit, unit", "6x8xf32", "o0 = (x ** i).astype(jnp.float32)"),
        ("sign.default", "x", "unit", "6x8xf32", "o0 = _sign(x)"),
        ("sign.default", "i", "unit", "6x8xi32", "o0 = jnp.sign(i)"),
        ("sign.default", "m", "unit", "6x8xi1", "return m"),
        ("mul.Tensor", "x m", "unit, unit", "6x8xf32", "o0 = (x * m.astype(jnp.int8)).astype(jnp.float32)"),
        ("mul.Tensor", "i m", "unit, unit", "6x8xi32", "o0 = (i * m).astype(jnp.int32)"),
        ("add.Tensor", "x m", "unit, unit", "6x8xf32", "o0 = (x + m).astype(jnp.float32)"),
        ("div.Tensor", "m x", "unit, unit", "6x8xf32", "o0 = (m.astype(jnp.int8) / x).astype(jnp.float32)"),
        ("div.Tensor_mode", "x y", 'unit, unit, "floor"', "6x8xf32", "o0 = (x // y).astype(jnp.float32)"),
        ("div.Tensor_mode", "x y", 'unit, unit, "trunc"', "6x8xf32", "o0 = (jnp.trunc(x / y)).astype(jnp.float32)"),
        (
            "div.Tensor_mode",
            "i i",
            'unit, unit, "floor"',
            "6x8xi32",
            "o0 = (_divided(jnp.floor_divide, i, i)).astype(jnp.int32)",
        ),
        ("div.Tensor_mode", "i i", 'unit, unit, "trunc"', "6x8xi32", "o0 = (_truncated(i, i)).astype(jnp.int32)"),
        ("div.Tensor_mode", "x y", "unit, unit, none", "6x8xf32", "o0 = (x / y).astype(jnp.float32)"),
        (
            "floor_divide.default",
            "i i",
            "unit, unit",
            "6x8xi32",
            "o0 = (_divided(jnp.floor_divide, i, i)).astype(jnp.int32)",
        ),
        ("fmod.Tensor", "x y", "unit, unit", "6x8xf32", "o0 = (jnp.fmod(x, y)).astype(jnp.float32)"),
        ("fmod.Tensor", "i i", "unit, unit", "6x8xi32", "o0 = (_divided(jnp.fmod, i, i)).astype(jnp.int32)"),
        (
            "max.dim",
            "x",
            "unit, 1 : i64",
            "6xf32;6xi64",
            "o0 = jnp.max(x, axis=1).reshape((6,)); o1 = jnp.argmax(x, axis=1).astype(jnp.int64).reshape((6,))",
        ),
        ("full.default", "", "[2 : i64], 3.0 : f64", "2xf32", "o0 = jnp.full((2,), 3.0, jnp.float32)"),
        ("ones.default", "", "[2 : i64]", "2xf32", "o0 = jnp.ones((2,), jnp.float32)"),
        ("_to_copy.default", "m", 'unit, "bf16"', "6x8xbf16", "o0 = m.astype(jnp.int8).astype(jnp.bfloat16)"),
    ],
)
def test_calls(name: str, inputs: str, arguments: str, types: str, text: str) -> None:
    assert body(print_module, *call(name, inputs, arguments, types)) == text


@pytest.mark.parametrize(
    ("op", "text"),
    [
        (
            "host.slice %x [1, 2] [3, 4] [1, 1] : memref<6x8xf32> to memref<3x4xf32, strided<[8, 1], offset: 10>>",
            "o0 = x[1:4, 2:6]",
        ),
        (
            "host.slice %x [0, 2] [6, 0] [1, 1] : memref<6x8xf32> to memref<6x0xf32, strided<[8, 1], offset: 2>>",
            "o0 = x[:6, 2:2]",
        ),
        (
            "host.slice %x [0, 1] [2, 4] [3, 2] : memref<6x8xf32> to memref<2x4xf32, strided<[24, 2], offset: 1>>",
            "o0 = x[:4:3, 1:8:2]",
        ),
        ("host.slice %x [0, 0] [6, 8] [1, 1] : memref<6x8xf32> to memref<6x8xf32>", "o0 = x[:6, :8]"),
        ("host.slice %s [] [] [] : memref<f32> to memref<f32>", "o0 = s[...]"),
        (
            "host.permute %x [1, 0] : memref<6x8xf32> to memref<8x6xf32, strided<[1, 8]>>",
            "o0 = jnp.transpose(x, (1, 0))",
        ),
        ("host.reshape %x : memref<6x8xf32> to memref<48xf32>", "o0 = x.reshape((48,))"),
        ("host.expand %one : memref<1xf32> to memref<7xf32, strided<[0]>>", "o0 = jnp.broadcast_to(one, (7,))"),
        ("host.alloc : memref<6xf32>", "o0 = jnp.zeros((6,), jnp.float32)"),
        ("host.alloc fill 0.0 : memref<6xf32>", "o0 = jnp.zeros((6,), jnp.float32)"),
        ("host.alloc fill 1.5 : memref<6xf32>", "o0 = jnp.full((6,), 1.5, jnp.float32)"),
        ("host.alloc fill 2 : memref<i32>", "o0 = jnp.full((), 2, jnp.int32)"),
        ("host.alloc : memref<6x4xf32, strided<[1, 6]>>", "o0 = jnp.zeros((6, 4), jnp.float32)"),
        ("host.alloc fill 2.0 : memref<6x4xf32, strided<[1, 6]>>", "o0 = jnp.full((6, 4), 2.0, jnp.float32)"),
        ("host.alloc fill -0.0 : memref<6xf32>", "o0 = jnp.full((6,), -0.0, jnp.float32)"),
        ("host.insert %w into %x [1, 0] [4, 8] [1, 1] : memref<4x8xf32>, memref<6x8xf32>", "o0 = x.at[1:5, :8].set(w)"),
        ("host.insert %s into %t [] [] [] : memref<f32>, memref<f32>", "o0 = t.at[...].set(s)"),
    ],
)
def test_arrays_and_views(op: str, text: str) -> None:
    types = re.findall(r"memref<[^<>]*(?:<[^<>]*>[^<>]*)?>", op)
    assert body(print_module, f"%o0 = {op}", types[-1]) == text


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
