"""Atomic updates compile for chips that are not here: every kind, each dtype's way, and every index list."""

import importlib.util
from itertools import cycle

import pytest
import torch

import kopt
import kopt.language as hl
from test.kernels.atomic_cases import INDICES, random, split_matmul
from test.rotating import rotating

TPUS = ("tpu7x", "v6e", "v5e")


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


def sums_and_swaps(x, rows, y):
    """What targets of few bits are for: sums by blocks and by rows, extremes, previous values."""
    old = torch.empty_like(y)
    total, top = torch.zeros([x.size(1)], dtype=x.dtype), torch.zeros([9, x.size(1)], dtype=x.dtype)
    for i, j in hl.tile(y.size(), block_size=[16, 32]):
        hl.atomic_add(total, [j], y[i, j].to(torch.float32).sum(0))
        hl.atomic_max(top, [rows[i], j], y[i, j])
        before = hl.atomic_xchg(x, [i, j], y[i, j])
        hl.atomic_cas(x, [i, j], 1, before)
        old[i, j] = before
    return old, total, top


def legal(kernel, args, target):
    if target.startswith("pallas") and importlib.util.find_spec("libtpu") is None:
        pytest.skip("libtpu is not installed")
    report = kopt.kernel(kernel).lower(*args, target=target).report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "chip"),
    rotating([torch.float32, torch.float64, torch.bfloat16, torch.int64], "sm90", ("sm80", "gfx942")),
    ids=str,
)
def test_every_kind(dtype, chip):
    args = random(37, 75, dtype=dtype), torch.zeros(37, 75, dtype=torch.int8), torch.zeros(37, dtype=torch.int64)
    legal(everything, (*args, torch.zeros(37, dtype=torch.int32)), f"triton:{chip}")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dtype", "target"),
    rotating(
        ["f8e4m3fn", "f8e5m2", "bf16", "f16", "i32", "i8"],
        ("triton:sm90", "pallas:v6e"),
        ("pallas:v5e", "pallas:tpu7x"),
    ),
)
def test_kinds_of_few_bits(dtype, target):
    legal(sums_and_swaps, (f"{dtype}[37,75]", "i32[37]", f"{dtype}[37,75]"), target)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chip"), rotating(INDICES, "sm90", ("sm80", "gfx942")))
def test_index_lists(name, chip):
    legal(INDICES[name][0], ("f32[9,40]", "i32[37]", "f32[37,40]"), f"triton:{chip}")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "chip"), list(zip(INDICES, cycle(TPUS))))
def test_index_lists_on_a_tpu(name, chip):
    legal(INDICES[name][0], ("f32[9,40]", "i32[37]", "f32[37,40]"), f"pallas:{chip}")


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
def test_orderings(sem):
    def kernel(x, out):
        for i in hl.tile(x.size(0), block_size=16):
            hl.atomic_add(out, [i], x[i], sem=sem)

    source = kopt.kernel(kernel).lower("f32[40]", "f32[40]", target="triton:sm90").source
    assert f'mask=i_mask, sem="{sem}", scope="gpu")' in source


def test_targets_are_filled_where_updates_need_it():
    """Sums start from zeros; where parts do not update the output, nothing is filled."""
    sizes = "bf16[64,512]", "bf16[512,64]"
    assert "torch.zeros((" in kopt.kernel(split_matmul).lower(*sizes, 4, target="triton:sm90").source

    def stored(x, y):
        out = torch.zeros([x.size(0), y.size(1)], dtype=x.dtype)
        for i, j in hl.tile(out.size()):
            out[i, j] = x[i, :] @ y[:, j]
        return out

    source = kopt.kernel(stored).lower(*sizes, target="triton:sm90").source
    assert "torch.empty((" in source and "torch.zeros((" not in source


@pytest.mark.parametrize(("chip", "split", "narrow"), [("sm90", 16, True), ("sm90", 17, False), ("sm80", 2, False)])
def test_sums_of_16_bits(chip, split, narrow):
    """Few additions are the chip's own, where it has them; else they are made in f32."""

    def total(x, out):
        for i, s in hl.tile(x.size(), block_size=[16, 8]):
            hl.atomic_add(out, [i], x[i, s].sum(1))

    args = random(37, 8 * split, dtype=torch.bfloat16), torch.zeros(37, dtype=torch.bfloat16)
    low = kopt.kernel(total).lower(*args, target=f"triton:{chip}")
    assert ("out_wide" not in low.source) == narrow


def claims(keys, lock):
    """Whether each lane was the first of its key: predicates of previous values, stored."""
    won = torch.empty(keys.shape, dtype=torch.bool)
    for i in hl.tile(keys.size(0)):
        won[i] = hl.atomic_cas(lock, [keys[i]], -1, i.index) == -1
    return won


@pytest.mark.slow
@pytest.mark.parametrize("target", ["triton:sm90", *(f"pallas:{chip}" for chip in TPUS)])
def test_claims(target):
    legal(claims, ("i32[300]", "i32[40]"), target)
