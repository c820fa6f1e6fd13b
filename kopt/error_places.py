"""Where errors point that no operation knows: of a call the kernel's definition, of a kernel's Python its line."""

from __future__ import annotations

import ast
import builtins
import dis
import inspect
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, ModuleType, TracebackType
from typing import Any

from kopt.errors import ConfigError, KoptError, Location, UnsupportedError
from kopt.registry import did_you_mean
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
        refusal = ConfigError(message, definition(fn, message), notes=[advice], id="missing-package")
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
        raise _as_ours(error, place) from error


def _as_ours(error: Exception, place: Location) -> UnsupportedError:
    """What Python says of a kernel's line; of a name that there is not, the one that was meant."""
    name = str(getattr(error, "name", None) or next(iter(re.findall(r"'(\w+)'", str(error))), ""))
    if isinstance(error, UnboundLocalError):
        why = "no line that ran has assigned it: a branch was not taken, or a loop visited nothing"
        return UnsupportedError(f"'{name}' has no value here: {why}", place, id="no-value")
    if isinstance(error, NameError):
        frame = _steps(error)[-1].tb_frame
        known = {*frame.f_locals, *frame.f_globals, *vars(builtins)}
        return _unknown(f"there is no name '{name}'", name, known, place)
    if isinstance(error, AttributeError) and error.obj is not None and error.name is not None:
        owner = error.obj
        what = owner.__name__ if isinstance(owner, ModuleType | type) else f"a value of type {type(owner).__name__}"
        return _unknown(f"{what} has no '{name}'", name, dir(owner), place)
    return UnsupportedError(f"{type(error).__name__}: {error}", place, id="python-error")


def _unknown(message: str, name: str, known: Iterable[str], place: Location) -> UnsupportedError:
    public = [other for other in known if not other.startswith("_") or name.startswith("_")]
    return UnsupportedError(message + did_you_mean(name, public), place, id="unknown-name")


def _line(
    error: BaseException, is_kernels: Callable[[FrameType], bool], positions: Callable[[CodeType], list[Any]]
) -> Location | None:
    passed = [step for step in _steps(error) if is_kernels(step.tb_frame)]
    return instruction(passed[-1].tb_frame.f_code, passed[-1].tb_lasti, positions) if passed else None


def instruction(code: CodeType, number: int, positions: Callable[[CodeType], list[Any]]) -> Location:
    """The place of an instruction in the source; of one of several lines, where it begins."""
    line, last, col, end = positions(code)[number // 2]
    return Location(code.co_filename, line or 1, (col or 0) + 1, (end or 0) + 1 if last == line else None)


def _is_raised_by(error: BaseException, is_kernels: Callable[[FrameType], bool]) -> bool:
    """Whether a ``raise`` of the kernel's made an error, or passed it on; Python raises others at its mistakes."""
    last = _steps(error)[-1]
    opcode = last.tb_frame.f_code.co_code[last.tb_lasti]
    return is_kernels(last.tb_frame) and dis.opname[opcode] in ("RAISE_VARARGS", "RERAISE")


def _steps(error: BaseException) -> list[TracebackType]:
    found, step = [], error.__traceback__
    while step is not None:
        found.append(step)
        step = step.tb_next
    return found


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
