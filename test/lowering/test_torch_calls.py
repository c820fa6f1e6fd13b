"""Host ops as torch code: calls with their arguments, and views."""

from __future__ import annotations

import re

import pytest

from kopt.lowering.torch.module import print_module
from test.lowering.host_ops import body, call


@pytest.mark.parametrize(
    ("name", "inputs", "arguments", "types", "text"),
    [
        (
            "constant_pad_nd.default",
            "x",
            "unit, [1 : i64, 2 : i64]",
            "6x11xf32",
            "o0 = torch.ops.aten.constant_pad_nd.default(x, [1, 2])",
        ),
        (
            "constant_pad_nd.default",
            "x",
            "unit, [0 : i64, 0 : i64, 1 : i64, 2 : i64], 2.0 : f64",
            "9x8xf32",
            "o0 = torch.ops.aten.constant_pad_nd.default(x, [0, 0, 1, 2], 2.0)",
        ),
        (
            "constant_pad_nd.default",
            "x",
            "unit, [0 : i64, 1 : i64], 0.0 : f64",
            "6x9xf32",
            "o0 = torch.ops.aten.constant_pad_nd.default(x, [0, 1], 0.0)",
        ),
        (
            "constant_pad_nd.default",
            "x",
            "unit, [-1 : i64, 2 : i64], 1.0 : f64",
            "6x9xf32",
            "o0 = torch.ops.aten.constant_pad_nd.default(x, [-1, 2], 1.0)",
        ),
        (
            "constant_pad_nd.default",
            "m",
            "unit, [0 : i64, 1 : i64], false",
            "6x9xi1",
            "o0 = torch.ops.aten.constant_pad_nd.default(m, [0, 1], False)",
        ),
        ("cat.default", "x y", "[unit, unit]", "12x8xf32", "o0 = torch.ops.aten.cat.default([x, y])"),
        ("cat.default", "x y", "[unit, unit], 1 : i64", "6x16xf32", "o0 = torch.ops.aten.cat.default([x, y], 1)"),
        ("index.Tensor", "x n", "unit, [unit]", "4x8xf32", "o0 = torch.ops.aten.index.Tensor(x, [n]).contiguous()"),
        (
            "index.Tensor",
            "x n",
            "unit, [none, unit]",
            "6x4xf32",
            "o0 = torch.ops.aten.index.Tensor(x, [None, n]).contiguous()",
        ),
        (
            "index_put.default",
            "x n w",
            "unit, [unit], unit",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [n], w)",
        ),
        (
            "index_put.default",
            "x n w",
            "unit, [unit], unit, true",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [n], w, True)",
        ),
        (
            "index_put.default",
            "x n w",
            "unit, [unit], unit, false",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [n], w, False)",
        ),
        (
            "index_put.default",
            "x m s",
            "unit, [unit], unit",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [m], s)",
        ),
        (
            "index_put.default",
            "x m one",
            "unit, [unit], unit",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [m], one)",
        ),
        (
            "index_put.default",
            "x m s",
            "unit, [unit], unit, true",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [m], s, True)",
        ),
        (
            "index_put.default",
            "x r s",
            "unit, [unit], unit",
            "6x8xf32",
            "o0 = torch.ops.aten.index_put.default(x, [r], s)",
        ),
        ("scatter.src", "x k q", "unit, 0 : i64, unit, unit", "6x8xf32", "o0 = torch.ops.aten.scatter.src(x, 0, k, q)"),
        ("scatter.src", "x k y", "unit, 1 : i64, unit, unit", "6x8xf32", "o0 = torch.ops.aten.scatter.src(x, 1, k, y)"),
        ("scatter.src", "x i y", "unit, 1 : i64, unit, unit", "6x8xf32", "o0 = torch.ops.aten.scatter.src(x, 1, i, y)"),
        (
            "scatter.value",
            "x i",
            "unit, 1 : i64, unit, 2.0 : f64",
            "6x8xf32",
            "o0 = torch.ops.aten.scatter.value(x, 1, i, 2.0)",
        ),
        ("pow.Tensor_Tensor", "i i", "unit, unit", "6x8xi32", "o0 = torch.ops.aten.pow.Tensor_Tensor(i, i)"),
        ("pow.Tensor_Tensor", "x i", "unit, unit", "6x8xf32", "o0 = torch.ops.aten.pow.Tensor_Tensor(x, i)"),
        ("add.Tensor", "x m", "unit, unit", "6x8xf32", "o0 = torch.ops.aten.add.Tensor(x, m)"),
        ("div.Tensor", "m x", "unit, unit", "6x8xf32", "o0 = torch.ops.aten.div.Tensor(m, x)"),
        (
            "div.Tensor_mode",
            "x y",
            'unit, unit, "floor"',
            "6x8xf32",
            "o0 = torch.ops.aten.div.Tensor_mode(x, y, 'floor')",
        ),
        (
            "div.Tensor_mode",
            "x y",
            'unit, unit, "trunc"',
            "6x8xf32",
            "o0 = torch.ops.aten.div.Tensor_mode(x, y, 'trunc')",
        ),
        (
            "div.Tensor_mode",
            "i i",
            'unit, unit, "floor"',
            "6x8xi32",
            "o0 = torch.ops.aten.div.Tensor_mode(i, i, 'floor')",
        ),
        (
            "div.Tensor_mode",
            "i i",
            'unit, unit, "trunc"',
            "6x8xi32",
            "o0 = torch.ops.aten.div.Tensor_mode(i, i, 'trunc')",
        ),
        ("div.Tensor_mode", "x y", "unit, unit, none", "6x8xf32", "o0 = torch.ops.aten.div.Tensor_mode(x, y, None)"),
        ("floor_divide.default", "i i", "unit, unit", "6x8xi32", "o0 = torch.ops.aten.floor_divide.default(i, i)"),
        ("max.dim", "x", "unit, 1 : i64", "6xf32;6xi64", "o0, o1 = torch.ops.aten.max.dim(x, 1)"),
        (
            "full.default",
            "",
            "[2 : i64], 3.0 : f64",
            "2xf32",
            "o0 = torch.ops.aten.full.default([2], 3.0, device=x.device)",
        ),
        ("ones.default", "", "[2 : i64]", "2xf32", "o0 = torch.ops.aten.ones.default([2], device=x.device)"),
        (
            "_to_copy.default",
            "m",
            'unit, "bf16"',
            "6x8xbf16",
            "o0 = torch.ops.aten._to_copy.default(m, torch.bfloat16)",
        ),
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
            "o0 = x[:, 2:2]",
        ),
        (
            "host.slice %x [0, 1] [2, 4] [3, 2] : memref<6x8xf32> to memref<2x4xf32, strided<[24, 2], offset: 1>>",
            "o0 = x[0:4:3, 1:8:2]",
        ),
        ("host.slice %x [0, 0] [6, 8] [1, 1] : memref<6x8xf32> to memref<6x8xf32>", "o0 = x[:, :]"),
        ("host.slice %s [] [] [] : memref<f32> to memref<f32>", "o0 = s[...]"),
        ("host.permute %x [1, 0] : memref<6x8xf32> to memref<8x6xf32, strided<[1, 8]>>", "o0 = x.permute((1, 0))"),
        ("host.reshape %x : memref<6x8xf32> to memref<48xf32>", "o0 = x.view((48,))"),
        ("host.expand %one : memref<1xf32> to memref<7xf32, strided<[0]>>", "o0 = one.expand((7,))"),
        ("host.alloc : memref<6xf32>", "o0 = torch.empty((6,), dtype=torch.float32, device=x.device)"),
        ("host.alloc fill 0.0 : memref<6xf32>", "o0 = torch.zeros((6,), dtype=torch.float32, device=x.device)"),
        ("host.alloc fill 1.5 : memref<6xf32>", "o0 = torch.full((6,), 1.5, dtype=torch.float32, device=x.device)"),
        ("host.alloc fill 2 : memref<i32>", "o0 = torch.full((), 2, dtype=torch.int32, device=x.device)"),
        (
            "host.alloc : memref<6x4xf32, strided<[1, 6]>>",
            "o0 = torch.empty_strided((6, 4), (1, 6), dtype=torch.float32, device=x.device)",
        ),
        (
            "host.alloc fill 2.0 : memref<6x4xf32, strided<[1, 6]>>",
            "o0 = torch.empty_strided((6, 4), (1, 6), dtype=torch.float32, device=x.device).fill_(2.0)",
        ),
        ("host.alloc fill -0.0 : memref<6xf32>", "o0 = torch.full((6,), -0.0, dtype=torch.float32, device=x.device)"),
        (
            "host.insert %w into %x [1, 0] [4, 8] [1, 1] : memref<4x8xf32>, memref<6x8xf32>",
            "o0 = x.clone(); o0[1:5, :] = w",
        ),
        ("host.insert %s into %t [] [] [] : memref<f32>, memref<f32>", "o0 = t.clone(); o0[...] = s"),
    ],
)
def test_arrays_and_views(op: str, text: str) -> None:
    types = re.findall(r"memref<[^<>]*(?:<[^<>]*>[^<>]*)?>", op)
    assert body(print_module, f"%o0 = {op}", types[-1]) == text
