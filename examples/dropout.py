"""Dropout that keeps no mask: the backward pass makes the same random numbers again from the seed."""

import torch

import kopt
import kopt.language as hl

#: Small, since random bits take many operations on each element of a block.
BLOCKS = [64, 128]


@kopt.kernel
def dropout(x, p, seed):
    out = torch.empty_like(x)
    for rows, cols in hl.tile(x.size(), block_size=BLOCKS):
        keep = hl.rand([rows, cols], seed=seed) > p
        out[rows, cols] = torch.where(keep, x[rows, cols] / (1 - p), 0.0)
    return out


@kopt.kernel
def dropout_backward(grad, p, seed):
    out = torch.empty_like(grad)
    for rows, cols in hl.tile(grad.size(), block_size=BLOCKS):
        keep = hl.rand([rows, cols], seed=seed) > p
        out[rows, cols] = torch.where(keep, grad[rows, cols] / (1 - p), 0.0)
    return out


def reference(x, p, seed):
    numbers = torch.arange(x.numel(), device=x.device).view(x.shape)
    return torch.where(uniform(int(seed), numbers) > p, x / (1 - p), 0.0)


def reference_backward(grad, p, seed):
    x = torch.zeros_like(grad, requires_grad=True)
    reference(x, p, seed).backward(grad)
    return x.grad


def uniform(seed, numbers):
    """Floats in [0, 1) by Philox 4x32-10 for numbers below 2**31, in torch's 64-bit integers."""
    zero = torch.zeros_like(numbers)
    words, word = (numbers, zero, zero, zero), 2**32 - 1
    for number in range(10):
        key = (seed + number * 0x9E3779B9) & word, ((seed >> 32) + number * 0xBB67AE85) & word
        (high0, low0), (high2, low2) = _product(0xCD9E8D57, words[2]), _product(0xD2511F53, words[0])
        words = high0 ^ words[1] ^ key[0], low0, high2 ^ words[3] ^ key[1], low2
    bits = words[0]
    return torch.where(bits < 2**31, bits, bits ^ word).float() * 4.6566127342e-10


def _product(factor, value):
    """The high and the low word of a product of two words, whose 64 bits would not fit below the sign."""
    low = factor * (value & 0xFFFF)
    high = factor * (value >> 16) + (low >> 16)
    return high >> 16, ((high & 0xFFFF) << 16) | (low & 0xFFFF)


if __name__ == "__main__":
    from check import main  # examples/check.py: runs this file's kernels beside torch on every CPU target

    main(__file__)
