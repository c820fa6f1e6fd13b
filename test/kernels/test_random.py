"""Random numbers by seed: the same bits on every target and for all blocks, and those of Triton's own functions."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl

TARGETS = ("reference", "triton:interpret", "pallas:interpret")
CHIPS = ("pallas:tpu7x", "pallas:v5e", "triton:sm90", "triton:gfx942")
SEEDS = (0, 42, -1, 2**31, 2**40 + 7, 2**63 + 5)
SHAPE = (19, 140)


def words(seed: int, numbers: torch.Tensor) -> list[np.ndarray]:
    """Philox 4x32-10 in Python's own integers, as uint32: what everything is compared with."""
    mask = 2**32 - 1
    rows = []
    for n in numbers.long().flatten().tolist():
        c, k = [n & mask, n >> 32 & mask, 0, 0], [seed & mask, seed >> 32 & mask]
        for _ in range(10):
            a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [b >> 32 ^ c[1] ^ k[0], b & mask, a >> 32 ^ c[3] ^ k[1], a & mask]
            k = [k[0] + 0x9E3779B9 & mask, k[1] + 0xBB67AE85 & mask]
        rows.append(c)
    return [np.array(word, np.uint32).reshape(numbers.shape) for word in zip(*rows, strict=True)]


def floats(bits: np.ndarray) -> torch.Tensor:
    """What words are as floats in [0, 1)."""
    signed = bits.view(np.int32)
    magnitude = np.where(signed < 0, ~signed, signed)
    return torch.from_numpy(magnitude.astype(np.float32)) * 4.6566127342e-10


def integers(bits: np.ndarray, low: int, high: int) -> torch.Tensor:
    """What words are as integers from ``low`` to ``high``."""
    return torch.from_numpy((low + np.abs(bits.view(np.int32).astype(np.int64)) % (high - low)).astype(np.int32))


def numbered(*shape: int) -> torch.Tensor:
    """The number of each element."""
    return torch.arange(int(np.prod(shape))).view(shape)


def uniform(x, seed):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size()):
        out[tile] = hl.rand(tile, seed=seed)
    return out


def whole_rows(x, seed):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        out[i, :] = hl.rand([i, x.size(1)], seed=seed)
    return out


def looped(x, seed):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0)):
        for j in hl.tile(x.size(1)):
            out[i, j] = hl.rand([i, j], seed=seed)
    return out


def fours(x, seed):
    a, b, c, d = (torch.empty_like(x) for _ in range(4))
    for i, j in hl.tile(x.size()):
        numbers = hl.tile_index(i)[:, None].to(torch.int64) * x.size(1) + hl.tile_index(j)
        a[i, j], b[i, j], c[i, j], d[i, j] = hl.rand4x(seed, numbers)
    return a, b, c, d


def run(kernel, target, blocks, *args):
    """A kernel on a target."""
    return kopt.kernel(kernel, config={"block_sizes": blocks}).on(target)(*args)


def same(got: torch.Tensor, wanted: torch.Tensor) -> None:
    """Equal in every bit."""
    torch.testing.assert_close(got, wanted, rtol=0, atol=0)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", SEEDS)
def test_seeds(seed, target):
    same(run(uniform, target, [16, 128], torch.empty(SHAPE), seed), floats(words(seed, numbered(*SHAPE))[0]))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape, blocks", [((37,), [16]), ((1,), [1]), ((3, 5, 70), [1, 8, 64]), ((0, 8), [1, 8])])
def test_shapes(shape, blocks, target):
    wanted = floats(words(42, numbered(*shape))[0]) if 0 not in shape else torch.empty(shape)
    same(run(uniform, target, blocks, torch.empty(shape), 42), wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "kernel, blocks", [(uniform, [8, 32]), (uniform, [1, 256]), (whole_rows, [16]), (looped, [16, 128])]
)
def test_blocks_do_not_matter(kernel, blocks, target):
    same(run(kernel, target, blocks, torch.empty(SHAPE), 42), floats(words(42, numbered(*SHAPE))[0]))


SEED_TENSORS = [
    torch.tensor(2**45 + 3),
    torch.tensor([-5]),
    torch.tensor(-7, dtype=torch.int32),
    torch.tensor(200, dtype=torch.uint8),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("seed", SEED_TENSORS, ids=lambda seed: f"{seed.dtype}{list(seed.shape)}")
def test_seed_tensors(seed, target):
    wanted = floats(words(int(seed), numbered(*SHAPE))[0])
    same(run(uniform, target, [16, 128], torch.empty(SHAPE), seed), wanted)


@pytest.mark.parametrize("target", TARGETS)
def test_seeds_that_the_device_computes(target):
    def rows(x, seeds):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=1):
            for j in hl.tile(x.size(1)):
                out[i, j] = hl.rand([j], seed=seeds[i.begin] + 3 * i.begin)[None, :]
        return out

    seeds = torch.tensor([3, -4, 2**30], dtype=torch.int32)
    wanted = torch.stack([floats(words(int(s) + 3 * n, numbered(70))[0]) for n, s in enumerate(seeds)])
    same(run(rows, target, [32], torch.empty(3, 70), seeds), wanted)


@pytest.mark.parametrize("target", ["reference", "triton:interpret"])
def test_64_bit_seeds_from_memory(target):
    def rows(x, seeds):
        out = torch.empty_like(x)
        for i in hl.grid(x.size(0)):
            out[i, :] = hl.rand([x.size(1)], seed=seeds[i])
        return out

    seeds = torch.tensor([2**33 + 1, -(2**40)])
    wanted = torch.stack([floats(words(int(s), numbered(64))[0]) for s in seeds])
    same(run(rows, target, [], torch.empty(2, 64), seeds), wanted)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "low, high",
    [(0, 10), (-3, 4), (5, 6), (-(2**31), 2**31), (0, 2**31), (-1, 2**31 - 1), (2**31 - 7, 2**31)],
)
def test_integers(low, high, target):
    def whole(x):
        out = torch.empty(x.size(), dtype=torch.int32)
        for i, j in hl.tile(x.size()):
            out[i, j] = hl.randint([i, j], low, high, seed=9)
        return out

    same(run(whole, target, [16, 128], torch.empty(SHAPE)), integers(words(9, numbered(*SHAPE))[0], low, high))


@pytest.mark.parametrize("target", TARGETS)
def test_four_at_once(target):
    found = run(fours, target, [16, 128], torch.empty(SHAPE), 2**40 + 7)
    for got, word in zip(found, words(2**40 + 7, numbered(*SHAPE)), strict=True):
        same(got, floats(word))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
def test_given_offsets(dtype, target):
    def given(numbers):
        out = torch.empty(numbers.size(), dtype=torch.float32)
        for i in hl.tile(numbers.size(0)):
            out[i] = hl.rand([], seed=1, offsets=numbers[i])
        return out

    numbers = torch.tensor([0, 1, 100, -1, -100]).to(dtype)
    same(run(given, target, [8], numbers), floats(words(1, numbers.long())[0]))


@pytest.mark.parametrize("target", TARGETS)
def test_begin_and_scalar(target):
    """Elements count from 0 wherever a loop begins; a shape without dimensions has number 0."""

    def tail(x):
        out, first = torch.zeros_like(x), torch.zeros_like(x)
        for i, j in hl.tile([8, 0], x.size()):
            out[i, j] = hl.rand([i, j], seed=5)
            first[i, j] = torch.full([i, j], hl.rand([], seed=6))
        return out, first

    wanted = [floats(words(seed, numbers)[0]) for seed, numbers in ((5, numbered(*SHAPE)), (6, torch.zeros(SHAPE)))]
    for got, full in zip(run(tail, target, [8, 128], torch.empty(SHAPE)), wanted, strict=True):
        full[:8] = 0
        same(got, full)


def test_numbers_beyond_32_bits():
    """Offsets of 64 bits count right where there are such integers, and are refused where not."""

    def far(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = hl.rand([], seed=5, offsets=i.index.to(torch.int64) * 2**33)
        return out

    wanted = floats(words(5, torch.arange(13) * 2**33)[0])
    for target in ("reference", "triton:interpret"):
        same(run(far, target, [8], torch.empty(13)), wanted)
    with pytest.raises(kopt.LoweringError, match="may not fit 32 bits"):
        kopt.kernel(far).lower(torch.empty(13), target="pallas:interpret")


def test_rows_beyond_32_bits():
    """So do the places in an array of more than 2**31 elements."""

    def last(count):
        out = torch.empty([4], dtype=torch.float32)
        for i in hl.tile(count - 4, count):
            for j in hl.tile(2**20, 2**20 + 1):
                out[i.index - (count - 4)] = hl.rand([i, j], seed=5)[:, 0]
        return out

    wanted = floats(words(5, torch.arange(2**30 - 4, 2**30) + 2**20)[0])
    same(run(last, "reference", [4, 1], 2**30), wanted)


def test_triton_agrees():
    """``tl.rand`` and ``tl.randint4x`` themselves, in Triton's interpreter."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed")
    code = """
import torch, triton, triton.language as tl

@triton.jit
def kernel(floats, words, seed, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(floats + i, tl.rand(seed, i))
    a, b, c, d = tl.randint4x(seed, i)
    tl.store(words + i, a.to(tl.int32, bitcast=True))
    tl.store(words + n + i, d.to(tl.int32, bitcast=True))

for seed in SEEDS:
    floats, words = torch.empty(256), torch.empty(2, 256, dtype=torch.int32)
    kernel[(1,)](floats, words, seed, 256)
    print(floats.view(torch.int32).tolist() + words.flatten().tolist())
"""
    seeds = [seed for seed in SEEDS if seed < 2**63]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    done = _run_script(code.replace("SEEDS", repr(seeds)), environment)
    for seed, line in zip(seeds, done.splitlines(), strict=True):
        first, _, _, last = words(seed, numbered(256))
        wanted = [floats(first).view(torch.int32), torch.from_numpy(first.view(np.int32)), last.view(np.int32)]
        assert eval(line) == [number for part in wanted for number in part.tolist()]


def _run_script(text: str, environment: dict[str, str]) -> str:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.py")
        path.write_text(text)
        done = subprocess.run([sys.executable, path], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_statistics():
    """Even, uncorrelated between neighbours, words and seeds, and never 1."""
    x = torch.empty(256, 512)
    a, b, *_ = run(fours, "reference", [256, 512], x, 1)
    c = run(uniform, "reference", [256, 512], x, 2)
    count = x.numel()
    for values in (a, b, c):
        assert 0 <= values.min() and values.max() < 1
        assert abs(values.mean() - 0.5) < 5 * (1 / 12 / count) ** 0.5
        expected = count / 64
        square = ((torch.histc(values, 64, 0, 1) - expected) ** 2 / expected).sum()
        assert square < 63 + 5 * (2 * 63) ** 0.5
    flat = a.flatten()
    for one, other in ((flat[1:], flat[:-1]), (a.flatten(), b.flatten()), (a.flatten(), c.flatten())):
        assert abs(torch.corrcoef(torch.stack([one, other]))[0, 1]) < 5 / count**0.5


def refused(kernel, match, *args):
    with pytest.raises(kopt.UnsupportedError, match=match):
        kopt.kernel(kernel).lower(*args, target="reference")


def test_what_is_refused():
    x = torch.empty(SHAPE)
    refused(uniform, "a seed is one integer", x, 0.5)
    refused(uniform, "a seed is one integer", x, torch.empty([]))
    refused(uniform, "a seed is one integer", x, torch.tensor([1, 2]))
    refused(uniform, "a seed has 64 bits", x, 2**64)


def test_offsets_and_bounds_that_are_refused():
    def float_offsets(x):
        for i in hl.tile(x.size(0)):
            x[i, :] = hl.rand4x(1, x[i, :])[0]

    def empty_range(x):
        for i in hl.tile(x.size(0)):
            x[i, 0] = hl.randint([i], 3, 3, seed=1)

    def computed_bound(x):
        for i in hl.tile(x.size(0)):
            x[i, 0] = hl.randint([i], 0, i.begin, seed=1)

    def unknown_extent(x, lengths):
        for i in hl.tile(x.size(0)):
            for j in hl.tile(lengths[0]):
                x[i, j] = hl.rand([i, j], seed=1)

    def by_a_generator(x):
        for i in hl.tile(x.size(0)):
            x[i, :] = torch.rand(SHAPE[1], generator=torch.default_generator)

    x = torch.empty(SHAPE)
    refused(float_offsets, "offsets are a device tensor of integers", x)
    refused(empty_range, "low below high", x)
    refused(computed_bound, "bounds known while the kernel is imported", x)
    refused(unknown_extent, "this loop's is not known", x, torch.tensor([5]))
    refused(by_a_generator, "a generator draws on the host", x)


@kopt.kernel
def by_torch(x):
    """Every kind of torch's own numbers."""
    kinds = [torch.empty_like(x) for _ in range(7)]
    for tile in hl.tile(x.size()):
        kinds[0][tile] = torch.rand_like(x[tile])
        kinds[1][tile] = torch.rand(tile, dtype=x.dtype, device=x.device)
        kinds[2][tile] = torch.randn_like(x[tile])
        kinds[3][tile] = torch.randn(tile)
        kinds[4][tile] = torch.randint(-3, 4, tile)
        kinds[5][tile] = torch.randint_like(x[tile], 5)
        kinds[6][tile] = torch.nn.functional.dropout(x[tile], 0.25)
    return kinds


def drawn_by(kernel, seed, *args):
    torch.manual_seed(seed)
    return kernel(*args)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("target", TARGETS)
def test_numbers_of_torchs_generator(target, dtype):
    x = torch.ones(SHAPE, dtype=dtype)
    kernel = kopt.kernel(by_torch, config={"block_sizes": [16, 128]}).on(target)
    first, second, again = drawn_by(kernel, 42, x), kernel(x), drawn_by(kernel, 42, x)
    other = drawn_by(by_torch.on("reference"), 42, x)
    for a, b, c, d in zip(first, second, again, other, strict=True):
        same(c, a)
        torch.testing.assert_close(d, a)  # whatever the target and the blocks are
        assert not torch.equal(a, b)
    assert not torch.equal(first[0], first[1]) and not torch.equal(first[2], first[3])
    for values, low, high, mean, deviation in zip(
        first,
        (0, 0, -9, -9, -3, 0, 0),
        (1, 1, 9, 9, 3, 4, 4 / 3),
        (0.5, 0.5, 0, 0, 0, 2, 1),
        (0.29, 0.29, 1, 1, 2, 1.41, 0.58),
        strict=True,
    ):
        values = values.float()
        assert low <= values.min() and values.max() <= high + 0.01
        assert abs(values.mean() - mean) < 0.1 and abs(values.std() / deviation - 1) < 0.1
    assert (first[0] < 1).all() and (first[1] < 1).all()
    assert set(first[4].unique().tolist()) == set(range(-3, 4)) and set(first[5].unique().tolist()) == set(range(5))


def test_a_kernel_that_draws_does_not_run_in_a_compiled_jax_function():
    import jax

    from kopt.errors import ArgumentError

    with pytest.raises(ArgumentError, match="does not run inside jax.jit"):
        jax.jit(by_torch.on("pallas:interpret"))(jax.numpy.ones(SHAPE))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2**40 + 7, torch.tensor(2**45 + 3)], ids=["number", "tensor"])
@pytest.mark.parametrize("kernel, blocks", [(uniform, [16, 128]), (whole_rows, [16]), (looped, [16, 128])])
def test_strict(kernel, blocks, seed):
    wanted = floats(words(int(seed), numbered(*SHAPE))[0])
    same(run(kernel, "pallas:strict", blocks, torch.empty(SHAPE), seed), wanted)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "target"),
    [(seed, chip) for place, seed in enumerate((2**40 + 7, torch.tensor(2**45 + 3))) for chip in CHIPS[place::2]],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
@pytest.mark.parametrize(
    "kernel, blocks", [(uniform, [64, 128]), (whole_rows, [8]), (looped, [64, 128]), (fours, [64, 128])]
)
def test_compiles(kernel, blocks, seed, target):
    compiler = "libtpu" if target.startswith("pallas") else "triton"
    if importlib.util.find_spec(compiler) is None:
        pytest.skip(f"{compiler} is not installed")
    low = kopt.kernel(kernel, config={"block_sizes": blocks}).lower(torch.empty(300, 700), seed, target=target)
    report = low.report(estimates=False)
    assert report["legal"], report["reason"]
