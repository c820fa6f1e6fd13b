"""Loops that begin at computed rows, on TPU targets: blocks are aligned, lanes that are not the loop's drop out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import mismatch
from kopt.specs import spec_of
from test.rotating import rotating


def segment_sum(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    segments = offsets.size(0) - 1
    out = torch.empty([segments, x.size(1)], dtype=x.dtype)
    for i in hl.grid(segments):
        start, end = offsets[i], offsets[i + 1]
        for m in hl.tile(x.size(1)):
            acc = hl.zeros([m], dtype=torch.float32)
            for row in hl.tile(start, end):
                acc = acc + x[row, m].to(torch.float32).sum(0)
            out[i, m] = acc.to(x.dtype)
    return out


def segment_softmax_scale(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    """Two passes over each segment: the largest of a column, then the sum of exponentials."""
    segments = offsets.size(0) - 1
    out = torch.empty([segments, x.size(1)], dtype=torch.float32)
    for i in hl.grid(segments):
        start, end = offsets[i], offsets[i + 1]
        top = hl.full([x.size(1)], float("-inf"), dtype=torch.float32)
        for row in hl.tile(start, end):
            top = torch.maximum(top, x[row, :].to(torch.float32).amax(0))
        total = hl.zeros([x.size(1)], dtype=torch.float32)
        for row in hl.tile(start, end):
            total = total + torch.exp(x[row, :].to(torch.float32) - top[None, :]).sum(0)
        out[i, :] = total
    return out


def flat_sum(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    segments = offsets.size(0) - 1
    out = torch.empty([segments], dtype=torch.float32)
    for i in hl.grid(segments):
        acc = hl.zeros([1], dtype=torch.float32)
        for element in hl.tile(offsets[i], offsets[i + 1]):
            acc = acc + x[element].to(torch.float32).sum()[None]
        out[i] = acc.sum()
    return out


def causal_convolution(x: torch.Tensor, taps: torch.Tensor) -> torch.Tensor:
    """Rows before each row, by a distance that is only known when the kernel runs."""
    out = torch.empty_like(x)
    for row, column in hl.tile(x.size()):
        acc = hl.zeros([row, column], dtype=torch.float32)
        for tap in hl.grid(taps.size(0)):
            index = row.index - tap
            past = hl.load(x, [index, column], extra_mask=(index >= 0)[:, None])
            acc = acc + past.to(torch.float32) * taps[tap, column][None, :]
        out[row, column] = acc.to(x.dtype)
    return out


def paired_sums(x: torch.Tensor, y: torch.Tensor, x_offsets: torch.Tensor, y_starts: torch.Tensor) -> torch.Tensor:
    """Rows of two arrays, which begin at different elements."""
    segments = y_starts.size(0)
    out = torch.empty([segments, x.size(1)], dtype=torch.float32)
    for i in hl.grid(segments):
        start, other = x_offsets[i], y_starts[i]
        acc = hl.zeros([x.size(1)], dtype=torch.float32)
        for row in hl.tile(0, x_offsets[i + 1] - start):
            acc = acc + (x[row + start, :] * y[row + other, :]).to(torch.float32).sum(0)
        out[i, :] = acc
    return out


LENGTHS = {"mixed": [0, 3, 0, 0, 70, 8, 41, 0, 1], "empty": [0, 0, 0], "one": [1], "huge": [2, 190, 5]}
SKIPPED = 5


def offsets_of(lengths: list[int]) -> torch.Tensor:
    """Offsets that do not begin at 0."""
    return torch.tensor([SKIPPED, *(SKIPPED + sum(lengths[: n + 1]) for n in range(len(lengths)))], dtype=torch.int32)


def pieces(x: torch.Tensor, offsets: torch.Tensor) -> list[torch.Tensor]:
    bounds = offsets.tolist()
    return [x[a:b].double() for a, b in zip(bounds[:-1], bounds[1:], strict=True)]


def rows(count: int, width: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(count, width, generator=torch.Generator().manual_seed(0)).to(dtype)


@pytest.mark.parametrize("loop_type", ["resident", "fori"])
@pytest.mark.parametrize("lengths", LENGTHS)
@pytest.mark.parametrize(("width", "dtype"), [(256, torch.float32), (100, torch.bfloat16)])
def test_sums(loop_type: str, lengths: str, width: int, dtype: torch.dtype) -> None:
    check_sums("pallas:interpret", loop_type, lengths, width, dtype)


@pytest.mark.slow
@pytest.mark.parametrize("lengths", ["mixed", "empty", "huge"])
def test_sums_in_strict_mode(lengths: str) -> None:
    check_sums("pallas:strict", "fori", lengths, 100, torch.bfloat16)


def check_sums(target: str, loop_type: str, lengths: str, width: int, dtype: torch.dtype) -> None:
    offsets = offsets_of(LENGTHS[lengths])
    x = rows(int(offsets[-1]) + 3, width, dtype)
    kernel = kopt.kernel(segment_sum, config={"block_sizes": [128, 16], "loop_type": loop_type}, target=target)
    wanted = torch.stack([piece.sum(0) for piece in pieces(x, offsets)]).to(dtype)
    assert mismatch(kernel(x, offsets), wanted, BY_SPEC[spec_of(x).dtype.spec], 200) is None


@pytest.mark.parametrize("loop_type", ["resident", "fori"])
def test_two_passes(loop_type: str) -> None:
    offsets = offsets_of(LENGTHS["mixed"])
    x = rows(200, 140, torch.float32)
    kernel = kopt.kernel(segment_softmax_scale, config={"block_sizes": [16, 8], "loop_type": loop_type})
    found = kernel.lower(x, offsets, target="pallas:interpret").compile()(x, offsets)
    for piece, row in zip(pieces(x, offsets), found, strict=True):
        wanted = (piece - piece.amax(0)).exp().sum(0) if len(piece) else torch.zeros(140)
        assert mismatch(row, wanted.float(), BY_SPEC["f32"], 70) is None


@pytest.mark.parametrize("loop_type", ["resident", "fori"])
def test_arrays_of_one_dimension(loop_type: str) -> None:
    offsets = offsets_of([0, 300, 7, 1000, 0, 129])
    x = rows(1, 1500, torch.float32)[0]
    kernel = kopt.kernel(flat_sum, config={"block_sizes": [256], "loop_type": loop_type}, target="pallas:interpret")
    wanted = torch.stack([piece.sum() for piece in pieces(x, offsets)]).float()
    assert mismatch(kernel(x, offsets), wanted, BY_SPEC["f32"], 1000) is None


@pytest.mark.parametrize("loop_type", ["resident", "fori"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_before(loop_type: str, dtype: torch.dtype) -> None:
    x, taps = rows(70, 140, dtype), rows(4, 140, torch.float32)
    config = {"block_sizes": [16, 128], "loop_type": loop_type}
    wanted = sum(torch.nn.functional.pad(x.double(), (0, 0, k, 0))[:70] * taps[k] for k in range(4)).to(dtype)
    found = kopt.kernel(causal_convolution, config=config, target="pallas:interpret")(x, taps)
    assert mismatch(found, wanted, BY_SPEC[spec_of(x).dtype.spec], 4) is None


@pytest.mark.parametrize("loop_type", ["resident", "fori"])
def test_two_arrays_that_begin_apart(loop_type: str) -> None:
    x, y = rows(70, 140, torch.float32), rows(64, 140, torch.float32)
    offsets = torch.tensor([3, 10, 10, 41, 42, 60], dtype=torch.int32)
    starts = torch.tensor([0, 7, 7, 38, 39], dtype=torch.int32)
    config = {"block_sizes": [16], "loop_type": loop_type}
    found = kopt.kernel(paired_sums, config=config, target="pallas:interpret")(x, y, offsets, starts)
    pairs = zip(pieces(x, offsets), starts.tolist(), strict=True)
    wanted = torch.stack([(piece * y[start : start + len(piece)]).sum(0) for piece, start in pairs]).float()
    assert mismatch(found, wanted, BY_SPEC["f32"], 40) is None


def groups(x: torch.Tensor, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Each row's groups of columns less their largest element, and these: parts of blocks, of which the last is cut."""
    rows, columns = x.size()
    out = torch.empty_like(x)
    largest = x.new_empty(rows, -(-columns // size))
    for row, block in hl.tile([rows, columns], block_size=[16, 128]):
        for group in hl.tile(block.begin, block.end, block_size=size):
            most = x[row, group].amax(1)
            out[row, group] = x[row, group] - most[:, None]
            largest[row, group.begin // size] = most
    return out, largest


def row_groups(x: torch.Tensor) -> torch.Tensor:
    rows, columns = x.size()
    out = torch.empty_like(x)
    for block, column in hl.tile([rows, columns], block_size=[32, 128]):
        for group in hl.tile(block.begin, block.end, block_size=4):
            out[group, column] = x[group, column] - x[group, column].amax(0)[None, :]
    return out


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_parts_of_blocks_where_the_last_one_has_fewer(dtype: torch.dtype) -> None:
    x = rows(40, 200, dtype)
    parts = torch.nn.functional.pad(x, (0, 24), value=-torch.inf).view(40, 7, 32)
    out, largest = kopt.kernel(groups, target="pallas:interpret")(x, 32)
    torch.testing.assert_close(largest, parts.amax(2))
    torch.testing.assert_close(out, (parts - parts.amax(2, keepdim=True)).view(40, 224)[:, :200])
    parts = x.view(10, 4, 200)
    wanted = (parts - parts.amax(1, keepdim=True)).view(40, 200)
    torch.testing.assert_close(kopt.kernel(row_groups, target="pallas:interpret")(x), wanted)


@pytest.mark.slow
@pytest.mark.parametrize("chip", ["tpu7x", "v5e"])
@pytest.mark.parametrize(("kernel", "args"), [(groups, ("f32[128,1000]", 32)), (row_groups, ("bf16[300,256]",))])
def test_parts_of_blocks_compile(chip: str, kernel: Callable[..., Any], args: tuple[Any, ...]) -> None:
    report = kopt.kernel(kernel).lower(*args, target=f"pallas:{chip}").report(estimates=False)
    assert report["legal"], report["reason"]


#: Whole arrays of the last two would not fit the memory of a chip.
COMPILED = [
    (segment_sum, ("f32[10003,256]", "i32[513]"), [128, 64]),
    (segment_sum, ("bf16[10003,200]", "i32[513]"), [200, 64]),
    (flat_sum, ("f32[100000]", "i32[513]"), [1024]),
    (causal_convolution, ("bf16[4096,1000]", "f32[4,1000]"), [64, 128]),
    (paired_sums, ("f32[10003,256]", "f32[9000,256]", "i32[513]", "i32[512]"), [64]),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "chip", "loop_type"),
    [
        *((case, chip, "fori") for case, chip in rotating(range(5), "v6e", ("tpu7x", "v5e"))),
        *((case, "v5e", "resident") for case in range(3)),
    ],
)
def test_compiles(case: int, chip: str, loop_type: str) -> None:
    kernel, args, sizes = COMPILED[case]
    config = {"block_sizes": sizes, "loop_type": loop_type}
    report = kopt.kernel(kernel).lower(*args, target=f"pallas:{chip}", config=config).report(estimates=False)
    assert report["legal"], report["reason"]


@kopt.kernel
def turned(x, cosines, positions):
    """Both halves of each row: what one block's lanes and those after it say where both begin."""
    half = x.size(1) // 2
    out = torch.empty_like(x)
    for row, pair in hl.tile([x.size(0), half], block_size=[8, half]):
        place = positions[row]
        first, second = cosines[place, pair], cosines[place, pair + half]
        out[row, pair] = x[row, pair] * first - x[row, pair + half] * second
        out[row, pair + half] = x[row, pair + half] * first + x[row, pair] * second
    return out


def test_lanes_after_the_only_block_are_known():
    x, cosines, positions = torch.randn(20, 48), torch.randn(9, 48), torch.randint(9, (20,))
    a, b, first, second = *x.chunk(2, 1), *cosines[positions].chunk(2, 1)
    wanted = torch.cat([a * first - b * second, b * first + a * second], 1)
    torch.testing.assert_close(turned.on("pallas:interpret")(x, cosines, positions), wanted)
    assert "cosines_ref[:, 24:48]" in turned.lower(x, cosines, positions, target="pallas:tpu7x").source


@pytest.mark.slow
def test_lanes_after_the_only_block_compile():
    assert turned.lower("f32[20,48]", "f32[9,48]", "i64[20]", target="pallas:tpu7x").report(estimates=False)["legal"]
