"""Faults at every step of a function: its calls of the system are counted, and something is done before or after one.

Every write, rename and lock of Python's is a call of C code of these modules, so that none needs to be listed.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

#: The modules whose functions, and whose objects' methods, call the system.
SYSTEM = ("posix", "_io", "fcntl", "_posixsubprocess", "select", "time")
#: More steps than anything here takes.
MOST = 2000


class Steps:
    """Counts the calls of the system below a ``with`` statement, and their ends, of frames in files that end so."""

    def __init__(self, file: str, number: int, act: Callable[[], None]):
        self.file, self.number, self.act = file, number, act
        self.count = 0

    def __enter__(self) -> Steps:
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: Any) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, event: str, function: Any) -> None:
        if event in ("c_call", "c_return") and _calls_system(function) and self._is_below(frame):
            self.count += 1
            if self.count == self.number:
                sys.setprofile(None)
                self.act()

    def _is_below(self, frame: FrameType | None) -> bool:
        while frame is not None:
            if frame.f_code.co_filename.endswith(self.file):
                return True
            frame = frame.f_back
        return False


def _calls_system(function: Any) -> bool:
    module = getattr(function, "__module__", None) or type(getattr(function, "__self__", None)).__module__
    return module in SYSTEM


def steps_of(run: Callable[[], Any], file: str) -> int:
    """How many steps a function takes."""
    with Steps(file, MOST, lambda: None) as steps:
        run()
    assert 0 < steps.count < MOST
    return steps.count


def killed_at(number: int, run: Callable[[], Any], file: str) -> bool:
    """Runs a function in a fork of this process that is killed at a step; whether it was."""
    child = os.fork()
    if not child:
        try:
            with Steps(file, number, lambda: os.kill(os.getpid(), signal.SIGKILL)):
                run()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def raised_at(number: int, error: BaseException, run: Callable[[], Any], file: str) -> BaseException | None:
    """Runs a function in which a step raises; what comes of it."""

    def act() -> None:
        raise error

    try:
        with Steps(file, number, act):
            run()
    except BaseException as found:
        return found
    return None
