"""Device values as a kernel's Python sees them: attributes, names in messages, how they index and are indexed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch

import kopt.language as hl
from kopt.dialects import tile
from kopt.dialects.tile.extents import DimOp
from kopt.dtypes import BY_SPEC
from kopt.errors import ArgumentError, KoptError, UnsupportedError
from kopt.frontend import import_kernel
from kopt.frontend.hooks import all_of, any_of, chain
from kopt.frontend.host_state import _alike, _is_filled, _names_of, _same
from kopt.frontend.values import DeviceTensor, Index, TileRange, as_tensor, counted, describe, index_ssa
from kopt.open_extents import OpenExtent
from kopt.specs import TensorSpec
from kopt.walk import walk

from .support import check, imported, reference, seen

X = torch.randn(8, 16)
NUMBER = torch.tensor(3)


class Point:
    """An object of the author's."""

    def __init__(self, left: Any) -> None:
        self.left = left

    def moved(self, by: int) -> int:
        return self.left + by


@pytest.mark.parametrize(
    ("of", "wanted"),
    [
        (lambda x, v, t: (v.ndim, v.rank, v.dtype, str(v.device)), (2, 2, torch.float32, "meta")),
        (lambda x, v, t: (t.begin.ndim, t.begin.shape, t.begin.dtype), (0, (), torch.int64)),
        (lambda x, v, t: (t.ndim, t.shape, t.dtype), (1, (4,), torch.int32)),
        (lambda x, v, t: repr(v), "DeviceTensor(!tile.tile<b0=4 x 16 x f32>)"),
        (lambda x, v, t: (repr(t), repr(t.begin), str(t.id)), ("TileRange(b0)", "Index(device)", "Index(device)")),
        (lambda x, v, t: (repr(t.begin.float()), repr(t.float())),
         ("DeviceTensor(!tile.tile<f32>)", "DeviceTensor(!tile.tile<b0=4 x f32>)")),
        (lambda x, v, t: (t.begin.device.type, t.rank), ("meta", 1)),
        (lambda x, v, t: len({v, v, t, t.begin}), 3),
        (lambda x, v, t: (v.shape + (1,), v.shape[1:], v.shape.numel()), ((4, 16, 1), (16,), 64)),
        (lambda x, v, t: type(v.shape + (1,)).__name__ + type(v.shape[:1]).__name__, "ShapeShape"),
        (lambda x, v, t: (hl.constexpr(3), hl.constexpr(v) is v), (3, True)),
        (lambda x, v, t: (hl.tile(16, block_size=t).walks[0].size, hl.grid(16, step=2).walks[0].size), (4, 2)),
        (lambda x, v, t: (hl.grid(3, 16).walks[0].size, hl.grid(3, 16).walks[0].extent), (1, 13)),
        (lambda x, v, t: [each.shape for each in hl.split(v.reshape(4, 8, 2))], [(4, 8), (4, 8)]),
        (lambda x, v, t: hl.join(v, 1.0).shape, (4, 16, 2)),
        (lambda x, v, t: (hl.join(t.begin, 1).shape, hl.join(v[:, 0], v).shape), ((2,), (4, 16, 2))),
        (lambda x, v, t: (hl.tile_index(t).shape, hl.tile_block_size(t)), ((4,), 4)),
        (lambda x, v, t: (0 and v, () or 5, 3 and 4, 3 or v), (0, 5, 4, 3)),
        (lambda x, v, t: (2 < 3 < 1, 2 < 3 < 4, 3 < 2 < v), (False, True, False)),
        (lambda x, v, t: (1 if () else 2, 1 if 3 else v), (2, 1)),
        (lambda x, v, t: (not 3, not ()), (False, True)),
        (lambda x, v, t: x.new_zeros(4, 2).shape, (4, 2)),
        (lambda x, v, t: (x.new_zeros((t, 2)).dtype, x.new_full([3], 2, dtype=torch.int32).dtype),
         (torch.float32, torch.int32)),
        (lambda x, v, t: (x.cuda() is x, x.cpu() is x, x.to("cuda") is x), (True, True, True)),
        (lambda x, v, t: (x[0, 0].add(v).shape, x[0, 0].mul(t.begin).shape), ((4, 16), ())),
        (lambda x, v, t: partial(Point(3).moved, 4)(), 7),
        (lambda x, v, t: Point(3).moved(by=4), 7),
        (lambda x, v, t: Point(v).left is v, True),
        (lambda x, v, t: torch.cuda.get_device_properties("cuda").multi_processor_count, 8),
    ],
    ids=range(29),
)  # fmt: skip
def test_what_is_seen(of: Callable[..., object], wanted: object) -> None:
    assert seen(of, X) == wanted


@pytest.mark.parametrize(
    ("of", "text"),
    [
        (lambda x, v, t: v, "a device tensor [b0=4 x 16] of torch.float32"),
        (lambda x, v, t: v.sum().int(), "a device tensor [] of torch.int32"),
        (lambda x, v, t: t, "a tile"),
        (lambda x, v, t: t.begin, "a device number"),
        (lambda x, v, t: x, "a host tensor [8, 16] of torch.float32"),
        (lambda x, v, t: v.size(0), "the size of a block of 4 lanes"),
        (lambda x, v, t: 3, "int 3"),
        (lambda x, v, t: True, "bool True"),
        (lambda x, v, t: 2.5, "float 2.5"),
        (lambda x, v, t: "abc", "str 'abc'"),
        (lambda x, v, t: [1], "list"),
        (lambda x, v, t: None, "NoneType"),
    ],
    ids=range(12),
)
def test_what_values_are_called(of: Callable[..., object], text: str) -> None:
    assert seen(lambda x, v, t: describe(of(x, v, t)), X) == text


@pytest.mark.parametrize(
    ("of", "op", "text"),
    [
        (lambda x, v, t, n: 5, "arith.constant", "index"),
        (lambda x, v, t, n: t.begin, "tile.begin", "index"),
        (lambda x, v, t, n: n, "tile.extract", "index"),
        (lambda x, v, t, n: x[0, 0].int(), "tile.extract", "index"),
        (lambda x, v, t, n: v[:1, 0].int().reshape(1, 1), "tile.extract", "index"),
        (lambda x, v, t, n: as_tensor(t.begin), "tile.begin", "index"),  # what it is a tensor of
        (lambda x, v, t, n: as_tensor(t.begin) + 1, "tile.extract", "index"),
        (lambda x, v, t, n: v[0, 0] > 0, "tile.extract", "index"),
    ],
    ids=range(8),
)
def test_numbers_that_index(of: Callable[..., object], op: str, text: str) -> None:
    found = seen(lambda x, v, t, n: index_ssa(of(x, v, t, n)), X, NUMBER)
    assert (found.owner.name, str(found.type)) == (op, text)


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (lambda x, v, t: v[0, 0], "expected an integer, found a device tensor [] of torch.float32"),
        (lambda x, v, t: v.int(), "expected an integer, found a device tensor [b0=4 x 16] of torch.int32"),
        (lambda x, v, t: t, "expected an integer, found a tile"),
        (lambda x, v, t: "a", "expected an integer, found str"),
        (lambda x, v, t: x, "a host tensor of shape [8, 16] is used as a device value"),
    ],
    ids=range(5),
)
def test_what_is_no_number(of: Callable[..., object], said: str) -> None:
    with pytest.raises(UnsupportedError) as caught:
        seen(lambda x, v, t: index_ssa(of(x, v, t)), X)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("of", "kind", "shown"),
    [
        (lambda x, v, t, n: v, DeviceTensor, "!tile.tile<b0=4 x 16 x f32>"),
        (lambda x, v, t, n: t, DeviceTensor, "!tile.tile<b0=4 x i32>"),
        (lambda x, v, t, n: t.begin, DeviceTensor, "!tile.tile<i32>"),
        (lambda x, v, t, n: True, DeviceTensor, "!tile.tile<i1>"),
        (lambda x, v, t, n: 3, DeviceTensor, "!tile.tile<i32>"),
        (lambda x, v, t, n: 3.5, DeviceTensor, "!tile.tile<f32>"),
        (lambda x, v, t, n: n, DeviceTensor, "!tile.tile<i64>"),
        (lambda x, v, t, n: v.size(0), DeviceTensor, "!tile.tile<i32>"),
    ],
    ids=range(8),
)
def test_values_as_tensors(of: Callable[..., object], kind: type, shown: str) -> None:
    found = seen(lambda x, v, t, n: as_tensor(of(x, v, t, n)), X, NUMBER)
    assert type(found) is kind and str(found.tile_type) == shown


def test_sizes_in_arithmetic() -> None:
    """Of a loaded block the number of valid lanes; of the tile the block's size; other numbers as they are."""

    found = seen(
        lambda x, v, t: (counted(v.size(0)), counted(t.block_size), counted(3), counted(t)), torch.zeros(10, 16)
    )
    assert isinstance(found[0], Index) and found[0].ssa.owner.name == "tile.valid_count"
    assert isinstance(found[1], Index) and found[1].ssa.owner.name == "tile.block_size"
    assert found[2] == 3 and isinstance(found[3], TileRange)


def with_extent(x):
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=4):
        hl.store(out, [i, 0], x[i, 0] / x.size(0), extra_mask=i.index < x.size(0))
    return out


def test_open_extents_in_arithmetic() -> None:
    """They are the array's extent, as a number of the device's."""
    module = imported(with_extent, TensorSpec((OpenExtent("x.0"), 16), BY_SPEC["f32"])).module
    (dim,) = walk(module, DimOp)
    splats = [op for op in walk(module, tile.SplatOp) if op.operands[0] is dim.result]
    assert {str(op.results[0].type) for op in splats} == {"!tile.tile<i32>"}


def test_more_names_of_one_value() -> None:
    def kernel(x):
        out = torch.empty_like(x)
        for i in hl.tile(8, block_size=4):
            a = b = x[i, :]
            c = out[i, :] = a + b
            (d, out[i, 0]), e = (c, 1.0), 2.0
            out[i, 1] = d[:, 1] * e
            f: torch.Tensor
            f: torch.Tensor = d[:, 2]
            out[i, 2] = f
        return out

    wanted = X * 2
    wanted[:, 0], wanted[:, 1] = 1.0, X[:, 1] * 4
    check(kernel, [X], wanted)


def test_values_of_stores_by_masks_of_several_dimensions() -> None:
    """One value of each place before and behind the mask's dimensions."""
    y, few, mask = torch.randn(3, 4, 2), torch.randn(3), torch.rand(4, 2) > 0.5

    def kernel(y, few, mask):
        for _ in hl.grid(1):
            y[:, mask] = few[:, None]
        return y

    wanted = y.clone()
    wanted[:, mask] = few[:, None]
    torch.testing.assert_close(reference(kernel, y.clone(), few, mask), wanted)


def chained(x, few):
    out = torch.empty_like(x)
    for i in hl.grid(8):
        within = 0 < few[i] < 2
        both = few[i] > 0 and x[i, 0] > 0
        either = few[i] > 1 or x[i, 0] > 0
        out[i, 0] = torch.where(within, 1.0, 0.0)
        out[i, 1] = torch.where(both, 1.0, 0.0)
        out[i, 2] = torch.where(either, 1.0, 0.0)
        out[i, 3] = torch.where(not either, 1.0, 0.0)
        out[i, 4:] = x[i, 4:]
    return out


def test_chains_of_device_conditions() -> None:
    few, wanted = torch.arange(8) % 3, X.clone()
    wanted[:, 0] = (0 < few) & (few < 2)
    wanted[:, 1] = (few > 0) & (X[:, 0] > 0)
    wanted[:, 2] = (few > 1) | (X[:, 0] > 0)
    wanted[:, 3] = ~((few > 1) | (X[:, 0] > 0))
    torch.testing.assert_close(reference(chained, X, few), wanted)


@pytest.mark.parametrize(
    ("found", "asked", "wanted"),
    [
        (lambda ask: all_of(0, ask(1)), 0, 0),
        (lambda ask: all_of(2, ask(0), ask(1)), 1, 0),
        (lambda ask: all_of(2, ask(3), ask(4)), 2, 4),
        (lambda ask: all_of(5), 0, 5),
        (lambda ask: any_of(2, ask(1)), 0, 2),
        (lambda ask: any_of(0, ask(3), ask(1)), 1, 3),
        (lambda ask: any_of(0, ask(()), ask([])), 2, []),
        (lambda ask: chain(("lt", "gt"), 1, ask(3), ask(2)), 2, True),
        (lambda ask: chain(("lt", "gt"), 3, ask(1), ask(0)), 1, False),
        (lambda ask: chain(("le", "lt", "ne"), 1, ask(1), ask(2), ask(2)), 3, False),
    ],
    ids=range(10),
)
def test_how_much_python_evaluates(found: Callable[[Any], object], asked: int, wanted: object) -> None:
    evaluated: list[object] = []

    def ask(value: object) -> Callable[[], object]:
        return lambda: evaluated.append(value) or value

    assert found(ask) == wanted and len(evaluated) == asked


def changes_whole(x):
    for i in hl.tile(8, block_size=4):
        x += 1
        x[i, 0] = 0


def tile_outside(x):
    for i in hl.tile(8, block_size=4):
        x[i, 0] = 0
    return x[i]


def stores_outside(x):
    for i in hl.tile(8, block_size=4):
        x[i, 0] = 0
    x[i] = 1


def stores_a_value_outside(x):
    for i in hl.tile(1, block_size=1):
        x[i, 0] = 0
    x[0, 0] = i


def range_outside(x):
    return list(hl.tile(8))


def unknown_bound(x):
    for i in hl.tile("8"):
        x[i, 0] = 0


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (changes_whole, "a host tensor cannot be changed whole in a device loop"),
        (tile_outside, "tiles index tensors inside device loops only"),
        (stores_outside, "device values are stored inside device loops only"),
        (stores_a_value_outside, "device values are stored inside device loops only"),
        (range_outside, "hl.tile and hl.grid are run by a for statement"),
        (unknown_bound, "the outermost loop needs bounds that are known on the host"),
    ],
)
def test_refused_statements(kernel: Callable[..., object], said: str) -> None:
    with pytest.raises(KoptError) as caught:
        import_kernel(kernel, (X,), {})
    assert said in str(caught.value) and f"{__file__}:" in str(caught.value)


def test_bounds_that_host_tensors_hold() -> None:
    def kernel(x, bounds):
        out = torch.zeros_like(x)
        for i in hl.tile(bounds[0], bounds[1], block_size=2):
            out[i, :] = x[i, :]
        return out

    bounds = torch.tensor([1, 6])
    wanted = torch.zeros_like(X)
    wanted[1:6] = X[1:6]
    torch.testing.assert_close(reference(kernel, X, bounds), wanted)


@pytest.mark.parametrize("value", [3, None, "kernel", int])
def test_what_is_no_kernel(value: object) -> None:
    with pytest.raises(ArgumentError, match=f"a kernel is made of a Python function, found {type(value).__name__}"):
        import_kernel(value, (), {})


def test_arguments_that_share_elements() -> None:
    def kernel(first, second):
        for i in hl.tile(4, block_size=4):
            first[i, 0] = second[i, 0]

    def reads(first, second):
        out = torch.empty_like(first)
        for i in hl.tile(4, block_size=4):
            out[i, :] = first[i, :] + second[i, :]
        return out

    x = torch.randn(8, 4)
    with pytest.raises(ArgumentError) as caught:
        import_kernel(kernel, (x[:5], x[3:]), {})
    said = "arguments 'first' and 'second' share memory, and kernel writes 'first'"
    assert said in str(caught.value) and "[shared-memory]" in str(caught.value)
    import_kernel(kernel, (x[:4], x[4:]), {})
    import_kernel(kernel, (x, x), {})
    import_kernel(reads, (x[:5], x[3:]), {})


def unfilled() -> Any:
    """A cell of a closure that has no value."""

    def inner() -> Any:
        return later  # pyright: ignore

    if unfilled is None:
        later = 3
    return inner.__closure__[0]  # pyright: ignore


def test_what_functions_find() -> None:
    """A method its object; a function what its closure holds, where it holds something."""
    held = 5

    def closed() -> int:
        return held

    point = Point(3)
    assert _names_of(point.moved) == {"self": point, "moved": Point.moved}
    assert _names_of(closed) == {"held": 5}
    assert not _is_filled(unfilled()) and _is_filled(closed.__closure__[0])  # pyright: ignore


@pytest.mark.parametrize(
    ("value", "before", "alike"),
    [
        ([1, 2], [1, 2], True),
        ([1, 2], [1, 3], False),
        ([1, 2], [1, 2, 3], False),
        ([1], [True], False),
        (["a"], ["a"], True),
        ([[]], [[]], False),  # another list
        ({"a": 1}, {"a": 1}, True),
        ({"a": 1}, {"b": 1}, False),
        ({"a": 1}, {"a": 2}, False),
        ({1, 2}, {2, 1}, True),
        ({1, 2}, {1, 3}, False),
        (bytearray(b"ab"), bytearray(b"ab"), True),
        (bytearray(b"ab"), bytearray(b"ac"), False),
    ],
)
def test_containers_that_are_as_before(value: Any, before: Any, alike: bool) -> None:
    assert _alike(value, before, _same) is alike
