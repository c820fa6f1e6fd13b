"""How much one call of an example has to do: operations of its products, and bytes of its arrays, each moved once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from kopt.targets.chips import GPU_CHIPS, GpuChip
from kopt.targets.costs import gpu_costs

Args = tuple[Any, ...]


def _product(x: Any, y: Any, *others: Any) -> float:
    """Each element of the left matrix meets as many as the right one has columns."""
    return 2 * x.numel() * y.shape[-1]


def _attention(q: Any, k: Any, v: Any, *others: Any) -> float:
    return 4 * q.numel() * k.shape[-2]


def _seen(q: Any, window: int) -> float:
    """Attention to so many keys up to each query's own."""
    length, d = q.shape[-2:]
    pairs = sum(min(row + 1, window) for row in range(length))
    return 4 * q.numel() // (length * d) * pairs * d


def _causal(q: Any, *others: Any) -> float:
    return _seen(q, q.shape[-2])


def _packed(q: Any, k: Any, v: Any, offsets: Any, causal: bool) -> float:
    lengths = offsets.diff()
    return 2 * int((lengths * (lengths + 1)).sum()) * q.shape[1] * q.shape[2]


#: Operations of the products of an example, from its arguments. Others have none, or several algorithms.
FLOPS: dict[str, Callable[..., float]] = {
    **dict.fromkeys(("matmul", "matmul_epilogue", "split_matmul", "split_matmul_barrier", "bmm"), _product),
    **dict.fromkeys(("int4_matmul", "int4_matmul_halves", "int16_matmul", "int8_matmul", "fp8_matmul"), _product),
    **dict.fromkeys(("grouped_matmul", "jagged_jagged_bmm"), _product),
    "matmul_backward": lambda grad, x, y: 4 * grad.numel() * x.shape[-1],
    "swiglu_matmul": lambda x, gate, up: 2 * _product(x, gate),
    "squeeze_excite": lambda x, squeeze, excite: 2 * _product(x, squeeze),
    "squeeze_excite_backward": lambda grad, x, squeeze, *_: 4 * _product(x, squeeze),
    "attention": _attention,
    "fp8_attention": _attention,
    "causal_attention": _causal,
    "window_attention": lambda q, k, v, window: _seen(q, window),
    "flex_attention_alibi": _causal,
    "flex_attention_window": lambda q, *_: _seen(q, 17),
    "packed_attention": _packed,
    "paged_attention": lambda q, keys, values, lengths, table: 4 * int(lengths.sum()) * q.shape[1] * q.shape[2],
    "gather_gemv": lambda matrices, numbers, vector: 2 * len(numbers) * matrices[0].numel(),
}


def _rows(table: Any, numbers: Any) -> float:
    """Bytes of the rows that numbers name, each once."""
    return len((numbers % len(table)).unique()) * table[0].nbytes


#: Bytes of the arguments that have to be read, where that is not all of them.
READ: dict[str, Callable[..., float]] = {
    "embedding": lambda ids, table: ids.nbytes + _rows(table, ids),
    "gather_rows": lambda x, numbers, scales: _rows(x, numbers) + numbers.nbytes + scales.nbytes,
    "gather_gemv": lambda x, numbers, vector: _rows(x, numbers) + numbers.nbytes + vector.nbytes,
    "scatter_add": lambda out, rows, x: _rows(out, rows) + rows.nbytes + x.nbytes,
    "paged_attention": lambda q, keys, values, lengths, table: (
        q.nbytes + lengths.nbytes + table.nbytes + 2 * int(lengths.sum()) * keys[:, 0, 0].nbytes
    ),
}
#: As `READ`, of the results that have to be written.
WRITTEN: dict[str, Callable[..., float]] = {"scatter_add": lambda out, rows, x: _rows(out, rows)}


def flops(name: str, args: Args) -> float | None:
    """Operations of the products; None where there are none, or where an algorithm chooses how many."""
    return FLOPS[name](*args) if name in FLOPS else None


def least_bytes(name: str, args: Args, results: Args) -> float:
    """Bytes that memory gives and takes at least: what has to be read and written, once."""
    read = READ[name](*args) if name in READ else _all(args)
    return read + (WRITTEN[name](*args) if name in WRITTEN else _all(results))


def _all(values: Args) -> float:
    return sum(value.nbytes for value in values if isinstance(value, torch.Tensor))


def chip_of(cuda: Any) -> GpuChip | None:
    """The chip of the table that is here; None where it has no such architecture."""
    properties = cuda.get_device_properties(0)
    if torch.version.hip:
        return GPU_CHIPS.get(properties.gcnArchName.split(":")[0])
    major, minor = cuda.get_device_capability()
    return GPU_CHIPS.get(f"sm{major}{minor}")


def bytes_per_second(cuda: Any) -> float | None:
    """The bandwidth of the memory: by its clock and bus where the driver tells them, else of the chip's facts.

    Those are of the largest part of an architecture, so they serve where as many multiprocessors are here.
    """
    properties, chip = cuda.get_device_properties(0), chip_of(cuda)
    kilohertz, bits = (getattr(properties, name, None) for name in ("memory_clock_rate", "memory_bus_width"))
    if kilohertz and bits and not torch.version.hip:
        return 2 * kilohertz * 1e3 * bits / 8  # two transfers a cycle
    if chip is None or gpu_costs(chip).multiprocessors != properties.multi_processor_count:
        return None
    return chip.hbm_bytes_per_second
