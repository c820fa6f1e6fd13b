"""Block sizes that ``choose-block-sizes`` chooses are those of a configuration: the same code comes of both."""

from __future__ import annotations

from importlib.util import find_spec

import pytest
import torch

import kopt
import kopt.language as hl
from examples.registry import DTYPES, EXAMPLES, Example
from kopt.known_figures import SourceFigures
from kopt.lowered import Lowered
from kopt.passes.pipelines import before_models
from test.property.imports import counted_imports

TARGETS = ("pallas:v6e", "triton:sm90")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_examples(example: Example, target: str) -> None:
    args = example.unfilled("ragged", DTYPES["bf16"])
    kernel = kopt.kernel(example.kernel.fn)
    chosen = kernel.lower(*args, target=target)
    if chosen.config.block_sizes is not None:
        given = kernel.lower(*args, target=target, config={"block_sizes": list(chosen.config.block_sizes)})
        assert given.source == chosen.source
        assert given.config.block_sizes == chosen.config.block_sizes


def doubled(x):
    out = torch.empty_like(x)
    for i, j in hl.tile(x.size()):
        out[i, j] = 2 * x[i, j]
    return out


@pytest.mark.parametrize("target", [*TARGETS, "reference"])
def test_stages_show_the_choice(target: str) -> None:
    low = kopt.kernel(doubled).lower("f32[4096,2560]", target=target)
    assert low.config.block_sizes is not None
    (first, imported), *stages = low.stages()
    if target != "reference":
        assert stages.pop(0)[0] == "expand-scaling"
    if target.startswith("triton"):
        assert stages.pop(0)[0] == "fission-grids"
    (second, chosen), (_, after), *_ = stages
    assert (first, second) == ("import", "choose-block-sizes")
    assert "tile.open = [#tile.open<b0>, #tile.open<b1>]" in imported
    assert "tile.open" not in chosen and chosen == after
    assert all(f"b{n}={size}" in chosen for n, size in enumerate(low.config.block_sizes))


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
def test_reports_show_the_choice_and_its_cost() -> None:
    low = kopt.kernel(doubled).lower("f32[4096,2560]", target="pallas:tpu7x")
    facts = low.report(estimates=False)
    assert low.config.block_sizes is not None and facts["block_sizes"] == list(low.config.block_sizes)
    moved = 2 * 4 * 4096 * 2560
    assert moved / 7.4e12 < facts["planned_seconds"] < moved / 3.7e11


@pytest.mark.parametrize("target", TARGETS)
def test_costs_that_are_not_fitted_are_not_known(target: str) -> None:
    low = kopt.kernel(doubled).lower("f32[4096,2560]", target=target)
    assert low.target.chip is not None
    assert (
        SourceFigures(low.module, low.entry, before_models(low.config, low.target.chip), low.target.chip, {}).seconds
        is None
    )


def test_a_kernel_without_open_blocks_has_no_sizes() -> None:
    def closed(x):
        out = torch.empty_like(x)
        for i in hl.tile(x.size(0), block_size=64):
            out[i] = 2 * x[i]
        return out

    assert kopt.kernel(closed).lower("f32[4096]", target="reference").config.block_sizes is None


def by_rows(x):
    """How many rows share a part is a number of Python's: each size is another kernel."""
    rows = hl.register_block_size(x.size(0))
    out = torch.empty_like(x)
    for i in hl.tile(x.size(0), block_size=rows):
        planes = x[i, :].reshape(rows * 4, -1)
        out[i, :] = (planes * sum(range(rows))).reshape(rows, -1)
    return out


def imports_and_lowered(kernel, *specs: str, **options) -> tuple[int, Lowered]:
    with counted_imports() as count:
        low = kopt.kernel(kernel).lower(*specs, **options)
    return count[0], low


@pytest.mark.parametrize("target", TARGETS)
def test_ordinarily_there_is_one_import(target: str) -> None:
    count, low = imports_and_lowered(doubled, "f32[4096,2560]", target=target)
    assert count == 1
    assert not [remark for remark in low.remarks if "import" in remark.message]


@pytest.mark.parametrize("columns", [64, 4096, 65536])
@pytest.mark.parametrize("target", TARGETS)
def test_sizes_that_python_reads_are_imported_again(target: str, columns: int) -> None:
    count, low = imports_and_lowered(by_rows, f"f32[4096,{columns}]", target=target)
    assert low.config.block_sizes is not None
    (rows,) = low.config.block_sizes
    assert 1 < count <= 3
    assert sum("imported again" in remark.message for remark in low.remarks) == count - 1
    assert "reshape" in low.ir and f"x {rows * 4}" in low.ir.replace("<", "x ")
    given = kopt.kernel(by_rows).lower(f"f32[4096,{columns}]", target=target, config={"block_sizes": [rows]})
    assert given.source == low.source


def up_to_the_own_end(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    rows = hl.register_block_size(x.size(0))
    for i in hl.tile(x.size(0), block_size=rows):
        acc = hl.zeros([i, x.size(1)])
        for j in hl.tile((i.id + 1) * int(rows)):
            acc = acc + torch.where(i.index[:, None] >= j.index[None, :], 1.0, 0.0) @ x[j, :]
        out[i, :] = acc
    return out


def up_to_the_end_of_any(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    rows = hl.register_block_size(x.size(0))
    for i in hl.tile(x.size(0), block_size=rows):
        acc = hl.zeros([i, x.size(1)])
        for j in hl.tile((i.id + 1) * rows):
            acc = acc + torch.where(i.index[:, None] >= j.index[None, :], 1.0, 0.0) @ x[j, :]
        out[i, :] = acc
    return out


def test_bounds_that_python_computes_with_a_size_are_looked_at_with_it() -> None:
    """The loop's bound is known as a number of the provisional size first; with the chosen one it tells more."""
    low = kopt.kernel(up_to_the_own_end).lower("f32[2048,256]", target="pallas:v6e")
    again = [remark.message for remark in low.remarks if "imported again" in remark.message]
    assert len(again) == 2 and again[0] != again[1]
    assert low.config.block_sizes is not None and str([*low.config.block_sizes]) in again[1]


@pytest.mark.parametrize("target", TARGETS)
def test_bounds_by_sizes_that_python_does_not_read_are_those_of_each_candidate(target: str) -> None:
    """One import tells what all sizes take: an import with the chosen ones chooses the same, and is the same code."""
    count, low = imports_and_lowered(up_to_the_end_of_any, "f32[2048,256]", target=target)
    assert count == 1 and low.config.block_sizes is not None
    sizes = list(low.config.block_sizes)
    count, given = imports_and_lowered(
        up_to_the_end_of_any, "f32[2048,256]", target=target, config={"block_sizes": sizes}
    )
    assert count == 1 and given.source == low.source


OPEN = """
func.func @f(%x: memref<4096x2560xf32>, %out: memref<4096x2560xf32>)
    attributes {tile.open = [#tile.open<b0>, #tile.open<b1>]} {
  tile.grid (%i: b0=32, %j: b1=32) in (4096, 2560) {
    %v = tile.load %x[%i, %j] : memref<4096x2560xf32> -> !tile.tile<b0=32 x b1=32 x f32>
    %e = tile.exp %v : !tile.tile<b0=32 x b1=32 x f32>
    tile.store %e, %out[%i, %j] : !tile.tile<b0=32 x b1=32 x f32>, memref<4096x2560xf32>
  }
  func.return
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_ir_leaves_blocks_open(target: str) -> None:
    module = kopt.parse(OPEN)
    low = kopt.lower_module(module, target=target)
    assert low.config.block_sizes is not None and low.config.block_sizes != (32, 32)
    given = kopt.lower_module(module, target=target, config={"block_sizes": list(low.config.block_sizes)})
    assert given.source == low.source
    assert "tile.open" in str(module) and "tile.open" not in str(given.module)
