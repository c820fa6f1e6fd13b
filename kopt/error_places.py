"""Where errors about a call point, which no operation knows: the kernel's definition, or that of a parameter."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kopt.errors import ConfigError, KoptError, Location
from kopt.runtime.extras import advice_for


@contextmanager
def placed(fn: Callable[..., Any]) -> Iterator[None]:
    """Errors without a place get that of ``fn``; a package that is missing is an error that says what to install."""
    try:
        yield
    except KoptError as error:
        if error.location is None or error.of_call:
            error.location, error.of_call = definition(fn, error.message), True
        raise
    except ModuleNotFoundError as error:
        if (advice := advice_for(error.name)) is None:
            raise
        message = f"{fn.__name__}: this needs {error.name}, which is not installed"
        refusal = ConfigError(message, definition(fn, message), notes=[advice])
        refusal.of_call = True
        raise refusal from error


def definition(fn: Callable[..., Any], message: str = "") -> Location | None:
    """The place of the parameter that a message quotes first, else of the function's name."""
    code = inspect.unwrap(fn, stop=lambda f: hasattr(f, "__code__")).__code__
    try:
        lines, first = inspect.getsourcelines(code)
        node = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (OSError, SyntaxError, IndexError):
        return Location(code.co_filename, code.co_firstlineno)
    indent = len(lines[0]) - len(lines[0].lstrip())
    if not isinstance(node, ast.FunctionDef):
        return Location(code.co_filename, first, indent + 1)
    line, column, width = node.lineno, node.col_offset + len("def "), len(node.name)
    quoted = re.findall(r"'(\w+)'", message)
    every = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
    if (arg := next((arg for name in quoted for arg in every if _is_part(name, arg.arg)), None)) is not None:
        line, column, width = arg.lineno, arg.col_offset, len(arg.arg)
    column += indent + 1
    return Location(code.co_filename, first + line - 1, column, column + width)


def _is_part(name: str, parameter: str) -> bool:
    """Whether a name is a parameter's, or that of an item in it: ``xs_0`` of ``xs``."""
    return name == parameter or re.fullmatch(rf"{re.escape(parameter)}(_\w+)", name) is not None
