"""Tensors whose extents stand for others."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.dialects.tile.extents import DimOp
from kopt.dtypes import BY_SPEC
from kopt.errors import UnsupportedError
from kopt.frontend import open_shapes
from kopt.frontend.hooks import binary
from kopt.frontend.open_shapes import OpenTensor, plain_tensor, seen_tensor, tracked
from kopt.open_extents import LEAST, NeedsConstant, OpenExtent
from kopt.specs import TensorSpec
from kopt.walk import walk

from .support import imported, seen_before


@pytest.mark.parametrize(
    ("shape", "known", "is_open"),
    [((LEAST, 4), True, True), ((4, LEAST + 9), True, True), ((4, 4), True, False), ((LEAST, 4), False, False)],
)
def test_large_tensors_are_open_beside_open_extents_only(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], known: bool, is_open: bool
) -> None:
    """An array of 600,000 rows is one of 600,000 rows in kernels that have no open extents."""
    monkeypatch.setattr(open_shapes, "current", lambda: SimpleNamespace(open_extents={1: None} if known else {}))
    plain = torch.empty(shape, device="meta")
    seen = tracked(plain)
    assert isinstance(seen, OpenTensor) is is_open and tracked(seen) is seen
    assert plain_tensor(seen) is plain and seen_tensor(plain) is seen


N, M = OpenExtent("x.0"), OpenExtent("y.0", 1)


@pytest.mark.parametrize(
    ("kind", "left", "right", "wanted"),
    [
        ("eq", N, N, True),
        ("ne", N, N, False),
        ("eq", (N, 4), (N, 4), True),
        ("eq", N, M, None),  # they may be as long as each other
        ("ne", N, M, None),
        ("eq", N, 128, None),
        ("ne", 128, N, None),
        ("eq", (N, 4), (M, 4), None),
        ("eq", 3, 4, False),
        ("lt", N, 128, None),
        ("lt", (3, N), (4, N), True),  # told by the first elements
    ],
)
def test_comparisons_of_open_extents(kind: str, left: object, right: object, wanted: bool | None) -> None:
    """Those of which nothing is known need the number."""
    if wanted is None:
        with pytest.raises(NeedsConstant):
            binary(kind, left, right)
    else:
        assert binary(kind, left, right) is wanted


def rows(extent: int, columns: int = 4, name: str = "f32") -> TensorSpec:
    return TensorSpec((extent, columns), BY_SPEC[name])


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (lambda x, y: x.shape, (N, 4)),
        (lambda x, y: x.size(), (N, 4)),
        (lambda x, y: (x.size(0), x.size(-1)), (N, 4)),
        (lambda x, y: (y.stride(), y.stride(0), y.stride(1)), ((4, 1), 4, 1)),
        (lambda x, y: (x.stride(), x.stride(0), x.stride(1)), ((4, 1), 4, 1)),
        (lambda x, y: x.t().shape, None),  # torch would compute with the number
        (lambda x, y: x.new_empty(4, 3).shape, (4, 3)),
        (lambda x, y: torch.empty_like(x).shape, (N, 4)),
        (lambda x, y: (y.numel(), y.nelement(), len(y)), (24, 24, 6)),
        (lambda x, y: x.numel(), None),
        (lambda x, y: x.nelement(), None),
        (lambda x, y: len(x), None),
        (lambda x, y: (kopt.multiple_of(6, 3), kopt.multiple_of(y.size(0), 2)), (6, 6)),
        (lambda x, y: kopt.multiple_of(0, 5), 0),
    ],
    ids=range(14),
)
def test_what_is_seen_of_an_array(asked: Callable[..., object], wanted: object) -> None:
    args = rows(OpenExtent("x.0")), rows(6)
    if wanted is None:
        with pytest.raises(UnsupportedError, match=r"x\.0"):
            seen_before(asked, *args)
    else:
        assert seen_before(asked, *args) == wanted


def test_strides_with_an_open_extent_in_them() -> None:
    """Of one that is behind the first: the stride before it is no number."""
    across = TensorSpec((4, OpenExtent("x.1")), BY_SPEC["f32"])
    assert seen_before(lambda x: x.stride(1), across) == 1
    for asked in (lambda x: x.stride(0), lambda x: x.stride()):
        with pytest.raises(NeedsConstant, match="the extent x.1,"):
            seen_before(asked, across)


@pytest.mark.parametrize(
    ("extent", "number", "said"),
    [
        (6, 4, "6 is no multiple of 4, as kopt.multiple_of states"),
        (6.0, 2, "6.0 is no multiple of 2"),
        (6, 0, "a multiple of a positive integer, found 0"),
        (6, -2, "found -2"),
        (6, 2.0, "found 2.0"),
        (6, True, "found True"),
    ],
)
def test_multiples_that_are_none(extent: object, number: object, said: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(said)):
        seen_before(lambda: kopt.multiple_of(extent, number))


def test_multiples_of_open_extents_add_up() -> None:
    def kernel(x):
        n = kopt.multiple_of(x.size(0), 4)
        assert kopt.multiple_of(n, 1) is n and kopt.multiple_of(n, 6) is n
        for tile in hl.tile(n, block_size=12):
            x[tile, :] = x[tile, :] + 1

    extent = OpenExtent("x.0")
    module = imported(kernel, rows(extent)).module
    (op,) = walk(module, DimOp)
    assert (extent.multiple, op.multiple.data, op.dim.data) == (12, 12, 0)


def test_one_extent_of_two_arrays_is_one_value() -> None:
    """The first array that has it gives it; another extent is another value, of the dimension that it is."""

    def kernel(x, y, z):
        for tile in hl.tile(x.size(0), block_size=4):
            y[tile, :] = x[tile, :] + z.size(1)

    args = rows(OpenExtent("x.0")), rows(OpenExtent("x.0")), TensorSpec((2, OpenExtent("z.1", 1)), BY_SPEC["f32"])
    module = imported(kernel, *args).module
    assert [(op.operands[0].name_hint, op.dim.data) for op in walk(module, DimOp)] == [("x", 0), ("z", 1)]


@pytest.mark.parametrize(
    ("fn", "args", "said"),
    [
        (
            lambda x, y: None,
            (rows(OpenExtent("x.0")), rows(LEAST)),
            f"an array of {LEAST} elements in a dimension is not compiled together with open extents",
        ),
        (lambda x: torch.empty([x.size(0), 1 << 20, 1 << 20]), (rows(OpenExtent("x.0")),), "the extent x.0,"),
        (lambda x: torch.empty([LEAST + 1]), (rows(OpenExtent("x.0")),), "the extent x.0,"),
        (lambda x: torch.full([2], x.size(0)), (rows(OpenExtent("x.0")),), "the extent x.0,"),
        (lambda x: x + 1, (rows(OpenExtent("x.0")),), "'add' of x.0, which differs from call to call, is not compiled"),
        (
            lambda x: torch.empty_strided((x.size(0), 4), (8, 1)),
            (rows(OpenExtent("x.0")),),
            "an array with an extent that differs from call to call has to be contiguous",
        ),
        (lambda x: torch.ones(3) + x.size(0), (rows(OpenExtent("x.0")),), "x.0"),
    ],
    ids=range(7),
)
def test_what_needs_an_open_extent(fn: Callable[..., object], args: tuple[TensorSpec, ...], said: str) -> None:
    with pytest.raises(UnsupportedError, match=re.escape(said)):
        seen_before(fn, *args)


def test_the_first_open_extent_may_stand_behind_large_arrays() -> None:
    """Arrays before it are not known to stand beside open extents."""
    assert seen_before(lambda x, y: (x.shape, y.shape), rows(4), rows(OpenExtent("y.0"))) == (
        (4, 4),
        (OpenExtent("y.0"), 4),
    )
