"""Whose functions the names of the language are while a kernel runs as Python.

Imports and lowerings find the language's functions by identity and never call them. Where a kernel's own Python runs
(`kopt.eager`), they are called, and the run that is under way says what they do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol, TypeVar

from kopt.errors import UnsupportedError


class Running(Protocol):
    """A kernel's Python under way."""

    def function(self, name: str) -> Callable[..., Any]:
        """What the language's function of a name does."""
        ...

    def call(self, fn: Callable[..., Any], config: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A kernel that is called in the kernel: its function, by its own configuration."""
        ...

    def padded(self, size: int, power: int) -> None:
        """Notes that the kernel asked for the next power of two of a size."""
        ...


#: The run of this thread, or None.
RUNNING: ContextVar[Running | None] = ContextVar("kopt_running", default=None)

_F = TypeVar("_F", bound=Callable[..., Any])


def inside_kernels(function: _F) -> _F:
    """A function of the language: what a run says, and an error where none is under way."""

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        run = RUNNING.get()
        if run is not None:
            return run.function(function.__name__)(*args, **kwargs)
        raise UnsupportedError(
            f"hl.{function.__name__} is called outside of a kernel",
            notes=["call the function that uses it through @kopt.kernel"],
            id="outside-device-loop",
        )

    return called  # pyright: ignore[reportReturnType]
