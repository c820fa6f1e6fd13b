"""A failing kernel made smaller by its text: delta debugging over its statements, and over its own numbers.

hypothesis makes what is drawn simpler, but a size stands in many places of a text and a statement may be needed to draw
the next one. Here numbers that are equal are changed together, then each alone, so that extents and blocks shrink too.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator

#: Of a generated module, the functions that are made smaller.
_FUNCTIONS = ("inputs", "kernel")
_Change = Callable[[ast.Module], bool]


def shrunk(text: str, fails: Callable[[str], bool], seconds: float = 60) -> str:
    """The smallest text that is found to fail as ``text`` does, after some time of computing at most."""
    until, tree, before = time.process_time() + seconds, ast.parse(text), ""
    while (found := ast.unparse(tree) + "\n") != before:
        before, at = found, 0
        while at < len(changes := [*_without_statements(tree), *_with_less(tree)]):
            if time.process_time() > until:
                return ast.unparse(tree) + "\n"
            made = copy.deepcopy(tree)
            if changes[at](made) and fails(ast.unparse(made) + "\n"):
                tree = made  # what follows has come to its place
            else:
                at += 1
    return found


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    """The lists of statements of the functions, the outermost first."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in _FUNCTIONS]
    nodes = [node for function in functions for node in ast.walk(function)]
    return [
        body for node in nodes for name in ("body", "orelse") if isinstance(body := getattr(node, name, None), list)
    ]


def _without_statements(tree: ast.Module) -> Iterator[_Change]:
    """A statement less; or what a loop or a branch holds in its place, which is tried last."""
    sizes = [len(body) for body in _bodies(tree)]
    for number, size in enumerate(sizes):
        for at in reversed(range(size)):
            yield lambda made, number=number, at=at: _erase(made, number, at)
    for number, size in enumerate(sizes):
        for at in range(size):
            yield lambda made, number=number, at=at: _unwrap(made, number, at)


def _erase(made: ast.Module, number: int, at: int) -> bool:
    body = _bodies(made)[number]
    if len(body) < 2 or isinstance(body[at], ast.Return):
        return False
    del body[at]
    return True


def _unwrap(made: ast.Module, number: int, at: int) -> bool:
    body = _bodies(made)[number]
    if not isinstance(inner := body[at], ast.If):
        return False
    body[at : at + 1] = inner.body
    return True


def _numbers(tree: ast.Module) -> list[ast.Constant]:
    """The integers of the functions, in the order of the text."""
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in _FUNCTIONS]
    nodes = [node for function in functions for node in ast.walk(function) if isinstance(node, ast.Constant)]
    return sorted((node for node in nodes if type(node.value) is int), key=lambda node: (node.lineno, node.col_offset))


def _with_less(tree: ast.Module) -> Iterator[_Change]:
    """A smaller number in the place of all that are equal, or of one."""
    values = [int(node.value) for node in _numbers(tree)]  # pyright: ignore[reportArgumentType]
    for value in sorted({*values}, reverse=True):
        for less in _less(value):
            yield lambda made, value=value, less=less: _replace(
                made, {n for n, each in enumerate(values) if each == value}, less
            )
    for at, value in enumerate(values):
        for less in _less(value):
            yield lambda made, at=at, less=less: _replace(made, {at}, less)


def _less(value: int) -> list[int]:
    """The numbers that are tried in a number's place, the smallest first."""
    return sorted({n for n in (0, 1, 2, value // 2, value - 1) if 0 <= n < value})


def _replace(made: ast.Module, places: set[int], number: int) -> bool:
    nodes = _numbers(made)
    for place in places:
        nodes[place].value = number
    return True
