"""Host functions of one operation, and the lines that they become in jnp and in torch."""

from __future__ import annotations

import re
from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from kopt import parse

ARRAYS = {
    "x": "6x8xf32", "y": "6x8xf32", "w": "4x8xf32", "q": "2x3xf32", "b": "4x8xbf16", "i": "6x8xi32", "k": "2x3xi32",
    "n": "4xi32", "m": "6x8xi1", "r": "6xi1", "s": "f32", "t": "f32", "one": "1xf32",
}  # fmt: skip
#: Operators with their inputs, arguments and the types of their results; in jnp, in torch. None is not asked for.
CALLS = [
    (
        "constant_pad_nd.default",
        "x",
        "unit, [1 : i64, 2 : i64]",
        "6x11xf32",
        "o0 = jnp.pad(x, [(0, 0), (1, 2)])",
        "o0 = torch.ops.aten.constant_pad_nd.default(x, [1, 2])",
    ),
    (
        "constant_pad_nd.default",
        "x",
        "unit, [0 : i64, 0 : i64, 1 : i64, 2 : i64], 2.0 : f64",
        "9x8xf32",
        "o0 = jnp.pad(x, [(1, 2), (0, 0)], constant_values=2.0)",
        "o0 = torch.ops.aten.constant_pad_nd.default(x, [0, 0, 1, 2], 2.0)",
    ),
    (
        "constant_pad_nd.default",
        "x",
        "unit, [0 : i64, 1 : i64], 0.0 : f64",
        "6x9xf32",
        "o0 = jnp.pad(x, [(0, 0), (0, 1)])",
        "o0 = torch.ops.aten.constant_pad_nd.default(x, [0, 1], 0.0)",
    ),
    (
        "constant_pad_nd.default",
        "x",
        "unit, [-1 : i64, 2 : i64], 1.0 : f64",
        "6x9xf32",
        "o0 = jax.lax.pad(x, jnp.asarray(1.0, x.dtype), [(0, 0, 0), (-1, 2, 0)])",
        "o0 = torch.ops.aten.constant_pad_nd.default(x, [-1, 2], 1.0)",
    ),
    (
        "constant_pad_nd.default",
        "m",
        "unit, [0 : i64, 1 : i64], false",
        "6x9xi1",
        "o0 = jnp.pad(m, [(0, 0), (0, 1)])",
        "o0 = torch.ops.aten.constant_pad_nd.default(m, [0, 1], False)",
    ),
    (
        "cat.default",
        "x y",
        "[unit, unit]",
        "12x8xf32",
        "o0 = jnp.concatenate([x, y], axis=0)",
        "o0 = torch.ops.aten.cat.default([x, y])",
    ),
    (
        "cat.default",
        "x y",
        "[unit, unit], 1 : i64",
        "6x16xf32",
        "o0 = jnp.concatenate([x, y], axis=1)",
        "o0 = torch.ops.aten.cat.default([x, y], 1)",
    ),
    (
        "index.Tensor",
        "x n",
        "unit, [unit]",
        "4x8xf32",
        "return x[n]",
        "o0 = torch.ops.aten.index.Tensor(x, [n]).contiguous()",
    ),
    (
        "index.Tensor",
        "x n",
        "unit, [none, unit]",
        "6x4xf32",
        "return x[:, n]",
        "o0 = torch.ops.aten.index.Tensor(x, [None, n]).contiguous()",
    ),
    (
        "index_put.default",
        "x n w",
        "unit, [unit], unit",
        "6x8xf32",
        "o0 = x.at[n].set(w)",
        "o0 = torch.ops.aten.index_put.default(x, [n], w)",
    ),
    (
        "index_put.default",
        "x n w",
        "unit, [unit], unit, true",
        "6x8xf32",
        "o0 = x.at[n].add(w)",
        "o0 = torch.ops.aten.index_put.default(x, [n], w, True)",
    ),
    (
        "index_put.default",
        "x n w",
        "unit, [unit], unit, false",
        "6x8xf32",
        "o0 = x.at[n].set(w)",
        "o0 = torch.ops.aten.index_put.default(x, [n], w, False)",
    ),
    (
        "index_put.default",
        "x m s",
        "unit, [unit], unit",
        "6x8xf32",
        "o0 = jnp.where(m, s, x)",
        "o0 = torch.ops.aten.index_put.default(x, [m], s)",
    ),
    (
        "index_put.default",
        "x m one",
        "unit, [unit], unit",
        "6x8xf32",
        "o0 = jnp.where(m, one.reshape(()), x)",
        "o0 = torch.ops.aten.index_put.default(x, [m], one)",
    ),
    (
        "index_put.default",
        "x m s",
        "unit, [unit], unit, true",
        "6x8xf32",
        "o0 = jnp.where(m, x + s, x)",
        "o0 = torch.ops.aten.index_put.default(x, [m], s, True)",
    ),
    (
        "index_put.default",
        "x r s",
        "unit, [unit], unit",
        "6x8xf32",
        "o0 = jnp.where(r[..., None], s, x)",
        "o0 = torch.ops.aten.index_put.default(x, [r], s)",
    ),
    ("index_add.default", "x n w", "unit, 0 : i64, unit, unit", "6x8xf32", "o0 = x.at[n].add(w)", None),
    ("index_add.default", "x n b", "unit, -1 : i64, unit, unit", "6x8xf32", "o0 = x.at[:, n].add(b)", None),
    ("index_add.default", "s n w", "unit, 0 : i64, unit, unit", "f32", "o0 = s.at[...].add(w)", None),
    ("gather.default", "x i", "unit, 1 : i64, unit", "6x8xi32", "o0 = jnp.take_along_axis(x, i, axis=1)", None),
    ("gather.default", "x k", "unit, 1 : i64, unit", "2x3xf32", "o0 = jnp.take_along_axis(x[:2, :], k, axis=1)", None),
    ("gather.default", "x k", "unit, 0 : i64, unit", "2x3xf32", "o0 = jnp.take_along_axis(x[:, :3], k, axis=0)", None),
    (
        "scatter.src",
        "x k q",
        "unit, 0 : i64, unit, unit",
        "6x8xf32",
        "o0 = x.at[:, :3].set(jnp.put_along_axis(x[:, :3], k, q, axis=0, inplace=False))",
        "o0 = torch.ops.aten.scatter.src(x, 0, k, q)",
    ),
    (
        "scatter.src",
        "x k y",
        "unit, 1 : i64, unit, unit",
        "6x8xf32",
        "o0 = x.at[:2, :].set(jnp.put_along_axis(x[:2, :], k, y[:2, :3], axis=1, inplace=False))",
        "o0 = torch.ops.aten.scatter.src(x, 1, k, y)",
    ),
    (
        "scatter.src",
        "x i y",
        "unit, 1 : i64, unit, unit",
        "6x8xf32",
        "o0 = jnp.put_along_axis(x, i, y, axis=1, inplace=False)",
        "o0 = torch.ops.aten.scatter.src(x, 1, i, y)",
    ),
    (
        "scatter.value",
        "x i",
        "unit, 1 : i64, unit, 2.0 : f64",
        "6x8xf32",
        "o0 = jnp.put_along_axis(x, i, 2.0, axis=1, inplace=False)",
        "o0 = torch.ops.aten.scatter.value(x, 1, i, 2.0)",
    ),
    ("pow.Tensor_Scalar", "x", "unit, 2 : i64", "6x8xf32", "o0 = (x ** 2).astype(jnp.float32)", None),
    (
        "pow.Tensor_Tensor",
        "i i",
        "unit, unit",
        "6x8xi32",
        "o0 = _int_power(jnp.asarray(i, jnp.int32), jnp.asarray(i, jnp.int32))",
        "o0 = torch.ops.aten.pow.Tensor_Tensor(i, i)",
    ),
    ("pow.Tensor_Scalar", "i", "unit, 2 : i64", "6x8xi32", "o0 = (i ** 2).astype(jnp.int32)", None),
    (
        "pow.Tensor_Tensor",
        "x i",
        "unit, unit",
        "6x8xf32",
        "o0 = (x ** i).astype(jnp.float32)",
        "o0 = torch.ops.aten.pow.Tensor_Tensor(x, i)",
    ),
    ("sign.default", "x", "unit", "6x8xf32", "o0 = _sign(x)", None),
    ("sign.default", "i", "unit", "6x8xi32", "o0 = jnp.sign(i)", None),
    ("sign.default", "m", "unit", "6x8xi1", "return m", None),
    ("mul.Tensor", "x m", "unit, unit", "6x8xf32", "o0 = (x * m.astype(jnp.int8)).astype(jnp.float32)", None),
    ("mul.Tensor", "i m", "unit, unit", "6x8xi32", "o0 = (i * m).astype(jnp.int32)", None),
    (
        "add.Tensor",
        "x m",
        "unit, unit",
        "6x8xf32",
        "o0 = (x + m).astype(jnp.float32)",
        "o0 = torch.ops.aten.add.Tensor(x, m)",
    ),
    (
        "div.Tensor",
        "m x",
        "unit, unit",
        "6x8xf32",
        "o0 = (m.astype(jnp.int8) / x).astype(jnp.float32)",
        "o0 = torch.ops.aten.div.Tensor(m, x)",
    ),
    (
        "div.Tensor_mode",
        "x y",
        'unit, unit, "floor"',
        "6x8xf32",
        "o0 = (x // y).astype(jnp.float32)",
        "o0 = torch.ops.aten.div.Tensor_mode(x, y, 'floor')",
    ),
    (
        "div.Tensor_mode",
        "x y",
        'unit, unit, "trunc"',
        "6x8xf32",
        "o0 = (jnp.trunc(x / y)).astype(jnp.float32)",
        "o0 = torch.ops.aten.div.Tensor_mode(x, y, 'trunc')",
    ),
    (
        "div.Tensor_mode",
        "i i",
        'unit, unit, "floor"',
        "6x8xi32",
        "o0 = (_divided(jnp.floor_divide, i, i)).astype(jnp.int32)",
        "o0 = torch.ops.aten.div.Tensor_mode(i, i, 'floor')",
    ),
    (
        "div.Tensor_mode",
        "i i",
        'unit, unit, "trunc"',
        "6x8xi32",
        "o0 = (_truncated(i, i)).astype(jnp.int32)",
        "o0 = torch.ops.aten.div.Tensor_mode(i, i, 'trunc')",
    ),
    (
        "div.Tensor_mode",
        "x y",
        "unit, unit, none",
        "6x8xf32",
        "o0 = (x / y).astype(jnp.float32)",
        "o0 = torch.ops.aten.div.Tensor_mode(x, y, None)",
    ),
    (
        "floor_divide.default",
        "i i",
        "unit, unit",
        "6x8xi32",
        "o0 = (_divided(jnp.floor_divide, i, i)).astype(jnp.int32)",
        "o0 = torch.ops.aten.floor_divide.default(i, i)",
    ),
    ("fmod.Tensor", "x y", "unit, unit", "6x8xf32", "o0 = (jnp.fmod(x, y)).astype(jnp.float32)", None),
    ("fmod.Tensor", "i i", "unit, unit", "6x8xi32", "o0 = (_divided(jnp.fmod, i, i)).astype(jnp.int32)", None),
    (
        "max.dim",
        "x",
        "unit, 1 : i64",
        "6xf32;6xi64",
        "o0 = jnp.max(x, axis=1).reshape((6,)); o1 = jnp.argmax(x, axis=1).astype(jnp.int64).reshape((6,))",
        "o0, o1 = torch.ops.aten.max.dim(x, 1)",
    ),
    (
        "full.default",
        "",
        "[2 : i64], 3.0 : f64",
        "2xf32",
        "o0 = jnp.full((2,), 3.0, jnp.float32)",
        "o0 = torch.ops.aten.full.default([2], 3.0, device=x.device)",
    ),
    (
        "ones.default",
        "",
        "[2 : i64]",
        "2xf32",
        "o0 = jnp.ones((2,), jnp.float32)",
        "o0 = torch.ops.aten.ones.default([2], device=x.device)",
    ),
    (
        "_to_copy.default",
        "m",
        'unit, "bf16"',
        "6x8xbf16",
        "o0 = m.astype(jnp.int8).astype(jnp.bfloat16)",
        "o0 = torch.ops.aten._to_copy.default(m, torch.bfloat16)",
    ),
]
#: Arrays, and views of them; in jnp, in torch.
VIEWS = [
    (
        "host.slice %x [1, 2] [3, 4] [1, 1] : memref<6x8xf32> to memref<3x4xf32, strided<[8, 1], offset: 10>>",
        "o0 = x[1:4, 2:6]",
        "o0 = x[1:4, 2:6]",
    ),
    (
        "host.slice %x [0, 2] [6, 0] [1, 1] : memref<6x8xf32> to memref<6x0xf32, strided<[8, 1], offset: 2>>",
        "o0 = x[:6, 2:2]",
        "o0 = x[:, 2:2]",
    ),
    (
        "host.slice %x [0, 1] [2, 4] [3, 2] : memref<6x8xf32> to memref<2x4xf32, strided<[24, 2], offset: 1>>",
        "o0 = x[:4:3, 1:8:2]",
        "o0 = x[0:4:3, 1:8:2]",
    ),
    ("host.slice %x [0, 0] [6, 8] [1, 1] : memref<6x8xf32> to memref<6x8xf32>", "o0 = x[:6, :8]", "o0 = x[:, :]"),
    ("host.slice %s [] [] [] : memref<f32> to memref<f32>", "o0 = s[...]", "o0 = s[...]"),
    (
        "host.permute %x [1, 0] : memref<6x8xf32> to memref<8x6xf32, strided<[1, 8]>>",
        "o0 = jnp.transpose(x, (1, 0))",
        "o0 = x.permute((1, 0))",
    ),
    ("host.reshape %x : memref<6x8xf32> to memref<48xf32>", "o0 = x.reshape((48,))", "o0 = x.view((48,))"),
    (
        "host.expand %one : memref<1xf32> to memref<7xf32, strided<[0]>>",
        "o0 = jnp.broadcast_to(one, (7,))",
        "o0 = one.expand((7,))",
    ),
    (
        "host.alloc : memref<6xf32>",
        "o0 = jnp.zeros((6,), jnp.float32)",
        "o0 = torch.empty((6,), dtype=torch.float32, device=x.device)",
    ),
    (
        "host.alloc fill 0.0 : memref<6xf32>",
        "o0 = jnp.zeros((6,), jnp.float32)",
        "o0 = torch.zeros((6,), dtype=torch.float32, device=x.device)",
    ),
    (
        "host.alloc fill 1.5 : memref<6xf32>",
        "o0 = jnp.full((6,), 1.5, jnp.float32)",
        "o0 = torch.full((6,), 1.5, dtype=torch.float32, device=x.device)",
    ),
    (
        "host.alloc fill 2 : memref<i32>",
        "o0 = jnp.full((), 2, jnp.int32)",
        "o0 = torch.full((), 2, dtype=torch.int32, device=x.device)",
    ),
    (
        "host.alloc : memref<6x4xf32, strided<[1, 6]>>",
        "o0 = jnp.zeros((6, 4), jnp.float32)",
        "o0 = torch.empty_strided((6, 4), (1, 6), dtype=torch.float32, device=x.device)",
    ),
    (
        "host.alloc fill 2.0 : memref<6x4xf32, strided<[1, 6]>>",
        "o0 = jnp.full((6, 4), 2.0, jnp.float32)",
        "o0 = torch.empty_strided((6, 4), (1, 6), dtype=torch.float32, device=x.device).fill_(2.0)",
    ),
    (
        "host.alloc fill -0.0 : memref<6xf32>",
        "o0 = jnp.full((6,), -0.0, jnp.float32)",
        "o0 = torch.full((6,), -0.0, dtype=torch.float32, device=x.device)",
    ),
    (
        "host.insert %w into %x [1, 0] [4, 8] [1, 1] : memref<4x8xf32>, memref<6x8xf32>",
        "o0 = x.at[1:5, :8].set(w)",
        "o0 = x.clone(); o0[1:5, :] = w",
    ),
    (
        "host.insert %s into %t [] [] [] : memref<f32>, memref<f32>",
        "o0 = t.at[...].set(s)",
        "o0 = t.clone(); o0[...] = s",
    ),
]


def body(print_module: Callable[[ModuleOp, str], str], line: str, results: str) -> str:
    """The lines of a function of one operation, but for what it returns."""
    arguments = ", ".join(f"%{name}: memref<{type}>" for name, type in ARRAYS.items())
    given = line.split(" = ")[0]
    text = f"func.func @f({arguments}) -> ({results}) {{\n{line}\nfunc.return {given} : {results}\n}}"
    lines = print_module(parse(text), "f").split("def f(")[1].splitlines()[1:]
    plain = [re.sub(r" *# <string>:\d+$", "", line).strip() for line in lines]
    return "; ".join(line for line in plain if line and not line.startswith("return o"))


def call(name: str, inputs: str, arguments: str, types: str) -> tuple[str, str]:
    """A call of an operator, and the types of its results."""
    taken = ", ".join(f"memref<{ARRAYS[each]}>" for each in inputs.split())
    given = ", ".join(f"memref<{each}>" for each in types.split(";"))
    results = ", ".join(f"%o{n}" for n in range(len(types.split(";"))))
    operands = ", ".join(f"%{each}" for each in inputs.split())
    return f'{results} = host.call "aten.{name}"({operands}) args [{arguments}] : ({taken}) -> ({given})', given


def given(op: str) -> tuple[str, str]:
    """An op of one result as a line, and the type of that."""
    return f"%o0 = {op}", re.findall(r"memref<[^<>]*(?:<[^<>]*>[^<>]*)?>", op)[-1]
