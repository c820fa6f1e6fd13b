"""Atomic updates compile for GPUs that are not here: every kind, each dtype's way, and every index list."""

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.atomic_cases import INDICES, random

CHIPS = ("sm80", "sm90", "gfx942")


def everything(x, flags, rows, owner):
    """Each kind once, with and without previous values, in whole blocks, by rows and of one element."""
    old = torch.empty_like(x)
    for i, j in hl.tile(x.size(), block_size=[16, 32]):
        hl.atomic_max(x, [rows[i], j], 3, sem="release")
        hl.atomic_min(x, [rows[i], j], 2)
        before = hl.atomic_add(x, [i, j], 1)
        swapped = hl.atomic_xchg(x, [i, j], before, sem="acq_rel")
        old[i, j] = swapped
        hl.atomic_or(flags, [i, j], rows[i][:, None])
        hl.atomic_and(flags, [rows[i], j], 7)
        hl.atomic_xor(flags, [0, 0], 1)
        took = hl.atomic_cas(owner, [rows[i]], -1, i.index, sem="acquire")
        hl.atomic_add(owner, [0], took.sum())
    return old


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64], ids=str)
def test_every_kind(dtype, chip):
    args = random(37, 75, dtype=dtype), torch.zeros(37, 75, dtype=torch.int8), torch.zeros(37, dtype=torch.int64)
    report = kopt.kernel(everything).lower(*args, torch.zeros(37, dtype=torch.int32), target=f"triton:{chip}").report()
    assert report["legal"], report["reason"]


@pytest.mark.slow
@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("name", INDICES)
def test_index_lists(name, chip):
    kernel, _ = INDICES[name]
    args = random(9, 40), torch.zeros(37, dtype=torch.int32), random(37, 40)
    report = kopt.kernel(kernel).lower(*args, target=f"triton:{chip}").report()
    assert report["legal"], report["reason"]


@pytest.mark.parametrize(("chip", "split", "narrow"), [("sm90", 16, True), ("sm90", 17, False), ("sm80", 2, False)])
def test_sums_of_16_bits(chip, split, narrow):
    """Few additions are the chip's own, where it has them; else they are made in f32."""

    def total(x, out):
        for i, s in hl.tile(x.size(), block_size=[16, 8]):
            hl.atomic_add(out, [i], x[i, s].sum(1))

    args = random(37, 8 * split, dtype=torch.bfloat16), torch.zeros(37, dtype=torch.bfloat16)
    low = kopt.kernel(total).lower(*args, target=f"triton:{chip}")
    assert ("out_wide" not in low.source) == narrow
