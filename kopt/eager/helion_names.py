"""``helion.language`` in kernels that run as Python: its functions are found by identity.

Helion calls what it calls a reference implementation where one of its own runs is under way; there this asks first
whether a run of kopt's is.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from kopt import language
from kopt.helion_configs import config_of
from kopt.language.running import RUNNING

_installed = False


def install() -> None:
    """Once, where Helion is loaded."""
    global _installed
    if _installed or "helion.language" not in sys.modules:
        return
    _installed = True
    ref_mode: Any = sys.modules["helion.runtime.ref_mode"]
    is_in, dispatch = ref_mode.is_in_ref_mode_context, ref_mode.dispatch_reference
    names = _names()

    def is_in_ref_mode_context() -> bool:
        return RUNNING.get() is not None or is_in()

    def dispatch_reference(function: Any, reference: Any, args: tuple[Any, ...]) -> Any:
        run = RUNNING.get()
        if run is None:
            return dispatch(function, reference, args)
        call = _bound(function._signature, args)
        return run.function(names[function])(*call.args, **call.kwargs)

    ref_mode.is_in_ref_mode_context, ref_mode.dispatch_reference = is_in_ref_mode_context, dispatch_reference
    for function, name in names.items():
        if hasattr(function, "_prepare_args"):
            _install_unprepared(function)
        elif isinstance(function, FunctionType):
            _install_plain(function, name)
    _install_kernels()


def _names() -> dict[Callable[..., Any], str]:
    """kopt's name of each function of Helion's."""
    theirs = sys.modules["helion.language"]
    return {getattr(theirs, name): name for name in language.__all__ if hasattr(theirs, name)}


def _install_unprepared(function: Any) -> None:
    """A function gives its arguments as they are to a run, which Helion would check by its own environment.

    Helion also refuses at once what it has no reference for, such as ``hl.jagged_tile``.
    """
    theirs = function._prepare_args
    function._prepare_args = lambda *args: theirs(*args) if RUNNING.get() is None else args

    def none(*_: Any) -> None:
        raise AssertionError(f"{function.__qualname__} does not have a ref mode implementation yet")

    function._ref_fn = function._ref_fn or none


def _install_plain(function: FunctionType, name: str) -> None:
    """A function that asks Helion for no reference, such as ``hl.arange``, asks here first.

    Kernels may have imported it by name. So the function stays the same object, and its code changes.
    """
    theirs = FunctionType(function.__code__, function.__globals__, name, function.__defaults__, function.__closure__)
    theirs.__kwdefaults__ = function.__kwdefaults__

    def call(*args: Any, **kwargs: Any) -> Any:
        run = RUNNING.get()
        return theirs(*args, **kwargs) if run is None else run.function(name)(*args, **kwargs)

    def code(*args: Any, call: Callable[..., Any], **kwargs: Any) -> Any:
        return call(*args, **kwargs)

    function.__signature__ = inspect.signature(function)  # pyright: ignore[reportFunctionMemberAccess]
    function.__code__, function.__defaults__, function.__kwdefaults__ = code.__code__, None, {"call": call}


def _bound(signature: inspect.Signature, args: tuple[Any, ...]) -> inspect.BoundArguments:
    """Arguments that Helion has listed with their defaults, as a call."""
    return inspect.BoundArguments(signature, dict(zip(signature.parameters, args, strict=True)))  # pyright: ignore


def _install_kernels() -> None:
    """Kernels of Helion's that a kernel calls run as its own functions do."""
    kind: Any = sys.modules["helion"].Kernel  # pyright: ignore
    theirs = kind.__call__

    @wraps(theirs)  # what Dynamo is told of theirs holds of it
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        run = RUNNING.get()
        if run is None:
            return theirs(self, *args, **kwargs)
        return run.call(self.fn, config_of(self), args, kwargs)

    kind.__call__ = call
