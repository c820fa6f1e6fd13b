"""Models at sizes that are chosen later, and models of equal IR."""

from __future__ import annotations

from random import Random

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from examples.example import Example, Inputs
from examples.registry import EXAMPLES
from kopt.analysis.launch_models import launch_models
from kopt.config import Config
from kopt.dialects.tile import GridOp
from kopt.errors import LoweringError
from kopt.frontend import Imported, import_kernel
from kopt.ir.access_relation import KINDS
from kopt.ir.launch_model import LaunchModel
from kopt.ir.launch_sizes import with_sizes
from kopt.ir.polynomial import Polynomial
from kopt.parsing import parse_module
from kopt.passes.block_forms import BlockForms
from kopt.passes.set_blocks import loop_tags, substitute_sizes
from kopt.passes.split_planes import holds_large
from kopt.targets.chips import GPU_CHIPS
from test.analysis.launches import prepared
from test.ir.kernels import kernels

#: Sizes for the blocks of an example, in turn.
SIZES = ((8, 128, 16, 64), (32, 256, 64, 8, 16))
#: Examples whose Python computes with a size: no other one can be substituted.
FIXED = {"rotary", "rotary_backward", "topk", "int4_matmul"}


def imported(example: Example) -> Imported:
    """The import of an example's ragged size, as the choice of block sizes finds it."""
    args = example.make_args("ragged", torch.float32)
    found = import_kernel(example.kernel, args, {}, block_sizes=example.sizes["ragged"].blocks)
    prepared(found.module)
    return found


def at(module: ModuleOp, sizes: dict[str, int]) -> list[LaunchModel]:
    """The models of a module with other sizes of blocks."""
    copy = module.clone()
    substitute_sizes(copy, sizes)
    return launch_models(copy)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_sizes_may_be_chosen_before_or_after(example: Example) -> None:
    """A model at sizes is that of the module at these sizes; of a copy it is the same."""
    found = imported(example)
    bound = {*loop_tags(found.module)}
    blocks = [[tag for tag in block.tags if tag in bound] for block in found.blocks]
    before = launch_models(found.module, [tag for tags in blocks for tag in tags])
    assert launch_models(found.module.clone()) == launch_models(found.module)
    for choice in SIZES:
        sizes = {tag: choice[n % len(choice)] for n, tags in enumerate(blocks) for tag in tags}
        try:
            after = at(found.module, sizes)
        except LoweringError:
            assert example.name in FIXED
            continue
        assert [with_sizes(model, sizes) for model in before] == after
        assert len({hash(model) for model in (*before, *after)}) <= 2 * len(after)


def holds_sizes(value: object) -> bool:
    """Whether a size that is not chosen is anywhere in a model."""
    if isinstance(value, Polynomial):
        return True
    if isinstance(value, tuple | frozenset):
        return any(map(holds_sizes, value))
    if isinstance(value, dict):
        return any(holds_sizes(one) for pair in value.items() for one in pair)
    return hasattr(value, "__dataclass_fields__") and any(
        holds_sizes(getattr(value, name))
        for name in value.__dataclass_fields__  # pyright: ignore
    )


def test_open_sizes_are_parts_of_everything() -> None:
    (example,) = [one for one in EXAMPLES if one.name == "matmul"]
    (model,) = launch_models(imported(example).module, ["b0", "b1", "b2"])
    assert model.sizes == {} and all(holds_sizes(part) for part in (model.axes, model.accesses, model.work, model.live))
    chosen = with_sizes(model, {"b0": 16, "b1": 128})
    assert chosen.sizes == {"b0": 16, "b1": 128} and holds_sizes(chosen)
    whole = with_sizes(chosen, {"b2": 64})
    assert not holds_sizes(whole) and whole == with_sizes(model, {"b0": 16, "b1": 128, "b2": 64})


@pytest.mark.parametrize("number", range(24))
def test_random_kernels_are_known_no_better_at_open_sizes(number: int) -> None:
    """Of a number whose form asks for sizes less is known: never a better class, nor fewer axes that it moves with."""
    text = list(kernels(24, 3, seed=5))[number]
    module = parse_module(text)
    (model,) = launch_models(module, ["b0", "b1"])
    for sizes in ({"b0": 4, "b1": 8}, {"b0": 16, "b1": 4}):
        early, (late,) = with_sizes(model, sizes), at(module, sizes)
        for part in ("axes", "operands", "work", "live", "orders", "sizes"):
            assert getattr(early, part) == getattr(late, part)
        for own, other in zip(early.accesses, late.accesses, strict=True):
            assert (own.id, own.path, own.tags) == (other.id, other.path, other.tags)
            assert KINDS.index(own.relation.kind) >= KINDS.index(other.relation.kind)
            assert own.moves >= other.moves and {*own.address} >= {*other.address}


def nest(random: Random) -> str:
    """A grid, a loop over all or a part of it, and blocks that begin at multiples and sums of what these walk."""
    rows, columns = random.choice([40, 64, 75]), random.choice([96, 128, 200])
    bounds = random.choice([("0", f"{columns}"), ("0", "%end"), ("%begin", "%end")])
    factor, shift = random.choice([1, 2, 3]), random.choice([0, 4, 7])
    number = random.choice(["%number", "%scaled", "%first"])
    compare = random.choice(["lt", "ge", "eq"])
    entries = ", ".join(random.choice([("%i", "%k"), ("%k", "%i"), ("%moved", "%k"), ("%i", "%shifted"), ("%i", "%i")]))
    block = {"%i": "b0=8", "%k": "b2=4", "%moved": "b0=8", "%shifted": "b2=4"}
    dims = " x ".join(block[entry] for entry in entries.split(", "))
    x, y = f"memref<{4 * rows}x{2 * columns + 500}xf32>", f"memref<{rows}x{columns}xf32>"
    return f"""
    func.func @f(%x: {x}, %y: {y}, %n: memref<90xi32>) {{
      tile.grid (%i: b0=8, %j: b1=16) in ({rows}, {columns}) {{
        %begin = tile.begin %i : !tile.range<b0=8>
        %end = tile.end %i : !tile.range<b0=8>
        %number = tile.id %j : !tile.range<b1=16>
        %factor = arith.constant {factor} : index
        %shift = arith.constant {shift} : index
        %scaled = arith.muli %begin, %factor : index
        %loaded = tile.load %n[%number] : memref<90xi32> -> !tile.tile<i32>
        %first = tile.extract %loaded : !tile.tile<i32> to index
        %sum = arith.addi {number}, %shift : index
        tile.for %k: b2=4 in ({bounds[0]}, {bounds[1]}) {{
          %moved = tile.shift %i by %sum : !tile.range<b0=8>
          %shifted = tile.shift %k by %sum : !tile.range<b2=4>
          %lanes = tile.index %k : !tile.range<b2=4>
          %limit = tile.splat %begin : index to !tile.tile<b2=4 x i32>
          %mask = tile.{compare} %lanes, %limit : !tile.tile<b2=4 x i32>
          %v = tile.load %x[{entries}] : {x} -> !tile.tile<{dims} x f32>
          %row = tile.load %x[%sum, %k] mask %mask : {x} -> !tile.tile<b2=4 x f32>
          %all = tile.load %y[%i, :] : {y} -> !tile.tile<b0=8 x {columns} x f32>
          %most = tile.reduce max %all [1] : !tile.tile<b0=8 x {columns} x f32>
          tile.store %all, %y[%i, :] : !tile.tile<b0=8 x {columns} x f32>, {y}
        }}
      }}
      func.return
    }}"""


@pytest.mark.parametrize("seed", range(20))
def test_random_nests_are_the_same_at_all_sizes(seed: int) -> None:
    module = parse_module(nest(Random(seed)))
    (model,) = launch_models(module, ["b0", "b1", "b2"])
    for sizes in ({"b0": 8, "b1": 16, "b2": 4}, {"b0": 64, "b1": 8, "b2": 32}, {"b0": 5, "b1": 200, "b2": 3}):
        assert [with_sizes(model, sizes)] == at(module, sizes)


@pytest.mark.parametrize("name", ["jagged_jagged_bmm", "grouped_matmul", "embedding"])
def test_models_of_scheduled_modules(name: str) -> None:
    """Grids of their own, after schedules of GPUs: ids are unique, and every access is there."""
    (example,) = [one for one in EXAMPLES if one.name == name]
    for model in launch_models(BlockForms(imported(example).module, GPU_CHIPS["sm90"], Config()).scheduled):
        assert len({access.id for access in model.accesses}) == len(model.accesses) > 0


def test_what_a_gpus_loops_have_in_common_is_alive_around_them() -> None:
    """A row of weights for blocks of rows: loaded before the loop, as when code is made, and live in it."""
    (example,) = [one for one in EXAMPLES if one.name == "layer_norm_backward"]
    module = import_kernel(example.kernel, example.args(Inputs(torch.float32), 64, 256), {}, block_sizes=(16, 8)).module
    prepared(module)
    (model, *_) = launch_models(BlockForms(module, GPU_CHIPS["sm90"], Config()).scheduled)
    depths = {access.operand: len(access.path) for access in model.accesses}
    assert depths["weight"] == 1 and depths["x"] == depths["grad"] == depths["rstd"] == 2
    assert [access.operand for access in model.accesses].count("rstd") == 1


#: A row of 40 x 1000 numbers at a time, which a program has room for. Whole tiles of memory are of 8 rows.
ROWS = """
func.func @f(%x: memref<40x999x1000xf32>, %lens: memref<100xi64>, %starts: memref<100xi64>) {
  tile.grid (%i: b0=1) in (100) {
    %n = tile.load %lens[%i] : memref<100xi64> -> !tile.tile<b0=1 x i64>
    %s = tile.load %starts[%i] : memref<100xi64> -> !tile.tile<b0=1 x i64>
    jagged.for %k: b1=1 in %n {
      %rows = jagged.rows %k from %s : !tile.range<b1=1>, !tile.tile<b0=1 x i64>
      %v = tile.load %x[:, %rows, :] : memref<40x999x1000xf32> -> !tile.tile<40 x b0=1 x b1=1 x 1000 x f32>
      tile.store %v, %x[:, %rows, :] : !tile.tile<40 x b0=1 x b1=1 x 1000 x f32>, memref<40x999x1000xf32>
    }
  }
  func.return
}
"""


def test_rows_in_whole_tiles_may_be_too_many_for_a_program() -> None:
    """It is asked of the blocks that rows have once they are scheduled, not of those of before."""
    module = parse_module(ROWS)
    scheduled = BlockForms(module, GPU_CHIPS["sm90"], Config()).scheduled
    assert not holds_large(module) and not holds_large(scheduled)
    (grid,) = [op for op in scheduled.walk() if isinstance(op, GridOp)]
    assert list(grid.bounds) == [(0, 100), (0, 40)]
