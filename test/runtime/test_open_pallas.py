"""Open extents on TPUs: one emitted module, which JAX traces for each shape, for all of them."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import pytest
import torch

import kopt
import kopt.language as hl
from kopt.errors import UnsupportedError
from test.runtime.test_open_arrays import F32, KERNELS, Counted, matmul, softmax

pytest.importorskip("jax")


INTERPRET, STRICT, CHIP = "pallas:interpret", "pallas:strict", "pallas:tpu7x"


def agrees(kernel: Any, name: str, extent: int) -> None:
    _, _, shapes, expected = KERNELS[name]
    random = torch.Generator().manual_seed(extent)
    args = [torch.randn(shape, generator=random) for shape in shapes(extent)]
    torch.testing.assert_close(kernel(*args), expected(*args), **F32)


@pytest.mark.parametrize("name", KERNELS)
def test_one_module_for_all_extents(name: str) -> None:
    """Extents that blocks divide, that they do not, and of several blocks."""
    fn, dynamic, _, _ = KERNELS[name]
    kernel = Counted(fn, target=INTERPRET, dynamic=dynamic)
    for extent in (128, 9, 150):
        agrees(kernel, name, extent)
    assert kernel.compiled == 1


@pytest.mark.parametrize("name", ["matmul", "sums", "batched"])
def test_blocks_of_the_chips_memory(name: str) -> None:
    """Windows, DMAs and updates: without races, and without values from beyond the end."""
    fn, dynamic, _, _ = KERNELS[name]
    kernel = Counted(fn, target=STRICT, dynamic=dynamic)
    for extent in (150, 9):
        agrees(kernel, name, extent)
    assert kernel.compiled == 1


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
@pytest.mark.parametrize("extent", [9, 257])
def test_it_compiles_for_a_tpu(extent: int) -> None:
    """One text: that of the first extent is what the others are compiled from."""
    specs = [f"bf16[{extent},{extent + 3}]", f"bf16[{extent + 3},64]"]
    config = {"block_sizes": [128, 64, 128]}
    low = kopt.kernel(matmul, target=CHIP, dynamic={"x": [0, 1], "y": [0]}, config=config).lower(*specs)
    other = kopt.kernel(matmul, target=CHIP, dynamic={"x": [0, 1], "y": [0]}, config=config)
    assert low.source == other.lower("bf16[40,80]", "bf16[80,64]").source
    assert low.report(estimates=False)["legal"]


def test_the_emitted_module_reads_extents() -> None:
    source = kopt.kernel(softmax, target=CHIP, dynamic={"x": 0}).lower("f32[33,50]").source
    assert "x_size_0 = x.shape[0]" in source and "grid=(pl.cdiv(x_size_0, 128),)" in source
    assert "jax.ShapeDtypeStruct((x_size_0, 50), jnp.float32)" in source and "(33" not in source


def halves(x):
    m = kopt.multiple_of(x.size(0), 64)
    out = torch.empty([x.size(1)], dtype=x.dtype, device=x.device)
    for columns in hl.tile(x.size(1), block_size=x.size(1)):
        acc = hl.zeros([columns], dtype=torch.float32)
        for rows in hl.tile(m, block_size=64):
            acc += x[rows, columns].sum(0)
        out[columns] = acc
    return out


def unstated(x):
    out = torch.empty([x.size(1)], dtype=x.dtype, device=x.device)
    for columns in hl.tile(x.size(1), block_size=x.size(1)):
        acc = hl.zeros([columns], dtype=torch.float32)
        for rows in hl.tile(x.size(0), block_size=64):
            acc += x[rows, columns].sum(0)
        out[columns] = acc
    return out


def test_a_stated_multiple_needs_no_masks() -> None:
    stated, any_ = (kopt.kernel(fn, target=INTERPRET, dynamic={"x": 0}) for fn in (halves, unstated))
    x = torch.randn(128, 32)
    torch.testing.assert_close(stated(x), x.sum(0), **F32)
    assert "jnp.where" not in stated.lower("f32[128,32]").source
    assert "jnp.where" in any_.lower("f32[128,32]").source


def test_fewer_rows_than_a_tile_are_compiled_by_themselves() -> None:
    kernel = Counted(softmax, target=INTERPRET, dynamic={"x": 0})
    for count, extent in ((1, 16), (2, 3), (2, 20), (3, 1)):
        x = torch.randn(extent, 10)
        torch.testing.assert_close(kernel(x), torch.softmax(x, 1), **F32)
        assert kernel.compiled == count


@pytest.mark.parametrize("name", KERNELS)
def test_dimensions_that_change_are_open_from_then_on(name: str) -> None:
    """The first call is compiled for its shapes, the second for all but those of fewer rows than a tile."""
    fn, _, _, _ = KERNELS[name]
    kernel = Counted(fn, target=INTERPRET)
    for count, extent in ((1, 33), (2, 16), (2, 40), (3, 7), (3, 150)):
        agrees(kernel, name, extent)
        assert kernel.compiled == count


def test_what_needs_an_extent_is_compiled_for_each() -> None:
    kernel = Counted(softmax, target=INTERPRET)
    for count, extent in ((1, 16), (3, 20), (4, 33)):  # rows are taken whole, which the second call finds out
        x = torch.randn(8, extent)
        torch.testing.assert_close(kernel(x), torch.softmax(x, 1), **F32)
        assert kernel.compiled == count


def columns_whole(x):
    out = torch.empty_like(x)
    for tile in hl.tile(x.size(0)):
        picked = hl.zeros([tile], dtype=torch.float32)
        for row in hl.tile(x.size(0), block_size=1):
            picked += x[row.begin]
        out[tile] = x[tile] + picked
    return out


def test_what_needs_a_constant_says_so_at_its_place() -> None:
    with pytest.raises(UnsupportedError, match=r"differs from call to call") as caught:
        kopt.kernel(columns_whole, target=INTERPRET, dynamic={"x": 0}).lower("f32[64]")
    place = caught.value.location
    assert place is not None and place.file == __file__ and place.line == columns_whole.__code__.co_firstlineno + 5
