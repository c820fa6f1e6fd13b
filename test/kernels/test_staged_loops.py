"""Loops whose blocks are loaded ahead by their plans: the same values, and ``num_stages`` in the text."""

import torch

import kopt
import kopt.language as hl


def sums(x):
    out = torch.empty([x.size(0)], dtype=torch.float32)
    for i in hl.tile(x.size(0), block_size=16):
        acc = hl.zeros([i])
        for j in hl.tile(x.size(1), block_size=32):
            acc += x[i, j].sum(1)
        out[i] = acc
    return out


def test_values():
    kernel = kopt.kernel(sums, target="triton:interpret", config={"loops": {"j": "resident stages 3"}})
    x = torch.randn(20, 200)
    torch.testing.assert_close(kernel(x), x.sum(1), rtol=1e-5, atol=1e-5)
    source = kernel.lower(x, target="triton:sm90").source
    assert "tl.range(0, 200, BLOCK_1, num_stages=3)" in source
