"""The rows of `benchmarks/tpu_compare.py`: a kernel of the examples, its arguments, and what it is compared with."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kopt.specs import TensorSpec, parse_spec

#: How often, over the whole launch, the loops at a depth run whose counts libtpu does not know; by block sizes.
Visits = Callable[[Sequence[int]], Mapping[int, int]]


@dataclass(frozen=True)
class Row:
    """``kernel`` is ``file:kernel`` of the examples; ``references`` are ``module:function`` of ``hand.pallas``.

    ``specs`` and ``results`` are of arguments and results; of ``reads``, where it is given, only so many bytes of the
    arguments are needed. ``visits`` are those of kopt's kernel, ``steps`` the grids of references of which
    libtpu estimates nothing that is true: with several results, or trips that it makes up (None: not known here).
    """

    name: str
    kernel: str
    specs: tuple[str, ...]
    results: tuple[str, ...]
    references: tuple[str, ...]
    flops: int = 0
    reads: int | None = None
    visits: Visits | None = None
    steps: Mapping[str, int | None] | None = None

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


def _causal_visits(blocks: Sequence[int]) -> Mapping[int, int]:
    """Blocks of keys that begin before each block of queries ends, of both heads."""
    rows, keys = blocks
    return {2: 2 * sum(-(-(first + rows) // keys) for first in range(0, 4096, rows))}


def _group_visits(blocks: Sequence[int]) -> Mapping[int, int]:
    """Blocks of rows of all groups of 512 rows, and for each those of columns and of the inner dimension."""
    rows, columns, inner = blocks
    tiles = 8 * -(-512 // rows) * -(-2048 // columns)
    return {2: tiles, 3: tiles * -(-2048 // inner)}


_HEADS = ("bf16[1,2,4096,128]",) * 3
_TURNED = ("bf16[4,16,1024,128]",) * 2
_SQUARE = 2 * 4096**3

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
        steps={"shipped:splash_attention": None},
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
        visits=_causal_visits,
        steps={"shipped:splash_attention_causal": None},
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
        steps={"rotary:rotary": 16},
    ),
    Row("exp", "exp:exp", ("f32[104857600]",), ("f32[104857600]",), ("exp:exp", "xla:exp")),
    Row("softmax", "softmax:softmax", ("bf16[4096,2560]",), ("bf16[4096,2560]",), ("rows:softmax", "xla:softmax")),
    Row(
        "welford",
        "welford:welford",
        ("bf16[8192,1024]", "bf16[1024]", "bf16[1024]"),
        ("bf16[8192,1024]",),
        ("rows:layer_norm", "xla:layer_norm"),
    ),
    Row(
        "grouped_matmul",
        "packed:grouped_matmul",
        ("bf16[4096,2048]", "bf16[8,2048,2048]", "i32[9]"),
        ("bf16[4096,2048]",),
        ("grouped_matmul:grouped_matmul", "shipped:grouped_matmul"),
        2 * 4096 * 2048**2,
        visits=_group_visits,
        steps={"shipped:grouped_matmul": 16},
    ),
    Row(
        "embedding",
        "embedding:embedding",
        ("i32[8192]", "f32[32000,1024]"),
        ("f32[8192,1024]",),
        ("embedding:embedding", "xla:embedding"),
        reads=8192 * 4 + 8192 * 1024 * 4,
    ),
)
