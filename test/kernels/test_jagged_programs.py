"""Jagged kernels whose items a fixed number of programs share: the same results, and shares of about the same work."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from examples import packed
from kopt.dialects.host import CallOp
from kopt.errors import ConfigError
from kopt.interpreter import HANDLERS
from kopt.interpreter.machine import Machine
from test.kernels import jagged_kernels as kernels
from test.kernels.test_jagged import CASES, NAMES, NOTHING, check, offsets_of, random, rows_for, summed

LENGTHS = [70, 0, 3, 3, 200, 1, 0, 0, 31, 32, 33, 90]


def by_lengths(x, starts, lengths):
    """Sums of rows by starts and lengths."""

    out = torch.zeros([lengths.size(0), x.size(1)], dtype=x.dtype)
    for b in hl.tile(lengths.size(0)):
        for k in hl.jagged_tile(lengths[b]):
            out[b, :] = out[b, :] + x[starts[b][:, None] + k.index[None, :], :].sum(1)
    return out


def cuts(kernel, offsets: torch.Tensor, columns: int, blocks: list[int], programs: int) -> np.ndarray:
    """The first item of each program, as the host computes it."""
    x = random(int(offsets[-1]), columns)
    low = kopt.kernel(kernel).lower(x, offsets, target="reference", config={"block_sizes": blocks})
    module = low.module.clone()
    kopt.run_pipeline(module, f"builtin.module(raise-jagged,dce,balance-items{{programs={programs}}})")
    machine = Machine(module, HANDLERS)
    func = machine.functions[kernel.__name__]
    for argument, value in zip(func.body.block.args, (x, offsets), strict=True):
        machine[argument] = value.numpy()
    for op in func.body.block.ops:
        if op.results and type(op) in HANDLERS:
            machine[op.results[0]] = HANDLERS[type(op)](machine, op)
        if isinstance(op, CallOp) and op.outputs[0].name_hint == "first":
            return machine[op.outputs[0]]
    raise AssertionError("no host call gives the first items")


@pytest.mark.parametrize(("kernel", "expected", "blocks", "more"), CASES, ids=NAMES)
def test_as_torch(kernel, expected, blocks, more) -> None:
    """Three programs, one huge item among tiny and empty ones."""
    offsets = offsets_of("huge", torch.int32)
    x = rows_for(offsets, torch.float32)
    check(kernel, expected, blocks, "triton:interpret", x, offsets, more, programs=3)


@pytest.mark.parametrize("programs", [1, 100])
@pytest.mark.parametrize("lengths", ["one", "empty"])
def test_few_items_and_many(lengths, programs) -> None:
    """One program for all, and more programs than there are items."""
    offsets = offsets_of(lengths, torch.int64)
    x = rows_for(offsets, torch.float32)
    check(kernels.jagged_sum, summed, [1, 16, 8], "triton:interpret", x, offsets, NOTHING, programs=programs)


@pytest.mark.parametrize("programs", [1, 2, 5, 11, 64])
@pytest.mark.parametrize("block", [1, 4])
def test_shares_are_equal_but_for_one_block_of_items(block, programs) -> None:
    """Every item has one program, and none has more than its part of all visits and the largest block."""
    offsets = torch.tensor([7, *LENGTHS]).cumsum(0)
    first = cuts(kernels.jagged_sum, offsets, 20, [block, 20, 16], programs)
    assert first[0] == 0 and first[-1] == len(LENGTHS)
    assert (np.diff(first) >= 0).all() and (first[:-1] % block == 0).all()
    blocks = [LENGTHS[i : i + block] for i in range(0, len(LENGTHS), block)]
    work = np.array([1 + -(-max(lengths) // 16) for lengths in blocks])
    shares = [work[a // block : -(-b // block)].sum() for a, b in zip(first[:-1], first[1:], strict=True)]
    assert sum(shares) == work.sum() and max(shares) <= work.sum() / len(shares) + work.max()


def test_results_do_not_depend_on_the_number_of_programs() -> None:
    offsets = torch.tensor([0, *LENGTHS]).cumsum(0)
    x = random(int(offsets[-1]), 20)
    kernel = kopt.kernel(kernels.jagged_softmax, target="triton:interpret")
    plain = kernel(x, offsets)
    for programs in (1, 4, 13):
        shared = kopt.kernel(kernels.jagged_softmax, target="triton:interpret", config={"programs": programs})
        assert torch.equal(shared(x, offsets), plain)


def test_items_by_starts_and_lengths() -> None:
    """In any order of rows, and with a dimension of the grid besides."""
    lengths = torch.tensor(LENGTHS, dtype=torch.int32)
    starts = (lengths.flip(0).cumsum(0) - lengths.flip(0)).flip(0)
    x = random(int(lengths.sum()), 20)
    config = {"block_sizes": [2, 16], "programs": 5}
    found = kopt.kernel(by_lengths, target="triton:interpret", config=config)(x, starts, lengths)
    wanted = torch.stack([x[s : s + n].sum(0) for s, n in zip(starts.tolist(), LENGTHS, strict=True)])
    torch.testing.assert_close(found, wanted)


def test_heads_are_programs_too() -> None:
    offsets = torch.tensor([0, *LENGTHS[:4]]).cumsum(0)
    q, k, v = random(3, int(offsets[-1]), 2, 16)
    kernel = kopt.kernel(packed.packed_attention)
    config = {"block_sizes": [32, 32], "programs": 6}
    low = kernel.lower(q, k, v, offsets, True, target="triton:interpret", config=config)
    assert "[(6,)]" in low.source  # three shares of each head
    torch.testing.assert_close(
        low.compile()(q, k, v, offsets, True), packed.reference_attention(q, k, v, offsets, True), atol=1e-4, rtol=1e-4
    )


def test_what_has_no_items_is_refused() -> None:
    with pytest.raises(ConfigError, match="programs cannot share this grid: no loop goes to bounds"):
        kopt.kernel(double).lower("f32[64]", target="triton:interpret", config={"programs": 4})


def double(x):

    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i] = x[i] + x[i]
    return out


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernels.jagged_sum, kernels.jagged_softmax, kernels.hstu_attention])
def test_compiles_for_a_gpu(kernel) -> None:
    """A program for each multiprocessor, without spills."""
    x = "bf16[10003,4,64]" if kernel is kernels.hstu_attention else "bf16[10003,256]"
    args = (x, x, x, "i64[2001]") if kernel is kernels.hstu_attention else (x, "i64[2001]")
    report = kopt.kernel(kernel).lower(*args, target="triton:sm90", config={"programs": 132}).report()
    assert report["legal"] and report["spill_bytes"] == 0, report["reason"]
