"""Jagged kernels on every CPU target beside torch: empty items, tiny and huge ones, both widths of offsets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

import kopt
from kopt.dtypes import by_name
from kopt.interpreter import run
from kopt.runtime.tolerance import mismatch
from test.kernels import jagged_kernels as kernels

TARGETS = ("reference", "pallas:interpret", "triton:interpret")
#: Lengths of items, and the rows before the first. Those of one number of items may share a kernel that is compiled.
LENGTHS: dict[str, tuple[int, list[int]]] = {
    "mixed": (0, [3, 0, 8, 5, 1, 4]),
    "one": (0, [7]),
    "empty": (2, [0, 0, 0, 0, 0, 0]),
    "huge": (3, [1, 37, 0, 2, 1, 0]),
}
SPECS = {torch.float32: by_name("f32"), torch.bfloat16: by_name("bf16")}
COLUMNS = 20
"""No power of two, nor a multiple of any block."""


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(dtype)


def offsets_of(name: str, dtype: torch.dtype) -> torch.Tensor:
    first, lengths = LENGTHS[name]
    return (torch.tensor([0, *lengths]).cumsum(0) + first).to(dtype)


def items(x: torch.Tensor, offsets: torch.Tensor) -> list[torch.Tensor]:
    return [x[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]


def by_item(function: Callable[..., torch.Tensor], x: torch.Tensor, offsets: torch.Tensor, *more: Any) -> torch.Tensor:
    """A function of each item's rows, put where the rows are."""
    parts = [function(part.float(), *(m[n] for m in more)) for n, part in enumerate(items(x, offsets))]
    width = parts[0].shape[1:]
    out = torch.zeros([x.size(0), *width])
    out[offsets[0] : offsets[-1]] = torch.cat(parts)
    return out.to(x.dtype)


def summed(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    return torch.stack([part.float().sum(0) for part in items(x, offsets)]).to(x.dtype)


def normalised(part: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.layer_norm(part, part.shape) if part.numel() else part


def padded_add(x: torch.Tensor, offsets: torch.Tensor, dense: torch.Tensor) -> torch.Tensor:
    out = dense.clone()
    for row, part in zip(out, items(x, offsets), strict=True):
        row[: len(part)] += part
    return out


def averaged(x: torch.Tensor, offsets: torch.Tensor, features: torch.Tensor) -> torch.Tensor:
    out = torch.zeros([offsets.size(0) - 1, x.size(1)])
    for row, part, width in zip(out, items(x, offsets), features.tolist(), strict=True):
        row[:width] = part[:, :width].float().sum(0) / max(1, len(part))
    return out.to(x.dtype)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(q)
    for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        scores = torch.einsum("ihd,jhd->hij", q[a:b].float(), k[a:b].float()) / q.size(2)
        weights = torch.nn.functional.silu(scores).tril()
        out[a:b] = torch.einsum("hij,jhd->ihd", weights, v[a:b].float()).to(q.dtype)
    return out


def largest(x: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
    low = torch.full([1, x.size(1)], float("-inf"), dtype=x.dtype)
    return torch.stack([torch.cat([low, part]).amax(0) for part in items(x, offsets)])


Case = tuple[Callable[..., Any], Callable[..., torch.Tensor], list[int], Callable[..., tuple[torch.Tensor, ...]]]
NOTHING: Callable[..., tuple[torch.Tensor, ...]] = lambda count, dtype: ()  # noqa: E731
#: The same in torch, block sizes, and the arguments besides the rows and the offsets.
CASES: list[Case] = [
    (kernels.jagged_sum, summed, [4, 16, 8], NOTHING),
    (kernels.jagged_sum_by_rows, summed, [4, 16, 8], NOTHING),
    (kernels.jagged_sum_masked, summed, [4, 16, 8], NOTHING),
    (kernels.jagged_sum_by_items, summed, [16, 8], NOTHING),
    (
        kernels.jagged_mean,
        averaged,
        [2, 16, 8],
        lambda count, dtype: (torch.tensor([20, 0, 7, 1, 16, 17][:count], dtype=torch.int32),),
    ),
    (
        kernels.jagged_softmax,
        lambda x, offsets: by_item(lambda part: part.softmax(0), x, offsets),
        [4, 16, 8, 4, 8],
        NOTHING,
    ),
    (
        kernels.jagged_layer_norm,
        lambda x, offsets: by_item(normalised, x, offsets),
        [4, 8, 16, 4, 32, 8, 16],
        NOTHING,
    ),
    (
        kernels.jagged_dense_bmm,
        lambda x, offsets, dense: by_item(torch.matmul, x, offsets, dense.float()),
        [2, 16, 16, 16],
        lambda count, dtype: (random(count, COLUMNS, 24, dtype=dtype) / 4,),
    ),
    (kernels.segment_max, largest, [4, 16, 8], NOTHING),
]
NAMES = [case[0].__name__ for case in CASES]


def close(found: torch.Tensor, expected: torch.Tensor) -> None:
    assert found.dtype == expected.dtype
    assert mismatch(found, expected, SPECS[expected.dtype], 64) is None


def check(
    kernel, expected, blocks: list[int], target: str, x: torch.Tensor, offsets: torch.Tensor, more, **how
) -> None:
    """Runs a kernel on a target, beside torch."""
    arguments = (x, offsets, *more(offsets.size(0) - 1, x.dtype))
    config = {"block_sizes": blocks, **how}
    found = kopt.kernel(kernel).lower(*arguments, target=target, config=config).compile()(*arguments)
    close(found, expected(*arguments))


def check_lengths(called: Callable[..., Any], expected, make: Callable[[str], tuple[Any, ...]]) -> None:
    """A kernel's calls, beside torch: kopt compiles it once for arguments of the same shapes."""
    for lengths in LENGTHS:
        arguments = make(lengths)
        close(called(*arguments), expected(*arguments))


def rows_of(lengths: str) -> int:
    """As many for all numbers of items above one: two more than the longest items take."""
    return 9 if lengths == "one" else 46


def rows_for(offsets: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return random(int(offsets[-1]) + 2, COLUMNS, dtype=dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_as_torch(kernel, expected, blocks, more, target) -> None:
    """Rows of f32 with 64-bit offsets, of all lengths."""

    def arguments(lengths: str) -> tuple[Any, ...]:
        offsets = offsets_of(lengths, torch.int64)
        return (random(rows_of(lengths), COLUMNS), offsets, *more(offsets.size(0) - 1, torch.float32))

    check_lengths(kopt.kernel(kernel, target=target, config={"block_sizes": blocks}), expected, arguments)


@pytest.mark.parametrize("passes", ["raise-jagged", "raise-jagged,lower-jagged,insert-masks"])
@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_passes_keep_the_meaning(kernel, expected, blocks, more, passes) -> None:
    """In the reference, which trusts nothing but the masks once they are in."""
    offsets = offsets_of("mixed", torch.int64)
    arguments = (rows_for(offsets, torch.float32), offsets, *more(offsets.size(0) - 1, torch.float32))
    low = kopt.kernel(kernel).lower(*arguments, target="reference", config={"block_sizes": blocks})
    kopt.run_pipeline(low.module, f"builtin.module(canonicalize,cse,dce,{passes})")
    arrays = [argument.numpy() for argument in arguments]
    out = run(low.module, kernel.__name__, arrays, masked=passes.endswith("insert-masks"))
    close(torch.from_numpy(out[0]), expected(*arguments))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_narrow(kernel, expected, blocks, more, target) -> None:
    """Rows of bf16 with 32-bit offsets."""
    offsets = offsets_of("mixed", torch.int32)
    check(kernel, expected, blocks, target, rows_for(offsets, torch.bfloat16), offsets, more)


@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_rows_are_slices(kernel, expected, blocks, more) -> None:
    """However they are spelt: flat element numbers, row numbers, masks up to a length, two extents."""
    offsets = offsets_of("mixed", torch.int32)
    arguments = (rows_for(offsets, torch.float32), offsets, *more(offsets.size(0) - 1, torch.float32))
    low = kopt.kernel(kernel).lower(*arguments, target="pallas:tpu7x")
    assert not [remark for remark in low.remarks if "gathered" in remark.message or "not raised" in remark.message]


@pytest.mark.parametrize("target", TARGETS)
def test_dense_add(target) -> None:
    """Rows of one number each, of all lengths; columns of the dense matrix beyond an item are kept."""

    def arguments(lengths: str) -> tuple[Any, ...]:
        offsets = offsets_of(lengths, torch.int64)
        return random(rows_of(lengths) - 1), offsets, random(offsets.size(0) - 1, 40)

    check_lengths(
        kopt.kernel(kernels.jagged_dense_add, target=target, config={"block_sizes": [4, 16]}), padded_add, arguments
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_attention(target, dtype) -> None:
    """Two jagged loops over the same items, each with blocks of the other's lanes."""
    offsets = offsets_of("mixed", torch.int64)
    q, k, v = random(3, int(offsets[-1]) + 1, 2, 16, dtype=dtype)
    low = kopt.kernel(kernels.hstu_attention).lower(
        q, k, v, offsets, target=target, config={"block_sizes": [2, 16, 16]}
    )
    close(low.compile()(q, k, v, offsets), attention(q, k, v, offsets))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernels.jagged_sum, kernels.jagged_softmax, kernels.jagged_layer_norm])
def test_compiles_for_a_gpu(kernel) -> None:
    """With the blocks that kopt chooses, and without spills."""
    report = kopt.kernel(kernel).lower(random(100, 64), offsets_of("huge", torch.int64), target="triton:sm90").report()
    assert report["legal"] and report["spill_bytes"] == 0, report["reason"]
