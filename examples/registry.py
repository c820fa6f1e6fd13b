"""The table of examples; `examples.example` says what a row means."""

from __future__ import annotations

from typing import Any

from examples.example import DTYPES, Example, Inputs, sizes
from examples.inference import INFERENCE
from examples.training import TRAINING

__all__ = ["BY_NAME", "DTYPES", "EXAMPLES", "Example"]

_MATRIX = sizes(((19, 140), (16, 128)), ((75, 333), (32, 128)), 4096, 2560)
_FIXED = sizes(((19, 140), ()), ((75, 333), ()), 4096, 2560)
_ROWS = sizes(((19, 140), (16,)), ((75, 333), (32,)), 4096, 2560)
_ROWS_AND_COLUMNS = sizes(((19, 140), (16, 128)), ((75, 333), (32, 128)), 4096, 2560)
_PRODUCT = sizes(((19, 140, 150), (16, 128, 128)), ((75, 300, 333), (32, 128, 128)), 1024, 1000, 768)
_HEADS = sizes(((1, 1, 40, 32), (16, 128)), ((2, 3, 150, 64), (32, 128)), 4, 16, 1024, 128)


def _columns(m: int, n: int, *_: int) -> int:
    return n


def _norm(new: Inputs, m: int, n: int) -> tuple[Any, ...]:
    return new(m, n), new(n), new(n)


def _epilogue(new: Inputs, m: int, k: int, n: int) -> tuple[Any, ...]:
    from examples.matmul import bias_relu

    return new(m, k), new(k, n), bias_relu(new(n))


def _qkv(new: Inputs, batch: int, heads: int, length: int, depth: int) -> tuple[Any, ...]:
    shape = (batch, heads, length, depth)
    return new(*shape), new(*shape), new(*shape)


EXAMPLES = (
    Example("exp", "exp:exp:reference", lambda new, m, n: (new(m, n),), _MATRIX),
    Example("add", "add:add:reference", lambda new, m, n: (new(m, n), new.other(m, 1)), _MATRIX),
    Example("add_row", "add:add_row:reference", lambda new, m, n: (new(m, n), new.other(n)), _MATRIX),
    Example("dropout", "dropout:dropout:reference", lambda new, m, n: (new(m, n), 0.25, new.seed()), _FIXED),
    Example(
        "dropout_backward",
        "dropout:dropout_backward:reference_backward",
        lambda new, m, n: (new(m, n), 0.25, new.seed()),
        _FIXED,
    ),
    Example("softmax", "softmax:softmax:reference", lambda new, m, n: (new(m, n),), _ROWS, _columns),
    Example(
        "softmax_decomposed",
        "softmax:softmax_decomposed:reference_decomposed",
        lambda new, m, n: (new(m, n),),
        _ROWS,
        _columns,
    ),
    Example(
        "softmax_two_pass",
        "softmax:softmax_two_pass:reference",
        lambda new, m, n: (new(m, n),),
        _ROWS_AND_COLUMNS,
        _columns,
    ),
    Example("layer_norm", "layer_norm:layer_norm:reference", _norm, _ROWS, _columns),
    Example(
        "layer_norm_no_bias",
        "layer_norm:layer_norm:reference",
        lambda new, m, n: (new(m, n), new(n)),
        _ROWS,
        _columns,
    ),
    Example("rms_norm", "rms_norm:rms_norm:reference", lambda new, m, n: (new(m, n), new(n)), _ROWS, _columns),
    Example("sum_rows", "sums:sum_rows:reference_rows", lambda new, m, n: (new(m, n),), _ROWS, _columns),
    Example(
        "sum_columns",
        "sums:sum_columns:reference_columns",
        lambda new, m, n: (new(m, n),),
        sizes(((19, 140), (128,)), ((75, 333), (128,)), 4096, 2560),
        lambda m, n: m,
    ),
    Example(
        "sum_middle",
        "sums:sum_middle:reference_rows",
        lambda new, m, k, n: (new(m, k, n),),
        sizes(((10, 5, 140), (8, 128)), ((19, 21, 333), (8, 128)), 128, 100, 2560),
        lambda m, k, n: k,
    ),
    Example("long_sum", "sums:long_sum:reference_rows", lambda new, m, n: (new(m, n),), _ROWS_AND_COLUMNS, _columns),
    Example("welford", "welford:welford:reference", _norm, _ROWS_AND_COLUMNS, _columns),
    Example(
        "matmul",
        "matmul:matmul:reference",
        lambda new, m, k, n: (new(m, k), new(k, n)),
        _PRODUCT,
        lambda m, k, n: k,
    ),
    Example("matmul_epilogue", "matmul:matmul:reference", _epilogue, _PRODUCT, lambda m, k, n: k),
    Example(
        "split_matmul",
        "split_k:split_matmul:reference",
        lambda new, m, k, n: (new(m, k), new(k, n), 4),
        sizes(((19, 600, 150), (16, 128, 128)), ((75, 1000, 333), (32, 128, 128)), 256, 8192, 512),
        lambda m, k, n: k,
    ),
    Example(
        "bmm",
        "bmm:bmm:reference",
        lambda new, b, m, k, n: (new(b, m, k), new(b, k, n)),
        sizes(((2, 19, 140, 150), (1, 16, 128, 128)), ((3, 75, 300, 333), (1, 32, 128, 128)), 16, 512, 768, 1000),
        lambda b, m, k, n: k,
    ),
    Example("attention", "attention:attention:reference", _qkv, _HEADS, lambda b, h, n, d: n),
    Example("causal_attention", "attention:causal_attention:reference_causal", _qkv, _HEADS, lambda b, h, n, d: n),
    Example("swiglu", "gated:swiglu:reference_swiglu", lambda new, m, n: (new(m, n), new(m, n)), _MATRIX),
    Example("geglu", "gated:geglu:reference_geglu", lambda new, m, n: (new(m, n), new(m, n)), _MATRIX),
    Example(
        "cross_entropy",
        "cross_entropy:cross_entropy:reference",
        lambda new, m, n: (new(m, n), new.below(n, m)),
        _ROWS,
        lambda m, n: m * n,
    ),
    Example(
        "cross_entropy_rows",
        "cross_entropy:cross_entropy_rows:reference_rows",
        lambda new, m, n: (new(m, n), new.below(n, m)),
        _ROWS,
        _columns,
    ),
    Example(
        "embedding",
        "embedding:embedding:reference",
        lambda new, n, rows, d: (new.below(rows, 2, n), new(rows, d)),
        sizes(((11, 20, 140), (16, 128)), ((45, 50, 333), (32, 128)), 2048, 8000, 1024),
    ),
    Example(
        "scatter_add",
        "scatter_add:scatter_add:reference",
        lambda new, n, rows, d: (new(rows, d), new.below(rows, n), new(n, d)),
        sizes(((11, 20, 140), (16, 128)), ((75, 50, 333), (32, 128)), 256, 2048, 512),
        lambda n, rows, d: n,
    ),
    Example(
        "histogram",
        "histogram:histogram:reference_histogram",
        lambda new, n, bins: (new.below(bins, n), bins),
        sizes(((21, 5), (16,)), ((333, 50), (128,)), 4096, 256),
    ),
    Example(
        "counting_sort",
        "histogram:counting_sort:reference_sort",
        lambda new, n, bins: (new.below(bins, n), bins),
        sizes(((21, 5), (16, 16)), ((333, 50), (128, 128)), 4096, 256),
    ),
    Example(
        "concat_columns",
        "concat:concat_columns:reference_columns",
        lambda new, m, n, k: (new(m, n), new(m, k)),
        sizes(((19, 100, 70), (16,)), ((75, 200, 133), (32,)), 4096, 1500, 1060),
    ),
    Example(
        "concat_masked",
        "concat:concat_masked:reference_columns",
        lambda new, m, n, k: (new(m, n), new(m, k)),
        sizes(((19, 100, 70), (16, 128)), ((75, 200, 133), (32, 128)), 4096, 1500, 1060),
    ),
    Example(
        "concat_rows",
        "concat:concat_rows:reference_rows",
        lambda new, m, k, n: (new(m, n), new(k, n)),
        sizes(((19, 10, 140), (16, 128, 16, 128)), ((75, 50, 333), (32, 128, 32, 128)), 2001, 1500, 1000),
    ),
    Example(
        "packed_attention",
        "packed:packed_attention:reference_attention",
        lambda new, items, n, h, d: (new(n, h, d), new(n, h, d), new(n, h, d), new.offsets(items, n), True),
        sizes(((3, 19, 1, 32), (8, 16)), ((5, 75, 2, 64), (32, 16)), 16, 2048, 8, 128),
        lambda items, n, h, d: n,
    ),
    Example(
        "jagged_jagged_bmm",
        "packed:jagged_jagged_bmm:reference_products",
        lambda new, items, n, rows, columns: (new(n, rows), new(n, columns), new.offsets(items, n)),
        sizes(((3, 19, 20, 140), (16, 128, 8)), ((5, 75, 33, 150), (16, 128, 16)), 64, 8000, 256, 300),
        lambda items, n, rows, columns: n,
    ),
    Example(
        "grouped_matmul",
        "packed:grouped_matmul:reference_grouped",
        lambda new, items, n, k, m: (new(n, k), new(items, k, m, scale=0.25), new.offsets(items, n)),
        sizes(((3, 19, 140, 150), (16, 128, 128)), ((5, 75, 200, 333), (16, 128, 128)), 16, 4096, 1000, 768),
        lambda items, n, k, m: k,
    ),
    Example(
        "expert_matmul",
        "packed:expert_matmul:reference_experts",
        lambda new, items, blocks, rows, k, m: (
            new(blocks * rows, k),
            new(items, k, m, scale=0.25),
            new.below(items, blocks),
        ),
        sizes(((3, 4, 16, 140, 150), (128, 128)), ((5, 7, 32, 200, 333), (128, 128)), 16, 32, 128, 1000, 768),
        lambda items, blocks, rows, k, m: k,
    ),
    Example(
        "standardize",
        "standardize:standardize:reference",
        lambda new, m, n: (new(m, n),),
        sizes(((19, 140), (128, 16, 128)), ((75, 333), (128, 32, 128)), 4096, 2560),
        lambda m, n: m,
    ),
    *TRAINING,
    *INFERENCE,
)

BY_NAME = {example.name: example for example in EXAMPLES}
