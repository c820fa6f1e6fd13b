"""What the language means on the target ``eager``, and what is refused there."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.eager.functions import FUNCTIONS, REFUSED
from kopt.errors import ArgumentError, ConfigError, KoptError, UnsupportedError

X = torch.arange(77, dtype=torch.float32).reshape(7, 11)


def run(fn, *args, **config):
    return kopt.kernel(fn, config=config).on("eager")(*args)


# the names


HERE = ("cdiv", "multiple_of", "next_power_of_2")  # plain Python, on the host too


def test_stated_multiples_are_checked():
    def halves(x):
        for i in hl.tile(hl.multiple_of(x.size(0), 4)):
            x[i] = x[i] / 2
        return x

    assert run(halves, torch.ones(8)).tolist() == [0.5] * 8
    with pytest.raises(KoptError, match="9 is no multiple of 4"):
        run(halves, torch.ones(9))


@pytest.mark.parametrize("name", [n for n in hl.__all__ if not inspect.isclass(getattr(hl, n)) and n not in HERE])
def test_every_function_has_a_meaning_or_a_reason(name):
    function = FUNCTIONS[name]
    if name not in REFUSED:
        mine, theirs = (list(inspect.signature(f).parameters.values()) for f in (function, getattr(hl, name)))
        if not any(parameter.kind is parameter.VAR_POSITIONAL for parameter in mine):
            assert [p.name for p in mine][: len(theirs)] == [p.name for p in theirs]
        return

    def kernel(x):
        for i in hl.tile(x.size(0)):
            x[i] = getattr(hl, name)(x[i])

    with pytest.raises(UnsupportedError, match=f"no hl.{name}: {REFUSED[name]}") as caught:
        run(kernel, torch.zeros(3))
    assert caught.value.location is not None and caught.value.location.file == __file__


def test_no_function_is_left_over():
    assert set(FUNCTIONS) <= set(hl.__all__)


def test_functions_say_that_they_are_for_kernels():
    with pytest.raises(UnsupportedError, match="hl.zeros is called outside of a kernel"):
        hl.zeros([3])


# tiles


@pytest.mark.parametrize("size", [1, 3, 4, 7, 100])
def test_tiles_end_where_the_loop_does(size):
    seen = []

    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(1, x.size(0), block_size=size):
            seen.append((int(i.begin), int(i.end), int(i.id), int(i.count), int(i.block_size), tuple(x[i].shape)))
            out[i, :] = x[i, :]
        return out

    out = run(kernel, X)
    assert torch.equal(out[1:], X[1:]) and out[0].isnan().all()
    wanted = [(b, min(b + size, 7), n, -(-6 // size), size) for n, b in enumerate(range(1, 7, size))]
    assert [each[:5] for each in seen] == wanted
    assert all(each[5] == (each[1] - each[0], 11) for each in seen)


def open_tiles(x, sizes):
    for i, j in hl.tile(x.shape):
        for k in hl.tile(5):
            sizes.append((int(i.block_size), int(j.block_size), int(k.block_size)))
    for _ in hl.tile(3, block_size=2):
        for k in hl.tile(2):
            sizes.append((int(k.block_size),))


SIZES_AS_NUMBERS = [
    lambda v, i: v.new_tensor(i.block_size),
    lambda v, i: v.new_tensor([1, i.block_size])[1],
    lambda v, i: v.new_tensor(data=i.block_size * 1.0),
    lambda v, i: v.new_full((3,), i.block_size)[0],
    lambda v, i: v.new_full(size=(3,), fill_value=i.block_size)[0],
    lambda v, i: torch.full([i], i.block_size),
    lambda v, i: torch.full_like(v, i.block_size),
    lambda v, i: torch.tensor(i.block_size),
    lambda v, i: torch.scalar_tensor(i.block_size),
    lambda v, i: v * 0 + i.block_size,
    lambda v, i: v.clamp(i.block_size, i.block_size),
    lambda v, i: torch.where(v == v, i.block_size, 0),
    lambda v, i: v.masked_fill(v == v, i.block_size),
    lambda v, i: (v * 0).add(1, alpha=i.block_size),
    lambda v, i: i.index * 0 + i.block_size,
    lambda v, i: v.new_zeros((i.block_size,)) + i.block_size,
    lambda v, i: v.view(i.block_size) * 0 + i.block_size,
]


@pytest.mark.parametrize("target", ["eager", "reference"])
@pytest.mark.parametrize("made", SIZES_AS_NUMBERS)
def test_a_block_size_is_the_configured_one_but_as_the_size_of_a_dimension(made, target):
    @kopt.kernel
    def kernel(x):
        out = torch.empty(7)
        for i in hl.tile(7, block_size=4):
            out[i] = made(x[i, 0], i).float()
        return out

    assert kernel.on(target)(X).tolist() == [4.0] * 7


@pytest.mark.parametrize("target", ["eager", "reference"])
@pytest.mark.parametrize("made", [torch.Tensor.new_ones, torch.Tensor.new_zeros, lambda v, n: v.new_full(n, 1)])
def test_the_size_of_a_dimension_is_that_of_the_block_under_way(made, target):
    @kopt.kernel
    def kernel(x):
        out = torch.empty(7)
        for i in hl.tile(7, block_size=4):
            out[i] = x[i, 0] * 0 + made(x[i, 0], (i.block_size,)).numel()
        return out

    assert kernel.on(target)(X).tolist() == [4.0] * 4 + [3.0] * 3


def test_block_sizes_count_open_tiles_in_order():
    sizes: list[tuple[int, ...]] = []

    def kernel(x):
        open_tiles(x, sizes)

    run(kernel, X, block_sizes=[3, 4, 2, 1])
    assert set(sizes) == {(3, 4, 2), (1,)}
    with pytest.raises(ConfigError, match="block_sizes has 3 entries, but the kernel has more open tiles"):
        run(kernel, X, block_sizes=[3, 4, 2])


def test_sizes_that_nobody_names_do_not_divide():
    sizes: list[tuple[int, ...]] = []

    def kernel(x):
        open_tiles(x, sizes)

    run(kernel, torch.zeros(16, 24))
    assert all(16 % i and 24 % j for i, j, *_ in (each for each in sizes if len(each) == 3))


def test_blocks_whose_begin_names_a_row_share_it():
    def kernel(x, scales):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i] = x[i] * scales[i.begin // 4]
        return out

    x, scales = torch.ones(30), torch.arange(8.0)
    assert torch.equal(run(kernel, x, scales), scales.repeat_interleave(4)[:30])


def test_tiles_that_only_begin_have_one_element():
    def kernel(x, seen):
        for i in hl.tile(x.size(0)):
            seen[i.begin] = seen[i.begin] + x[i.begin]

    seen = torch.zeros(30)
    run(kernel, torch.ones(30), seen)
    assert torch.equal(seen, torch.ones(30))


def test_a_dimension_of_one_is_repeated():
    def kernel(x, one):
        out = torch.empty_like(x)
        for i, j in hl.tile(x.shape, block_size=[3, 4]):
            out[i, j] = x[i, j] * one[i, j]
        return out

    one = torch.arange(7.0)[:, None]
    assert torch.equal(run(kernel, X, one), X * one)


def test_dimensions_meet_by_their_loops():
    def kernel(x, b):
        out = torch.empty_like(x)
        for i, j in hl.tile(x.shape, block_size=[4, 4]):
            total = x[i, j] + b[i]
            out[i, j] = torch.where(b[i] > 3, total, (x[i, j].sum(1) * 0 + total.t()).t())
        return out

    b = torch.arange(7.0)
    assert torch.equal(run(kernel, X, b), X + b[:, None])


@pytest.mark.parametrize("target", ["eager", "reference", "pallas:interpret", "triton:interpret"])
def test_the_last_of_two_plain_dimensions_meets_the_last(target):
    """Also where both have as many lanes."""

    def kernel(x, w):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=4):
            out[i, :, :] = x[i, :, :] + w[i, :]
        return out

    x, w = torch.arange(72.0).reshape(8, 3, 3), torch.arange(24.0).reshape(8, 3) * 100
    assert torch.equal(kopt.kernel(kernel).on(target)(x, w), x + w[:, None, :])


def test_several_vectors_address_their_product():
    def kernel(x, rows, columns):
        out = x.new_empty(2, 3)
        for _ in hl.grid(1):
            out[:, :] = x[rows[:], columns[:]]
        return out

    rows, columns = torch.tensor([5, 1]), torch.tensor([0, 9, 2])
    assert torch.equal(run(kernel, X, rows, columns), X[rows][:, columns])


def test_jagged_lanes_that_items_lack_take_no_part():
    def kernel(x, lengths, marks):
        total, least = torch.zeros(3), torch.zeros(3)
        for b in hl.tile(3, block_size=2):
            acc, low = hl.zeros([b]), hl.full([b], 1000.0)
            for k in hl.jagged_tile(lengths[b], block_size=3):
                acc += x[b, k].sum(1)
                low = torch.minimum(low, x[b, k].amin(1))
                marks[b, k] = 1.0
            total[b], least[b] = acc, low
        return total, least

    lengths, marks = torch.tensor([4, 0, 11]), torch.zeros(3, 11)
    total, least = run(kernel, X[:3], lengths, marks)
    assert total.tolist() == [X[0, :4].sum(), 0, X[2].sum()]
    assert least.tolist() == [X[0, :4].min(), 1000, X[2].min()]
    assert marks.sum(1).tolist() == lengths.tolist()


# values and memory


def test_values_have_no_aliases():
    def kernel(x):
        out = torch.empty(2, *x.shape)
        for i in hl.tile(x.size(0), block_size=3):
            acc = x[i, :]
            old = acc
            acc += 1
            acc *= 2
            out[0, i, :], out[1, i, :] = old, acc
        return out

    x = X.clone()
    out = run(kernel, x)
    assert torch.equal(x, X) and torch.equal(out, torch.stack([X, (X + 1) * 2]))


def test_augmented_assignment_promotes():
    def kernel(x):
        out = torch.empty(7)
        for i in hl.tile(x.size(0), block_size=3):
            count = hl.zeros([i], dtype=torch.int32)
            count += 0.5
            out[i] = count
        return out

    assert run(kernel, X).tolist() == [0.5] * 7


def test_memory_is_changed_in_place():
    def kernel(x, count):
        for i in hl.tile(x.size(0), block_size=3):
            x[i, :] += 1
            hl.atomic_add(count, [0], x[i, :].sum())

    x, count = X.clone(), torch.zeros(1)
    assert run(kernel, x, count) is None
    assert torch.equal(x, X + 1) and count.item() == (X + 1).sum()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.bool])
def test_memory_that_nobody_writes_is_poison(dtype):
    def kernel(x):
        out = torch.empty(7, dtype=dtype)
        for i in hl.tile(3):
            out[i] = hl.zeros([i], dtype=dtype)
        return out

    out = run(kernel, X)
    poison = out[3:].isnan() if dtype.is_floating_point else out[3:] == out.new_tensor([0x5A5A5A5A]).to(dtype)
    assert poison.all() and not out[:3].any()


def test_updates_give_what_was_there():
    def kernel(out, rows, x):
        before = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=4):
            before[i] = hl.atomic_add(out, [rows[i]], x[i], sem="acq_rel")
        return before

    out, rows, x = torch.zeros(2, dtype=torch.int32), torch.tensor([0, 1, 0, 0, 1]), torch.arange(1, 6).int()
    assert run(kernel, out, rows, x).tolist() == [0, 0, 1, 4, 2]
    assert out.tolist() == [8, 7]


def test_random_bits_are_those_of_the_reference():
    @kopt.kernel(config={"block_sizes": [4, 8]})
    def kernel(x, seed):
        out, more = torch.empty_like(x), torch.empty_like(x, dtype=torch.int32)
        for i, j in hl.tile(x.shape):
            out[i, j] = hl.rand([i, j], seed)
            more[i, j] = hl.randint([i, j], -5, 100, 42)
        return out, more

    for seed in (0, 7, -3, 2**40 + 5):
        args = X, torch.tensor([seed])
        for mine, wanted in zip(kernel.on("eager")(*args), kernel.on("reference")(*args), strict=True):
            assert torch.equal(mine, wanted)


# the call


def test_numpy_and_jax():
    jnp = pytest.importorskip("jax.numpy")

    @kopt.kernel
    def kernel(x, count):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i, :] = x[i, :] * 2
            hl.atomic_add(count, [0], 1)
        return out

    count = np.zeros(1, np.int32)
    out = kernel.on("eager")(X.numpy(), count)
    assert isinstance(out, np.ndarray) and (out == 2 * X.numpy()).all() and count[0] > 0
    jax_count = jnp.zeros(1, jnp.int32)
    out, final = kernel.on("eager")(jnp.asarray(X.numpy()), jax_count)
    assert type(out).__module__.startswith("jax") and int(final[0]) == count[0] and int(jax_count[0]) == 0


def test_helpers_closures_and_kernels_are_run():
    scale = torch.tensor(3.0)

    @kopt.kernel(config={"block_sizes": [2]})
    def inner(x, out):
        for i in hl.tile(x.size(0)):
            assert i.block_size == 2
            out[i, :] = doubled(x, i) * scale

    def kernel(x):
        out = torch.empty_like(x)
        inner(x, out)
        return out

    assert torch.equal(run(kernel, X), X * 6)


def doubled(x, tile):
    return hl.load(x, [tile, slice(None)]) * hl.constexpr(2)


def test_a_name_of_the_environment(monkeypatch):
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0)):
            out[i, :] = x[i, :]
        return out

    monkeypatch.setenv("KOPT_TARGET", "eager")
    assert torch.equal(kopt.kernel(kernel)(X), X)


def test_kernels_of_helion():
    helion_language = pytest.importorskip("helion.language")
    from .helion_kernels import clamped, lengths, numbered

    assert "helion.language" in sys.modules and helion_language.tile is not hl.tile
    assert torch.equal(kopt.kernel(clamped).on("eager")(X, 20), X.clamp(max=20) + torch.arange(7.0)[:, None])
    torch.testing.assert_close(
        kopt.kernel(numbered).on("eager")(X), ((X @ X.T).sum(1, keepdim=True) + X.cumsum(1)) * torch.arange(X.size(1))
    )
    counts = torch.arange(X.size(0)) % X.size(1)
    wanted = torch.where(torch.arange(X.size(1)) < counts[:, None], X, 0).sum(1)
    torch.testing.assert_close(kopt.kernel(lengths).on("eager")(X, counts), wanted)
    with pytest.raises(sys.modules["helion._compiler.compile_environment"].NoCurrentEnvironment):
        helion_language.arange(3)


# what is refused


def _below(x):
    out = torch.empty(3)
    for i in hl.tile(x.size(0)):
        out[i] = x[i, 0]
    return out


def _negative(x):
    for i in hl.tile(x.size(0)):
        x[i.index - 1, 0] = 1.0


def _unequal(x):
    for i in hl.tile(x.size(0), block_size=7):
        x[i, :] = x[i, :] + x[i, :].t()


def _written(x):
    for i in hl.tile(x.size(0)):
        block = x[i, :]
        block[:, 0] = 1.0


def _added(x):
    for i in hl.tile(x.size(0)):
        block = x[i, :]
        block.add_(1)


def _selected(x):
    for i in hl.tile(x.size(0)):
        block = x[i, :]
        x[i, 0] = x[block > 1].sum()


def _outside(x):
    for i in hl.tile(x.size(0)):
        block = x[i, :]
    return block + 1


def _random(x):
    for i in hl.tile(x.size(0)):
        x[i, :] = torch.rand_like(x[i, :])


@pytest.mark.parametrize(
    ("fn", "line", "message"),
    [
        (_below, 3, "is outside the array"),
        (_negative, 2, "is outside the array"),
        (_unequal, 2, "must match the size"),
        (_written, 3, "a device value cannot be written in place"),
        (_added, 3, "'add_' writes a device value in place"),
        (_selected, 3, "how many elements a mask selects"),
        (_outside, 3, "a device value is used outside of device loops"),
        (_random, 2, "the target 'eager' has no 'rand_like'"),
    ],
)
def test_mistakes_are_shown_at_the_kernels_line(fn, line, message):
    with pytest.raises(KoptError, match=message) as caught:
        run(fn, X.clone())
    place = caught.value.location
    assert place is not None and place.file == __file__ and place.line == fn.__code__.co_firstlineno + line


@pytest.mark.parametrize("fn", [_below, _negative])
def test_elements_outside_of_arrays_are_access_errors(fn):
    with pytest.raises(kopt.AccessError, match="is outside the array"):
        run(fn, X.clone())


def test_what_the_kernel_raises_passes():
    def kernel(x):
        raise ValueError("mine")

    with pytest.raises(ValueError, match="^mine$"):
        run(kernel, X)


NOTHING = "the target 'eager' runs the kernel's Python; there is nothing to lower"


def _first_column(x):
    out = torch.empty(x.size(0))
    for i in hl.tile(x.size(0)):
        out[i] = x[i, 0]
    return out


def test_there_is_nothing_to_lower():
    kernel = kopt.kernel(_first_column)
    module = kernel.lower(X, target="reference").module
    for call in (lambda: kernel.lower(X, target="eager"), lambda: kopt.lower_module(module, target="eager")):
        with pytest.raises(ConfigError, match=NOTHING):
            call()
    with pytest.raises(ConfigError, match="programs have no target 'eager'"):
        kopt.program(_below).on("eager")(X)


def test_arguments_that_are_no_arrays():
    jax = pytest.importorskip("jax")
    kernel = kopt.kernel(_below).on("eager")
    with pytest.raises(ArgumentError, match="inside jax.jit"):
        jax.jit(kernel)(jax.numpy.asarray(X.numpy()))
    with pytest.raises(ConfigError, match="the kernel has no tunable 'width'"):
        run(lambda x: None, X, width=3)


def test_the_package_is_independent_of_the_ir():
    """Neither the frontend nor the IR is loaded by a run."""
    import subprocess

    text = (
        "import torch, kopt, sys, kopt.language as hl\n"
        "from examples.softmax import softmax\n"
        "softmax.on('eager')(torch.zeros(3, 4))\n"
        "parts = ('frontend', 'dialects', 'analysis', 'passes', 'interpreter', 'lowering')\n"
        "loaded = [n for n in sys.modules if n.startswith('kopt.') and n.split('.')[1] in parts]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _added_without_atomics(x):
    out = torch.zeros(x.size(1))
    for i in hl.tile(x.size(0), block_size=4):
        out[:] += x[i, :].sum(0)
    return out


def _shifted_in_place(x):
    for i in hl.tile(x.size(0) - 1, block_size=4):
        x[i, :] = x[i.index + 1, :]


def _same_value(x):
    out = torch.zeros(x.size(1))
    for _ in hl.tile(x.size(0), block_size=4):
        out[:] = 3.0
    return out


@pytest.mark.parametrize("target", ["eager", "reference", "pallas:interpret", "triton:interpret"])
@pytest.mark.parametrize("fn", [_added_without_atomics, _shifted_in_place])
def test_cells_run_in_no_order(fn, target):
    with pytest.raises(kopt.AccessError, match="another cell of the grid.*: cells run in no order"):
        kopt.kernel(fn).on(target)(X.clone())


def test_cells_may_store_the_same():
    assert kopt.kernel(_same_value).on("eager")(X).eq(3).all()
