"""Whether the loops of an emitted Pallas module have counts that its text says.

libtpu's profile makes a count up where a loop's bound is computed: from loaded numbers, from the cell. What it then
estimates is vacuous. Numbers may go by names, and through the arithmetic that printers write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

Names = dict[str, ast.expr | None]


def has_computed_loops(source: str) -> bool:
    """Whether a loop or a grid of the module has a count that is computed while it runs."""
    return any(not _is_known(count, names) for count, names in _counts(ast.parse(source), {}))


def _counts(node: ast.AST, names: Names) -> Iterator[tuple[ast.expr, Names]]:
    """The counts of all loops and grids within a node, with what names mean there."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda)):
        names = {**names, **_assigned(node)}
    if isinstance(node, ast.Call):
        for count in _counts_of_call(node):
            yield count, names
    for child in ast.iter_child_nodes(node):
        yield from _counts(child, names)


def _counts_of_call(call: ast.Call) -> Iterator[ast.expr]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if name == "while_loop":
        yield call
    elif name == "fori_loop":
        yield from call.args[:2]
    for keyword in call.keywords:
        if keyword.arg == "grid":
            yield from keyword.value.elts if isinstance(keyword.value, (ast.Tuple, ast.List)) else [keyword.value]


def _assigned(function: ast.FunctionDef | ast.Lambda) -> Names:
    """What a function's names mean: the one value that each is given, None for arguments and all others."""
    every = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    stores = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    names: Names = dict.fromkeys([*(arg.arg for arg in every), *stores])
    for statement in function.body if isinstance(function, ast.FunctionDef) else ():
        if isinstance(statement, ast.Assign):
            given = [node.id for node in ast.walk(statement.targets[0]) if isinstance(node, ast.Name)]
            names |= {name: statement.value for name in given if stores.count(name) == 1}
    return names


#: Functions of numbers that are numbers themselves.
_CALLS = {"maximum", "minimum", "max", "min", "cdiv", "multiple_of", "int32", "len"}


def _is_known(node: ast.expr | None, names: Names) -> bool:
    """Whether an expression is a number before the kernel runs: made of constants and of arrays' shapes."""
    match node:
        case ast.Constant() | ast.Attribute(attr="shape" | "size" | "ndim"):
            return True
        case ast.Name():
            return _is_known(names.get(node.id), names)
        case ast.UnaryOp():
            return _is_known(node.operand, names)
        case ast.BinOp():
            return _is_known(node.left, names) and _is_known(node.right, names)
        case ast.Subscript():
            return _is_known(node.value, names) and _is_known(node.slice, names)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _CALLS:
            return all(_is_known(arg, names) for arg in node.args)
    return False
