"""Outputs that are only written, in every mode: the same as torch, whatever the buffers held before.

Every buffer is poisoned: the caller's tensors, and what emitted code allocates without a meaning, hold NaN or the
smallest integer; so do the buffers that the interpreters make for outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from xdsl.dialects.builtin import MemRefType

import kopt
import kopt.language as hl
from kopt.dialects.host import AllocOp
from kopt.dtypes import from_ir
from kopt.lowering.expr import Expr
from kopt.lowering.pallas.module import HOST

_ALLOC = HOST[AllocOp]
MODES = ("return", "swap", "donate", "off")
CASES: dict[str, tuple[Callable[..., Any], list[Any], list[int], tuple[bool, ...]]] = {}


def poison(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """A buffer whose elements show where they are used."""
    if dtype == torch.bool:
        return torch.ones(shape, dtype=dtype)
    return torch.full(shape, float("nan") if dtype.is_floating_point else torch.iinfo(dtype).min, dtype=dtype)


def _random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0))


def case(blocks, *args, inputs=()):
    """Adds a kernel, which is also plain torch; ``inputs`` says of each output whether the call must be given it."""

    def add(kernel):
        CASES[kernel.__name__] = (kernel, list(args), blocks, tuple(inputs))
        return kernel

    return add


@case([8, 128], _random(13, 200), poison(13, 200), inputs=[False])
def into_argument(x, out):
    for i, j in hl.tile(x.size()):
        out[i, j] = torch.exp(x[i, j])
    return out


@case([8, 128], _random(13, 200), poison(13, 200), inputs=[True])
def all_but_the_last_rows(x, out):
    for i, j in hl.tile([11, 200]):
        out[i, j] = torch.exp(x[i, j])
    return out


@case([8], _random(13, 200), inputs=[False, False, False])
def tuple_of_new(x):
    a, b, c = torch.empty_like(x), torch.zeros_like(x), x.clone()
    for i in hl.tile(x.size(0)):
        a[i, :] = x[i, :] + 1
        b[i, :] = x[i, :] * 2
        c[i, :] = -x[i, :]
    return a, b, c


@case([8, 128], _random(13, 200), inputs=[True])
def zeros_partly(x):
    out = torch.zeros_like(x)
    for i, j in hl.tile([11, 200]):
        out[i, j] = x[i, j] + 1
    return out


@case([8, 128], _random(13, 200), inputs=[False])
def through_view(x):
    out = torch.full([13 * 200], 7.0)
    rows = out.view(13, 200)
    for i, j in hl.tile(x.size()):
        rows[i, j] = x[i, j] + 1
    return out


@case([8, 1], _random(13, 200), poison(13, 200), inputs=[False])
def reads_what_it_wrote(x, out):
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :] + 1
        for j in hl.tile(3):
            out[i, :] = out[i, :] * 2 + 0 * j.id
    return out


@case([8], _random(13, 200), inputs=[True])
def in_place(x):
    for i in hl.tile(x.size(0)):
        x[i, :] = x[i, :] * 2
    return x


@case([128], _random(300), poison(2, 300), inputs=[False])
def rows_by_number(x, out):
    for i in hl.tile(x.size(0)):
        out[0, i] = x[i] + 1
        out[1, i] = x[i] * 2
    return out


@case([8, 8], _random(13, 200), poison(13, 200, dtype=torch.int32), inputs=[False, False])
def two_launches(x, out):
    t = x.new_empty([13, 200])
    for i in hl.tile(x.size(0)):
        t[i, :] = x[i, :] * 100
    for k in hl.tile(x.size(0)):
        out[k, :] = t[k, :].to(torch.int32)
    return out, t


@case([8, 128], _random(13, 200), poison(13, 200, dtype=torch.bool), poison(13, 200, dtype=torch.float16),
      inputs=[False, False])  # fmt: skip
def cast_outside(x, positive, half):
    for i, j in hl.tile(x.size()):
        positive[i, j] = x[i, j] > 0
        half[i, j] = x[i, j].to(torch.float16)
    return positive, half


@case([8, 8], _random(13, 1, 200), poison(26, 200), inputs=[False, False])
def halves(x, out):
    low, high = out[:13], out[13:]
    for i in hl.tile(13):
        low[i, :] = x[i, 0, :] + 1
    for k in hl.tile(13):
        high[k, :] = x[k, 0, :] + 2
    return out


@case([8], _random(0, 200), poison(0, 200), inputs=[])
def nothing(x, out):
    for i in hl.tile(x.size(0)):
        out[i, :] = x[i, :]
    return out


def _poisoned_alloc(printing, op) -> None:
    type = op.result.type
    assert isinstance(type, MemRefType)
    if op.fill is not None:
        _ALLOC(printing, op)
        return
    dtype, kind = printing.dtype(type.element_type), from_ir(type.element_type)
    value = "jnp.nan" if kind.is_float else "True" if kind.kind == "bool" else f"jnp.iinfo({dtype}).min"
    printing.define(op.result, Expr(f"jnp.full({tuple(type.get_shape())}, {value}, {dtype})"))


def check(name: str, mode: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HOST, AllocOp, _poisoned_alloc)
    kernel, args, blocks, _ = CASES[name]
    expected = reference(name)
    mine = [arg.clone() for arg in args]
    got = kopt.kernel(kernel, config={"block_sizes": blocks, "output_only": mode}).on(target)(*mine)
    for found, wanted in zip(_tuple(got), _tuple(expected[0]), strict=True):
        torch.testing.assert_close(found, wanted, equal_nan=True, rtol=1e-5, atol=1e-5)
    for found, wanted in zip(mine, expected[1], strict=True):
        torch.testing.assert_close(found, wanted, equal_nan=True, rtol=1e-5, atol=1e-5)


def _tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def reference(name: str) -> tuple[Any, list[torch.Tensor]]:
    """What the kernel gives, and leaves in its arguments, run as plain torch."""
    kernel, args, _, _ = CASES[name]
    mine = [arg.clone() for arg in args]
    return EXPECTED[name](*mine), mine


def _set(out: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    out[...] = value
    return out


EXPECTED: dict[str, Callable[..., Any]] = {
    "into_argument": lambda x, out: _set(out, x.exp()),
    "all_but_the_last_rows": lambda x, out: (_set(out[:11], x[:11].exp()), out)[1],
    "tuple_of_new": lambda x: (x + 1, x * 2, -x),
    "zeros_partly": lambda x: torch.cat([x[:11] + 1, torch.zeros(2, 200)]),
    "through_view": lambda x: (x + 1).reshape(-1),
    "reads_what_it_wrote": lambda x, out: _set(out, (x + 1) * 8),
    "in_place": lambda x: x.mul_(2),
    "rows_by_number": lambda x, out: _set(out, torch.stack([x + 1, x * 2])),
    "two_launches": lambda x, out: (_set(out, (x * 100).to(torch.int32)), x * 100),
    "cast_outside": lambda x, positive, half: (_set(positive, x > 0), _set(half, x.to(torch.float16))),
    "halves": lambda x, out: _set(out, torch.cat([x[:, 0] + 1, x[:, 0] + 2])),
    "nothing": lambda x, out: out,
}


@pytest.mark.parametrize(
    ("name", "mode"), [(name, mode) for name in CASES for mode in MODES if mode != "swap" or name == "into_argument"]
)
def test_interpreted(name, mode, monkeypatch):
    pytest.importorskip("jax")
    check(name, mode, "pallas:interpret", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode"), [*((name, "return") for name in CASES), ("into_argument", "donate"), ("two_launches", "off")]
)
def test_strict(name, mode, monkeypatch):
    pytest.importorskip("jax")
    check(name, mode, "pallas:strict", monkeypatch)


@pytest.mark.parametrize("name", [name for name, (*_, inputs) in CASES.items() if inputs])
def test_decisions(name):
    """The calls are given just the outputs that must be."""
    kernel, args, blocks, inputs = CASES[name]
    low = kopt.kernel(kernel, config={"block_sizes": blocks}).lower(*args, target="pallas:interpret")
    said = [str(remark) for remark in low.remarks]
    assert sum("kept as input" in line for line in said) == sum(inputs)
    assert sum("not an input" in line for line in said) == len(inputs) - sum(inputs)
    assert low.source.count("input_output_aliases") == sum(inputs)
