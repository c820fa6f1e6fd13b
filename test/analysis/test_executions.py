"""How often each block of a launch runs: as often as the reference interpreter comes to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import f32, i64
from xdsl.ir import Block, Operation
from xdsl.ir.affine import AffineMap

import kopt
import kopt.language as hl
from kopt.analysis.entry import entry_function
from kopt.analysis.executions import ArrayMemory, CallMemory, UnknownNumber, block, executions
from kopt.analysis.executions.block import VisitedBlock
from kopt.analysis.executions.memory import evaluated
from kopt.analysis.executions.numbers import computed, constant
from kopt.analysis.product_flops import product_flops
from kopt.context import make_context
from kopt.dialects.pallas import CallOp
from kopt.dialects.tile import DotOp, ForOp, GridOp
from kopt.interpreter import HANDLERS, scalars
from kopt.interpreter.host_values import HostValues
from kopt.interpreter.machine import Machine
from kopt.pass_manager import run
from kopt.passes.pipelines import before_models
from kopt.walk import walk


def causal(x, numbers):
    out = torch.empty_like(x)
    for m in hl.tile(x.size(0), block_size=16):
        acc = hl.zeros([m, x.size(1)], dtype=torch.float32)
        for k in hl.tile(0, m.end, block_size=8):
            acc = acc + x[k, :].sum(0)[None, :]
        out[m, :] = acc
    return out


def jagged(x, numbers):
    out = torch.zeros([numbers.size(0) - 1, x.size(1)], dtype=x.dtype)
    for i in hl.grid(numbers.size(0) - 1):
        acc = hl.zeros([x.size(1)], dtype=torch.float32)
        for k in hl.tile(numbers[i], numbers[i + 1], block_size=8):
            acc = acc + x[k, :].sum(0)
        out[i, :] = acc
    return out


def of_sums(x, numbers):
    """Offsets that the host computes: of lengths."""
    ends = torch.cumsum(torch.diff(numbers), 0, dtype=torch.int32)
    out = torch.zeros([ends.size(0), x.size(1)], dtype=x.dtype)
    for i in hl.grid(ends.size(0)):
        acc = hl.zeros([x.size(1)], dtype=torch.float32)
        for k in hl.tile(ends[i], block_size=8):
            acc = acc + x[k, :].sum(0)
        out[i, :] = acc
    return out


def several_items(x, numbers):
    """As many visits as the longest of some items has."""
    out = torch.zeros([numbers.size(0) - 1, x.size(1)], dtype=x.dtype)
    for i in hl.tile(numbers.size(0) - 1, block_size=2):
        begin = numbers[i]
        lengths = numbers[i.index + 1] - begin
        acc = hl.zeros([i, x.size(1)], dtype=torch.float32)
        for k in hl.tile(lengths.amax(), block_size=8):
            rows = begin[:, None] + k.index[None, :]
            mask = k.index[None, :] < lengths[:, None]
            acc = acc + hl.load(x, [rows, slice(None)], extra_mask=mask[:, :, None]).sum(1)
        out[i, :] = acc
    return out


def branches(x, numbers):
    out = torch.zeros_like(x)
    for m in hl.tile(x.size(0), block_size=16):
        acc = hl.zeros([m, x.size(1)], dtype=torch.float32)
        for k in hl.tile(x.size(0), block_size=16):
            if k.begin < m.begin:
                for j in hl.tile(k.begin, m.begin, block_size=4):
                    acc = acc + x[j, :].sum(0)[None, :]
            else:
                acc = acc + x[m, :]
        out[m, :] = acc
    return out


def product(x, numbers):
    """Rows of each item times a matrix: the last block of an item has fewer rows."""
    out = torch.zeros([x.size(0), x.size(1)], dtype=x.dtype)
    for i in hl.grid(numbers.size(0) - 1):
        for k in hl.tile(numbers[i], numbers[i + 1], block_size=8):
            out[k, :] = x[k, :] @ x[:8, :]
    return out


def doubted(x, numbers):
    """A branch on what is loaded."""
    out = torch.zeros_like(x)
    for i in hl.grid(numbers.size(0)):
        if numbers[i] > 10:
            out[i, :] = x[i, :]
    return out


ROWS, COLUMNS = 70, 8
OFFSETS = np.array([0, 3, 3, 20, 36, 70], np.int32)
KERNELS = [causal, jagged, of_sums, several_items, branches, product]


class CountingMachine(Machine):
    """Counts how often each block is run."""

    def __init__(self, module: Any):
        super().__init__(module, HANDLERS, check_conflicts=False)
        self.counts: Counter[Block] = Counter()

    def execute(self, op: Any) -> None:
        """Run an operation."""
        if op is op.parent.first_op:
            self.counts[op.parent] += 1
        super().execute(op)


def prepared(kernel: Callable[..., Any]) -> tuple[Any, Any]:
    """The module before decisions, and its grid."""
    low = kopt.kernel(kernel).lower(f"f32[{ROWS},{COLUMNS}]", f"i32[{len(OFFSETS)}]", target="pallas:v6e")
    module = low.module.clone()
    run(module, make_context(), before_models(low.config))
    return module, walk(module, GridOp)[0]


def memory(module: Any, known: bool = True) -> ArrayMemory:
    """What the second argument holds."""
    func = entry_function(module)
    return ArrayMemory(HostValues(module, func, lambda number: OFFSETS if known and number == 1 else None).value)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_as_often_as_the_interpreter_comes_there(kernel: Callable[..., Any]) -> None:
    module, grid = prepared(kernel)
    found = executions(grid, memory(module))
    machine = CountingMachine(module)
    function = entry_function(module)
    machine.call(function, [np.ones((ROWS, COLUMNS), np.float32), OFFSETS][: len(function.body.block.args)])
    wanted = {block: machine.counts[block] for block in found if len(block.ops) > 1}
    assert {block: found[block].count for block in wanted} == wanted
    assert len(wanted) > 1 and max(wanted.values()) > 5


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
def test_what_is_not_known_has_a_name(kernel: Callable[..., Any]) -> None:
    """Bounds of the cell need no values; those of loaded numbers name the argument."""
    module, grid = prepared(kernel)
    found = executions(grid, memory(module, known=False))
    loops = [block for block in found if block is not grid.body.block]
    if kernel in (causal, branches):
        assert all(found[block].count >= 0 for block in loops)
        return
    with pytest.raises(UnknownNumber, match="what 'numbers' holds"):
        [found[block].count for block in loops]


def test_products_of_rows_that_are_there() -> None:
    """Every row of every item once, whatever blocks it is in."""
    module, grid = prepared(product)
    flops = product_flops(grid, executions(grid, memory(module)))
    assert flops == {"f32": 2 * ROWS * COLUMNS * COLUMNS} and walk(grid, DotOp)


def test_a_while_loop_is_not_counted() -> None:
    def halved(x, numbers):
        out = torch.zeros_like(x)
        for m in hl.tile(x.size(0), block_size=16):
            n = numbers[m.id]
            acc = hl.zeros([m, x.size(1)], dtype=torch.float32)
            while n > 1:
                acc = acc + x[m, :]
                n = n // 2
            out[m, :] = acc
        return out

    module, grid = prepared(halved)
    found = executions(grid, memory(module))
    with pytest.raises(UnknownNumber, match="how long a condition holds"):
        [block.count for block in found.values()]


@pytest.mark.parametrize("kind", sorted(scalars._INTEGERS, key=lambda kind: kind.name), ids=lambda kind: kind.name)
def test_numbers_are_those_of_the_interpreter(kind: type[Operation]) -> None:
    """Of all pairs at once, quotients of negative numbers too."""
    pairs = [(a, b) for a in (-9, -8, -1, 0, 5, 8) for b in (1, 2, 3)]
    pairs += [] if "sh" in kind.name else [(a, -b) for a, b in pairs]
    left, right = (arith.ConstantOp.from_int_and_width(number, i64) for number in (0, 1))
    columns = dict(zip((left.result, right.result), np.array(pairs).T, strict=True))
    found = computed(kind(left, right), columns.__getitem__)  # pyright: ignore
    assert found.tolist() == [scalars._INTEGERS[kind](a, b) for a, b in pairs]


def test_constants_and_what_is_none() -> None:
    two = arith.ConstantOp.from_int_and_width(2, i64)
    assert constant(two) is not None and constant(two).tolist() == [2]  # pyright: ignore
    with pytest.raises(UnknownNumber, match="what is computed of floats"):
        computed(arith.SIToFPOp(two, f32), lambda value: np.array([2]))


#: Two visits of a tile of 2 x 3 numbers.
VISITS = np.array([[[1, 5, -2], [4, 0, 7]], [[-1, -5, 2], [3, 3, 3]]])
T23 = "!tile.tile<2 x 3 x i32>"
LANES = [
    (f"tile.reduce max %v [0] : {T23}", VISITS.max(1)),
    (f"tile.reduce min %v [1] : {T23}", VISITS.min(2)),
    (f"tile.reduce add %v [0, 1] : {T23}", VISITS.sum((1, 2))),
    (f"tile.broadcast %v dims [0, 2] : {T23} to !tile.tile<2 x 4 x 3 x i32>", np.stack([VISITS] * 4, 2)),
    (f"tile.broadcast %v dims [1, 2] : {T23} to !tile.tile<4 x 2 x 3 x i32>", np.stack([VISITS] * 4, 1)),
    (f"tile.reshape %v : {T23} to !tile.tile<3 x 2 x i32>", VISITS.reshape(2, 3, 2)),
    (f"tile.transpose %v [1, 0] : {T23}", VISITS.transpose(0, 2, 1)),
]


@pytest.mark.parametrize(("text", "wanted"), LANES)
def test_lanes_of_every_visit(text: str, wanted: np.ndarray) -> None:
    op = named_op(text)
    found = computed(op, {op.operands[0]: VISITS}.__getitem__)
    assert found.dtype.kind == "i" and found.tolist() == wanted.tolist()


@pytest.mark.parametrize("text", [f"tile.reduce mul %v [0] : {T23}", f"tile.scan add %v dim 0 : {T23}"])
def test_what_is_not_computed_has_a_name(text: str) -> None:
    op = named_op(text)
    with pytest.raises(UnknownNumber, match=f"what '{op.name}' computes"):
        computed(op, {op.operands[0]: VISITS}.__getitem__)


def named_op(text: str) -> Operation:
    """An operation on ``%v``."""
    module = kopt.parse(f"func.func @f(%v: {T23}) {{\n%r = {text}\nfunc.return\n}}")
    return next(op for op in walk(module) if op.name.startswith("tile."))


def test_blocks_that_are_visited() -> None:
    """The last one ends with its range."""
    visited = VisitedBlock.of(np.arange(3), np.array([3]), np.array([2]), np.array([12]), 4)
    assert visited.begin.tolist() == [2, 6, 10] and visited.end.tolist() == [6, 10, 12]
    assert visited.lanes.tolist() == [4, 4, 2]


def test_maps_of_many_places() -> None:
    map = AffineMap.from_callable(lambda i, j: (i * 2 + j, 7))
    found = evaluated(map, [np.arange(3), np.array([1])], [])
    assert [each.tolist() for each in found] == [[1, 3, 5], [7]]


def test_rare_branches_are_not_taken_where_nobody_knows() -> None:
    module, grid = prepared(doubted)
    known, rare = executions(grid, memory(module)), executions(grid, memory(module, known=False), rare=True)
    arms = [block for block in known if isinstance(block.parent_op(), scf.IfOp)]
    assert [known[block].count for block in arms] != [0] * len(arms) == [rare[block].count for block in arms]
    with pytest.raises(UnknownNumber, match="what 'numbers' holds"):
        [one.count for one in executions(grid, memory(module, known=False)).values()]


#: What is loaded of `a`, 9 rows of 5, and of `b`, 9 numbers, at cell `i` of 3, and in numbers.
LOADS = {
    "%a[2, 3]": ("", lambda a, b, i: a[2, 3]),
    "%a[%i, 3]": ("b0=4", lambda a, b, i: a[4 * i : 4 * i + 4, 3]),
    "%a[%n, 3]": ("", lambda a, b, i: a[i, 3]),
    "%a[%n, :]": ("5", lambda a, b, i: a[i]),
    "%a[:, %n]": ("9", lambda a, b, i: a[:, i]),
    "%a[1:9:3, %n]": ("3", lambda a, b, i: a[1:9:3, i]),
    "%a[%i, 1:3]": ("b0=4 x 2", lambda a, b, i: a[4 * i : 4 * i + 4, 1:3]),
    "%a[%i, :]": ("b0=4 x 5", lambda a, b, i: a[4 * i : 4 * i + 4]),
    "%a[0:9, :]": ("9 x 5", lambda a, b, i: a),
    "%b[%i]": ("b0=4", lambda a, b, i: b[4 * i : 4 * i + 4]),
    "%b[%n]": ("", lambda a, b, i: b[i]),
}


@pytest.mark.parametrize("load", LOADS)
def test_what_is_loaded_in_each_cell(load: str) -> None:
    """Rows that there are not are the nearest one: the last block has one row."""
    dims, wanted = LOADS[load]
    array = "9x5xi32" if load[1] == "a" else "9xi64"
    module = kopt.parse(f"""
func.func @f(%a: memref<9x5xi32>, %b: memref<9xi64>, %f: memref<9xf32>) {{
  tile.grid (%i: b0=4) in (9) {{
    %n = tile.id %i : !tile.range<b0=4>
    %v = tile.load {load} : memref<{array}> -> !tile.tile<{dims + " x " if dims else ""}{array[-3:]}>
    %w = tile.load %f[%n] : memref<9xf32> -> !tile.tile<f32>
  }}
  func.return
}}""")
    (grid,) = walk(module, GridOp)
    values = {op.results[0].name_hint: op.results[0] for op in grid.body.block.ops if op.results}
    a, b = np.arange(45, dtype=np.int32).reshape(9, 5) * 3, np.arange(9) ** 2
    arrays = dict(zip(module.body.block.first_op.body.block.args, (a, b, b / 2), strict=True))  # pyright: ignore
    found = executions(grid, ArrayMemory(arrays.get))[grid.body.block].number(values["v"])
    padded = np.pad(a, ((0, 3), (0, 0)), "edge"), np.pad(b, (0, 3), "edge")
    rows = [wanted(*(padded if "%i" in load else (a, b)), i) for i in range(3)]
    assert np.array_equal(np.broadcast_to(found, np.shape(rows)), rows)
    with pytest.raises(UnknownNumber, match="what an array of floats holds"):
        executions(grid, ArrayMemory(arrays.get))[grid.body.block].number(values["w"])
    with pytest.raises(UnknownNumber, match=f"what '{load[1]}' holds"):
        executions(grid, ArrayMemory({}.get))[grid.body.block].number(values["v"])


def test_what_is_read_of_a_window_in_each_cell() -> None:
    """Where a dimension is left out its block is one element: the one of that number."""
    module = kopt.parse("""
func.func @f(%a: memref<8x16x128xi32>) -> memref<8x16x128xi32> {
  %o = pallas.call @f(%a) windows [<[_, 8, 128], (d0, d1) -> (d0, d1, 0), vmem>,
      <[_, 8, 128], (d0, d1) -> (d0, d1, 0), vmem>] semantics (parallel, parallel) aliases [-1]
      : (memref<8x16x128xi32>) -> memref<8x16x128xi32> {
  ^bb0(%x: !tile.ref<8 x 128 x i32, vmem>, %y: !tile.ref<8 x 128 x i32, vmem>):
    tile.grid (%i: b0=1, %j: b1=8) in (8, 16) {
      %v = tile.get %x[:, :] : !tile.ref<8 x 128 x i32, vmem> -> !tile.tile<b1=8 x 128 x i32>
      %w = tile.get %x[3, 5] : !tile.ref<8 x 128 x i32, vmem> -> !tile.tile<i32>
      tile.put %v, %y[:, :] : !tile.tile<b1=8 x 128 x i32>, !tile.ref<8 x 128 x i32, vmem>
      %own = tile.get %y[3, 5] : !tile.ref<8 x 128 x i32, vmem> -> !tile.tile<i32>
    }
  }
  func.return %o : memref<8x16x128xi32>
}""")
    (call,), (grid,) = walk(module, CallOp), walk(module, GridOp)
    array = np.arange(8 * 16 * 128, dtype=np.int32).reshape(8, 16, 128)
    found = executions(grid, CallMemory(call, {call.inputs[0]: array}.get))[grid.body.block]
    values = {op.results[0].name_hint: op.results[0] for op in grid.body.block.ops if op.results}
    blocks = array.reshape(16, 8, 128)
    assert np.array_equal(np.reshape(found.number(values["v"]), blocks.shape), blocks)
    assert np.array_equal(np.ravel(found.number(values["w"])), blocks[:, 3, 5])
    with pytest.raises(UnknownNumber, match="what the kernel has in its memory"):
        found.number(values["own"])


def test_what_is_not_known_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Places that are computed, what loops carry, and what differs between very many visits or lanes."""
    module = kopt.parse("""
func.func @f(%a: memref<64xi32>) {
  tile.grid (%i: b0=4) in (64) {
    %n = tile.load %a[%i] : memref<64xi32> -> !tile.tile<b0=4 x i32>
    %gathered = tile.load %a[%n] : memref<64xi32> -> !tile.tile<b0=4 x i32>
    %zero = arith.constant 0 : index
    %last = tile.for %k: b1=8 in (0, 64) iter(%carried = %zero) -> (index) {
      %index = tile.index %k : !tile.range<b1=8>
      %next = tile.id %k : !tile.range<b1=8>
      tile.yield %next : index
    }
  }
  func.return
}""")
    (grid,) = walk(module, GridOp)
    array = module.body.block.first_op.body.block.args[0]  # pyright: ignore
    found = executions(grid, ArrayMemory({array: np.zeros(64, np.int32)}.get))
    values = {value.name_hint: value for op in walk(module) for value in op.results}
    cells, visits = found[grid.body.block], found[walk(module, ForOp)[0].body.block]
    with pytest.raises(UnknownNumber, match="what is loaded at computed places"):
        cells.number(values["gathered"])
    with pytest.raises(UnknownNumber, match="what a loop carries"):
        visits.number(walk(module, ForOp)[0].carried[0])
    assert cells.count == 16 and visits.count == 128
    wanted = np.tile(np.arange(64).reshape(8, 8), (16, 1))
    monkeypatch.setattr(block, "_LOOKED_INTO", 1024)
    assert np.array_equal(visits.number(values["index"]), wanted)
    monkeypatch.setattr(block, "_LOOKED_INTO", 1023)
    visits = executions(grid, ArrayMemory({}.get))[visits.block]
    with pytest.raises(UnknownNumber, match="b1=8 x i32> is in 128 visits"):
        visits.number(values["index"])
    monkeypatch.setattr(block, "_LOOKED_INTO", 128)
    assert np.array_equal(visits.rows, np.repeat(np.arange(16), 8))
    monkeypatch.setattr(block, "_LOOKED_INTO", 127)
    with pytest.raises(UnknownNumber, match="what differs between 128 visits"):
        _ = executions(grid, ArrayMemory({}.get))[visits.block].rows
