"""Cells of many heads, each too large for a GPU's program together: a program for each head."""

from __future__ import annotations

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dtypes import BY_SPEC
from kopt.runtime.tolerance import mismatch


def values_by_queries(queries, grads, keys):
    """A whole sequence of keys for all heads, and what all of its queries add up to."""
    out = torch.empty_like(keys)
    for seq in hl.grid(keys.size(0)):
        block = keys[seq, :, :, :].transpose(0, 1)
        total = hl.zeros(block.shape, dtype=torch.float32)
        for rows in hl.tile(queries.size(1)):
            q = queries[seq, rows, :, :].transpose(0, 1)
            scores = torch.bmm(block, q.transpose(-2, -1))
            total = torch.baddbmm(total, scores.to(keys.dtype), grads[seq, rows, :, :].transpose(0, 1))
        out[seq, :, :, :] = total.transpose(0, 1).to(out.dtype)
    return out


def attended(queries, grads, keys):
    """Sequences and heads are one dimension of the products."""
    out = torch.empty_like(queries)
    heads = keys.size(2)
    for seqs, rows in hl.tile([queries.size(0), queries.size(1)]):
        q = queries[seqs, rows, :, :].permute(0, 2, 1, 3).flatten(0, 1)
        k = keys[seqs, :, :, :].permute(0, 2, 1, 3).flatten(0, 1)
        found = torch.bmm(torch.bmm(q, k.transpose(-2, -1)).to(keys.dtype), k)
        out[seqs, rows, :, :] = found.unflatten(0, [seqs, heads]).permute(0, 2, 1, 3).to(out.dtype)
    return out


def expected(kernel, queries, grads, keys):
    scores = torch.einsum("bmhd,bnhd->bhmn", queries, keys)
    if kernel is attended:
        return torch.einsum("bhmn,bnhd->bmhd", scores, keys)
    return torch.einsum("bhmn,bmhd->bnhd", scores, grads)


@pytest.mark.parametrize("kernel", [values_by_queries, attended])
def test_each_head_has_programs_of_its_own(kernel):
    torch.manual_seed(0)
    queries, grads = (torch.randn(2, 20, 6, 64) / 8 for _ in range(2))
    keys = torch.randn(2, 300, 6, 64) / 8
    low = kopt.kernel(kernel).lower(queries, grads, keys, target="triton:interpret")
    assert any("plane" in line for line in low.source.splitlines())
    found, wanted = low.compile()(queries, grads, keys), expected(kernel, queries, grads, keys)
    assert (why := mismatch(found, wanted, BY_SPEC["f32"], 300)) is None, why


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [values_by_queries, attended])
def test_they_compile(kernel):
    queries, keys = "bf16[64,128,8,256]", "bf16[64,128,8,256]"
    report = kopt.kernel(kernel).lower(queries, queries, keys, target="triton:sm90").report(estimates=False)
    assert report["legal"], report["reason"]
