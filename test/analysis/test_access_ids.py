"""Ids of accesses: given once, handed on by whatever is made of an access."""

from __future__ import annotations

from io import StringIO

import pytest
import torch
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.printer import Printer

from examples.registry import EXAMPLES
from kopt.config import Config
from kopt.context import make_context
from kopt.dialects.host import AllocOp
from kopt.dialects.tile import Access, GridOp
from kopt.dialects.tile.access_ids import access_ids, given_id
from kopt.frontend import import_kernel
from kopt.parsing import parse_module
from kopt.passes.pipelines import pipeline
from kopt.targets.target import parse_target

#: Kernels whose accesses are replaced: by products, DMAs, blocks of other sizes, accumulators, loops over rows.
NAMES = (
    "matmul cross_entropy embedding scatter_add histogram counting_sort packed_attention jagged_jagged_bmm rotary topk "
    "gather_gemv int4_matmul split_matmul concat_rows fp8_matmul"
).split()
BY_NAME = {example.name: example for example in EXAMPLES}


def imported(name: str) -> ModuleOp:
    """The module of an example at its ragged size."""
    example = BY_NAME[name]
    args = example.make_args("ragged", torch.float32)
    return import_kernel(example.kernel, args, {}, block_sizes=example.sizes["ragged"].blocks).module


def arrays(module: ModuleOp) -> list[Access]:
    """The accesses of arrays, those of memory on the chip left out."""
    return [op for op in module.walk() if isinstance(op, Access) and isinstance(op.memory.type, MemRefType)]


def allocated(module: ModuleOp) -> set[str | None]:
    """The names of the arrays that a module allocates."""
    return {op.result.name_hint for op in module.walk() if isinstance(op, AllocOp)}


def ids(module: ModuleOp) -> set[str]:
    """The ids that a module's accesses would be given."""
    grids = [op for op in module.walk() if isinstance(op, GridOp)]
    return {id for grid in grids for id in access_ids(grid).values()}


@pytest.mark.parametrize("target", ["pallas:interpret", "triton:sm90"])
@pytest.mark.parametrize("name", NAMES)
def test_no_pass_loses_an_id(name: str, target: str) -> None:
    """After each pass from ``name-accesses`` on every access of an array has an id that one of the source has.

    The parts of a loop that is split are no array of the source.
    """
    module = imported(name)
    known = ids(module)
    passes = pipeline(parse_target(target), Config())
    naming = [pass_.name for pass_ in passes].index("name-accesses")
    parts: set[str | None] = set()
    for number, pass_ in enumerate(passes):
        before = allocated(module)
        pass_.apply(make_context(), module)
        parts |= allocated(module) - before if pass_.name == "split-k" else set()
        for op in arrays(module) if number >= naming else ():
            assert op.memory.name_hint in parts or given_id(op) in known, f"{pass_.name} made {op}"


@pytest.mark.parametrize("name", NAMES)
def test_ids_that_are_not_printed_are_given_again(name: str) -> None:
    """Text of IR with ids, named again, is the same IR."""
    module = imported(name)
    passes = pipeline(parse_target("triton:sm90"), Config())
    naming = [pass_.name for pass_ in passes].index("name-accesses")
    for pass_ in passes[: naming + 3]:
        pass_.apply(make_context(), module)
    expected = [given_id(op) for op in arrays(module)]
    again = parse_module(str(module))
    grids = [op for op in again.walk() if isinstance(op, GridOp)]
    assert [id for grid in grids for id in access_ids(grid).values()] == expected
    assert all(expected)


def test_one_printer_sees_ids_change() -> None:
    """A printer that has printed a launch before prints the ids of what it has become."""
    module = parse_module("""
    func.func @f(%x: memref<8xf32>, %y: memref<8xf32>) {
      tile.grid (%i: b0=8) in (8) {
        %a = tile.load %x[%i] : memref<8xf32> -> !tile.tile<b0=8 x f32>
        %b = tile.load %x[%i] access "x#1" : memref<8xf32> -> !tile.tile<b0=8 x f32>
        tile.store %b, %y[%i] : !tile.tile<b0=8 x f32>, memref<8xf32>
      }
      func.return
    }""")
    stream = StringIO()
    printer = Printer(stream)
    printer.print_op(module)
    assert "access" not in stream.getvalue()
    first, *_ = arrays(module)
    first.detach()
    printer.print_op(module)
    assert ' access "x#1"' in stream.getvalue()
