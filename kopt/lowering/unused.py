"""Names that emitted code assigns and never reads: left behind where index arithmetic cancelled. Their lines go."""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: What may be called in an expression that is dropped, besides ``jnp``'s functions. Loops and atomics have effects.
_PURE_CALLS = ("pl.multiple_of", "pl.cdiv", "pl.ds", "pl.program_id", "jax.lax.broadcasted_iota", "jax.lax.div",
               "jax.lax.rem", "tl.arange", "tl.program_id", "tl.cdiv")  # fmt: skip
_EXPRESSIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Tuple)
_PARTS = (ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.keyword)


def drop_unused(text: str) -> str:
    """The text without assignments of plain arithmetic to names that its function never reads."""
    while lines := set(_unused_lines(ast.parse(text))):
        text = "\n".join(line for number, line in enumerate(text.split("\n"), 1) if number not in lines)
    return text


def _unused_lines(module: ast.Module) -> Iterator[int]:
    for function in module.body:
        if isinstance(function, ast.FunctionDef):
            read = {node.id for node in ast.walk(function) if isinstance(node, ast.Name) and _is_read(node)}
            for node in ast.walk(function):
                if isinstance(node, ast.Assign) and _assigns_unread(node, read) and _is_arithmetic(node.value):
                    yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def _is_read(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Store)


def _assigns_unread(node: ast.Assign, read: set[str]) -> bool:
    return all(isinstance(target, ast.Name) and target.id not in read for target in node.targets)


def _is_arithmetic(expression: ast.expr) -> bool:
    """Whether computing an expression does nothing else: no reads of memory, no calls of unknown functions."""
    return all(
        isinstance(node, (*_EXPRESSIONS, *_PARTS)) and (not isinstance(node, ast.Call) or _is_pure(node.func))
        for node in ast.walk(expression)
    )


def _is_pure(function: ast.expr) -> bool:
    name = ast.unparse(function)
    return name in _PURE_CALLS or name.startswith("jnp.")
