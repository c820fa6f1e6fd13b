"""Mutation operators: the small changes that are made to functions, each as a piece of text in place of another.

Annotations, docstrings, messages of errors and assertions stay as they are: no result depends on them. That what is
zipped is equally long (``strict=True``) is such an assertion.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.FloorDiv: "*",
    ast.Div: "*",
    ast.Mod: "//",
    ast.BitOr: "&",
    ast.BitAnd: "|",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.Pow: "*",
}
#: Functions whose arguments may change places.
_SYMMETRIC = ("min", "max", "gcd", "lcm", "minimum", "maximum")
#: Functions of kopt that raise an error of what they are given.
_REFUSING = ("unsupported", "mismatch")
_CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "reversed": "list", "sum": "max"}


@dataclass(frozen=True, order=True)
class Mutant:
    """``old`` at an offset of a file's text becomes ``new``, inside of a function."""

    file: str
    function: str
    line: int
    at: int
    old: str
    new: str

    def applied(self, text: str) -> str:
        """The file's text with the change."""
        assert text[self.at : self.at + len(self.old)] == self.old
        return text[: self.at] + self.new + text[self.at + len(self.old) :]


class _Places:
    """Nodes as pieces of text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = text.splitlines(keepends=True)

    def offset(self, line: int, column: int) -> int:
        """Of a place that `ast` gives in bytes."""
        return self.starts[line - 1] + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Where a node's text begins and ends."""
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def of(self, node: ast.expr | ast.stmt) -> str:
        """A node's text."""
        start, end = self.span(node)
        return self.text[start:end]


Change = tuple[int, str, str]


def mutants(file: str, text: str) -> list[Mutant]:
    """All mutants of a file's functions."""
    places = _Places(text)
    found: set[Mutant] = set()
    for function, node in _nodes(ast.parse(text)):
        for at, old, new in _changes(node, places):
            if old != new:
                found.add(Mutant(file, function, text.count("\n", 0, at) + 1, at, old, new))
    return sorted(found, key=lambda m: (m.at, m.old, m.new))


def statement(text: str, at: int) -> range:
    """The lines of the statement at an offset, without statements inside of it, from its outermost function's first.

    Outside of functions there are none.
    """
    line, first = text.count("\n", 0, at) + 1, 0
    lines = range(0)
    inside = False
    node: ast.AST = ast.parse(text)
    while (inner := _at_line(node, line)) is not None:
        node = inner
        if isinstance(node, ast.FunctionDef) and not inside:
            inside, first = True, node.lineno
        end = min((each.lineno for each in _statements(node)), default=(node.end_lineno or line) + 1)
        lines = range(node.lineno - first, max(end, node.lineno + 1) - first)
    return lines if inside else range(0)


def _statements(node: ast.AST) -> list[ast.stmt]:
    """Those that are directly inside of one, cases and handlers of errors included."""
    found = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            found.append(child)
        elif isinstance(child, ast.match_case | ast.ExceptHandler):
            found += _statements(child)
    return found


def _at_line(node: ast.AST, line: int) -> ast.stmt | None:
    """The statement in another that has a line."""
    return next((each for each in _statements(node) if each.lineno <= line <= (each.end_lineno or each.lineno)), None)


def _nodes(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What is inside of functions, with the outermost function's qualified name."""

    def visit(node: ast.AST, names: tuple[str, ...], inside: bool) -> Iterator[tuple[str, ast.AST]]:
        for child in _children(node):
            name = names
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and not inside:
                name = (*names, child.name)
            if inside:
                yield ".".join(name), child
            yield from visit(child, name, inside or isinstance(child, ast.FunctionDef))

    return visit(tree, (), False)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that results depend on."""
    if isinstance(node, ast.Assert | ast.Raise) or _refuses(node):
        return
    skipped: list[ast.AST | None] = []
    if isinstance(node, ast.FunctionDef):
        skipped = [*node.decorator_list, node.args, node.returns]
    elif isinstance(node, ast.AnnAssign):
        skipped = [node.annotation]
    elif isinstance(node, ast.Call):
        cast = isinstance(node.func, ast.Name) and node.func.id in ("cast", "isinstance")
        skipped = [node.args[0]] if cast and node.func.id == "cast" else node.args[1:] if cast else []  # type: ignore
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.keyword) and child.arg == "strict":
            continue
        if not any(child is each for each in skipped):
            yield child


def _refuses(node: ast.AST) -> bool:
    """Whether a statement raises an error by a call."""
    call = node.value if isinstance(node, ast.Expr) else None
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in _REFUSING


def _changes(node: ast.AST, places: _Places) -> Iterator[Change]:
    for kind, operator in _OPERATORS.items():
        if isinstance(node, kind):
            yield from operator(node, places)


def _between(left: ast.expr, right: ast.expr, old: str, new: str, places: _Places) -> Iterator[Change]:
    """The operator between two operands."""
    start, end = places.span(left)[1], places.span(right)[0]
    at = places.text.find(old, start, end)
    if at >= 0:
        yield at, old, new


_SIGNS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is",
    ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in", ast.Add: "+", ast.Sub: "-", ast.Mult: "*",
    ast.FloorDiv: "//", ast.Div: "/", ast.Mod: "%", ast.BitOr: "|", ast.BitAnd: "&", ast.LShift: "<<",
    ast.RShift: ">>", ast.Pow: "**", ast.And: "and", ast.Or: "or",
}  # fmt: skip


def _comparison(node: ast.Compare, places: _Places) -> Iterator[Change]:
    operands = [node.left, *node.comparators]
    for left, op, right in zip(operands, node.ops, operands[1:], strict=False):
        for new in _COMPARISONS.get(type(op), ()):
            yield from _between(left, right, _SIGNS[type(op)], new, places)


def _arithmetic(node: ast.BinOp, places: _Places) -> Iterator[Change]:
    if type(node.op) in _ARITHMETIC:
        yield from _between(node.left, node.right, _SIGNS[type(node.op)], _ARITHMETIC[type(node.op)], places)


def _and_or(node: ast.BoolOp, places: _Places) -> Iterator[Change]:
    """One operand alone, or the other connective between all."""
    start, end = places.span(node)
    old = places.text[start:end]
    new, word = old, " or " if isinstance(node.op, ast.And) else " and "
    for left, right in reversed(list(zip(node.values, node.values[1:], strict=False))):
        a, b = places.span(left)[1] - start, places.span(right)[0] - start
        gap = old[a:b]
        new = new[:a] + gap.replace(_SIGNS[type(node.op)], word.strip()) + new[b:]
    yield start, old, f"({new})"
    for dropped in node.values:
        rest = [f"({places.of(each)})" for each in node.values if each is not dropped]
        yield start, old, f"({f' {_SIGNS[type(node.op)]} '.join(rest)})"


def _without(node: ast.UnaryOp, places: _Places) -> Iterator[Change]:
    """An operand without its sign."""
    if isinstance(node.op, ast.Not | ast.USub):
        yield places.span(node)[0], places.of(node), f"({places.of(node.operand)})"


def _number(node: ast.Constant, places: _Places) -> Iterator[Change]:
    old = places.of(node)
    if isinstance(node.value, bool):
        yield places.span(node)[0], old, str(not node.value)
    elif isinstance(node.value, int):
        yield places.span(node)[0], old, str(node.value + 1)


def _test(node: ast.If | ast.While | ast.IfExp, places: _Places) -> Iterator[Change]:
    yield places.span(node.test)[0], places.of(node.test), f"(not ({places.of(node.test)}))"


def _filter(node: ast.comprehension, places: _Places) -> Iterator[Change]:
    for test in node.ifs:
        yield places.span(test)[0], places.of(test), "True"


def _returned(node: ast.Return, places: _Places) -> Iterator[Change]:
    """No value. To who asks whether something holds, False is that already."""
    constant = node.value.value if isinstance(node.value, ast.Constant) else ...
    if node.value is not None and constant is not None and constant is not False:
        yield places.span(node.value)[0], places.of(node.value), "None"


def _dropped(node: ast.Expr | ast.AugAssign | ast.Raise, places: _Places) -> Iterator[Change]:
    """A statement that is not there; a docstring is none."""
    if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        yield places.span(node)[0], places.of(node), "pass"


def _jump(node: ast.Break | ast.Continue, places: _Places) -> Iterator[Change]:
    yield places.span(node)[0], places.of(node), "continue" if isinstance(node, ast.Break) else "break"


def _call(node: ast.Call, places: _Places) -> Iterator[Change]:
    """Another function of the same form; two arguments changed for each other; a named argument left out."""
    if isinstance(node.func, ast.Name) and node.func.id in _CALLS and not node.keywords:
        yield places.span(node.func)[0], node.func.id, _CALLS[node.func.id]
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    symmetric = name in _SYMMETRIC
    for left, right in zip(node.args, [] if symmetric else node.args[1:], strict=False):
        if not isinstance(left, ast.Starred) and not isinstance(right, ast.Starred):
            start, end = places.span(left)[0], places.span(right)[1]
            between = places.text[places.span(left)[1] : places.span(right)[0]]
            yield start, places.text[start:end], places.of(right) + between + places.of(left)


_OPERATORS: dict[type | tuple[type, ...], Callable[..., Iterator[Change]]] = {
    ast.Compare: _comparison,
    ast.BinOp: _arithmetic,
    ast.BoolOp: _and_or,
    ast.UnaryOp: _without,
    ast.Constant: _number,
    (ast.If, ast.While, ast.IfExp): _test,
    ast.comprehension: _filter,
    ast.Return: _returned,
    (ast.Expr, ast.AugAssign, ast.Raise): _dropped,
    (ast.Break, ast.Continue): _jump,
    ast.Call: _call,
}
