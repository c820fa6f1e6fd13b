"""Index expressions written as ops compute the same numbers, and are read back as the same."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

import kopt
from kopt.interpreter import run
from kopt.ir.choices import wrap
from kopt.ir.division import floordiv, mod
from kopt.ir.evaluation import evaluate
from kopt.ir.from_ssa import IndexAnalysis
from kopt.ir.index_expr import IndexExpr, lane, number, symbol
from kopt.ir.rewriting import Rewriting
from kopt.ir.to_ssa import IndexWriter
from test.ir.expressions import cases

TEXT = "func.func @f(%s: index, %t: index) -> index {\n  func.return %s : index\n}\n"


def scalar(expr: IndexExpr, s: SSAValue, t: SSAValue) -> IndexExpr:
    """An expression with arguments for some names, and numbers for all others and for lanes."""
    known = {"s": symbol(s), "t": symbol(t), "rows": symbol(t) + 5, "columns": number(3), "both": symbol(s) * 2}
    blocks = Rewriting(lambda atom: known.get(getattr(atom, "name", None)) or _place(atom), {"size": 8})
    return blocks.expr(expr)


def _place(atom: object) -> IndexExpr | None:
    return number(4) if hasattr(atom, "dim") or hasattr(atom, "reach") else None


def test_written_expressions_compute_the_same() -> None:
    tried = 0
    for case in cases(400, seed=20):
        module = kopt.parse(TEXT)
        function = next(op for op in module.walk() if isinstance(op, FuncOp))
        (s, t), end = function.body.block.args, function.body.block.last_op
        expr = scalar(case.expr, s, t)
        divisors = [atom.divisor for atom in expr.atoms() if hasattr(atom, "divisor")]  # pyright: ignore
        if not IndexWriter.can_write(expr) or any(not one.is_constant for one in divisors):
            continue
        assert isinstance(end, ReturnOp)
        end.operands[0] = _written(expr, end)
        for values in ((0, 0), (-7, 13), (100, -3)):
            wanted = int(evaluate(expr, dict(zip((s, t), values, strict=True))))
            assert run(module, "f", [np.int64(value) for value in values]) == [wanted], str(expr)  # pyright: ignore
            again = IndexAnalysis().expr(end.operands[0])
            assert int(evaluate(again, dict(zip((s, t), values, strict=True)))) == wanted
        tried += 1
    assert tried > 100


def test_what_can_be_written() -> None:
    """Sums without lanes of values, and of what wraps as a target's own index does: in 32 bits or more."""
    module = kopt.parse(TEXT)
    s, _ = next(op for op in module.walk() if isinstance(op, FuncOp)).body.block.args
    of = symbol(s)
    for expr in (number(3), of, of * 2 + 1, wrap(32, of), wrap(64, of), floordiv(of, 3), mod(of, 3)):
        assert IndexWriter.can_write(expr), str(expr)
    for expr in (wrap(31, of), wrap(16, of) + of, symbol("n"), of + symbol("n"), of + lane(0, 4)):
        assert not IndexWriter.can_write(expr), str(expr)


def _written(expr: IndexExpr, end: Operation) -> SSAValue:
    block = end.parent
    assert block is not None

    def add(op: Operation) -> SSAValue:
        block.insert_op_before(op, end)
        return op.results[0]

    return IndexWriter(add, lambda value: value, IndexAnalysis().begin).value(expr)
