"""Functions of other array libraries on device values: refused by the name of torch's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import torch

from kopt import language
from kopt.errors import KoptError
from kopt.frontend.registry import OPERATIONS, RENAMED
from kopt.frontend.state import unsupported
from kopt.registry import did_you_mean

#: Packages whose functions compute on arrays of their own.
_LIBRARIES = ("numpy", "math", "cmath", "scipy", "jax", "triton", "cupy")
_NAMESPACES = {"torch": torch, "torch.nn.functional": torch.nn.functional, "torch.special": torch.special}


def called(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """A call of a library's function with device values: what works stands, what fails names torch's function."""
    library = _library(function)
    if library is None:
        return function(*args, **kwargs)
    try:
        return function(*args, **kwargs)
    except (KoptError, TypeError, ValueError, AttributeError, RuntimeError):
        _refuse(getattr(function, "__name__", str(function)), library)


def _library(function: Any) -> str | None:
    module = getattr(function, "__module__", None) or type(function).__module__
    root = module.partition(".")[0]
    return root if root in _LIBRARIES else None


def _refuse(name: str, library: str) -> NoReturn:
    advice = torch_name(name)
    message = (
        f"'{name}' of {library} does not compute on device values{'' if advice else did_you_mean(name, OPERATIONS)}"
    )
    unsupported(message, f"use {advice or 'a function of docs/language.md'}", id="foreign-function")


def torch_name(name: str) -> str | None:
    """What torch, or the language, calls a function of this name."""
    if name in RENAMED:
        return RENAMED[name]
    if name in OPERATIONS:
        return next((f"{prefix}.{name}" for prefix, space in _NAMESPACES.items() if hasattr(space, name)), f"x.{name}")
    return f"hl.{name}" if hasattr(language, name) else None
