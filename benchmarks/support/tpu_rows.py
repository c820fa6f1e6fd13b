"""The rows of `benchmarks/tpu_compare.py`: a kernel of the examples, its arguments, and what it is compared with.

Both sides do the same work: of grouped products every row belongs to a group, so neither fills the result before, and
groups are of one size. Those of ``experts`` may begin at any row; ``grouped_matmul`` by hand takes none that begin in a
block, nor does ``expert_blocks``, of which the kernel of the examples asks no more. Lengths of pages are the longest.
Products of ``deep_matmul`` and ``split_matmul`` are the same.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kopt.specs import TensorSpec, parse_spec


@dataclass(frozen=True)
class Row:
    """``kernel`` is ``file:kernel`` of the examples; ``references`` are ``module:function`` of ``hand.pallas``.

    ``specs`` and ``results`` are of arguments and results; of ``reads``, where it is given, only so many bytes of the
    arguments are needed. ``constants`` come after the arguments, and references have them as defaults. ``trips`` say
    how often loops of references run of which libtpu estimates nothing that is true, by depth, the grid's at 1: with
    several results, or trips that it makes up (None: not known here). Vectors of integers go up to
    ``numbers``, or to the rows of the first array of floats.
    """

    name: str
    kernel: str
    specs: tuple[str, ...]
    results: tuple[str, ...]
    references: tuple[str, ...]
    flops: int = 0
    constants: tuple[Any, ...] = ()
    reads: int | None = None
    trips: Mapping[str, Mapping[int, int] | None] = field(default_factory=dict)
    numbers: int | None = None

    @property
    def function(self) -> Any:
        """The `kopt.Kernel`."""
        file, name = self.kernel.split(":")
        return getattr(importlib.import_module(f"examples.{file}"), name)

    @property
    def bytes(self) -> int:
        """What has to come from HBM and go there, at the least."""
        reads = sum(map(_bytes, self.specs)) if self.reads is None else self.reads
        return reads + sum(map(_bytes, self.results))

    @property
    def arguments(self) -> tuple[TensorSpec, ...]:
        """The specs of the arguments."""
        return tuple(map(parse_spec, self.specs))


def _bytes(text: str) -> int:
    spec = parse_spec(text)
    return math.prod(spec.shape) * spec.dtype.bits // 8


_HEADS = ("bf16[1,2,4096,128]",) * 3
_TURNED = ("bf16[4,16,1024,128]",) * 2
_SQUARE = 2 * 4096**3
_MATRIX = ("bf16[4096,2560]",)
_WINDOW = ("bf16[1,2,8192,128]",) * 3
_SCALES = ("bf16[4096]",) * 2

ROWS = (
    Row(
        "matmul",
        "matmul:matmul",
        ("bf16[4096,4096]",) * 2,
        ("bf16[4096,4096]",),
        ("matmul:matmul", "shipped:matmul", "xla:matmul"),
        _SQUARE,
    ),
    Row(
        "matmul_flat",
        "matmul:matmul",
        ("bf16[4096,512]", "bf16[512,4096]"),
        ("bf16[4096,4096]",),
        ("matmul:matmul", "shipped:matmul", "xla:matmul"),
        _SQUARE // 8,
    ),
    Row(
        "attention",
        "attention:attention",
        _HEADS,
        _HEADS[:1],
        ("attention:attention", "shipped:flash_attention", "shipped:splash_attention", "xla:attention"),
        4 * 2 * 4096**2 * 128,
        trips={"shipped:splash_attention": None},
    ),
    Row(
        "causal_attention",
        "attention:causal_attention",
        _HEADS,
        _HEADS[:1],
        (
            "attention:causal_attention",
            "shipped:flash_attention_causal",
            "shipped:splash_attention_causal",
            "xla:causal_attention",
        ),
        2 * 2 * 4096**2 * 128,
        trips={"shipped:splash_attention_causal": None},
    ),
    Row(
        "cross_entropy",
        "cross_entropy:cross_entropy",
        ("f32[1024,32768]", "i32[1024]"),
        ("f32[]",),
        ("cross_entropy:cross_entropy", "xla:cross_entropy"),
    ),
    Row(
        "cross_entropy_rows",
        "cross_entropy:cross_entropy_rows",
        ("f32[1024,32768]", "i32[1024]"),
        ("f32[1024]",),
        ("cross_entropy:cross_entropy", "xla:cross_entropy"),
    ),
    Row(
        "rotary",
        "rotary:rotary",
        (*_TURNED, "bf16[4,1024,128]", "bf16[4,1024,128]"),
        _TURNED,
        ("rotary:rotary", "xla:rotary"),
        trips={"rotary:rotary": {1: 16}},
    ),
    Row("exp", "exp:exp", ("f32[104857600]",), ("f32[104857600]",), ("exp:exp", "xla:exp")),
    Row("softmax", "softmax:softmax", ("bf16[4096,2560]",), ("bf16[4096,2560]",), ("rows:softmax", "xla:softmax")),
    Row(
        "welford",
        "welford:welford",
        ("bf16[8192,1024]", "bf16[1024]", "bf16[1024]"),
        ("bf16[8192,1024]",),
        ("rows:welford", "xla:layer_norm"),
    ),
    Row(
        "grouped_matmul",
        "packed:grouped_matmul",
        ("bf16[4096,2048]", "bf16[8,2048,2048]", "i32[9]"),
        ("bf16[4096,2048]",),
        ("grouped_matmul:grouped_matmul", "shipped:grouped_matmul"),
        2 * 4096 * 2048**2,
        trips={"shipped:grouped_matmul": {1: 16}},
    ),
    Row(
        "embedding",
        "embedding:embedding",
        ("i32[8192]", "f32[32000,1024]"),
        ("f32[8192,1024]",),
        ("embedding:embedding", "xla:embedding"),
        reads=8192 * 4 + 8192 * 1024 * 4,
    ),
    Row(
        "experts",
        "packed:grouped_matmul",
        ("bf16[8192,2048]", "bf16[64,2048,1024]", "i32[65]"),
        ("bf16[8192,1024]",),
        ("grouped_matmul:experts", "grouped_matmul:experts_by_columns", "shipped:grouped_matmul"),
        2 * 8192 * 2048 * 1024,
        # Of a core; libtpu's estimate has no step that computes.
        trips=dict.fromkeys(
            ("grouped_matmul:experts", "grouped_matmul:experts_by_columns", "shipped:grouped_matmul"), {1: 64}
        ),
    ),
    Row(
        "expert_blocks",
        "packed:expert_matmul",
        ("bf16[8192,2048]", "bf16[64,2048,1024]", "i32[64]"),
        ("bf16[8192,1024]",),
        ("grouped_matmul:expert_blocks",),
        2 * 8192 * 2048 * 1024,
        numbers=63,
    ),
    Row(
        "int8_matmul",
        "quantized:int8_matmul",
        ("i8[4096,4096]",) * 2 + _SCALES,
        ("bf16[4096,4096]",),
        ("scaled_matmul:int8_matmul", "xla:int8_matmul"),
        _SQUARE,
    ),
    Row(
        "fp8_matmul",
        "quantized:fp8_matmul",
        ("f8e4m3fn[4096,4096]",) * 2 + _SCALES,
        ("bf16[4096,4096]",),
        ("scaled_matmul:fp8_matmul", "xla:fp8_matmul"),
        _SQUARE,
    ),
    Row(
        "swiglu_matmul",
        "gated:swiglu_matmul",
        ("bf16[4096,4096]",) * 3,
        ("bf16[4096,4096]",),
        ("matmul:swiglu_matmul", "xla:swiglu_matmul"),
        2 * _SQUARE,
    ),
    Row(
        "bmm",
        "bmm:bmm",
        ("bf16[16,512,768]", "bf16[16,768,1024]"),
        ("bf16[16,512,1024]",),
        ("matmul:bmm", "xla:matmul"),
        2 * 16 * 512 * 768 * 1024,
    ),
    Row(
        "deep_matmul",
        "matmul:matmul",
        ("bf16[256,16384]", "bf16[16384,256]"),
        ("bf16[256,256]",),
        ("matmul:deep_matmul", "xla:matmul"),
        2 * 256**2 * 16384,
    ),
    Row(
        "split_matmul",
        "split_k:split_matmul",
        ("bf16[256,16384]", "bf16[16384,256]"),
        ("bf16[256,256]",),
        ("matmul:deep_matmul", "xla:matmul"),
        2 * 256**2 * 16384,
        constants=(8,),
    ),
    Row(
        "window_attention",
        "attention:window_attention",
        _WINDOW,
        _WINDOW[:1],
        ("attention:window_attention", "shipped:splash_attention_window"),
        2 * 4 * 128 * (8192 * 1024 - 1024 * 1023 // 2),
        constants=(1024,),
        trips={"shipped:splash_attention_window": None},
    ),
    Row(
        "paged_attention",
        "paged:paged_attention",
        ("bf16[32,32,128]", *("bf16[8,2048,128,128]",) * 2, "i32[32]", "i32[32,16]"),
        ("bf16[32,32,128]",),
        ("paged:paged_attention", "shipped:paged_attention"),
        4 * 32 * 32 * 2048 * 128,
        reads=2 * 32 * (32 * 128 + 2 * 8 * 2048 * 128) + 4 * 32 * (1 + 16),
        trips={"paged:paged_attention": {1: 32 * 4}, "shipped:paged_attention": None},
    ),
    Row(
        "long_softmax",
        "softmax:softmax_two_pass",
        ("f32[8,1048576]",),
        ("f32[8,1048576]",),
        ("long_rows:softmax", "xla:softmax"),
    ),
    Row("long_sum", "sums:long_sum", ("f32[4,130000]",), ("f32[4]",), ("long_rows:sum_rows", "xla:sum_rows")),
    Row("sum_rows", "sums:sum_rows", _MATRIX, ("bf16[4096]",), ("rows:sum_rows", "xla:sum_rows")),
    Row(
        "layer_norm",
        "layer_norm:layer_norm",
        (*_MATRIX, "bf16[2560]", "bf16[2560]"),
        _MATRIX,
        ("rows:layer_norm", "xla:layer_norm"),
    ),
    Row(
        "rms_norm",
        "rms_norm:rms_norm",
        (*_MATRIX, "bf16[2560]"),
        (*_MATRIX, "f32[4096]"),
        ("rows:rms_norm", "xla:rms_norm"),
        trips={"rows:rms_norm": {1: 16}},
    ),
    Row("add", "add:add", _MATRIX * 2, _MATRIX, ("elementwise:add", "xla:add")),
    Row("swiglu", "gated:swiglu", _MATRIX * 2, _MATRIX, ("elementwise:swiglu", "xla:swiglu")),
    Row("geglu", "gated:geglu", _MATRIX * 2, _MATRIX, ("elementwise:geglu", "xla:geglu")),
    Row("running_sum", "scans:running_sum", _MATRIX, _MATRIX, ("scans:running_sum", "scans:running_sum_narrow")),
    Row(
        "linear_recurrence",
        "scans:linear_recurrence",
        ("bf16[4,2048,2560]",) * 2,
        ("bf16[4,2048,2560]",),
        ("scans:linear_recurrence",),
    ),
)
