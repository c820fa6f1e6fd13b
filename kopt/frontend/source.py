"""From a function object to the same function, rewritten: its source, its syntax tree, its closure.

The rewritten code is compiled under the original file name and line numbers, so that every frame of it knows the
line and column of what it runs (`place_of`).
"""

from __future__ import annotations

import ast
import copy
import inspect
import linecache
import sys
from collections.abc import Callable
from types import CellType, CodeType, FrameType, FunctionType
from typing import Any

from kopt.error_places import instruction
from kopt.errors import Location, UnsupportedError
from kopt.frontend.rewrite import HOOKS, rewrite, rewrite_lambda

#: Rewritten code by file and original code (equal code of two files is equal to Python), and line and column of every
#: instruction of rewritten code.
_rewritten: dict[tuple[str, CodeType], CodeType] = {}
_positions: dict[CodeType, list[Any]] = {}
_trees: dict[tuple[str, int], ast.Module] = {}


def clear_caches() -> None:
    """Forgets every rewritten function (a measurement of cold imports wants that)."""
    _rewritten.clear()
    _trees.clear()


def is_rewritten(function: FunctionType) -> bool:
    """Whether a function is the product of `rewritten`, or was defined inside one."""
    return function.__code__ in _positions


def rewritten(function: FunctionType, hooks: Any) -> FunctionType:
    """The function with its control flow in terms of ``hooks``, over the same globals, cells and defaults.

    Raises `UnsupportedError` where there is no source (``exec``, an interactive prompt), and where the file no longer
    is what the function was compiled from.
    """
    key = function.__code__.co_filename, function.__code__
    code = _rewritten.get(key)
    if code is None:
        code = _rewritten[key] = _rewrite_code(function)
        _register(code)
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[HOOKS] = CellType(hooks)
    closure = tuple(cells[name] for name in code.co_freevars)
    new = FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    new.__kwdefaults__ = function.__kwdefaults__
    return new


def place_of(frame: FrameType | None) -> Location | None:
    """Where in the user's source a frame stands, or the innermost rewritten one that called it."""
    while frame is not None and not runs_rewritten(frame):
        frame = frame.f_back
    return None if frame is None else instruction(frame.f_code, frame.f_lasti, positions)


def user_place() -> Location | None:
    """Where in the user's source the innermost rewritten frame above the caller stands."""
    return place_of(sys._getframe(1))


def runs_rewritten(frame: FrameType) -> bool:
    """Whether a frame runs rewritten code."""
    return frame.f_code in _positions


def positions(code: CodeType) -> list[Any]:
    """Line, end line, column and end column of each instruction of rewritten code."""
    return _positions[code]


def _register(code: CodeType) -> None:
    _positions[code] = list(code.co_positions())
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            _register(constant)


def _rewrite_code(function: FunctionType) -> CodeType:
    """The code of a function with hooks. Python's own walks of syntax trees recurse: an expression has some depth."""
    try:
        return _with_hooks(function)
    except RecursionError:
        code = function.__code__
        message = "an expression of this function is nested too deeply"
        note = "write its parts as statements: y = a + b, then y = y + c"
        raise UnsupportedError(message, Location(code.co_filename, code.co_firstlineno), [note]) from None


def _with_hooks(function: FunctionType) -> CodeType:
    code = function.__code__
    node = _lambda_node(function) if code.co_name == "<lambda>" else _function_node(function)
    if isinstance(node, ast.Lambda):
        body: list[ast.stmt] = [ast.Return(rewrite_lambda(node))]
        ast.copy_location(body[0], node)
    else:
        body = [rewrite(node)]
        # A function of a module that calls itself means the module's name, not that of the definition in the closure.
        body[:0] = [] if code.co_name in code.co_freevars else [ast.Global([code.co_name])]
    names = [*code.co_freevars, HOOKS]
    free = ast.arguments(posonlyargs=[], args=[ast.arg(n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[])
    outer = ast.FunctionDef("__kopt_closure__", free, body, [])
    ast.copy_location(outer, body[-1])
    module = ast.fix_missing_locations(ast.Module([outer], []))
    compiled = compile(module, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE)
    return _inner(_inner(compiled, "__kopt_closure__"), code.co_name)


#: ``from __future__`` flags that matter inside a function.
_FUTURE = 0x1000000


def _inner(code: CodeType, name: str) -> CodeType:
    return next(c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name)


def _function_node(function: FunctionType) -> ast.FunctionDef:
    code = function.__code__
    lines = _lines(function)
    block = inspect.getblock(lines[code.co_firstlineno - 1 :])
    indented = block[0][:1].isspace()
    # Empty lines keep the line numbers; an indented function is parsed under an `if`, which keeps its columns.
    above = "\n" * (code.co_firstlineno - 2) + "if 1:\n" if indented else "\n" * (code.co_firstlineno - 1)
    try:
        tree: Any = ast.parse(above + "".join(block))
        node = tree.body[0].body[0] if indented else tree.body[0]
    except SyntaxError:
        node = _find(_whole(function, lines), code)
    if not isinstance(node, ast.FunctionDef) or node.name != code.co_name:
        raise _changed(function)
    _check_unchanged(node, function)
    return node


def _find(tree: ast.Module, code: CodeType) -> Any:
    """The definition in a whole file whose first line, decorators included, is the code's."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            if first == code.co_firstlineno:
                return copy.deepcopy(node)
    return None


def _lambda_node(function: FunctionType) -> ast.Lambda:
    """The lambda of the file that stands where the code's first instruction does."""
    code = function.__code__
    tree = _whole(function, _lines(function))
    places = {(line, col) for line, _, col, _ in code.co_positions()}
    arguments = code.co_varnames[: code.co_argcount]
    best = None
    for node in ast.walk(tree):
        if isinstance(node, ast.Lambda) and tuple(a.arg for a in node.args.args) == arguments:
            body = {(n.lineno, n.col_offset) for n in ast.walk(node.body) if isinstance(n, ast.expr)}
            if body & places and (best is None or _span(node) < _span(best)):
                best = node
    if best is None:
        raise _changed(function)
    return copy.deepcopy(best)


def _span(node: ast.expr) -> tuple[int, int]:
    return (node.end_lineno or 0) - node.lineno, (node.end_col_offset or 0) - node.col_offset


def _whole(function: FunctionType, lines: list[str]) -> ast.Module:
    key = (function.__code__.co_filename, hash(tuple(lines)))
    if key not in _trees:
        _trees[key] = ast.parse("".join(lines))
    return _trees[key]


def _lines(function: FunctionType) -> list[str]:
    name = function.__code__.co_filename
    lines = linecache.getlines(name, function.__globals__)
    if len(lines) < function.__code__.co_firstlineno:
        raise UnsupportedError(
            f"the source of '{function.__name__}' cannot be found ({name})",
            notes=["a kernel is imported from its source: define it in a file or a notebook cell, not with exec"],
            id="no-source",
        )
    return lines


def _check_unchanged(node: ast.FunctionDef, function: FunctionType) -> None:
    """The function's names are still those of its source; a test runner may have added hidden ones."""
    code = function.__code__
    arguments = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    if tuple(arguments) != code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        raise _changed(function)
    known = {n for n in (*code.co_varnames, *code.co_cellvars) if n.isidentifier()}
    if known - {name for n in ast.walk(node) for name in _NAMES.get(type(n), _no_names)(n)}:
        raise _changed(function)


def _no_names(_: Any) -> tuple[str, ...]:
    return ()


#: The names that a node of each kind may bind.
_NAMES: dict[type, Callable[[Any], tuple[str, ...]]] = {
    ast.Name: lambda n: (n.id,),
    ast.arg: lambda n: (n.arg,),
    ast.FunctionDef: lambda n: (n.name,),
    ast.ClassDef: lambda n: (n.name,),
    ast.alias: lambda n: ((n.asname or n.name).split(".")[0],),
    ast.ExceptHandler: lambda n: (n.name,) if n.name else (),
}


def _changed(function: FunctionType) -> UnsupportedError:
    code = function.__code__
    return UnsupportedError(
        f"the source of '{function.__name__}' in {code.co_filename} is not what was loaded",
        notes=["the file changed after it was imported: load it again"],
        id="no-source",
    )
