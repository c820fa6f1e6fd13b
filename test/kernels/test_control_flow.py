"""Loops and branches on values of the device, on every target: against the same kernel run by Python."""

from __future__ import annotations

import importlib.util

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import UnsupportedError

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
CHIPS = ("pallas:tpu7x", "pallas:v5e", "triton:sm90", "triton:gfx942")

X = torch.arange(20.0).reshape(4, 5) - 7
N = torch.tensor([3, 0, 5, 2], dtype=torch.int32)


def steps(x, n):
    """A ``while`` on a scalar: how often two can be taken away."""
    out = torch.zeros_like(n)
    for i in hl.grid(n.size(0)):
        k, count = n[i], 0
        while k > 0:
            k = k - 2
            count = count + 1
        out[i] = count
    return out


def doubled(x, n):
    """A ``while`` that carries a tensor and asks for its sum."""
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0), block_size=1):
        v, w = x[i, :], x[i, :] * 0
        while v.sum() < 100.0:
            v, w = v * 2 + 10, v
        out[i, :] = v + w
    return out


def triangle(x, n):
    """A loop inside a ``while``, whose length changes."""
    out = torch.zeros_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        k, total = n[i], 0.0
        while k > 0:
            for j in hl.grid(k):
                total = total + x[i, j]
            k = k - 1
        out[i] = total
    return out


def found(x, n):
    """A ``while`` inside a ``while``, and stores in both."""
    out = torch.zeros_like(x)
    for i in hl.grid(x.size(0)):
        j = n[i] * 0
        while j < n[i]:
            v = x[i, j]
            while v < 20.0:
                v = v + 6.0
            out[i, j] = v
            j = j + 1
    return out


def until(x, n):
    """``while True``, left by a condition of the device, after a first visit that Python knows."""
    out = torch.zeros_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        total, k = x[i, 0], 0
        while True:
            total = total + k
            k = k + 1
            if total > 10:
                break
        out[i] = total * 100 + k
    return out


def counted(x, n):
    """``break`` out of a loop over numbers."""
    out = torch.zeros_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        total = 0.0
        for j in hl.grid(x.size(1)):
            if j >= n[i]:
                break
            total = total + x[i, j]
        out[i] = total
    return out


def nested(x, n):
    """``break`` and ``continue`` in one loop, ``break`` of the inner loop only, ``else`` of a loop."""
    out = torch.zeros_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        total = 0.0
        for j in hl.grid(x.size(1)):
            if x[i, j] < 0:
                continue
            for k in hl.grid(4):
                if k == n[i]:
                    total = total + 1000
                    break
                total = total + x[i, j]
            if total > 2500:
                break
        out[i] = total
    return out


def unrolled(x, n):
    """``break`` out of a loop that Python unrolls."""
    out = torch.zeros_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        total = 0.0
        for j in hl.static_range(5):
            if j == n[i]:
                break
            total = total + x[i, j]
        else:
            total = total + 1000
        out[i] = total
    return out


def chosen(x, n):
    """Tensors, tuples and numbers assigned in the arms of nested branches."""
    out = torch.zeros_like(x)
    for i in hl.grid(x.size(0)):
        v, scale, pair = x[i, :], 1, (0.0, 1.0)
        if n[i] > 2:
            w = v * 2
            if n[i] > 4:
                scale, pair = 5, (x[i, 0], x[i, 1])
        elif n[i] > 0:
            w, scale = v + 1, 2
        else:
            w = -v
        out[i, :] = w * scale + pair[0] * pair[1]
    return out


def carried(x, n):
    """Tuples and numbers carried round, and a value from before the loop that is read first and replaced later."""
    out = torch.zeros_like(x[:, 0])
    for i in hl.grid(x.size(0)):
        last, state, count = x[i, 4], (0.0, 1.0), 0
        for j in hl.grid(x.size(1)):
            state = (state[0] + last, state[1] + x[i, j] * count)
            last = x[i, j]
            count = count + 2
        out[i] = state[0] - state[1] + count
    return out


def decided(x, n):
    """Predicates that a loop carries and a branch gives."""
    out = torch.zeros_like(x)
    for i in hl.tile(x.size(0), block_size=1):
        v = x[i, :]
        odd = v > 0
        for k in hl.grid(4):
            odd = odd ^ (v > k)
        if v.sum() > 0:
            kept = v > 3
        else:
            kept = odd
        out[i, :] = torch.where(kept, v, 0.0)
    return out


KERNELS = (steps, doubled, triangle, found, until, counted, nested, unrolled, chosen, carried, decided)


def by_python(kernel):
    """What a kernel gives in Python: its loops go over numbers and blocks of one."""
    language = type(hl)("language")
    language.grid = lambda n: range(int(n))
    language.static_range = range
    language.tile = lambda n, block_size: (slice(k, k + 1) for k in range(n))
    names = {**kernel.__globals__, "hl": language}
    return type(kernel)(kernel.__code__, names, kernel.__name__)(X, N)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_python(kernel, target):
    torch.testing.assert_close(kopt.kernel(kernel).on(target)(X, N), by_python(kernel))


@pytest.mark.parametrize("target", TARGETS)
def test_break_of_a_loop_over_blocks(target):
    """The visits after it neither compute nor store."""

    def kernel(x, limit):
        out = torch.zeros_like(x)
        for i in hl.tile(x.size(0), block_size=8):
            total = hl.zeros([i])
            for j in hl.tile(x.size(1), block_size=128):
                total = total + x[i, j].sum(1)
                if total.sum() > limit[0]:
                    break
                out[i, j] = x[i, j] + total[:, None]
        return out

    x = torch.ones(8, 300)
    wanted = torch.zeros_like(x)
    wanted[:, :128] = 1 + 128
    torch.testing.assert_close(kopt.kernel(kernel).on(target)(x, torch.tensor([1500.0])), wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_newton(target):
    """A fixed point that is found in as many steps as each block needs."""

    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            a = x[i]
            r = a * 0 + 1
            error = (r * r - a).abs().amax()
            while error > 1e-3:
                r = 0.5 * (r + a / r)
                error = (r * r - a).abs().amax()
            out[i] = r
        return out

    x = torch.rand(300) * 50 + 0.1
    got = kopt.kernel(kernel, config={"block_sizes": [128]}).on(target)(x)
    torch.testing.assert_close(got, x.sqrt(), rtol=1e-3, atol=1e-3)


def test_break_of_the_outermost_loop_is_refused():
    def kernel(x):
        out = torch.zeros_like(x)
        for i in hl.grid(x.size(0)):
            if x[i] > 2:
                break
            out[i] = x[i]
        return out

    with pytest.raises(UnsupportedError, match="'break' in a device loop is not supported"):
        kopt.kernel(kernel).on("reference")(X[0])


def test_return_is_refused():
    def kernel(x):
        out = torch.zeros_like(x)
        for i in hl.grid(x.size(0)):
            if x[i] > 2:
                return out
            out[i] = x[i]
        return out

    with pytest.raises(UnsupportedError, match="return, break or continue under a device condition"):
        kopt.kernel(kernel).on("reference")(X[0])


def test_a_while_over_lanes_is_refused():
    def kernel(x):
        out = torch.zeros_like(x)
        for i in hl.tile(x.size(0)):
            v = x[i]
            while v < 3:
                v = v + 1
            out[i] = v
        return out

    with pytest.raises(UnsupportedError, match="a condition is one value"):
        kopt.kernel(kernel).on("reference")(X[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "target"),
    [(kernel, chip) for place, kernel in enumerate(KERNELS) for chip in CHIPS[place % 2 :: 2]],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_they_compile(kernel, target):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    report = kopt.kernel(kernel).lower(X, N, target=target).report(estimates=False)
    assert report["legal"], report["reason"]


@pytest.mark.parametrize("target", TARGETS)
def test_a_loop_over_a_number_of_blocks_in_floats(target):
    """What divides lengths with ``/`` and rounds up is cut off to an integer, as Helion does."""

    def sums(x, lengths):
        out = torch.empty([x.size(0)], dtype=x.dtype)
        for row in hl.grid(x.size(0)):
            acc = hl.zeros([], dtype=torch.float32)
            for block in hl.tile(torch.ceil(lengths[row] / 4), block_size=1):
                acc += x[row, block.begin * 4 : block.begin * 4 + 4].sum()
            out[row] = acc
        return out

    x, lengths = torch.randn(4, 16), torch.tensor([0, 3, 9, 16], dtype=torch.int32)
    wanted = torch.stack([row[: -(-int(n) // 4) * 4].sum() for row, n in zip(x, lengths, strict=True)])
    torch.testing.assert_close(kopt.kernel(sums, target=target)(x, lengths), wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_both_arms_give_what_was_stored_before(target):
    """A value of other tags that has no line of its own yet is one for both."""

    def largest(x, flag):
        out, again = torch.empty_like(x[:, 0]), torch.empty_like(x[:, 0])
        for row in hl.tile(x.size(0), block_size=1):
            out[row] = torch.amax(x[row, :], dim=(0, 1))[None]
            kept = out[row]
            if flag[0] > 0:
                kept = out[row]
            again[row] = kept
        return out, again

    x, flag = torch.randn(9, 20).to(torch.bfloat16), torch.ones(1, dtype=torch.int32)
    torch.testing.assert_close(kopt.kernel(largest, target=target)(x, flag), (x.amax(1), x.amax(1)))
