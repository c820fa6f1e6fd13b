"""Index expressions and conditions written as tiles: the same numbers in each lane, in as few operations as hoped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Operation, SSAValue

import kopt
from kopt.dialects.tile import BroadcastOp, CastOp, DimAttr, FullOp, StoreOp, TileType
from kopt.interpreter import run
from kopt.ir.atoms import Element
from kopt.ir.choices import maximum, minimum, select, wrap
from kopt.ir.condition import Condition, Named, compare, conjunction, disjunction
from kopt.ir.division import floordiv, mod
from kopt.ir.evaluation import Evaluation
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr, lane, number, symbol
from kopt.ir.rewriting import Rewriting, element
from kopt.ir.to_tiles import TileWriter
from kopt.ir.value_range import ValueRange
from test.ir.expressions import ARRAYS, cases, guards
from test.named import named

DIMS = (DimAttr(4), DimAttr(6, "b1"))
BLOCKS = 8
#: Of one module: an expression's blocks of numbers, for each number of the loop's block.
COUNT = 60
TEXT = f"""
func.func @f(%s: index, %t: i32, %rows: memref<4xi32>, %columns: memref<6xi8>, %both: memref<4x6xi64>,
             %even: memref<4xi1>, %loaded: memref<6xi32>, %long: memref<12xi32>,
             %out: memref<{BLOCKS}x{COUNT}x4x6xi64>) {{
  tile.grid (%g: b2=16, %j: b1=6) in (128, 6) {{
    %r = tile.load %rows[:] : memref<4xi32> -> !tile.tile<4 x i32>
    %c = tile.load %columns[%j] : memref<6xi8> -> !tile.tile<b1=6 x i8>
    %b = tile.load %both[:, %j] : memref<4x6xi64> -> !tile.tile<4 x b1=6 x i64>
    %l = tile.load %loaded[%j] : memref<6xi32> -> !tile.tile<b1=6 x i32>
    %w = tile.load %long[:] : memref<12xi32> -> !tile.tile<12 x i32>
    %e = tile.load %even[:] : memref<4xi1> -> !tile.tile<4 x i1>
    %id = tile.id %g : !tile.range<b2=16>
    %four = arith.constant 4 : index
    %flag = arith.cmpi slt, %id, %four : index
    %o = tile.full 0 : !tile.tile<4 x b1=6 x i64>
    tile.store %o, %out[%id, 0, :, %j] : !tile.tile<4 x b1=6 x i64>, memref<{BLOCKS}x{COUNT}x4x6xi64>
  }}
  func.return
}}
"""


class Kernel:
    """A kernel that stores expressions; ``named`` says which value each name of the random ones is."""

    def __init__(self) -> None:
        self.module: ModuleOp = kopt.parse(TEXT)
        values = {v.name_hint: v for op in self.module.walk() for v in (*op.results, *_arguments(op)) if v.name_hint}
        self.store = next(op for op in self.module.walk() if isinstance(op, StoreOp))
        self.analysis = IndexAnalysis()
        known = {"s": "s", "t": "t", "rows": "r", "columns": "c", "both": "b", "even": "e", "block": "g"}
        known |= {"loaded": "l", "long": "w"}
        self.named: dict[str, SSAValue] = {name: values[hint] for name, hint in known.items()}
        self.arrays = {self.named[name]: ARRAYS[name] for name in known if name != "block"}
        self.written = 0

    def of(self, rewritten: Callable[[Rewriting], object]) -> object:
        """An expression or condition with the kernel's values for names."""

        def replace(atom: object) -> IndexExpr | None:
            name = getattr(atom, "name", None)
            if name == "u":
                return number(13)
            if name == "block":
                return self.analysis.number(self.named["block"])
            if isinstance(atom, Element) and name in self.named:
                return element(self.named[name], atom.lanes, atom.range, [*map(rewriting.expr, atom.by)])
            dims, range = getattr(atom, "dims", ()), getattr(atom, "range", None)
            return symbol(self.named[name], dims, range) if name in self.named else None  # pyright: ignore

        def rename(condition: object) -> Condition:
            return type(condition)(self.named[condition.name], condition.dims, condition.holds)  # pyright: ignore

        rewriting = Rewriting(replace, {"size": 8}, rename=rename)
        return rewritten(rewriting)

    def add(self, op: Operation) -> SSAValue:
        """Inserts an op before the first store."""
        block = self.store.parent
        assert block is not None
        block.insert_op_before(op, self.store)
        return op.results[0] if op.results else SSAValue.get(self.named["s"])

    def writer(self) -> TileWriter:
        return TileWriter(self.add, self.analysis.begin)

    def keep(self, value: SSAValue) -> None:
        """Stores a tile as the next block of numbers."""
        if value.type != self.store.value.type:
            value = self.add(CastOp(value, i64))
        entries = list(self.store.entries)
        self.add(StoreOp(value, self.store.memory, [entries[0], self.written, *entries[2:]]))
        self.written += 1

    def results(self) -> np.ndarray:
        """What the kernel stores: for each of the grid's blocks and each stored tile."""
        self.store.detach()
        self.store.erase()
        self.module.verify()
        inputs = [np.int64(ARRAYS["s"]), np.int32(ARRAYS["t"]), ARRAYS["rows"].astype(np.int32)]  # pyright: ignore
        inputs += [ARRAYS["columns"].astype(np.int8), ARRAYS["both"].astype(np.int64), ARRAYS["even"]]  # pyright: ignore
        inputs += [ARRAYS[name].astype(np.int32) for name in ("loaded", "long")]  # pyright: ignore
        out = np.zeros((BLOCKS, COUNT, 4, 6), np.int64)
        run(self.module, "f", [*inputs, out])  # pyright: ignore[reportArgumentType]
        return out

    def wanted(self, evaluate: Callable[[Evaluation], np.ndarray], block: int) -> np.ndarray:
        found = evaluate(Evaluation({**self.arrays, self.named["block"]: block}, (4, 6)))
        return np.broadcast_to(found, (4, 6))


def _arguments(op: Operation) -> Iterator[SSAValue]:
    return (arg for region in op.regions for block in region.blocks for arg in block.args)


def by_numbers(expr: IndexExpr) -> bool:
    """Whether all of an expression's divisors are numbers: others may be 0."""
    return all(atom.divisor.is_constant for atom in expr.atoms() if hasattr(atom, "divisor"))  # pyright: ignore


def sample(kernel: Kernel, seed: int) -> list[IndexExpr]:
    """Random expressions that differ from lane to lane, of all sizes."""
    found = [kernel.of(lambda rewriting: rewriting.expr(case.expr)) for case in cases(5 * COUNT, seed)]  # noqa: B023
    found = [expr for expr in found if isinstance(expr, IndexExpr) and by_numbers(expr) and expr.along]
    found = [expr for expr in found if TileWriter.can_write(expr)]
    return Random(seed).sample(found, COUNT)


@pytest.mark.parametrize("seed", range(12))
def test_written_expressions_are_the_same_numbers(seed: int) -> None:
    kernel = Kernel()
    kept = sample(kernel, 100 + seed)
    assert any(isinstance(atom, Element) for expr in kept for atom in expr.atoms())
    for expr in kept:
        kernel.keep(kernel.writer().value(expr, DIMS))
    out = kernel.results()
    for block in range(BLOCKS):
        for n, expr in enumerate(kept):
            wanted = kernel.wanted(lambda evaluation: evaluation.expr(expr), block)  # noqa: B023
            np.testing.assert_array_equal(out[block, n], wanted, err_msg=str(expr))


@pytest.mark.parametrize("seed", range(8))
def test_written_conditions_hold_in_the_same_lanes(seed: int) -> None:
    kernel = Kernel()
    found = [kernel.of(lambda rewriting: rewriting.condition(guard.condition)) for guard in guards(6 * COUNT, seed)]  # noqa: B023
    kept = [one for one in found if isinstance(one, Condition) and all(map(by_numbers, one.parts))]
    kept = [one for one in kept if all(map(TileWriter.can_write, one.parts))][-COUNT:]
    for condition in kept:
        kernel.keep(kernel.writer().condition(condition, DIMS))
    out = kernel.results()
    for block in range(BLOCKS):
        for n, condition in enumerate(kept):
            wanted = kernel.wanted(lambda evaluation: evaluation.condition(condition), block)  # noqa: B023
            np.testing.assert_array_equal(out[block, n], wanted.astype(np.int64), err_msg=str(condition))


@pytest.mark.parametrize("holds", [True, False])
def test_conditions_that_are_the_same_in_all_lanes(holds: bool) -> None:
    """A truth value of the whole block, alone and beside one of its rows."""
    kernel = Kernel()
    flag = Named(named(kernel.module)["flag"], (), holds)
    rows = Named(kernel.named["even"], (0,))
    kept = [flag, conjunction([flag, rows]), disjunction([rows, flag]), select(flag, lane(1, 6), number(9))]
    for one in kept:
        writer = kernel.writer()
        kernel.keep(writer.condition(one, DIMS) if isinstance(one, Condition) else writer.value(one, DIMS))
    out, even = kernel.results(), np.asarray(ARRAYS["even"])[:, None]
    for block in range(BLOCKS):
        is_so = (block < 4) is holds
        for n, wanted in enumerate([is_so, is_so & even, is_so | even, np.arange(6) if is_so else 9]):
            np.testing.assert_array_equal(out[block, n], np.broadcast_to(wanted, (4, 6)))


BIG = 1 << 20


@pytest.mark.parametrize("element", [i32, None])
def test_numbers_that_leave_32_bits(element: object) -> None:
    """What an i32 holds of a sum is right though its parts are not; what is divided is computed in 64 bits."""
    kernel, element_bits = Kernel(), 32 if element is not None else 64
    rows, both = symbol(kernel.named["rows"], [0], ValueRange(-BIG, BIG)), symbol(kernel.named["both"], [0, 1])
    exprs = [
        rows * BIG + lane(1, 6),
        floordiv(rows * BIG, 3),
        floordiv(both * BIG, BIG),
        maximum(rows * BIG, both),
        rows * BIG * 16,
    ]
    exprs += [
        wrap(32, rows * BIG + both),
        floordiv(wrap(32, rows * (BIG - 1)), 7),
        select(compare("lt", rows * BIG, both), rows, both),
    ]
    for expr in exprs:
        value = kernel.writer().value(expr, DIMS, element)  # pyright: ignore[reportArgumentType]
        assert element is None or value.type.element_type == i32  # pyright: ignore
        kernel.keep(value)
    out = kernel.results()[0]
    for n, expr in enumerate(exprs):
        held = wrap(element_bits, expr)
        wanted = kernel.wanted(lambda evaluation: evaluation.expr(held), 0)  # noqa: B023
        np.testing.assert_array_equal(out[n], wanted, err_msg=str(expr))


def _ops(write: Callable[[Kernel, TileWriter], object]) -> list[str]:
    kernel = Kernel()
    before = set(kernel.module.walk())
    write(kernel, kernel.writer())
    return [op.name for op in kernel.module.walk() if op not in before]


def _value(expr: Callable[[Kernel], IndexExpr]) -> list[str]:
    return _ops(lambda kernel, writer: writer.value(expr(kernel), DIMS, i32))


ROWS = ValueRange(0, 100)
FEWEST = {
    "a number": (lambda k: number(7), ["tile.full"]),
    "an index": (lambda k: symbol(k.named["s"]) * 4, ["arith.constant", "arith.muli", "tile.splat"]),
    "an iota": (lambda k: lane(1, 6) * 2 + 5, ["tile.arange", "tile.broadcast"]),
    "a range": (
        lambda k: k.analysis.begin(k.named["block"]) + lane(1, 6),
        ["tile.begin", "tile.arange", "tile.splat", "tile.broadcast", "tile.add"],
    ),
    "rows": (lambda k: symbol(k.named["rows"], [0], ROWS), ["tile.broadcast"]),
    "every other row": (
        lambda k: element(k.named["long"], [lane(0, 4) * 2 + 1]),
        ["tile.slice", "tile.broadcast"],
    ),
    "what is loaded by an index": (
        lambda k: element(k.named["rows"], [lane(0, 4)], ROWS, [floordiv(lane(0, 4), 2)]),
        ["tile.broadcast"],
    ),
    "rows and lanes": (
        lambda k: symbol(k.named["rows"], [0], ROWS) * 8 + lane(1, 6) + 1,
        ["tile.full", "tile.mul", "tile.arange", "tile.broadcast", "tile.broadcast", "tile.add"],
    ),
    "a shift": (
        lambda k: floordiv(symbol(k.named["rows"], [0], ROWS) + lane(1, 6), 8),
        ["tile.arange", "tile.broadcast", "tile.broadcast", "tile.add", "tile.full", "tile.shr"],
    ),
    "a mask": (
        lambda k: mod(symbol(k.named["rows"], [0], ROWS), 16),
        ["tile.full", "tile.and", "tile.broadcast"],
    ),
    "what is natural": (
        lambda k: floordiv(symbol(k.named["rows"], [0], ROWS), 3),
        ["tile.full", "tile.truncdiv", "tile.broadcast"],
    ),
    "a bound": (
        lambda k: minimum(symbol(k.named["rows"], [0], ROWS), number(9)),
        ["tile.full", "tile.minimum", "tile.broadcast"],
    ),
    "a choice": (
        lambda k: select(compare("lt", symbol(k.named["rows"], [0], ROWS), number(9)), lane(1, 6), number(0)),
        ["tile.full", "tile.ge", "tile.arange", *["tile.broadcast"] * 2, "tile.full", "tile.select"],
    ),
}


@pytest.mark.parametrize("name", FEWEST)
def test_operations(name: str) -> None:
    expr, wanted = FEWEST[name]
    found = _value(expr)
    assert sorted(found) == sorted(wanted), found


def test_what_is_repeated_is_computed_once_along_its_dimension() -> None:
    """A product of rows is one of four lanes, not of the block's 24."""
    kernel = Kernel()
    kernel.writer().value(symbol(kernel.named["rows"], [0], ROWS) * 8 + lane(1, 6), DIMS, i32)
    (product,) = [op for op in kernel.module.walk() if op.name == "tile.mul"]
    assert product.results[0].type == TileType([4], i32)
    assert [op for op in kernel.module.walk() if isinstance(op, BroadcastOp | FullOp)]


def test_what_cannot_be_written() -> None:
    """Names that are no values, and block sizes that are not chosen."""
    assert not TileWriter.can_write(symbol("n") + lane(0, 4))
    for lanes in (3 - lane(0, 4), floordiv(lane(1, 6), 2), symbol(Kernel().named["s"])):
        assert not TileWriter.can_write(element(Kernel().named["rows"], [lanes]))
    found = list(cases(400, seed=7))
    assert any(not TileWriter.can_write(case.expr) for case in found)
    named = select(conjunction([compare("lt", symbol("n"), number(3))]), lane(0, 4), number(0))
    assert not TileWriter.can_write(named)
