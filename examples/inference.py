"""The rows of the table for inference: narrow operands, attention of several kinds, states that chunks carry on, scans,
and reads by numbers. Checked lightly."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch

from examples.example import Example, Inputs, sizes

_light = partial(Example, light=True)
_PRODUCT = sizes(((19, 140, 150), (16, 128, 128)), ((35, 300, 200), (32, 128, 128)), 4096, 4096, 4096)
_PAIRS = sizes(((19, 140, 150), (64, 16, 128)), ((35, 300, 200), (128, 32, 128)), 4096, 4096, 4096)
_HALVES = sizes(((19, 140, 150), (16, 128, 64)), ((35, 300, 200), (32, 128, 128)), 4096, 512, 512)
_EIGHTS = sizes(((2, 40, 32), (16, 128)), ((3, 150, 64), (32, 128)), 32, 1024, 128)
_HEADS = sizes(((1, 2, 1, 40, 32), (16, 128)), ((2, 4, 2, 150, 64), (32, 128)), 2, 32, 8, 2048, 128)
_CHUNKS = sizes(((1, 2, 40, 32, 32, 16), (32,)), ((2, 3, 100, 64, 100, 32), (128,)), 2, 16, 2048, 128, 128, 128)
_STEP = sizes(((3, 32, 40), (128,)), ((5, 64, 150), (128,)), 256, 128, 128)
_STATES = sizes(
    ((1, 2, 1, 32, 16, 32, 32), (16, 32, 32)), ((1, 4, 2, 192, 96, 64, 32), (96, 64, 32)), 2, 32, 1, 2048, 256, 64, 128
)
_SCAN = sizes(
    ((1, 2, 1, 32, 16, 32, 32), (16, 32, 16)),
    ((1, 4, 2, 256, 128, 64, 32), (64, 64, 128)),
    8,
    80,
    1,
    4096,
    256,
    64,
    128,
)


def _int4(new: Inputs, m: int, k: int, n: int) -> tuple[Any, ...]:
    return new(m, k), (new.below(256, k // 2, n) - 128).to(torch.int8)


def _int16(new: Inputs, m: int, k: int, n: int) -> tuple[Any, ...]:
    return new(m, k), (new.below(1 << 16, k, n) - (1 << 15)).to(torch.int16)


def _fp8(new: Inputs, m: int, k: int, n: int) -> tuple[Any, ...]:
    narrow = (new(*shape).to(torch.float8_e4m3fn) for shape in ((m, k), (k, n)))
    return *narrow, new(m), new(n)


def _int8(new: Inputs, m: int, k: int, n: int) -> tuple[Any, ...]:
    narrow = ((new.below(256, *shape) - 128).to(torch.int8) for shape in ((m, k), (k, n)))
    return *narrow, new(m), new(n)


def _fp8_heads(new: Inputs, heads: int, length: int, d: int) -> tuple[Any, ...]:
    q, k, v = (new(heads, length, d).to(torch.float8_e4m3fn) for _ in range(3))
    return q, k, v.transpose(1, 2).contiguous()


def _flex(new: Inputs, batch: int, heads: int, few: int, length: int, d: int, *, kind: str) -> tuple[Any, ...]:
    from examples.flex_attention import capped, causal, near, sloped

    slopes = torch.exp2(-torch.arange(1.0, heads + 1, device=new.device))
    functions = {"alibi": (sloped(slopes), causal), "window": (capped, near(17))}[kind]
    shapes = ((batch, heads, length, d), (batch, few, length, d), (batch, few, length, d))
    return *(new(*shape) for shape in shapes), *functions


def _window(new: Inputs, batch: int, heads: int, length: int, d: int) -> tuple[Any, ...]:
    return *(new(batch, heads, length, d) for _ in range(3)), length // 4


def _paged(new: Inputs, count: int, heads: int, few: int, pages: int, page: int, d: int) -> tuple[Any, ...]:
    kept = (new(few, count * pages, page, d) for _ in range(2))
    numbers = torch.arange(count * pages, dtype=torch.int32, device=new.device).flip(0)
    return new(count, heads, d), *kept, new.below(pages * page, count) + 1, numbers.view(count, pages)


def _falling(new: Inputs, *shape: int, dim: int) -> torch.Tensor:
    """Logarithms that fall along a dimension."""
    return (-0.1 * new(*shape).float().abs()).cumsum(dim).to(new.dtype)


def _linear(new: Inputs, batch: int, heads: int, length: int, d: int, width: int, chunk: int) -> tuple[Any, ...]:
    keys = (new(batch, heads, length, d, scale=d**-0.5) for _ in range(2))
    rates = -0.1 * torch.rand(heads, generator=torch.Generator(new.device).manual_seed(1), device=new.device)
    return *keys, new(batch, heads, length, width), rates, chunk


def _one_token(new: Inputs, heads: int, d: int, width: int) -> tuple[Any, ...]:
    keys = (new(heads, d, scale=d**-0.5) for _ in range(2))
    return *keys, new(heads, width), new(heads, d, width), -0.1 * new(heads).float().abs()


def _delta(new: Inputs, batch: int, heads: int, length: int, d: int, width: int, chunk: int) -> tuple[Any, ...]:
    rows = (new(batch, length, heads, d, scale=d**-0.5) for _ in range(2))
    decay = _falling(new, batch, length, heads, dim=1)
    return *rows, new(batch, length, heads, width), decay, chunk


def _states(
    new: Inputs, batch: int, heads: int, groups: int, length: int, chunk: int, width: int, states: int
) -> tuple[Any, ...]:
    chunks = length // chunk
    b, x = new(batch, length, groups, states), new(batch, length, heads, width)
    return b, x, new(batch, heads, chunks, chunk).abs(), _falling(new, batch, heads, chunks, chunk, dim=3)


def _scan(
    new: Inputs, batch: int, heads: int, groups: int, length: int, chunk: int, width: int, states: int
) -> tuple[Any, ...]:
    c, x, steps, decay = _states(new, batch, heads, groups, length, chunk, width, states)
    chunks = length // chunk
    cb, before = new(batch, chunks, groups, chunk, chunk), new(batch, chunks, heads, width, states)
    return cb, x, steps, decay, c, before, new(heads)


def _recurrence(new: Inputs, batch: int, length: int, width: int) -> tuple[Any, ...]:
    return torch.sigmoid(new(batch, length, width)), new(batch, length, width)


def _rows(new: Inputs, rows: int, count: int, n: int) -> tuple[Any, ...]:
    return new(rows, n), new.below(2 * rows, count) - rows, new(count)


def _matrices(new: Inputs, count: int, several: int, m: int, k: int) -> tuple[Any, ...]:
    matrices = (new.below(256, several, m, k) - 128).to(torch.int8)
    return matrices, new.below(several, count), new(k)


def _inner(m: int, k: int, n: int) -> int:
    return k


INFERENCE = (
    _light("int4_matmul", "quantized:int4_matmul:reference_int4", _int4, _PAIRS, _inner),
    _light("int4_matmul_halves", "quantized:int4_matmul_halves:reference_int4", _int4, _HALVES, _inner),
    _light("int16_matmul", "quantized:int16_matmul:reference_int16", _int16, _PRODUCT, _inner),
    _light("int8_matmul", "quantized:int8_matmul:reference_scaled", _int8, _PRODUCT, _inner),
    _light("fp8_matmul", "quantized:fp8_matmul:reference_scaled", _fp8, _PRODUCT, _inner),
    _light(
        "swiglu_matmul",
        "gated:swiglu_matmul:reference_swiglu_matmul",
        lambda new, m, k, n: (new(m, k), new(k, n, scale=k**-0.5), new(k, n, scale=k**-0.5)),
        _PRODUCT,
        _inner,
    ),
    _light("fp8_attention", "fp8_attention:fp8_attention:reference", _fp8_heads, _EIGHTS, lambda h, n, d: n),
    _light(
        "window_attention",
        "attention:window_attention:reference_window",
        _window,
        sizes(((1, 1, 40, 32), (16, 128)), ((2, 3, 150, 64), (32, 128)), 1, 8, 4096, 128),
        lambda b, h, n, d: n,
    ),
    _light(
        "paged_attention",
        "paged:paged_attention:reference",
        _paged,
        sizes(((2, 2, 1, 3, 16, 32), (1,)), ((3, 9, 3, 4, 32, 64), (2,)), 16, 32, 8, 16, 128, 128),
        lambda count, heads, few, pages, page, d: pages * page,
    ),
    _light(
        "flex_attention_alibi",
        "flex_attention:flex_attention:reference",
        partial(_flex, kind="alibi"),
        _HEADS,
        lambda b, h, few, n, d: n,
    ),
    _light(
        "flex_attention_window",
        "flex_attention:flex_attention:reference",
        partial(_flex, kind="window"),
        _HEADS,
        lambda b, h, few, n, d: n,
    ),
    _light(
        "linear_attention",
        "linear_attention:linear_attention:reference",
        _linear,
        _CHUNKS,
        lambda b, h, n, *_: n,
    ),
    _light(
        "linear_attention_step",
        "linear_attention:linear_attention_step:reference_step",
        _one_token,
        _STEP,
        lambda h, d, w: d,
    ),
    _light("delta_states", "linear_attention:delta_states:reference_states", _delta, _CHUNKS, lambda b, h, n, *_: n),
    _light("chunk_states", "state_space:chunk_states:reference_states", _states, _STATES, lambda *dims: dims[3]),
    _light("chunk_scan", "state_space:chunk_scan:reference_scan", _scan, _SCAN, lambda *dims: dims[3]),
    _light(
        "running_sum",
        "scans:running_sum:reference_sum",
        lambda new, m, n: (new(m, n),),
        sizes(((19, 140), (16, 128)), ((35, 333), (32, 128)), 4096, 2560),
        lambda m, n: n,
    ),
    _light(
        "linear_recurrence",
        "scans:linear_recurrence:reference_recurrence",
        _recurrence,
        sizes(((1, 19, 140), (128, 8)), ((2, 75, 200), (128, 32)), 4, 2048, 2560),
        lambda b, n, w: n,
    ),
    _light(
        "gather_rows",
        "gather:gather_rows:reference_rows",
        _rows,
        sizes(((20, 11, 140), (16, 128)), ((50, 75, 333), (32, 128)), 8000, 64, 512),
    ),
    _light(
        "gather_gemv",
        "gather:gather_gemv:reference_gemv",
        _matrices,
        sizes(((2, 3, 40, 140), (1, 32, 128)), ((3, 5, 75, 200), (1, 32, 128)), 2, 8, 2048, 2048),
        lambda count, several, m, k: k,
    ),
)
