"""A toy array language on `kopt.build`: index notation, as in Tensor Comprehensions. Each statement is a launch.

    top[i] = max[j](x[i, j])
    e[i, j] = exp(x[i, j] - top[i])
    y[i, j] = e[i, j] / sum[j](e[i, j])

Arrays that no statement computes are arguments, in order of appearance; those that none reads are results. ``sum``,
``prod``, ``max`` and ``min`` walk an index; a sum of products may be a matrix product. A statement computes in f32 (or
f64, i32, i64, as its arrays), and stores the dtype that they share, else the one that it computes in.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any, NoReturn

import kopt
from kopt import build
from kopt.dialects.tile import COMBINING_OPS, ELEMENTWISE, is_float, neutral
from kopt.registry import did_you_mean
from kopt.specs import TensorSpec

REDUCTIONS = {"sum": "add", "prod": "mul", "max": "max", "min": "min"}
OPERATORS = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.USub: "neg"}
#: What is computed: the first of these that is the dtype of an array, 16-bit floats in f32.
WIDE = {"f64": "f64", "f32": "f32", "bf16": "f32", "f16": "f32", "i64": "i64", "i32": "i32"}


class Program:
    """A text of the language. Expressions are spelt as Python's, so that Python's own parser reads them."""

    def __init__(self, text: str, file: str = "program.toy"):
        self.file, self.name = file, Path(file).stem
        build.OpBuilder.source(file, text)
        try:
            self.statements: list[Any] = ast.parse(text).body
        except SyntaxError as error:
            raise kopt.ParseError(error.msg, build.Location(file, error.lineno or 1, error.offset or 1)) from None
        for node in self.statements:
            if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Subscript):
                self.wrong(node, "a statement is: array[index, …] = expression")
        written = [self.word(node.targets[0].value) for node in self.statements]
        reads = [array.value.id for node in self.statements for array in self.arrays_in(node.value)]
        self.arguments = list(dict.fromkeys(name for name in reads if name not in written))
        self.results = list(dict.fromkeys(name for name in written if name not in reads))

    def wrong(self, node: Any, message: str) -> NoReturn:
        place = build.Location(self.file, node.lineno, node.col_offset + 1, node.end_col_offset + 1)
        raise kopt.ParseError(message, place)

    def arrays_in(self, node: Any) -> list[Any]:
        """The arrays that an expression reads, in order of the text."""
        found = [n for n in ast.walk(node) if isinstance(n, ast.Subscript) and self.word(n.value) not in REDUCTIONS]
        return sorted(found, key=lambda each: (each.lineno, each.col_offset))

    def word(self, node: Any) -> str:
        return node.id if isinstance(node, ast.Name) else self.wrong(node, "expected the name of an array or an index")

    def index(self, node: Any) -> list[str]:
        """The names between the brackets."""
        names = list(map(self.word, node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]))
        return names if len(set(names)) == len(names) else self.wrong(node, "an index stands here twice")

    def free(self, node: Any) -> set[str]:
        """The indices of an expression that it does not walk itself."""
        if isinstance(node, ast.Subscript):
            return set(self.index(node))
        walked = self.free(node.func) if isinstance(node, ast.Call) else set()
        return set().union(*map(self.free, ast.iter_child_nodes(node))) - walked

    def lower(self, *specs: TensorSpec | str, target: str | None = None) -> kopt.Lowered:
        """The kernel for arrays of these shapes and dtypes."""
        self.b = build.OpBuilder()
        if len(specs) != len(self.arguments):
            raise kopt.ArgumentError(f"{self.name} takes {', '.join(self.arguments)}; found {len(specs)} arrays")
        with self.b.function(self.name, dict(zip(self.arguments, specs, strict=True))) as arrays:
            self.arrays = dict(zip(self.arguments, arrays, strict=True))
            for node in self.statements:
                self.statement(node.targets[0], node.value)
            self.b.return_(*(self.arrays[name] for name in self.results))
        return kopt.lower_module(self.b.module, target=target)

    def statement(self, left: Any, right: Any) -> None:
        """One launch: the indices on the left are its grid."""
        self.extents: dict[str, int] = {}
        for node in self.arrays_in(right):
            if (array := self.arrays.get(node.value.id)) is None:
                self.wrong(node, f"'{node.value.id}' is computed by a later statement")
            for name, extent in zip(self.index(node), array.shape, strict=False):
                if self.extents.setdefault(name, extent) != extent:
                    self.wrong(node, f"'{name}' has {self.extents[name]} values elsewhere, and {extent} here")
        for node in [left, *(each for each in ast.walk(right) if isinstance(each, ast.Subscript))]:
            if missing := [name for name in self.index(node) if name not in self.extents]:
                self.wrong(node, f"'{missing[0]}' is an index of no array")
        dtypes = {self.arrays[node.value.id].dtype.spec for node in self.arrays_in(right)}
        wide = next(WIDE[name] for name in WIDE if name in {*dtypes, "i32"})
        self.element, stored = build.element_type(wide), dtypes.pop() if len(dtypes) == 1 else wide
        extents = [self.extents[name] for name in self.index(left)]
        with self.b.location_of(self.file, left.lineno, left.col_offset + 1):
            self.arrays[left.value.id] = out = self.b.alloc(f"{stored}{extents}").named(left.value.id)
            with self.b.grid(*extents) as ranges:
                out[ranges] = self.value(right, dict(zip(self.index(left), ranges, strict=True))).cast(stored)

    def value(self, node: Any, ranges: dict[str, build.Range]) -> build.Value:
        """The block of an expression's values, over the ranges of its indices."""
        with self.b.location_of(self.file, node.lineno, node.col_offset + 1):
            match node:
                case ast.Constant(value=int() | float() as number):
                    return self.b.fill(number, self.element)
                case ast.Subscript(value=ast.Name(id=name)):
                    if unknown := [each for each in self.index(node) if each not in ranges]:
                        self.wrong(node, f"'{unknown[0]}' is neither on the left nor walked")
                    return self.arrays[name][tuple(ranges[each] for each in self.index(node))].cast(self.element)
                case ast.BinOp(op=op) | ast.UnaryOp(op=op) if type(op) in OPERATORS:
                    nodes = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.operand]
                    return self.lane_by_lane(OPERATORS[type(op)], nodes, ranges)
                case ast.Call(func=ast.Name(id=name), args=args):
                    if name not in ELEMENTWISE or ELEMENTWISE[name].ROW.arity != len(args):
                        self.wrong(node, f"no function '{name}' of {len(args)} values{did_you_mean(name, ELEMENTWISE)}")
                    return self.lane_by_lane(name, args, ranges)
                case ast.Call(func=ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=index)), args=[inner]):
                    if name in REDUCTIONS:
                        return self.reduce(REDUCTIONS[name], index, inner, ranges)
            self.wrong(node, "this is no expression of the language")

    def lane_by_lane(self, name: str, nodes: list[Any], ranges: dict[str, build.Range]) -> build.Value:
        axes = [ranges[each] for each in ranges if any(each in self.free(node) for node in nodes)]
        first, *others = [self.value(node, ranges).over(*axes) for node in nodes]
        return first.op(name, *others)

    def reduce(self, kind: str, index: str, inner: Any, ranges: dict[str, build.Range]) -> build.Value:
        """A loop over an index that carries what is combined; a product of matrices where it is one."""
        is_product = isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mult) and is_float(self.element)
        lhs, rhs = (inner.left, inner.right) if is_product and kind == "add" else (inner, inner)
        names = [name for name in ranges if name in self.free(inner) - {index}]
        rows, columns = ([name for name in names if name not in self.free(side)] for side in (rhs, lhs))
        if is_dot := len(rows) == len(columns) == 1 and index in self.free(lhs) & self.free(rhs):
            names = [name for name in names if name not in rows + columns] + rows + columns
        axes = [ranges[name] for name in names]
        with self.b.loop(self.extents[index], [self.b.fill(neutral(kind, self.element), self.element, *axes)]) as loop:
            inside, carried, walked = ranges | {index: loop.range}, loop.carried[0], loop.range
            if is_dot:
                left, right = self.value(lhs, inside), self.value(rhs, inside)
                loop.yield_(left.over(*axes[:-1], walked).dot(right.over(*axes[:-2], walked, axes[-1]), carried))
            else:
                part = self.value(inner, inside).over(*axes, walked).reduce(kind, walked)
                loop.yield_(carried.op(COMBINING_OPS[kind], part))
        return loop.results[0]
