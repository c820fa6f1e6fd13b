"""Temporaries of a kernel on every CPU target: what only carries values inside a cell is no array of the host."""

import re

import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")


def handed_on(x):
    """Each cell reads just what it stored: no array at all."""
    doubled = torch.zeros_like(x)
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        doubled[i, j] = x[i, j] * 2
        out[i, j] = doubled[i, j] + 1
    return out


def two_pass(x):
    """One loop writes what another one reads: memory of the chip on a TPU."""
    weights = torch.empty_like(x)
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        total = hl.zeros([i])
        for j in hl.tile(x.size(1)):
            e = torch.exp(x[i, j].to(torch.float32)).to(x.dtype)
            weights[i, j] = e
            total = total + e.to(torch.float32).sum(-1)
        for k in hl.tile(x.size(1)):
            out[i, k] = weights[i, k] / total[:, None]
    return out


def rounded(x):
    """Storing rounds to bf16, and the value that is handed on is the rounded one."""
    narrow = torch.empty_like(x, dtype=torch.bfloat16)
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        narrow[i, j] = x[i, j]
        out[i, j] = narrow[i, j].to(torch.float32) - x[i, j]
    return out


def other_cells(x):
    """A second loop nest reads what other cells wrote: an array."""
    turned = torch.empty_like(x)
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        turned[i, :] = x[i, :] + 1
    for j in hl.tile(x.size(1)):
        out[:, j] = turned[:, j] * 2
    return out


CASES = {
    handed_on: (lambda x: x * 2 + 1, [8, 128], ("doubled",)),
    two_pass: (lambda x: torch.softmax(x, 1), [8, 128, 128], ("weights",)),
    rounded: (lambda x: x.bfloat16().float() - x, [8, 128], ("narrow",)),
    other_cells: (lambda x: (x + 1) * 2, [8, 128], ()),
}


@pytest.mark.parametrize("shape", [(37, 300), (8, 128), (1, 1), (0, 5)])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", CASES, ids=lambda kernel: kernel.__name__)
def test_temporaries(kernel, target, shape):
    expected, blocks, gone = CASES[kernel]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    lowered = kopt.kernel(kernel).lower(x, target=target, config={"block_sizes": blocks})
    torch.testing.assert_close(lowered.compile()(x), expected(x))
    host = lowered.source.partition(f"def {kernel.__name__}(")[2]
    assert target.startswith("triton") and kernel is two_pass or not any(f"{name} = " in host for name in gone)


def refilled(x):
    """Zeros, a copy and a computed array, each overwritten before it is read."""
    zeros, copy, computed = torch.zeros_like(x), x.clone(), x.sin()
    for i in hl.tile(x.size(0)):
        zeros[i, :] = x[i, :] + 1
        copy[i, :] = zeros[i, :] + 1
    for j in hl.tile(x.size(1)):
        computed[:, j] = copy[:, j] + 1
    return zeros, copy, computed


def partly(x):
    """The first row stays zero; the copy is read before it is written."""
    zeros, copy = torch.zeros_like(x), x.clone()
    for i in hl.tile(1, x.size(0)):
        zeros[i, :] = x[i, :]
        copy[i, :] = copy[i, :] * 2
    return zeros, copy


def _partly(x):
    zeros, copy = x.clone(), x * 2
    zeros[:1], copy[:1] = 0, x[:1]
    return zeros, copy


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_overwritten_is_not_initialised(target):
    x = torch.randn(37, 20)
    lowered = kopt.kernel(refilled).lower(x, target=target)
    torch.testing.assert_close(lowered.compile()(x), (x + 1, x + 2, x + 3))
    host = re.sub("#.*", "", lowered.source.partition("def refilled(")[2])
    assert not any(word in host for word in ("zeros(", "sin(", "clone(", "copy_(", "full("))


@pytest.mark.parametrize("target", TARGETS)
def test_what_is_seen_is_initialised(target):
    x = torch.randn(37, 20)
    lowered = kopt.kernel(partly).lower(x, target=target)
    torch.testing.assert_close(lowered.compile()(x), _partly(x))
    if target != "reference":
        assert "'zeros' is filled first: the store at line" in "\n".join(map(str, lowered.remarks))


def several(x):
    """Temporaries of other widths, and a whole row; the input is read twice in one loop."""
    positive = torch.empty(x.shape, dtype=torch.bool)
    short = torch.empty_like(x, dtype=torch.bfloat16)
    flat = torch.empty([x.numel()], dtype=x.dtype)
    rows = flat.view(x.shape)
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        for j in hl.tile(x.size(1)):
            positive[i, j] = x[i, j] > 0
            short[i, j] = x[i, j]
            rows[i, j] = x[i, j] * 2
        for k in hl.tile(x.size(1)):
            out[i, k] = torch.where(positive[i, k], short[i, k].to(x.dtype), rows[i, k])
    return out


STRICT = {two_pass: lambda x: torch.softmax(x, 1), several: lambda x: torch.where(x > 0, x.bfloat16().float(), x * 2)}


@pytest.mark.slow
@pytest.mark.parametrize("loops", ["resident", "fori"])
@pytest.mark.parametrize("kernel", STRICT, ids=lambda kernel: kernel.__name__)
def test_scratch_in_strict_mode(kernel, loops):
    x = torch.randn(37, 300)
    config = {"block_sizes": [8, 128, 128], "loop_type": loops}
    lowered = kopt.kernel(kernel).lower(x, target="pallas:strict", config=config)
    assert "is no array: its blocks are memory of the chip" in "".join(map(str, lowered.remarks))
    torch.testing.assert_close(lowered.compile()(x), STRICT[kernel](x))
