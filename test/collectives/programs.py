"""Programs of one collective each: their IR, what every rank gives, and what every rank must get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import ml_dtypes
import numpy as np

NUMPY = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32}


@dataclass(frozen=True)
class Program:
    """One function of arrays: the op with its kind, the pass's ``kind``, the element type and a rank's shapes."""

    name: str
    op: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    result: tuple[int, ...]
    wanted: Callable[[np.ndarray], np.ndarray]
    text: str = ""

    @property
    def ir(self) -> str:
        """The module's text."""
        if self.text:
            return self.text
        types = [f"memref<{'x'.join(map(str, shape))}x{self.dtype}>" for shape in (self.shape, self.result)]
        lines = [
            f"func.func @{self.name}(%x: {types[0]}) -> {types[1]} {{",
            f'  %r = symm.{self.op} %x group "ranks" : {types[0]} to {types[1]}',
            f"  func.return %r : {types[1]}",
            "}",
        ]
        return "\n".join(lines)

    def given(self, ranks: int) -> np.ndarray:
        """What all ranks give, by rank."""
        generator = np.random.default_rng(len(self.name) + ranks)
        if self.dtype == "i32":
            return generator.integers(-(2**20), 2**20, (ranks, *self.shape), dtype=np.int32)
        return generator.standard_normal((ranks, *self.shape)).astype(NUMPY[self.dtype])


def _same(reduce: Callable[[np.ndarray], np.ndarray]) -> Callable[[np.ndarray], np.ndarray]:
    return lambda all: np.stack([reduce(all)] * len(all))


def _parts(all: np.ndarray) -> np.ndarray:
    """The sum, part by part."""
    total = all.sum(0)
    return total.reshape(len(all), -1, *total.shape[1:])


def _turned(all: np.ndarray) -> np.ndarray:
    """Part n of rank m becomes part m of rank n."""
    ranks = len(all)
    return all.reshape(ranks, ranks, -1, *all.shape[2:]).swapaxes(0, 1).reshape(all.shape)


def _multiplied(all: np.ndarray) -> np.ndarray:
    """All ranks' rows times the transpose of each rank's own."""
    rows = all.reshape(-1, all.shape[-1])
    return np.stack([rows @ own.T for own in all])


def gather_matmul(name: str, rows: int, ranks: int, dtype: str) -> Program:
    """A product with an array that is gathered, which is used again after it."""
    sizes = f"{rows}x70", f"{rows * ranks}x70", f"{rows * ranks}x{rows}"
    part, all, out = (f"memref<{size}x{dtype}>" for size in sizes)
    turned = f"memref<70x{rows}x{dtype}, strided<[1, 70]>>"
    lines = [
        f"func.func @{name}(%x: {part}) -> ({out}, {all}) {{",
        f"  %w = host.permute %x [1, 0] : {part} to {turned}",
        f'  %g = symm.all_gather %x group "ranks" : {part} to {all}',
        f'  %y = host.call "aten.mm.default"(%g, %w) args [unit, unit] : ({all}, {turned}) -> ({out})',
        f"  func.return %y, %g : {out}, {all}",
        "}",
    ]
    shapes = (rows, 70), (rows * ranks, rows)
    return Program(name, "all_gather", "ring", dtype, *shapes, _multiplied, "\n".join(lines))


_sum = _same(lambda all: all.sum(0))
_largest = _same(lambda all: all.max(0))
_mean = _same(lambda all: all.mean(0))
_all = _same(lambda all: all.reshape(-1, *all.shape[2:]))


def programs(ranks: int) -> list[Program]:
    """Rings and one shots of every collective and element type, of sizes that no number of ranks divides."""
    odd, parts = (10, 7), (3 * ranks, 50)
    # More elements than are moved at a time, so that places are used again.
    long = (2100, 129 * ranks // 2)
    return [
        Program("ring_f32", "all_reduce add", "ring", "f32", odd, odd, _sum),
        Program("ring_bf16", "all_reduce add", "ring", "bf16", odd, odd, _sum),
        Program("ring_long", "all_reduce add", "ring", "i32", long, long, _sum),
        Program("ring_mean", "all_reduce avg", "ring", "f32", (1,), (1,), _mean),
        Program("shot_bf16", "all_reduce add", "one-shot", "bf16", odd, odd, _sum),
        Program("shot_max", "all_reduce max", "one-shot", "bf16", odd, odd, _largest),
        Program("shot_long", "all_reduce add", "one-shot", "i32", long, long, _sum),
        Program("gather_ring", "all_gather", "ring", "bf16", (5, 70), (5 * ranks, 70), _all),
        Program("gather_shot", "all_gather", "one-shot", "i32", (5, 70), (5 * ranks, 70), _all),
        Program("scatter_ring", "reduce_scatter", "ring", "f32", parts, (3, 50), _parts),
        Program("scatter_shot", "reduce_scatter", "one-shot", "bf16", parts, (3, 50), _parts),
        gather_matmul("gather_matmul", 300, ranks, "f32"),
        gather_matmul("gather_matmul_bf16", 5, ranks, "bf16"),
        Program("all_to_all", "all_to_all", "ring", "f32", parts, parts, _turned),
    ]
