"""Where errors point that no operation knows: of a call the kernel's definition, of a kernel's Python its line."""

from __future__ import annotations

import ast
import dis
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any

from kopt.errors import ConfigError, KoptError, Location, UnsupportedError
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


@contextmanager
def located(is_kernels: Callable[[FrameType], bool], positions: Callable[[CodeType], list[Any]]) -> Iterator[None]:
    """Turns what goes wrong below a kernel's Python into an error at the line of the kernel that caused it.

    That is the innermost one that the error passed, of the frames that are the kernel's. ``positions`` are the lines
    and columns of each instruction of its code. What the kernel itself raises passes as it is.
    """
    try:
        yield
    except KoptError as error:
        if error.location is None:
            error.location = _line(error, is_kernels, positions)
        raise
    except Exception as error:
        place = _line(error, is_kernels, positions)
        if place is None or _is_raised_by(error, is_kernels):
            raise
        raise UnsupportedError(f"{type(error).__name__}: {error}", place) from error


def _line(
    error: BaseException, is_kernels: Callable[[FrameType], bool], positions: Callable[[CodeType], list[Any]]
) -> Location | None:
    passed = [step for step in _steps(error) if is_kernels(step.tb_frame)]
    return instruction(passed[-1].tb_frame.f_code, passed[-1].tb_lasti, positions) if passed else None


def instruction(code: CodeType, number: int, positions: Callable[[CodeType], list[Any]]) -> Location:
    """The place of an instruction in the source."""
    line, _, col, end = positions(code)[number // 2]
    return Location(code.co_filename, line or 1, (col or 0) + 1, (end or 0) + 1)


def _is_raised_by(error: BaseException, is_kernels: Callable[[FrameType], bool]) -> bool:
    """Whether a ``raise`` of the kernel's made an error, or passed it on; Python raises others at its mistakes."""
    (*_, last) = _steps(error)
    opcode = last.tb_frame.f_code.co_code[last.tb_lasti]
    return is_kernels(last.tb_frame) and dis.opname[opcode] in ("RAISE_VARARGS", "RERAISE")


def _steps(error: BaseException) -> Iterator[TracebackType]:
    step = error.__traceback__
    while step is not None:
        yield step
        step = step.tb_next


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
