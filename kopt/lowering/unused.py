"""Names that emitted code assigns and never reads: left behind where index arithmetic cancelled. Their lines go."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator

#: What may be called in an expression that is dropped, besides ``jnp``'s functions. Loops and atomics have effects.
_PURE_CALLS = ("pl.multiple_of", "pl.cdiv", "pl.ds", "pl.program_id", "jax.lax.broadcasted_iota", "jax.lax.div",
               "jax.lax.rem", "tl.arange", "tl.program_id", "tl.cdiv")  # fmt: skip
_EXPRESSIONS = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Tuple)
#: What no empty line follows.
_BEGINS = re.compile(r"\):(  #.*)?\Z")
#: What begins in the first column.
_PARTS_OF_TEXT = re.compile(r"^(?=\S)", re.MULTILINE)
#: An assignment to one name.
_ASSIGNED = re.compile(r"^ +(\w+) = ", re.MULTILINE)
#: What of a function's text reads no name: strings, comments, attributes, targets, parameters.
_NO_READ = re.compile(
    r'"""[\s\S]*?"""|"[^"\n]*"|\'[^\'\n]*\'|#.*|\.\w+|\b\w+ *(?:[-+*/%&|^@:]|//|\*\*|<<|>>)?=(?!=)'
    r"|\bfor [^:\n]*? in |\blambda [^:]*:|\bdef \w+\([^)]*\)"
)
_NAME = re.compile(r"[^\W\d]\w*")
_PARTS = (ast.operator, ast.unaryop, ast.cmpop, ast.expr_context, ast.keyword)


def drop_unused(text: str) -> str:
    """The text without assignments of plain arithmetic to names that its function never reads."""
    lines: set[int] = set()
    if any(map(_may_assign_unread, _PARTS_OF_TEXT.split(text))):
        functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
        lines = {number for function in functions for number in _unused_lines(function)}
    kept: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if number not in lines and (line or not (kept and _BEGINS.search(kept[-1]))):
            kept.append(line)
    return "".join(f"{line}\n" for line in kept)


def _may_assign_unread(text: str) -> bool:
    """Whether a function may assign a name that it does not read, by its text alone: most do not.

    Where the text leaves it open it says so; then the text is parsed.
    """
    return not {*_ASSIGNED.findall(text)} <= {*_NAME.findall(_NO_READ.sub(" ", text))}


def _unused_lines(function: ast.FunctionDef) -> Iterator[int]:
    """The lines of assignments whose names nothing reads, or only what goes itself; and of conditions for nothing else.

    What stands under a condition is a function ``_``, which an empty line follows.
    """
    reads = Counter(_names_read(function))
    assignments = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and _is_arithmetic(node.value)]
    guards = [node for node in ast.walk(function) if isinstance(node, ast.FunctionDef) and node.name == "_"]
    gone: set[ast.stmt] = set()
    while unread := [
        *(node for node in assignments if node not in gone and _assigns_unread(node, reads)),
        *(node for node in guards if node not in gone and gone.issuperset(node.body)),
    ]:
        gone.update(unread)
        for node in unread:
            decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
            for part in decorators or [node]:
                reads -= Counter(_names_read(part))
            first, last = min(part.lineno for part in (node, *decorators)), node.end_lineno or node.lineno
            yield from range(first, last + 1 + bool(decorators))


def _names_read(node: ast.AST) -> Iterator[str]:
    return (name.id for name in ast.walk(node) if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Store))


def _assigns_unread(node: ast.Assign, reads: Counter[str]) -> bool:
    return all(isinstance(target, ast.Name) and not reads[target.id] for target in node.targets)


def _is_arithmetic(expression: ast.expr) -> bool:
    """Whether computing an expression does nothing else: no reads of memory, no calls of unknown functions."""
    return all(
        isinstance(node, (*_EXPRESSIONS, *_PARTS)) and (not isinstance(node, ast.Call) or _is_pure(node.func))
        for node in ast.walk(expression)
    )


def _is_pure(function: ast.expr) -> bool:
    name = ast.unparse(function)
    return name in _PURE_CALLS or name.startswith("jnp.")
