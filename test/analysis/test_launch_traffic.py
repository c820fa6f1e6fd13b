"""What emitted kernels move, and how often their loops run: alike for every way to move the same blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from examples.embedding import embedding
from examples.exp import exp
from examples.packed import grouped_matmul
from examples.softmax import softmax
from kopt.analysis.call_loops import CountedLoop, counted_loops
from kopt.analysis.entry import entry_function
from kopt.analysis.executions import CallMemory, UnknownNumber, executions
from kopt.analysis.launch_traffic import Traffic
from kopt.dialects.pallas import CallOp
from kopt.interpreter.host_values import HostValues
from kopt.lowered import Lowered
from kopt.passes.pipelines import pipeline
from kopt.walk import walk

Found = tuple[Traffic, list[CountedLoop]]


def of(low: Lowered, values: dict[int, np.ndarray] | None = None) -> Found:
    """The traffic and the loops of a lowered kernel."""
    module = kopt.run_pipeline(low.module.clone(), pipeline(low.target, low.config))
    call = walk(module, CallOp)[0]
    memory = CallMemory(call, HostValues(module, entry_function(module), (values or {}).get).value)
    grid: Any = call.body.block.first_op
    blocks = executions(grid, memory, rare=True)
    return Traffic(call, memory, blocks), counted_loops(grid, blocks)


def lowered(kernel: Any, *specs: str, **config: Any) -> Lowered:
    """For v6e."""
    return kernel.lower(*specs, target="pallas:v6e", config=config)


@kopt.kernel
def matmul(x, y):
    out = torch.empty([x.size(0), y.size(1)], dtype=torch.float32)
    for m, n in hl.tile([x.size(0), y.size(1)]):
        acc = hl.zeros([m, n], dtype=torch.float32)
        for k in hl.tile(x.size(1)):
            acc = torch.addmm(acc, x[m, k], y[k, n])
        out[m, n] = acc
    return out


@kopt.kernel
def chosen(x, flags):
    out = torch.zeros_like(x)
    for row in hl.grid(x.size(0)):
        if flags[row] > 0:
            out[row, :] = x[row, :] * 2
    return out


@pytest.mark.parametrize("loop_type", ["grid", "fori", "pipeline"])
def test_blocks_come_again(loop_type: str) -> None:
    """Rows once for each block of columns, columns once for each block of rows, the product once."""
    sizes = {"block_sizes": [256, 512, 128], "loop_type": loop_type}
    traffic, loops = of(lowered(matmul, "bf16[1024,512]", "bf16[512,1024]", **sizes))
    one = 1024 * 512 * 2
    assert (traffic.reads, traffic.writes) == ([2 * one, 4 * one, 0], [0, 0, 1024 * 1024 * 4])
    assert traffic.least == 2 * one + 1024 * 1024 * 4
    wanted = [CountedLoop(1, 32)] if loop_type == "grid" else [CountedLoop(1, 8), CountedLoop(2, 32, 4)]
    assert [replace(loop, taken=()) for loop in loops] == wanted


@kopt.kernel
def doubled(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        for j in hl.tile(x.size(1)):
            out[i, j] = x[i, j] * 2
    return out


@pytest.mark.parametrize("loop_type", ["fori", "pipeline"])
def test_what_loops_write_is_not_read(loop_type: str) -> None:
    low = lowered(doubled, "f32[1024,512]", block_sizes=[256, 128], loop_type=loop_type)
    traffic, loops = of(low)
    assert (traffic.reads, traffic.writes) == ([1024 * 512 * 4, 0], [0, 1024 * 512 * 4])
    assert len(loops) == 2


def test_branches_run_as_often_as_they_are_taken() -> None:
    """First and last visits of the blocks that are added up; what is decided by elements is taken to be rare."""
    sizes = {"block_sizes": [256, 512, 128], "loop_type": "grid"}
    (loop,) = of(lowered(matmul, "bf16[1024,512]", "bf16[512,1024]", **sizes))[1]
    assert (loop.times, loop.taken) == (32, (8, 8))
    (loop,) = of(lowered(chosen, "f32[64,256]", "i32[64]"))[1]
    assert (loop.times, loop.taken) == (64, (0,))


def test_what_is_resident_comes_once() -> None:
    """The grid goes through all blocks of rows, for one block of columns after the other."""
    sizes = {"block_sizes": [256, 512, 128], "loop_type": "resident"}
    traffic, loops = of(lowered(matmul, "bf16[1024,512]", "bf16[512,1024]", **sizes))
    assert traffic.reads == [2 * 1024 * 512 * 2, 1024 * 512 * 2, 0]
    assert traffic.exposed == 2 * (256 * 512 + 512 * 512) + 256 * 512 * 4
    assert loops[0] == CountedLoop(1, 8)


@pytest.mark.parametrize("loop_type", ["pipeline", "fori"])
def test_loops_of_one_visit_are_none(loop_type: str) -> None:
    low = lowered(matmul, "bf16[1024,512]", "bf16[512,1024]", block_sizes=[256, 512, 512], loop_type=loop_type)
    assert of(low)[1] == [CountedLoop(1, 8)]


@pytest.mark.parametrize("kernel, spec, dtype_bytes", [(exp, "f32[1000,256]", 4), (softmax, "bf16[1000,300]", 2)])
def test_the_last_blocks_end_with_the_array(kernel: Any, spec: str, dtype_bytes: int) -> None:
    traffic, _ = of(lowered(kernel, spec, block_sizes=[128] if kernel is softmax else [128, 256]))
    columns = int(spec.rstrip("]").partition(",")[2])
    assert traffic.moved == traffic.least == 2 * 1000 * columns * dtype_bytes


def test_rows_come_one_by_one() -> None:
    """Of a table as many rows as there are numbers, whatever these are."""
    traffic, _ = of(lowered(embedding, "i32[8192]", "f32[32000,1024]"))
    rows = 8192 * 1024 * 4
    assert (traffic.reads, traffic.writes) == ([8192 * 4, rows, 0], [0, 0, rows])
    assert traffic.least == traffic.moved < 32000 * 1024 * 4


def groups(*lengths: int) -> dict[int, np.ndarray]:
    """The third argument: where groups of rows of such lengths begin."""
    return {2: np.cumsum([0, *lengths]).astype(np.int32)}


@pytest.mark.parametrize(
    ("lengths", "visits"),
    [((512, 512, 512, 512), 4), ((2048, 0, 0, 0), 4), ((16, 0, 2032, 0), 5), ((500, 500, 500, 548), 5)],
)
@pytest.mark.parametrize("offsets", ["i32", "i64"])
def test_groups(lengths: tuple[int, ...], visits: int, offsets: str) -> None:
    """A group's blocks begin at multiples of 16 rows; its weights come once, of an empty one too."""
    specs = ("bf16[2048,512]", "bf16[4,512,512]", f"{offsets}[5]")
    traffic, loops = of(lowered(grouped_matmul, *specs, block_sizes=[512, 512, 512]), groups(*lengths))
    assert [loop.times for loop in loops] == [4, visits]
    assert traffic.reads[:3] == [5 * 4, visits * 512 * 512 * 2, 4 * 512 * 512 * 2]


def pages(cache, table):
    out = torch.empty([table.size(0), cache.size(1), cache.size(2)], dtype=cache.dtype)
    for p in hl.grid(table.size(0)):
        out[p, :, :] = cache[table[p], :, :] * 2
    return out


def test_windows_at_loaded_numbers() -> None:
    """A page that comes next again does not move again."""
    low = lowered(kopt.kernel(pages), "f32[64,8,128]", "i32[6]")
    page = 8 * 128 * 4
    for table, moved in (([0, 1, 2, 3, 4, 5], 6), ([7, 7, 7, 9, 9, 7], 3), ([5] * 6, 1)):
        traffic, _ = of(low, {1: np.array(table, np.int32)})
        assert sum(traffic.reads) == moved * page + 6 * 4
    with pytest.raises(UnknownNumber, match="what 'table' holds"):
        of(low)


def _kernels() -> list[tuple[Callable[..., Any], tuple[str, ...]]]:
    return [(softmax, ("bf16[4096,2560]",)), (embedding, ("i32[8192]", "f32[32000,1024]"))]


@pytest.mark.parametrize(("kernel", "specs"), _kernels())
def test_no_less_than_the_least(kernel: Any, specs: tuple[str, ...]) -> None:
    traffic, _ = of(lowered(kernel, *specs))
    assert 0 < traffic.least <= traffic.moved and traffic.exposed < traffic.moved
