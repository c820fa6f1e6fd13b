"""Dimensions that differ from call to call: one compiled kernel serves all of their extents."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import ArgumentError, UnsupportedError
from kopt.open_extents import MOST, NeedsConstant, OpenExtent

DOUBLE = """
func.func @double(%x: memref<?x64xf32>) -> memref<?x64xf32> {
  %m = tile.dim %x 0 multiple 16 : memref<?x64xf32>
  %out = host.alloc {tile.extents = ["x.size(0)"]} : memref<?x64xf32>
  tile.grid (%i: b0=32) in (%m) {
    %v = tile.load %x[%i, :] : memref<?x64xf32> -> !tile.tile<b0=32 x 64 x f32>
    %w = tile.add %v, %v : !tile.tile<b0=32 x 64 x f32>
    tile.store %w, %out[%i, :] : !tile.tile<b0=32 x 64 x f32>, memref<?x64xf32>
  }
  func.return %out : memref<?x64xf32>
}
"""
TRITON = "triton:interpret"
EXACT = {"rtol": 0, "atol": 0}
#: f32, one rounding of each of a few dozen terms.
F32 = {"rtol": 1e-5, "atol": 1e-5}


def add(x, y):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile] + y[tile]
    return out


def softmax(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = torch.softmax(x[tile, :], dim=1)
    return out


def matmul(x, y):
    m, k = x.size()
    _, n = y.size()
    out = torch.empty([m, n], dtype=x.dtype, device=x.device)
    for rows, columns in hl.tile([m, n]):
        acc = hl.zeros([rows, columns], dtype=torch.float32)
        for inner in hl.tile(k):
            acc = torch.addmm(acc, x[rows, inner], y[inner, columns])
        out[rows, columns] = acc
    return out


def column_means(x):
    m, n = x.size()
    out = torch.empty([n], dtype=x.dtype, device=x.device)
    for columns in hl.tile(n):
        acc = hl.zeros([columns], dtype=torch.float32)
        for rows in hl.tile(m):
            acc += x[rows, columns].sum(0)
        out[columns] = acc / m
    return out


def halves(x):
    m = kopt.multiple_of(x.size(0), 64)
    out = torch.empty_like(x)
    for tile in hl.tile(m, block_size=64):
        out[tile] = x[tile] / 2
    return out


def doubled(x):
    for tile in hl.tile(x.size(0)):
        x[tile] = x[tile] * 2


def rows_of(numbers, table):
    out = torch.empty([numbers.size(0), table.size(1)], dtype=table.dtype, device=table.device)
    for tile in hl.tile(numbers.size(0)):
        out[tile, :] = table[numbers[tile], :]
    return out


def attention(q, k, v):
    out = torch.empty_like(q)
    for rows in hl.tile(q.size(0)):
        most = hl.full([rows], float("-inf"), dtype=torch.float32)
        total = hl.zeros([rows], dtype=torch.float32)
        acc = hl.zeros([rows, q.size(1)], dtype=torch.float32)
        for columns in hl.tile(k.size(0)):
            scores = torch.mm(q[rows, :], k[columns, :].T)
            scores = torch.where((columns.index < k.size(0))[None, :], scores, float("-inf"))
            now = torch.maximum(most, scores.amax(-1))
            weights, before = torch.exp(scores - now[:, None]), torch.exp(most - now)
            total, acc = total * before + weights.sum(-1), acc * before[:, None] + torch.mm(weights, v[columns, :])
            most = now
        out[rows, :] = acc / total[:, None]
    return out


def running_sums(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        acc = hl.zeros([tile], dtype=torch.float32)
        for before in hl.tile(0, tile.end):
            earlier = before.index[None, :] <= tile.index[:, None]
            acc += torch.where(earlier, x[before][None, :], 0.0).sum(-1)
        out[tile] = acc
    return out


def batched(x):
    out = torch.zeros(x.shape, dtype=x.dtype, device=x.device)
    for a, b, c in hl.tile(x.shape):
        hl.atomic_add(out, [a, b, c], x[a, b, c] + x.new_ones([1])[0])
    return out


class Counted(kopt.Kernel):
    """A kernel that counts how often it is compiled."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__(*args, **kwargs)
        self.compiled = 0

    def _compile(self, values: Any, target: Any) -> Any:
        self.compiled += 1
        return super()._compile(values, target)


KERNELS = {
    "add": (add, {"x": 0, "y": 0}, lambda n: [(n,), (n,)], lambda x, y: x + y),
    "softmax": (softmax, {"x": [0]}, lambda n: [(n, 50)], lambda x: torch.softmax(x, 1)),
    "rows": (matmul, ("x.size(0)",), lambda n: [(n, 40), (40, 24)], lambda x, y: x @ y),
    "matmul": (matmul, {"x": [0, 1], "y": [0, 1]}, lambda n: [(n, n + 3), (n + 3, 2 * n + 1)], lambda x, y: x @ y),
    "attention": (
        attention,
        {"q": 0, "k": 0, "v": 0},
        lambda n: [(n, 16), (2 * n + 1, 16), (2 * n + 1, 16)],
        lambda q, k, v: torch.softmax(q @ k.T, -1) @ v,
    ),
    "sums": (running_sums, {"x": 0}, lambda n: [(n,)], lambda x: x.cumsum(0)),
    "batched": (batched, {"x": [0, 1, 2]}, lambda n: [(n % 3 + 1, n, n + 2)], lambda x: x + 1),
    "means": (column_means, ["x.shape[0]"], lambda n: [(n, 20)], lambda x: x.mean(0)),
}


@pytest.mark.parametrize("target", [TRITON, "reference"])
@pytest.mark.parametrize("name", KERNELS)
def test_one_kernel_for_all_extents(name: str, target: str) -> None:
    fn, dynamic, shapes, expected = KERNELS[name]
    kernel = Counted(fn, target=target, dynamic=dynamic)
    random = torch.Generator().manual_seed(0)
    for extent in (33, 1, 16, 7, 40):
        args = [torch.randn(shape, generator=random) for shape in shapes(extent)]
        torch.testing.assert_close(kernel(*args), expected(*args), **F32)
    assert kernel.compiled == 1


def test_the_emitted_module_reads_extents() -> None:
    source = kopt.kernel(softmax, target=TRITON, dynamic={"x": 0}).lower("f32[33,50]").source
    other = kopt.kernel(softmax, target=TRITON, dynamic={"x": 0}, config={"block_sizes": [4]})
    assert "x_size_0 = x.shape[0]" in source and "(33" not in source
    assert other.lower("f32[33,50]").source == other.lower("f32[1000,50]").source


def test_a_guard_leads_all_extents_to_the_kernel() -> None:
    kernel = Counted(add, target="reference", dynamic={"x": 0, "y": 0})
    for extent in (5, 9, 1, 12):
        kernel(torch.ones(extent), torch.ones(extent))
        assert len(kernel._guards) == 1
    with pytest.raises(UnsupportedError, match=r"y\.size\(0\)|x\.size\(0\)"):
        kernel(torch.ones(5), torch.ones(6))


def test_dimensions_that_change_are_open_from_then_on() -> None:
    kernel = Counted(softmax, target=TRITON)
    for count, extent in zip((1, 2, 2, 2), (8, 20, 1, 33), strict=True):
        x = torch.randn(extent, 10)
        torch.testing.assert_close(kernel(x), torch.softmax(x, 1), **F32)
        assert kernel.compiled == count


def test_what_needs_an_extent_is_compiled_for_each() -> None:
    """Rows are taken whole: the columns that change are tried once, and then known."""
    kernel = Counted(softmax, target=TRITON)
    tried = []
    for extent in (8, 20, 33):
        x = torch.randn(4, extent)
        torch.testing.assert_close(kernel(x), torch.softmax(x, 1), **F32)
        tried.append(kernel.compiled)
    assert tried == [1, 3, 4]


def test_nothing_is_open_where_nothing_is_to_be() -> None:
    kernel = Counted(add, target=TRITON, dynamic=())
    for extent in (5, 9):
        kernel(torch.ones(extent), torch.ones(extent))
    assert kernel.compiled == 2


def test_arguments_that_are_written() -> None:
    kernel = Counted(doubled, target=TRITON, dynamic={"x": 0})
    for extent in (70, 3, 128):
        x = torch.arange(float(extent))
        kernel(x)
        torch.testing.assert_close(x, torch.arange(float(extent)) * 2, **EXACT)
    assert kernel.compiled == 1


def test_empty_and_strided_arrays_are_compiled_by_themselves() -> None:
    kernel = Counted(add, target=TRITON, dynamic={"x": 0, "y": 0})
    assert kernel(torch.ones(0), torch.ones(0)).shape == (0,)
    x = torch.arange(20.0)[::2]
    torch.testing.assert_close(kernel(x, x), 2 * x, **EXACT)


@pytest.mark.parametrize("target", [TRITON, "reference"])
def test_places_are_checked_by_interpreters(target: str) -> None:
    kernel = Counted(rows_of, target=target, dynamic={"numbers": 0})
    table = torch.randn(10, 7)
    for numbers in (torch.tensor([1, 9, 3]), torch.tensor([0])):
        torch.testing.assert_close(kernel(numbers, table), table[numbers], **EXACT)
    with pytest.raises(kopt.AccessError, match="gathers from 1 to 10"):
        kernel(torch.tensor([1, 10]), table)
    assert kernel.compiled == 1


@pytest.mark.parametrize("target", [TRITON, "reference", "pallas:interpret"])
def test_rows_of_an_open_dimension(target: str) -> None:
    """Numbers that were loaded are the caller's word, and looked at by interpreters."""
    kernel = Counted(rows_of, target=target, dynamic={"numbers": 0, "table": 0})
    for rows, count in ((10, 20), (17, 9)):
        table, numbers = torch.randn(rows, 8), torch.randint(0, rows, (count,))
        torch.testing.assert_close(kernel(numbers, table), table[numbers], **EXACT)
    with pytest.raises(kopt.AccessError, match="gathers from"):
        kernel(torch.full((9,), 17), torch.randn(17, 8))
    assert kernel.compiled == 1


def test_it_compiles_for_a_gpu() -> None:
    low = kopt.kernel(matmul, dynamic={"x": [0, 1], "y": [0]}, target="triton:sm90").lower("f32[64,48]", "f32[48,32]")
    assert low.report(estimates=False)["legal"] and '@triton.jit(do_not_specialize=["x_size_0"])' in low.source


def test_they_pickle() -> None:
    low = kopt.kernel(matmul, target=TRITON, dynamic=KERNELS["matmul"][1]).lower("f32[8,9]", "f32[9,7]")
    again = pickle.loads(pickle.dumps(low))
    x, y = torch.randn(5, 20), torch.randn(20, 3)
    torch.testing.assert_close(again.compile()(x, y), x @ y, **F32)
    with pytest.raises(ArgumentError, match=r"y\.size\(0\) is 8 and x\.size\(1\) is 20"):
        again.compile()(x, y[:8].clone())
    assert again.source == low.source and again.ir == low.ir


def test_they_are_kept_on_disk(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process finds them by the dimensions that are open, whatever the call's extents are."""
    monkeypatch.setenv("KOPT_CACHE_DIR", str(tmp_path))
    for compiled, dynamic in ((1, {"x": 0, "y": 0}), (0, {"x": 0, "y": 0}), (1, ())):
        kernel = kopt.kernel(add, target=TRITON, dynamic=dynamic)
        monkeypatch.setattr(kernel, "_lower", counted_calls := Calls(kernel._lower))
        for extent in (9, 4)[: 2 if dynamic else 1]:
            x = torch.ones(extent)
            torch.testing.assert_close(kernel(x, x.clone()), 2 * x, **EXACT)
        assert counted_calls.number == compiled


class Calls:
    """A function, and how often it was called."""

    def __init__(self, function: Any):
        self.function, self.number = function, 0

    def __call__(self, *args: Any) -> Any:
        self.number += 1
        return self.function(*args)


@pytest.mark.parametrize("target", [TRITON, "pallas:interpret", "reference"])
def test_text_is_lowered(target: str) -> None:
    exe = kopt.lower_module(kopt.parse(DOUBLE), target=target).compile()
    for extent in (48, 16):
        x = torch.randn(extent, 64)
        torch.testing.assert_close(exe(x), 2 * x, **EXACT)
    with pytest.raises(ArgumentError, match="no multiple of 16"):
        exe(torch.ones(40, 64))


@pytest.mark.parametrize("target", [TRITON, "pallas:interpret"])
def test_text_that_does_not_say_which_extents(target: str) -> None:
    text = DOUBLE.replace('{tile.extents = ["x.size(0)"]} ', "")
    with pytest.raises(UnsupportedError, match="which extents the results of 'host.alloc' have") as caught:
        kopt.lower_module(kopt.parse(text), target=target)
    assert caught.value.location is not None and caught.value.location.line == 4


def test_text_whose_blocks_may_lie_beyond() -> None:
    text = DOUBLE.replace('["x.size(0)"]', '["other"]')
    with pytest.raises(UnsupportedError, match="whether this block stays inside of its array") as caught:
        kopt.lower_module(kopt.parse(text), target="pallas:interpret")
    assert caught.value.location is not None and caught.value.location.line == 8


def test_arrays_of_jax() -> None:
    jnp = pytest.importorskip("jax.numpy")
    kernel = Counted(add, target=TRITON, dynamic={"x": 0, "y": 0})
    for extent in (5, 9):
        x = jnp.arange(float(extent))
        np.testing.assert_array_equal(kernel(x, x), 2 * np.arange(float(extent)))
    assert kernel.compiled == 1


def test_a_stated_multiple_needs_no_masks() -> None:
    stated, any_ = (kopt.kernel(fn, target=TRITON, dynamic={"x": 0}).lower("f32[128]") for fn in (halves, plain_halves))
    assert "mask" not in stated.source and "mask" in any_.source


def plain_halves(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0), block_size=64):
        out[tile] = x[tile] / 2
    return out


@pytest.mark.parametrize("dynamic", [{"x": 0}, ()])
def test_a_multiple_that_is_none_is_refused(dynamic: Any) -> None:
    kernel = kopt.kernel(halves, target=TRITON, dynamic=dynamic)
    torch.testing.assert_close(kernel(torch.ones(128)), torch.ones(128) / 2, **EXACT)
    with pytest.raises((ArgumentError, UnsupportedError), match="no multiple of 64"):
        kernel(torch.ones(100))


def halves_beside(x, y):
    """Of any length, and of a multiple of 64."""
    first, second = torch.empty_like(x), halves(y)
    for tile in hl.tile(x.size(0)):
        first[tile] = x[tile] / 2
    return first, second


def test_one_tensor_by_two_names_is_what_each_asks_for() -> None:
    """The guard of a call with one tensor twice compares it as each of both."""
    kernel = kopt.kernel(halves_beside, target=TRITON, dynamic={"x": 0, "y": 0})
    for extent in (128, 128, 256):
        x = torch.ones(extent)
        for found in kernel(x, x):
            torch.testing.assert_close(found, x / 2, **EXACT)
    short = torch.ones(100)
    with pytest.raises((ArgumentError, UnsupportedError), match="no multiple of 64"):
        kernel(short, short)
    for found, x in zip(kernel(short, torch.ones(128)), (short, torch.ones(128)), strict=True):
        torch.testing.assert_close(found, x / 2, **EXACT)


def whole(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile, :] = x[tile, :] + 1
    return out


def read(x):
    return torch.zeros_like(x) if x.size(0) > 4 else torch.ones_like(x)


def counted(x):
    out = torch.empty_like(x)
    for _ in range(x.size(0)):
        out = torch.zeros_like(x)
    return out


def viewed(x):
    return x.view(-1)


def numbered(x):
    return torch.arange(x.size(0))


def filled(x):
    return torch.full([4], x.size(0))


def shifted(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        out[tile] = x[tile + 1]
    return out


def specialised(x):
    return torch.empty([hl.specialize(x.size(0))])


def compared(x, y):
    return torch.zeros_like(x) if x.shape == y.shape else torch.ones_like(x)


REFUSED = {
    "whole": (whole, {"x": 1}, ["f32[8,8]"], r"inside of a dimension of x\.size\(1\) is not known", 5),
    "read": (read, {"x": 0}, ["f32[8]"], r"x\.size\(0\), which differs from call to call, has to be a number", 1),
    "counted": (counted, {"x": 0}, ["f32[8]"], "has to be a number", 2),
    "viewed": (viewed, {"x": 0}, ["f32[8,8]"], r"'view' of x\.size\(0\)", 1),
    "numbered": (numbered, {"x": 0}, ["f32[8]"], r"'arange' of x\.size\(0\)", 1),
    "filled": (filled, {"x": 0}, ["f32[8]"], "has to be a number", 1),
    "shifted": (shifted, {"x": 0}, ["f32[8]"], "not known", 3),
    "one of two": (add, {"x": 0}, ["f32[8]", "f32[8]"], "inside of a dimension of 8 is not known", 3),
    "specialised": (specialised, {"x": 0}, ["f32[8]"], "has to be a number", 1),
    "compared": (compared, {"x": 0}, ["f32[8]", "f32[8]"], "has to be a number", 1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_needs_a_constant_says_so_at_its_place(name: str) -> None:
    fn, dynamic, specs, message, line = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message) as caught:
        kopt.kernel(fn, target=TRITON, dynamic=dynamic).lower(*specs)
    place = caught.value.location
    assert place is not None and place.file == __file__
    assert place.line == fn.__code__.co_firstlineno + line - (name == "whole") * 2


@pytest.mark.parametrize(
    ("dynamic", "message"),
    [
        ({"z": 0}, "'z', and the kernel has no such parameter"),
        ({"x": -1}, "dimensions of 'x' as numbers from 0"),
        ({"x": "0"}, "dimensions of 'x' as numbers from 0"),
        (["x.size(3)"], r"dynamic names 'x\.size\(3\)', and 'x' is f32\[8\]"),
    ],
)
def test_names_that_are_none(dynamic: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        kopt.kernel(halves, target=TRITON, dynamic=dynamic).lower("f32[8]")


def test_direct_calls_are_checked() -> None:
    exe = kopt.kernel(add, target="reference", dynamic={"x": 0, "y": 0}).lower("f32[8]", "f32[8]").compile()
    torch.testing.assert_close(exe(torch.ones(3), torch.ones(3)), torch.full((3,), 2.0), **EXACT)
    with pytest.raises(ArgumentError, match=r"y\.size\(0\) is 4 and x\.size\(0\) is 3: they have to be the same"):
        exe(torch.ones(3), torch.ones(4))
    stated = kopt.kernel(halves, target="reference", dynamic={"x": 0}).lower("f32[64]").compile()
    with pytest.raises(ArgumentError, match=r"x\.size\(0\) is 65, and no multiple of 64"):
        stated(torch.ones(65))


OPERATIONS = ["<", "<=", "+", "-", "*", "//", "/", "%", "**", "&", "|", "^", "<<", ">>"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("form", ["n {} 2", "2 {} n"])
def test_no_decision_can_rest_on_an_open_extent(operation: str, form: str) -> None:
    with pytest.raises(NeedsConstant, match=r"the extent x\.size\(0\)"):
        eval(form.format(operation), {"n": OpenExtent("x.size(0)")})


@pytest.mark.parametrize("convert", [int, float, bool, complex, abs, round, divmod, max])
def test_no_number_comes_of_an_open_extent(convert: Any) -> None:
    operands = (2,) if convert in (divmod, max) else ()
    with pytest.raises(NeedsConstant):
        convert(OpenExtent("x.size(0)"), *operands)


def test_open_extents_are_equal_by_name() -> None:
    one, again, other = OpenExtent("x.size(0)", 0), OpenExtent("x.size(0)", 1), OpenExtent("y.size(0)", 0)
    assert one == again and hash(one) == hash(again) and one != other and one != int.__int__(one) and one != 8
    assert pickle.loads(pickle.dumps(one)) == one and MOST < 1 << 31
