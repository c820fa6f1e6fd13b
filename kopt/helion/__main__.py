"""``python -m kopt.helion [--target TARGET] program.py [arguments]``: runs a program of Helion kernels through kopt."""

from __future__ import annotations

import contextlib
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from kopt.errors import ConfigError, KoptError
from kopt.helion import enabled
from kopt.tools.command_line import ArgumentParser, place

_PROG = "python -m kopt.helion"


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a program as ``python`` would, and gives its exit code; 1 for what kopt refuses, without a traceback."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        options = _parser().parse_args(arguments)
        program, *rest = options.program or [""]
        _check(program, options.module, arguments)
        with enabled(options.target):
            _run(program, rest, options.module)
        return 0
    except KoptError as error:
        shown = place(error, arguments, prog=_PROG) if error.location is None else error
        print(shown, *_call(error.__traceback__), sep="\n", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        traceback.print_exception(type(error), error, _of_program(error.__traceback__))
        return 1


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog=_PROG, description="Runs a program of Helion kernels, unchanged, through kopt.")
    parser.add_argument("--target", "-t", help="where kernels run; by default the accelerator, else triton:interpret")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module, as in python -m")
    parser.add_argument("program", nargs="...", help="the program and its own arguments")
    return parser


def _check(program: str, is_module: bool, argv: Sequence[str]) -> None:
    """Raises `ConfigError` where there is no such program."""
    if not program:
        raise place(ConfigError("which program is to be run?"), argv, "", _PROG)
    if not is_module and not os.path.exists(program):
        raise place(ConfigError(f"there is no file '{program}'", id="file"), argv, program, _PROG)


def _run(program: str, arguments: list[str], is_module: bool) -> None:
    """The program as ``__main__``, with its own ``sys.argv`` and ``sys.path``."""
    saved = sys.argv, sys.path[:]
    sys.argv = [program, *arguments]
    try:
        if is_module:
            runpy.run_module(program, run_name="__main__", alter_sys=True)
        else:
            sys.path[0] = str(Path(program).resolve().parent)
            runpy.run_path(program, run_name="__main__")
    finally:
        sys.argv, sys.path[:] = saved


def _call(steps: TracebackType | None) -> list[str]:
    """Where the program called the kernel that was refused: the frame before the first of this package's own."""
    frames = traceback.extract_tb(steps)
    folder = os.path.dirname(__file__)
    inside = (number for number, frame in enumerate(frames) if os.path.dirname(frame.filename) == folder)
    entered = next((number for number in inside if frames[number].filename != __file__), 0)
    caller = frames[entered - 1]
    return [f"{caller.filename}:{caller.lineno}: note: called here"] if entered else []


def _of_program(steps: TracebackType | None) -> TracebackType | None:
    """A traceback from where the program begins."""
    while steps is not None and steps.tb_frame.f_code.co_filename in (__file__, *_RUNNERS):
        steps = steps.tb_next
    return steps


#: The files whose frames stand between this one and the program.
_RUNNERS = (runpy.run_path.__code__.co_filename, contextlib.__file__)


if __name__ == "__main__":
    sys.exit(main())
